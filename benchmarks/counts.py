"""The number of clusters that ``n_clusters="auto"`` chooses, on every data set at hand, beside the number of classes.

``python -m benchmarks.counts [NAME ...]`` goes on where it was stopped: sets that the table has are left out.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from kernelbraid import LKG
from kernelbraid.datasets import load

SETS = ("yale", "jaffe", "orl", "ar", "ba", "tr11", "tr41", "tr45", "tdt2")
OUT = Path(__file__).parent / "results"
SEEDS = (0, 1, 2)


def measure(name: str, seeds: tuple[int, ...]) -> dict[str, Any]:
    """Return the numbers that are chosen with these seeds, and the runners-up of the first."""
    dataset = load(name)
    chosen, seconds, next_best = [], [], []
    for seed in seeds:
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LKG("auto", n_init=1, random_state=seed).fit(dataset.X)
        seconds.append(time.perf_counter() - started)
        chosen.append(int(model.n_clusters_))
        evidence = model.n_clusters_evidence_
        next_best = next_best or [int(evidence["n_clusters"][i]) for i in np.argsort(-evidence["score"])[1:4]]
    row = {"set": name, "samples": dataset.n_samples, "classes": dataset.n_clusters, "chosen": chosen}
    return row | {"next": next_best, "seconds": round(float(np.median(seconds)), 1)}


def is_near(chosen: int, classes: int) -> bool:
    """Tell whether a number is within one or 15 % of the number of classes."""
    return abs(chosen - classes) <= max(1.0, 0.15 * classes)


def write(rows: list[dict[str, Any]]) -> None:
    """Write the table for people and for programs."""
    (OUT / "counts.json").write_text(json.dumps(rows, indent=1) + "\n")
    lines = ["| Data set | Samples | Classes | Chosen (by seed) | Next best | Within 15 % or one |"]
    lines += ["| --- | ---: | ---: | --- | --- | --- |"]
    for row in rows:
        near = [is_near(k, row["classes"]) for k in row["chosen"]]
        verdict = "yes" if all(near) else "no" if not any(near) else f"{sum(near)} of {len(near)} seeds"
        shown = [", ".join(map(str, row[name])) for name in ("chosen", "next")]
        lines.append(f"| {row['set']} | {row['samples']} | {row['classes']} | {shown[0]} | {shown[1]} | {verdict} |")
    (OUT / "counts.md").write_text("# The number of clusters\n\n" + "\n".join(lines) + "\n")


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=SETS, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    asked = parser.parse_args()
    known = OUT / "counts.json"
    rows = json.loads(known.read_text()) if known.exists() else []
    for name in asked.names:
        if all(row["set"] != name for row in rows):
            rows.append(measure(name, SEEDS[: asked.seeds]))
            rows.sort(key=lambda row: SETS.index(row["set"]))
            write(rows)


if __name__ == "__main__":
    main()
