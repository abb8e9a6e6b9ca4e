"""Synthetic problems of the sizes of the paper's data sets, made from a seed: no file is needed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelbraid.kernels import KernelStack, build_bank
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES, LowRankProblem

METHODS = {"LKGr": "nuclear", "LKGs": "l1"}
BANK = "rmkkm"  # the twelve kernels behind the published figures
GROWTH = 1.1  # factor of mu after every step, as in the published code


@dataclass(frozen=True)
class Setting:
    """Weights of Eq. (3), and what they do to the consensus kernel."""

    name: str
    alpha: float
    beta: float
    gamma: float
    mu: float


FEW = Setting("few pass", alpha=0.1, beta=1.0, gamma=1.0, mu=1.0)  # W keeps under n / 10 singular values
ALL = Setting("all pass", alpha=0.01, beta=0.001, gamma=1.0, mu=5.0)  # W keeps nearly all
SETTINGS = (FEW, ALL)


@dataclass(frozen=True)
class Size:
    """A data set by its size alone."""

    name: str
    n_samples: int
    n_clusters: int
    n_features: int = 200
    noise: float = 0.15  # standard deviation within a cluster; centres are uniform on the unit cube


SIZES = (Size("ORL", 400, 20), Size("TR41", 878, 10), Size("BA", 1404, 36))
TDT2 = Size("TDT2", 9394, 30)


def draw_samples(size: Size, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return samples of a Gaussian mixture, made nonnegative and of unit length."""
    random = np.random.default_rng(seed)
    centres = random.random((size.n_clusters, size.n_features))
    labels = random.integers(size.n_clusters, size=size.n_samples)
    X = np.abs(centres[labels] + size.noise * random.standard_normal((size.n_samples, size.n_features)))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def evaluate_kernels(size: Size) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the twelve kernels of a problem, (m, n, n)."""
    return build_bank(draw_samples(size), BANK)


def pose(kernels: KernelStack, setting: Setting, method: str) -> LowRankProblem:
    """Return the problem of a method ("LKGr" or "LKGs") at a setting, as the published code solves it."""
    return LowRankProblem(
        kernels=kernels,
        R=kernels.factor(),
        alpha=setting.alpha,
        beta=setting.beta,
        gamma=setting.gamma,
        penalty=GRAPH_PENALTIES[METHODS[method]],
        growth=GROWTH,
        pull=2.0,
    )
