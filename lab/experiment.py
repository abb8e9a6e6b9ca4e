"""Experiments as TOML files: data sets x methods x banks x settings x scorings x seeds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from kernelbraid.datasets import available, load
from kernelbraid.kernels import AUTO, BANKS
from lab.changes import LEVELS, SHUFFLED
from lab.expansion import expand
from lab.methods import COMPARED, Method
from lab.own_data import OwnData, is_data_file
from lab.own_methods import OwnMethod, installed_methods, is_method_file
from lab.records import ABLATED, EVERY_SCORING, PARTS, STUDIES, LabError, Trial
from lab.words import DATA, METHODS, REGISTRY, RUN, Kinds, Words

#: A [[run]] of the file, once its types are checked; `lab.words.RUN` says what each key means.
Run: TypeAlias = Mapping[str, Any]
# Parameters that the runner sets itself.
RESERVED = ("n_clusters", "random_state", "kernel", "kernels", "device", "callback", "n_jobs", "memory_budget")


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
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise LabError(f"{path}: runs are tables; write [[run]] with two brackets on each side.")
    if not runs:
        raise LabError(f"{path}: there is no [[run]]; add one with data and methods.")
    for run in runs:
        words.check_table(run, RUN)
        for key in ("data", "methods"):
            if key not in run:
                raise LabError(f"{path}: a [[run]] has no {key}; give a list of names.")
    data, own = _own_data(words, runs), _own_methods(words, runs)
    methods = {**COMPARED, **{name: method.method() for name, method in own.items()}}
    for name, method in own.items():
        _check_parameters(words, name, methods[name], [*method.settings, *method.grid])
    runs = [_named(run, own) for run in runs]
    for run in runs:
        _check_run(words, run, [*available(), *data], methods)

    @cache
    def facts(name: str) -> tuple[str, int]:
        found = data[name].read() if name in data else load(name)
        return found.checksum, len(found.views)

    trials, skipped = {}, {}
    for run in runs:
        for trial in expand(run, version, methods, own, facts):
            trials[trial.key] = trial
            if "skip" in run:
                skipped[trial.key] = run["skip"]
    return Experiment(str(words.content.get("title", words.path.stem)), list(trials.values()), skipped, data, own)


def _tables(words: Words, key: str, kinds: Kinds) -> Mapping[str, Mapping[str, Any]]:
    """Return the tables [data.NAME] or [methods.NAME] by name."""
    tables = words.content.get(key, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise words.refuse(key, f"{key} are tables with names; write [{key}.mine], or a list in a [[run]]")
    needed = next(iter(kinds))
    for name, table in tables.items():
        words.check_table(table, kinds)
        if needed not in table:
            raise words.refuse(name, f"[{key}.{name}] has no {needed}; it is {kinds[needed][1]}")
    return tables


def _own_data(words: Words, runs: Iterable[Run]) -> dict[str, OwnData]:
    """Return the data sets that tables describe, and the files in the lists of runs."""
    folder = words.path.parent
    found = {}
    for name, table in _tables(words, "data", DATA).items():
        files = [table["files"]] if isinstance(table["files"], str) else table["files"]
        labels = table.get("labels")
        found[name] = OwnData(
            name,
            tuple((folder / file).resolve() for file in files),
            (folder / labels).resolve() if labels is not None and is_data_file(labels) else labels,
            table.get("id"),
            tuple(table.get("drop", ())),
            table.get("standardise", False),
        )
    words_of_runs = {word for run in runs for word in run["data"] if is_data_file(word)}
    for word in sorted(words_of_runs):
        _add(words, found, OwnData(Path(word).stem, ((folder / word).resolve(),)), "data set")
    _check_new(words, found, available(), "data set")
    return found


def _own_methods(words: Words, runs: Iterable[Run]) -> dict[str, OwnMethod]:
    """Return the methods that tables describe, and the files and installed ones in the lists of runs."""
    folder = words.path.parent
    found = {}
    for name, table in _tables(words, "methods", METHODS).items():
        more = {"settings": table.get("settings", {}), "grid": table.get("grid", {})}
        found[name] = OwnMethod.at(table["class"], folder, name, takes_views=table.get("views", False), **more)
    offered = installed_methods() - COMPARED.keys() - found.keys()
    words_of_runs = {word for run in runs for word in run["methods"] if is_method_file(word) or word in offered}
    for word in sorted(words_of_runs):
        _add(words, found, OwnMethod.at(word, folder), "method")
    _check_new(words, found, COMPARED, "method")
    return found


def _add(words: Words, there: dict[str, Any], new: Any, what: str) -> None:
    """Add a file of a run under its own name, which no other may have."""
    if there.setdefault(new.name, new) != new:
        raise words.refuse(new.name, f"two files give the {what} {new.name!r}; give each a table with its name")


def _check_new(words: Words, names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse names that records could not tell from others."""
    known = set(known)
    for name in names:
        if name in known:
            raise words.refuse(name, f"{name!r} is a {what} that is known already; choose another name for yours")
        if not name.strip() or not name.isprintable() or ABLATED in name:
            raise words.refuse(name, f"{name!r} cannot name a {what}; use letters, digits and dashes")


