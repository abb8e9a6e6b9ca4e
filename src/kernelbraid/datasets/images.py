"""Samples as images, for the data sets whose features are pixels."""

from dataclasses import dataclass

import numpy as np

from kernelbraid._typing import Host
from kernelbraid.datasets import loading
from kernelbraid.datasets.bundled import BUNDLED
from kernelbraid.datasets.catalog import CATALOG, unknown_name
from kernelbraid.datasets.entries import Picture
from kernelbraid.files.errors import DataError
from kernelbraid.files.stored import Matrix


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
    picture = picture_of(name)
    if picture is None:
        shown = [known for known in loading.available() if picture_of(known) is not None]
        raise DataError(f"{name} is not made of images that can be drawn; choose one of {', '.join(shown)}.")
    X, y, title, steps = _values(name)
    classes = np.linspace(0, y.max(), min(n_classes, int(y.max()) + 1)).round().astype(int).tolist()
    rows = [_unfold(X[np.flatnonzero(y == one)[:n_samples]], picture) for one in classes]
    return Images(title, classes, rows, steps)


def picture_of(name: str) -> Picture | None:
    """Return how samples of a data set become images, None if they do not."""
    if name in BUNDLED:
        return BUNDLED[name].picture
    if name not in CATALOG:
        raise unknown_name(name, loading.available())
    return CATALOG[name].views[0].picture


def _values(name: str) -> tuple[Matrix, Host, str, tuple[str, ...]]:
    """Return samples, classes, title and the preprocessing behind them, raw where that can be."""
    if name in BUNDLED:
        X, y, _ = BUNDLED[name].read()
        return X, y, BUNDLED[name].title, ()
    entry = CATALOG[name]
    found = loading.files(entry)
    if not found:
        raise loading.missing(entry)
    path = next((path for path in found if loading.is_raw(entry, path)), found[0])
    content = loading.read_checked(entry, path)
    return content.views[0], content.y, entry.title, () if loading.is_raw(entry, path) else entry.preprocessing


def _unfold(X: Matrix, picture: Picture) -> Host:
    """Return samples as images, (n_samples, height, width)."""
    dense = X if isinstance(X, np.ndarray) else X.toarray()  # a file of the user's own may be sparse
    return np.stack([np.reshape(row, (picture.height, picture.width), order=picture.order) for row in dense])
