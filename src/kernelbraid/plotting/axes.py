"""What all pictures share: colours, axes, how they are finished, the way into a file; and a sheet of sample images."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from kernelbraid._machine import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kernelbraid.datasets import Images

# Okabe and Ito's colours, told apart with any colour vision, and four more; none is lost on white or on black. A second
# round of clusters gets the next marker.
COLOURS: tuple[str, ...] = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
COLOURS += ("#999933", "#8E44AD", "#888888", "#A0522D")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
INK, CHALK = "#444444", "#CCCCCC"  # of words and lines, on a light ground and on a dark one
HEAT = "Blues"  # white where there is nothing; brightness alone carries the value
DPI = 150
BETWEEN = 0.8  # brightness of what lies between the images of a sheet, which may be white at their edges
WIDTH, NARROWEST = 0.6, 3.0  # of an image, and of a sheet whose title is not cut off, in inches


def make_axes(ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"Pictures need matplotlib; {install('plot')}.") from None
    return pyplot.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure that belongs to no window, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(f"Pictures need matplotlib; {install('plot')}.") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def check_fitted(model: Any, published: str) -> None:
    """Refuse what has not published the attribute that a picture shows: an unfitted estimator, or anything else."""
    if isinstance(model, type) or not hasattr(model, published):
        raise NotFittedError(
            f"{type(model).__name__} is not fitted, or is no LKG: it has no {published} to draw; fit an LKG first."
        )


def mark(number: int) -> tuple[str, str]:
    """Return colour and marker of a cluster; 80 of them differ."""
    return COLOURS[number % len(COLOURS)], MARKERS[number // len(COLOURS) % len(MARKERS)]


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


def render(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of a file, the same for the same figure."""
    from matplotlib import rc_context

    target = io.BytesIO()
    with rc_context({"svg.hashsalt": "kernelbraid", "svg.fonttype": "none"}):
        figure.savefig(target, format=kind, dpi=DPI, metadata={"Date": None} if kind == "svg" else None)
    return target.getvalue()


def sample_sheet(images: Images) -> Figure:
    """Draw images as a grid, one row per class, as in Figure 1 of the paper; each has its own grey scale.

    Parameters
    ----------
    images : Images
        As `kernelbraid.datasets.load_images` returns them.

    Returns
    -------
    matplotlib Figure
        One panel; its title says what was done to the grey levels.
    """
    sheet = tile([[_stretch(image) for image in row] for row in images.rows])
    height, width = images.rows[0].shape[1:]
    columns = max(len(row) for row in images.rows)
    size = max(NARROWEST, WIDTH * (columns + 1)), WIDTH * height / width * len(images.rows) + 0.5
    figure, ax = new_figure(*size)
    ax.imshow(sheet, "gray", vmin=0, vmax=1, interpolation="nearest")
    middles = [row * (height + gap_of(height)) + (height - 1) / 2 for row in range(len(images.rows))]
    ax.set_yticks(middles, [f"class {one}" for one in images.classes], size="small", color=INK)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    steps = f"\nafter {' and '.join(images.steps)}" if images.steps else ""
    ax.set_title(f"{images.title}: {height} x {width} pixels{steps}", loc="left", size="medium")
    return figure


def tile(rows: list[list[np.ndarray]]) -> np.ndarray:
    """Put images of one size side by side and below each other, with a gap of some pixels."""
    gap, columns = gap_of(len(rows[0][0])), max(map(len, rows))
    empty = np.full_like(rows[0][0], BETWEEN)
    full = [[*row, *[empty] * (columns - len(row))] for row in rows]
    sheet = np.block([[np.pad(image, (0, gap), constant_values=BETWEEN) for image in row] for row in full])
    return sheet[:-gap, :-gap]


def gap_of(height: int) -> int:
    """Return the pixels between two images."""
    return max(1, height // 12)


def _stretch(image: np.ndarray) -> np.ndarray:
    """Return an image from 0 to 1; one of a single value is black."""
    values = np.asarray(image, dtype=float)
    span = values.max() - values.min()
    return (values - values.min()) / (span if span > 0 else 1.0)
