"""How far confidence and outlier scores can be trusted: ``python -m benchmarks.confidence``.

Labels of the defaults, with the true number of clusters, are matched to classes once, on all samples. The most
confident half of them should be right more often than all, and the risk, the share of wrong labels among those that are
kept, should fall with every label that is dropped: the area under the curve of risk over coverage is its mean. The same
labels are ordered by three simple rules and by the posterior of a diagonal mixture of Gaussians in the same embedding.

Outliers are rows drawn uniformly in the box of the data, 5 % of them. KERNELBRAID_DATA names the folder with the data
sets of the paper and, in its folder dev, with more.
"""

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import average_precision_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from threadpoolctl import threadpool_limits

from benchmarks.judge import REAL
from kernelbraid import LKG, LandmarkLKG
from kernelbraid.datasets import load, npz
from kernelbraid.learning.confidence import of_labels, one_hot, walked, without_loops
from kernelbraid.metrics.counts import contingency

RESULT = Path(__file__).parent / "results" / "confidence.md"
PAPER = (*REAL["faces"], *REAL["letters"], *REAL["texts"])
MORE = (*REAL["more faces"], *REAL["more texts"], *REAL["genes"])
VIEWS = ("webkb203", "ngs", "bbc", "leaves100", "movies", "proteinfold", "prokaryotic")
SEEDS = (0, 1, 2)
SHARE = 0.05  # of rows that are no samples
MINE = "confidence_"
RULES = (MINE, "neighbours", "two steps", "margin", "mixture")
Row = dict[str, Any]


def read(name: str) -> tuple[Any, np.ndarray]:
    """Return samples, in one view or several, and classes of a data set."""
    if name in PAPER:
        dataset = load(name)
        return dataset.views[0], dataset.y
    content = npz.read(npz.data_folder() / "dev" / f"{name}.npz")
    views = content.views
    return views[0] if len(views) == 1 else list(views), np.unique(content.y, return_inverse=True)[1]


def is_right(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Tell which labels are right when clusters are matched to classes, one to one."""
    classes, clusters = linear_sum_assignment(contingency(y, labels), maximize=True)
    class_of = np.full(int(labels.max()) + 1, -1)
    class_of[clusters] = classes
    return np.asarray(class_of[labels] == y)


def gain(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the accuracy of the most confident half minus that of all, in points."""
    best = np.argsort(-sure, kind="stable")[: len(sure) // 2]
    return 100 * float(right[best].mean() - right.mean())


def risk(sure: np.ndarray, right: np.ndarray) -> float:
    """Return the area under the curve of the share of wrong labels over the share of labels that are kept."""
    wrong = ~right[np.argsort(-sure, kind="stable")]
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


def orders(model: LKG, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the confidence of labels by every rule."""
    labels, k = np.asarray(model.labels_), model.n_clusters_
    yield MINE, model.confidence_
    edges = without_loops(model.graph_)
    given = one_hot(labels, k)
    sums = np.asarray(edges.sum(axis=1)).ravel()
    yield "neighbours", of_labels(sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ (edges @ given), labels)
    yield "two steps", of_labels(walked(model.graph_, given), labels)
    X = np.asarray(model.embedding_, dtype=float)
    centres = np.stack([X[labels == label].mean(axis=0) for label in range(k)])
    distances = np.sort(np.sqrt(((X[:, None, :] - centres[None]) ** 2).sum(axis=2)), axis=1)
    yield "margin", distances[:, 1] - distances[:, 0]
    mixture = GaussianMixture(k, covariance_type="diag", random_state=seed).fit(X)
    yield "mixture", mixture.predict_proba(X).max(axis=1)


def judge(name: str) -> Row:
    """Return means over seeds of what was measured on a data set."""
    X, y = read(name)
    found: list[Row] = []
    for seed in SEEDS:
        model = LKG(int(y.max()) + 1, random_state=seed).fit(X)
        right = is_right(y, np.asarray(model.labels_))
        sure = dict(orders(model, seed))
        gains = {f"gain {rule}": gain(sure[rule], right) for rule in RULES}
        risks = {f"risk {rule}": risk(sure[rule], right) for rule in RULES}
        found.append({"accuracy": 100 * float(right.mean()), **gains, **risks})
    return {"name": name, **{key: fmean(row[key] for row in found) for key in found[0]}}


def polluted(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples among rows that are drawn uniformly in their box, and which those are."""
    rng = np.random.default_rng(seed)
    n = round(SHARE * len(X))
    rows = np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (n, X.shape[1]))])
    order = rng.permutation(len(rows))
    return rows[order], (np.arange(len(rows)) >= len(X))[order]


