"""Load a data set by name: from the folder of the user, checked against the catalogue, or from scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kernelbraid._typing import Host
from kernelbraid.datasets import npz, preprocessing
from kernelbraid.datasets.bundled import BUNDLED
from kernelbraid.datasets.catalog import CATALOG, unknown_name
from kernelbraid.datasets.entries import Entry
from kernelbraid.datasets.made import MADE
from kernelbraid.files.errors import DataError
from kernelbraid.files.readers import check_matrix
from kernelbraid.files.stored import Matrix


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set with known classes.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    title : str
        Name in the paper.
    views : list of ndarray or scipy.sparse.csr_array
        The matrices, float64, each of shape (n_samples, n_features); one of them where there are no several views.
    y : ndarray of shape (n_samples,)
        The classes, 0 to n_clusters - 1.
    checksum : str
        SHA-256 of the file that was read, or of samples and classes where they come with scikit-learn.
    """

    name: str
    title: str
    views: list[Matrix]
    y: NDArray[np.int64]
    checksum: str

    @property
    def X(self) -> Matrix | None:  # noqa: N802 (the name of scikit-learn)
        """The matrix of samples; None where there are several views."""
        return self.views[0] if len(self.views) == 1 else None

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return len(self.y)

    @property
    def n_clusters(self) -> int:
        """The number of classes."""
        return int(self.y.max()) + 1


def load(name: str) -> Dataset:
    """Load a known data set from the user's folder, or one that comes with scikit-learn.

    Parameters
    ----------
    name : str
        "yale", "jaffe", "orl", "ar", "ba", "tr11", "tr41", "tr45", "tdt2", "cora" or "nuswide_view3"; "digits",
        "wine" or "breast_cancer", which need no file; "webkb203", "ngs", "bbc", "leaves100", "movies", "proteinfold" or
        "prokaryotic", which have several views; "colon", "lymphoma", "leukemia", "nci9", "prostate", "allaml",
        "arcene", "pcmac", "relathe", "warpar10p", "warppie10p", "pixraw10p", "orlraws10p" or "umist", which have one;
        or one that is drawn, such as "made_moons".

    Returns
    -------
    Dataset
        Samples as float64, classes, and a checksum.

    Raises
    ------
    DataError
        The name is unknown, or the file is missing or not the one of the catalogue; the message says what to do.

    Notes
    -----
    Files are looked for in the folder named by the environment variable KERNELBRAID_DATA, without it in the user's
    cache, and in the folders inside it. Nothing is downloaded: ``kernelbraid datasets fetch`` does that. Of YALE, ORL,
    JAFFE and AR the exact float64 values are recomputed where the grey levels, say yale_raw.npz, are in the folder.

    Examples
    --------
    >>> from kernelbraid.datasets import load
    >>> wine = load("wine")
    >>> wine.X.shape, wine.n_clusters
    ((178, 13), 3)
    """
    if name in BUNDLED:
        X, y, key = BUNDLED[name].read()
        return Dataset(name, BUNDLED[name].title, [X], y, key)
    if name in MADE:
        made, y, key = MADE[name].read()
        return Dataset(name, name.removeprefix("made_").replace("_", " "), [made], y, key)
    entry = find(name)
    path = locate(entry)
    if path is None:
        raise missing(entry)
    content = read_checked(entry, path)
    steps = entry.preprocessing if is_raw(entry, path) else ()
    views = [preprocessing.apply(X, steps) for X in content.views]
    return Dataset(name, entry.title, views, content.y.astype(np.int64), npz.checksum(path))


def available() -> list[str]:
    """List the names of real data that `load` knows, whether or not their files are there.

    Returns
    -------
    list of str
        The data sets of the paper, further ones with several views and with one, then those of scikit-learn.
    """
    return [*CATALOG, *BUNDLED]


def find(name: str) -> Entry:
    """Return the entry of a data set that is kept in a file."""
    if name in BUNDLED:
        raise DataError(f"{name!r} comes with scikit-learn and needs no file; load it as it is.")
    if name in MADE:
        raise DataError(f"{name!r} is drawn and needs no file; load it as it is.")
    if name not in CATALOG:
        raise unknown_name(name, [*available(), *MADE])
    return CATALOG[name]


