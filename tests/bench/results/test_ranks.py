from itertools import combinations, permutations
from math import inf, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, friedmanchisquare, norm

from kernelbraid.bench.results.ranks import Ranking, critical_difference, friedman_p, rank

TIED = np.array(
    [[3.0, 1.0, 1.0, 5.0], [2.0, 2.0, 2.0, 2.0], [9.0, 8.0, 7.0, 7.0], [0.0, 1.0, 2.0, 3.0], [4.0, 4, 1, 6]]
)


def drawn(n, k, seed=0):
    return np.random.default_rng(seed).normal(size=(n, k)) + 0.4 * np.arange(k)


def test_the_largest_figure_has_rank_one_and_equal_ones_share_their_mean_rank():
    for row, ranks in zip(TIED, rank(TIED), strict=True):
        for figure, found in zip(row, ranks, strict=True):
            assert found == 1 + (row > figure).sum() + ((row == figure).sum() - 1) / 2


def test_figures_are_equal_in_spite_of_rounding():
    assert rank(np.array([[0.1 + 0.2, 0.3, 0.2]])).tolist() == [[1.5, 1.5, 3.0]]


@pytest.mark.parametrize("table", [drawn(6, 3), drawn(20, 7, 1), TIED], ids=["three", "seven", "ties"])
def test_the_test_of_friedman_is_that_of_scipy(table):
    assert friedman_p(table) == pytest.approx(friedmanchisquare(*table.T).pvalue, rel=1e-12)


def test_the_test_of_friedman_is_near_to_counting_all_orders_of_few_methods():
    # Two methods: each set is a coin, and the sum of its ranks that of a walk; the tails of the exact distribution.
    table = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]] * 3)
    assert friedman_p(table) == pytest.approx(chi2.sf((9 - 3) ** 2 / 12, 1), rel=1e-12)
    # Three methods on four sets: all 6^4 orders, each as likely as the others; the approximation is known to be rough.
    table = np.array([[3.0, 2, 1], [3, 1, 2], [3, 2, 1], [2, 3, 1]])
    spread = np.var(rank(table).sum(axis=0))
    orders = np.array(list(permutations([1, 2, 3])))
    sums = orders
    for _ in range(3):
        sums = (sums[:, None] + orders[None]).reshape(-1, 3)
    assert friedman_p(table) == pytest.approx(np.mean(sums.var(axis=1) >= spread - 1e-9), abs=0.05)


def test_methods_that_never_differ_are_alike():
    assert friedman_p(np.ones((5, 4))) == 1.0


# Demšar, Table 5(a): critical values of the two-tailed Nemenyi test at the level 0.05, for 2 to 10 methods.
PRINTED = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


@pytest.mark.parametrize(("k", "printed"), list(enumerate(PRINTED, 2)))
def test_the_critical_difference_is_that_of_the_printed_table(k, printed):
    assert critical_difference(k, 30) == pytest.approx(printed * sqrt(k * (k + 1) / 180), rel=5e-4)


def test_the_critical_difference_follows_from_the_range_of_normal_variables():
    k, n = 15, 29
    q = critical_difference(k, n) / sqrt(k * (k + 1) / (6 * n)) * sqrt(2)
    below, _ = quad(lambda z: k * norm.pdf(z) * (norm.cdf(z) - norm.cdf(z - q)) ** (k - 1), -10, 20)
    assert below == pytest.approx(0.95, abs=1e-7)


def test_one_data_set_tells_nothing_apart():
    assert critical_difference(3, 1) == inf
    found = Ranking.of({"a": [1.0], "b": [2.0], "c": [3.0]})
    assert found.groups == [["c", "b", "a"]]


def slow_groups(ranks, length):
    """All largest sets of methods of which no two are farther apart than a length, by trying every set."""
    sets = [set(some) for size in range(2, len(ranks) + 1) for some in combinations(ranks, size)]
    joined = [some for some in sets if all(abs(ranks[a] - ranks[b]) <= length for a, b in combinations(some, 2))]
    largest = [some for some in joined if not any(some < other for other in joined)]
    return sorted((sorted(some, key=ranks.get) for some in largest), key=lambda some: ranks[some[0]])


@pytest.mark.parametrize("length", [0.0, 0.3, 0.8, 1.5, 3.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_groups_are_the_largest_sets_that_the_critical_difference_does_not_tell_apart(seed, length):
    names = list("abcdefgh")
    ranks = dict(zip(names, np.sort(np.random.default_rng(seed).uniform(1, 8, len(names))).tolist(), strict=True))
    assert Ranking(ranks, 10, 0.01, length).groups == slow_groups(ranks, length)


def test_methods_come_in_the_order_of_their_mean_ranks():
    found = Ranking.of({"a": [1.0, 5.0, 2.0], "b": [3.0, 5.0, 4.0], "c": [2.0, 9.0, 1.0]})
    assert found.mean_ranks == {"b": pytest.approx(4.5 / 3), "c": pytest.approx(2.0), "a": pytest.approx(7.5 / 3)}
    assert list(found.mean_ranks) == ["b", "c", "a"]
    assert found.n_data == 3
