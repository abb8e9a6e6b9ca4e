"""The eight measures: each takes the true and the predicted labels and returns one number.

No measure depends on the names of the classes or clusters, and the two may differ in number. A new measure is
a function here and a line in `SCORES`.
"""

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from kernelbraid.metrics.partitions import adjusted_rand, contingency, encode_pair, joined_pairs, share

Score: TypeAlias = Callable[[ArrayLike, ArrayLike], float]
NMIAverage: TypeAlias = Literal["max", "arithmetic"]


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Clustering accuracy (Acc): the share of samples right under the best matching of clusters to classes.

    .. math:: \mathrm{Acc} = \max_{\pi} \frac{1}{n} \sum_{i=1}^{n} \mathbb{1}[y_i = \pi(\hat y_i)]

    where :math:`\pi` gives each cluster a class, no class twice. With more clusters than classes the
    clusters left over count as wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.

    Returns
    -------
    float
        Between 0 (excluded) and 1.

    Examples
    --------
    >>> from kernelbraid.metrics import accuracy
    >>> accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    counts = contingency(y_true, y_pred)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    return float(counts[classes, clusters].sum() / counts.sum())


def nmi(y_true: ArrayLike, y_pred: ArrayLike, *, average: NMIAverage = "max") -> float:
    r"""Normalised mutual information (NMI) of classes and clusters.

    .. math:: \mathrm{NMI} = \frac{I(y, \hat y)}{\max(H(y), H(\hat y))}

    where :math:`I` is the mutual information and :math:`H` the entropy. Two partitions into a single group
    agree and score 1.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.
    average : {"max", "arithmetic"}, default="max"
        What to divide by: the larger of the two entropies, or their mean.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from kernelbraid.metrics import nmi
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], average="arithmetic"), 4)
    0.8
    """
    if average not in ("max", "arithmetic"):
        raise ValueError(f"The NMI average is {average!r}; choose 'max' or 'arithmetic'.")
    score = normalized_mutual_info_score(*encode_pair(y_true, y_pred), average_method=average)
    return min(max(float(score), 0.0), 1.0)  # rounding may leave the interval by an ulp


def purity(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Purity: the share of samples that belong to the most frequent class of their cluster.

    .. math:: \mathrm{Purity} = \frac{1}{n} \sum_{k} \max_{c} n_{ck}

    where :math:`n_{ck}` counts the samples of class c in cluster k. It never falls when a cluster is split.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.

    Returns
    -------
    float
        Between 0 (excluded) and 1.

    Examples
    --------
    >>> from kernelbraid.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    counts = contingency(y_true, y_pred)
    return float(counts.max(axis=0).sum() / counts.sum())


def ari(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Agreement on pairs of samples, 0 on average for random labels: adjusted Rand index (ARI).

    .. math:: \mathrm{ARI} = \frac{R - \mathrm{E}[R]}{\max R - \mathrm{E}[R]}

    where :math:`R` is the share of pairs that both partitions join or both separate, and the expectation is
    over random labels with the same group sizes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.

    Returns
    -------
    float
        Between -0.5 and 1.

    Examples
    --------
    >>> from kernelbraid.metrics import ari
    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    return adjusted_rand(*encode_pair(y_true, y_pred))


def f_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Pairwise F-score: the harmonic mean of pairwise precision and recall.

    .. math:: F = \frac{2\,\mathrm{TP}}{2\,\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}

    where TP counts the pairs in one cluster and one class, FP those in one cluster but two classes, and FN
    those in one class but two clusters.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.

    Returns
    -------
    float
        Between 0 and 1; 1 if neither partition joins any pair.

    Examples
    --------
    >>> from kernelbraid.metrics import f_score
    >>> round(f_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.6667
    """
    tp, fp, fn = joined_pairs(y_true, y_pred)
    return share(2 * tp, 2 * tp + fp + fn, empty=1.0)


def precision(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Pairwise precision: the share of the pairs in one cluster that are in one class.

    .. math:: \mathrm{Precision} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP}}

    where TP counts the pairs in one cluster and one class, and FP those in one cluster but two classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.

    Returns
    -------
    float
        Between 0 and 1. If no cluster joins a pair: 1 if no class does either, otherwise 0.

    Examples
    --------
    >>> from kernelbraid.metrics import precision
    >>> round(precision([0, 0, 1, 1], [0, 0, 0, 1]), 4)
    0.3333
    """
    tp, fp, fn = joined_pairs(y_true, y_pred)
    return share(tp, tp + fp, empty=float(fn == 0))


def recall(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Pairwise recall: the share of the pairs in one class that are in one cluster.

    .. math:: \mathrm{Recall} = \frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FN}}

    where TP counts the pairs in one cluster and one class, and FN those in one class but two clusters.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text.

    Returns
    -------
    float
        Between 0 and 1. If no class joins a pair: 1 if no cluster does either, otherwise 0.

    Examples
    --------
    >>> from kernelbraid.metrics import recall
    >>> recall([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    tp, fp, fn = joined_pairs(y_true, y_pred)
    return share(tp, tp + fn, empty=float(fp == 0))


def entropy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""Entropy of the predicted partition, in bits: how evenly the clusters are filled.

    .. math:: H(\hat y) = -\sum_{k} \frac{n_k}{n} \log_2 \frac{n_k}{n}

    where :math:`n_k` is the size of cluster k. It is 0 when everything falls into one cluster and at most
    :math:`\log_2` of the number of clusters. This is the entropy of the paper's tables: it does not use
    the classes, it is not conditional on them, and neither a larger nor a smaller value is better in itself.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes: checked for their length, otherwise unused.
    y_pred : array-like of shape (n_samples,)
        Clusters: numbers or text.

    Returns
    -------
    float
        Between 0 and log2(n_clusters).

    Examples
    --------
    >>> from kernelbraid.metrics import entropy
    >>> entropy([0, 0, 1, 1], [0, 1, 2, 3])
    2.0
    >>> entropy([0, 0, 1, 1], [5, 5, 5, 5])
    0.0
    """
    _, clusters = encode_pair(y_true, y_pred)
    sizes = np.bincount(clusters) / clusters.size
    return float(sizes @ np.log2(1 / sizes))


#: The measures by name, in the order of the paper's tables.
SCORES: dict[str, Score] = {
    "acc": accuracy,
    "nmi": nmi,
    "purity": purity,
    "ari": ari,
    "f_score": f_score,
    "precision": precision,
    "recall": recall,
    "entropy": entropy,
}


def evaluate(y_true: ArrayLike, y_pred: ArrayLike, *, nmi_average: NMIAverage = "max") -> dict[str, float]:
    """Score a clustering with all eight measures of the paper.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Classes and clusters: numbers or text; they may differ in names and number.
    nmi_average : {"max", "arithmetic"}, default="max"
        What the mutual information is divided by: the larger of the two entropies, or their mean.

    Returns
    -------
    dict of str to float
        "acc", "nmi", "purity", "ari", "f_score", "precision", "recall", "entropy".

    Examples
    --------
    >>> from kernelbraid.metrics import evaluate
    >>> for name, value in evaluate([0, 0, 1, 1], [0, 0, 1, 2]).items():
    ...     print(f"{name:<10}{value:.4f}")
    acc       0.7500
    nmi       0.6667
    purity    1.0000
    ari       0.5714
    f_score   0.6667
    precision 1.0000
    recall    0.5000
    entropy   1.5000
    """
    classes, clusters = encode_pair(y_true, y_pred)
    scores: dict[str, Score] = {**SCORES, "nmi": partial(nmi, average=nmi_average)}
    return {name: score(classes, clusters) for name, score in scores.items()}
