"""Random legal settings of any estimator, drawn from what it says that it takes."""

import math
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from kernelbraid.kernels import BANKS, Gaussian, Linear, Neighbours, Polynomial, SelfTuning

COUNTS = (1, 1, 2, 3, 5, 10, 100)
# Few starts and steps: what they do is seen in the first ones, and there is time for more fits.
SMALL = {"n_init": (1, 3), "max_iter": (1, 5, 30, 100), "budget": (1, 2, 3), "n_jobs": (None, 1)}
BLOCKS = (1, 3, 7, 1000)
# What is drawn elsewhere, or needs other input than samples.
LEFT_OUT = ("n_clusters", "callback", "random_state", "device", "candidates", "view_weights", "view_widths")
SET = 0.35  # share of the parameters that are not left at their default


def settings(rng: np.random.Generator, estimator: type, precomputed: bool) -> dict[str, Any]:
    """Return legal values of some parameters of an estimator."""
    drawn: dict[str, Any] = {}
    for name, legal in estimator._parameter_constraints.items():
        if name in SMALL:
            drawn[name] = SMALL[name][rng.integers(len(SMALL[name]))]
        elif name == "kernels" and not any(isinstance(one, StrOptions) for one in legal):
            drawn[name] = "precomputed" if precomputed else bank(rng)
        elif name in ("kernel", "kernels"):
            drawn[name] = "precomputed" if precomputed else one_kernel(rng) if name == "kernel" else "samples"
        elif name not in LEFT_OUT and rng.random() < SET:
            drawn[name] = value(rng, name, legal)
    if drawn.get("kernels", "") is None and type(None) not in map(type, estimator._parameter_constraints["kernels"]):
        del drawn["kernels"]
    return drawn


def value(rng: np.random.Generator, name: str, legal: list[Any]) -> Any:
    """Return a legal value of a parameter."""
    if name == "block_size":
        return BLOCKS[rng.integers(len(BLOCKS))]
    if name == "memory_budget":
        return 10.0 ** float(rng.integers(3, 10))
    ways = [one for one in legal if isinstance(one, Interval | Options) or one in ("boolean", None)]
    way = ways[rng.integers(len(ways))]
    if isinstance(way, Interval):
        return _number(rng, way)
    if isinstance(way, Options):  # words, or infinity
        options = sorted(way.options, key=str)
        return options[rng.integers(len(options))]
    return bool(rng.random() < 0.5) if way == "boolean" else None


def _number(rng: np.random.Generator, interval: Interval) -> float | int:
    if interval.type is Integral:
        return int(COUNTS[rng.integers(len(COUNTS))])
    low, high = interval.left or 0.0, interval.right or math.inf
    if high < math.inf:
        return float(rng.uniform(low, high)) or high / 2
    return low + float(10 ** rng.uniform(-8, 8))


def one_kernel(rng: np.random.Generator) -> Any:
    """Return one kernel, by its name or with its parameters."""
    named = ["gaussian", "linear", "polynomial", "self-tuning", "neighbours"]
    count = int(rng.integers(1, 12))
    made = [
        *(Gaussian(float(10.0 ** rng.integers(-6, 7))), Linear(), Linear("max"), Linear(None)),
        *(SelfTuning(count), Neighbours(count)),
        Polynomial(float(rng.choice([0, 1, 1e6])), int(rng.integers(1, 9)), (None, "max", "cosine")[rng.integers(3)]),
    ]
    drawn = [*named, *made]
    return drawn[rng.integers(len(drawn))]


def bank(rng: np.random.Generator) -> Any:
    """Return a bank of kernels: a ready one, or some kernels."""
    if rng.random() < 0.7:
        ready = [None, "auto", *BANKS]
        return ready[rng.integers(len(ready))]
    made = [one_kernel(rng) for _ in range(rng.integers(1, 5))]
    return [kernel for kernel in made if not isinstance(kernel, str)] or [Gaussian(1.0)]
