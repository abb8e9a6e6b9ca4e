from itertools import combinations, product
from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from lab.results.published import TABLE_2, WILCOXON
from lab.results.significance import NOT_TESTED, Ranking, compare, critical_difference, judge, signed_rank_p

MISPRINT = ("LKGr", "acc", "SCMK")
CELLS = [(method, measure, rival) for (method, measure), row in WILCOXON.items() for rival in row]
FIRST = {name: 60.0 + place for place, name in enumerate("abcdef")}


def printed(method, measure):
    return {data: row[method].value for data, row in TABLE_2[measure].items()}


def enumerated(differences):
    """The same p-value by trying all signs."""
    ranks = rankdata(np.abs(differences))
    sums = [ranks @ signs for signs in product([0, 1], repeat=len(differences))]
    reached = ranks @ (np.array(differences) > 0)
    return min(1.0, 2 * min(np.mean(sums >= reached), np.mean(sums <= reached)))


def test_published_p_values_follow_from_published_figures():
    for cell in [cell for cell in CELLS if cell != MISPRINT]:
        method, measure, rival = cell
        found = compare(printed(method, measure), printed(rival, measure)).p
        assert f"{found:.4f}" == f"{WILCOXON[method, measure][rival].value:.4f}"


def test_the_36th_p_value_is_a_misprint():
    assert len(CELLS) == 36
    exact = compare(printed("LKGr", "acc"), printed("SCMK", "acc")).p
    assert exact == 109 / 256
    # Nine pairs without ties have multiples of 1/256 as two-sided p-values: none rounds to what is printed.
    value = WILCOXON["LKGr", "acc"]["SCMK"].value
    assert f"{value:.4f}" not in {f"{count / 256:.4f}" for count in range(257)}


def test_p_values_with_ties_are_those_of_all_signs():
    for seed in range(20):
        differences = np.random.default_rng(seed).integers(-3, 4, 9).astype(float)
        assert signed_rank_p(differences) == pytest.approx(enumerated(differences[differences != 0]), rel=1e-12)


def test_p_values_without_ties_are_those_of_scipy():
    differences = np.random.default_rng(0).normal(0.4, 1, 30)
    assert signed_rank_p(differences) == pytest.approx(wilcoxon(differences, method="exact").pvalue, rel=1e-12)


def test_with_ties_the_exact_test_of_scipy_counts_other_ranks():
    differences = np.array([3.0, 1, 1, -3, -3, -3, -3, 1])
    assert signed_rank_p(differences) == enumerated(differences) == 0.453125
    assert wilcoxon(differences, method="exact").pvalue != 0.453125


def test_without_a_difference_methods_are_alike():
    assert compare(FIRST, FIRST).p == 1.0


def test_differences_are_equal_in_spite_of_rounding():
    found = compare({"a": 0.3, "b": 0.0}, {"a": 0.2, "b": 0.1})
    assert (found.p, found.wins) == (1.0, 1)


def test_methods_are_compared_on_the_data_sets_that_both_have():
    found = compare({"a": 3.0, "b": 4.0, "c": 9.0}, {"b": 1.0, "a": 1.0, "d": 0.0})
    assert (found.n, found.wins) == (2, 2)
    assert compare({"a": 1.0}, {"b": 1.0}) is None


def test_a_claim_is_judged_by_the_mean_difference():
    for gap, expected in [(0.6, "holds"), (-0.6, "fails"), (0.5, "no difference"), (-0.5, "no difference")]:
        found = judge("a claim", FIRST, {name: value - gap for name, value in FIRST.items()})
        assert (found.claim, found.verdict) == ("a claim", expected)
        assert found.evidence.startswith(
            f"{gap:+.2f} points on average, better on {6 if gap > 0 else 0} of 6 data sets"
        )


def test_a_difference_that_is_not_significant_is_called_so():
    second = {**FIRST, "a": 0.0}  # one large difference, five of nothing
    assert judge("a claim", FIRST, second).verdict == "holds on average, not significantly"
    assert judge("a claim", {"a": 1.0}, {"b": 1.0}).verdict == NOT_TESTED


def test_equal_figures_share_their_mean_rank_and_the_best_comes_first():
    found = Ranking.of({"a": [1.0, 5.0, 0.3], "b": [3.0, 5.0, 0.1 + 0.2], "c": [2.0, 9.0, 0.1]})
    assert found.mean_ranks == {"b": pytest.approx(5 / 3), "c": pytest.approx(2.0), "a": pytest.approx(7 / 3)}
    assert list(found.mean_ranks) == ["b", "c", "a"]
    assert found.n_data == 3


def test_friedmans_test_is_that_of_scipy_and_knows_methods_that_never_differ():
    table = np.random.default_rng(1).integers(0, 4, (5, 12)).astype(float)
    found = Ranking.of({str(i): line.tolist() for i, line in enumerate(table)})
    assert found.p == pytest.approx(friedmanchisquare(*table).pvalue)
    assert Ranking.of(dict.fromkeys("abcd", [1.0] * 5)).p == 1.0


# Demšar, Table 5(a): critical values of the two-tailed Nemenyi test at the level 0.05, for 2 to 10 methods.
PRINTED = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


def test_the_critical_difference_is_that_of_the_printed_table():
    for k, printed in list(enumerate(PRINTED, 2)):
        assert critical_difference(k, 30) == pytest.approx(printed * sqrt(k * (k + 1) / 180), rel=5e-4)
        assert critical_difference(k, 1) == inf


def test_groups_are_the_largest_sets_that_the_critical_difference_does_not_tell_apart():
    for length in [0.0, 0.3, 1.5, 20.0]:
        ranks = dict(zip("abcdefgh", np.sort(np.random.default_rng(0).uniform(1, 8, 8)).tolist(), strict=True))
        sets = [set(some) for size in range(2, 9) for some in combinations(ranks, size)]
        joined = [some for some in sets if all(abs(ranks[a] - ranks[b]) <= length for a, b in combinations(some, 2))]
        largest = [sorted(some) for some in joined if not any(some < other for other in joined)]
        assert Ranking(ranks, 10, 0.01, length).groups == sorted(largest)
