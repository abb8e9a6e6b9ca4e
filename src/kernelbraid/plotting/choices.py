"""A picture of how the number of clusters was chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kernelbraid.plotting.axes import COLOURS, check_fitted, finish, ink_of, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kernelbraid.estimators import LKG

TICKS = (1, 2, 3, 5, 7)  # leading digits of the numbers of clusters that are written at the axis
NEAR = 0.05  # of the axis: what is nearer to the choice would be written over it
STYLES = ("--", "-.", ":")


def plot_n_clusters(model: LKG, *, ax: Axes | None = None) -> Axes:
    """Draw the score of every number of clusters, what it is made of beside it, and mark the number chosen.

    Parameters
    ----------
    model : LKG
        Fitted with ``n_clusters="auto"``.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    The score is how well clusters of different graphs agree, times the share of edges that they do not cut, times
    their modularity over its limit; the eigengap does not decide. Curves that are far smaller than the others are
    multiplied by a power of ten, which the legend names.
    """
    check_fitted(model, "n_clusters_evidence_")
    evidence = model.n_clusters_evidence_
    if evidence is None:
        raise ValueError(f"n_clusters={model.n_clusters!r} was given, not chosen; fit with n_clusters='auto'.")
    ax = make_axes(ax, figsize=(6.4, 4.0))
    curves = {name: np.asarray(values, dtype=float) for name, values in evidence.items() if name != "n_clusters"}
    tried, chosen = np.asarray(evidence["n_clusters"]), int(model.n_clusters_)
    score = curves.pop("score")
    overall = _largest(np.concatenate([score, *curves.values()]))
    ax.set_xscale("log")
    for number, (name, values) in enumerate(curves.items()):
        factor = _factor(overall, _largest(values))
        label = name if factor == 1 else f"{name} × {factor:g}"
        colour, style = COLOURS[1 + number % (len(COLOURS) - 1)], STYLES[number % len(STYLES)]
        ax.plot(tried, factor * values, style, color=colour, linewidth=1.4, label=label)
    ax.plot(tried, score, "-o", color=COLOURS[0], linewidth=2.2, markersize=4, label="score")
    ax.axvline(chosen, color=ink_of(ax), linewidth=0.8, zorder=0)
    best = score[tried == chosen]
    ax.plot(
        [chosen] * len(best), best, "o", color="none", markeredgecolor=ink_of(ax), markersize=11, markeredgewidth=1.6
    )
    _count_axis(ax, tried, chosen)
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return finish(ax, f"Number of clusters: {chosen} chosen", "number of clusters", "value")


def _largest(values: np.ndarray) -> float:
    """Return the largest absolute value that is finite, 0 if there is none."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _factor(overall: float, own: float) -> float:
    """Return the power of ten that brings a curve near the others, 1 if it is there."""
    return 10.0 ** math.floor(math.log10(overall / own)) if 0 < own < overall / 10 else 1.0


def _count_axis(ax: Axes, tried: np.ndarray, chosen: int) -> None:
    """Write numbers of clusters at a logarithmic axis: round ones, and the one chosen."""
    low, high = int(tried.min()), int(tried.max())
    apart = NEAR * math.log(high / low)
    marks = [digit * 10**power for power in range(7) for digit in TICKS]
    near = [mark for mark in marks if low <= mark <= high and abs(math.log(mark / chosen)) > apart]
    ticks = sorted({*near, chosen})
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_xlim(low / 1.1, high * 1.1)
