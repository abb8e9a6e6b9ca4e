import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from kernelbraid.bench.records.record import ADDED_VIEWS
from kernelbraid.bench.trials.corruption import (
    CHANGES,
    LEVELS,
    OUTLIER,
    SHUFFLED,
    UNDRAWN,
    change,
    changed_kernels,
    shuffled_order,
)
from kernelbraid.datasets import Dataset
from kernelbraid.kernels import build_bank, resolve_bank
from problems import blobs

LINEAR = [kernel.name for kernel in resolve_bank("rmkkm")].index("linear")


@pytest.fixture
def one():
    X, y = blobs(n=30, d=4)
    return Dataset("one", "One", [X], y, "sum")


@pytest.fixture
def two(one):
    return Dataset("two", "Two", [one.X[:, :2], sparse.csr_array(np.abs(one.X))], one.y, "sum")


def dense(view):
    return view.toarray() if sparse.issparse(view) else view


def shuffled(dataset, share, seed=0, kernel="linear"):
    return changed_kernels(dataset, "rmkkm", {SHUFFLED: share, "kernel": kernel}, seed)


def test_without_changes_the_data_set_is_the_same_object(one):
    assert change(one, {}, 0) is one
    assert change(one, {SHUFFLED: 1.0, "kernel": "linear"}, 0) is one


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("number", ["one", "two"])
def test_level_0_changes_nothing(name, number, request):
    dataset = request.getfixturevalue(number)
    same = change(dataset, {name: 0}, 0)
    for view, before in zip(same.views, dataset.views, strict=True):
        np.testing.assert_array_equal(dense(view), dense(before))
    np.testing.assert_array_equal(same.y, dataset.y)


def some_level(name):
    """Return a level that changes something."""
    return 2 if LEVELS[name][0](2) and name != "noise" else 0.5


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in UNDRAWN])
def test_equal_seeds_give_equal_changes_and_others_do_not(two, name):
    level = some_level(name)
    first, second, other = (change(two, {name: level}, seed) for seed in (3, 3, 4))
    for view, again in zip(first.views, second.views, strict=True):
        np.testing.assert_array_equal(dense(view), dense(again))
    assert any((dense(a) != dense(b)).any() for a, b in zip(first.views, other.views, strict=True))


@pytest.mark.parametrize("name", CHANGES)
def test_the_data_set_that_is_given_stays_as_it_is(two, name):
    before = [dense(view).copy() for view in two.views], two.y.copy()
    assert change(two, {name: some_level(name)}, 0) is not two
    for view, old in zip(two.views, before[0], strict=True):
        np.testing.assert_array_equal(dense(view), old)
    np.testing.assert_array_equal(two.y, before[1])


def test_noise_grows_with_its_level(two):
    small, large = (change(two, {"noise": level}, 0) for level in (0.5, 2))
    for view, low, high in zip(two.views, small.views, large.views, strict=True):
        np.testing.assert_allclose(high - dense(view), 4 * (low - dense(view)), atol=1e-12)


def test_noise_is_in_deviations_of_the_entries_of_its_view():
    X = np.random.default_rng(0).standard_normal((200, 100))
    wide = Dataset("wide", "Wide", [X, 100 * X], np.zeros(200, dtype=int), "sum")
    noisy = change(wide, {"noise": 0.5}, 0)
    shares = [(b - a).std() / a.std() for a, b in zip(wide.views, noisy.views, strict=True)]
    assert shares == pytest.approx([0.5, 0.5], rel=0.02)


def test_outliers_are_a_share_of_the_samples_in_the_range_of_the_features(two):
    changed = change(two, {"outliers": 0.2}, 0)
    chosen = changed.y == OUTLIER
    assert chosen.sum() == 6
    np.testing.assert_array_equal(changed.y[~chosen], two.y[~chosen])
    for view, before in zip(changed.views, map(dense, two.views), strict=True):
        np.testing.assert_array_equal(view[~chosen], before[~chosen])
        assert (view[chosen] != before[chosen]).any(axis=1).all()
        assert ((before.min(axis=0) <= view) & (view <= before.max(axis=0))).all()


