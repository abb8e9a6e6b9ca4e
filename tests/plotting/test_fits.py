import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelbraid import ADMM, LKG, plotting
from kernelbraid.plotting.axes import CHALK, INK
from problems import dense

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

FUNCTIONS = [
    plotting.plot_convergence,
    plotting.plot_embedding,
    plotting.plot_graph,
    plotting.plot_kernel,
    plotting.plot_kernel_weights,
]


def test_many_samples_are_thinned(draw, model, monkeypatch):
    monkeypatch.setattr("kernelbraid.plotting.layout.MOST_POINTS", 25)
    ax = draw(plotting.plot_embedding, model)
    drawn = sum(len(points.get_offsets()) for points in ax.collections)
    assert drawn == len(model.labels_[:: -(-len(model.labels_) // 25)])


def test_the_bars_are_the_weights_with_their_names(draw, model):
    ax = draw(plotting.plot_kernel_weights, model)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], model.solution_.g)
    assert [label.get_text() for label in ax.get_yticklabels()] == model.solution_.names
    assert ax.get_title(loc="left") == "Kernel weights"


def test_weights_that_are_all_alike_say_so(draw, unlearned):
    assert draw(plotting.plot_kernel_weights, unlearned).get_title(loc="left") == "Kernel weights, all alike"


@pytest.mark.parametrize("name", ["graph", "kernel"])
def test_a_heat_map_is_sorted_by_cluster_with_borders_between(draw, name, model):
    ax = draw(getattr(plotting, f"plot_{name}"), model)
    order = np.argsort(model.labels_, kind="stable")
    shown = model.graph_ if name == "graph" else model.solution_.K
    np.testing.assert_array_equal(ax.images[0].get_array(), dense(shown)[np.ix_(order, order)])
    borders = sorted({float(line.get_ydata()[0]) for line in ax.lines} - {0.0})
    assert borders == list(np.cumsum(np.bincount(model.labels_))[:-1] - 0.5)


def test_the_embedding_shows_every_sample_once_and_every_cluster_by_its_own_mark(draw, model):
    ax = draw(plotting.plot_embedding, model)
    assert [len(points.get_offsets()) for points in ax.collections] == list(np.bincount(model.labels_))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]


def test_labels_that_are_not_sure_are_pale(model):
    ax = plotting.plot_embedding(model, confidence=True, ax=Figure().subplots())
    for cluster, points in enumerate(ax.collections):
        sure = model.confidence_[model.labels_ == cluster]
        np.testing.assert_allclose(points.get_facecolors()[:, 3], np.maximum(sure, 0.15), atol=1e-6)
    assert all(handle.get_alpha() == 1.0 for handle in ax.get_legend().legend_handles)


def test_sixty_clusters_have_sixty_different_marks(monkeypatch):
    rng = np.random.default_rng(0)
    model = SimpleNamespace(labels_=np.repeat(np.arange(60), 2), embedding_=rng.normal(size=(120, 3)))
    ax = Figure().subplots()
    marks = []
    monkeypatch.setattr(ax, "scatter", lambda *_, color, marker, **__: marks.append((color, marker)))
    plotting.plot_embedding(model, ax=ax)
    assert len(set(marks)) == 60


def test_clusters_on_a_map_have_their_names_in_their_midst(draw):
    X = make_blobs(80, 5, centers=5, cluster_std=0.5, random_state=0)[0]
    model = LKG(5, n_init=3, random_state=0).fit(X)
    ax = draw(plotting.plot_embedding, model)
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3", "4"]
    for text, points in zip(ax.texts, ax.collections, strict=True):
        assert text.get_position() in [tuple(point) for point in points.get_offsets()]


def test_words_can_be_read_on_light_and_on_dark_ground(model):
    for ground, ink in [("white", INK), ("#111111", CHALK), ("none", INK)]:
        ax = Figure(facecolor=ground).subplots()
        plotting.plot_embedding(model, ax=ax)
        words = [ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_legend().get_texts()]
        assert {text.get_color() for text in words} == {ink}


def test_the_convergence_picture_has_three_curves_over_all_steps(draw, model):
    ax = draw(plotting.plot_convergence, model)
    assert ax.get_yscale() == "log"
    assert [len(line.get_xdata()) for line in ax.lines] == [model.n_iter_] * 3
    assert "converged" in ax.get_title(loc="left")


def test_one_step_has_no_course_to_draw(draw, unlearned):
    ax = draw(plotting.plot_convergence, unlearned)
    assert not ax.lines
    assert [text.get_text() for text in ax.texts] == ["one step, nothing to draw"]
    assert ax.get_title(loc="left") == "Convergence (converged after 1 step)"


def test_a_fixed_kernel_has_no_curve_of_its_own(draw, samples):
    model = LKG(3, n_init=1, solver=ADMM(gamma=math.inf, graph_penalty="nuclear"), random_state=0).fit(samples)
    ax = draw(plotting.plot_convergence, model)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["‖Z − J‖, graph residual"]


def test_the_smallest_fits_are_drawn(draw):
    for function in FUNCTIONS:
        for n in [1, 2, 5]:
            X = np.eye(n)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # how such a fit ends is not the point here
                model = LKG(n_clusters=1, random_state=0, n_init=1, solver=ADMM(gamma=math.inf)).fit(X)
            draw(function, model)


def test_a_history_of_zeros_or_none_at_all_is_drawn(draw):
    for values in [[], [0.0, 0.0, 0.0], [np.nan, np.inf, 1.0], [1.0]]:
        names = ("kernel_change", "graph_residual", "kernel_residual")
        history = {name: np.array(values) for name in names}
        solution = SimpleNamespace(history=history, status="non_finite", n_iter=3)
        draw(plotting.plot_convergence, SimpleNamespace(labels_=np.zeros(3), solution_=solution))


def test_a_matrix_without_contrast_is_drawn(draw):
    for matrix in [np.zeros((3, 3)), np.eye(3), np.ones((3, 3))]:
        draw(plotting.plot_graph, SimpleNamespace(graph_=matrix, labels_=np.array([0, 1, 0])))
