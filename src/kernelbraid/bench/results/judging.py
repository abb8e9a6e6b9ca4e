"""How a claim is judged: by the mean difference of two methods, and by the signed-rank test over the data sets."""

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from statistics import fmean

from kernelbraid.bench.results.wilcoxon import compare

MARGIN = 0.5  # points of accuracy: less is no difference
LEVEL = 0.05  # of significance
NOT_TESTED = "not tested"


@dataclass(frozen=True)
class Verdict:
    """A claim and what the records say of it."""

    claim: str
    verdict: str  # "holds" or "fails", each perhaps only on average, "no difference" or "not tested"
    evidence: str


def judge(claim: str, first: Mapping[str, float], second: Mapping[str, float]) -> Verdict:
    """Judge that the first of two methods is better, by their figures in per cent."""
    comparison = compare(first, second, "acc")
    if comparison is None:
        return Verdict(claim, NOT_TESTED, "no records")
    gap = mean_gap(first, second)
    verdict = "holds" if gap > MARGIN else "fails" if gap < -MARGIN else "no difference"
    if verdict != "no difference" and comparison.p > LEVEL:
        verdict += " on average, not significantly"
    wins = f"better on {comparison.wins} of {count_data(range(comparison.n))}"
    return Verdict(claim, verdict, f"{gap:+.2f} points on average, {wins} (p = {comparison.p:.4f})")


def mean_gap(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return the mean difference over the data sets that both have."""
    return fmean(first[name] - second[name] for name in first if name in second)


def count_data(data: Sized) -> str:
    """Return the number of data sets in words."""
    return f"{len(data)} data set{'' if len(data) == 1 else 's'}"
