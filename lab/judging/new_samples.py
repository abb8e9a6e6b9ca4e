"""New samples.

LKG as it comes, fitted on four fifths of the samples (a random split with the shares of the classes); `predict` gives
the rest their clusters. Per cent, mean ± standard deviation over 20 splits (seeds 10 to 29). Clusters are matched to
classes on the fitted part, and the same matching scores the new samples. The second difference is that of the same
two parts when all samples are clustered together: it is what the matching costs, as it was chosen on one part.
k-means is scikit-learn's, with its own `predict`, in the same splits.
"""

from collections.abc import Sequence
from statistics import fmean, stdev

import numpy as np
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split

from kernelbraid import LKG
from lab.judging.jobs import Row, table, timed
from lab.judging.samples import matched, read

JOBS = ("yale", "orl", "tr45", "ba")
SPLITS = tuple(range(10, 30))  # seeds, of the split and of the fit
REST = 0.2  # share of the samples that are predicted


def measure(job: str) -> list[Row]:
    """Return one row per split of a data set."""
    (X, *_), y = read(job)
    return [split(X, y, seed) for seed in SPLITS]


def split(X: np.ndarray, y: np.ndarray, seed: int) -> Row:
    """Fit a part and predict the rest, by LKG, by LKG on all samples, and by k-means."""
    fitted, rest = train_test_split(np.arange(len(y)), test_size=REST, stratify=y, random_state=seed)
    model = LKG(int(y.max()) + 1, random_state=seed)
    seconds_fit, _ = timed(model.fit, X[fitted])
    seconds_predict, predicted = timed(model.predict, X[rest])
    together = LKG(model.n_clusters, random_state=seed).fit_predict(X)
    means = KMeans(model.n_clusters, n_init=20, random_state=seed).fit(X[fitted])
    row = {"fitted": len(fitted), "new": len(rest), "fit (s)": seconds_fit, "predict (s)": seconds_predict}
    for way, labels, new_labels in (
        ("", model.labels_, predicted),
        (" together", together[fitted], together[rest]),
        (" k-means", means.labels_, means.predict(X[rest])),
    ):
        classes = matched(y[fitted], labels, model.n_clusters)
        row[f"accuracy{way}"] = 100 * float(np.mean(classes[labels] == y[fitted]))
        row[f"accuracy of new{way}"] = 100 * float(np.mean(classes[new_labels] == y[rest]))
    return row


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    header = ["data set", "fitted", "new", "accuracy of the fitted", "of the new", "difference"]
    header += ["difference if clustered together", "difference of k-means", "fit (s)", "predict (s)"]
    lines = []
    for name in dict.fromkeys(row["job"] for row in rows):
        own = [row for row in rows if row["job"] == name]
        gaps = [
            f"{fmean(row[f'accuracy of new{way}'] - row[f'accuracy{way}'] for row in own):+.2f}"
            for way in ("", " together", " k-means")
        ]
        spreads = [spread(own, key) for key in ("accuracy", "accuracy of new", "fit (s)", "predict (s)")]
        lines.append([name, own[0]["fitted"], own[0]["new"], *spreads[:2], *gaps, *spreads[2:]])
    return table(header, lines)


def spread(rows: Sequence[Row], key: str) -> str:
    """Return mean and standard deviation."""
    values = [row[key] for row in rows]
    return f"{fmean(values):.2f} ± {stdev(values):.2f}"
