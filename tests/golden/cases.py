"""Fits whose labels refactoring keeps: every way into the library, at seed 0, on small data sets.

``python tests/golden/cases.py`` writes `labels.json`, a string per fit with a character per sample, on a processor
with AVX-512. It is run again only for a commit that explains every difference. Other processors round differently:
``OPENBLAS_CORETYPE=Haswell python tests/golden/cases.py haswell`` writes `labels_haswell.json`, the labels that differ.
"""

import json
import os
import re
import string
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import datasets as bundled
from sklearn.neighbors import kneighbors_graph

from kernelbraid import ADMM, LKG, LKGClassifier, methods
from kernelbraid.kernels import build_bank

LABELS = Path(__file__).with_name("labels.json")
HASWELL = LABELS.with_name("labels_haswell.json")
CHARACTERS = string.digits + string.ascii_letters
SHARED = Path(os.environ.get("KERNELBRAID_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "datasets"
BUNDLED = ("iris", "wine", "digits")
PAPER = ("yale", "jaffe", "orl", "tr11")
SEVERAL = ("webkb203", "ngs")
#: The methods of comparison by the class and what is given to it.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "KKM": ("KernelKMeans", {"init": "random", "n_init": 1}),
    "RKKM": ("KernelKMeans", {"robust": True, "init": "random", "n_init": 1}),
    "SC": ("KernelSpectralClustering", {"embedding": "unnormalised"}),
    "SSR": ("SimplexGraph", {}),
    "SCSK": ("TwinGraph", {}),
    "MKKM": ("MultipleKernelKMeans", {"init": "random", "n_init": 1}),
    "AASC": ("AffinityAggregation", {}),
    "RMKKM": ("MultipleKernelKMeans", {"robust": True, "init": "random", "n_init": 10}),
    "SCMK": ("MultipleKernelTwinGraph", {}),
    "SimpleMKKM": ("SimpleMultipleKernelKMeans", {}),
    "SMKL": ("SelfWeightedMultipleKernel", {}),
    "GMC": ("MultiViewGraphFusion", {}),
    "CGD": ("CrossViewDiffusion", {}),
}


def read(name: str) -> tuple[list[Any], np.ndarray] | None:
    """Return the views and the classes of a data set, None where it is missing."""
    if name in BUNDLED:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        return [X[:500]], y[:500]
    path = next((place for place in (SHARED / f"{name}.npz", SHARED / "dev" / f"{name}.npz") if place.exists()), None)
    if path is None:
        return None
    with np.load(path) as file:
        names = [key for key in file if re.fullmatch(r"X\d*", key.partition("_")[0])]
        views = [matrix(file, key) for key in dict.fromkeys(key.partition("_")[0] for key in names)]
        return views, np.unique(file["y"], return_inverse=True)[1]


def matrix(file: Any, key: str) -> Any:
    """Return a matrix of a file, sparse if its parts are there."""
    if key in file:
        return file[key].astype(float)
    data, indices, indptr, shape = (file[f"{key}_{part}"] for part in ("data", "indices", "indptr", "shape"))
    return sparse.csr_array((data.astype(float), indices, indptr), tuple(shape.tolist()))


def fits(name: str, views: list[Any], y: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return the fits of a data set, each a function that returns labels."""
    k, X = int(y.max()) + 1, views[0] if len(views) == 1 else views
    found: dict[str, Callable[[], Any]] = {
        "LKG": lambda: LKG(k, random_state=0).fit_predict(X),
        "auto": lambda: LKG("auto", random_state=0).fit_predict(X),
        "LKGClassifier": lambda: LKGClassifier().fit(X, few(y)).predict(X),
        "learned": lambda: LKG(k, solver=ADMM(), random_state=0).fit_predict(X),
    }
    if len(views) > 1:
        found["fusion of kernels"] = lambda: LKG(k, fusion="kernels", random_state=0).fit_predict(X)
        found["missing"] = lambda: LKG(k, random_state=0).fit_predict(with_gaps(views))
        return found
    for penalty in ("nuclear", "l1"):
        model = LKG(k, preset="authors", solver=ADMM(graph_penalty=penalty), random_state=0)
        found[f"authors, {penalty}"] = lambda model=model: model.fit_predict(X)
    if name in BUNDLED:
        found["near"] = lambda: LKG(k, kernels="near", random_state=0).fit_predict(X)
        found["precomputed"] = lambda: LKG(k, kernels="precomputed", random_state=0).fit_predict(build_bank(X, "paper"))
        found["ready graph"] = lambda: LKG(k, kernels="graph", random_state=0).fit_predict(neighbours(X))
        found["halves as views"] = lambda: LKG(k, random_state=0).fit_predict(np.array_split(X, 2, axis=1))
    if name in (*BUNDLED, "yale", "jaffe"):
        for title, (cls, given) in METHODS.items():
            model = getattr(methods, cls)(k, random_state=0, **given)
            found[title] = lambda model=model: model.fit_predict(X)
    return found


def few(y: np.ndarray) -> np.ndarray:
    """Return classes of which all but one sample in five are not known."""
    return np.where(np.arange(len(y)) % 5 == 0, y, -1)


def with_gaps(views: list[Any]) -> list[np.ndarray]:
    """Return views each of which lacks every tenth sample, another one each."""
    found = [np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float) for X in views]
    for start, X in enumerate(found):
        X[start::10] = np.nan
    return found


def neighbours(X: np.ndarray) -> Any:
    """Return a symmetric graph of ten neighbours."""
    graph = kneighbors_graph(X, 10)
    return graph.maximum(graph.T)


def cases(
    names: tuple[str, ...] = (*BUNDLED, *PAPER, "umist", *SEVERAL),
) -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield the name of a data set, that of a fit, and the fit."""
    for name in names:
        content = read(name)
        if content is not None:
            yield from ((name, title, fit) for title, fit in fits(name, *content).items())


def encode(labels: Any) -> str:
    """Return labels as text."""
    return "".join(CHARACTERS[label] for label in np.asarray(labels))


def main() -> None:
    """Write the labels of all fits; what is missing keeps those it has."""
    known = json.loads(LABELS.read_text()) if LABELS.exists() else {}
    place = HASWELL if "haswell" in sys.argv else LABELS
    found = {} if place == HASWELL else known
    warnings.simplefilter("ignore")
    for name, title, fit in cases():
        labels = encode(fit())
        if place == LABELS or labels != known[name][title]:
            found.setdefault(name, {})[title] = labels
        print(name, title, file=sys.stderr)  # noqa: T201
    place.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
