"""``make bench-scale``: time, memory and agreement of ``LandmarkLKG`` by the number of samples, six rings from a file.

Every fit has a fresh process and two threads in all: two blocks at a time, one thread of BLAS each. ``--dask`` fits a
Dask array on two workers instead, then once more while one of the two is killed.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import scale_dask
from benchmarks.cpu import RESULTS
from benchmarks.machine import describe_machine
from benchmarks.report import describe, markdown_table, verdict
from benchmarks.rings import STEPS, measure_fit, write_rings

SIZES = (100_000, 200_000, 500_000, 1_000_000, 2_000_000)
QUICK = (2000, 5000, 10_000)
MILLION = 1_000_000  # samples that the targets are about, and those of --dask
EXPONENT, SECONDS, GIGABYTES, ARI = 1.05, 300, 4, 0.95  # targets


def main() -> None:
    """Measure, print the tables, and write them to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, metavar="N", help="numbers of samples instead of the usual five")
    parser.add_argument("--quick", action="store_true", help="few samples, nothing written: a check of the commands")
    parser.add_argument(
        "--dask", type=int, nargs="?", const=0, metavar="N", help="two workers; a million samples if no N"
    )
    parser.add_argument(
        "--steps", nargs="+", default=tuple(STEPS), metavar="METHOD", help="methods whose time is taken"
    )
    parser.add_argument("--out", type=Path, help="folder for the results, benchmarks/results by default")
    options = parser.parse_args()
    started = time.perf_counter()
    results: dict[str, Any] = {"command": _command(options), "machine": describe_machine()}
    if options.dask is None:
        name = "scale"
        sizes = options.sizes or (QUICK if options.quick else SIZES)
        results["rows"] = list(measure(sizes, options.steps))
    else:
        name = "scale_dask"
        results |= scale_dask.measure(options.dask or (QUICK[-1] if options.quick else MILLION))
    results["minutes"] = (time.perf_counter() - started) / 60
    report = (assemble if options.dask is None else scale_dask.assemble)(results)
    print(report)
    folder = options.out or (None if options.quick else RESULTS)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        (folder / f"{name}.md").write_text(report, encoding="utf-8")
        print(f"written: {folder / name}.md")


def measure(sizes: Sequence[int], steps: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one row a number of samples; the files are gone afterwards."""
    for n in sizes:
        with tempfile.TemporaryDirectory(prefix="kernelbraid-") as folder:
            row = measure_fit(replace(write_rings(Path(folder), n), steps=steps))
        print(json.dumps(row), flush=True)
        yield row


def exponent(rows: Sequence[dict[str, Any]], key: str) -> float:
    """Return b of the least-squares fit a n^b, in logarithms."""
    sizes, values = (np.log([row[name] for row in rows]) for name in ("n", key))
    return float(np.polyfit(sizes, values, 1)[0])


def assemble(results: dict[str, Any]) -> str:
    """Return the page."""
    rows = results["rows"]
    text = (
        "Six rings in 64 features, float32, from a .npy file; `LandmarkLKG(6, n_jobs=2, random_state=0)`, one thread "
        "of BLAS, each fit in a fresh process. Peak: resident memory of the whole process, pages of the file that the "
        "system keeps mapped included; growth: over before the fit, and what of it are no pages of the file. "
        "ARI: against the rings."
    )
    head = f"# Many samples\n\n{describe(results['machine'])} Command: `{results['command']}`"
    parts = [f"{head}, {results['minutes']:.1f} minutes.", text, sizes_table(rows)]
    parts += ["## Targets", targets_table(rows), *([remark(rows)] if len(rows) > 1 else [])]
    return "\n\n".join(parts) + "\n"


def remark(rows: Sequence[dict[str, Any]]) -> str:
    """Return how the exponents were found, and two more that leave less to the fixed part of time and memory."""
    last = [f"{exponent(rows[-2:], key):.2f}" for key in ("seconds", "peak_bytes")]
    return (
        f"Exponents are least squares in logarithms over all sizes. Between the last two sizes: time {last[0]}, peak "
        f"memory {last[1]}. The growth of memory over before the fit has the exponent "
        f"{exponent(rows, 'growth_bytes'):.2f} over all sizes."
    )


def sizes_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return seconds, memory and agreement by the number of samples."""
    steps = list(dict.fromkeys(step for row in rows for step in row["steps"]))
    header = [
        "samples",
        "seconds",
        "peak (MB)",
        "growth (MB)",
        "of it no file (MB)",
        "ARI",
        *(f"{STEPS.get(s, s)} (s)" for s in steps),
    ]
    cells = []
    for row in rows:
        memory = [f"{row[key] / 1e6:.0f}" for key in ("peak_bytes", "growth_bytes", "own_growth_bytes")]
        parts = [f"{row['steps'][step]:.1f}" if step in row["steps"] else "-" for step in steps]
        cells.append([f"{row['n']:,}".replace(",", " "), f"{row['seconds']:.1f}", *memory, f"{row['ari']:.4f}", *parts])
    return markdown_table(header, cells)


def targets_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return every target with what was measured; those of a million samples only if there was such a fit."""
    checks: list[tuple[str, float, float, bool]] = [
        ("ARI, lowest of all sizes", min(r["ari"] for r in rows), ARI, True)
    ]
    if len(rows) > 1:
        checks.append(("exponent of time", exponent(rows, "seconds"), EXPONENT, False))
        checks.append(("exponent of peak memory", exponent(rows, "peak_bytes"), EXPONENT, False))
    for row in rows:
        if row["n"] == MILLION:
            checks.append(("a million samples: seconds", row["seconds"], SECONDS, False))
            checks.append(("a million samples: peak memory (GB)", row["peak_bytes"] / 1e9, GIGABYTES, False))
    return markdown_table(["target", "measured", "asked", "verdict"], [verdict(*check) for check in checks])


def _command(options: argparse.Namespace) -> str:
    """Return what was asked for, as one types it."""
    words = ["python -m benchmarks.scale", *map(str, options.sizes)]
    words += ["--quick"] if options.quick else []
    if options.dask is not None:
        words.append(f"--dask {options.dask}" if options.dask else "--dask")
    return " ".join(words)


if __name__ == "__main__":
    main()
