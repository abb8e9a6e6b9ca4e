"""Pictures of a fitted LKG or LandmarkLKG: its kernel weights, graph, kernel, embedding and convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelbraid._arrays import as_dense
from kernelbraid.learning.wording import kernel_is_fixed
from kernelbraid.plotting.axes import COLOURS, INK, finish, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy import sparse

    from kernelbraid.estimators import LKG, LandmarkLKG

MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")  # a second round of the colours gets the next one
HEAT = "Blues"  # white where there is nothing; brightness alone carries the value
MOST_POINTS = 20_000  # that are drawn of an embedding
PALEST = 0.15  # opacity of a sample whose label is not sure at all
BRIGHTEST = 99.5  # percentile of the off-diagonal values at which the colour scale ends


def plot_kernel_weights(model: LKG | LandmarkLKG, *, ax: Axes | None = None) -> Axes:
    """Draw the weight of every candidate kernel as a bar, in the order of the bank.

    Parameters
    ----------
    model : LKG or LandmarkLKG
        Fitted estimator.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    With ``gamma=math.inf``, as by default, the weights are not learned, and the title says so.
    """
    _check_kernels(model)
    names, weights = list(model.kernel_names_), np.asarray(model.kernel_weights_)
    ax = make_axes(ax, figsize=(6.0, 1.0 + 0.24 * len(names)))
    positions = np.arange(len(names))
    ax.barh(positions, weights, height=0.7, color=COLOURS[0])
    ax.set_yticks(positions, names)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, max(1.12 * float(weights.max()), 1e-12))
    for at in zip(weights, positions, strict=True):
        if at[0] >= 0.005:
            ax.annotate(f"{at[0]:.2f}", at, (4, 0), textcoords="offset points", va="center", color=INK, size="small")
    return finish(ax, f"Kernel weights{', not learned' if kernel_is_fixed(model) else ''}", "weight")


def plot_graph(model: LKG | LandmarkLKG, *, ax: Axes | None = None) -> Axes:
    """Draw the learned graph as a heat map, its samples sorted by cluster.

    Parameters
    ----------
    model : LKG or LandmarkLKG
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
    return _heat_map(model.graph_, _vertex_labels(model), "Learned graph", ax, power=0.5)


def plot_kernel(model: LKG | LandmarkLKG, *, ax: Axes | None = None) -> Axes:
    """Draw the kernel of the fit, learned or average, as a heat map, its samples sorted by cluster.

    Parameters
    ----------
    model : LKG or LandmarkLKG
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
    _check_kernels(model)
    title = "Average kernel" if kernel_is_fixed(model) else "Consensus kernel"
    kernel = getattr(model, "kernel_", None)
    if kernel is None:  # not kept, but it can be formed again
        fitted: Any = model._fitted
        kernel = fitted.consensus()
    return _heat_map(kernel, _vertex_labels(model), title, ax, power=1.0)


def plot_embedding(model: LKG | LandmarkLKG, *, confidence: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the samples on the first two principal axes of the spectral embedding, one colour per cluster.

    Of more than 20 000 samples, so many at even distances are drawn.

    Parameters
    ----------
    model : LKG or LandmarkLKG
        Fitted estimator.
    confidence : bool, default=False
        Draw samples the paler, the less sure their labels are: ``confidence_`` is the opacity, at least 0.15.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.
    """
    ax = make_axes(ax, figsize=(5.0, 4.5))
    step = -(-model.embedding_.shape[0] // MOST_POINTS)
    points, labels = _principal_axes(np.asarray(model.embedding_[::step])), np.asarray(model.labels_[::step])
    clusters = np.unique(labels)
    sure = np.clip(np.asarray(model.confidence_[::step], dtype=float), PALEST, 1.0) if confidence else None
    for number, cluster in enumerate(clusters):
        x, y = points[labels == cluster].T
        colour = COLOURS[number % len(COLOURS)]
        ax.scatter(
            x,
            y,
            s=26,
            color=colour if sure is None else _with_opacity(colour, sure[labels == cluster]),
            marker=MARKERS[number // len(COLOURS) % len(MARKERS)],
            edgecolor="white",
            linewidth=0.4,
            label=str(cluster),
        )
    ax.set_aspect("equal", adjustable="datalim")
    if len(clusters) <= 20:
        columns = 1 if len(clusters) <= 10 else 2
        legend = ax.legend(title="cluster", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, ncols=columns)
        for handle in filter(None, legend.legend_handles):
            handle.set_alpha(1.0)
    return finish(ax, "Spectral embedding", "first principal axis", "second principal axis")


def _with_opacity(colour: str, opacity: np.ndarray) -> np.ndarray:
    """Return a colour for each point, as red, green, blue and opacity."""
    from matplotlib.colors import to_rgb

    return np.column_stack([np.tile(to_rgb(colour), (len(opacity), 1)), opacity])


def plot_convergence(model: LKG | LandmarkLKG, *, ax: Axes | None = None) -> Axes:
    """Draw the change of the kernel and both residuals over the steps, on a logarithmic axis.

    Parameters
    ----------
    model : LKG or LandmarkLKG
        Fitted estimator.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes with the drawing.

    Notes
    -----
    A fit in one step, as with the default of LKG, has no course; the drawing says so.
    """
    ax = make_axes(ax, figsize=(6.0, 4.0))
    if model.n_iter_ == 1:
        ax.text(0.5, 0.5, "one step, nothing to draw", ha="center", va="center", color=INK, transform=ax.transAxes)
        ax.set(xticks=[], yticks=[])
        return finish(ax, f"Convergence ({model.status_} after 1 step)", "", spines=())
    curves = {
        "kernel_change": ("relative change of K", "-"),
        "graph_residual": ("‖Z − J‖, graph residual", "--"),
        "kernel_residual": ("‖K − W‖, kernel residual", "-."),
    }
    ax.set_yscale("log")
    lowest = np.inf
    for (name, (label, style)), colour in zip(curves.items(), (COLOURS[0], COLOURS[5], COLOURS[2]), strict=True):
        values = np.array(model.history_[name], dtype=float)
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
    return finish(ax, f"Convergence ({model.status_} after {model.n_iter_} steps)", "step", "value")


def _check_kernels(model: LKG | LandmarkLKG) -> None:
    """Refuse a fit that has joined graphs of views instead of kernels."""
    if hasattr(model, "view_report_") and not hasattr(model, "kernel_names_"):
        raise ValueError(
            f"{type(model).__name__} has fused the graphs of several views, and there is no kernel of all of them; "
            "plot_views draws what each view counts, and a fit with fusion='kernels' has such a kernel."
        )


def _vertex_labels(model: LKG | LandmarkLKG) -> np.ndarray:
    """Return the clusters of what graph and kernel are about: the landmarks, or all samples."""
    return np.asarray(getattr(model, "landmark_labels_", model.labels_))


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
    bar.ax.tick_params(colors=INK, length=0)
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


def _principal_axes(points: np.ndarray) -> np.ndarray:
    """Return the coordinates on the first two principal axes, (n, 2), with a sign that does not depend on chance."""
    centred = points - points.mean(axis=0)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    signs = np.where(right[np.arange(len(right)), np.abs(right).argmax(axis=1)] < 0, -1.0, 1.0)
    coordinates = (left * values * signs)[:, :2]
    return np.pad(coordinates, ((0, 0), (0, 2 - coordinates.shape[1])))
