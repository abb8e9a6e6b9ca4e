"""Load a data set by name: from the folder of the user, checked against the catalogue, or from scikit-learn."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray

from kernelbraid._typing import Host
from kernelbraid.datasets.catalogue import BUNDLED, Entry, available, files, find, is_raw, missing
from kernelbraid.datasets.reading import preprocess, read
from kernelbraid.io.arrays import Matrix
from kernelbraid.io.sources import DataError


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
        "arcene", "pcmac", "relathe", "warpar10p", "warppie10p", "pixraw10p", "orlraws10p" or "umist", which have one.

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
    entry = find(name)
    views, y, done, key = _read(entry)
    steps = () if done else entry.preprocessing
    return Dataset(name, entry.title, [preprocess(X, steps) for X in views], y, key)


@dataclass(frozen=True, eq=False)
class Images:
    """Some samples of some classes.

    Parameters
    ----------
    title : str
        Name of the data set in the paper.
    classes : list of int
        The classes, from 0.
    rows : list of ndarray of shape (n_samples, height, width)
        The images of each class; fewer where a class has fewer samples.
    steps : tuple of str
        Preprocessing that the values have undergone; empty for grey levels.
    """

    title: str
    classes: list[int]
    rows: list[Host]
    steps: tuple[str, ...]


def load_images(name: str, *, n_classes: int = 6, n_samples: int = 10) -> Images:
    """Load the first samples of some classes, spread evenly over all of them, as images.

    Parameters
    ----------
    name : str
        A data set of images: "yale", "jaffe", "orl", "ar", "ba" or "digits".
    n_classes : int, default=6
        Classes, all of them where there are fewer.
    n_samples : int, default=10
        Samples of each class.

    Returns
    -------
    Images
        Grey levels where their file is there, otherwise the values that are clustered.

    Raises
    ------
    DataError
        The data set is not known, is not here, or is not made of images.
    """
    entry = find(name)
    if entry.picture is None:
        shown = [known for known in available() if find(known).picture is not None]
        raise DataError(f"{name} is not made of images that can be drawn; choose one of {', '.join(shown)}.")
    (X, *_), y, steps, _ = _read(entry, raw=True)
    dense = X if isinstance(X, np.ndarray) else X.toarray()  # a file of the user's own may be sparse
    height, width, order = entry.picture
    pixels = np.stack([np.reshape(row, (height, width), order=order) for row in dense])
    classes = np.linspace(0, y.max(), min(n_classes, int(y.max()) + 1)).round().astype(int).tolist()
    return Images(entry.title, classes, [pixels[y == one][:n_samples] for one in classes], tuple(steps))


def _read(entry: Entry, *, raw: bool = False) -> tuple[list[Matrix], NDArray[np.int64], Sequence[str], str]:
    """Return views, classes, the preprocessing behind them, and a checksum, the same on every machine."""
    if entry.name in BUNDLED:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{entry.name}")(return_X_y=True)
        total = hashlib.sha256()
        for name, values in (("X", X.astype("<f8")), ("y", y.astype("<i8"))):
            total.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
            total.update(values.tobytes())
        return [X], y.astype(np.int64), (), total.hexdigest()
    if (path := locate(entry, raw=raw)) is None:
        raise missing(entry)
    return *read_checked(entry, path), () if is_raw(path) else entry.preprocessing, checksum(path)


def locate(entry: Entry, *, raw: bool = False) -> Path | None:
    """Return the file to read: that of the raw values, unless the other one was written here and raw is not asked."""
    if not (found := files(entry)):
        return None
    return found[0] if not raw and _is_own(found[0]) else found[-1]  # the published files are rounded to float32


def _is_own(path: Path) -> bool:
    """Return whether a file was written here: it says where it comes from."""
    if not is_zipfile(path):
        return False
    with ZipFile(path) as file:
        return "origin.npy" in file.namelist()


def read_checked(entry: Entry, path: Path) -> tuple[list[Matrix], NDArray[np.int64]]:
    """Return the views and classes of a file, which must be the published one or one written here, whole and sound.

    Raises
    ------
    DataError
        The file is another one; the message has both checksums.
    """
    known = entry.raw if entry.raw is not None and is_raw(path) else entry.source
    if (found := checksum(path)) != known.npz_sha256 and not _is_own(path):
        again = f" with kernelbraid datasets fetch {entry.name} --force" if entry.source.sha256 is not None else ""
        raise DataError(
            f"{path}: the SHA-256 is {found}, but {known.npz_sha256 or 'that of a file written here'} is expected; "
            f"get the file again{again}, or import your own."
        )
    return read(entry, path)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: the file cannot be read ({error.strerror}); check its permissions.") from None
