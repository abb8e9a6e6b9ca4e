"""What false views cost.

Accuracy of LKG in per cent with the true number of clusters, mean over three seeds. Beside the views as they are
there is one of normal noise; the same with a shifted and scaled copy of itself; or the first view with its samples in
another order, which has all of its structure and nothing of the others'. The last column has how many of nine fits
used a false view.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np

from kernelbraid import LKG
from kernelbraid.metrics import accuracy
from lab.judging.jobs import Row, table
from lab.judging.samples import SEEDS, VIEWS, Matrix, read

JOBS = VIEWS
N_FEATURES = 50  # of a view of noise


def noise(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a view that says nothing."""
    return rng.standard_normal((n, N_FEATURES))


def noise_and_copy(views: Sequence[Matrix], rng: np.random.Generator) -> list[Matrix]:
    """Return noise, and the same noise shifted and scaled."""
    N = noise(views[0].shape[0], rng)
    return [N, 2 * N + 1]


#: The views that are added, before those of the data set.
FALSE: dict[str, Callable[[Sequence[Matrix], np.random.Generator], list[Matrix]]] = {
    "as they are": lambda views, rng: [],
    "noise": lambda views, rng: [noise(views[0].shape[0], rng)],
    "noise and its copy": noise_and_copy,
    "first view shuffled": lambda views, rng: [views[0][rng.permutation(views[0].shape[0])]],
}


def measure(job: str) -> list[Row]:
    """Return the accuracy on a data set with each kind of false views, and how often one was trusted."""
    views, y = read(job)
    row: Row = {"views": len(views), "trusted": 0}
    for kind, false in FALSE.items():
        found = []
        for seed in SEEDS:
            added = false(views, np.random.default_rng(seed))
            model = LKG(int(y.max()) + 1, random_state=seed).fit([*added, *views])
            found.append(100 * float(accuracy(y, model.labels_)))
            row["trusted"] += bool(np.any(model.views_.weights[: len(added)] > 0)) if added else 0
        row[kind] = fmean(found)
    return [row]


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    lines = [[row["job"], row["views"], *(row[kind] for kind in FALSE), row["trusted"]] for row in rows]
    means = [fmean(row[kind] for row in rows) for kind in FALSE]
    return [*table(["data", "views", *FALSE, "false views used"], [*lines, ["mean", None, *means, None]])]
