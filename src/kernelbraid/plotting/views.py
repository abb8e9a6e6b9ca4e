"""Pictures of what a fit has chosen among: levels of its clusters, and views, of which it says what each counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelbraid.learning.trust import LEVEL
from kernelbraid.plotting.axes import COLOURS, HEAT, INK, check_fitted, finish, ink_of, make_axes, mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from kernelbraid.estimators import LKG, LKGClassifier
    from kernelbraid.estimators.base import ViewReport

HEIGHT = 0.72  # of a row, of which each level has one
BEHIND = 0.45  # opacity of levels that are not taken
GREY, EMPTY = "#999999", "#F2F2F2"  # what is left out; a view beside itself
CLEAR = 20 * LEVEL  # the colour scale reaches at least so far, so that chance never looks like agreement
DARK = 0.5  # of the colour scale: numbers are white from there on
WIDTH, GAP = 1.8, 0.3  # of the bars and what is left of them, in cells of the heat map; at most half of it
MANY = 8  # views: from there on their names stand upright


def plot_levels(model: LKG, *, ax: Axes | None = None) -> Axes:
    """Draw the plausible partitions as rows, from coarse to fine, and mark the one that is taken.

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
    Every cluster is as wide as it has samples, and stands below the one of the level before that has most of them, in
    the colour of the coarsest of these. Communities need not be nested: a cluster may reach beyond.
    """
    check_fitted(model, "levels_")
    levels = model.levels_
    if levels is None:
        raise ValueError(f"n_clusters={model.n_clusters!r} was given, not chosen; fit with n_clusters='auto'.")
    ax = make_axes(ax, figsize=(6.4, 1.2 + 0.5 * len(levels)))
    n, places, colours = len(levels[0].labels), np.zeros(1), np.zeros(1, dtype=int)
    above = np.zeros(n, dtype=int)
    for row, level in enumerate(levels):
        labels, k = np.asarray(level.labels), level.n_clusters
        sizes = np.bincount(labels, minlength=k)
        width = len(places)
        parents = np.bincount(labels * width + above, minlength=k * width).reshape(k, width).argmax(axis=1)
        order = np.lexsort((-sizes, places[parents]))
        ends = np.cumsum(sizes[order])
        is_first = row == 0 or levels[row - 1].n_clusters == 1
        colours = np.argsort(order) if is_first else colours[parents]
        ax.barh(
            np.full(k, row),
            sizes[order],
            left=ends - sizes[order],
            height=HEIGHT,
            color=[mark(int(colours[cluster]))[0] for cluster in order],
            alpha=None if level.is_taken else BEHIND,
            edgecolor=ax.get_facecolor(),
            linewidth=0.8 if k < n / 20 else 0.1,
        )
        places = np.empty(k)
        places[order], above = ends - sizes[order] / 2, labels
    told = [f"{level.n_clusters} clusters" if level.n_clusters > 1 else "1 cluster" for level in levels]
    ax.set_yticks(range(len(levels)), told)
    taken = next(row for row, level in enumerate(levels) if level.is_taken)
    ax.barh([taken], [n], height=HEIGHT, color="none", edgecolor=ink_of(ax), linewidth=1.6)
    ax.set_xlim(0, n)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    return finish(ax, f"Levels: {told[taken]} taken", "samples", spines=("bottom",))


def plot_views(model: LKG | LKGClassifier, *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw how far views agree with each other as a heat map, and the weight of each as a bar beside it.

    Parameters
    ----------
    model : LKG or LKGClassifier
        Fitted on several views.
    names : sequence of str, default=None
        What the views are called; "view 1", "view 2" and so on by default.
    ax : matplotlib Axes, default=None
        Where to draw the heat map; the bars are an inset at its right. A new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the heat map.

    Notes
    -----
    A cell holds the neighbours that two views share, in deviations above what chance would have them share. Views
    agree above the level that the line in the colour bar marks; up to there the colours follow the numbers, and their
    logarithm beyond. Numbers below it, and the names of views that are left out, are grey.
    """
    report = _report_of(model)
    names = report.names if names is None else names
    if len(names) != len(report):
        raise ValueError(f"names has {len(names)} entries, and there are {len(report)} views; give one for each.")
    n = len(names)
    ax = make_axes(ax, figsize=(3.4 + 0.45 * n, 2.0 + 0.38 * n))
    top = max(float(np.nanmax(report.agreement)), CLEAR)
    image = _heat_map(ax, report.agreement, top)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(range(n), names)
    left_out = _bars(ax, report)
    title = f"Agreement between views, {left_out} of {n} left out" if left_out else "Agreement between views"
    finish(ax, title, "", spines=())
    ax.tick_params(length=0)
    ax.tick_params(axis="x", rotation=90 if n > MANY or max(map(len, names)) > MANY else 0)
    for trusted, *labels in zip(report.trusted, ax.get_xticklabels(), ax.get_yticklabels(), strict=True):
        for label in labels:
            label.set_color(ink_of(ax) if trusted else GREY)
    _colour_bar(ax, image, top=top, n=n)
    return ax


