"""Sample images of a data set, as in Figure 1 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernelbraid.datasets import Images
from kernelbraid.plotting.axes import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETWEEN = 0.8  # brightness of what lies between the images, which may be white at their edges
WIDTH, NARROWEST = 0.6, 3.0  # of an image, and of a figure whose title is not cut off, in inches


def sample_sheet(images: Images) -> Figure:
    """Draw images as a grid, one row per class; each has its own grey scale.

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
    figure, [ax] = new_figure(1, *size)
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
    height, width = rows[0][0].shape
    gap, columns = gap_of(height), max(map(len, rows))
    sheet = np.full((len(rows) * (height + gap) - gap, columns * (width + gap) - gap), BETWEEN)
    for y, row in enumerate(rows):
        for x, image in enumerate(row):
            top, left = y * (height + gap), x * (width + gap)
            sheet[top : top + height, left : left + width] = image
    return sheet


def gap_of(height: int) -> int:
    """Return the pixels between two images."""
    return max(1, height // 12)


def _stretch(image: np.ndarray) -> np.ndarray:
    """Return an image from 0 to 1; one of a single value is black."""
    values = np.asarray(image, dtype=float)
    span = values.max() - values.min()
    return (values - values.min()) / (span if span > 0 else 1.0)
