"""What is known of the data sets, read from the table beside this file, and the folder where their files are kept.

No value of any data set is in this package: a file is fetched from its public source, or imported, when the user asks.
"""

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kernelbraid.io.sources import DataError

FOLDER_VARIABLE = "KERNELBRAID_DATA"


@dataclass(frozen=True)
class View:
    """One matrix of a data set."""

    n_features: int
    nonzeros: int | None = None  # stored entries of a sparse matrix; None: dense
    content: str = ""  # what a feature is


@dataclass(frozen=True)
class Source:
    """A public file, and the .npz file that was made of it."""

    url: str = ""  # "": none, the data come with scikit-learn
    sha256: str | None = None  # None: it was never written down, so nobody can tell a right download from a wrong one
    n_bytes: int | None = None
    npz_sha256: str | None = None  # of the .npz file as published
    trailing: Sequence[str] = ()  # columns after the features: "label" holds the classes, others are dropped


@dataclass(frozen=True)
class Entry:
    """One data set."""

    name: str
    title: str  # as the paper calls it, or else its source
    kind: str  # image, text, graph, biology or chemistry
    views: Sequence[View]
    class_sizes: Sequence[int]  # of the classes 0, 1, ...
    source: Source = Source()
    raw: Source | None = None  # of the same samples before any preprocessing: exact values are recomputed from them
    preprocessing: Sequence[str] = ()  # all steps from the raw values to these, names of `STEPS`
    pending: Sequence[str] = ()  # those of them that the source file still needs
    picture: tuple[int, int, Any] | None = None  # height, width and order of the pixels: "C" row by row, or "F"
    licence: str = "none stated in the source repository"
    upstream: str = ""
    note: str = ""

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return sum(self.class_sizes)

    @property
    def n_features(self) -> tuple[int, ...]:
        """Return the number of features of each view."""
        return tuple(view.n_features for view in self.views)

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.class_sizes)

    @property
    def by_hand(self) -> str:
        """Return what to do where a download cannot help."""
        return f"download {self.source.url} by hand and use kernelbraid datasets import {self.name} FILE"


def _read_table() -> dict[str, Entry]:
    """Return the table, by name."""
    table = tomllib.loads((Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8"))
    entries = {}
    for name, facts in table.items():
        facts["views"] = [View(**view) for view in facts["views"]]
        facts |= {key: Source(**facts[key]) for key in ("source", "raw") if key in facts}
        entries[name] = Entry(name, **facts)
    return entries


_ALL = _read_table()
#: The data sets that are kept in files, by name: those of the paper, with several views, with one.
CATALOG = {name: entry for name, entry in _ALL.items() if entry.source.url}
#: Those that come with scikit-learn: no file, no download.
BUNDLED = {name: entry for name, entry in _ALL.items() if not entry.source.url}


def available() -> list[str]:
    """List the names of the data sets that `load` knows, whether or not their files are there.

    Returns
    -------
    list of str
        The data sets of the paper, further ones with several views and with one, then those of scikit-learn.
    """
    return [*CATALOG, *BUNDLED]


def find(name: str) -> Entry:
    """Return what is known of a data set; an unknown name brings those that are spelt like it."""
    if (entry := CATALOG.get(name) or BUNDLED.get(name)) is not None:
        return entry
    near = get_close_matches(name.casefold(), available(), n=3)
    choose = f"choose {' or '.join(near)}" if near else f"choose one of {', '.join(available())}"
    raise DataError(f"{name!r} is no known data set; {choose} (see kernelbraid datasets list).")


def find_in_file(name: str) -> Entry:
    """Return what is known of a data set that is kept in a file."""
    if name in BUNDLED:
        raise DataError(f"{name!r} comes with scikit-learn and needs no file; load it as it is.")
    return find(name)


def data_folder() -> Path:
    """Return the folder of the data sets: the one named by KERNELBRAID_DATA, otherwise the user's cache."""
    import pooch

    return Path(os.environ.get(FOLDER_VARIABLE, "").strip() or pooch.os_cache("kernelbraid")).expanduser()


def files(entry: Entry) -> list[Path]:
    """Return the files of a data set that are there, in the folder or in one inside it; those of raw values last."""
    folder = data_folder()
    names = [f"{entry.name}.npz"] + ([f"{entry.name}_raw.npz"] if entry.raw is not None else [])
    found = [[path for path in (folder / name, *sorted(folder.glob(f"*/{name}"))) if path.is_file()] for name in names]
    return [paths[0] for paths in found if paths]


def is_raw(path: Path) -> bool:
    """Return whether a file holds values before any preprocessing."""
    return path.stem.endswith("_raw")


def missing(entry: Entry) -> DataError:
    """Return the error for a data set whose file is not there."""
    remedy = f"get it with kernelbraid datasets fetch {entry.name}" if entry.source.sha256 else entry.by_hand
    where = f"there is no file {entry.name}.npz in {data_folder()}"
    return DataError(f"{entry.name}: {where}; {remedy}, or name the folder that holds it in {FOLDER_VARIABLE}.")
