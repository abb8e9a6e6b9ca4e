"""Landmarks among samples that lack some of the views."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelbraid._arrays import as_dense, measured_rows
from kernelbraid._typing import Array
from kernelbraid.estimators.landmarks.blocks import row_among_all, side_by_side
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import Views
from kernelbraid.learning.trust import names_of
from kernelbraid.learning.weighing import Weighed, check_weights
from kernelbraid.solvers.fused_landmarks import FusedExpression
from kernelbraid.solvers.gapped_kmeans import GappedViews
from kernelbraid.solvers.kmeans import plus_plus
from kernelbraid.solvers.landmarks import LandmarkExpression, draw, split_views

LLOYD_STEPS = 10  # from rows that are spread out
#: Why samples need views: to be there at all, to have one that counts, or since kernels of all views are summed.
Why: TypeAlias = Literal["measured", "weighted", "fitted", "kernels", "preset"]


@dataclass(frozen=True)
class Required:
    """Views of which every sample must have one; or all of them, where kernels are summed."""

    widths: tuple[int, ...]  # features of all views
    views: tuple[int, ...]
    why: Why = "measured"
    preset: str | None = None  # that sums kernels

    @classmethod
    def any_of(cls, widths: tuple[int, ...]) -> "Required":
        """Require any of the views."""
        return cls(widths, tuple(range(len(widths))))

    @classmethod
    def by(cls, widths: tuple[int, ...], settings: Settings, preset: str) -> "Required":
        """Return what the settings of a fit require."""
        everything = tuple(range(len(widths)))
        if not settings.is_trusting:
            return cls(widths, everything, "preset", preset)
        if settings.fusion == "kernels":
            return cls(widths, everything, "kernels")
        if settings.view_weights is None:
            return cls(widths, everything)
        weights = check_weights(settings.view_weights, len(widths))
        return cls(widths, tuple(np.flatnonzero(weights).tolist()), "weighted")

    @classmethod
    def of_fit(cls, expression: LandmarkExpression | FusedExpression) -> "Required":
        """Return what a fit requires of samples."""
        if isinstance(expression, FusedExpression):
            return cls(tuple(expression.widths), expression.views, "fitted")
        views = range(len(expression.widths)) if expression.views is None else expression.views
        return cls(tuple(expression.widths), tuple(views), "kernels")

    def check(self, block: Array, number: int, first_row: int | None) -> None:
        """Name the first sample of a block, the columns of all views side by side, that lacks them."""
        views = split_views(block, self.widths)
        has = np.stack([measured_rows(views[view]) for view in self.views])
        is_there = has.all(axis=0) if self.why in ("kernels", "preset") else has.any(axis=0)
        if not is_there.all():
            raise ValueError(self._sentence(row_among_all(int(np.argmin(is_there)), number, first_row)))

    def _sentence(self, row: int | str) -> str:
        if self.why == "weighted":
            return (
                f"sample {row} of X (counted from 0) is missing in every view with a weight; leave it out, or give "
                "a view that has it a weight in view_weights."
            )
        if self.why == "fitted":
            return (
                f"sample {row} of X (counted from 0) is missing in every view that the fit uses "
                f"({names_of(self.views)}); leave it out."
            )
        if self.why == "kernels":
            return (
                "X lacks samples in some views, and kernels cannot be joined then; leave out fusion and gamma, "
                "with which graphs are."
            )
        if self.why == "preset":
            return f"X lacks samples in some views, which preset={self.preset!r} cannot have; preset='recommended' can."
        return f"sample {row} of X (counted from 0) is missing in every view; leave it out."


def has_gaps(views: Sequence[Array]) -> bool:
    """Tell whether a view lacks samples."""
    return not all(measured_rows(view).all() for view in views)


def on_landmarks(weighed: Weighed, landmarks: Sequence[Array]) -> Weighed:
    """Return what was measured on samples for the views of landmarks.

    Where samples are missing, views without a weight of their own place those that no other view has.
    """
    chosen = Views(list(landmarks))
    for view in weighed.used:
        if not chosen.measured[view].any():
            raise ValueError(
                f"no landmark has view {view + 1}, which few samples have; give more landmarks, or leave it out."
            )
    spare: list[int] = []
    if weighed.samples.has_gaps and not weighed.has_given_weights:
        spare = [view for view in range(chosen.n_views) if weighed.weights[view] == 0 and chosen.measured[view].any()]
    return replace(weighed, samples=chosen, spare=tuple(spare))


def pick_with_gaps(
    views: Sequence[Array],
    count: int,
    how: str,
    used: Sequence[int],
    leverages: Callable[[int, Array], np.ndarray],
    random_state: np.random.RandomState,
) -> Array:
    """Return landmarks, the columns of all views side by side, with rows of NaN where a view lacks them.

    Samples are told apart by the views that are used; those that none of these has by the others.

    Parameters
    ----------
    views : sequence of arrays or csr matrices
        Samples in random order, with rows of NaN.
    count : int
        Number of landmarks.
    how : {"k-means", "k-means++", "leverage", "random"}
        As for :class:`kernelbraid.LandmarkLKG`. Means have every view that one of their samples has.
    used : sequence of int
        Views with a weight.
    leverages : callable
        Returns leverage scores of the samples of one view, given its number and these samples.
    random_state : numpy.random.RandomState
        Draws them.
    """
    has = _counted([measured_rows(view) for view in views], used)
    if how == "random" or (count == views[0].shape[0] and how == "leverage"):
        return side_by_side([view[:count] for view in views])
    if how == "leverage":
        scores = _mean_scores(views, has, leverages)
        return _rows_of(views, draw(scores, count, random_state))
    there = [view[np.flatnonzero(measured_rows(view))] for view in views]
    scales = [spread_of(view) for view in there]
    samples = GappedViews.of([view / scale for view, scale in zip(views, scales, strict=True)], has)
    first = int(random_state.random_sample() * views[0].shape[0])
    rows = plus_plus(samples, 1, count, random_state, first=first)[0]
    if how == "k-means++":
        return _rows_of(views, rows)
    centres = samples.settle(rows, LLOYD_STEPS)
    moved = [
        _in_rows(view[rows], centre * scale, found > 0)
        for view, centre, scale, found in zip(views, centres.views, scales, centres.has.T, strict=True)
    ]
    return side_by_side([view.astype(views[0].dtype) for view in moved])


def spread_of(view: Array) -> float:
    """Return the root of the mean squared distance of samples from their mean."""
    squares = view.multiply(view).sum() if sparse.issparse(view) else np.sum(np.square(view, dtype=np.float64))
    means = np.asarray(view.mean(axis=0)).ravel()
    return float(np.sqrt(max(float(squares) / view.shape[0] - float(means @ means), 0.0))) or 1.0


def _counted(measured: Sequence[NDArray[np.bool_]], used: Sequence[int]) -> list[NDArray[np.bool_]]:
    """Tell in which views a sample counts: those that are used, or all others if it has none of them."""
    orphans = ~np.logical_or.reduce([measured[view] for view in used])
    return [rows if view in used else rows & orphans for view, rows in enumerate(measured)]


def _mean_scores(
    views: Sequence[Array], has: Sequence[NDArray[np.bool_]], leverages: Callable[[int, Array], np.ndarray]
) -> np.ndarray:
    """Return the mean of the leverage scores of each sample over the views in which it counts."""
    total = np.zeros(views[0].shape[0])
    for number, (view, rows) in enumerate(zip(views, has, strict=True)):
        if rows.any():
            total[rows] += leverages(number, view[np.flatnonzero(rows)])
    return total / np.sum(has, axis=0)


def _rows_of(views: Sequence[Array], rows: np.ndarray) -> Array:
    return side_by_side([view[rows] for view in views])


def _in_rows(view: Array, other: Array, rows: NDArray[np.bool_]) -> Array:
    """Return a matrix with some of its rows from another one."""
    if not sparse.issparse(view):
        return np.where(rows[:, None], as_dense(other), view)
    both = sparse.vstack([sparse.csr_array(view), sparse.csr_array(other)], format="csr")
    return both[np.arange(len(rows)) + np.where(rows, len(rows), 0)]