def outlier_sets(seed: int) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield samples, and the number of their clusters."""
    yield "digits", load_digits().data, 10
    yield "ten blobs", make_blobs(1000, n_features=10, centers=10, random_state=seed)[0], 10
    yield "yale", np.asarray(load("yale").views[0], dtype=float), 15


def judge_outliers() -> list[Row]:
    """Return the average precision of outlier scores on every set, one row per seed."""
    found = []
    for seed in SEEDS:
        for name, X, k in outlier_sets(seed):
            rows, is_out = polluted(X, seed)
            scores = {
                "LKG": LKG(k, random_state=seed).fit(rows).outlier_scores_,
                "LandmarkLKG": LandmarkLKG(k, random_state=seed).fit(rows).outlier_scores_,
                "LocalOutlierFactor": -LocalOutlierFactor().fit(rows).negative_outlier_factor_,
                "HDBSCAN": 1 - HDBSCAN(copy=True).fit(rows).probabilities_,
            }
            precision = {rule: float(average_precision_score(is_out, score)) for rule, score in scores.items()}
            found.append({"name": name, "seed": seed, **precision})
    return found


def table(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(map(str, line))} |" for line in (header, ["---"] * len(header), *lines)]


def report(rows: Sequence[Row], outliers: Sequence[Row]) -> str:
    """Return both tables and what they say."""
    names = {"all": [row["name"] for row in rows], "paper": PAPER, "more": MORE, "views": VIEWS}
    by_name = {row["name"]: row for row in rows}

    def line(title: str, row: Mapping[str, Any]) -> list[str]:
        gains = [f"{row[f'gain {rule}']:.1f}" for rule in RULES]
        return [title, f"{row['accuracy']:.1f}", *gains, *(f"{row[f'risk {rule}']:.3f}" for rule in (MINE, "mixture"))]

    keys = [key for key in rows[0] if key != "name"]
    means = [
        (f"mean, {kind}", {key: fmean(by_name[name][key] for name in chosen if name in by_name) for key in keys})
        for kind, chosen in names.items()
        if any(name in by_name for name in chosen)
    ]
    better = sum(row[f"risk {MINE}"] < row["risk mixture"] for row in rows)
    header = ["data set", "accuracy", *(f"half: {rule}" for rule in RULES), f"area: {MINE}", "area: mixture"]
    rules = [key for key in outliers[0] if key not in ("name", "seed")]
    of_sets = {
        name: [row for row in outliers if row["name"] == name] for name in dict.fromkeys(r["name"] for r in outliers)
    }
    return "\n".join(
        [
            "# Confidence",
            "",
            f"LKG with its defaults and the true number of clusters, means over {len(SEEDS)} seeds. `half`: accuracy "
            "of the most confident half minus that of all, in points; `area`: under the curve of risk over coverage, "
            "lower is better. Command: `python -m benchmarks.confidence`.",
            "",
            *table(header, [line(row["name"], row) for row in rows] + [line(*mean) for mean in means]),
            "",
            f"The area is smaller than that of the mixture on {better} of {len(rows)} sets.",
            "",
            "## Outliers",
            "",
            f"Average precision with {SHARE:.0%} rows drawn uniformly in the box of the data, means over {len(SEEDS)} "
            "seeds; HDBSCAN by one minus its probabilities.",
            "",
            *table(
                ["data set", *rules],
                [
                    [name, *(f"{fmean(r[rule] for r in of_set):.4f}" for rule in rules)]
                    for name, of_set in of_sets.items()
                ],
            ),
            "",
        ]
    )


def main() -> None:
    """Measure, print the tables, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets; all by default, and only then a file is written")
    names = parser.parse_args().names
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [judge(name) for name in names or (*PAPER, *MORE, *VIEWS)]
        told = report(rows, judge_outliers())
    print(told)
    if not names:
        RESULT.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
