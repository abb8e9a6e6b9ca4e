"""The words of an experiment's file: which there are, of what type their values are, and where a wrong one stands."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_origin

from lab.records import LabError

#: By key: the type of a value, and an example. Lists and tables of lists are not empty, and numbers are finite.
Kinds: TypeAlias = Mapping[str, tuple[Any, str]]
REGISTRY = "registry"  # as grid: the one of the method itself

#: What a [[run]] may say.
RUN: Kinds = {
    "data": (list[str], '["yale"]'),
    "methods": (list[str], '["LKGr"]'),
    "banks": (list[str], '["rmkkm"]'),
    "kernels": (list[str], '["linear"]'),
    "scoring": (list[str], '["mean20"]'),
    "seeds": (list[int], "[0, 1]"),
    "settings": (dict[str, Any], "{ tol = 1e-4 }"),
    "grid": (dict[str, list[Any]] | str, f'{{ alpha = [0.1, 1.0] }}, or "{REGISTRY}"'),
    "random": (dict[str, int | list[float]], "{ count = 20, alpha = [1e-3, 1.0] }"),
    "changes": (dict[str, list[float] | str], '{ noise = [0.5, 1.0] }, or { shuffled = [0.5], kernel = "linear" }'),
    "together": (bool, "true"),
    "skip": (str, '"takes an hour"'),
    "study": (str, '"comparison"'),
}
#: What a [data.NAME] and a [methods.NAME] may say; the first key of each is needed.
OWN: Mapping[str, Kinds] = {
    "data": {
        "files": (str | list[str], '"flowers.csv", or ["words.csv", "links.npz"], a file per view'),
        "labels": (str, '"species", a column or an array, or "classes.csv"'),
        "id": (str, '"patient", a column'),
        "drop": (list[str], '["date"]'),
        "standardise": (bool, "true"),
    },
    "methods": {
        "class": (str, '"mine.py:Mine"'),
        "settings": (dict[str, Any], "{ tol = 1e-4 }"),
        "grid": (dict[str, list[Any]], "{ alpha = [0.1, 1.0] }"),
        "views": (bool, "true"),
    },
}


def _is_of(value: Any, kind: Any) -> bool:
    """Tell whether a value of a file is of a type, and not empty."""
    inner = get_args(kind)
    if get_origin(kind) is list:
        return isinstance(value, list) and bool(value) and all(_is_of(entry, inner[0]) for entry in value)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(_is_of(entry, inner[1]) for entry in value.values())
    if inner:  # a union
        return any(_is_of(value, one) for one in inner)
    if kind is float:
        return type(value) in (int, float) and isfinite(value)
    return kind is Any or (type(value) is kind and value != "")


@dataclass(frozen=True)
class Words:
    """A file with its words."""

    path: Path
    text: str
    content: Mapping[str, Any]

    @classmethod
    def of(cls, path: Path) -> "Words":
        """Read a file."""
        try:
            text = path.read_text(encoding="utf-8")
            return cls(path, text, tomllib.loads(text))
        except OSError as error:
            raise LabError(f"{path} could not be read ({error.strerror}).") from None
        except ValueError as error:  # no UTF-8, no TOML
            raise LabError(f"{path}: {error}; see lab/experiments/smoke.toml for an example.") from None

    def refuse(self, word: str, why: str) -> LabError:
        """Return the error for a word, with the line in which it first stands."""
        pattern = re.compile(rf"(?<!\w){re.escape(str(word))}(?!\w)")
        line = next((i for i, row in enumerate(self.text.splitlines(), 1) if pattern.search(row)), 1)
        return LabError(f"{self.path}, line {line}: {why}.")

    def check_table(self, name: str, table: Any, kinds: Kinds, needed: Sequence[str]) -> None:
        """Refuse keys that there are not, or none that is needed, and values of another type than a key has."""
        if not isinstance(table, dict):
            raise self.refuse(name.strip("[]"), f"{name} is a table; write it in brackets, with its keys below")
        self.check_names(table, kinds, "key")
        for key, value in table.items():
            kind, example = kinds[key]
            if not _is_of(value, kind):
                raise self.refuse(key, f"{key} = {value!r} is not what it must be; write {key} = {example}")
        for key in needed:
            if key not in table:
                raise self.refuse(name.strip("[]"), f"{name} has no {key}; add {key} = {kinds[key][1]}")

    def check_names(self, names: Iterable[str], known: Iterable[str], what: str) -> None:
        """Refuse names that there are not, with those that are spelt like them."""
        known = list(known)
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or sorted(known)[:5]
                nearest = f"; the nearest: {', '.join(near)}" if near else ""
                raise self.refuse(name, f"{name!r} is no {what}{nearest}")
