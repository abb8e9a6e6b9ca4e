"""The test of the paper: Wilcoxon's signed-rank test, two-sided and exact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from kernelbraid.bench.results.published import LOWER_IS_BETTER, TABLE_2

# Differences of figures with a few decimals: what is beyond these digits is rounding, and would hide ties.
DIGITS = 9


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same data sets."""

    p: float  # two-sided
    n: int  # data sets
    wins: int  # on which the first is better


def signed_rank_p(first: Sequence[float], second: Sequence[float]) -> float:
    r"""Return the exact two-sided p-value of Wilcoxon's signed-rank test.

    .. math:: p = \min(1, 2 \min(P(T \le t), P(T \ge t)))

    where :math:`t` is the sum of the ranks of the positive differences and :math:`T` the same sum with signs drawn
    at random. All signs are counted, none approximated. Equal differences share their mean rank, pairs without
    a difference are left out. Where there are neither, this is ``scipy.stats.wilcoxon(..., method="exact")``; with
    equal differences SciPy 1.17 takes its distribution of ranks without ties, whichever its ``zero_method``, and is
    not exact: for the differences 3, 1, 1, -3, -3, -3, -3, 1 it gives 0.4609 and not 0.4531. Hence our own.

    Parameters
    ----------
    first, second : sequence of float
        Figures of two methods, paired.

    Returns
    -------
    float
        1 if no pair differs.

    Examples
    --------
    >>> from kernelbraid.bench.results.wilcoxon import signed_rank_p
    >>> signed_rank_p([2.0, 4.0, 6.0, 8.0, 11.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    0.0625
    """
    differences = np.round(np.subtract(first, second), DIGITS)
    if not np.isfinite(differences).all():
        raise ValueError("The signed-rank test got a figure that is not finite; leave that pair out.")
    differences = differences[differences != 0]
    if differences.size == 0:
        return 1.0
    ranks = np.rint(2 * rankdata(np.abs(differences))).astype(int)  # doubled: mean ranks may end in one half
    ways = _ways(ranks)
    reached = int(ranks[differences > 0].sum())
    tail = min(ways[: reached + 1].sum(), ways[reached:].sum())
    return min(1.0, 2 * float(tail) / 2.0**differences.size)


def _ways(ranks: np.ndarray) -> np.ndarray:
    """Return in how many ways a subset of the ranks has each sum from 0 to the largest."""
    ways = np.zeros(ranks.sum() + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] = ways[rank:] + ways[:-rank]
    return ways


def compare(first: Mapping[str, float], second: Mapping[str, float], measure: str) -> Comparison | None:
    """Compare two methods on the data sets that both have figures for, or return None if there are none."""
    shared = [name for name in first if name in second]
    if not shared:
        return None
    sign = -1 if measure in LOWER_IS_BETTER else 1
    ours, theirs = [sign * first[name] for name in shared], [sign * second[name] for name in shared]
    wins = int((np.round(np.subtract(ours, theirs), DIGITS) > 0).sum())  # as the test has differences
    return Comparison(signed_rank_p(ours, theirs), len(shared), wins)


def compare_published(method: str, rival: str, measure: str) -> Comparison:
    """Compare two methods by the figures printed in Table 2."""
    rows = TABLE_2[measure]
    first, second = ({data: row[name].value for data, row in rows.items()} for name in (method, rival))
    comparison = compare(first, second, measure)
    assert comparison is not None  # Table 2 has no empty cell
    return comparison
