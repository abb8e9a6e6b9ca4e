"""``python -m benchmarks.cost``: a model of time, memory and messages of ``LandmarkLKG``, checked and extended.

Its constants come from the two smallest fits in results/scale.json, and from the undisturbed fit on two workers in
results/scale_dask.json; the model then predicts the larger fits, which are measured, and a much larger one, which is
not. Both files are written by ``make bench-scale``, without and with ``BENCH_ARGS=--dask``.
"""

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu import RESULTS
from benchmarks.report import describe, markdown_table
from benchmarks.rings import N_CLUSTERS, N_FEATURES, STEPS
from benchmarks.scale_dask import chunk_rows
from kernelbraid.blocks.dask_parts import FAN_IN
from kernelbraid.estimators.landmarks.estimator import SUBSAMPLE
from kernelbraid.estimators.landmarks.pick import DEFAULT_LANDMARKS, POOL

SINGLE, DOUBLE = 4, 8  # bytes of a number
EDGES = 5  # of a sample, the default
PASSES = 2  # of a fit over the samples
LARGE, WORKERS = 100_000_000, 16  # samples and workers that the model is extended to
LARGE_CHUNKS = (50_000, 500_000)
BANDWIDTH = 1e9  # bytes a second, of the network of a worker and of the storage as a whole: assumed, not measured


@dataclass(frozen=True)
class Problem:
    """The size of a fit."""

    n: int  # samples
    d: int = N_FEATURES
    p: int = DEFAULT_LANDMARKS
    k: int = N_CLUSTERS
    r: int = EDGES

    def flops(self) -> dict[str, float]:
        """Return the floating-point operations of the products in each step; passes over kernels are not counted."""
        pool = min(POOL * self.p, self.n)
        return {
            "_choose": 2 * pool * self.p * self.d * 11,  # once to spread them, ten times to settle
            "_learn": 8 * self.p**3,
            "_express": self.n * (2 * self.d * self.p + 4 * self.p**2),
            "_embed": 9 * self.p**3 + self.n * (self.r**2 + 2 * self.r * self.k),
            "_cluster": 12 * self.n * 4 * self.k**2,
        }

    def own_bytes(self) -> float:
        """Return the memory that grows with the samples: edges, and coordinates in parts and as one array."""
        return self.n * (self.r * 2 * SINGLE + self.k * 2 * SINGLE)

    def blocks(self, chunk: int) -> int:
        """Return the number of blocks on a cluster."""
        return math.ceil(self.n / chunk)

    def tasks(self, chunk: int, lloyd: int) -> float:
        """Return the calls of a fit on a cluster, with so many Lloyd's steps: one a block and step, and the sums."""
        b = self.blocks(chunk)
        tree = sum(math.ceil(b / FAN_IN**level) for level in range(1, 1 + math.ceil(math.log(max(b, 2), FAN_IN))))
        once = 2 * b  # read, take the sample
        again = 2 * b + b + tree + 2 * b  # read, edges, reduction, its sum, placing as an array
        return once + again + b + (lloyd + 1) * (b + tree + 1) + 2 * b  # a part, the steps, their order, labels

    def sent_bytes(self, chunk: int, workers: int, lloyd: int) -> float:
        """Return the bytes that workers send if it moves no block: sums, the model, the sample, and coordinates."""
        b = self.blocks(chunk)
        sums = b * (self.p**2 + self.p + (lloyd + 1) * (self.k**2 + self.k)) * DOUBLE * (1 - 1 / workers)
        sums += (workers - 1) * self.model_bytes()  # from the first that has it to the others
        return sums + POOL * self.p * self.d * SINGLE + SUBSAMPLE * self.k * SINGLE

    def model_bytes(self) -> float:
        """Return what every worker receives: landmarks, and four matrices of their kernels and graph."""
        return (self.p * self.d + 4 * self.p**2) * DOUBLE


@dataclass(frozen=True)
class Line:
    """A quantity that grows linearly with the number of samples."""

    start: float
    slope: float

    @classmethod
    def through(cls, rows: list[dict[str, Any]], values: list[float]) -> "Line":
        """Return the line through two fits."""
        (a, b), (x, y) = (row["n"] for row in rows), values
        slope = (y - x) / (b - a)
        return cls(x - slope * a, slope)

    def at(self, n: float) -> float:
        """Return the value for so many samples."""
        return self.start + self.slope * n


