"""Pictures of a fit."""

import pytest

from kernelbraid import LKG, plotting


def test_every_picture_of_a_fit_is_drawn_and_saved(folder, blobs):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    X, _ = blobs
    paper = LKG(3, preset="paper", random_state=0).fit(X)
    views, chosen = LKG(3, random_state=0).fit([X, X[:, :3]]), LKG("auto", random_state=0).fit(X)
    pictures = {
        "graph": plotting.plot_graph(paper),
        "kernel": plotting.plot_kernel(paper),
        "weights": plotting.plot_kernel_weights(paper),
        "embedding": plotting.plot_embedding(paper),
        "convergence": plotting.plot_convergence(paper),
        "levels": plotting.plot_levels(chosen),
    }
    for name, axes in pictures.items():
        axes.figure.savefig(folder / f"{name}.png")
        assert (folder / f"{name}.png").stat().st_size > 3000
    assert plotting.plot_views(views) is not None
    pyplot.close("all")  # other tests count figures
