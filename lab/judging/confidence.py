"""Confidence.

LKG with its defaults and the true number of clusters, means over three seeds. Labels are matched to classes once, on
all samples. `half`: accuracy of the most confident half minus that of all, in points; `area`: under the curve of risk
over coverage, the mean share of wrong labels among those that are kept, lower is better. The same labels are ordered
by three simple rules and by the posterior of a diagonal mixture of Gaussians in the same embedding.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np
from scipy import sparse
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import average_precision_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor

from kernelbraid import LKG
from lab.judging.jobs import Row, table
from lab.judging.samples import KINDS, LATER, PAPER, SEEDS, VIEWS, as_input, matched, read

MORE = tuple(name for kind in ("more faces", "more texts", "genes") for name in KINDS[kind] if name not in LATER)
SEVERAL = tuple(name for name in VIEWS if name not in LATER)
GROUPS = {"paper": PAPER, "more": MORE, "views": SEVERAL}
OUTLIERS = "outliers of "
OF = ("digits", "ten blobs", "yale")
SHARE = 0.05  # of rows that are no samples
JOBS = (*PAPER, *MORE, *SEVERAL, *(OUTLIERS + name for name in OF))
MINE = "confidence_"
RULES = (MINE, "neighbours", "two steps", "margin", "mixture")
DETECTORS = ("LKG", "LocalOutlierFactor", "HDBSCAN")


def measure(job: str) -> list[Row]:
    """Return means over seeds for a data set, labels or outliers."""
    one = outliers if job.startswith(OUTLIERS) else labels
    found = [one(job.removeprefix(OUTLIERS), seed) for seed in SEEDS]
    return [{key: fmean(row[key] for row in found) for key in found[0]}]


def labels(name: str, seed: int) -> dict[str, float]:
    """Return the accuracy of labels, and what each rule that orders them is worth."""
    views, y = read(name)
    model = LKG(int(y.max()) + 1, random_state=seed).fit(as_input(views))
    right = matched(y, model.labels_, model.n_clusters_)[model.labels_] == y
    found = {"accuracy": 100 * float(right.mean())}
    for rule, sure in orders(model, seed).items():
        order = np.argsort(-sure, kind="stable")
        found[f"gain {rule}"] = 100 * float(right[order[: len(order) // 2]].mean() - right.mean())
        found[f"risk {rule}"] = float(np.mean(np.cumsum(~right[order]) / np.arange(1, len(order) + 1)))
    return found


def orders(model: LKG, seed: int) -> dict[str, np.ndarray]:
    """Return how sure the labels are by every rule."""
    X, own = np.asarray(model.embedding_, dtype=float), model.labels_
    given = np.eye(model.n_clusters_)[own]
    edges = sparse.csr_array(model.graph_, dtype=float, copy=True)
    edges.setdiag(0)
    near = shares(edges @ given)
    centres = np.stack([X[own == label].mean(axis=0) for label in range(model.n_clusters_)])
    distances = np.sort(np.linalg.norm(X[:, None] - centres, axis=2), axis=1)
    mixture = GaussianMixture(model.n_clusters_, covariance_type="diag", random_state=seed).fit(X)
    rows = np.arange(len(own))
    return {
        MINE: model.confidence_,
        "neighbours": near[rows, own],
        "two steps": shares(edges @ near)[rows, own],
        "margin": distances[:, 1] - distances[:, 0],
        "mixture": mixture.predict_proba(X).max(axis=1),
    }


def shares(sums: np.ndarray) -> np.ndarray:
    """Return rows that sum to one; even ones where there is nothing."""
    totals = sums.sum(axis=1, keepdims=True)
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1), 1 / sums.shape[1])


def outliers(name: str, seed: int) -> dict[str, float]:
    """Return the average precision of outlier scores."""
    if name == "ten blobs":
        X, k = make_blobs(1000, n_features=10, centers=10, random_state=seed)[0], 10
    else:
        X, k = (load_digits().data, 10) if name == "digits" else (np.asarray(read(name)[0][0], dtype=float), 15)
    rows, is_out = polluted(X, seed)
    scores = {
        "LKG": LKG(k, random_state=seed).fit(rows).outlier_scores_,
        "LocalOutlierFactor": -LocalOutlierFactor().fit(rows).negative_outlier_factor_,
        "HDBSCAN": 1 - HDBSCAN(copy=True).fit(rows).probabilities_,
    }
    return {detector: float(average_precision_score(is_out, score)) for detector, score in scores.items()}


def polluted(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples among rows that are drawn uniformly in their box, and which those are."""
    rng = np.random.default_rng(seed)
    n = round(SHARE * len(X))
    rows = np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (n, X.shape[1]))])
    order = rng.permutation(len(rows))
    return rows[order], (np.arange(len(rows)) >= len(X))[order]


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    out = [row for row in rows if row["job"].startswith(OUTLIERS)]
    plain = [row for row in rows if row not in out]
    better = sum(row[f"risk {MINE}"] < row["risk mixture"] for row in plain)
    header = ["data set", "accuracy", *(f"half: {rule}" for rule in RULES), f"area: {MINE}", "area: mixture"]
    return [
        *table(header, [line(row["job"], row) for row in plain] + [line(*mean) for mean in means(plain)]),
        "",
        f"The area is smaller than that of the mixture on {better} of {len(plain)} sets.",
        "",
        "## Outliers",
        "",
        f"Average precision with {SHARE:.0%} rows drawn uniformly in the box of the data, means over {len(SEEDS)} "
        "seeds; HDBSCAN by one minus its probabilities.",
        "",
        *table(
            ["data set", *DETECTORS],
            [[row["job"].removeprefix(OUTLIERS), *(f"{row[name]:.4f}" for name in DETECTORS)] for row in out],
        ),
    ]


def line(title: str, row: Mapping[str, float]) -> list[object]:
    """Return the line of a data set or of a mean."""
    gains = [row[f"gain {rule}"] for rule in RULES]
    return [title, row["accuracy"], *gains, *(f"{row[f'risk {rule}']:.3f}" for rule in (MINE, "mixture"))]


def means(rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the means over groups of data sets."""
    every = {"all": [row["job"] for row in rows]} | GROUPS
    for group, names in every.items():
        if own := [row for row in rows if row["job"] in names]:
            numbers = [key for key, value in own[0].items() if isinstance(value, float)]
            yield f"mean, {group}", {key: fmean(row[key] for row in own) for key in numbers}
