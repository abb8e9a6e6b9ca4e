"""What the measures count: samples by class and cluster, and pairs of samples joined by either."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix


def contingency(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.int64]:
    """Return how many samples each class (row) has in each cluster (column)."""
    return np.asarray(contingency_matrix(*encode_pair(y_true, y_pred), dtype=np.int64))


def joined_pairs(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[int, int, int]:
    """Return how many pairs are joined by both partitions, by the clusters alone, by the classes alone.

    Pairs are ordered, so each is counted twice, which no ratio notices. The counts are exact integers.
    """
    (_, by_clusters), (by_classes, by_both) = pair_confusion_matrix(*encode_pair(y_true, y_pred)).tolist()
    return by_both, by_clusters, by_classes


def share(part: int, whole: int, *, empty: float) -> float:
    """Return part / whole, or `empty` if there is nothing to share."""
    return part / whole if whole else empty


def encode_pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return both label vectors as integers from 0, or say why they cannot be compared."""
    classes, clusters = _encode(y_true, "y_true"), _encode(y_pred, "y_pred")
    n, m = classes.size, clusters.size
    if n != m:
        raise ValueError(f"y_true has {n} labels and y_pred has {m}; give both one label per sample.")
    return classes, clusters


def _encode(labels: ArrayLike, name: str) -> NDArray[np.intp]:
    """Return one label vector as integers from 0."""
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; give a vector with one label per sample.")
    if values.size == 0:
        raise ValueError(f"{name} is empty; give at least one label.")
    missing = np.flatnonzero(_is_missing(values))
    if missing.size:
        at = missing[0]
        raise ValueError(f"{name} has no label ({values[at]}) at position {at}; leave such samples out.")
    try:
        return np.unique(values, return_inverse=True)[1]
    except TypeError:  # labels that cannot be ordered
        kinds = " and ".join(sorted({type(value).__name__ for value in values}))
        raise ValueError(f"{name} mixes labels of type {kinds}; use one type throughout.") from None


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are NaN, NaT or None."""
    if values.dtype.kind in "fcmM":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.array([value is None or (isinstance(value, float) and value != value) for value in values])
    return np.zeros(values.shape, dtype=bool)
