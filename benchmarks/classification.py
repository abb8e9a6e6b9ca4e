"""LKGClassifier against scikit-learn's LabelSpreading, by the share of labels that are known.

``python -m benchmarks.classification`` writes the table: accuracy on the samples without a label, mean over 20 random
splits that keep the shares of the classes, at least one label each.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.semi_supervised import LabelSpreading

from kernelbraid import LKGClassifier
from kernelbraid.datasets import load

SETS = ("yale", "tr45")
SHARES = (0.1, 0.3, 0.5)
SPLITS = 20
OUT = Path(__file__).parent / "results"
METHODS: dict[str, Callable[[], Any]] = {
    "LKGClassifier": LKGClassifier,
    "LabelSpreading, rbf": lambda: LabelSpreading(kernel="rbf"),
    "LabelSpreading, knn": lambda: LabelSpreading(kernel="knn"),
}


def draw_known(y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return the labels with all but a share of each class, at least one, hidden."""
    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        known[members[: max(1, round(share * len(members)))]] = label
    return known


def measure(name: str, share: float) -> dict[str, Any]:
    """Return the mean accuracy of each method on one data set."""
    dataset = load(name)
    X = dataset.X.toarray() if hasattr(dataset.X, "toarray") else dataset.X
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for seed in range(SPLITS):
        known = draw_known(dataset.y, share, seed)
        hidden = known == -1
        for method, make in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                labels = make().fit(X, known).transduction_
            found[method].append(float(np.mean(labels[hidden] == dataset.y[hidden])))
    means = {method: round(100 * float(np.mean(values)), 2) for method, values in found.items()}
    return {"set": name, "known": share, **means}


def main() -> None:
    """Measure all and write the table for people and for programs."""
    rows = [measure(name, share) for name in SETS for share in SHARES]
    (OUT / "classification.json").write_text(json.dumps(rows, indent=1) + "\n")
    lines = [f"| Data set | Known | {' | '.join(METHODS)} |", f"| --- | ---: |{' ---: |' * len(METHODS)}"]
    for row in rows:
        figures = " | ".join(f"{row[method]:.1f}" for method in METHODS)
        lines.append(f"| {row['set']} | {100 * row['known']:.0f} % | {figures} |")
    (OUT / "classification.md").write_text("# Few known labels\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
