"""Six rings in 64 features, written to a file, and one fit of them by ``LandmarkLKG`` in a fresh process.

Two groups of three rings with a common centre: no cluster is a blob, and a straight line separates only the groups.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.machine import OwnMemory, status_bytes, timed
from kernelbraid import LandmarkLKG

N_CLUSTERS, N_FEATURES = 6, 64
CHUNK = 100_000  # rows that are drawn at a time: 51 MB, whatever the number of samples
# The methods of LandmarkLKG whose time is taken, and what they do; one that is not there is left out.
STEPS = {
    "_choose": "choose landmarks",
    "_learn": "learn on them",
    "_express": "express all samples",
    "_embed": "sum and place",
    "_cluster": "cluster",
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Fit:
    """A fit to measure."""

    samples: str  # .npy file
    classes: str  # .npy file
    labels: str | None = None  # .npy file to write what was found to
    n_jobs: int = 2
    steps: Sequence[str] = tuple(STEPS)


def draw_rings(n: int) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    """Return the rings that samples belong to, and the samples as float32 in chunks of rows.

    One generator of seed 0 draws in this order: the rings of all samples, all angles, the noise of all radii, and the
    noise of the features, row by row. So the samples do not depend on the size of the chunks.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLUSTERS, size=n)
    angle = rng.uniform(0, 2 * np.pi, size=n)
    radius = 1 + 2 * (y % 3) + rng.normal(scale=0.12, size=n)

    def chunks() -> Iterator[np.ndarray]:
        for start in range(0, n, CHUNK):
            rows = slice(start, min(start + CHUNK, n))
            X = rng.normal(scale=0.02, size=(rows.stop - start, N_FEATURES))
            X[:, 0] += radius[rows] * np.cos(angle[rows]) + 12 * (y[rows] // 3)
            X[:, 1] += radius[rows] * np.sin(angle[rows])
            yield X.astype(np.float32)

    return y, chunks()


def write_rings(folder: Path, n: int) -> Fit:
    """Write samples and rings to files of a folder, and return the fit of them."""
    fit = Fit(str(folder / f"samples_{n}.npy"), str(folder / f"classes_{n}.npy"))
    y, chunks = draw_rings(n)
    np.save(fit.classes, y)
    kind = np.lib.format.dtype_to_descr(np.dtype(np.float32))
    with Path(fit.samples).open("wb") as file:  # a memory map would keep all pages resident
        header = {"descr": kind, "fortran_order": False, "shape": (n, N_FEATURES)}
        np.lib.format.write_array_header_1_0(file, header)
        for chunk in chunks:
            file.write(chunk.data)
    return fit


def read_rows(path: str, start: int, stop: int) -> np.ndarray:
    """Return rows of a .npy file; a worker of Dask calls it."""
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def in_fresh_process(module: str, argument: Any) -> Any:
    """Return what a module prints as JSON for an argument; BLAS has one thread there."""
    command = [sys.executable, "-m", module, json.dumps(argument)]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{module} failed for {argument}, exit status {done.returncode}; its message stands above.")
    return json.loads(done.stdout)


def measure_fit(fit: Fit) -> dict[str, Any]:
    """Measure a fit in a process of its own."""
    return in_fresh_process("benchmarks.rings", asdict(fit))


def measure(fit: Fit) -> dict[str, Any]:
    """Fit the file here, and return seconds, peak memory and agreement with the rings."""
    warnings.simplefilter("ignore")
    model = LandmarkLKG(N_CLUSTERS, n_jobs=fit.n_jobs, random_state=0)
    steps = time_methods(model, fit.steps)
    before = status_bytes("VmRSS")
    with OwnMemory() as own:
        seconds, _ = timed(model.fit, fit.samples)
    peak = status_bytes("VmHWM")
    if fit.labels:
        np.save(fit.labels, model.labels_)
    return {
        "n": len(model.labels_),
        "seconds": seconds,
        "peak_bytes": peak,
        "growth_bytes": peak - before,
        "own_growth_bytes": own.growth,
        "ari": float(adjusted_rand_score(np.load(fit.classes), model.labels_)),
        "steps": steps,
    }


def time_methods(model: Any, names: Sequence[str]) -> dict[str, float]:
    """Return a dict that collects the seconds of these methods of one object while they run."""
    found: dict[str, float] = {}

    def clocked(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def run(*arguments: Any, **options: Any) -> Any:
            seconds, result = timed(method, *arguments, **options)
            found[name] = found.get(name, 0.0) + seconds
            return result

        return run

    for name in names:
        if hasattr(model, name):
            setattr(model, name, clocked(name, getattr(model, name)))
    return found


def main() -> None:
    """Measure the fit that the argument describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fit", help="a Fit as JSON")
    print(json.dumps(measure(Fit(**json.loads(parser.parse_args().fit)))))


if __name__ == "__main__":
    main()
