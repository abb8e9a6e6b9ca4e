"""Load a data set by name: from the folder of the user, checked against the catalogue, or from scikit-learn."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._typing import Host
from kernelbraid.datasets.catalogue import BUNDLED, Entry, available, files, find, is_raw, missing
from kernelbraid.io.arrays import Matrix, list_arrays
from kernelbraid.io.samples import column_names, read_labels, read_samples
from kernelbraid.io.sources import DataError, open_source

SAMPLE_NAMES = ("X", "fea", "data")
CLASS_NAMES = ("y", "gnd", "labels", "label", "class", "truth")
SPARSE_PARTS = ("data", "indices", "indptr", "shape")  # of a matrix X in compressed rows, as X_data and so on


def read(entry: Entry, path: Path) -> tuple[list[Matrix], NDArray[np.int64]]:
    """Return the views and the classes 0, 1, ... of a file, found by their names and the shapes in the catalogue.

    Raises
    ------
    DataError
        The file cannot be read, or is none of this data set.
    """
    n = entry.n_samples
    source = open_source(path)
    arrays = dict(_numbers(list_arrays(source))) if source.suffix in (".mat", ".npz") else _read_table(path)
    trailing = entry.source.trailing
    for X in [X for X in arrays.values() if trailing and X.shape == (n, entry.n_features[0] + len(trailing))]:
        label = X[:, [trailing.index("label") - len(trailing)]]
        arrays = {"X": X[:, : -len(trailing)], "y": label if isinstance(label, np.ndarray) else label.toarray()}
    shapes = ", ".join(f"{name} {' x '.join(map(str, X.shape))}" for name, X in arrays.items()) or "none"
    views = []
    for i, view in enumerate(entry.views):
        shape = (n, view.n_features)
        fitting = [name for name, X in arrays.items() if shape in (X.shape, X.shape[::-1])]
        alike = [name for name in fitting if view.nonzeros == getattr(arrays[name], "nnz", None)]
        names = SAMPLE_NAMES if len(entry.views) == 1 else (f"X{i}",)
        lacking = f"there is no matrix of {n} x {view.n_features} (found {shapes}); give the samples as rows"
        X = arrays.pop(_only(path, names, fitting, alike, lacking))
        views.append(X if X.shape == shape else X.T if isinstance(X, np.ndarray) else X.T.tocsr())
    vectors = [name for name, y in arrays.items() if n == max(y.shape) == np.prod(y.shape)]
    lacking = f"there are no classes; save one label for each of the {n} samples as y"
    y = arrays[_only(path, CLASS_NAMES, vectors, [], lacking)].ravel()
    for A in (*views, y):
        if A.dtype.kind == "f" and not np.isfinite(A.data if sparse.issparse(A) else A).all():
            raise DataError(f"{path}: there are NaN or infinite values in the samples or classes; remove or fill them.")
    classes, y = np.unique(y, return_inverse=True)
    if len(classes) != entry.n_classes:
        raise DataError(f"{path}: {entry.title} has {entry.n_classes} classes, not {len(classes)}; check the labels.")
    return views, y.astype(np.int64)


def _only(path: Path, names: Sequence[str], fitting: Sequence[str], alike: Sequence[str], lacking: str) -> str:
    """Return the array that fits by its name, or by its entries, or as no other does."""
    found = [name for name in names if name in fitting][:1] or alike or fitting
    if len(found) != 1:
        several = f"several arrays could be meant ({', '.join(found)}); call the right one {names[0]}"
        raise DataError(f"{path}: {several if found else lacking}.")
    return found[0]


def _read_table(path: Path) -> dict[str, Any]:
    """Return samples and classes of a table: the classes are the column called label or so, otherwise the last."""
    names = [name.strip().lower() for name in column_names(path)]
    if not names:
        raise DataError(f"{path}: a file of this kind has no classes; save samples as X, classes as y in an .npz file.")
    at = next((names.index(name) for name in CLASS_NAMES if name in names), len(names) - 1)
    samples = read_samples(path, drop=[at + 1])
    return {"X": samples.X, "y": read_labels(path, header=samples.header, column=at + 1).values}


def _numbers(arrays: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arrays with entries, those in MATLAB's cells, too, as X{1}, X{2} and so on."""
    for name, array in arrays.items():
        if sparse.issparse(array):
            yield name, sparse.csr_array(array)
        elif isinstance(array, np.ndarray) and array.dtype.kind == "O":
            yield from _numbers({f"{name}{{{i}}}": cell for i, cell in enumerate(array.ravel(), 1)})
        elif isinstance(array, np.ndarray) and array.dtype.kind in "biufU" and array.ndim:
            yield name, array


def preprocess(X: Matrix, steps: Sequence[str]) -> Matrix:
    """Return X as float64 after steps of the catalogue."""
    X = X.astype(np.float64)
    if steps:
        from sklearn.preprocessing import scale

        known = {"zscore": _zscore, "unit_norm": _unit_norm, "tfidf": _tfidf, "standardise": scale}
        for step in steps:
            X = known[step](X)
    return X if isinstance(X, np.ndarray) else X.tocsr()


def _zscore(X: Matrix) -> Matrix:
    """Return X with every feature at mean 0 and variance 1 (ddof 1); a constant feature becomes 0."""
    X = X if isinstance(X, np.ndarray) else X.toarray()
    constant = np.ptp(X, axis=0) == 0
    return np.where(constant, 0.0, X - X.mean(axis=0)) / np.where(constant, 1.0, X.std(axis=0, ddof=1))


def _unit_norm(X: Matrix) -> Matrix:
    """Return X with every sample divided by its l2 norm; a sample of zeros is left as it is."""
    length = np.sqrt((X * X).sum(axis=1))[:, None]
    return X / np.where(length > 0, length, 1.0)


def _tfidf(X: Matrix) -> Matrix:
    """Return counts weighted by (1 + ln tf) ln(n / df), as a sparse matrix."""
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    documents = np.bincount(X.indices, minlength=X.shape[1])
    X.data = (1 + np.log(X.data)) * np.log(X.shape[0] / documents[X.indices])
    X.eliminate_zeros()  # a word of every document weighs nothing
    return X


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
