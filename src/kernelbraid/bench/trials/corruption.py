"""Data sets made worse on purpose: noise, outliers, views without meaning, a kernel of shuffled samples."""

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernelbraid.bench.records.record import Changes
from kernelbraid.datasets import Dataset
from kernelbraid.files.arrays import Matrix
from kernelbraid.kernels import banks_for, build_bank

OUTLIER = -1  # class of a sample that is not scored


def change(dataset: Dataset, changes: Changes, seed: int) -> Dataset:
    """Return a data set with the changes of a trial; the same ones for equal seeds, whatever their level.

    Parameters
    ----------
    dataset : Dataset
        As it is loaded.
    changes : mapping
        Some of `CHANGES` with their levels.
    seed : int
        Of the trial.
    """
    for name, level in changes.items():
        if name in CHANGES:
            dataset = CHANGES[name](dataset, float(level), _generator(name, seed))
    return dataset


def add_noise(dataset: Dataset, level: float, rng: np.random.Generator) -> Dataset:
    """Add normal noise of `level` deviations of the entries of each view."""
    views = [_dense(X) for X in dataset.views]
    return replace(dataset, views=[X + level * X.std() * rng.standard_normal(X.shape) for X in views])


def add_outliers(dataset: Dataset, share: float, rng: np.random.Generator) -> Dataset:
    """Replace a share of the samples by uniform noise in the range of the features; they are not scored."""
    chosen = rng.permutation(dataset.n_samples)[: round(share * dataset.n_samples)]
    views = [_dense(X).copy() for X in dataset.views]
    for X in views:
        X[chosen] = rng.uniform(X.min(axis=0), X.max(axis=0), size=(len(chosen), X.shape[1]))
    y = dataset.y.copy()
    y[chosen] = OUTLIER
    return replace(dataset, views=views, y=y)


def add_views(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add views of normal noise, of the width and the deviation of the first one."""
    first = _dense(dataset.views[0])
    noise = [first.std() * rng.standard_normal(first.shape) for _ in range(int(count))]
    return replace(dataset, views=[*dataset.views, *noise])


#: Changes of samples by their names in an experiment.
CHANGES: dict[str, Callable[[Dataset, float, np.random.Generator], Dataset]] = {
    "noise": add_noise,
    "outliers": add_outliers,
    "useless_views": add_views,
}
#: The change of a kernel: the share of samples that are shuffled in the kernel that ``kernel`` names.
SHUFFLED = "shuffled"
#: What a level of each change may be, and in words.
LEVELS: dict[str, tuple[Callable[[float], bool], str]] = {
    "noise": (lambda level: level >= 0, "deviations, 0 or more"),
    "outliers": (lambda share: 0 <= share < 1, "a share from 0 to below 1"),
    "useless_views": (lambda count: count >= 0 and isinstance(count, int), "a whole number, 0 or more"),
    SHUFFLED: (lambda share: 0 <= share <= 1, "a share from 0 to 1"),
}


def changed_kernels(dataset: Dataset, bank: str, changes: Changes, seed: int) -> NDArray[np.float64]:
    """Return the kernels of a bank, one of them between shuffled samples if the changes say so.

    A share of the samples change places among themselves in that kernel: it stays positive semidefinite with the same
    spectrum, and agrees with the others on nothing but the samples that stay.
    """
    kernels = np.array(build_bank(dataset.views, bank))
    if SHUFFLED in changes:
        names = [kernel.name for of_view in banks_for(bank, dataset.views) for kernel in of_view]
        worse = names.index(str(changes["kernel"]))
        order = shuffled_order(kernels.shape[1], float(changes[SHUFFLED]), _generator(SHUFFLED, seed))
        kernels[worse] = kernels[worse][np.ix_(order, order)]
    return kernels


def shuffled_order(n: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the numbers from 0 in their order, but for a share of them that change places."""
    order = np.arange(n)
    moved = rng.permutation(n)[: round(share * n)]
    order[np.sort(moved)] = moved
    return order


def _generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _dense(X: Matrix) -> NDArray[np.float64]:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=float)
