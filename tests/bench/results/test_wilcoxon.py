from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from kernelbraid.bench.results.published import METHODS, PROPOSED, TABLE_2, WILCOXON
from kernelbraid.bench.results.wilcoxon import compare, compare_published, signed_rank_p

MISPRINT = ("LKGr", "acc", "SCMK")


def cells():
    return [(method, measure, rival) for (method, measure), row in WILCOXON.items() for rival in row]


@pytest.mark.parametrize("cell", [cell for cell in cells() if cell != MISPRINT], ids="-".join)
def test_the_published_p_values_follow_from_the_published_figures(cell):
    method, measure, rival = cell
    assert f"{compare_published(method, rival, measure).p:.4f}" == f"{WILCOXON[method, measure][rival].value:.4f}"


def test_all_but_one_of_36_p_values_are_tested_above():
    assert len(cells()) == 36
    assert MISPRINT in cells()


def test_the_36th_p_value_is_a_misprint():
    printed = WILCOXON["LKGr", "acc"]["SCMK"].value
    exact = compare_published("LKGr", "SCMK", "acc").p
    assert exact == 109 / 256
    assert f"{exact:.4f}" == "0.4258"
    # Nine pairs without ties have multiples of 1/256 as two-sided p-values: none rounds to what is printed.
    assert f"{printed:.4f}" not in {f"{count / 256:.4f}" for count in range(257)}


@pytest.mark.parametrize("measure", TABLE_2)
@pytest.mark.parametrize("method", PROPOSED)
@pytest.mark.parametrize("rival", METHODS[:9])
def test_p_values_are_those_of_scipy(method, rival, measure):
    first, second = ([row[name].value for row in TABLE_2[measure].values()] for name in (method, rival))
    # The one tie, of LKGr and MKKM in NMI, is among nine differences of one sign, where it does not matter.
    assert signed_rank_p(first, second) == wilcoxon(first, second, method="exact").pvalue


def test_ties_and_zeros_are_counted_exactly():
    # Ranks 1.5, 1.5, 3 and one pair without a difference: of 8 signs, (+,-,+) and (-,+,+) reach 4.5, (+,+,+) reaches 6.
    assert signed_rank_p([1, 0, 2, 5], [0, 1, 0, 5]) == 2 * 3 / 8
    assert signed_rank_p([1, 1, 2, 5], [0, 0, 0, 5]) == 2 / 8


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
def test_with_ties_the_exact_test_of_scipy_counts_other_ranks(zero_method):
    differences = [3, 1, 1, -3, -3, -3, -3, 1]
    ranks = rankdata(np.abs(differences))
    sums = [ranks @ signs for signs in product([0, 1], repeat=8)]
    reached = ranks @ (np.array(differences) > 0)
    expected = 2 * min(np.mean(sums >= reached), np.mean(sums <= reached))
    assert signed_rank_p(differences, np.zeros(8)) == expected == 0.453125
    assert wilcoxon(differences, method="exact", zero_method=zero_method).pvalue != expected


def test_equal_differences_are_equal_in_spite_of_rounding():
    assert signed_rank_p([0.3, 0.0], [0.2, 0.1]) == 1.0


def test_the_test_is_symmetric_and_says_1_without_differences():
    first, second = [1.0, 5.0, 2.5, 8.0], [2.0, 1.0, 2.0, 1.0]
    assert signed_rank_p(first, second) == signed_rank_p(second, first)
    assert signed_rank_p([1.0, 2.0], [1.0, 2.0]) == 1.0


def test_a_figure_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="leave that pair out"):
        signed_rank_p([1.0, float("nan")], [0.0, 0.0])


def test_methods_are_compared_on_the_data_sets_that_both_have():
    found = compare({"a": 3.0, "b": 4.0, "c": 9.0}, {"b": 1.0, "a": 1.0, "d": 0.0}, "acc")
    assert (found.n, found.wins) == (2, 2)
    assert compare({"a": 1.0}, {"b": 1.0}, "acc") is None


def test_the_smaller_entropy_wins():
    assert compare({"a": 0.1}, {"a": 0.2}, "entropy").wins == 1
