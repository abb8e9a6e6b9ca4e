"""Graphs on the simplex (SSR, SCSK, SCMK): ``python -m benchmarks.twins --against FOLDER`` measures two checkouts.

A job is a process of its own with one thread of BLAS: one fit with all restarts of k-means, kernels formed by the fit.
Seconds are those of the processor, so that other work on the machine counts less. Needs tr41.npz, ar.npz and ba.npz in
the folder KERNELBRAID_DATA.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.report import describe, markdown_table
from benchmarks.user import ONE_THREAD, OURS, ROOT, THEIRS

OUT = Path(__file__).parent / "results"
# Method, data, parameters.
FITS: list[tuple[str, str, dict[str, Any]]] = [
    ("SCMK", "tr41", {"alpha": 0.01, "beta": 1e-4}),
    ("SCMK", "ba", {"alpha": 0.01, "beta": 1e-4}),
    ("SCMK", "ar", {"alpha": 0.01, "beta": 1e-4}),
    ("SCSK", "tr41", {"alpha": 0.01, "beta": 1e-4, "kernel": "linear"}),
    ("SCSK", "ar", {"alpha": 0.01, "beta": 1e-4, "kernel": "linear"}),
    ("SSR", "tr41", {}),
    ("SSR", "ar", {}),
    ("SSR", "ba", {}),
]
TIMEOUT = 240  # seconds of the clock that a fit may take


def fit(method: str, data: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return time and outcome of a fit."""
    from kernelbraid import MultipleKernelTwinGraph, SimplexGraph, TwinGraph
    from kernelbraid.datasets import load

    warnings.simplefilter("ignore")
    found = load(data)
    make = {"SCMK": MultipleKernelTwinGraph, "SCSK": TwinGraph, "SSR": SimplexGraph}[method]
    model = make(len(set(found.y.tolist())), random_state=0, n_jobs=1, **parameters)
    make(2, random_state=0).fit(found.X[:40])
    start = time.process_time()
    model.fit(found.X)
    return {
        "seconds": time.process_time() - start,
        "n": int(found.X.shape[0]),
        "steps": int(model.n_iter_),
        "status": str(model.status_),
        "objective": float(model.objective_[-1]),
        "labels": model.labels_.tolist(),
    }


def run_job(job: list[Any], root: Path) -> dict[str, Any]:
    """Run a fit in a process of its own, with the package of a checkout; no outcome if it takes too long."""
    path = os.pathsep.join([str(root / "src"), str(ROOT)])
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": path, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-m", "benchmarks.twins", "--job", json.dumps(job)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return {}
    if done.returncode != 0:
        raise RuntimeError(f"{job} failed: {done.stderr.strip()}")
    return dict(json.loads(done.stdout))


def compare(here: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return how the outcomes of two checkouts differ."""
    if not (here and before):
        return {}
    pairs = set(zip(here["labels"], before["labels"], strict=True))
    return {
        "times_faster": before["seconds"] / here["seconds"],
        "objective_change": (here["objective"] - before["objective"]) / abs(before["objective"]),
        "same_clusters": len(pairs) == len(set(here["labels"])) == len(set(before["labels"])),
    }


def measure(against: Path | None, chosen: list[str] | None) -> dict[str, Any]:
    """Run all fits, or some, in both checkouts by turns."""
    rows = []
    for method, data, parameters in FITS:
        if chosen and f"{method}:{data}" not in chosen:
            continue
        found = {OURS: run_job([method, data, parameters], ROOT)}
        if against is not None:
            found[THEIRS] = run_job([method, data, parameters], against)
        row = {"method": method, "data": data, "parameters": parameters, **compare(found[OURS], found.get(THEIRS, {}))}
        row |= {whose: {k: v for k, v in result.items() if k != "labels"} for whose, result in found.items()}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return {"machine": describe_machine(), "rows": rows}


def _seconds(result: dict[str, Any]) -> str:
    """Return the time of a fit, which may not have come to its end."""
    return f"over {TIMEOUT} s" if math.isinf(result.get("seconds", math.inf)) else f"{result['seconds']:.1f}"


def report(results: dict[str, Any]) -> str:
    """Return the page."""
    header = ["method", "data", "n", "setting", "steps", "seconds", "before", "times", "objective", "clusters"]
    cells = []
    for row in results["rows"]:
        here, before = row[OURS] or {"n": "-", "steps": "-", "seconds": math.inf}, row.get(THEIRS)
        setting = ", ".join(f"{key} {value}" for key, value in row["parameters"].items())
        cells.append([row["method"], row["data"].upper(), str(here["n"]), setting or "-", str(here["steps"])])
        cells[-1] += [_seconds(here), "-" if before is None else _seconds(before)]
        if "times_faster" in row:
            alike = "same" if row["same_clusters"] else "other"
            cells[-1] += [f"{row['times_faster']:.1f}", f"{row['objective_change']:+.0e}", alike]
        else:
            cells[-1] += ["-", "-", "-"]
    text = "# Graphs on the simplex\n\n<!-- tables -->\n\nOne fit, one thread, seconds of the processor; beside them "
    text += "another checkout in the same run, how much the objective differs from its, relatively, and whether the "
    text += "clusters are the same.\n\n"
    return text + markdown_table(header, cells) + f"\n\n{describe(results['machine'])}\n"


def main() -> None:
    """Measure everything, or do one job and print its outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout of the project, measured in the same run")
    parser.add_argument("--only", nargs="+", metavar="METHOD:DATA", help="some of the fits, and nothing written")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job is not None:
        print(json.dumps(fit(*json.loads(asked.job))))
        return
    results = measure(None if asked.against is None else asked.against.resolve(), asked.only)
    if not asked.only:
        (OUT / "twins.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        (OUT / "twins.md").write_text(report(results), encoding="utf-8")
    print(report(results))


if __name__ == "__main__":
    main()
