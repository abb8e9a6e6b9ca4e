"""Scores of a clustering against known classes: the eight measures of the paper."""

from kernelbraid.metrics.scores import (
    SCORES,
    accuracy,
    ari,
    entropy,
    evaluate,
    f_score,
    nmi,
    precision,
    purity,
    recall,
)

__all__ = [
    "evaluate",
    "SCORES",
    "accuracy",
    "nmi",
    "purity",
    "ari",
    "f_score",
    "precision",
    "recall",
    "entropy",
]
