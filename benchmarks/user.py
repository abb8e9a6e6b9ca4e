"""What people call first, in units of what they use now: ``make bench-user`` writes the tables.

Times are in units of scikit-learn's ``SpectralClustering(affinity="nearest_neighbors")`` on the same samples, each call
in turn, best of several, one thread of BLAS: digits with rows of unit length. Then the size of a fitted model, and TDT2
(time on all cores, memory beside the input) if the folder KERNELBRAID_DATA holds it. ``--against FOLDER`` measures
another checkout in the same run; a job is a process of its own.
"""

import argparse
import gc
import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import MemoryMeter, describe_machine, timed

OUT = Path(__file__).parent / "results"
ROOT = Path(__file__).resolve().parents[1]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
OURS, THEIRS = "here", "before"
# Calls of digits: samples, repetitions.
CALLS = {
    "LKG(10)": [(1797, 7), (1000, 7)],
    "LKGSearch(10)": [(1000, 2)],
    'LKG("auto")': [(1000, 2)],
}
VIEWS, SAMPLES, COLUMNS = 3, 5000, 30  # of the model that is saved


def digits(n: int) -> np.ndarray:
    """Return samples of scikit-learn's digits with rows of unit length."""
    from sklearn.datasets import load_digits

    X = load_digits().data[:n]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def call(name: str, n: int, repeat: int) -> dict[str, Any]:
    """Time a call and scikit-learn's in turn, and return the best of both."""
    from sklearn.cluster import SpectralClustering

    from kernelbraid import LKG, LKGSearch

    X = digits(n)
    models = {"LKG(10)": LKG(10), "LKGSearch(10)": LKGSearch(10), 'LKG("auto")': LKG("auto")}
    theirs = SpectralClustering(10, affinity="nearest_neighbors", random_state=0)
    ours = models[name].set_params(random_state=0)
    theirs.fit(X)
    LKG(10, random_state=0).fit(X[:200])
    unit, best = np.inf, np.inf
    for _ in range(repeat):
        unit = min(unit, *(timed(theirs.fit, X)[0] for _ in range(5)))
        best = min(best, timed(ours.fit, X)[0])
    return {"call": name, "n": n, "unit_seconds": unit, "seconds": best, "units": best / unit}


def model_size() -> dict[str, Any]:
    """Return the bytes of a fitted model as a pickle and as a file, and whether both label new samples alike."""
    from kernelbraid import LKG, load_model, save_model

    rng = np.random.default_rng(0)
    centres = rng.normal(scale=3, size=(VIEWS, 5, COLUMNS))
    y = rng.integers(5, size=SAMPLES + 100)
    views = [centre[y] + rng.normal(size=(len(y), COLUMNS)) for centre in centres]
    fitted, new = [view[:SAMPLES] for view in views], [view[SAMPLES:] for view in views]
    seconds, model = timed(LKG(5, random_state=0).fit, fitted)
    content = pickle.dumps(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save_model(model, path)
        size, loaded = path.stat().st_size, load_model(path)
    alike = all((copy.predict(new) == model.predict(new)).all() for copy in (pickle.loads(content), loaded))
    return {"pickle_bytes": len(content), "file_bytes": size, "seconds": seconds, "predicts_alike": bool(alike)}


def tdt2() -> dict[str, Any]:
    """Return seconds and peak memory of a fit of TDT2, in n^2 floats beside the input."""
    from kernelbraid import LKG
    from kernelbraid.datasets import load

    warnings.simplefilter("ignore")
    X = load("tdt2").X
    LKG(2, random_state=0).fit(digits(200))
    gc.collect()
    with MemoryMeter() as meter:
        seconds, _ = timed(LKG(30, random_state=0).fit, X)
    return {"n": X.shape[0], "seconds": seconds, "matrices": meter.growth / (8 * X.shape[0] ** 2)}


JOBS = {"call": call, "model_size": model_size, "tdt2": tdt2}


def run_job(name: str, arguments: list[Any], root: Path, threads: dict[str, str]) -> dict[str, Any]:
    """Run a job in a process of its own, with the package of a checkout."""
    path = os.pathsep.join([str(root / "src"), str(ROOT)])
    environment = os.environ | threads | {"PYTHONPATH": path, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-m", "benchmarks.user", "--job", json.dumps([name, arguments])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(f"{name} {arguments} failed: {done.stderr.strip()}")
    return dict(json.loads(done.stdout))


def measure(roots: dict[str, Path], *, quick: bool) -> dict[str, Any]:
    """Run all jobs for every checkout."""
    calls = [[name, n, repeat] for name, sizes in CALLS.items() for n, repeat in sizes]
    calls = [[name, 300, 1] for name in CALLS] if quick else calls
    found: dict[str, Any] = {"machine": describe_machine(), "calls": [], "model": [], "tdt2": []}
    for whose, root in roots.items():
        for arguments in calls:
            found["calls"].append({"whose": whose, **run_job("call", arguments, root, ONE_THREAD)})
            print(found["calls"][-1], flush=True)
        if quick:
            continue
        found["model"].append({"whose": whose, **run_job("model_size", [], root, {})})
        print(found["model"][-1], flush=True)
        if "KERNELBRAID_DATA" in os.environ:
            threads = dict.fromkeys(ONE_THREAD, str(os.cpu_count()))
            found["tdt2"].append({"whose": whose, **run_job("tdt2", [], root, threads)})
            print(found["tdt2"][-1], flush=True)
    return found


def write(found: dict[str, Any]) -> None:
    """Write the tables for people and for programs."""
    (OUT / "user.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    lines = ["# What people call first", "", "<!-- tables -->", ""]
    lines += ["Units of scikit-learn's neighbour spectral clustering; one thread.", ""]
    lines += ["| Call | n | Checkout | Seconds | Unit, seconds | Units |", "| --- | ---: | --- | ---: | ---: | ---: |"]
    for row in found["calls"]:
        figures = f"{row['seconds']:.3f} | {row['unit_seconds']:.4f} | {row['units']:.1f}"
        lines.append(f"| `{row['call']}` | {row['n']} | {row['whose']} | {figures} |")
    if found["model"]:
        lines += ["", f"A model of {SAMPLES} samples in {VIEWS} views of {COLUMNS} columns:", ""]
        lines += ["| Checkout | Pickle, MB | File, MB | Fit, seconds |", "| --- | ---: | ---: | ---: |"]
        for row in found["model"]:
            sizes = f"{row['pickle_bytes'] / 1e6:.1f} | {row['file_bytes'] / 1e6:.1f}"
            lines.append(f"| {row['whose']} | {sizes} | {row['seconds']:.1f} |")
    if found["tdt2"]:
        lines += ["", "TDT2, `LKG(30)`, all cores; memory beside the input in n^2 floats:", ""]
        lines += ["| Checkout | Seconds | Memory |", "| --- | ---: | ---: |"]
        lines += [f"| {row['whose']} | {row['seconds']:.1f} | {row['matrices']:.2f} |" for row in found["tdt2"]]
    (OUT / "user.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Measure everything, or do one job and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout of the project, measured in the same run")
    parser.add_argument("--quick", action="store_true", help="small samples, once each, nothing written")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job is not None:
        name, arguments = json.loads(asked.job)
        print(json.dumps(JOBS[name](*arguments)))
        return
    roots = {OURS: ROOT} if asked.against is None else {OURS: ROOT, THEIRS: asked.against.resolve()}
    found = measure(roots, quick=asked.quick)
    if not asked.quick:
        write(found)


if __name__ == "__main__":
    main()
