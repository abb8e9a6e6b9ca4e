"""Data sets by name, in kinds, and what labels are worth against their classes."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn import datasets
from sklearn.metrics.cluster import contingency_matrix
from sklearn.preprocessing import StandardScaler

from kernelbraid.datasets import load
from lab.judging.made import MADE, read_made
from lab.own_data import OwnData
from lab.trial import join

Matrix: TypeAlias = np.ndarray | sparse.csr_array

SEEDS = (0, 1, 2)
#: Real data of one view, and of several; the last ones of a kind came later.
KINDS = {
    "faces": ("yale", "jaffe", "orl", "ar"),
    "letters": ("ba", "mnist1000", "isolet"),
    "texts": ("tr11", "tr41", "tr45"),
    "more faces": ("warpar10p", "warppie10p", "pixraw10p", "orlraws10p", "umist"),
    "more texts": ("pcmac", "relathe"),
    "genes": ("colon", "lymphoma", "leukemia", "nci9", "prostate", "allaml", "arcene", "glioma", "tox171"),
    "views of texts": ("webkb203", "ngs", "bbc", "movies", "reuters1200"),
    "views of things": ("leaves100", "proteinfold", "prokaryotic", "mfeat", "msrcv1"),
}
LATER = ("mnist1000", "isolet", "glioma", "tox171", "reuters1200", "mfeat", "msrcv1")
PAPER = (*KINDS["faces"], "ba", *KINDS["texts"])
VIEWS = (*KINDS["views of texts"], *KINDS["views of things"])
REAL = tuple(name for names in KINDS.values() for name in names)
#: Small tables that come with scikit-learn, and data that are drawn.
OTHERS = {
    "tables": ("iris", "iris, standardised", "wine, standardised", "breast cancer, standardised", "digits"),
    **{kind: tuple(draws) for kind, draws in MADE.items()},
}
KIND_OF = {name: kind for kind, names in (KINDS | OTHERS).items() for name in names}


def read(name: str) -> tuple[list[Matrix], np.ndarray]:
    """Return the views of a data set, one or several, and its classes.

    Those of the paper and of its folder `dev` are looked for in the folder that KERNELBRAID_DATA names.
    """
    if name in OTHERS["tables"]:
        plain, _, scaled = name.partition(", ")
        X, y = getattr(datasets, f"load_{plain.replace(' ', '_')}")(return_X_y=True)
        return [StandardScaler().fit_transform(X) if scaled else X], y
    stored = Path(os.environ.get("KERNELBRAID_DATA", "")) / "dev" / f"{name}.npz"
    if KIND_OF.get(name) in MADE:
        X, y = read_made(name)
        return [X], y
    dataset = OwnData(name, (stored,)).read() if stored.is_file() else load(name)
    return list(dataset.views), dataset.y


def as_input(views: Sequence[Matrix]) -> Any:
    """Return what an estimator is given: a matrix, or a list of several."""
    return views[0] if len(views) == 1 else list(views)


def side_by_side(views: Sequence[Matrix], *, unit: bool) -> Matrix:
    """Return rows of one matrix, as they are or of unit length; several views as rows of alike mean length."""
    if len(views) > 1 and not unit:
        views = [X / np.sqrt((X.astype(float) ** 2).sum() / X.shape[0]) for X in views]
    return join(views, unit_rows=unit)


def matched(y: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the class that each cluster stands for, one to one, so that most labels are right; -1 for no class."""
    classes, clusters = np.unique(y), np.unique(labels)
    rows, columns = linear_sum_assignment(contingency_matrix(y, labels), maximize=True)
    found = np.full(n_clusters, -1)
    found[clusters[columns]] = classes[rows]
    return found
