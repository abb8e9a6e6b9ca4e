"""Seconds of an iteration, side by side: ours, opponent, ours, opponent, from the same start."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.machine import timed
from benchmarks.opponents import AsPublished, PlainPort, WithExactWeights
from benchmarks.own_calls import copy_state, seconds_of_own_calls
from benchmarks.problems import METHODS, SETTINGS, Setting, Size, evaluate_kernels, pose
from kernelbraid.kernels import StoredStack
from kernelbraid.solvers.low_rank.step import LowRankProblem, Stepper, starting_point


@dataclass(frozen=True)
class Plan:
    """How much to measure. The first step warms up and is not counted: it starts from symmetric matrices."""

    steps: int = 6
    published_at: tuple[int, ...] = (3, 5)  # steps at which the slow opponent (a) is measured, too
    exact_steps: int = 4  # steps with exact weights in (b): that comparison is slow, and rounding shows at once
    steps_two_threads: int = 4
    published_at_two_threads: tuple[int, ...] = (3,)  # LKGr only: the products, nearly all of its time, are the same


def measure_all(sizes: tuple[Size, ...], plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield one row a size, setting, method and number of threads."""
    for size in sizes:
        H = evaluate_kernels(size)
        kernels = StoredStack.of(H)
        for setting in SETTINGS:
            for method in METHODS:
                problem = pose(kernels, setting, method)
                name = {"size": size.name, "n": size.n_samples, "setting": setting.name, "method": method}
                yield name | one_thread(problem, H, setting, method, plan)
                yield name | two_threads(problem, H, setting, method, plan)


def one_thread(problem: LowRankProblem, H: Any, setting: Setting, method: str, plan: Plan) -> dict[str, Any]:
    """Measure with one BLAS thread for everybody, and compare the results."""
    published, port = AsPublished(H, setting, method), PlainPort(H, setting, method)
    exact = WithExactWeights(H, setting, method)
    stepper, ours = Stepper(problem), starting_point(problem.kernels, setting.mu)
    plain, exact_plain = port.start(), port.start()
    rows: list[dict[str, Any]] = []
    with threadpool_limits(1, user_api="blas"):
        for n in range(1, plan.steps + 1):
            before = copy_state(ours)
            row: dict[str, Any] = {}
            row["ours"], ours = timed(stepper, ours)
            if n in plan.published_at:
                row["a"] = timed(published.step, plain.copy())[0]
            row["b"], plain = timed(port.step, plain)
            row["own_calls"] = seconds_of_own_calls(problem, before, ours)
            row["difference"] = _difference(ours.J, plain.J)
            if n <= plan.exact_steps:
                exact_plain = exact.step(exact_plain)
                row["difference_exact_weights"] = _difference(ours.J, exact_plain.J)
            rows.append(row | _ranks(ours.progress))
    return {"threads": 1, **_summary(rows)}


def two_threads(problem: LowRankProblem, H: Any, setting: Setting, method: str, plan: Plan) -> dict[str, Any]:
    """Measure with two BLAS threads, and ours from the same states with one."""
    published, port = AsPublished(H, setting, method), PlainPort(H, setting, method)
    stepper, single, ours, plain = (
        Stepper(problem),
        Stepper(problem),
        starting_point(problem.kernels, setting.mu),
        port.start(),
    )
    rows: list[dict[str, Any]] = []
    for n in range(1, plan.steps_two_threads + 1):
        row: dict[str, Any] = {}
        with threadpool_limits(1, user_api="blas"):
            row["ours_one_thread"] = timed(single, copy_state(ours))[0]
        with threadpool_limits(2, user_api="blas"):
            row["ours"], ours = timed(stepper, ours)
            if n in plan.published_at_two_threads and method == "LKGr":
                row["a"] = timed(published.step, plain.copy())[0]
            row["b"], plain = timed(port.step, plain)
        rows.append(row | _ranks(ours.progress))
    return {"threads": 2, **_summary(rows)}


def _difference(ours: Any, theirs: Any) -> float:
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


def _ranks(progress: Any) -> dict[str, Any]:
    names = ("graph_rank", "kernel_rank", "graph_route", "kernel_route")
    return {name: getattr(progress, name) for name in names}


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return medians over the steps after the first: seconds, and ratios of neighbours in time."""
    timed_rows = rows[1:]
    found: dict[str, Any] = {}
    for key in ("ours", "a", "b", "own_calls", "ours_one_thread"):
        values = [row[key] for row in timed_rows if key in row]
        if values:
            found[f"seconds_{key}"] = median(values)
            found[f"ratio_{key}"] = median([row[key] / row["ours"] for row in timed_rows if key in row])
    for key in ("difference", "difference_exact_weights"):
        if key in rows[0]:
            found[key] = max(row[key] for row in rows if key in row)
    for key in ("graph_rank", "kernel_rank"):
        found[key] = [row[key] for row in timed_rows]
    for key in ("graph_route", "kernel_route"):
        found[key] = list(dict.fromkeys(row[key] for row in timed_rows))
    return found | {"n_timed": len(timed_rows)}
