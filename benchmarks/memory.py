"""Peak memory of whole fits, each in a fresh process: growth of resident memory over before ``fit``, X not counted.

Arrays above 32 MB come from the system and go back to it when they are freed, so at n = 2500 (50 MB a matrix) the peak
of resident memory is the peak of what is alive. A fit of 50 samples comes first, so that modules and BLAS buffers,
which every later fit finds loaded, are not counted.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.machine import MemoryMeter
from benchmarks.problems import BANK, METHODS, SETTINGS, Size, draw_samples
from kernelbraid import LKG
from kernelbraid.kernels import BANKS
from kernelbraid.learning.memory import predict_bytes

STEPS = 3  # the third has the routes of all later ones


@dataclass(frozen=True)
class Fit:
    """A fit to measure."""

    n: int
    storage: str  # "lazy" or "stored"
    setting: str
    method: str = "LKGr"
    banks: int = 1  # times that the twelve kernels are repeated


def fits_at(n: int) -> list[Fit]:
    """Return the fits of the memory table."""
    few, every = (setting.name for setting in SETTINGS)
    lazy = [Fit(n, "lazy", few), Fit(n, "lazy", every), Fit(n, "lazy", few, "LKGs"), Fit(n, "lazy", few, banks=2)]
    return [*lazy, Fit(n, "stored", few)]


def growth_fits(sizes: tuple[int, ...]) -> list[Fit]:
    """Return the fits that show how memory grows with n."""
    few = SETTINGS[0].name
    return [Fit(n, storage, few) for n in sizes for storage in ("lazy", "stored")]


def measure_memory(fits: list[Fit], workers: int = 2) -> Iterator[dict[str, Any]]:
    """Yield one row a fit; memory does not mind company, so two processes run at a time."""
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(_in_fresh_process, fits)


def _in_fresh_process(fit: Fit) -> dict[str, Any]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.memory", json.dumps(asdict(fit))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the fit {fit} failed: {done.stderr.strip()}")
    return asdict(fit) | json.loads(done.stdout)


def measure(fit: Fit) -> dict[str, Any]:
    """Run the fit here, and return its peak in bytes and in n^2 numbers."""
    warnings.simplefilter("ignore")  # it stops after three steps and says so
    setting = next(setting for setting in SETTINGS if setting.name == fit.setting)
    model = LKG(
        10,
        preset="authors",
        graph_penalty=METHODS[fit.method],
        alpha=setting.alpha,
        beta=setting.beta,
        gamma=setting.gamma,
        mu=setting.mu,
        kernels=list(BANKS[BANK]) * fit.banks,
        storage=fit.storage,
        max_iter=STEPS,
        tol=0,
        n_init=5,
        random_state=0,
    )
    model.fit(draw_samples(Size("warm-up", 50, 10)))
    del model.graph_, model.kernel_, model.coefficients_, model.auxiliary_graph_
    X = draw_samples(Size("memory", fit.n, 36))
    gc.collect()
    with MemoryMeter() as meter:
        model.fit(X)
    n_kernels = len(model.kernel_names_)
    predicted = predict_bytes(fit.n, n_kernels, 1, 8, stored=fit.storage == "stored")
    return {
        "n_kernels": n_kernels,
        "growth_bytes": meter.growth,
        "matrices": meter.growth / (8 * fit.n**2),
        "predicted_matrices": predicted / (8 * fit.n**2),
        "routes": sorted({*model.history_["graph_route"].tolist(), *model.history_["kernel_route"].tolist()}),
    }


def main() -> None:
    """Measure the fit that the argument describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fit", help="a Fit as JSON")
    print(json.dumps(measure(Fit(**json.loads(parser.parse_args().fit)))))


if __name__ == "__main__":
    main()
