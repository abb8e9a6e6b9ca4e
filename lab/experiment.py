"""Experiments as TOML files: data sets x methods x banks x settings x scorings x seeds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from kernelbraid.datasets import available, load
from kernelbraid.kernels import AUTO, BANKS, name_in_view
from lab.changes import LEVELS, SHUFFLED
from lab.methods import COMPARED, Method, combinations
from lab.own_data import OwnData
from lab.own_methods import OwnMethod
from lab.records import ABLATED, ADDED_VIEWS, EVERY_SCORING, STUDIES, Changes, LabError, Trial
from lab.words import OWN, REGISTRY, RUN, Words

Own = TypeVar("Own", OwnData, OwnMethod)
#: A [[run]] of the file, once its types are checked; `lab.words.RUN` says what each key means.
Run: TypeAlias = Mapping[str, Any]
# Parameters that the runner sets itself.
RESERVED = ("n_clusters", "random_state", "kernel", "kernels", "device", "n_jobs")


@dataclass(frozen=True)
class Experiment:
    """What is to be run."""

    title: str
    trials: list[Trial]
    skipped: Mapping[str, str]  # reasons by the keys of trials that are not run
    data: Mapping[str, OwnData]  # that are not known by name
    methods: Mapping[str, OwnMethod]  # likewise


def read_experiment(path: Path | str, version: str) -> Experiment:
    """Read an experiment and expand it into trials; everything is checked before anything runs.

    Parameters
    ----------
    path : path
        The TOML file.
    version : str
        Version of the package, part of the key of a trial.
    """
    words = Words.of(Path(path))
    words.check_names(words.content, ("title", "run", "data", "methods"), "key")
    runs = words.content.get("run", [])
    if not isinstance(runs, list) or not runs:
        raise LabError(f"{path}: there is no [[run]], in two brackets on each side; add one with data and methods.")
    for run in runs:
        words.check_table("[[run]]", run, RUN, ("data", "methods"))
    data = _own(words, runs, "data", OwnData, available())
    own = _own(words, runs, "methods", OwnMethod, COMPARED)
    methods = {**COMPARED, **{name: method.method() for name, method in own.items()}}
    for name in own:
        _check_parameters(words, name, methods[name], [*methods[name].settings, *methods[name].grid])
    for run in runs:
        _check_run(words, run, [*available(), *data], methods)

    @cache
    def facts(name: str) -> tuple[str, int]:
        found = data[name].read() if name in data else load(name)
        return found.checksum, len(found.views)

    trials = [(trial, run) for run in runs for trial in expand(run, version, methods, facts)]
    skipped = {trial.key: run["skip"] for trial, run in trials if "skip" in run}
    unique = {trial.key: trial for trial, _ in trials}
    return Experiment(words.content.get("title", words.path.stem), list(unique.values()), skipped, data, own)


def _own(words: Words, runs: Iterable[Run], key: str, kind: type[Own], known: Iterable[str]) -> dict[str, Own]:
    """Return what is the user's own by its name: of tables, and of files in the lists of runs, which get it there."""
    folder, tables, (needed, *_) = words.path.parent, words.content.get(key, {}), OWN[key]
    words.check_table(f"[{key}]", tables, dict.fromkeys(tables, (Any, "")), ())
    for name, table in tables.items():
        words.check_table(f"[{key}.{name}]", table, OWN[key], [needed])
    found: dict[str, Any] = {name: kind.at(folder, name, table) for name, table in tables.items()}
    for run in runs:
        for place, word in enumerate(run[key]):
            new = None if word in found or word in known else kind.at(folder, "", {needed: word})
            if new is not None and found.setdefault(new.name, new) != new:
                raise words.refuse(word, f"two files give {key} the name {new.name!r}; give each a table with its name")
            run[key][place] = word if new is None else new.name
    for name in found:
        if name in known:
            raise words.refuse(name, f"{name!r} is known already; choose another name for yours")
        if not name.strip() or not name.isprintable() or ABLATED in name:
            raise words.refuse(name, f"{name!r} cannot be a name; use letters, digits and dashes")
    return found


def _check_run(words: Words, run: Run, data: Iterable[str], methods: Mapping[str, Method]) -> None:
    """Refuse names that there are not, and what does not go together."""
    grid, random = run.get("grid", {}), run.get("random", {"count": 1})
    for names, known, what in (
        (run["data"], data, "data set"),
        (run["methods"], methods, "method"),
        (run.get("banks", []), [*BANKS, AUTO], "bank"),
        (run.get("scoring", []), EVERY_SCORING, "scoring"),
        (run.get("kernels", []), _kernel_names(BANKS), "kernel"),
        ([run["study"]] if "study" in run else [], STUDIES, "part of the study"),
        ([grid] if isinstance(grid, str) else [], [REGISTRY], "grid"),
    ):
        words.check_names(names, known, what)
    ends = [value for name, value in random.items() if name != "count"]
    if type(random.get("count")) is not int or not all(
        isinstance(pair, list) and len(pair) == 2 and min(pair) > 0 for pair in ends
    ):
        raise words.refuse("random", f"random is a count, and two positive ends for each parameter: {RUN['random'][1]}")
    _check_changes(words, run, methods)
    given = [*run.get("settings", {}), *({} if grid == REGISTRY else grid), *(random.keys() - {"count"})]
    for name in run["methods"]:
        _check_parameters(words, name, methods[name], given)
        if methods[name].policy == "each" and AUTO in run.get("banks", []):
            raise words.refuse(AUTO, f"the bank {AUTO} is for methods on all kernels; leave {name} out")


def _kernel_names(banks: Iterable[str]) -> set[str]:
    return {kernel.name for bank in banks for kernel in BANKS.get(bank, ())}


def _check_parameters(words: Words, name: str, method: Method, given: Iterable[str]) -> None:
    """Refuse parameters that a method does not have, and those that are set for it."""
    known = [parameter for parameter in method.settable if parameter not in RESERVED]
    words.check_names(given, known, f"parameter of {name} that an experiment sets")


def _check_changes(words: Words, run: Run, methods: Mapping[str, Method]) -> None:
    """Refuse changes that there are not, levels that they cannot have, and a kernel that cannot be shuffled."""
    changes = run.get("changes", {})
    words.check_names(changes, [*LEVELS, "kernel"], "change of the data")
    if isinstance(changes.get("kernel", ""), list) or (SHUFFLED in changes) != ("kernel" in changes):
        raise words.refuse("changes", f"{SHUFFLED} and the name of a kernel go together; write {RUN['changes'][1]}")
    for name in changes.keys() - {"kernel"}:
        is_level, kind = LEVELS[name]
        for level in changes[name]:
            if isinstance(level, str) or not is_level(level):
                raise words.refuse(name, f"{level!r} is no level of {name}; give {kind}")
    if SHUFFLED in changes:
        for bank in run.get("banks", ["rmkkm"]):
            words.check_names([changes["kernel"]], _kernel_names([bank]), f"kernel of the bank {bank}")
        for name in run["methods"]:
            if methods[name].policy != "all":
                raise words.refuse(name, f"{SHUFFLED} is for methods on all kernels; leave {name} out")


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
