"""What the kernel weights of a fit mean, in sentences."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelbraid.kernels import split_name

USED = 0.0005  # weights below are rounding: such a kernel is not used
TIE = 0.01  # relative distance to the largest weight within which none matters most
ALIKE = 0.2  # relative distance of all weights to the largest within which all kernels matter alike
NAMED = 3  # kernels that share the largest weight are named up to this number


def describe_weights(names: Sequence[str], weights: Any) -> list[str]:
    """Return what kernel weights say: which kernel matters most, how many are used, and the share of every view.

    Parameters
    ----------
    names : sequence of str
        Names of the kernels, as in ``solution_.names``.
    weights : array of shape (n_kernels,)
        Their weights, not negative, as in ``solution_.g``.

    Returns
    -------
    list of str
        One sentence about the kernels, and one a view where there are several; empty without kernels.

    Examples
    --------
    >>> from kernelbraid.learning.wording import describe_weights
    >>> describe_weights(["gaussian s=2", "gaussian s=1", "linear"], [0.61, 0.39, 0.0])
    ['gaussian s=2 matters most (weight 0.61); 2 of 3 kernels are used.']
    """
    values = np.asarray(weights, dtype=float)
    if len(names) != len(values):
        raise ValueError(f"names has {len(names)} entries and weights {len(values)}; give one name a weight.")
    if not len(values):
        return []
    split = [split_name(name) for name in names]
    views = [view for view, _ in split if view is not None]
    if len(views) < len(names):
        return [_kernels(names, values)]
    readable = [f"{kernel} of view {view}" for view, kernel in split]
    return [_kernels(readable, values), *_shares(views, values)]


def _kernels(names: Sequence[str], weights: np.ndarray) -> str:
    """Say which kernels matter most, and how many are used."""
    n_kernels, largest = len(names), float(weights.max())
    if n_kernels == 1:
        return f"{names[0]} is the only kernel."
    n_used = int((weights >= USED).sum())
    if not n_used:
        return f"None of {n_kernels} kernels is used."
    least = float(weights.min())
    if least >= (1 - TIE) * largest:
        return f"{_all(n_kernels)} have the same weight ({largest:.2g})."
    if least >= (1 - ALIKE) * largest:
        return f"{_all(n_kernels)} matter alike (weights {least:.2g} to {largest:.2g})."
    ahead = [name for name, weight in zip(names, weights, strict=True) if weight >= (1 - TIE) * largest]
    used = f"{_all(n_kernels).lower()} are" if n_used == n_kernels else f"{n_used} of {n_kernels} kernels are"
    if n_used == 1:
        used = f"it is the only one of {n_kernels} kernels that is"
    return f"{_lead(ahead, largest)}; {used} used."


def _lead(names: Sequence[str], weight: float) -> str:
    """Name the kernels of largest weight."""
    if len(names) == 1:
        return f"{names[0]} matters most (weight {weight:.2f})"
    if len(names) > NAMED:
        return f"{len(names)} kernels share the largest weight ({weight:.2g} each)"
    return f"{', '.join(names[:-1])} and {names[-1]} matter most (weight {weight:.2f} each)"


def _all(n_kernels: int) -> str:
    return "Both kernels" if n_kernels == 2 else f"All {n_kernels} kernels"


def _shares(views: Sequence[int], weights: np.ndarray) -> list[str]:
    """Say what share of all weight each view has; weights need not sum to one."""
    total = float(weights.sum())
    if total <= 0:
        return []
    shares = dict.fromkeys(views, 0.0)
    for view, weight in zip(views, weights, strict=True):
        shares[view] += float(weight) / total
    return [f"View {view}: {share:.2f} of the weight." for view, share in shares.items()]
