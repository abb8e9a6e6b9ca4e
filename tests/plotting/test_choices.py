import math
from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid import LKG, LKGSearch
from kernelbraid.kernels import Gaussian, Linear
from kernelbraid.plotting import plot_n_clusters, plot_search

pytest.importorskip("matplotlib")


def tried(score=None, fault="", **params):
    """A setting, as far as the picture looks at it."""
    return SimpleNamespace(params=params, scores={} if score is None else {"score": score}, fault=fault)


def search_of(*members, best=0):
    return SimpleNamespace(_members=list(members), best_index_=best)


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def words(ax):
    return [text.get_text() for text in ax.texts]


# The search


def test_every_setting_is_a_point_at_its_score_in_the_row_of_its_kernels(draw, search):
    ax = draw(plot_search, search)
    points, ring = ax.collections
    x, y = points.get_offsets().T
    np.testing.assert_allclose(x, search.results_["score"])
    assert row_names(ax) == ["LKG as it comes", *(f"n_neighbors={few}" for few in (5, 10, 7, 15))]
    assert list(np.round(y)) == [0, 1, 1, *(row for row in (2, 3, 4) for _ in range(3))]
    np.testing.assert_allclose(ring.get_offsets()[0], [x[search.best_index_], y[search.best_index_]])
    chosen = search.best_params_.get("alpha")
    assert words(ax) == ["chosen" if chosen is None else f"chosen, alpha={chosen:g}"]


def test_settings_that_were_left_out_are_crosses_left_of_the_others(draw):
    members = [
        tried(fault="the fit ended with graph_empty", kernels=[Linear()], alpha=100.0),
        tried(0.6, kernels=[Linear()], alpha=1.0),
        tried(0.8, kernels=[Gaussian(2.0)], alpha=1.0),
    ]
    ax = draw(plot_search, search_of(*members, best=2))
    points, crosses, ring = ax.collections
    assert len(points.get_offsets()) == 2
    assert len(crosses.get_offsets()) == 1
    assert crosses.get_offsets()[0, 0] < points.get_offsets()[:, 0].min()
    assert ring.get_offsets()[0, 0] == 0.8
    assert "1 left out" in ax.get_title(loc="left")


def test_points_of_one_row_have_a_colour_and_a_height_for_each_alpha(draw):
    members = [tried(0.5, kernels="near", alpha=alpha) for alpha in (0.1, 1.0, 10.0)]
    ax = draw(plot_search, search_of(*members))
    points = ax.collections[0]
    assert len({tuple(colour) for colour in points.get_facecolors()}) == 3
    assert len(set(points.get_offsets()[:, 1])) == 3
    assert row_names(ax) == ["near"]
    bar = ax.figure.axes[1]
    assert bar.get_title() == "alpha"
    assert [label.get_text() for label in bar.get_yticklabels()] == ["0.1", "1", "10"]


def test_rows_are_told_apart_by_all_that_is_set_but_alpha(draw):
    members = [
        tried(0.5, alpha=1.0),
        tried(0.6, alpha=2.0),
        tried(0.7, kernels="local", gamma=math.inf),
        tried(0.7, kernels="local", gamma=1.0, alpha=1.0),
    ]
    ax = draw(plot_search, search_of(*members, best=2))
    assert row_names(ax) == ["shared setting", "local, gamma=inf", "local, gamma=1.0"]
    assert words(ax) == ["chosen"]


@pytest.mark.parametrize(
    "members",
    [
        [tried(0.0, alpha=1.0)],
        [tried(0.0)],
        [tried(fault="the fit ended with graph_empty", alpha=1.0)],
        [tried(0.5, alpha=1.0), tried(0.5, alpha=1.0)],
        [tried(0.5, alpha=float(alpha)) for alpha in range(1, 31)],
    ],
)
def test_the_smallest_and_largest_searches_are_drawn(draw, members):
    assert words(draw(plot_search, search_of(*members)))[0].startswith("chosen")


def test_a_search_over_given_kernels_is_drawn(draw, samples):
    kernels = np.stack([samples @ samples.T + 200, np.exp(-((samples[:, None] - samples) ** 2).sum(-1))])
    search = LKGSearch(3, kernels="precomputed", budget=3, random_state=0).fit(kernels)
    assert row_names(draw(plot_search, search)) == ["LKG as it comes", "n_neighbors=5"]


# The number of clusters


def test_the_score_and_what_is_beside_it_are_curves_over_the_numbers_tried(draw, chooser):
    ax = draw(plot_n_clusters, chooser)
    curves = {line.get_label(): line for line in ax.lines}
    evidence = chooser.n_clusters_evidence_
    assert ax.get_xscale() == "log"
    for name in ("score", "modularity"):
        np.testing.assert_array_equal(curves[name].get_xdata(), evidence["n_clusters"])
        np.testing.assert_allclose(curves[name].get_ydata(), evidence[name])
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "score"


def test_a_small_curve_is_magnified_and_the_legend_says_so(draw, chooser):
    curves = {line.get_label(): line for line in draw(plot_n_clusters, chooser).lines}
    np.testing.assert_allclose(curves["eigengap × 10"].get_ydata(), 10 * chooser.n_clusters_evidence_["eigengap"])


def test_the_choice_is_marked_and_named(draw, chooser):
    ax = draw(plot_n_clusters, chooser)
    assert "12 chosen" in ax.get_title(loc="left")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "3", "5", "7", "10", "12", "20", "30", "50"]
    assert [(12, 0.7)] in [list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in ax.lines]


def test_the_choice_of_a_fit_is_drawn(draw, samples):
    model = LKG("auto", n_init=1, random_state=0).fit(samples)
    ax = draw(plot_n_clusters, model)
    assert f"{model.n_clusters_} chosen" in ax.get_title(loc="left")
    assert len(ax.get_legend().get_texts()) == 5


def test_no_number_is_written_over_the_choice(draw, chooser):
    chooser.n_clusters_ = 11
    labels = [label.get_text() for label in draw(plot_n_clusters, chooser).get_xticklabels()]
    assert "11" in labels
    assert "10" not in labels


@pytest.mark.parametrize("values", [[0.0], [np.nan], [-0.5]])
def test_a_single_candidate_is_drawn(draw, values):
    evidence = {"n_clusters": np.array([2]), "score": np.array(values), "modularity": np.array(values)}
    draw(plot_n_clusters, SimpleNamespace(n_clusters="auto", n_clusters_=2, n_clusters_evidence_=evidence))


def test_a_number_that_was_given_is_no_picture():
    model = SimpleNamespace(n_clusters=4, n_clusters_=4, n_clusters_evidence_=None)
    with pytest.raises(ValueError, match="n_clusters=4 was given, not chosen; fit with n_clusters='auto'"):
        plot_n_clusters(model)
