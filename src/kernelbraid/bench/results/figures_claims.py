"""Pictures of the claims: what is left of every method as the data get worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kernelbraid.bench.records.record import Record
from kernelbraid.bench.results.claims import ROBUST, accuracies_by_level
from kernelbraid.plotting.drawing import FAINT, INK, OURS, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Colours of Okabe and Ito, a grey, a brown and a purple, with dashes and markers: each tells the methods apart alone.
STYLES = (
    (OURS, "-", "o"),
    ("#D55E00", "--", "s"),
    ("#009E73", "-.", "^"),
    ("#CC79A7", ":", "D"),
    ("#000000", "--", "v"),
    ("#E69F00", "-", "x"),
    ("#56B4E9", "-.", "P"),
    ("#999999", "-", "*"),
    ("#8C510A", ":", "p"),
    ("#6A3D9A", "--", "X"),
)
FIRST = ("LKGr", "LKGs")
COLUMNS = 2  # panels side by side
NAMES = 3  # methods in a line of the legend below each of them
UNITS = {
    "noise": "deviations of the entries",
    "outliers": "share of the samples",
    "useless_views": "number of views",
    "shuffled": "share of the samples, in one kernel",
}


def robustness(records: Sequence[Record]) -> Figure | None:
    """Draw accuracy against the level of every change, mean over the data sets, one line per method.

    Parameters
    ----------
    records : sequence of Record
        Results in any order.

    Returns
    -------
    matplotlib Figure or None
        One panel per change; None if no record is of changed data.
    """
    found = {change: accuracies_by_level(records, change) for change in ROBUST}
    drawn = {change: lines for change, lines in found.items() if lines}
    if not drawn:
        return None
    methods = {method for lines in drawn.values() for method in lines}
    ordered = [*(name for name in FIRST if name in methods), *sorted(methods.difference(FIRST))]
    looks = {method: STYLES[place % len(STYLES)] for place, method in enumerate(ordered)}
    figure, panels = new_figure(len(drawn), 4.0, 3.0, columns=COLUMNS)
    shown: dict[str, Line2D] = {}
    for ax, (change, lines) in zip(panels, drawn.items(), strict=True):
        shown |= _panel(ax, change, lines, looks)
    wide = NAMES * min(COLUMNS, len(drawn))
    figure.legend([shown[method] for method in ordered], ordered, loc="outside lower center", ncols=wide, frameon=False)
    figure.suptitle("Mean accuracy on data made worse", size="medium")
    return figure


def _panel(
    ax: Axes, change: str, lines: Mapping[str, Mapping[float, float]], looks: Mapping[str, tuple[str, str, str]]
) -> dict[str, Line2D]:
    shown = {}
    for method, steps in lines.items():
        colour, dashes, marker = looks[method]
        [shown[method]] = ax.plot(
            list(steps), list(steps.values()), dashes, color=colour, marker=marker, markersize=4, linewidth=1.5
        )
    ax.set_title(change.replace("_", " "), loc="left", size="medium")
    ax.set_xlabel(UNITS[change], color=INK)
    ax.set_ylabel("accuracy in per cent", color=INK)
    ax.set_ylim(0, 100)
    ax.grid(axis="y", color=FAINT, linewidth=0.6)
    plain(ax)
    return shown
