"""The words of a TOML file: which there are, of which kind their values must be, and where a wrong one stands."""

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from kernelbraid.bench.trials.errors import ProtocolError

#: What a TOML file can say, dates apart.
Toml: TypeAlias = "str | float | list[Toml] | dict[str, Toml]"
#: By key: whether a value is of its kind, and the kind in words.
Kinds: TypeAlias = Mapping[str, tuple[Callable[[Toml], bool], str]]


def is_list_of(kind: type) -> Callable[[Toml], bool]:
    """Return a test for a list of one kind that is not empty."""
    return lambda value: isinstance(value, list) and bool(value) and all(type(entry) is kind for entry in value)


def is_table_of_lists(value: Toml) -> bool:
    """Tell whether a value is a table of lists that are not empty."""
    return isinstance(value, dict) and all(isinstance(entry, list) and entry for entry in value.values())


TABLE = (lambda value: isinstance(value, dict), "a table of parameters, such as { tol = 1e-4 }")
NAMES = (is_list_of(str), 'a list of names, such as ["yale"]')


@dataclass(frozen=True)
class Words:
    """Checks the words of a file, and finds the line of a wrong one."""

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
            raise ProtocolError(f"{path} could not be read ({error.strerror}).") from None
        except UnicodeDecodeError as error:
            where = f"{error.reason} at byte {error.start}"
            raise ProtocolError(f"{path} is no text ({where}); save it as UTF-8.") from None
        except tomllib.TOMLDecodeError as error:
            raise ProtocolError(f"{path}: {error}; see experiments/smoke.toml for an example.") from None

    def check_table(self, table: Mapping[str, Toml], kinds: Kinds) -> None:
        """Refuse keys that there are not, and values of another kind than a key has."""
        self.check_names(table, kinds, "key")
        for key, value in table.items():
            if not kinds[key][0](value):
                raise ProtocolError(f"{self.path}: {key} = {value!r} is not what it must be: {kinds[key][1]}.")

    def check_names(self, names: Iterable[str], known: Iterable[str], what: str) -> None:
        """Refuse names that there are not, with those that are spelt like them."""
        known = list(known)
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4) or sorted(known)[:5]
                nearest = f"; the nearest: {', '.join(near)}" if near else ""
                raise ProtocolError(f"{self.path}, line {self.line_of(name)}: {name!r} is no {what}{nearest}.")

    def line_of(self, word: str) -> int:
        """Return the line that a word first stands in."""
        return next((i for i, row in enumerate(self.text.splitlines(), 1) if str(word) in row), 1)