def _named(run: Run, own: Mapping[str, OwnMethod]) -> Run:
    """Return a run with the names of its data sets and methods in the place of files."""
    places = {method.place: name for name, method in own.items()}
    return {
        **run,
        "data": [Path(word).stem if is_data_file(word) else word for word in run["data"]],
        "methods": [places[word] if is_method_file(word) else word for word in run["methods"]],
    }


def _check_run(words: Words, run: Run, data: Iterable[str], methods: Mapping[str, Method]) -> None:
    """Refuse names that there are not, and what does not go together."""
    kernels = {kernel.name for bank in BANKS.values() for kernel in bank}
    for key, known, what in (
        ("data", data, "data set"),
        ("methods", methods, "method"),
        ("banks", [*BANKS, AUTO], "bank"),
        ("scoring", EVERY_SCORING, "scoring"),
        ("kernels", kernels, "kernel"),
        ("keep", PARTS, "part of a fit"),
    ):
        words.check_names(run.get(key, []), known, what)
    words.check_names([run["study"]] if "study" in run else [], STUDIES, "part of the study")
    _check_changes(words, run, methods)
    grid = {} if run.get("grid") == REGISTRY else run.get("grid", {})
    names = [*run.get("settings", {}), *grid, *(name for name in run.get("random", {}) if name != "count")]
    for name in run["methods"]:
        _check_parameters(words, name, methods[name], names)
        if methods[name].policy == "each" and AUTO in run.get("banks", []):
            raise words.refuse(AUTO, f"the bank {AUTO} is for methods on all kernels; leave {name} out")
        if "keep" in run and "record_objective" not in methods[name].parameters:
            raise words.refuse("keep", f"keep is for LKGr and LKGs; give {name} a [[run]] without it")


def _check_parameters(words: Words, name: str, method: Method, given: Iterable[str]) -> None:
    """Refuse parameters that a method does not have, and those that are set for it."""
    known = [parameter for parameter in method.parameters if parameter not in RESERVED]
    words.check_names(given, known, f"parameter of {name} that an experiment sets")


def _check_changes(words: Words, run: Run, methods: Mapping[str, Method]) -> None:
    """Refuse changes that there are not, levels that they cannot have, and a kernel that cannot be shuffled."""
    changes = run.get("changes", {})
    words.check_names(changes, [*LEVELS, "kernel"], "change of the data")
    for name in changes.keys() - {"kernel"}:
        is_level, kind = LEVELS[name]
        for level in changes[name]:
            if not is_level(level):
                raise words.refuse(name, f"{level!r} is no level of {name}; give {kind}")
    if (SHUFFLED in changes) != ("kernel" in changes):
        raise words.refuse("changes", f"{SHUFFLED} and the kernel to shuffle go together; add or leave out one")
    if SHUFFLED not in changes:
        return
    for bank in run.get("banks", ["rmkkm"]):
        names = [kernel.name for kernel in BANKS.get(bank, ())]
        words.check_names([changes["kernel"]], names, f"kernel of the bank {bank}")
    for name in run["methods"]:
        if methods[name].policy != "all":
            raise words.refuse(name, f"{SHUFFLED} is for methods on all kernels; leave {name} out")
