"""Samples that a fit of ``LKG`` has not seen: accuracy of ``predict`` beside that of the fitted ones.

``python -m benchmarks.new_samples [NAME ...]`` fits four fifths of each data set, drawn at random with the shares of
the classes, and predicts the rest. Clusters are matched to classes on the fitted part alone, and the same matching
scores the rest. Beside it, all samples are clustered together and scored in the same way: what is lost there is lost
by the matching, not by the prediction. scikit-learn's k-means and its ``predict`` are measured, too. KERNELBRAID_DATA
names the folder of the data sets.
"""

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split

from benchmarks.cpu import RESULTS
from benchmarks.machine import describe_machine, timed
from benchmarks.report import describe, markdown_table, spread
from kernelbraid import LKG
from kernelbraid.datasets import Dataset, load
from kernelbraid.metrics.counts import contingency

SETS = ("yale", "orl", "tr45", "ba")
SEEDS = tuple(range(10, 30))
REST = 0.2  # share of the samples that are predicted
BAR = 5.0  # points of accuracy that the rest may lie below the fitted part


def main() -> None:
    """Measure, and write the table for people and for programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=SETS, metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for new_samples.json and new_samples.md")
    options = parser.parse_args()
    results: dict[str, Any] = {"machine": describe_machine(), "rows": []}
    for name in options.names:
        dataset = load(name)
        for seed in options.seeds:
            results["rows"].append(measure(dataset, seed))
            print(json.dumps(results["rows"][-1]), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "new_samples.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "new_samples.md").write_text(report(results), encoding="utf-8")
    print(report(results))


def measure(dataset: Dataset, seed: int) -> dict[str, Any]:
    """Split, fit and predict once; the seed is that of the split and of the fit."""
    rows = np.arange(dataset.n_samples)
    fitted, rest = train_test_split(rows, test_size=REST, stratify=dataset.y, random_state=seed)
    model = LKG(n_clusters=dataset.n_clusters, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds_fit, _ = timed(model.fit, dataset.X[fitted])
        seconds_predict, predicted = timed(model.predict, dataset.X[rest])
        kmeans = KMeans(dataset.n_clusters, n_init=20, random_state=seed).fit(dataset.X[fitted])
        together = np.asarray(LKG(n_clusters=dataset.n_clusters, random_state=seed).fit_predict(dataset.X))
    alone, rest_alone = score(dataset, fitted, rest, np.asarray(model.labels_), np.asarray(predicted))
    joint, rest_joint = score(dataset, fitted, rest, together[fitted], together[rest])
    means, rest_means = score(dataset, fitted, rest, kmeans.labels_, kmeans.predict(dataset.X[rest]))
    row = {"set": dataset.name, "seed": seed, "fitted": len(fitted), "rest": len(rest)}
    row |= {"acc_fitted": alone, "acc_rest": rest_alone, "acc_fitted_joint": joint, "acc_rest_joint": rest_joint}
    row |= {"acc_fitted_kmeans": means, "acc_rest_kmeans": rest_means}
    return row | {"seconds_fit": round(seconds_fit, 3), "seconds_predict": round(seconds_predict, 3)}


def score(
    dataset: Dataset, fitted: np.ndarray, rest: np.ndarray, labels: np.ndarray, rest_labels: np.ndarray
) -> list[float]:
    """Return the accuracy in per cent of both parts, with the matching of the first."""
    classes = match(dataset.y[fitted], labels, dataset.n_clusters)
    parts = ((fitted, labels), (rest, rest_labels))
    return [round(100 * float(np.mean(classes[found] == dataset.y[part])), 3) for part, found in parts]


def match(y: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the class of each cluster in the best matching, no class twice; -1 for a cluster without samples."""
    classes, clusters = linear_sum_assignment(contingency(y, labels), maximize=True)
    found = np.full(n_clusters, -1)
    found[np.unique(labels)[clusters]] = np.unique(y)[classes]
    return found


def report(results: dict[str, Any]) -> str:
    """Return the page."""
    header = ["data set", "fitted", "new", "accuracy of the fitted", "of the new", "difference", "verdict"]
    header += ["difference if clustered together", "difference of k-means", "fit (s)", "predict (s)"]
    cells = []
    for name in dict.fromkeys(row["set"] for row in results["rows"]):
        rows = [row for row in results["rows"] if row["set"] == name]
        gap, joint, means = (
            float(np.mean([row[f"acc_rest{which}"] - row[f"acc_fitted{which}"] for row in rows]))
            for which in ("", "_joint", "_kmeans")
        )
        cells.append(
            [
                name,
                str(rows[0]["fitted"]),
                str(rows[0]["rest"]),
                *(spread(rows, key) for key in ("acc_fitted", "acc_rest")),
                f"{gap:+.2f}",
                "pass" if gap >= -BAR else "short",
                f"{joint:+.2f}",
                f"{means:+.2f}",
                *(spread(rows, key) for key in ("seconds_fit", "seconds_predict")),
            ]
        )
    seeds = sorted({row["seed"] for row in results["rows"]})
    text = (
        "LKG as it comes, fitted on four fifths of the samples (a random split with the shares of the classes); "
        f"`predict` gives the rest their clusters. Per cent, mean ± standard deviation over "
        f"{len(seeds)} splits (seeds {seeds[0]} to "
        f"{seeds[-1]}). Clusters "
        "are matched to classes on the fitted part, and the same matching scores the new samples. The bar: at most "
        f"{BAR:g} points below the fitted part. The second difference is that of the same two parts when all samples "
        "are clustered together: it is what the matching costs, as it was chosen on one part. k-means is "
        "scikit-learn's, with its own `predict`, in the same splits."
    )
    return "\n\n".join(["# New samples", text, markdown_table(header, cells), describe(results["machine"])]) + "\n"


if __name__ == "__main__":
    main()
