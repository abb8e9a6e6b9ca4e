"""Pictures of a fitted LKG: its kernel weights, graph, kernel, embedding and convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelbraid._arrays import as_dense
from kernelbraid.plotting.axes import COLOURS, HEAT, INK, check_fitted, finish, ink_of, make_axes, mark
from kernelbraid.plotting.layout import middles_of, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy import sparse

    from kernelbraid.estimators import LKG
    from kernelbraid.plotting.layout import Layout

CROWD = 1_000  # samples: more are drawn as smaller points
MOST_NAMED = 20  # clusters in a legend
PALEST = 0.15  # opacity of a sample whose label is not sure at all
BRIGHTEST = 99.5  # percentile of the off-diagonal values at which the colour scale ends


def plot_kernel_weights(model: LKG, *, ax: Axes | None = None) -> Axes:
    """Draw the weight of every candidate kernel as a bar, in the order of the bank.

    Parameters
    ----------
    model : LKG
        Fitted estimator.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    By default LKG learns no weights; a fit with ``solver=ADMM()`` does. Weights that are all alike say so in the title.
    """
    solved = _solved(model, "kernel_weights_")
    names, weights = (model.kernel_names_, model.kernel_weights_) if solved is None else (solved.names, solved.g)
    weights = np.asarray(weights)
    ax = make_axes(ax, figsize=(6.0, 1.0 + 0.24 * len(names)))
    bars = ax.barh(range(len(names)), weights, height=0.7, color=COLOURS[0])
    told = [f"{weight:.2f}" if weight >= 0.005 else "" for weight in weights]
    ax.bar_label(bars, told, padding=4, color=ink_of(ax), size="small")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, max(1.12 * float(weights.max()), 1e-12))
    return finish(ax, f"Kernel weights{', all alike' if np.ptp(weights) == 0 else ''}", "weight")


def plot_graph(model: LKG, *, ax: Axes | None = None) -> Axes:
    """Draw the learned graph as a heat map, its samples sorted by cluster.

    Parameters
    ----------
    model : LKG
        Fitted estimator.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    Colours follow the square root of the values, between the 0.5th and the 99.5th percentile of those off the
    diagonal, so that weak and strong edges both show.
    """
    check_fitted(model, "graph_")
    return _heat_map(model.graph_, np.asarray(model.labels_), "Learned graph", ax, power=0.5)


def plot_kernel(model: LKG, *, ax: Axes | None = None) -> Axes:
    """Draw the kernel that a solver has learned as a heat map, its samples sorted by cluster.

    Parameters
    ----------
    model : LKG
        Fitted estimator.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    Colours follow the values, between the 0.5th and the 99.5th percentile of those off the diagonal.
    """
    solved: Any = _solved(model)
    return _heat_map(solved.K, np.asarray(model.labels_), "Consensus kernel", ax, power=1.0)


def plot_embedding(model: LKG, *, layout: Layout = "auto", confidence: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the samples in the plane, every cluster with a colour and a marker of its own.

    Parameters
    ----------
    model : LKG
        Fitted estimator.
    layout : {"auto", "spectral", "graph"}, default="auto"
        Where samples stand. ``"spectral"``: on the first two principal axes of the spectral embedding, which show two
        or three clusters, and a legend names them. ``"graph"``: on a map on which neighbours in the graph stand
        together, with the names of the clusters at their centres; a few seconds for 2,000 samples. ``"auto"`` takes
        the map from four clusters on.
    confidence : bool, default=False
        Draw samples the paler, the less sure their labels are: ``confidence_`` is the opacity, at least 0.15.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    The map is made by t-SNE of scikit-learn. Samples are drawn together that a walk of one or two steps on the graph
    often joins. Distances between clusters and their sizes on the map mean little. The same model gives the same map.
    Of more than 20,000 samples, and on the map of more than 2,000, so many at even distances are drawn.
    """
    check_fitted(model, "embedding_")
    ax = make_axes(ax, figsize=(5.0, 4.5))
    points, drawn, placed = place(model, layout)
    labels = np.asarray(model.labels_[drawn])
    clusters = np.unique(labels)
    sure = np.clip(np.asarray(model.confidence_[drawn], dtype=float), PALEST, 1.0) if confidence else None
    for number, cluster in enumerate(clusters):
        own, (colour, marker) = labels == cluster, mark(number)
        ax.scatter(
            points[own, 0],
            points[own, 1],
            s=26 if len(labels) <= CROWD else 12,
            color=colour if sure is None else _with_opacity(colour, sure[own]),
            marker=marker,
            edgecolor=ax.get_facecolor(),
            linewidth=0.4,
            label=str(cluster),
        )
    ax.set_aspect("equal", adjustable="datalim")
    if placed == "graph" or len(clusters) > MOST_NAMED:
        from matplotlib.patheffects import withStroke

        rim = [withStroke(linewidth=3.0, foreground=ax.get_facecolor())]
        look: dict[str, Any] = {"ha": "center", "va": "center", "weight": "bold", "zorder": 5, "path_effects": rim}
        for x, y, cluster in middles_of(points, labels):
            ax.text(x, y, str(cluster), color=ink_of(ax), **look)
    else:
        columns = 1 if len(clusters) <= 10 else 2
        ink = ink_of(ax)
        legend = ax.legend(title="cluster", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, ncols=columns)
        for text in (legend.get_title(), *legend.get_texts()):
            text.set_color(ink)
        for handle in filter(None, legend.legend_handles):
            handle.set_alpha(1.0)
    if placed == "graph":
        ax.set(xticks=[], yticks=[])
        return finish(ax, "Map of the graph", "", spines=())
    return finish(ax, "Spectral embedding", "first principal axis", "second principal axis")


