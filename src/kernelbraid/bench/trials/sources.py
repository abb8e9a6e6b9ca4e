"""Where the data and methods of an experiment come from that are not known by name: files, installed packages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelbraid.bench.records.record import ABLATED
from kernelbraid.bench.trials.compared import COMPARED, provide
from kernelbraid.bench.trials.data_files import DataFiles, is_data_file
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.own_methods import OwnMethod, installed_methods, is_method_file
from kernelbraid.bench.trials.words import TABLE, Kinds, Toml, Words, is_list_of, is_table_of_lists


def _is_text(value: Toml) -> bool:
    return isinstance(value, str) and bool(value)


def _is_files(value: Toml) -> bool:
    return _is_text(value) or is_list_of(str)(value)


# What a [data.NAME] of the file may say.
DATA: Kinds = {
    "files": (_is_files, 'a file, or a list of one per view, such as ["words.csv", "links.npz"]'),
    "labels": (_is_text, 'the column or the array of the classes, such as "species", or a file of them'),
    "id": (_is_text, 'the column that names the samples, such as "patient"'),
    "drop": (is_list_of(str), 'a list of columns, such as ["date"]'),
    "standardise": (lambda value: isinstance(value, bool), "true, for features of mean 0 and deviation 1, or false"),
}
# What a [methods.NAME] of the file may say.
METHODS: Kinds = {
    "class": (_is_text, 'a class in a Python file, such as "mine.py:Mine", or the name that a package offers it by'),
    "settings": TABLE,
    "grid": (is_table_of_lists, "a table of lists, such as { alpha = [0.1, 1.0] }"),
    "views": (lambda value: isinstance(value, bool), "true, for a list of one matrix per view, or false"),
}


@dataclass(frozen=True)
class Sources:
    """Data sets and methods by the names that records have."""

    data: Mapping[str, DataFiles] = field(default_factory=dict)
    methods: Mapping[str, OwnMethod] = field(default_factory=dict)

    def provide(self) -> None:
        """Make the methods known in this process; each is imported once."""
        for own in self.methods.values():
            provide(own)


def read_sources(words: Words, runs: Iterable[Mapping[str, Any]], known_data: Iterable[str]) -> Sources:
    """Return what the tables of a file name, and the files in the lists of its runs."""
    folder, known_data = words.path.parent, list(known_data)
    data = {name: _data(words, name, table, folder) for name, table in _tables(words, "data", DATA).items()}
    methods = {name: _method(words, name, table, folder) for name, table in _tables(words, "methods", METHODS).items()}
    offered = set(installed_methods()) - COMPARED.keys()
    for run in runs:
        for word in filter(is_data_file, run.get("data", [])):
            _add(words, data, DataFiles(_data_name(word), ((folder / word).resolve(),)), known_data, "data set")
        for word in run.get("methods", []):
            if is_method_file(word) or (word in offered and word not in methods):
                _add(words, methods, OwnMethod.at(word, folder), COMPARED, "method")
    for name in data:
        _check_name(words, name, known_data, "data set")
    for name in methods:
        _check_name(words, name, COMPARED, "method")
    return Sources(data, methods)


def named(sources: Sources, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run with the names of its data sets and methods in the place of files."""
    places = {own.place: name for name, own in sources.methods.items()}
    return {
        **run,
        "data": [_data_name(word) if is_data_file(word) else word for word in run.get("data", [])],
        "methods": [places.get(word, word) if is_method_file(word) else word for word in run.get("methods", [])],
    }


def _tables(words: Words, key: str, kinds: Kinds) -> Mapping[str, Mapping[str, Any]]:
    tables = words.content.get(key, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ProtocolError(f"{words.path}: {key} are tables with names; write [{key}.mine], or a list in a [[run]].")
    needed = next(iter(kinds))
    for name, table in tables.items():
        words.check_table(table, kinds)
        if needed not in table:
            raise ProtocolError(f"{words.path}: [{key}.{name}] has no {needed}; it is {kinds[needed][1]}.")
    return tables


def _data(words: Words, name: str, table: Mapping[str, Any], folder: Path) -> DataFiles:
    files = [table["files"]] if isinstance(table["files"], str) else table["files"]
    labels = table.get("labels")
    return DataFiles(
        name,
        tuple((folder / file).resolve() for file in files),
        (folder / labels).resolve() if labels is not None and is_data_file(labels) else labels,
        table.get("id"),
        tuple(table.get("drop", ())),
        table.get("standardise", False),
    )


def _method(words: Words, name: str, table: Mapping[str, Any], folder: Path) -> OwnMethod:
    grid = {key: tuple(values) for key, values in table.get("grid", {}).items()}
    more = {"settings": table.get("settings", {}), "grid": grid, "takes_views": table.get("views", False)}
    return OwnMethod.at(table["class"], folder, name, **more)


def _data_name(word: str) -> str:
    return Path(word).stem


def _add(words: Words, there: dict[str, Any], new: Any, known: Iterable[str], what: str) -> None:
    """Add a file of a run under its own name, which no other may have."""
    _check_name(words, new.name, known, what)
    if there.setdefault(new.name, new) != new:
        raise ProtocolError(f"{words.path}: two files give the {what} {new.name!r}; give each a table with its name.")


def _check_name(words: Words, name: str, known: Iterable[str], what: str) -> None:
    """Refuse a name that records could not tell from others."""
    if name in known:
        raise ProtocolError(f"{words.path}: {name!r} is a {what} that is known already; choose another name for yours.")
    if not name.strip() or not name.isprintable() or ABLATED in name:
        raise ProtocolError(f"{words.path}: {name!r} cannot name a {what}; use letters, digits and dashes.")
