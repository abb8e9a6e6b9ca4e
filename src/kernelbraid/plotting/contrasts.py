"""What sets clusters apart: the features whose means differ most between a cluster and all other samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class Contrast:
    """A feature, and by how much it differs between a cluster and all other samples."""

    name: str
    inside: float  # mean in the cluster
    outside: float  # mean over the others
    effect: float  # their difference, in standard deviations of all samples


def contrasts(X: Any, labels: np.ndarray, names: Sequence[str], n_clusters: int, most: int) -> list[list[Contrast]]:
    """Return the features that set every cluster apart, those that differ most first.

    Parameters
    ----------
    X : ndarray or csr matrix of shape (n_samples, n_features)
        One view. Samples of it that are rows of NaN were not measured.
    labels : ndarray of shape (n_samples,)
        Clusters from 0 on.
    names : sequence of str
        Of the features.
    n_clusters : int
        Above all labels.
    most : int
        Features per cluster.

    Returns
    -------
    list of list of Contrast
        One list per cluster; empty for one that has no samples in the view, or all of them.
    """
    if not sparse.issparse(X):
        there = np.isfinite(X).all(axis=1)
        X, labels = (X, labels) if there.all() else (X[there], labels[there])
    n, sizes = len(labels), np.bincount(labels, minlength=n_clusters)
    scaler = StandardScaler(with_mean=False).fit(X)  # a feature that does not vary has scale 1
    totals = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    members = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    sums = members @ X
    found: list[list[Contrast]] = []
    for cluster, size in enumerate(sizes):
        if not 0 < size < n:
            found.append([])
            continue
        own = sums[[cluster]].toarray().ravel() if sparse.issparse(sums) else sums[cluster]
        inside, outside = own / size, (totals - own) / (n - size)
        effect = (inside - outside) / scaler.scale_
        first = np.argsort(-np.abs(effect), kind="stable")[:most]
        columns = (inside[first], outside[first], effect[first])
        rows = zip(first, *(column.tolist() for column in columns), strict=True)
        found.append([Contrast(names[j], *values) for j, *values in rows if values[2] != 0])
    return found
