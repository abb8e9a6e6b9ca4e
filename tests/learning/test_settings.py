import math
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest

from kernelbraid import ADMM, LKG
from kernelbraid.kernels import Gaussian, StoredStack, build_bank
from kernelbraid.learning.settings import PRESETS, PULLS, Learning, Readout, Settings, changed, check_fusion
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES
from problems import blobs, dense, lkg

AUTHORS, PAPER, RECOMMENDED = (PRESETS[name] for name in ("authors", "paper", "recommended"))
# Parameters that have a value of their own without a preset; all others are None until a preset gives them one.
UNSET = {"thresholding", "record_objective", "restart_score", "n_clusters", "n_jobs"}
NAMES = [name for name in AUTHORS.flat() if name not in UNSET]
PARAMETERS = {**ADMM().get_params(), **LKG().get_params(), "restart_score": "inertia"}
DIFFERING = [name for name in NAMES if AUTHORS.flat()[name] != PAPER.flat()[name]]


def test_every_field_is_a_parameter_that_is_none_by_default():
    assert all(PARAMETERS[name] is None for name in set(NAMES) - {"approximation"})


def test_what_no_preset_changes_has_the_default_of_the_estimator():
    for preset in PRESETS:
        values = PRESETS[preset].flat()
        assert {name: values[name] for name in UNSET} == {name: PARAMETERS[name] for name in UNSET}


def test_the_graph_that_is_judged_is_the_one_that_is_read_out():
    for preset in PRESETS:
        assert PRESETS[preset].learning.graph_from == PRESETS[preset].readout.graph_from


def test_without_a_preset_the_fit_is_the_recommended_one():
    assert LKG().preset == "recommended"
    assert Settings.of(LKG(3).get_params()) == replace(RECOMMENDED, readout=replace(RECOMMENDED.readout, n_clusters=3))


def test_an_explicit_parameter_wins():
    settings = Settings.of({"preset": "authors", "alpha": 7.0, "beta": None, "tol": 0.5, "n_init": 3, "unknown": 1})
    assert settings.learning == replace(AUTHORS.learning, alpha=7.0, tol=0.5)
    assert settings.readout == replace(AUTHORS.readout, n_init=3)
    assert (settings.kernels, settings.is_solved) == (AUTHORS.kernels, True)


def test_a_parameter_of_both_sides_reaches_both():
    settings = Settings.of({"preset": "authors", "graph_from": "Z", "n_jobs": 2})
    assert settings.learning.graph_from == settings.readout.graph_from == "Z"
    assert settings.learning.n_jobs == settings.readout.n_jobs == 2


def test_a_solver_has_the_kernel_learned_unless_preset_or_user_say_how():
    for preset, gamma in [("authors", 0.1), ("paper", 100.0), ("recommended", 10.0)]:
        settings = Settings.of({"preset": preset, "solver": ADMM()})
        assert (settings.is_solved, settings.learning.gamma) == (True, gamma)
        assert settings.learning == replace(PRESETS[preset].learning, gamma=gamma)
        assert Settings.of({"preset": preset, "solver": ADMM(gamma=3.0, mu=2.0)}).learning.gamma == 3.0
        assert Settings.of({"preset": preset, "solver": None}).is_solved is (preset != "recommended")


def test_flat_values_give_the_same_settings_from_every_preset():
    for preset in PRESETS:
        settings = PRESETS[preset]
        for other in PRESETS:
            found = Settings.of({"preset": other, **settings.flat()})
            for name in ("kernels", "learning", "readout", "fusion"):
                assert getattr(found, name) == getattr(settings, name)


def test_views_are_fused_with_the_penalties_of_the_preset_unless_the_user_gives_one():
    assert Settings.of({"preset": "recommended"}).alphas == PRESETS["recommended"].alphas
    assert Settings.of({"preset": "recommended", "alpha": 0.5}).alphas == (0.5,)
    assert Settings.of({"preset": "authors", "fusion": "graphs"}).alphas == (PRESETS["authors"].learning.alpha,)
    assert Settings.of({"preset": "recommended", "n_neighbors": 4}).fused_readout(1000).n_neighbors == 4
    by_size = [Settings.of({"preset": "recommended"}).fused_readout(n).n_neighbors for n in (30, 150, 1000)]
    assert by_size == [10, 15, 20]


def test_a_kernel_that_is_learned_is_one_of_all_views():
    assert Settings.of({"preset": "recommended"}).fusion == "graphs"
    assert Settings.of({"preset": "recommended", "gamma": 10.0}).fusion == "kernels"
    for preset in ("authors", "paper"):
        published = Settings.of({"preset": preset})
        assert (published.fusion, published.is_trusting) == ("kernels", False)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"fusion": "graphs", "gamma": 10.0}, "fusion='graphs' fuses graphs, and gamma=10 has a kernel learned"),
        ({"view_weights": [1, 2], "gamma": 10.0}, "view_weights gives the weights that gamma=10 has learned"),
    ],
)
def test_settings_that_take_from_each_other_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_fusion(Settings.of({"preset": "recommended", **given}))


def test_settings_are_values():
    one, other = (Settings.of({"preset": "paper", "alpha": 0.5}) for _ in range(2))
    assert one == other
    assert hash(one.learning) == hash(other.learning)
    assert hash(one.readout) == hash(other.readout)
    with pytest.raises(FrozenInstanceError):
        one.learning.alpha = 1.0


def test_changed_leaves_what_is_not_its_own():
    assert changed(RECOMMENDED.readout, {"alpha": 3.0, "n_neighbors": 4}) == replace(RECOMMENDED.readout, n_neighbors=4)
    names = {field.name for field in fields(Learning)} & {field.name for field in fields(Readout)}
    assert names == {"graph_from", "n_jobs"}


