import math

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


@pytest.fixture(scope="session")
def chooser():
    """A fit that has chosen the number of its clusters, which are groups of smaller ones."""
    near = np.tile([[0.0, 0.0], [3.6, 0.0], [1.8, 3.1]], (3, 1))
    far = np.repeat([[0.0, 0.0], [14.0, 0.0], [7.0, 12.0]], 3, axis=0)
    X, _ = make_blobs(270, centers=far + near, cluster_std=0.55, random_state=0)
    return LKG("auto", random_state=0).fit(X)


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
