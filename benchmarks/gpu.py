"""``make bench-gpu``: LKGr on TDT2 and a batch of 64 YALE-sized fits on a CUDA device, float64.

The real data are read from ``$KERNELBRAID_SHARED/datasets`` if that folder has them; otherwise synthetic samples of
the same size stand in.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.cpu import RESULTS
from benchmarks.machine import describe_machine, timed
from benchmarks.problems import TDT2, Setting, Size, draw_samples, pose
from benchmarks.report import describe, markdown_table
from kernelbraid._arrays import frobenius_norm, to_device
from kernelbraid.kernels import StoredStack, stack_bank
from kernelbraid.learning.report import OVERSIZE
from kernelbraid.solvers import batch
from kernelbraid.solvers.low_rank import step as low_rank

TDT2_SETTING = Setting("TDT2", alpha=0.01, beta=1.0, gamma=1.0, mu=5.0)
YALE = Size("YALE", 165, 15)
BATCH = 64
REPEATS = 3  # of the batch; the median counts


def main() -> None:
    """Measure on the device, print the tables, and write them to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", help="'cpu' tries the commands without a GPU")
    parser.add_argument(
        "--samples", type=int, default=TDT2.n_samples, help="synthetic samples instead of TDT2's, if fewer"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for gpu.json and gpu.md")
    options = parser.parse_args()
    complaint = missing_device(options.device)
    if complaint:
        print(complaint, file=sys.stderr)
        sys.exit(1)
    results = {"machine": describe_machine() | {"device": device_name(options.device)}}
    results["tdt2"] = measure_tdt2(options.device, options.samples)
    results["batch"] = measure_batch(options.device)
    report = assemble(results)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "gpu.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "gpu.md").write_text(report, encoding="utf-8")
    print(f"{report}\nwritten: {options.out / 'gpu.md'}")


def missing_device(device: str) -> str:
    """Return one sentence if the device cannot be used, nothing if it can."""
    try:
        import torch
    except ImportError:
        return "make bench-gpu needs PyTorch, which is not installed; install a CUDA build of torch."
    if device.startswith("cuda") and not torch.cuda.is_available():
        return "make bench-gpu needs a CUDA device, and PyTorch finds none; run it on a machine with a GPU."
    return ""


def device_name(device: str) -> str:
    """Return the name of the GPU and the version of CUDA."""
    import torch

    return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}" if device.startswith("cuda") else device


def synchronised(function: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Return the seconds until the device has finished, and what the call returned."""
    import torch

    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    wait()

    def run() -> Any:
        result = function()
        wait()
        return result

    return timed(run)


def read_samples(size: Size) -> tuple[Any, str]:
    """Return the real samples if they are there, synthetic ones otherwise, and which."""
    file = Path(os.environ.get("KERNELBRAID_SHARED", "")) / "datasets" / f"{size.name.lower()}.npz"
    if not file.is_file():
        return draw_samples(size), f"synthetic, {size.name}-sized"
    parts = np.load(file, allow_pickle=False)
    if "X" in parts:
        return parts["X"].astype(float), size.name
    csr = (parts["X_data"], parts["X_indices"], parts["X_indptr"])
    return sparse.csr_matrix(csr, shape=tuple(parts["X_shape"])).astype(float), size.name


def store_on(device: str, X: Any, bank: str) -> StoredStack:
    """Return a bank as matrices on the device."""
    return stack_bank(X, bank, place=partial(to_device, name=device)).store()


def measure_tdt2(device: str, n_samples: int) -> dict[str, Any]:
    """Measure the solver alone, kernels and k-means left out, after a short run that loads the device's libraries."""
    X, name = (
        read_samples(TDT2) if n_samples >= TDT2.n_samples else (draw_samples(Size("", n_samples, 30)), "synthetic")
    )
    kernels = store_on(device, X, "paper")
    problem = pose(kernels, TDT2_SETTING, "LKGr")
    start = partial(low_rank.starting_point, kernels, TDT2_SETTING.mu)
    low_rank.solve(problem, start, max_iter=2)
    seen: list[low_rank.Progress] = []

    def watch(n: int, state: low_rank.LowRankState) -> None:
        seen.append(state.progress)

    seconds, solution = synchronised(partial(low_rank.solve, problem, start, watch=watch), device)
    return {
        "data": name,
        "n": kernels.n_samples,
        "seconds": seconds,
        "n_iter": solution.n_iter,
        "status": str(solution.status),
        "graph_routes": Counter(progress.graph_route for progress in seen),
        "kernel_routes": Counter(progress.kernel_route for progress in seen),
        "graph_ranks": [progress.graph_rank for progress in seen],
        "kernel_ranks": [progress.kernel_rank for progress in seen],
    }


def random_settings(count: int, seed: int = 0) -> list[batch.Setting]:
    """Draw settings log-uniformly: alpha 1e-4..1, beta 3e-3..10, gamma .01..10, mu .1..5."""
    random = np.random.default_rng(seed)
    bounds = np.log([[1e-4, 1], [3e-3, 10], [1e-2, 10], [0.1, 5]])
    return [batch.Setting(*np.exp(random.uniform(*bounds.T)).tolist()) for _ in range(count)]


def measure_batch(device: str) -> dict[str, Any]:
    """Measure 64 settings at once, and compare each with its single fit."""
    X, name = read_samples(YALE)
    kernels = store_on(device, X, "rmkkm")
    settings = random_settings(BATCH)
    solve_many = partial(batch.solve_many, kernels, settings)
    batch.solve_many(kernels, settings, max_iter=2)  # loads the device's libraries
    runs = [synchronised(solve_many, device) for _ in range(REPEATS)]
    together = runs[-1][1]
    R = kernels.factor()
    differences, diverged = [], 0
    largest = float(np.linalg.norm(R, axis=0).max())  # ||H_i||_F
    for setting, solution in zip(settings, together, strict=True):
        start = partial(low_rank.starting_point, kernels, setting.mu)
        single = low_rank.solve(setting.problem(kernels, R), start).state
        if frobenius_norm(single.K) > OVERSIZE * largest:
            diverged += 1  # its path depends on the last digit of every number: nothing to compare
            continue
        differences.append(frobenius_norm(solution.state.J - single.J) / frobenius_norm(single.J))
    return {
        "data": name,
        "fits": BATCH,
        "seconds": median(seconds for seconds, _ in runs),
        "steps": sum(solution.n_iter for solution in together),
        "status": Counter(str(solution.status) for solution in together),
        "difference": max(differences),
        "diverged": diverged,
    }


def assemble(results: dict[str, Any]) -> str:
    """Return the tables."""
    tdt2, many = results["tdt2"], results["batch"]
    verdicts = [
        [
            f"LKGr, {tdt2['data']}, n = {tdt2['n']}, {tdt2['n_iter']} iterations: seconds",
            f"{tdt2['seconds']:.1f}",
            "<= 50",
        ],
        [
            f"{many['fits']} settings, {many['data']}, {many['steps']} iterations: seconds",
            f"{many['seconds']:.2f}",
            "<= 2",
        ],
        [
            f"largest relative difference in J from a single fit, without {many['diverged']} fits that diverged",
            f"{many['difference']:.0e}",
            "<= 1e-8",
        ],
    ]
    routes = f"Routes of J: {dict(tdt2['graph_routes'])}; of W: {dict(tdt2['kernel_routes'])}."
    head = f"# GPU\n\n{results['machine']['device']}; {describe(results['machine'])} Command: `make bench-gpu`."
    return "\n\n".join([head, markdown_table(["what", "measured", "asked"], verdicts), routes]) + "\n"


if __name__ == "__main__":
    main()
