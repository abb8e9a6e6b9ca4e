"""Scores of a clustering: the eight measures of the paper against known classes, and some that need none."""

from kernelbraid.metrics.from_scikit_learn import ami, held_out_agreement, kernel_silhouette, kernel_silhouettes
from kernelbraid.metrics.partitions import agreement, balance, cut_share, modularity
from kernelbraid.metrics.scores import SCORES, accuracy, ari, entropy, evaluate, f_score, nmi, precision, purity, recall

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
    "kernel_silhouette",
    "kernel_silhouettes",
    "modularity",
    "balance",
    "cut_share",
    "agreement",
    "ami",
    "held_out_agreement",
]
