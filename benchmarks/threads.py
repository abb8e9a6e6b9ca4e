"""A default fit on a busy machine, with BLAS left to itself: ``python -m benchmarks.threads`` writes the table.

Every core is kept busy by another process. `LKG(10)` is fitted to 999, 1,000, 2,000 and 4,000 samples in ten blobs, as
it comes and with ``n_jobs=1``: seconds, and seconds of all cores together, best of three. ``--against FOLDER`` measures
another checkout in the same run.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine

OUT = Path(__file__).parent / "results"
ROOT = Path(__file__).resolve().parents[1]
SIZES = (999, 1000, 2000, 4000)
REPEAT = 3
OURS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # what users do not set


def job(n: int, n_jobs: int | None) -> dict[str, Any]:
    """Time a fit by the clock and by the cores."""
    from sklearn.datasets import make_blobs

    from kernelbraid import LKG

    X, _ = make_blobs(n, n_features=20, centers=10, cluster_std=4.0, random_state=0)
    LKG(10, random_state=0, n_jobs=n_jobs).fit(X[:200])
    best = (float("inf"), float("inf"))
    for _ in range(REPEAT):
        start = time.perf_counter(), time.process_time()
        LKG(10, random_state=0, n_jobs=n_jobs).fit(X)
        best = min(best, (time.perf_counter() - start[0], time.process_time() - start[1]))
    return {"n": n, "n_jobs": n_jobs, "seconds": best[0], "of_cores": best[1]}


def run_job(n: int, n_jobs: int | None, root: Path) -> dict[str, Any]:
    """Run a job in a process of its own, with the package of a checkout."""
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    environment["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(ROOT)])
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.threads", "--job", json.dumps([n, n_jobs])]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Run all jobs, or one and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout of the project, measured in the same run")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job is not None:
        print(json.dumps(job(*json.loads(asked.job))))
        return
    roots = {"here": ROOT} | ({} if asked.against is None else {"before": asked.against.resolve()})
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    found = []
    try:
        for whose, root in roots.items():
            for n in SIZES if whose == "here" else SIZES[:3]:
                for n_jobs in (None, 1):
                    found.append({"whose": whose, **run_job(n, n_jobs, root)})
                    print(found[-1], flush=True)
    finally:
        for process in busy:
            process.kill()
    told = {"machine": describe_machine(), "jobs": found}
    (OUT / "threads.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    lines = ["# Threads on a busy machine", "", "<!-- tables -->", ""]
    lines += ["| Checkout | Samples | n_jobs | Seconds | Seconds of all cores |", "| --- | ---: | --- | ---: | ---: |"]
    for row in found:
        figures = f"{row['seconds']:.2f} | {row['of_cores']:.2f}"
        lines.append(f"| {row['whose']} | {row['n']} | {row['n_jobs']} | {figures} |")
    (OUT / "threads.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