def missing(entry: Entry) -> DataError:
    """Return the error for a data set whose file is not there."""
    remedy = f"put it there, or make it of {entry.source.url()} and use kernelbraid datasets import {entry.name} FILE"
    if entry.source.sha256 is not None:
        remedy = f"get it with kernelbraid datasets fetch {entry.name}"
    return DataError(
        f"{entry.name}: there is no file {entry.name}.npz in {npz.data_folder()}; {remedy}, or name the folder that "
        f"holds it in {npz.FOLDER_VARIABLE}."
    )


def files(entry: Entry) -> list[Path]:
    """Return the files of a data set that are there, those of samples ready for use first."""
    names = [f"{entry.name}.npz"] + ([f"{entry.name}_raw.npz"] if entry.raw is not None else [])
    folder = npz.data_folder()
    found = [
        next((path for path in (folder / name, *sorted(folder.glob(f"*/{name}"))) if path.is_file()), None)
        for name in names
    ]
    return [path for path in found if path is not None]


def locate(entry: Entry) -> Path | None:
    """Return the file to load a data set from: that of the raw values, unless the other one was written here."""
    found = files(entry)
    if len(found) > 1 and not npz.is_own(found[0]):
        return found[1]  # the published files are rounded to float32
    return found[0] if found else None


def is_raw(entry: Entry, path: Path) -> bool:
    """Return whether a file holds values before any preprocessing."""
    return path.name == f"{entry.name}_raw.npz"


def read_checked(entry: Entry, path: Path) -> npz.Content:
    """Return the content of a file, which must be the published one or one written here, whole and of the right shape.

    Raises
    ------
    DataError
        The file is another one; the message has both checksums.
    """
    known = entry.raw.sha256 if entry.raw is not None and is_raw(entry, path) else entry.sha256
    found = npz.checksum(path)
    if found == known:
        content = npz.read(path)
    else:
        try:
            content = npz.read(path)
            expected, actual = content.digest, npz.digest(content.views, content.y)
        except DataError:  # its remedy is for files of the user's own making
            expected = None
        if expected is None:
            raise _refusal(entry, path, "SHA-256", found, known)
        if actual != expected:
            raise _refusal(entry, path, "digest", actual, expected)
    check_content(entry, path, content.views, content.y)
    return content


def _refusal(entry: Entry, path: Path, what: str, found: str, known: str | None) -> DataError:
    """Return the error for a file that is not the one that it should be."""
    again = f" with kernelbraid datasets fetch {entry.name} --force" if entry.source.sha256 is not None else ""
    return DataError(
        f"{path}: the {what} is {found}, but {known or 'that of a file written here'} is expected; get the file "
        f"again{again}, or import your own."
    )


def check_content(entry: Entry, path: Path, views: Sequence[Matrix], y: Host) -> None:
    """Refuse matrices and classes that are not those of the catalogue."""
    shapes = [tuple(X.shape) for X in views]
    expected = [(entry.n_samples, width) for width in entry.n_features]
    if shapes != expected:
        raise DataError(
            f"{path}: the samples have shape {_listing(shapes)}, but {entry.title} has {_listing(expected)}; "
            "give one row per sample."
        )
    for X in views:
        check_matrix(path, X)
    if y.shape != (entry.n_samples,) or y.dtype.kind not in "iu":
        raise DataError(f"{path}: y has shape {y.shape} and type {y.dtype}; give one whole number per sample.")
    classes = np.unique(y)
    if not np.array_equal(classes, np.arange(entry.n_classes)):
        raise DataError(
            f"{path}: there are {len(classes)} classes from {classes[0]} to {classes[-1]}, but {entry.title} has "
            f"{entry.n_classes}, counted from 0; give the classes of {entry.title}."
        )


def _listing(shapes: Sequence[tuple[int, ...]]) -> str:
    """Return shapes for a message."""
    return " and ".join(" x ".join(map(str, shape)) for shape in shapes)
