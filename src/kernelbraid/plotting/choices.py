"""Pictures of what was chosen without labels: the number of clusters, and the setting of LKG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from kernelbraid.plotting.axes import COLOURS, finish, ink_of, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kernelbraid._typing import Parameters
    from kernelbraid.estimators import LKG, LKGSearch
    from kernelbraid.estimators.tryouts import Member
    from kernelbraid.kernels import Custom, Kernel

TICKS = (1, 2, 3, 5, 7)  # leading digits of the numbers of clusters that are written at the axis
NEAR = 0.05  # of the axis: what is nearer to the choice would be written over it
STYLES = ("--", "-.", ":")
SHADES = "viridis"  # brightness grows with alpha
LABEL_WIDTH = 30  # characters of a line at the axis
SPREAD = 0.22  # how far the points of a row are moved apart, so that all of them show


def plot_n_clusters(model: LKG | LKGSearch, *, ax: Axes | None = None) -> Axes:
    """Draw the score of every number of clusters, what it is made of beside it, and mark the number chosen.

    Parameters
    ----------
    model : LKG or LKGSearch
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


def plot_search(search: LKGSearch, *, ax: Axes | None = None) -> Axes:
    """Draw the score of every setting of a search, one row per kernel bank, and mark the one chosen.

    Parameters
    ----------
    search : LKGSearch
        Fitted search.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    The score is the mean adjusted Rand index with the other settings, times the modularity. Points of a row differ in
    alpha, which their colour tells. Settings that were left out have no score; they are crosses at the left.
    """
    members = search._members
    rows = [_row_name(member.params) for member in members]
    names = list(dict.fromkeys(rows))
    ax = make_axes(ax, figsize=(7.0, 1.4 + 0.5 * len(names)))
    x, left_out = _scores(members)
    alphas = np.array([_alpha(member.params) for member in members])
    y = np.array([names.index(row) for row in rows]) + _spread(alphas)
    colours = _shades(ax, alphas)
    sound, best = ~left_out, search.best_index_
    ax.scatter(x[sound], y[sound], color=colours[sound], s=52, edgecolor="white", linewidth=0.6, zorder=3)
    if left_out.any():
        ax.scatter(x[left_out], y[left_out], color=colours[left_out], marker="x", s=36, zorder=3)
    ax.scatter(x[[best]], y[[best]], facecolor="none", s=150, edgecolor=ink_of(ax), linewidth=1.6, zorder=4)
    ax.margins(x=0.07)
    _name_the_chosen(ax, float(x[best]), names.index(rows[best]), float(alphas[best]))
    ax.set_yticks(range(len(names)), [fill(name, LABEL_WIDTH) for name in names])
    ax.set_ylim(len(names) - 0.45, -0.75)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color="#EEEEEE", linewidth=0.8)
    ax.set_axisbelow(True)
    title = f"Settings tried (crosses: {left_out.sum()} left out)" if left_out.any() else "Settings tried"
    return finish(ax, title, "score: agreement with the other settings × that of its own cuts", spines=("bottom",))


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


def _row_name(params: Parameters) -> str:
    """Return what tells a row of settings from the others: the kernels, and whatever else but alpha is set."""
    words = [_kernel_names(params["kernels"])] if "kernels" in params else []
    words += [f"{name}={value}" for name, value in params.items() if name not in ("alpha", "kernels")]
    return ", ".join(words) or ("LKG as it comes" if not params else "shared setting")


def _kernel_names(kernels: str | Sequence[Kernel | Custom]) -> str:
    """Return a bank by its name, a kernel by its own, and more of them by their number."""
    if isinstance(kernels, str):
        return kernels
    names = [getattr(kernel, "name", str(kernel)) for kernel in kernels]
    return names[0] if len(names) == 1 else f"{len(names)} kernels together"


def _alpha(params: Parameters) -> float:
    """Return the weight of the penalty, NaN if the setting leaves it to the preset."""
    alpha = params.get("alpha")
    return math.nan if alpha is None else float(alpha)


def _scores(members: Sequence[Member]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each setting stands on the axis, and which ones have no score and stand left of all others."""
    values = np.array([member.scores.get("score", math.nan) for member in members], dtype=float)
    left_out = np.array([bool(member.fault) for member in members]) | ~np.isfinite(values)
    sound = values[~left_out]
    low, high = (float(sound.min()), float(sound.max())) if sound.size else (0.0, 1.0)
    values[left_out] = low - 0.12 * max(high - low, 0.1)
    return values, left_out


def _spread(alphas: np.ndarray) -> np.ndarray:
    """Return small distances from the row, one for each alpha."""
    known, places = np.unique(alphas, return_inverse=True)
    return np.linspace(-SPREAD, SPREAD, len(known))[places] if len(known) > 1 else np.zeros(len(alphas))


def _shades(ax: Axes, alphas: np.ndarray) -> np.ndarray:
    """Return a colour for each alpha, and draw the scale if there are several."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, to_rgba

    known = np.unique(alphas[np.isfinite(alphas)])
    colours = np.tile(to_rgba(COLOURS[0]), (len(alphas), 1))
    if len(known) < 2:
        return colours
    norm, shades = LogNorm(known[0], known[-1] * 1.6), colormaps[SHADES]  # the brightest yellow would be lost on white
    scale = ScalarMappable(norm, shades)
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.85, ticks=known[:: -(-len(known) // 8)], format="%g")
    bar.ax.set_ylim(known[0], known[-1])
    bar.ax.minorticks_off()
    bar.ax.tick_params(colors=ink_of(ax), length=0)
    bar.ax.set_title("alpha", color=ink_of(ax), fontsize="medium")
    bar.outline.set_visible(False)
    given = np.isfinite(alphas)
    colours[given] = shades(norm(alphas[given]))
    colours[~given] = to_rgba("#999999")
    return colours


def _name_the_chosen(ax: Axes, x: float, row: int, alpha: float) -> None:
    """Write above a row what its ring is, towards the side where there is room."""
    words = "chosen" if math.isnan(alpha) else f"chosen, alpha={alpha:g}"
    side = "left" if x < sum(ax.get_xlim()) / 2 else "right"
    ax.text(x, row - 0.5, words, ha=side, va="center", color=ink_of(ax), weight="bold", size="small", zorder=5)
