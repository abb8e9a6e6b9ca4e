"""From a fit to what its record keeps of it beside the scores."""

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Protocol

import numpy as np

from kernelbraid._arrays import to_numpy
from kernelbraid._typing import Array
from kernelbraid.bench.records.record import Kept, KernelPicture
from kernelbraid.bench.records.snapshot_data import PIXELS, block_edges

DIGITS_OF_HISTORY, DIGITS_OF_KERNEL = 4, 3


class Learned(Protocol):
    """What a record may keep a part of: a fitted LKG, or what was learned for one."""

    @property
    def history_(self) -> Mapping[str, np.ndarray]:
        """Columns of numbers and words, one entry per step."""

    @property
    def kernel_(self) -> Array:
        """The consensus kernel, (n, n)."""


def keep_parts(model: Learned, labels: np.ndarray, parts: Collection[str]) -> Kept:
    """Return the parts of a fitted LKG as plain data.

    Parameters
    ----------
    model : LKG
        Fitted estimator, or what was learned for one.
    labels : ndarray of shape (n_samples,)
        Clusters by which the samples of the kernel are ordered.
    parts : collection of str
        Some of `kernelbraid.bench.records.snapshot_data.PARTS`.

    Returns
    -------
    dict
        ``"history"``: a list of numbers per quantity, one per step. ``"kernel"``: ``"image"``, means of the consensus
        kernel over at most 96 x 96 blocks, and ``"sizes"`` of the clusters in the order of the image.
    """
    kept = Kept()
    if "history" in parts:
        kept["history"] = _history(model.history_)
    if "kernel" in parts:
        kept["kernel"] = _kernel(model.kernel_, labels)
    return kept


def _history(columns: Mapping[str, np.ndarray]) -> dict[str, list[float | None]]:
    """Return every series of numbers; words, such as the route of a step, are left out."""
    return {
        name: [_rounded(value, DIGITS_OF_HISTORY) for value in values.tolist()]
        for name, values in columns.items()
        if np.issubdtype(values.dtype, np.number)
    }


def _kernel(kernel: Array, labels: np.ndarray) -> KernelPicture:
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    image = block_means(to_numpy(kernel)[np.ix_(order, order)])
    rows = [[_rounded(value, DIGITS_OF_KERNEL) for value in row] for row in image.tolist()]
    return {"image": rows, "sizes": counts[counts > 0].tolist()}


def block_means(matrix: np.ndarray, most: int = PIXELS) -> np.ndarray:
    """Return the means of a square matrix over at most `most` blocks per side, of sizes that differ by one at most."""
    edges = block_edges(len(matrix), most)
    sums = np.add.reduceat(np.add.reduceat(matrix, edges[:-1], axis=0), edges[:-1], axis=1)
    sizes = np.diff(edges)
    return np.asarray(sums / np.outer(sizes, sizes))


def _rounded(value: float, digits: int) -> float | None:
    """Return a number of few digits, or None where it is not finite, which JSON cannot say."""
    return float(f"{value:.{digits}g}") if isfinite(value) else None
