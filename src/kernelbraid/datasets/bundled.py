"""Small data sets that come with scikit-learn: no file, no download."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelbraid._typing import Host
from kernelbraid.datasets.entries import Picture
from kernelbraid.datasets.npz import digest


@dataclass(frozen=True)
class Bundled:
    """A data set of scikit-learn."""

    name: str
    title: str
    n_samples: int
    n_features: tuple[int, ...]
    n_classes: int
    standardise: bool  # the features are of different units
    picture: Picture | None = None  # where the features are the pixels of an image

    def read(self) -> tuple[NDArray[np.float64], NDArray[np.int64], str]:
        """Return samples, classes, and a checksum of both as scikit-learn ships them, the same on every machine."""
        from sklearn import datasets
        from sklearn.preprocessing import StandardScaler

        loader: Callable[..., tuple[Host, Host]] = getattr(datasets, f"load_{self.name}")
        X, y = loader(return_X_y=True)
        X, y = X.astype(np.float64), y.astype(np.int64)
        key = digest([X], y)
        return (StandardScaler().fit_transform(X) if self.standardise else X), y, key


#: The data sets of scikit-learn by name.
BUNDLED: dict[str, Bundled] = {
    one.name: one
    for one in (
        Bundled("digits", "handwritten digits", 1797, (64,), 10, standardise=False, picture=Picture(8, 8, "C")),
        Bundled("wine", "wine", 178, (13,), 3, standardise=True),
        Bundled("breast_cancer", "breast cancer", 569, (30,), 2, standardise=True),
    )
}
