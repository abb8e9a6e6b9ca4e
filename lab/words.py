"""The words of an experiment's file: which there are, of which kind their values must be, and where a wrong one stands."""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

from lab.records import STUDIES, LabError

#: By key: whether a value is of its kind, and the kind in words.
Kinds: TypeAlias = Mapping[str, tuple[Callable[[Any], bool], str]]
REGISTRY = "registry"  # as grid: the one of the method itself


def is_list_of(kind: type) -> Callable[[Any], bool]:
    """Return a test for a list of one kind that is not empty."""
    return lambda value: isinstance(value, list) and bool(value) and all(type(entry) is kind for entry in value)


def is_text(value: Any) -> bool:
    """Tell whether a value is text, and not empty."""
    return isinstance(value, str) and bool(value)


def is_table_of_lists(value: Any) -> bool:
    """Tell whether a value is a table of lists that are not empty."""
    return isinstance(value, dict) and all(isinstance(entry, list) and entry for entry in value.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_random(value: Any) -> bool:
    """Tell whether there is a count, and two positive ends for each parameter."""
    if not isinstance(value, dict) or type(value.get("count")) is not int or value["count"] < 1:
        return False
    pairs = [entry for name, entry in value.items() if name != "count"]
    return all(
        isinstance(pair, list) and len(pair) == 2 and all(_is_number(end) and end > 0 for end in pair) for pair in pairs
    )


def _is_changes(value: Any) -> bool:
    """Tell whether there are levels of every change, finite numbers, and perhaps the name of a kernel."""
    if not isinstance(value, dict) or not isinstance(value.get("kernel", ""), str):
        return False
    levels = {name: entry for name, entry in value.items() if name != "kernel"}
    return bool(levels) and is_table_of_lists(levels) and all(_is_number(n) for entry in levels.values() for n in entry)


_TABLE = (lambda value: isinstance(value, dict), "a table of parameters, such as { tol = 1e-4 }")
_NAMES = (is_list_of(str), 'a list of names, such as ["yale"]')


def _switch(words: str) -> tuple[Callable[[Any], bool], str]:
    return (lambda value: isinstance(value, bool), f"true, {words}, or false")


#: What a [[run]] may say.
RUN: Kinds = {
    "data": _NAMES,
    "methods": _NAMES,
    "banks": _NAMES,
    "kernels": _NAMES,
    "scoring": _NAMES,
    "seeds": (is_list_of(int), "a list of whole numbers, such as [0, 1]"),
    "settings": _TABLE,
    "grid": (
        lambda value: value == REGISTRY or is_table_of_lists(value),
        '"registry", or a table of lists, such as { alpha = [0.1, 1.0] }',
    ),
    "random": (_is_random, "a count and two positive ends for each parameter: { count = 20, alpha = [1e-3, 1.0] }"),
    "changes": (_is_changes, 'levels, such as { noise = [0.5, 1.0] } or { shuffled = [0.5], kernel = "linear" }'),
    "together": _switch("for all changes at once"),
    "keep": (is_list_of(str), 'a list of parts of a fit, such as ["history", "kernel"]'),
    "skip": (is_text, 'a reason, such as "takes an hour"'),
    "study": (is_text, f"a part of the study: {', '.join(STUDIES)}"),
}
#: What a [data.NAME] may say.
DATA: Kinds = {
    "files": (
        lambda value: is_text(value) or is_list_of(str)(value),
        'a file, or a list of one per view, such as ["words.csv", "links.npz"]',
    ),
    "labels": (is_text, 'the column or the array of the classes, such as "species", or a file of them'),
    "id": (is_text, 'the column that names the samples, such as "patient"'),
    "drop": (is_list_of(str), 'a list of columns, such as ["date"]'),
    "standardise": _switch("for features of mean 0 and deviation 1"),
}
#: What a [methods.NAME] may say.
METHODS: Kinds = {
    "class": (is_text, 'a class in a Python file, such as "mine.py:Mine", or the name that a package offers it by'),
    "settings": _TABLE,
    "grid": (is_table_of_lists, "a table of lists, such as { alpha = [0.1, 1.0] }"),
    "views": _switch("for a list of one matrix per view"),
}


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
        except UnicodeDecodeError:
            raise LabError(f"{path} is no text; save it as UTF-8.") from None
        except tomllib.TOMLDecodeError as error:
            raise LabError(f"{path}: {error}; see lab/experiments/smoke.toml for an example.") from None

    def refuse(self, word: str, why: str) -> LabError:
        """Return the error for a word, with the line in which it first stands."""
        pattern = re.compile(rf"(?<!\w){re.escape(str(word))}(?!\w)")
        line = next((i for i, row in enumerate(self.text.splitlines(), 1) if pattern.search(row)), 1)
        return LabError(f"{self.path}, line {line}: {why}.")

    def check_table(self, table: Mapping[str, Any], kinds: Kinds) -> None:
        """Refuse keys that there are not, and values of another kind than a key has."""
        self.check_names(table, kinds, "key")
        for key, value in table.items():
            is_right, kind = kinds[key]
            if not is_right(value):
                raise self.refuse(key, f"{key} = {value!r} is not what it must be: {kind}")

    def check_names(self, names: Iterable[str], known: Iterable[str], what: str) -> None:
        """Refuse names that there are not, with those that are spelt like them."""
        known = list(known)
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or sorted(known)[:5]
                nearest = f"; the nearest: {', '.join(near)}" if near else ""
                raise self.refuse(name, f"{name!r} is no {what}{nearest}")
