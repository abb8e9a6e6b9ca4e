import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid import ADMM, LKG


@pytest.fixture(scope="session")
def samples():
    return make_blobs([9, 12, 15], n_features=4, random_state=0)[0]


@pytest.fixture(scope="session")
def model(samples):
    """A fit that has learned its kernel."""
    return LKG(n_clusters=3, n_init=3, solver=ADMM(gamma=10.0), random_state=0).fit(samples)


@pytest.fixture(scope="session")
def fixed(samples):
    """A fit whose kernel stays the average."""
    return LKG(n_clusters=3, random_state=0, n_init=3).fit(samples)


@pytest.fixture(scope="session")
def unlearned(samples):
    """A fit with a solver whose kernel stays the average."""
    return LKG(n_clusters=3, random_state=0, n_init=3, solver=ADMM(gamma=math.inf)).fit(samples)


@pytest.fixture
def chooser():
    """A fit that has chosen 12 clusters, as far as a picture looks at it."""
    tried = np.array([2, 3, 5, 8, 12, 20, 34, 55])
    score = np.array([0.1, 0.2, 0.3, 0.5, 0.7, 0.4, 0.2, 0.1])
    beside = {"modularity": np.sqrt(score), "eigengap": score / 70}
    evidence = {"n_clusters": tried, "score": score, **beside}
    return SimpleNamespace(n_clusters="auto", n_clusters_=12, n_clusters_evidence_=evidence)


@pytest.fixture(scope="session")
def views():
    """Three views of three clusters, and one of noise, the third."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    told = [3 * rng.normal(size=(3, 5))[y] + rng.normal(size=(60, 5)) for _ in range(3)]
    return [*told[:2], rng.normal(size=(60, 20)), told[2]]


@pytest.fixture(scope="session")
def fused(views):
    """A fit of several views, whose graphs it has fused."""
    with pytest.warns(UserWarning, match="view 3 .* left out"):
        return LKG(3, random_state=0, n_init=3).fit(views)


@pytest.fixture(autouse=True)
def close_figures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def draw():
    """Draw on a figure of our own and render it, so that lazy errors show."""
    from matplotlib.figure import Figure

    def render(function, model):
        figure = Figure(layout="constrained")
        ax = function(model, ax=figure.subplots())
        figure.canvas.draw()
        return ax

    return render
