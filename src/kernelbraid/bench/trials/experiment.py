"""Experiments as TOML files: data sets x methods x banks x settings x scorings x seeds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import isfinite
from pathlib import Path
from typing import TypeAlias, TypedDict

import numpy as np

from kernelbraid._typing import Parameters
from kernelbraid.bench.records.record import ADDED_VIEWS, EVERY_SCORING, STUDIES, Changes, Scoring, Trial
from kernelbraid.bench.records.snapshot_data import PARTS
from kernelbraid.bench.trials.compared import COMPARED, provide
from kernelbraid.bench.trials.corruption import LEVELS, SHUFFLED
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.sources import Sources, named, read_sources
from kernelbraid.bench.trials.words import NAMES, TABLE, Kinds, Toml, Words, is_list_of, is_table_of_lists
from kernelbraid.datasets import Dataset
from kernelbraid.kernels import AUTO, BANKS, name_in_view
from kernelbraid.methods import Method, combinations

#: Levels of each change, and perhaps the kernel that is changed.
Levels: TypeAlias = Mapping[str, list[float] | str]
#: Returns a data set by name.
Load: TypeAlias = Callable[[str], Dataset]


class Run(TypedDict, total=False):
    """A [[run]] of the file, once its types are checked; `EXPECTED` says what each key means."""

    data: list[str]
    methods: list[str]
    banks: list[str]
    kernels: list[str]
    scoring: list[Scoring]
    seeds: list[int]
    settings: dict[str, Toml]
    grid: str | dict[str, list[Toml]]
    random: dict[str, int | list[float]]
    changes: dict[str, list[float] | str]
    together: bool
    keep: list[str]
    skip: str
    study: str


REGISTRY = "registry"  # as grid: the one of the method itself

# Parameters that the runner sets itself.
RESERVED = ("n_clusters", "random_state", "kernel", "kernels", "device", "callback", "n_jobs", "memory_budget")


def _is_grid(value: Toml) -> bool:
    return value == REGISTRY or is_table_of_lists(value)


def _is_random(value: Toml) -> bool:
    """Tell whether there is a count, and two positive ends for each parameter."""
    count = value.get("count") if isinstance(value, dict) else None
    if not isinstance(value, dict) or type(count) is not int or count < 1:
        return False
    ends = [entry for name, entry in value.items() if name != "count"]
    return all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, int | float) and end > 0 for end in pair)
        for pair in ends
    )


def _is_changes(value: Toml) -> bool:
    """Tell whether there are levels of every change, finite numbers, and perhaps the name of a kernel."""
    if not isinstance(value, dict) or not isinstance(value.get("kernel", ""), str):
        return False
    levels = [entry for name, entry in value.items() if name != "kernel"]
    return bool(levels) and all(isinstance(entry, list) and entry and all(map(_is_level, entry)) for entry in levels)


def _is_level(value: Toml) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


# What a run in the file may say.
EXPECTED: Kinds = {
    "data": NAMES,
    "methods": NAMES,
    "banks": NAMES,
    "kernels": NAMES,
    "scoring": NAMES,
    "seeds": (is_list_of(int), "a list of whole numbers, such as [0, 1]"),
    "settings": TABLE,
    "grid": (_is_grid, '"registry", or a table of lists, such as { alpha = [0.1, 1.0] }'),
    "random": (_is_random, "a count and two positive ends for each parameter: { count = 20, alpha = [1e-3, 1.0] }"),
    "changes": (_is_changes, 'levels, such as { noise = [0.5, 1.0] } or { shuffled = [0.5], kernel = "linear" }'),
    "together": (lambda value: isinstance(value, bool), "true, for all changes at once, or false"),
    "keep": (is_list_of(str), 'a list of parts of a fit, such as ["history", "kernel"]'),
    "skip": (lambda value: isinstance(value, str), 'a reason, such as "takes an hour"'),
    "study": (lambda value: isinstance(value, str), f"a part of the study: {', '.join(STUDIES)}"),
}


@dataclass(frozen=True)
class Experiment:
    """What is to be run."""

    name: str
    title: str
    trials: list[Trial]
    skipped: dict[str, str] = field(default_factory=dict)  # reasons by the keys of trials that are not run
    sources: Sources = field(default_factory=Sources)  # of data and methods that are not known by name


def read_experiment(path: Path | str, load: Load, names: Iterable[str], version: str) -> Experiment:
    """Read an experiment and expand it into trials; everything is checked before anything runs.

    Parameters
    ----------
    path : path
        The TOML file.
    load : callable
        Returns a data set by name, with its ``checksum``.
    names : iterable of str
        Data sets that there are.
    version : str
        Version of the package, part of the key of a trial.
    """
    path = Path(path)
    words = Words.of(path)
    content, runs = words.content, words.content.get("run", [])
    words.check_names(content, ("title", "run", "data", "methods"), "key")
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise ProtocolError(f"{path}: runs are tables; write [[run]] with two brackets on each side.")
    if not runs:
        raise ProtocolError(f"{path}: there is no [[run]]; add one with data and methods.")
    for run in runs:
        words.check_table(run, EXPECTED)
    names = sorted(names)
    sources = read_sources(words, runs, names)
    runs = [named(sources, run) for run in runs]
    methods = {**COMPARED, **{name: provide(own) for name, own in sources.methods.items()}}
    reader = _Reader(words, [*names, *sources.data], methods)
    for name, own in sources.methods.items():
        reader.check_parameters(name, [*own.settings, *own.grid])
    for run in runs:
        reader.check_run(run)
    read = cache(lambda name: sources.data[name].read() if name in sources.data else load(name))
    trials: dict[str, Trial] = {}
    skipped: dict[str, str] = {}
    for run in runs:
        for trial in _expand(run, read, version, methods, sources):
            trials[trial.key] = trial
            if "skip" in run:
                skipped[trial.key] = run["skip"]
    return Experiment(path.stem, str(content.get("title", path.stem)), list(trials.values()), skipped, sources)


@dataclass(frozen=True)
class _Reader:
    """Checks what the runs of a file name."""

    words: Words
    data: list[str]
    methods: Mapping[str, Method]

    def check_run(self, run: Run) -> None:
        """Refuse names that there are not, and what does not go together; the types have been checked."""
        for key in ("data", "methods"):
            if not run.get(key):
                raise ProtocolError(f"{self.path}: a [[run]] has no {key}; give a list of names.")
        self.check_names(run["data"], self.data, "data set")
        self.check_names(run["methods"], self.methods, "method")
        self.check_names(run.get("banks", []), [*BANKS, AUTO], "bank")
        self.check_names(run.get("scoring", []), EVERY_SCORING, "scoring")
        self.check_names(run.get("kernels", []), _kernel_names(BANKS), "kernel")
        self.check_names(run.get("keep", []), PARTS, "part of a fit")
        self.check_names([run["study"]] if "study" in run else [], STUDIES, "part of the study")
        self.check_changes(run.get("changes", {}))
        self.check_shuffled(run)
        grid = run.get("grid", {})
        words = [*run.get("settings", {}), *({} if grid == REGISTRY else grid)]
        words += [name for name in run.get("random", {}) if name != "count"]
        for method in run["methods"]:
            self.check_parameters(method, words)
            if run.get("keep") and "record_objective" not in self.methods[method].parameters:
                raise ProtocolError(f"{self.path}: keep is for LKGr and LKGs; give {method} a [[run]] without it.")

    def check_parameters(self, method: str, names: Iterable[str]) -> None:
        """Refuse parameters that a method does not have, and those that are set for it."""
        known = [name for name in self.methods[method].parameters if name not in RESERVED]
        self.check_names(names, known, f"parameter of {method} that an experiment sets")

    def check_changes(self, changes: Levels) -> None:
        """Refuse changes that there are not, levels that they cannot have, and a kernel without its change."""
        self.check_names(changes, [*LEVELS, "kernel"], "change of the data")
        for name, levels in changes.items():
            if isinstance(levels, str):  # the kernel
                continue
            is_level, words = LEVELS[name]
            for level in levels:
                if not is_level(level):
                    raise ProtocolError(f"{self.path}: {level!r} is no level of {name}; give {words}.")
        if SHUFFLED in changes and "kernel" not in changes:
            raise ProtocolError(f"{self.path}: {SHUFFLED} needs the kernel to shuffle; add kernel = 'linear'.")
        if "kernel" in changes and SHUFFLED not in changes:
            raise ProtocolError(f"{self.path}: the kernel of changes is for {SHUFFLED}; add levels, or leave it out.")

    def check_shuffled(self, run: Run) -> None:
        """Refuse to shuffle a kernel that a bank does not have, or for a method that does not take all of them."""
        if SHUFFLED not in run.get("changes", {}):
            return
        for bank in run.get("banks", ["rmkkm"]):
            self.check_names([str(run["changes"]["kernel"])], _kernel_names([bank]), f"kernel of the bank {bank}")
        for method in run["methods"]:
            if self.methods[method].policy != "all":
                raise ProtocolError(f"{self.path}: {SHUFFLED} is for methods on all kernels; leave {method} out.")

    @property
    def path(self) -> Path:
        return self.words.path

    def check_names(self, names: Iterable[str], known: Iterable[str], what: str) -> None:
        self.words.check_names(names, known, what)


def _kernel_names(banks: Iterable[str]) -> list[str]:
    return sorted({kernel.name for bank in banks for kernel in BANKS[bank]})


def _expand(run: Run, load: Load, version: str, methods: Mapping[str, Method], sources: Sources) -> Iterator[Trial]:
    """Yield the trials of a run."""
    found = {name: load(name) for name in run["data"]}
    usual: list[Scoring] = ["mean20"]
    keep, study = tuple(run.get("keep", ())), run.get("study", "")
    outer = product(run["data"], run["methods"], run.get("scoring", usual), run.get("seeds", [0]), _changes(run))
    for data, name, scoring, seed, changes in outer:
        method, own = methods[name], sources.methods.get(name)
        banks = [""] if method.policy == "features" else run.get("banks", [method.bank])
        always = {} if own is None else own.settings
        for bank, parameters in product(banks, _settings(run, method, tuned=own is not None)):
            for kernel in _kernels(method, bank, run.get("kernels"), _n_views(found[data], changes)):
                parameters = {**always, **parameters}
                what = (data, found[data].checksum, name, scoring, bank, kernel, parameters, seed, version)
                yield Trial(*what, changes, keep, study, "" if own is None else own.code)


def _changes(run: Run) -> list[dict[str, float | str]]:
    """Return the changes of the data that a run goes through: each level of each; none if it names none.

    Together, every level of one comes with every level of the others.
    """
    named = run.get("changes", {})
    if run.get("together", False):
        alone = {name: values for name, values in named.items() if not isinstance(values, str)}
        beside = {name: value for name, value in named.items() if isinstance(value, str)}
        return [{**point, **beside} for point in combinations(alone)]
    levels = [(name, level) for name, values in named.items() if not isinstance(values, str) for level in values]
    beside = {"kernel": str(named["kernel"])} if "kernel" in named else {}
    return [{name: level, **(beside if name == SHUFFLED else {})} for name, level in levels] or [{}]


def _n_views(dataset: Dataset, changes: Changes) -> int:
    """Return the number of views that changed data have."""
    if changes.get("view"):
        return 1
    left = len(dataset.views) - bool(changes.get("without"))
    return left + sum(int(changes.get(name, 0)) for name in ADDED_VIEWS)


def _kernels(method: Method, bank: str, chosen: list[str] | None, n_views: int) -> list[str]:
    """Return the kernels that a method takes one at a time, on every view in turn unless it joins them."""
    if method.policy != "each":
        return [""]
    names = [name for name in _kernel_names([bank]) if chosen is None or name in chosen]
    return (
        names
        if n_views == 1 or method.joins
        else [name_in_view(name, view) for view in range(1, n_views + 1) for name in names]
    )


def _settings(run: Run, method: Method, *, tuned: bool = False) -> Iterator[Parameters]:
    """Yield the parameters of every fit: fixed ones with each random draw and each point of the grid.

    Where a run names no grid, a method has one point, or those of its own grid if it is `tuned`.
    """
    fixed = dict(run.get("settings", {}))
    usual: str | dict[str, list[Toml]] = REGISTRY if tuned else {}
    grid = run.get("grid", usual)
    points: Iterator[Parameters] = method.tunings() if isinstance(grid, str) else combinations(grid)
    for draw, point in product(_draws(run.get("random")), points):
        yield {**fixed, **draw, **point}


def _draws(random: Mapping[str, int | list[float]] | None) -> Iterator[dict[str, float]]:
    """Yield log-uniform draws between given ends, the same ones every time; an empty one if nothing is random."""
    if random is None:
        yield {}
        return
    rng = np.random.default_rng(0)
    ranges = {name: ends for name, ends in random.items() if isinstance(ends, list)}
    (count,) = (number for number in random.values() if isinstance(number, int))
    for _ in range(count):
        yield {name: _draw(rng, ends) for name, ends in ranges.items()}


def _draw(rng: np.random.Generator, ends: list[float]) -> float:
    low, high = np.log10(ends)
    return float(f"{10 ** rng.uniform(low, high):.4g}")