def test_a_learning_knows_its_solver():
    for penalty in GRAPH_PENALTIES:
        for gamma in [1.0, math.inf]:
            learning = replace(AUTHORS.learning, graph_penalty=penalty, gamma=gamma)
            assert learning.is_kernel_fixed == math.isinf(gamma)
            assert learning.is_closed_form == (math.isinf(gamma) and penalty == "frobenius")
            assert learning.is_batched == math.isfinite(gamma)
            assert not replace(learning, record_objective=True).is_batched
            assert not replace(learning, graph_start="random").is_batched
            assert not replace(learning, kernel_start="average/m").is_batched


def test_new_samples_pay_the_squared_penalty_or_the_constraint():
    assert replace(RECOMMENDED.learning, alpha=0.3, mu=5.0).expression_weight == 0.3
    assert replace(AUTHORS.learning, alpha=0.3, mu=5.0).expression_weight == 5.0


def test_the_problem_over_kernels_has_the_weights_of_the_settings():
    for preset in PRESETS:
        X, _ = blobs(n=9)
        stack = StoredStack.of(build_bank(X, [Gaussian(0.1), Gaussian(1.0)]))
        learning = PRESETS[preset].learning
        problem = learning.problem(stack)
        assert (problem.alpha, problem.beta, problem.gamma) == (learning.alpha, learning.beta, learning.gamma)
        assert (problem.penalty, problem.growth) == (GRAPH_PENALTIES[learning.graph_penalty], learning.mu_growth)
        assert problem.pull == PULLS[learning.weights_problem]
        assert problem.R.shape == ((0, 2) if learning.is_kernel_fixed else (2, 2))


def test_a_preset_equals_its_values_written_out():
    for preset in PRESETS:
        X, _ = blobs(n=24)
        common = {"max_iter": 8, "tol": 0, "matrices": True, "random_state": 0}
        short = lkg(3, preset=preset, **common).fit(X)
        values = {name: value for name, value in PRESETS[preset].flat().items() if name in NAMES and name not in common}
        other = next(name for name in PRESETS if name != preset)
        long = lkg(3, preset=other, **common, **values).fit(X)
        np.testing.assert_array_equal(short.solution_.K, long.solution_.K)
        np.testing.assert_array_equal(short.labels_, long.labels_)


# An embedding by magnitude and by value differ only where the graph has large negative eigenvalues.
@pytest.mark.parametrize("name", [name for name in DIFFERING if name not in ("embedding",)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # how the fit ends is not the point
def test_every_difference_changes_the_fit(name):
    X, _ = blobs(n=24)
    plain = LKG(3, preset="authors", solver=ADMM(max_iter=8), random_state=0).fit(X)
    changed = lkg(3, preset="authors", **{name: PAPER.flat()[name]}, max_iter=8, random_state=0).fit(X)
    assert not np.allclose(dense(plain.graph_), dense(changed.graph_), atol=1e-8)


def test_the_documentation_lists_every_difference():
    page = Path(__file__).parents[2] / "docs" / "paper_and_code.md"
    if not page.exists():
        pytest.skip("the documentation is not beside the tests")
    text = page.read_text(encoding="utf-8")
    assert [name for name in DIFFERING if f"`{name}`" not in text] == []


def recommended(**given):
    return Settings.of({"preset": "recommended", **given})


def test_the_penalty_follows_the_samples_and_has_a_least_weight():
    for n, k, alpha in [(1000, 4, 2.0), (9394, 30, 9394 / 250 / 30**0.5), (60, 3, 0.2)]:
        assert recommended().sized(n, k).learning.alpha == pytest.approx(alpha)


def test_small_clusters_have_fewer_edges():
    for n, k, edges in [(301, 10, 10), (300, 10, 5), (15, 3, 4), (4, 4, 2)]:
        assert recommended().sized(n, k).readout.n_neighbors == edges


def test_communities_of_many_samples_have_more_edges():
    for n, k, edges in [(2000, 4, 10), (2001, 4, 20), (3000, 30, 10), (3000, 29, 20), (3000, 100, 5)]:
        assert recommended(assign_labels="communities").sized(n, k).readout.n_neighbors == edges
    assert recommended().sized(3000, 4).readout.n_neighbors == 10


def test_what_is_given_is_not_sized():
    sized = recommended(alpha=3.0, n_neighbors=4, assign_labels="kmeans").sized(1000, 10)
    assert (sized.learning.alpha, sized.readout.n_neighbors, sized.readout.assign_labels) == (3.0, 4, "kmeans")
    assert sized.readout.n_clusters == 10
    assert sized.sized(10, 2).learning.alpha == 3.0


def test_several_views_keep_what_is_left_open():
    sized = recommended().sized(1000, 10, several=True)
    assert (sized.learning.alpha, sized.readout.n_neighbors, sized.readout.assign_labels) == (1.0, 10, "best")
    assert recommended(assign_labels="merge").sized(1000, 10, several=True).readout.assign_labels == "merge"


def test_a_learned_kernel_keeps_its_penalty():
    sized = recommended(gamma=10.0).sized(1000, 10)
    assert (sized.learning.alpha, sized.readout.n_neighbors, sized.readout.assign_labels) == (1.0, 10, "kmeans")


@pytest.mark.parametrize("preset", ["authors", "paper"])
def test_published_presets_leave_nothing_open(preset):
    settings = Settings.of({"preset": preset})
    sized = settings.sized(1000, 10)
    assert (sized.learning, sized.readout) == (settings.learning, replace(settings.readout, n_clusters=10))
    assert sized.readout.assign_labels == "kmeans"
