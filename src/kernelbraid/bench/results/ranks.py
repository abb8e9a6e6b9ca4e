"""Ranks of methods over many data sets: Friedman's test, and the critical difference of Nemenyi's.

A method is ranked on every data set, so that none counts more than another because its figures are spread more. Of the
two usual tests after Friedman's, Nemenyi's is here: it holds for all pairs at once, and has one length by which any two
mean ranks must differ, so that methods which cannot be told apart are neighbours in the order of ranks, and a bar joins
them. Groups by Wilcoxon's test with Holm's correction may have holes that no bar shows; pairs are tested by it in
Table 3 and in the claims.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import chi2, rankdata, studentized_range

LEVEL = 0.05  # of significance
# Figures are compared up to so many decimals: what is beyond is rounding, and would hide ties.
DIGITS = 9


@dataclass(frozen=True)
class Ranking:
    """Methods over the same data sets, the best mean rank first."""

    mean_ranks: Mapping[str, float]
    n_data: int
    p: float  # of Friedman's test: that all methods are alike
    critical_difference: float  # of two mean ranks, infinite where there is one data set or none

    @classmethod
    def of(cls, figures: Mapping[str, Sequence[float]]) -> "Ranking":
        """Rank methods by their figures, of which larger ones are better.

        Parameters
        ----------
        figures : mapping
            By method one figure for each data set, in the same order for all; two methods at least.
        """
        table = np.array(list(figures.values()), dtype=float).T  # data sets, methods
        means = dict(zip(figures, rank(table).mean(axis=0).tolist(), strict=True))
        ordered = dict(sorted(means.items(), key=lambda item: item[1]))
        return cls(ordered, len(table), friedman_p(table), critical_difference(len(figures), len(table)))

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


def rank(table: np.ndarray) -> np.ndarray:
    """Return ranks in every row, 1 for the largest figure; equal ones share their mean rank."""
    return np.asarray(rankdata(-np.round(table, DIGITS), axis=1))


def friedman_p(table: np.ndarray) -> float:
    r"""Return the p-value of Friedman's test, corrected for ties; 1 where no row has a difference.

    .. math:: (k - 1) \frac{\sum_j (\sum_i r_{ij} - n (k + 1) / 2)^2}{\sum_{ij} (r_{ij} - (k + 1) / 2)^2}

    is compared with the chi-squared distribution of :math:`k - 1` degrees, for ranks :math:`r` of k methods on n data
    sets. SciPy has the same for three methods and more.
    """
    k = table.shape[1]
    deviations = rank(table) - (k + 1) / 2
    spread = (deviations**2).sum()
    return 1.0 if spread == 0 else float(chi2.sf((k - 1) * (deviations.sum(axis=0) ** 2).sum() / spread, k - 1))


def critical_difference(n_methods: int, n_data: int, level: float = LEVEL) -> float:
    r"""Return by how much two mean ranks differ at least if the methods do, by Nemenyi's test.

    .. math:: \frac{q}{\sqrt{2}} \sqrt{\frac{k (k + 1)}{6 n}}

    where :math:`q` is the quantile of the range of k standard normal variables.

    References
    ----------
    J. Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7
    (2006) 1-30.
    """
    if n_data < 2:
        return float("inf")
    q = float(studentized_range.ppf(1 - level, n_methods, np.inf))
    return q / sqrt(2) * sqrt(n_methods * (n_methods + 1) / (6 * n_data))
