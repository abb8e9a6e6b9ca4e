"""Pictures of what records kept of their fits: curves of convergence, and consensus kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kernelbraid.bench.records.record import Record
from kernelbraid.bench.records.snapshot_data import CURVES, Curves, colour_range, ending
from kernelbraid.plotting.drawing import FAINT, HEAT, INK, OURS, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Colour, of Okabe and Ito, and dashes of each curve: both tell them apart.
STYLES = (("#000000", ":"), (OURS, "-"), ("#009E73", "-."), ("#D55E00", "--"))
LOOKS = dict(zip(CURVES.values(), STYLES, strict=True))


def convergence(records: Sequence[Record]) -> Figure:
    """Draw the history of fits on logarithmic axes, one panel per record and one line per quantity.

    Parameters
    ----------
    records : sequence of Record
        At least one; all of them kept their history.

    Returns
    -------
    matplotlib Figure
        Panels in the order of the records; their titles say how the fits ended.
    """
    figure, panels = new_figure(len(records), 4.4, 2.8, columns=2)
    shown: dict[str, Line2D] = {}
    for ax, record in zip(panels, records, strict=True):
        curves = Curves.of(record.kept["history"])
        ax.set_yscale("log")
        for label, values in curves.series.items():
            colour, dashes = LOOKS[label]
            steps = np.arange(1, len(values) + 1)
            heights = np.array(values, dtype=float)  # None becomes nan, a gap
            [shown[label]] = ax.plot(steps, heights, dashes, color=colour, linewidth=1.5, marker=".", markersize=3)
        ax.set_ylim(bottom=curves.bottom)
        ax.set_xlabel("step", color=INK)
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
        _name(ax, record, ending(record))
        ax.minorticks_off()
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle("Convergence of the most accurate fits that were kept", size="medium")
    return figure


def consensus_kernels(records: Sequence[Record]) -> Figure:
    """Draw consensus kernels as heat maps, samples ordered by cluster, with lines between the clusters.

    Parameters
    ----------
    records : sequence of Record
        At least one; all of them kept their kernel.

    Returns
    -------
    matplotlib Figure
        One panel per record, each with its own colour scale, without the half per cent of values at either end.
    """
    figure, panels = new_figure(len(records), 4.4, 4.0, columns=2)
    for ax, record in zip(panels, records, strict=True):
        image, sizes = np.array(record.kept["kernel"]["image"], dtype=float), record.kept["kernel"]["sizes"]
        n = sum(sizes)
        low, high = colour_range(record.kept["kernel"]["image"])
        drawn = ax.imshow(image, HEAT, vmin=low, vmax=high, extent=(0, n, n, 0), interpolation="nearest")
        for border in np.cumsum(sizes)[:-1]:
            ax.axhline(border, color="white", linewidth=0.6)
            ax.axvline(border, color="white", linewidth=0.6)
        figure.colorbar(drawn, ax=ax, shrink=0.85, extend="both", format="%.3g")
        ax.set_xticks([])
        ax.set_yticks([])
        _name(ax, record, f"{n} samples in {len(sizes)} clusters")
        ax.spines["bottom"].set_visible(False)
    figure.suptitle(
        "Consensus kernels of the most accurate fits that were kept, samples ordered by cluster", size="medium"
    )
    return figure


def _name(ax: Axes, record: Record, more: str) -> None:
    ax.set_title(f"{record.trial.data}, {record.trial.method}: {more}", loc="left", size="medium")
    plain(ax)
