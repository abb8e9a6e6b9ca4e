"""A picture of clusters from coarse to fine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernelbraid.plotting.axes import check_fitted, finish, ink_of, make_axes, mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from kernelbraid.estimators import LKG

HEIGHT = 0.72  # of a row, of which each level has one
BEHIND = 0.45  # opacity of levels that are not taken


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
    n, above, places, colours = len(levels[0].labels), np.zeros(0, dtype=int), np.zeros(1), np.zeros(1, dtype=int)
    for row, level in enumerate(levels):
        labels, k = np.asarray(level.labels), level.n_clusters
        sizes = np.bincount(labels, minlength=k)
        parents = np.zeros(k, dtype=int)
        if row > 0:
            shared = np.zeros((k, len(places)))
            np.add.at(shared, (labels, above), 1)
            parents = shared.argmax(axis=1)
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
