"""What all figures share: a sheet with panels, colours, and the way into a file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from kernelbraid._system import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
