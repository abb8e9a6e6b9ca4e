"""What all pictures share: colours, axes, how they are finished; a sheet with panels, and the way into a file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError

from kernelbraid._machine import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart with any colour vision.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#000000")
# Clusters have ten, none of which is lost on white or on black; a second round of them gets the next marker.
CLUSTERS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#999933",
    "#8E44AD",
    "#888888",
    "#A0522D",
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
INK, CHALK = "#444444", "#CCCCCC"  # of words and lines, on a light ground and on a dark one


def make_axes(ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"Pictures need matplotlib; {install('plot')}.") from None
    return pyplot.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def check_fitted(model: Any, published: str) -> None:
    """Refuse what has not published the attribute that a picture shows: an unfitted estimator, or anything else."""
    if not hasattr(model, published):
        raise NotFittedError(
            f"{type(model).__name__} is not fitted, or is no LKG: it has no {published} to draw; fit an LKG first."
        )


def mark(number: int) -> tuple[str, str]:
    """Return colour and marker of a cluster; 80 of them differ."""
    return CLUSTERS[number % len(CLUSTERS)], MARKERS[number // len(CLUSTERS) % len(MARKERS)]


def ink_of(ax: Axes) -> str:
    """Return the colour of words that can be read on the ground of a figure."""
    from matplotlib.colors import to_rgba

    red, green, blue, opacity = to_rgba(ax.figure.get_facecolor())
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return INK if brightness >= 0.5 or opacity < 0.5 else CHALK


def finish(ax: Axes, title: str, x: str, y: str = "", *, spines: tuple[str, ...] = ("left", "bottom")) -> Axes:
    """Give the axes their title and names, and take away the lines that carry nothing."""
    ink = ink_of(ax)
    ax.set_title(title, loc="left", color=ink)
    ax.set_xlabel(x, color=ink)
    ax.set_ylabel(y, color=ink)
    for name, spine in ax.spines.items():
        spine.set_visible(name in spines)
        spine.set_color(ink)
    ax.tick_params(colors=ink)
    return ax


# Okabe and Ito's blue and orange.
OURS, PUBLISHED = "#0072B2", "#E69F00"
INK, FAINT = "#444444", "#dddddd"
HEAT = "cividis"
FORMATS = ("png", "svg")
DPI = 150
COLUMNS = 3  # panels side by side


def new_figure(n_panels: int, width: float, height: float, columns: int = COLUMNS) -> tuple[Figure, list[Axes]]:
    """Return a figure that belongs to no window, and as many axes as asked for."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"matplotlib, which draws the figures, is not installed; {install('plot')}.") from None
    columns = min(columns, n_panels)
    n_rows = -(-n_panels // columns)
    figure = Figure(figsize=(width * columns, height * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(n_rows, columns, squeeze=False).ravel().tolist()
    for unused in grid[n_panels:]:
        unused.set_axis_off()
    return figure, grid[:n_panels]


def plain(ax: Axes) -> None:
    """Take away the lines that carry nothing."""
    ax.set_axisbelow(True)
    ax.tick_params(length=0, colors=INK, labelsize="small")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def render(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of a file, the same for the same figure."""
    from matplotlib import rc_context

    target = io.BytesIO()
    with rc_context({"svg.hashsalt": "kernelbraid", "svg.fonttype": "none"}):
        figure.savefig(target, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
    return target.getvalue()