def test_outliers_of_a_lower_level_are_among_those_of_a_higher_one(one):
    few, many = (change(one, {"outliers": share}, 0).y == OUTLIER for share in (0.1, 0.4))
    assert (few.sum(), many.sum()) == (3, 12)
    assert many[few].all()


def test_useless_views_stand_behind_the_others_and_have_the_form_of_the_first(two):
    changed = change(two, {"useless_views": 2}, 0)
    assert changed.views[:2] == two.views
    assert [view.shape for view in changed.views[2:]] == [(30, 2)] * 2
    assert changed.X is None
    assert changed.n_clusters == two.n_clusters
    np.testing.assert_array_equal(change(two, {"useless_views": 1}, 0).views[2], changed.views[2])
    assert (changed.views[2] != changed.views[3]).any()
    assert changed.views[2].std() == pytest.approx(two.views[0].std(), rel=0.3)


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
@pytest.mark.parametrize("n", [1, 10, 41])
def test_a_shuffled_order_is_a_permutation_that_moves_the_chosen_share_alone(n, share):
    order = shuffled_order(n, share, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert (order != np.arange(n)).sum() <= round(share * n)


def test_a_large_share_of_an_order_really_moves():
    assert (shuffled_order(1000, 0.5, np.random.default_rng(0)) != np.arange(1000)).sum() > 480


def test_a_shuffled_kernel_keeps_its_spectrum_and_the_others_stay(one):
    clean, worse = build_bank(one.X, "rmkkm"), shuffled(one, 0.5)
    others = np.arange(len(clean)) != LINEAR
    np.testing.assert_array_equal(worse[others], clean[others])
    assert np.abs(worse[LINEAR] - clean[LINEAR]).max() > 0.1
    np.testing.assert_allclose(np.linalg.eigvalsh(worse[LINEAR]), np.linalg.eigvalsh(clean[LINEAR]), atol=1e-12)
    np.testing.assert_array_equal(worse[LINEAR], worse[LINEAR].T)


def test_a_kernel_of_which_no_share_is_shuffled_is_that_of_the_bank(one):
    np.testing.assert_array_equal(shuffled(one, 0), build_bank(one.X, "rmkkm"))
    np.testing.assert_array_equal(changed_kernels(one, "rmkkm", {}, 0), build_bank(one.X, "rmkkm"))


def test_of_several_views_the_kernel_of_the_first_one_is_shuffled(two):
    clean, worse = build_bank(two.views, "rmkkm"), shuffled(two, 1.0)
    assert len(worse) == 24
    assert np.flatnonzero((clean != worse).any(axis=(1, 2))).tolist() == [LINEAR]


def test_every_change_says_which_levels_it_has():
    assert set(LEVELS) == {*CHANGES, SHUFFLED}
    counts = dict.fromkeys((*ADDED_VIEWS, "view", "without"), ((0, 2), (-1, 1.5)))
    shares = dict.fromkeys(("outliers", "missing"), ((0, 0.99), (-0.1, 1)))
    known = {**counts, **shares, "noise": ((0, 0.5, 3), (-0.1,)), SHUFFLED: ((0, 0.5, 1), (-0.1, 1.01))}
    for name, (is_level, _) in LEVELS.items():
        legal, wrong = known[name]
        assert all(map(is_level, legal))
        assert not any(map(is_level, wrong))


@pytest.mark.parametrize("name", UNDRAWN)
def test_what_is_said_to_draw_nothing_is_the_same_for_all_seeds(two, name):
    first, other = (change(two, {name: 1}, seed) for seed in (0, 1))
    for view, again in zip(first.views, other.views, strict=True):
        np.testing.assert_array_equal(dense(view), dense(again))


@pytest.mark.parametrize("name", ADDED_VIEWS)
def test_added_views_stand_behind_the_others_which_stay(two, name):
    changed = change(two, {name: 2}, 0)
    assert changed.views[:2] == two.views
    assert [view.shape[0] for view in changed.views] == [30] * 4
    np.testing.assert_array_equal(changed.y, two.y)
    fewer = change(two, {name: 1}, 0)
    assert len(fewer.views) == 3


def correlations(view):
    return np.abs(np.corrcoef(dense(view).T) - np.eye(dense(view).shape[1]))


@pytest.fixture
def large():
    """300 samples, so that what is drawn can be measured."""
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=300)
    return Dataset("large", "Large", [rng.standard_normal((300, 6)) + 2 * y[:, None]], y, "sum")