def _report_of(model: Any) -> ViewReport:
    """Return what a fit tells about its views, or say why there is nothing."""
    name = type(model).__name__
    check_fitted(model, "views_")
    report: ViewReport = model.views_
    if len(report) < 2:
        raise ValueError(f"{name} was fitted on one view, which has no other to agree with; fit it on a list of views.")
    if not np.isfinite(report.agreement).any():
        raise ValueError(f"{name} has not compared its views; fit it with preset='recommended', which does.")
    return report


def _heat_map(ax: Axes, agreement: np.ndarray, top: float) -> AxesImage:
    """Draw the agreement, with a number in every cell."""
    from matplotlib.colors import SymLogNorm

    n = len(agreement)
    norm = SymLogNorm(LEVEL, vmin=0.0, vmax=top, clip=True)
    ax.set_facecolor(EMPTY)
    image = ax.imshow(np.ma.masked_invalid(agreement), cmap=HEAT, norm=norm, interpolation="nearest")
    ax.set_xticks(np.arange(1, n) - 0.5, minor=True)
    ax.set_yticks(np.arange(1, n) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=1.0)
    ax.tick_params(which="minor", length=0)
    size = 9.0 if n <= MANY else 7.0
    for row, column in np.argwhere(np.isfinite(agreement)):
        value = float(agreement[row, column])
        weak = "#666666" if value <= LEVEL else INK
        colour = "white" if norm(value) >= DARK else weak
        ax.text(column, row, _number(value), ha="center", va="center", color=colour, size=size)
    return image


def _number(value: float) -> str:
    """Return a number in at most five characters: one digit behind the point where it matters."""
    if abs(value) < 99.95:
        return f"{value:z.1f}"
    return f"{value:.0f}" if abs(value) < 99_999.5 else f"{value:.0e}".replace("e+0", "e")


def _bars(ax: Axes, report: ViewReport) -> int:
    """Draw the weights beside the rows of the heat map, and return how many views are left out."""
    n = len(report)
    beside = ax.inset_axes((1.0 + GAP / n, 0.0, min(0.5, max(WIDTH, 0.2 * n) / n), 1.0))
    weights, used = report.weights, report.trusted
    looks = [
        (f"{weight:.2f}", COLOURS[0], ink_of(ax)) if trusted else ("left out", GREY, GREY)
        for weight, trusted in zip(weights, used, strict=True)
    ]
    words, fills, inks = zip(*looks, strict=True)
    bars = beside.barh(range(n), weights, height=0.7, color=fills)
    for label, ink in zip(beside.bar_label(bars, words, padding=4, size="small"), inks, strict=True):
        label.set_color(ink)
    beside.set_ylim(ax.get_ylim())
    beside.set_xlim(0, 1.6 * float(weights.max()) or 1.0)  # room for the numbers
    beside.set_xticks([])
    beside.set_yticks([])
    finish(beside, "", "weight", spines=("left",))
    return int((~used).sum())


def _colour_bar(ax: Axes, image: AxesImage, *, top: float, n: int) -> None:
    """Draw the colour scale below, with a line at the level from which views agree."""
    marks = [0.0, LEVEL, *(10.0**power for power in range(1, 8) if 2 * LEVEL < 10.0**power <= top)]
    shape: dict[str, Any] = {"aspect": 36, "fraction": 0.08, "shrink": min(1.0, MANY / n)}
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", ticks=marks, format="%g", **shape)
    bar.ax.axvline(LEVEL, color=INK, linewidth=1.6)
    bar.ax.minorticks_off()
    bar.ax.tick_params(colors=ink_of(ax), length=0)
    bar.outline.set_visible(False)
    bar.set_label(
        f"shared neighbours, deviations above chance; views agree above {LEVEL:g}", color=ink_of(ax), size="small"
    )