def main() -> None:
    """Check and extend the model, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=RESULTS, help="folder of the results, benchmarks/results")
    folder = parser.parse_args().folder
    scale, dask = (json.loads((folder / f"{name}.json").read_text()) for name in ("scale", "scale_dask"))
    page = assemble(scale, dask)
    (folder / "cost.md").write_text(page, encoding="utf-8")
    print(page)


def assemble(scale: dict[str, Any], dask: dict[str, Any]) -> str:
    """Return the page."""
    parts = [
        "# Cost model, checked and extended",
        f"From `scale.json` ({scale['machine']['date']}, commit {scale['machine']['commit']}) and `scale_dask.json` "
        f"(commit {dask['machine']['commit']}): {describe(scale['machine'])} Command: `python -m benchmarks.cost`.",
        "## One process, two threads",
        "Lines through the two smallest fits predict the others: seconds, and memory that is not of the file. The "
        "memory that grows with the samples is predicted by counting, not by a line.",
        process_table(scale["rows"]),
        "Products of each step at the largest size, in billions of operations, and what of them a second of the step "
        "did; passes over kernels, sorting and copying take the rest of the time.",
        flops_table(scale["rows"][-1]),
        "## Two workers",
        dask_table(dask),
        f"## {LARGE // 10**6} million samples on {WORKERS} workers, by the model",
        large_table(dask),
    ]
    return "\n\n".join(parts) + "\n"


def process_table(rows: list[dict[str, Any]]) -> str:
    """Return predicted and measured seconds and memory by the number of samples."""
    two = rows[:2]
    seconds = {step: Line.through(two, [row["steps"][step] for row in two]) for step in STEPS}
    rest = Line.through(two, [row["seconds"] - sum(row["steps"].values()) for row in two])
    memory = two[1]["own_growth_bytes"] - Problem(two[1]["n"]).own_bytes()
    cells = []
    for row in rows:
        told = sum(line.at(row["n"]) for line in (*seconds.values(), rest))
        own = memory + Problem(row["n"]).own_bytes()
        known = row in two
        cells.append([f"{row['n']:,}".replace(",", " "), f"{told:.1f}", f"{row['seconds']:.1f}"])
        cells[-1] += ["given" if known else f"{100 * (told / row['seconds'] - 1):+.0f} %"]
        cells[-1] += [f"{own / 1e6:.0f}", f"{row['own_growth_bytes'] / 1e6:.0f}"]
    header = ["samples", "seconds by the model", "measured", "difference", "memory by the model (MB)", "measured (MB)"]
    return markdown_table(header, cells)


def flops_table(row: dict[str, Any]) -> str:
    """Return the operations of each step."""
    flops = Problem(row["n"]).flops()
    cells = [
        [
            title,
            f"{flops[step] / 1e9:.1f}",
            f"{row['steps'][step]:.1f}",
            f"{flops[step] / row['steps'][step] / 1e9:.1f}",
        ]
        for step, title in STEPS.items()
    ]
    return markdown_table(["step", "operations (1e9)", "seconds", "1e9 a second"], cells)


def lloyd_steps(problem: Problem, chunk: int, tasks: int) -> int:
    """Return the number of Lloyd's steps with which the model comes closest to a measured number of tasks."""
    return int(np.argmin([abs(problem.tasks(chunk, steps) - tasks) for steps in range(11)]))


def dask_table(dask: dict[str, Any]) -> str:
    """Return predicted and measured messages of the undisturbed fit."""
    row = undisturbed(dask)
    problem, chunk = Problem(dask["n"]), chunk_rows(dask["n"])
    lloyd = lloyd_steps(problem, chunk, row["tasks"])
    sent = problem.sent_bytes(chunk, 2, lloyd)
    cells = [
        ["tasks", f"{problem.tasks(chunk, lloyd):.0f}, with {lloyd} steps of Lloyd", str(row["tasks"])],
        [
            "bytes sent by workers (MB)",
            f"{sent / 1e6:.0f}, if no block of samples is moved",
            f"{row['traffic_bytes'] / 1e6:.0f}",
        ],
        ["microseconds of a worker for a sample", "-", f"{2 * row['seconds'] / dask['n'] * 1e6:.0f}"],
        ["milliseconds for a task that does nothing", "-", f"{1e3 * row['seconds_of_a_task']:.2f}"],
    ]
    return markdown_table(["", "model", "measured"], cells)


def undisturbed(dask: dict[str, Any]) -> dict[str, Any]:
    """Return the fit on workers as they come."""
    return next(row for row in dask["rows"] if row["run"] == "two workers")


def large_table(dask: dict[str, Any]) -> str:
    """Return what a much larger fit would take."""
    row, problem = undisturbed(dask), Problem(LARGE)
    work = 2 * row["seconds"] / dask["n"] * LARGE / WORKERS
    reading = PASSES * LARGE * problem.d * SINGLE / BANDWIDTH
    header = ["rows of a block", *(f"{chunk:,}".replace(",", " ") for chunk in LARGE_CHUNKS)]
    blocks = [problem.blocks(chunk) for chunk in LARGE_CHUNKS]
    tasks = [problem.tasks(chunk, 10) for chunk in LARGE_CHUNKS]
    sent = [problem.sent_bytes(chunk, WORKERS, 10) for chunk in LARGE_CHUNKS]
    lines: list[tuple[str, list[str]]] = [
        ("blocks", [str(count) for count in blocks]),
        ("work of each worker (s)", [f"{work:.0f}"] * 2),
        (f"reading twice from storage of {BANDWIDTH / 1e9:g} GB/s, at the same time (s)", [f"{reading:.0f}"] * 2),
        ("tasks", [f"{count:.0f}" for count in tasks]),
        (
            "time of the scheduler for them, at the same time (s)",
            [f"{row['seconds_of_a_task'] * t:.0f}" for t in tasks],
        ),
        ("sent by all workers (GB)", [f"{count / 1e9:.2f}" for count in sent]),
        (f"time of that at {BANDWIDTH / 1e9:g} GB/s a worker (s)", [f"{s / BANDWIDTH / WORKERS:.1f}" for s in sent]),
        ("received by each worker before (MB)", [f"{problem.model_bytes() / 1e6:.0f}"] * 2),
        ("kept by each worker: edges and coordinates (GB)", [f"{problem.own_bytes() / WORKERS / 1e9:.2f}"] * 2),
        (
            "a block of samples in the memory of a worker (MB)",
            [f"{c * problem.d * SINGLE / 1e6:.0f}" for c in LARGE_CHUNKS],
        ),
        ("labels, if they are fetched (GB)", [f"{LARGE * DOUBLE / 1e9:.1f}"] * 2),
        ("coordinates, if they are fetched (GB)", [f"{LARGE * problem.k * SINGLE / 1e9:.1f}"] * 2),
    ]
    return markdown_table(header, [[name, *values] for name, values in lines])


if __name__ == "__main__":
    main()