def test_noise_views_are_fifty_features_of_normal_noise(large):
    first, second = change(large, {"noise_views": 2}, 0).views[1:]
    assert first.shape == second.shape == (300, 50)
    assert (first != second).all()
    assert (first.mean(), first.std()) == pytest.approx((0, 1), abs=0.05)
    assert correlations(first).max() < 0.3


def clusters_of(view, k=7):
    """Return clusters of samples that are nearer to each other than to any other."""
    distances = np.linalg.norm(view[:, None] - view[None], axis=2)
    labels = np.unique(distances < 20, axis=0, return_inverse=True)[1].ravel()
    assert labels.max() == k - 1
    return labels


def test_a_decoy_has_seven_clear_clusters_that_tell_nothing_of_another_one_or_of_the_classes(large):
    first, second = (clusters_of(view) for view in change(large, {"decoys": 2}, 0).views[1:])
    for one, other in ((first, second), (first, large.y)):
        assert adjusted_rand_score(one, other) < 0.05


def test_nuisance_views_share_their_clusters_and_tell_nothing_of_the_classes(large):
    first, second = change(large, {"nuisance": 2}, 0).views[1:]
    assert (first != second).all()
    assert adjusted_rand_score(clusters_of(first), clusters_of(second)) == 1
    assert adjusted_rand_score(clusters_of(first), large.y) < 0.05


def test_a_shuffled_view_has_the_rows_of_its_view_in_another_order(two):
    changed = change(two, {"shuffled_views": 3}, 0).views
    for view, again in ((0, 2), (1, 3), (0, 4)):
        old, new = dense(changed[view]), dense(changed[again])
        assert (old != new).any()
        np.testing.assert_array_equal(np.sort(old.sum(axis=1)), np.sort(new.sum(axis=1)))
    assert sparse.issparse(changed[3])
    assert (changed[2] != changed[4]).any()


def test_a_copy_equals_the_first_view_and_is_another_object(two):
    changed = change(two, {"copies": 1}, 0)
    np.testing.assert_array_equal(changed.views[2], two.views[0])
    assert changed.views[2] is not two.views[0]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_rows_are_missing_as_a_whole_and_every_sample_keeps_a_view(two, share):
    changed = change(two, {"missing": share}, 0)
    gone = np.stack([np.isnan(view).any(axis=1) for view in changed.views], axis=1)
    for view, before, rows in zip(changed.views, map(dense, two.views), gone.T, strict=True):
        assert np.isnan(view[rows]).all()
        np.testing.assert_array_equal(view[~rows], before[~rows])
    assert not gone.all(axis=1).any()
    assert (gone.sum(axis=0) <= round(share * 30)).all()
    assert gone.sum() >= min(2 * round(share * 30) - 9, 30)  # those that would be missing twice stay once


def test_a_view_alone_and_all_but_one_are_counted_from_1(two):
    assert change(two, {"view": 2}, 0).views == two.views[1:]
    assert change(two, {"without": 2}, 0).views == two.views[:1]
    with pytest.raises(ValueError, match="two has 2 views, none with the number 3"):
        change(two, {"view": 3}, 0)


def test_row_sums_are_one_feature(two):
    view = change(two, {"row_sums": 1}, 0).views[2]
    np.testing.assert_allclose(view, two.views[0].sum(axis=1)[:, None])
