import sys
from types import SimpleNamespace

import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from kernelbraid import LKG, LKGClassifier, plotting

matplotlib = pytest.importorskip("matplotlib")
from matplotlib import pyplot  # noqa: E402 (only if there is a matplotlib)
from matplotlib.figure import Figure  # noqa: E402 (the same)


@pytest.fixture(params=plotting.__all__)
def picture(request, model, chooser, fused):
    """A function that draws, and what it draws."""
    subject = {"plot_levels": chooser, "plot_views": fused}.get(request.param, model)
    return getattr(plotting, request.param), subject


def test_every_picture_is_drawn_on_the_given_axes(picture):
    function, subject = picture
    ax = Figure().subplots()
    assert function(subject, ax=ax) is ax
    assert ax.get_title(loc="left")
    assert not pyplot.get_fignums()


def test_every_picture_makes_its_own_figure_without_axes(picture, monkeypatch):
    function, subject = picture
    monkeypatch.setattr(pyplot, "show", lambda *_, **__: pytest.fail("a library must not open windows"))
    settings = dict(matplotlib.rcParams)
    ax = function(subject)
    ax.figure.canvas.draw()
    assert len(pyplot.get_fignums()) == 1
    assert dict(matplotlib.rcParams) == settings


def test_without_matplotlib_the_error_says_what_to_install(picture, monkeypatch):
    function, subject = picture
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "kernelbraid\[plot\]"'):
        function(subject)


def test_what_is_not_fitted_is_called_so(picture):
    for model in [LKG(), LKGClassifier(), KMeans(), SimpleNamespace(), None, LKG]:
        function, _ = picture
        with pytest.raises(
            NotFittedError, match=r"^\w+ is not fitted, or is no LKG: it has no \w+_ to draw; fit an LKG"
        ):
            function(model)
