"""Which samples become landmarks."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from kernelbraid._typing import Array
from kernelbraid.estimators.base import FLOATS, check_n_clusters
from kernelbraid.estimators.landmarks.blocks import draw_seed, side_by_side
from kernelbraid.estimators.landmarks.gaps import LLOYD_STEPS, has_gaps, pick_with_gaps, spread_of
from kernelbraid.estimators.landmarks.sources import Source
from kernelbraid.kernels import FittedBank, banks_for, stack_bank
from kernelbraid.learning.counting import SMALLEST_PROBLEM
from kernelbraid.learning.settings import Settings
from kernelbraid.learning.sources import is_bank_per_view
from kernelbraid.solvers.landmarks import draw, leverage_scores, row_slices, settle, split_views, spread

DEFAULT_LANDMARKS = 500
POOL = 20  # samples among which landmarks are chosen, for each of them


def check_landmarks(landmarks: Any, width: int, n_clusters: int | str) -> Array:
    """Return given landmarks, or say why they do not fit the samples."""
    given = check_array(landmarks, accept_sparse="csr", dtype=FLOATS, input_name="landmarks", copy=True)
    if given.shape[1] != width:
        raise ValueError(f"landmarks has {given.shape[1]} features, and X has {width}; give both the same.")
    _check_enough(given.shape[0], n_clusters)
    return given


def draw_pool(
    source: Source, n_landmarks: int | str, n_clusters: int | str, random_state: np.random.RandomState
) -> tuple[Array, int]:
    """Return samples to choose landmarks among, and how many to choose."""
    asked = DEFAULT_LANDMARKS if isinstance(n_landmarks, str) else int(n_landmarks)
    pool = source.sample(POOL * asked, draw_seed(random_state))
    n = source.n_samples or 0
    check_n_clusters(n_clusters, n)
    if not isinstance(n_landmarks, str) and asked > n:
        raise ValueError(f"n_landmarks={asked} is above n_samples={n}; ask for at most {n} landmarks.")
    count = min(asked, n)
    _check_enough(count, n_clusters)
    return pool, count


def pick_landmarks(
    pool: Array,
    count: int,
    how: str,
    widths: tuple[int, ...],
    settings: Settings,
    random_state: np.random.RandomState,
    used: Sequence[int] | None = None,
) -> Array:
    """Return landmarks from samples in random order, as :class:`kernelbraid.LandmarkLKG` names the ways.

    Of several views those that are `used` count, each in units of its own spread.
    """
    views = split_views(pool, widths)
    if used is not None and has_gaps(views):
        return pick_with_gaps(views, count, how, used, partial(_leverages_of_view, settings, count), random_state)
    if used is not None and how in ("k-means", "k-means++"):
        return _pick_by_views(pool, count, how, widths, used, random_state)
    if how in ("k-means", "k-means++"):
        chosen = pool[spread(pool, count, random_state)]
        return settle(pool, chosen, LLOYD_STEPS) if how == "k-means" else chosen
    if how == "random" or count == pool.shape[0]:
        return pool[:count]
    kept = views if used is None else [views[view] for view in used]
    kernels = settings.kernels
    if used is not None and is_bank_per_view(kernels):
        kernels = [kernels[view] for view in used]
    return pool[draw(_leverages(kept, count, kernels, settings.learning.alpha), count, random_state)]


def _pick_by_views(
    pool: Array, count: int, how: str, widths: tuple[int, ...], used: Sequence[int], random_state: np.random.RandomState
) -> Array:
    """Return landmarks that are spread out in some of the views, with what the others have of the same samples."""
    views = split_views(pool, widths)
    scales = [spread_of(view) if number in used else np.inf for number, view in enumerate(views)]
    seen = side_by_side([views[number] / scales[number] for number in used])
    rows = spread(seen, count, random_state)
    if how == "k-means++":
        return pool[rows]
    settled = split_views(settle(seen, seen[rows], LLOYD_STEPS), tuple(widths[number] for number in used))
    chosen = split_views(pool[rows], widths)
    for number, view in zip(used, settled, strict=True):
        chosen[number] = view * scales[number]
    joined = side_by_side(chosen)
    return joined.astype(pool.dtype) if joined.dtype != pool.dtype else joined


def _check_enough(n_landmarks: int, n_clusters: int | str) -> None:
    if isinstance(n_clusters, str):
        if n_landmarks < SMALLEST_PROBLEM:
            raise ValueError(
                f"n_landmarks={n_landmarks} is too small to choose the number of clusters; give n_clusters, or at "
                f"least {SMALLEST_PROBLEM} landmarks."
            )
    elif n_landmarks < n_clusters:
        raise ValueError(
            f"n_landmarks={n_landmarks} is below n_clusters={n_clusters}; give at least as many landmarks as "
            "clusters, better ten times as many."
        )


def _leverages_of_view(settings: Settings, count: int, number: int, view: Array) -> np.ndarray:
    """Return leverage scores of samples in one of several views."""
    kernels = [settings.kernels[number]] if is_bank_per_view(settings.kernels) else settings.kernels
    return _leverages([view], count, kernels, settings.learning.alpha)


def _leverages(pool: list[Array], n_pilots: int, kernels: Any, alpha: float) -> np.ndarray:
    """Return leverage scores of samples under the average kernel, through the first of them as pilots."""
    pilots = [view[:n_pilots] for view in pool]
    banks = banks_for(kernels, pilots)
    bank = FittedBank.of(pilots, banks, stack_bank(pilots, banks))
    n_kernels = sum(map(len, banks))
    average = np.full(n_kernels, 1 / n_kernels)
    rows_of_pool = row_slices(pool[0].shape[0], n_pilots)
    cross = np.concatenate([bank.cross([view[rows] for view in pool], average) for rows in rows_of_pool])
    return leverage_scores(cross, cross[:n_pilots] / 2 + cross[:n_pilots].T / 2, alpha)
