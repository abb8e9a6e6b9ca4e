"""Penalties: each is one object with its value and its proximal operator, for one matrix and for a batch."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from kernelbraid._typing import Array
from kernelbraid.ops.closed_forms import half_square, l1_norm, nuclear_norm, scale_down, soft_threshold
from kernelbraid.solvers.low_rank.thresholding import Route, SingularValueThreshold


class Prox(Protocol):
    """The proximal operator of a penalty, with what its last call did."""

    @property
    def rank(self) -> int:
        """Singular values that passed; -1 where the penalty cuts none, and for a batch."""

    @property
    def used(self) -> str:
        """What ran."""

    def __call__(self, A: Array, t: float | Array) -> Array:
        """Return argmin_J t value(J) + 1/2 ||J - A||_F^2 as a new array.

        A is a matrix and t a number, or A is a batch of matrices (b, n, n) and t their thresholds (b, 1, 1).
        """


@dataclass(frozen=True)
class Penalty:
    """A convex penalty."""

    name: str
    value: Callable[[Array], float]  # of one matrix
    operator: Callable[[Route], Prox]  # makes a fresh operator; only the one with singular values has several routes


@dataclass(frozen=True)
class Elementwise:
    """An operator on every element by itself: a batch is one array more, and no call has anything to tell the next."""

    function: Callable[[Array, float | Array], Array]
    used: str
    rank: int = field(default=-1, init=False)

    def __call__(self, A: Array, t: float | Array) -> Array:
        """Return the function of A and t."""
        return self.function(A, t)


def _soft(route: Route) -> Prox:
    return Elementwise(soft_threshold, "soft")


def _scale(route: Route) -> Prox:
    return Elementwise(scale_down, "scale")


NUCLEAR = Penalty("nuclear", nuclear_norm, SingularValueThreshold)  # a low-rank graph or kernel: LKGr
L1 = Penalty("l1", l1_norm, _soft)  # a sparse graph: LKGs
FROBENIUS = Penalty("frobenius", half_square, _scale)  # a dense graph: similar samples get similar columns