def _with_opacity(colour: str, opacity: np.ndarray) -> np.ndarray:
    """Return a colour for each point, as red, green, blue and opacity."""
    from matplotlib.colors import to_rgb

    return np.column_stack([np.tile(to_rgb(colour), (len(opacity), 1)), opacity])


def plot_convergence(model: LKG, *, ax: Axes | None = None) -> Axes:
    """Draw the change of the kernel and both residuals over the steps, on a logarithmic axis.

    Parameters
    ----------
    model : LKG
        Fitted estimator.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    A fit in one step has no course; the drawing says so.
    """
    solved: Any = _solved(model)
    ax = make_axes(ax, figsize=(6.0, 4.0))
    if solved.n_iter == 1:
        middle: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
        ax.text(0.5, 0.5, "one step, nothing to draw", color=ink_of(ax), **middle)
        ax.set(xticks=[], yticks=[])
        return finish(ax, f"Convergence ({solved.status} after 1 step)", "", spines=())
    curves = [
        ("kernel_change", "relative change of K", "-", COLOURS[0]),
        ("graph_residual", "‖Z − J‖, graph residual", "--", COLOURS[5]),
        ("kernel_residual", "‖K − W‖, kernel residual", "-.", COLOURS[2]),
    ]
    ax.set_yscale("log")
    lowest = np.inf
    for name, label, style, colour in curves:
        values = np.array(solved.history[name], dtype=float)
        values[~(np.isfinite(values) & (values > 0))] = np.nan  # a logarithmic axis has no place for 0
        if np.isnan(values).all():  # a fixed kernel does not change
            continue
        ax.plot(np.arange(1, len(values) + 1), values, style, color=colour, linewidth=1.6, label=label)
        # The residuals of the first two steps may be rounding errors, far below all others.
        lowest = np.nanmin([lowest, *values[2:]])
    if np.isfinite(lowest):
        ax.set_ylim(bottom=lowest / 3)
    if ax.lines:
        ax.legend(frameon=False)
    ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    return finish(ax, f"Convergence ({solved.status} after {solved.n_iter} steps)", "step", "value")


def _solved(model: Any, instead: str | None = None) -> Any:
    """Return what a solver found; None where another attribute takes its place; refuse a fit that has neither."""
    check_fitted(model, "labels_")
    if instead is not None and hasattr(model, instead):
        return None
    if hasattr(model, "solution_"):
        return model.solution_
    if getattr(getattr(model, "views_", None), "shares", None) is not None:
        raise ValueError(
            f"{type(model).__name__} has fused the graphs of several views, and there is no kernel of all of them; "
            "plot_views draws what each view counts, and a fit with fusion='kernels' has such a kernel."
        )
    raise ValueError(
        f"{type(model).__name__} was fitted without a solver, which learns a kernel; fit LKG(solver=ADMM())."
    )


def _heat_map(
    matrix: np.ndarray | sparse.csr_array, labels: np.ndarray, title: str, ax: Axes | None, *, power: float
) -> Axes:
    """Draw a square matrix in the order of the clusters, with a line between clusters."""
    ax = make_axes(ax, figsize=(5.4, 4.6))
    from matplotlib.colors import PowerNorm

    order = np.argsort(labels, kind="stable")
    sorted_matrix = np.asarray(as_dense(matrix))[np.ix_(order, order)]
    low, high = _colour_range(sorted_matrix)
    norm = PowerNorm(power, vmin=low, vmax=high, clip=True)
    image = ax.imshow(sorted_matrix, cmap=HEAT, norm=norm, interpolation="nearest", rasterized=True)
    borders = np.cumsum(np.unique(labels, return_counts=True)[1])[:-1] - 0.5
    for draw in (ax.axhline, ax.axvline):
        for border in borders:
            draw(border, color=INK, linewidth=0.5)
    ticks = low + (high - low) * np.linspace(0, 1, 5) ** (1 / power)  # evenly spaced on the colour bar
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.85, extend="both", ticks=ticks, format="%.2g")
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=ink_of(ax), length=0)
    ax.set_xticks([])
    ax.set_yticks([])
    return finish(ax, title, "samples, by cluster", "samples, by cluster", spines=())


def _colour_range(matrix: np.ndarray) -> tuple[float, float]:
    """Return where the colour scale starts and ends, judged by the values off the diagonal if there are any."""
    off_diagonal = matrix[~np.eye(len(matrix), dtype=bool)]
    for values in (off_diagonal, matrix):
        if values.size:
            low, high = np.percentile(values, (100 - BRIGHTEST, BRIGHTEST)).tolist()
            if high > low:
                return low, high
    return 0.0, max(float(matrix.max()), 1.0)
