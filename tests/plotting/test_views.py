import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from kernelbraid import ADMM, LKG, LKGClassifier, plotting
from kernelbraid.estimators.base import ViewReport
from kernelbraid.learning.trust import LEVEL

pytest.importorskip("matplotlib")


def fit_of(agreement, *, weights=None, trusted=None):
    """A fit, as far as a picture of views looks at it."""
    n = len(agreement)
    names = [f"view {i + 1}" for i in range(n)]
    weights = np.full(n, 1 / n) if weights is None else weights
    trusted = [True] * n if trusted is None else trusted
    z = np.where(np.eye(n, dtype=bool), np.nan, np.asarray(agreement, dtype=float))
    known = np.full(n, np.nan)
    report = ViewReport(names, np.array(trusted), np.asarray(weights), ["is here"] * n, z, known, known)
    return SimpleNamespace(views_=report)


def cells(ax):
    """The words in the cells, by row and column."""
    return {tuple(map(int, text.get_position()[::-1])): text.get_text() for text in ax.texts}


def names_at(axis):
    return [(label.get_text(), label.get_color()) for label in axis.get_ticklabels()]


def test_cells_hold_the_agreement_of_the_report(draw, fused):
    ax = draw(plotting.plot_views, fused)
    shown = ax.images[0].get_array()
    for i, entry in enumerate(fused.views_.entries()):
        for j, other in enumerate(fused.views_.entries()):
            if i == j:
                assert shown.mask[i, j]
                assert (i, j) not in cells(ax)
            else:
                z = entry["agreement"][other["name"]]
                assert shown[i, j] == z
                assert cells(ax)[i, j] == (f"{z:.1f}" if abs(z) < 99.95 else f"{z:.0f}")


def test_bars_beside_are_the_weights(draw, fused):
    ax = draw(plotting.plot_views, fused)
    [beside] = ax.child_axes
    np.testing.assert_allclose([bar.get_width() for bar in beside.patches], fused.views_.weights)
    assert beside.get_ylim() == ax.get_ylim()
    assert [text.get_text() for text in beside.texts] == ["0.33", "0.33", "left out", "0.33"]
    assert beside.get_xlabel() == "weight"


def test_views_that_are_left_out_are_grey_and_counted(draw, fused):
    ax = draw(plotting.plot_views, fused)
    assert ax.get_title(loc="left") == "Agreement between views, 1 of 4 left out"
    for axis in (ax.xaxis, ax.yaxis):
        labels = dict(names_at(axis))
        assert list(labels) == ["view 1", "view 2", "view 3", "view 4"]
        assert labels["view 3"] != labels["view 1"] == labels["view 2"] == labels["view 4"]
    everybody = draw(plotting.plot_views, fit_of([[0, 9], [9, 0]]))
    assert everybody.get_title(loc="left") == "Agreement between views"


def test_views_may_get_names(draw, fused):
    ax = draw(lambda model, ax: plotting.plot_views(model, names=list("abcd"), ax=ax), fused)
    assert [name for name, _ in names_at(ax.yaxis)] == list("abcd")
    with pytest.raises(ValueError, match="names has 2 entries, and there are 4 views; give one for each"):
        plotting.plot_views(fused, names=["a", "b"])


def test_the_level_is_marked_in_the_colour_bar(draw, fused):
    ax = draw(plotting.plot_views, fused)
    bar = ax.images[0].colorbar.ax
    assert [line.get_xdata()[0] for line in bar.lines] == [LEVEL]
    assert f"{LEVEL:g}" in [label.get_text() for label in bar.get_xticklabels()]
    assert bar.get_xlabel().endswith(f"views agree above {LEVEL:g}")


def test_chance_is_pale_however_little_the_views_agree(draw):
    def shade(z):
        image = draw(plotting.plot_views, fit_of([[0, z], [z, 0]])).images[0]
        return image.norm(z)

    assert shade(-3.0) == 0.0
    assert shade(LEVEL) < 0.5 < shade(3 * LEVEL) < shade(1e5) == 1.0
    assert shade(0.1 * LEVEL) == pytest.approx(0.1 * shade(LEVEL))


@pytest.mark.parametrize(
    ("z", "words"), [(99.94, "99.9"), (99.96, "100"), (-0.31, "-0.3"), (-0.01, "0.0"), (2.4e6, "2e6")]
)
def test_numbers_fit_into_their_cells(draw, z, words):
    assert cells(draw(plotting.plot_views, fit_of([[0, z], [z, 0]])))[0, 1] == words


def test_few_and_many_views_are_drawn_and_their_numbers_do_not_overlap():
    for n in [2, 8, 20]:
        z = np.random.default_rng(0).uniform(-2, 9999, (n, n))
        ax = plotting.plot_views(fit_of(z + z.T))
        ax.figure.canvas.draw()
        places = [text.get_window_extent() for text in ax.texts]
        assert len(places) == n * (n - 1)
        cell = ax.get_window_extent().width / n
        assert max(place.width for place in places) < cell
        labels = [label.get_window_extent() for label in ax.get_xticklabels()]
        assert max(label.width for label in labels) < cell


def test_a_pair_without_common_samples_has_an_empty_cell(draw):
    model = fit_of([[0, 9, 8], [9, 0, 7], [8, 7, 0]])
    model.views_.agreement[0, 2] = np.nan
    ax = draw(plotting.plot_views, model)
    assert ax.images[0].get_array().mask[0, 2]
    assert (0, 2) not in cells(ax)


@pytest.mark.parametrize(
    "estimator",
    [LKGClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_whoever_has_compared_views_shows_them(draw, fused, views, estimator):
    classes = np.where(np.arange(60) % 5, -1, np.repeat(np.arange(3), 20))
    with pytest.warns(UserWarning, match="view 3 .* left out"):
        found = clone(estimator).fit(views, classes)
    ax = draw(plotting.plot_views, found)
    np.testing.assert_allclose(ax.images[0].get_array(), draw(plotting.plot_views, fused).images[0].get_array())
    assert [text.get_text() for text in ax.child_axes[0].texts] == ["0.33", "0.33", "left out", "0.33"]


def test_views_whose_kernels_were_joined_are_drawn_with_the_learned_weights(draw, views):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = LKG(3, n_init=1, solver=ADMM(gamma=10.0), random_state=0).fit(views)
    [beside] = draw(plotting.plot_views, learned).child_axes
    np.testing.assert_allclose([bar.get_width() for bar in beside.patches], learned.views_.weights)
    assert len(set(learned.views_.weights)) == 4


def test_what_has_no_several_views_gets_a_sentence(model, views):
    with pytest.raises(ValueError, match=r"^LKG was fitted on one view, .*; fit it on a list of views\.$"):
        plotting.plot_views(model)
    published = LKG(3, preset="authors", n_init=1, solver=ADMM(max_iter=300), random_state=0)
    published.fit([view[:30] for view in views[:2]])
    with pytest.raises(ValueError, match=r"^LKG has not compared its views; fit it with preset='recommended'"):
        plotting.plot_views(published)


@pytest.mark.parametrize("function", [plotting.plot_kernel, plotting.plot_kernel_weights])
def test_fused_graphs_have_no_kernel_to_draw(function, fused):
    with pytest.raises(ValueError, match=r"^LKG has fused the graphs of several views, .* plot_views draws"):
        function(fused)


def test_everything_else_of_fused_graphs_is_drawn(draw, fused):
    for function in [plotting.plot_graph, plotting.plot_embedding]:
        draw(function, fused)
