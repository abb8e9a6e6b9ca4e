"""From a run of an experiment to its trials."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from kernelbraid.kernels import BANKS, name_in_view
from lab.methods import Method, combinations
from lab.records import ADDED_VIEWS, Changes, Trial
from lab.words import REGISTRY


def expand(
    run: Mapping[str, Any], version: str, methods: Mapping[str, Method], facts: Callable[[str], tuple[str, int]]
) -> Iterator[Trial]:
    """Yield the trials of a run, which was checked.

    Parameters
    ----------
    run : mapping
        A [[run]] of the file.
    version : str
        Version of the package.
    methods : mapping
        All methods by name.
    facts : callable
        Returns the checksum of a data set and the number of its views.
    """
    outer = product(run["data"], run["methods"], run.get("scoring", ["mean20"]), run.get("seeds", [0]), _changes(run))
    for name, word, scoring, seed, changes in outer:
        (checksum, n_views), method = facts(name), methods[word]
        banks = [""] if method.policy == "features" else run.get("banks", [method.bank])
        for bank, parameters in product(banks, _settings(run, method)):
            for kernel in _kernels(method, bank, run.get("kernels"), _n_views(n_views, changes)):
                what = (name, checksum, word, scoring, bank, kernel, parameters, seed, version)
                yield Trial(*what, changes, run.get("study", ""), method.code)


def _changes(run: Mapping[str, Any]) -> list[dict[str, float | str]]:
    """Return the changes of the data that a run goes through: each level of each; none if it names none.

    Together, every level of one comes with every level of the others.
    """
    levels = dict(run.get("changes", {}))
    kernel = {"kernel": levels.pop("kernel")} if "kernel" in levels else {}
    if run.get("together", False):
        return [{**point, **kernel} for point in combinations(levels)]
    alone = [{name: level} for name, values in levels.items() for level in values]
    return [{**change, **(kernel if "shuffled" in change else {})} for change in alone] or [{}]


def _n_views(n_views: int, changes: Changes) -> int:
    """Return the number of views that changed data have."""
    if changes.get("view"):
        return 1
    return n_views - bool(changes.get("without")) + sum(int(changes.get(name, 0)) for name in ADDED_VIEWS)


def _kernels(method: Method, bank: str, chosen: list[str] | None, n_views: int) -> list[str]:
    """Return the kernels that a method takes one at a time, on every view in turn unless it joins them."""
    if method.policy != "each":
        return [""]
    names = sorted(kernel.name for kernel in BANKS[bank] if chosen is None or kernel.name in chosen)
    if n_views == 1 or method.joins:
        return names
    return [name_in_view(name, view) for view in range(1, n_views + 1) for name in names]


def _settings(run: Mapping[str, Any], method: Method) -> Iterator[dict[str, Any]]:
    """Yield the parameters of every fit: fixed ones with each random draw and each point of the grid.

    Where a run names no grid, a method of ours has one point, and one of the user's those of its own grid.
    """
    grid = run.get("grid", REGISTRY if method.code else {})
    points = list(combinations(method.grid if grid == REGISTRY else grid))
    for draw, point in product(_draws(run.get("random")), points):
        yield {**run.get("settings", {}), **draw, **point}


def _draws(random: Mapping[str, Any] | None) -> Iterator[dict[str, float]]:
    """Yield log-uniform draws between given ends, the same ones every time; an empty one if nothing is random."""
    if random is None:
        yield {}
        return
    rng = np.random.default_rng(0)
    ends = {name: np.log10(pair) for name, pair in random.items() if name != "count"}
    for _ in range(random["count"]):
        yield {name: float(f"{10 ** rng.uniform(low, high):.4g}") for name, (low, high) in ends.items()}
