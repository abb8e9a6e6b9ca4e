"""Whether methods differ over many data sets, and which claims hold: tests of Wilcoxon, Friedman and Nemenyi."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from math import inf, sqrt
from statistics import fmean
from typing import TypeAlias

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

LEVEL = 0.05
MARGIN = 0.5  # points of accuracy: less is no difference
NOT_TESTED = "not tested"
# Figures are compared up to so many decimals: what is beyond is rounding, and would hide ties.
DIGITS = 9

#: Of a method, in per cent, by data set.
Figures: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same data sets."""

    p: float  # two-sided
    n: int  # data sets
    wins: int  # on which the first is better


def compare(first: Figures, second: Figures) -> Comparison | None:
    """Compare two methods on the data sets that both have figures for; None if there are none."""
    shared = [name for name in first if name in second]
    if not shared:
        return None
    differences = np.round([first[name] - second[name] for name in shared], DIGITS)
    return Comparison(signed_rank_p(differences), len(shared), int((differences > 0).sum()))


def signed_rank_p(differences: np.ndarray) -> float:
    r"""Return the exact two-sided p-value of Wilcoxon's signed-rank test.

    .. math:: p = \min(1, 2 \min(P(T \le t), P(T \ge t)))

    where :math:`t` is the sum of the ranks of the positive differences and :math:`T` the same sum with signs drawn at
    random. All signs are counted, none approximated; equal differences share their mean rank, zeros are left out. With
    equal differences `scipy.stats.wilcoxon` is not exact, whichever its ``method``: for 3, 1, 1, -3, -3, -3, -3, 1 it
    gives 0.4609 and not 0.4531. Hence our own.
    """
    differences = differences[differences != 0]
    ranks = np.rint(2 * rankdata(np.abs(differences))).astype(int)  # doubled: mean ranks may end in one half
    ways = np.zeros(ranks.sum() + 1)  # in how many ways a subset of the ranks has each sum
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[:-rank]
    reached = int(ranks[differences > 0].sum())
    tail = min(ways[: reached + 1].sum(), ways[reached:].sum())
    return min(1.0, 2 * float(tail) / 2.0**differences.size)


@dataclass(frozen=True)
class Verdict:
    """A claim and what the records say of it."""

    claim: str
    verdict: str  # "holds" or "fails", each perhaps only on average, "no difference" or "not tested"
    evidence: str


def judge(claim: str, first: Figures, second: Figures) -> Verdict:
    """Judge that the first of two methods is better."""
    comparison = compare(first, second)
    if comparison is None:
        return Verdict(claim, NOT_TESTED, "no records")
    gap = mean_gap(first, second)
    verdict = in_words(gap)
    if verdict != "no difference" and comparison.p > LEVEL:
        verdict += " on average, not significantly"
    wins = f"better on {comparison.wins} of {count_data(range(comparison.n))}"
    return Verdict(claim, verdict, f"{gap:+.2f} points on average, {wins} (p = {comparison.p:.4f})")


def mean_gap(first: Figures, second: Figures) -> float:
    """Return the mean difference over the data sets that both have."""
    return fmean(first[name] - second[name] for name in first if name in second)


def in_words(gap: float) -> str:
    """Return what a mean difference says of a claim."""
    return "holds" if gap > MARGIN else "fails" if gap < -MARGIN else "no difference"


def count_data(data: Sized) -> str:
    """Return the number of data sets in words."""
    return f"{len(data)} data set{'' if len(data) == 1 else 's'}"


@dataclass(frozen=True)
class Ranking:
    """Methods over the same data sets, the best mean rank first."""

    mean_ranks: Mapping[str, float]
    n_data: int
    p: float  # of Friedman's test: that all methods are alike
    critical_difference: float  # of two mean ranks

    @classmethod
    def of(cls, figures: Mapping[str, Sequence[float]]) -> "Ranking":
        """Rank three methods or more by figures of which larger ones are better, one for each data set.

        Nemenyi's test holds for all pairs at once, and has one length by which any two mean ranks must differ.
        """
        table = np.round(list(figures.values()), DIGITS)  # methods, data sets
        k, n = table.shape
        means = dict(zip(figures, rankdata(-table, axis=0).mean(axis=1).tolist(), strict=True))
        p = float(friedmanchisquare(*table).pvalue) if np.ptp(table, axis=0).any() else 1.0
        ordered = dict(sorted(means.items(), key=lambda item: item[1]))
        return cls(ordered, n, p, critical_difference(k, n))

    @property
    def groups(self) -> list[list[str]]:
        """Largest groups of two methods or more that the critical difference does not tell apart, best first."""
        names, ranks = list(self.mean_ranks), list(self.mean_ranks.values())
        found: list[list[str]] = []
        reached = 0
        for first, best in enumerate(ranks):
            end = sum(value - best <= self.critical_difference for value in ranks)
            if end > max(reached, first + 1):
                found.append(names[first:end])
            reached = max(reached, end)
        return found


def critical_difference(n_methods: int, n_data: int) -> float:
    r"""Return by how much two mean ranks differ at least if the methods do, by Nemenyi's test.

    .. math:: \frac{q}{\sqrt{2}} \sqrt{\frac{k (k + 1)}{6 n}}

    where :math:`q` is the quantile of the range of k standard normal variables.

    References
    ----------
    J. Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7
    (2006) 1-30.
    """
    if n_data < 2:
        return inf
    q = float(studentized_range.ppf(1 - LEVEL, n_methods, inf))
    return q / sqrt(2) * sqrt(n_methods * (n_methods + 1) / (6 * n_data))
