"""How the time of an iteration grows with the number of samples, with stored and with lazy kernels."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.machine import timed
from benchmarks.opponents import PlainPort
from benchmarks.problems import BANK, SETTINGS, Size, draw_samples, pose
from kernelbraid.kernels import StoredStack, stack_bank
from kernelbraid.solvers.low_rank.step import Stepper, starting_point

STEPS = 3  # the first is not counted


def measure_growth(sizes: tuple[int, ...], largest_plain: int) -> Iterator[dict[str, Any]]:
    """Yield one row a size and setting: LKGr, one thread; the plain port up to a size only."""
    for n in sizes:
        lazy = stack_bank(draw_samples(Size("growth", n, 36)), BANK)
        H = lazy.evaluate()
        stored = StoredStack.of(H)
        for setting in SETTINGS:
            runs: dict[str, Any] = {}
            for name, kernels in (("stored", stored), ("lazy", lazy)):
                problem = pose(kernels, setting, "LKGr")
                runs[name] = Stepper(problem), starting_point(kernels, setting.mu)
            if n <= largest_plain:
                port = PlainPort(H, setting, "LKGr")
                runs["b"] = port.step, port.start()
            yield {"n": n, "setting": setting.name} | _interleaved(runs)


def _interleaved(runs: dict[str, Any]) -> dict[str, Any]:
    """Advance all runs step by step in turn, and return the median seconds of each."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    with threadpool_limits(1, user_api="blas"):
        for _ in range(STEPS):
            for name, (step, state) in runs.items():
                spent, state = timed(step, state)
                runs[name] = step, state
                seconds[name].append(spent)
    return {f"seconds_{name}": median(values[1:]) for name, values in seconds.items()}
