from types import SimpleNamespace

import numpy as np
import pytest

from kernelbraid import LKG
from kernelbraid.plotting import plot_n_clusters

pytest.importorskip("matplotlib")


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


def test_a_single_candidate_is_drawn(draw):
    for values in [[0.0], [np.nan], [-0.5]]:
        evidence = {"n_clusters": np.array([2]), "score": np.array(values), "modularity": np.array(values)}
        draw(plot_n_clusters, SimpleNamespace(n_clusters="auto", n_clusters_=2, n_clusters_evidence_=evidence))


def test_a_number_that_was_given_is_no_picture():
    model = SimpleNamespace(n_clusters=4, n_clusters_=4, n_clusters_evidence_=None)
    with pytest.raises(ValueError, match="n_clusters=4 was given, not chosen; fit with n_clusters='auto'"):
        plot_n_clusters(model)
