"""Without labels.

Accuracy in per cent, adjusted Rand index and reliability times 100, seeds 0 to 2, with the true number of clusters;
seed 0 with a chosen one. scikit-learn is the best of k-means and neighbour spectral clustering for the kind, rows as
given or of unit length, several views side by side. What rules of reading out do on all these sets, and on the kinds
that are left out when one is chosen, is on the page `rules.md`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy import stats
from sklearn.cluster import KMeans, SpectralClustering

from kernelbraid import LKG
from kernelbraid.metrics import accuracy, ari
from lab.judging.jobs import Row, table, timed
from lab.judging.samples import KIND_OF, LATER, OTHERS, PAPER, REAL, SEEDS, VIEWS, Matrix, as_input, read, side_by_side

JOBS = tuple(KIND_OF)
#: What people use, by the number of clusters and the seed.
MAKES: dict[str, Callable[[int, int], Any]] = {
    "KMeans": lambda k, seed: KMeans(k, n_init=10, random_state=seed),
    "SC-knn": lambda k, seed: SpectralClustering(k, affinity="nearest_neighbors", random_state=seed),
}
GROUPS: dict[str, Sequence[str]] = {
    "All real sets": REAL,
    "Those of the paper without TDT2": PAPER,
    "Those that came later": LATER,
    "Those of several views": VIEWS,
    "Shapes in two and three dimensions": OTHERS["made shapes"],
}


def measure(job: str) -> list[Row]:
    """Return what was measured on a data set."""
    views, y = read(job)
    X, k = as_input(views), int(y.max()) + 1
    seconds, fits = timed(lambda: [LKG(k, random_state=seed).fit(X) for seed in SEEDS])
    seconds_auto, chosen = timed(LKG("auto", random_state=0).fit, X)
    found = scored(y, [fit.labels_ for fit in fits])
    return [
        {
            "samples": len(y),
            "clusters": k,
            **found,
            "reliability": 100 * fmean(float(fit.reliability_) for fit in fits),
            "chosen": int(chosen.n_clusters_),
            "index_chosen": 100 * float(ari(y, chosen.labels_)),
            "reliability_chosen": 100 * float(chosen.reliability_),
            "times": len(SEEDS) * seconds_auto / seconds,
            "rivals": beside(views, y, k),
        }
    ]


def scored(y: np.ndarray, labellings: Iterable[np.ndarray]) -> dict[str, float]:
    """Return accuracy and adjusted Rand index times 100, means over clusterings."""
    labellings = list(labellings)
    scores = {"accuracy": accuracy, "index": ari}
    return {name: 100 * fmean(float(score(y, labels)) for labels in labellings) for name, score in scores.items()}


def beside(views: Sequence[Matrix], y: np.ndarray, k: int) -> dict[str, float]:
    """Return the accuracy of scikit-learn, on rows as given and of unit length, views side by side."""
    found = {}
    for (name, make), unit in product(MAKES.items(), (False, True)):
        X = side_by_side(views, unit=unit)
        labels = [make(k, seed).fit_predict(X) for seed in SEEDS]
        found[name + ", unit rows" * unit] = scored(y, labels)["accuracy"]
    return found


def by_kind(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of every kind of data that there is."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(KIND_OF.get(row["job"], "others"), []).append(row)
    return found


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    lines: list[list[Any]] = []
    for kind, own in by_kind(rows).items():
        rival = max(fmean(row["rivals"][name] for row in own) for name in own[0]["rivals"])
        means = [fmean(row[what] for row in own) for what in ("index", "index_chosen", "accuracy")]
        lines.append([kind, len(own), *means, rival])
    totals = [fmean(line[at] for line in lines) for at in range(2, 6)]
    lines.append(["mean of kinds", len(rows), *totals])
    header = ["kind", "sets", "index", 'index, "auto"', "accuracy", "scikit-learn"]
    figures, chosen = ("job", "samples", "clusters", "index", "accuracy"), ("reliability", "chosen", "index_chosen")
    names = ["data", *figures[1:], *rows[0]["rivals"], "reliability", "chosen", "index then"]
    every = [
        [*(row[name] for name in figures), *row["rivals"].values(), *(row[name] for name in chosen)] for row in rows
    ]
    return [*table(header, lines), "", *summary(rows), "", "## Every data set", "", *table(names, every)]


def summary(rows: Sequence[Row]) -> list[str]:
    """Return the figures that stand for many data sets."""
    told = []
    for title, names in GROUPS.items():
        if own := [row for row in rows if row["job"] in names]:
            means = [fmean(row[what] for row in own) for what in ("index", "index_chosen", "accuracy")]
            told.append(
                f'- {title} ({len(own)}): index {means[0]:.1f}, with "auto" {means[1]:.1f}; accuracy {means[2]:.1f}.'
            )
    times = [row["times"] for row in rows]
    told.append(
        f'- `n_clusters="auto"`: {_hits(rows)}, in {median(times):.0f} times the time of a fit (median; largest '
        f"{max(times):.0f})."
    )
    for given, (reliability, index) in {
        "the true number": ("reliability", "index"),
        "a chosen one": ("reliability_chosen", "index_chosen"),
    }.items():
        rank = stats.spearmanr([row[reliability] for row in rows], [row[index] for row in rows]).statistic
        told.append(f"- Rank correlation of `reliability_` and index over all sets, with {given}: {rank:.2f}.")
    return told


def _hits(rows: Sequence[Row]) -> str:
    """Tell how often the chosen number is within 15 % of the true one, or one from it."""

    def near(rows: Iterable[Mapping[str, Any]]) -> str:
        hits = [abs(row["chosen"] - row["clusters"]) <= max(1, 0.15 * row["clusters"]) for row in rows]
        return f"{sum(hits)} of {len(hits)}"

    real = near([row for row in rows if row["job"] in REAL])
    return f"within 15 % of the true number, or one, on {near(rows)} sets, {real} real ones"
