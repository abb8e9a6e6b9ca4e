"""The picture of the study: what every method reaches on every data set without labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, TypedDict

from kernelbraid.bench.records.record import Record
from kernelbraid.bench.results.published import DATA
from kernelbraid.bench.results.study import SEARCH, TUNED, label_free_figures
from kernelbraid.plotting.drawing import FAINT, INK, OURS, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(TypedDict, total=False):
    """How the points of a method are drawn."""

    marker: str
    color: str
    markerfacecolor: str
    markeredgecolor: str
    markersize: float


# Colours of Okabe and Ito; markers tell the methods apart alone.
LOOKS: dict[str, Look] = {
    TUNED: {"marker": "o", "markerfacecolor": "white", "markeredgecolor": INK, "markersize": 9},
    SEARCH: {"marker": "o", "color": OURS, "markersize": 7},
    "LKG": {"marker": "s", "color": "#56B4E9", "markersize": 6},
    "SC-knn": {"marker": "^", "color": "#D55E00", "markersize": 6},
    "KMeans": {"marker": "D", "color": "#E69F00", "markersize": 5},
}
MEAN = "mean"


def study_figures(records: Sequence[Record]) -> Iterator[tuple[str, Figure]]:
    """Yield the picture of the study with the name of its file, if there is anything to show."""
    found = label_free_figures(records, [name for name in LOOKS if name != TUNED])
    if any(found.values()):
        yield "study", draw(found)


def draw(found: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw accuracies as dots, one line per data set, and the means of the methods that have all of them.

    Parameters
    ----------
    found : mapping
        Accuracies in per cent by method, then by title of the data set.

    Returns
    -------
    matplotlib Figure
        Data sets in the order of the paper; what labels would have picked is an open circle.
    """
    lines = [title for title in DATA if any(title in figures for figures in found.values())]
    figure, [ax] = new_figure(1, 7.5, 1.4 + 0.36 * (len(lines) + 1))
    for method, look in LOOKS.items():
        figures = dict(found.get(method, {}))
        if figures.keys() >= set(lines):
            figures[MEAN] = fmean(figures[title] for title in lines)
        places = [place for place, title in enumerate([*lines, MEAN]) if title in figures]
        values = [figures[title] for title in [*lines, MEAN] if title in figures]
        ax.plot(values, places, linestyle="none", label=method, zorder=3, **look)
    _axes(ax, [*lines, MEAN])
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    figure.suptitle("Accuracy in per cent: filled without labels, open circle label-tuned", size="medium")
    return figure


def _axes(ax: Axes, lines: Sequence[str]) -> None:
    ax.set_yticks(range(len(lines)), lines)
    ax.set_ylim(len(lines) - 0.5, -0.5)
    ax.set_xlim(0, 102)
    ax.axhline(len(lines) - 1.5, color=INK, linewidth=0.8)
    ax.grid(axis="y", color=FAINT, linewidth=0.6)
    plain(ax)
