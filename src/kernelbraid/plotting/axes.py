"""What all pictures share: colours, axes, and how they are finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernelbraid._messages import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart with any colour vision.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#000000")
INK = "#444444"


def make_axes(ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(f"Pictures need matplotlib; {install('plot')}.") from None
    return pyplot.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def finish(ax: Axes, title: str, x: str, y: str = "", *, spines: tuple[str, ...] = ("left", "bottom")) -> Axes:
    """Give the axes their title and names, and take away the lines that carry nothing."""
    ax.set_title(title, loc="left", color=INK)
    ax.set_xlabel(x, color=INK)
    ax.set_ylabel(y, color=INK)
    for name, spine in ax.spines.items():
        spine.set_visible(name in spines)
        spine.set_color(INK)
    ax.tick_params(colors=INK)
    return ax
