"""Data sets made worse on purpose: noise, outliers, false views, missing rows, a kernel of shuffled samples.

And single views, or all but one: what they give alone tells what joining them is worth.
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kernelbraid.datasets import Dataset
from kernelbraid.kernels import bank_names, banks_for, build_bank
from lab.records import Changes

OUTLIER = -1  # class of a sample that is not scored
FALSE_WIDTH = 50  # features of a view that has nothing to do with the classes
DECOY_CLUSTERS, DECOY_SPREAD = 7, 3.0  # clusters of a decoy, and the deviation of their centres


def change(dataset: Dataset, changes: Changes, seed: int) -> Dataset:
    """Return a data set with the changes of a trial; the same ones for equal seeds, whatever their level."""
    for name, level in changes.items():
        if name in CHANGES:
            dataset = CHANGES[name](dataset, float(level), _generator(name, seed))
    return dataset


def _noise(dataset: Dataset, level: float, rng: np.random.Generator) -> Dataset:
    """Add normal noise of `level` deviations of the entries of each view."""
    views = [_dense(X) for X in dataset.views]
    return replace(dataset, views=[X + level * X.std() * rng.standard_normal(X.shape) for X in views])


def _outliers(dataset: Dataset, share: float, rng: np.random.Generator) -> Dataset:
    """Replace a share of the samples by uniform noise in the range of the features; they are not scored."""
    chosen = rng.permutation(dataset.n_samples)[: round(share * dataset.n_samples)]
    views = [_dense(X).copy() for X in dataset.views]
    for X in views:
        X[chosen] = rng.uniform(X.min(axis=0), X.max(axis=0), size=(len(chosen), X.shape[1]))
    y = dataset.y.copy()
    y[chosen] = OUTLIER
    return replace(dataset, views=views, y=y)


def _useless_views(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add views of normal noise, of the width and the deviation of the first one."""
    first = _dense(dataset.views[0])
    return _with_views(dataset, [first.std() * rng.standard_normal(first.shape) for _ in range(int(count))])


def _noise_views(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add views of 50 features of normal noise."""
    return _with_views(dataset, [rng.standard_normal((dataset.n_samples, FALSE_WIDTH)) for _ in range(int(count))])


def _decoys(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add views of seven clear clusters that are independent of everything else, of each other, too."""
    return _with_views(dataset, [_decoy(dataset.n_samples, rng) for _ in range(int(count))])


def _shuffled_views(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add copies of the first views whose samples have changed places."""
    chosen = [dataset.views[i % len(dataset.views)] for i in range(int(count))]
    return _with_views(dataset, [X[rng.permutation(dataset.n_samples)] for X in chosen])


def _copies(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add exact copies of the first view."""
    return _with_views(dataset, [dataset.views[0].copy() for _ in range(int(count))])


def _nuisance(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add views that agree with each other and with nothing else: noise around the same seven false clusters."""
    shared = rng.integers(DECOY_CLUSTERS, size=dataset.n_samples)
    return _with_views(dataset, [_decoy(dataset.n_samples, rng, shared) for _ in range(int(count))])


def _missing(dataset: Dataset, share: float, rng: np.random.Generator) -> Dataset:
    """Take a share of the samples out of each view, as rows of NaN; every sample keeps one view."""
    n, m = dataset.n_samples, len(dataset.views)
    missing = np.stack([rng.permutation(n) < round(share * n) for _ in range(m)], axis=1)
    bare = np.flatnonzero(missing.all(axis=1))
    missing[bare, rng.integers(m, size=len(bare))] = False
    views = [_dense(X).copy() for X in dataset.views]
    for X, gone in zip(views, missing.T, strict=True):
        X[gone] = np.nan
    return replace(dataset, views=views)


def _view(dataset: Dataset, number: float, rng: np.random.Generator) -> Dataset:
    """Take one view alone, counted from 1; 0 for all."""
    return replace(dataset, views=[dataset.views[_place(dataset, number)]]) if number else dataset


def _without(dataset: Dataset, number: float, rng: np.random.Generator) -> Dataset:
    """Leave one view out, counted from 1; 0 for none."""
    left = _place(dataset, number) if number else None
    return replace(dataset, views=[X for place, X in enumerate(dataset.views) if place != left])


def _row_sums(dataset: Dataset, count: float, rng: np.random.Generator) -> Dataset:
    """Add views of one feature: the sum over the features of the first view."""
    sums = _dense(dataset.views[0]).sum(axis=1, keepdims=True)
    return _with_views(dataset, [sums.copy() for _ in range(int(count))])


#: Changes of samples by their names in an experiment.
CHANGES: dict[str, Callable[[Dataset, float, np.random.Generator], Dataset]] = {
    "noise": _noise,
    "outliers": _outliers,
    "useless_views": _useless_views,
    "noise_views": _noise_views,
    "decoys": _decoys,
    "shuffled_views": _shuffled_views,
    "copies": _copies,
    "nuisance": _nuisance,
    "missing": _missing,
    "view": _view,
    "without": _without,
    "row_sums": _row_sums,
}
#: The change of a kernel: the share of samples that are shuffled in the kernel that ``kernel`` names.
SHUFFLED = "shuffled"
#: Changes that draw nothing.
UNDRAWN = {"copies", "view", "without", "row_sums"}
#: What a level of each change may be, and in words.
LEVELS: dict[str, tuple[Callable[[float], bool], str]] = {
    **dict.fromkeys(CHANGES, (lambda count: count >= 0 and isinstance(count, int), "a whole number, 0 or more")),
    **dict.fromkeys(("outliers", "missing"), (lambda share: 0 <= share < 1, "a share from 0 to below 1")),
    "noise": (lambda level: level >= 0, "deviations, 0 or more"),
    SHUFFLED: (lambda share: 0 <= share <= 1, "a share from 0 to 1"),
}


def changed_kernels(dataset: Dataset, bank: str, changes: Changes, seed: int) -> np.ndarray:
    """Return the kernels of a bank, one of them between shuffled samples if the changes say so.

    A share of the samples change places among themselves in that kernel: it stays positive semidefinite with the same
    spectrum, and agrees with the others on nothing but the samples that stay. Of several views, it is the first one's.
    """
    kernels = np.array(build_bank(dataset.views, bank))
    if SHUFFLED in changes:
        worse = bank_names(banks_for(bank, dataset.views[:1])).index(str(changes["kernel"]))
        order = shuffled_order(kernels.shape[1], float(changes[SHUFFLED]), _generator(SHUFFLED, seed))
        kernels[worse] = kernels[worse][np.ix_(order, order)]
    return kernels


def shuffled_order(n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the numbers from 0 in their order, but for a share of them that change places."""
    order = np.arange(n)
    moved = rng.permutation(n)[: round(share * n)]
    order[np.sort(moved)] = moved
    return order


def _generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _place(dataset: Dataset, number: float) -> int:
    if number > len(dataset.views):
        raise ValueError(f"{dataset.name} has {len(dataset.views)} views, none with the number {number:g}.")
    return int(number) - 1


def _decoy(n: int, rng: np.random.Generator, members: np.ndarray | None = None) -> np.ndarray:
    centres = DECOY_SPREAD * rng.standard_normal((DECOY_CLUSTERS, FALSE_WIDTH))
    members = rng.integers(DECOY_CLUSTERS, size=n) if members is None else members
    return np.asarray(centres[members] + rng.standard_normal((n, FALSE_WIDTH)))


def _with_views(dataset: Dataset, views: list[Any]) -> Dataset:
    return replace(dataset, views=[*dataset.views, *views])


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=float)
