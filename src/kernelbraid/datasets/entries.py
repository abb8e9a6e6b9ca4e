"""What is known of a data set: shapes, classes, preprocessing, source, checksums and licence."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

Kind = Literal["image", "text", "graph", "biology"]

#: Where files of public repositories are downloaded from.
DOWNLOADS = "https://raw.githubusercontent.com"
NO_LICENCE = "none stated in the source repository"


@dataclass(frozen=True)
class Picture:
    """How a row of a matrix becomes an image."""

    height: int
    width: int
    order: Literal["C", "F"] = "F"  # pixels row by row, or column by column as MATLAB has them


@dataclass(frozen=True)
class View:
    """One matrix of a data set."""

    n_features: int
    nonzeros: int | None = None  # stored entries of a sparse matrix; None: dense
    content: str = ""  # what a feature is
    picture: Picture | None = None  # where the features are the pixels of an image


@dataclass(frozen=True)
class Source:
    """A file in a public repository."""

    repository: str  # owner/name
    commit: str
    path: str
    sha256: str | None = None  # None: it was never written down, so nobody can tell a right download from a wrong one
    n_bytes: int | None = None
    trailing: tuple[str, ...] = ()  # columns after the features: "label" holds the classes, others are dropped

    def url(self, base: str | None = None) -> str:
        """Return the address of the file below `base`, by default below `DOWNLOADS`."""
        return "/".join([(base or DOWNLOADS).rstrip("/"), self.repository, self.commit, quote(self.path)])


@dataclass(frozen=True)
class Raw:
    """The file of the same samples before any preprocessing."""

    sha256: str  # of <name>_raw.npz
    source: Source


@dataclass(frozen=True)
class Entry:
    """One data set."""

    name: str
    title: str  # as the paper calls it, or else its source
    kind: Kind
    n_samples: int
    views: tuple[View, ...]
    class_sizes: tuple[int, ...]  # of the classes 0, 1, ...
    preprocessing: tuple[str, ...]  # all steps from the raw values to these, names of `preprocessing.STEPS`
    pending: tuple[str, ...]  # those of them that the source file still needs
    source: Source
    sha256: str | None  # of <name>.npz as published with the manifest
    raw: Raw | None = None  # where exact values are recomputed from
    licence: str = NO_LICENCE
    upstream: str = ""
    note: str = ""

    @property
    def n_features(self) -> tuple[int, ...]:
        """Return the number of features of each view."""
        return tuple(view.n_features for view in self.views)

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.class_sizes)


def entry_as_found(
    name: str,
    kind: Kind,
    source: tuple[tuple[str, str], str],
    views: tuple[View, ...],
    class_sizes: tuple[int, ...],
    sha256: str,
    note: str,
) -> Entry:
    """Return an entry, called as its source calls it; nothing is done to the values.

    The source is a repository and its commit, and a path there.
    """
    (repository, commit), path = source
    return Entry(
        name=name,
        title=path.rpartition("/")[2].removesuffix(".mat"),
        kind=kind,
        n_samples=sum(class_sizes),
        views=views,
        class_sizes=class_sizes,
        preprocessing=(),
        pending=(),
        source=Source(repository, commit, path),
        sha256=sha256,
        note=note,
    )
