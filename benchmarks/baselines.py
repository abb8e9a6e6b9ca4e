"""``make bench-baselines``: the nine comparison methods on YALE and JAFFE beside the published figures.

Needs yale_raw.npz and jaffe_raw.npz (grey levels X, classes y) in the folder named by KERNELBRAID_DATA.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.report import describe, markdown_table
from kernelbraid.bench import METHODS
from kernelbraid.kernels import BANKS, build_bank
from kernelbraid.metrics import evaluate

RESULTS = Path(__file__).parent / "results"
SEEDS = 20
# Accuracy and NMI in per cent: best over the twelve kernels (or the only value), then their mean.
PUBLISHED = {
    ("YALE", "KKM"): (47.12, 51.34, 38.97, 42.07),
    ("YALE", "RKKM"): (48.09, 52.29, 39.71, 42.87),
    ("YALE", "SC"): (49.42, 52.92, 40.52, 44.79),
    ("YALE", "MKKM"): (45.70, 50.06, None, None),
    ("YALE", "AASC"): (40.64, 46.83, None, None),
    ("YALE", "RMKKM"): (52.18, 55.58, None, None),
    ("YALE", "SSR"): (54.55, 57.26, None, None),
    ("YALE", "SCSK"): (55.85, 56.50, 45.35, 45.07),
    ("YALE", "SCMK"): (56.97, 56.52, None, None),
    ("JAFFE", "KKM"): (74.39, 80.13, 67.09, 71.48),
    ("JAFFE", "RKKM"): (75.61, 83.47, 67.98, 74.01),
    ("JAFFE", "SC"): (74.88, 82.08, 54.03, 59.35),
    ("JAFFE", "MKKM"): (74.55, 79.79, None, None),
    ("JAFFE", "AASC"): (30.35, 27.22, None, None),
    ("JAFFE", "RMKKM"): (87.07, 89.37, None, None),
    ("JAFFE", "SSR"): (87.32, 92.93, None, None),
    ("JAFFE", "SCSK"): (99.83, 99.35, 86.64, 84.67),
    ("JAFFE", "SCMK"): (100.0, 100.0, None, None),
}
Pair = tuple[float, float]


def main() -> None:
    """Measure, print the table, and write it to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for baselines.json and baselines.md")
    options = parser.parse_args()
    started = time.perf_counter()
    rows = []
    for row in measure():
        rows.append(row)
        print(json.dumps(row), flush=True)
    results = {"machine": describe_machine(), "rows": rows, "minutes": (time.perf_counter() - started) / 60}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "baselines.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "baselines.md").write_text(report(results), encoding="utf-8")
    print(report(results))


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return samples as the published experiments have them, and their classes."""
    with np.load(Path(os.environ["KERNELBRAID_DATA"]) / f"{name.lower()}_raw.npz", allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"].astype(int)
    if name == "YALE":
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def measure() -> Iterator[dict[str, Any]]:
    """Yield one row for every data set and method."""
    for name in ("YALE", "JAFFE"):
        X, y = load(name)
        H = build_bank(X, "rmkkm")
        k = len(set(y.tolist()))

        def seeds(method: str, data: Any, y: np.ndarray = y, k: int = k, **parameters: Any) -> Pair:
            return mean_over_seeds(lambda seed: METHODS[method].make(k, random_state=seed, **parameters), data, y)

        for method, title, more in (
            ("KKM", "KKM", {}),
            ("RKKM", "RKKM", {}),
            ("SC", "SC", {}),
            ("SC", "SC, restarts by inertia", {"restart_score": "inertia"}),
            ("SC", "SC, normalised", {"embedding": "largest"}),
        ):
            each = [seeds(method, K, kernel="precomputed", **more) for K in H]
            yield row_of(name, method, title, "rmkkm", each, note=f"mean of {SEEDS} seeds")
        for method, title, more in (
            ("MKKM", "MKKM", {}),
            ("MKKM", "MKKM, random labels as start", {"init": "partition"}),
            ("AASC", "AASC", {}),
            ("RMKKM", "RMKKM, gamma .5", {"gamma": 0.5}),
        ):
            found = seeds(method, H, kernels="precomputed", **more)
            yield row_of(name, method, title, "rmkkm", [found], note=f"mean of {SEEDS} seeds")
        for title, embedding in (("SSR", "largest"), ("SSR, unnormalised", "unnormalised")):
            found = scores(METHODS["SSR"].make(k, random_state=0, embedding=embedding), X, y)
            yield row_of(name, "SSR", title, "features", [found], note="best of 100 starts")
        yield tuned(name, "SCSK", lambda more, k=k: [{"kernel": kernel, **more} for kernel in BANKS["paper"]], X, y)
        yield tuned(name, "SCMK", lambda more: [{"kernels": "paper", **more}], X, y)


def mean_over_seeds(make: Callable[[int], Any], data: Any, y: np.ndarray) -> Pair:
    """Return mean accuracy and NMI."""
    found = np.mean([scores(make(seed), data, y) for seed in range(SEEDS)], axis=0)
    return float(found[0]), float(found[1])


def scores(model: Any, data: Any, y: np.ndarray) -> Pair:
    """Return accuracy and NMI in per cent."""
    found = evaluate(y, model.fit(data).labels_)
    return 100 * found["acc"], 100 * found["nmi"]


def tuned(name: str, method: str, settings: Callable[..., list[dict[str, Any]]], X: Any, y: np.ndarray) -> dict:
    """Return the row of a method tuned with labels over the grid of the registry."""
    k = len(set(y.tolist()))
    grids = []
    for tuning in METHODS[method].tunings():
        each = [scores(METHODS[method].make(k, random_state=0, **more), X, y) for more in settings(tuning)]
        grids.append((max(pair[0] for pair in each), tuning, each))
    _, tuning, each = max(grids, key=lambda entry: entry[0])
    note = ", ".join(f"{key} {value:g}" for key, value in tuning.items())
    return row_of(name, method, method, "paper", each, note=f"{note}; best of {len(grids)} settings by label")


def row_of(name: str, method: str, title: str, bank: str, each: list[Pair], note: str) -> dict[str, Any]:
    """Return best and mean over the kernels."""
    values = np.array(each)
    best, mean = values.max(axis=0), values.mean(axis=0)
    row = {"data": name, "method": method, "title": title, "bank": bank, "acc": best[0], "nmi": best[1], "note": note}
    if len(each) > 1:
        row |= {"acc_mean": mean[0], "nmi_mean": mean[1]}
    return {key: round(float(value), 2) if isinstance(value, float) else value for key, value in row.items()}


def report(results: dict[str, Any]) -> str:
    """Return the page."""
    header = ["data", "method", "kernels", "accuracy", "published", "NMI", "published", "how"]
    cells = []
    for row in results["rows"]:
        acc, nmi, acc_mean, nmi_mean = PUBLISHED[row["data"], row["method"]]
        ours = [bracketed(row["acc"], row.get("acc_mean")), bracketed(row["nmi"], row.get("nmi_mean"))]
        theirs = [bracketed(acc, acc_mean), bracketed(nmi, nmi_mean)]
        cells.append([row["data"], row["title"], row["bank"], ours[0], theirs[0], ours[1], theirs[1], row["note"]])
    text = "# The nine comparison methods on YALE and JAFFE\n\nPer cent; the mean over the twelve kernels in brackets. "
    text += f"Measured by `make bench-baselines` in {results['minutes']:.1f} minutes.\n\n"
    return text + markdown_table(header, cells) + f"\n\n{describe(results['machine'])}\n"


def bracketed(best: float, mean: float | None) -> str:
    """Return a best value with the mean in brackets."""
    return f"{best:.2f}" if mean is None else f"{best:.2f} ({mean:.2f})"


if __name__ == "__main__":
    main()
