"""What all pictures share, and the three that show figures: dots, lines over levels, mean ranks.

Position or brightness carries every value, so that the pictures can be read with any colour vision and in grey.
Nothing is shown and no global setting is changed.
"""

import io
from collections.abc import Mapping, Sequence
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.results.significance import Ranking

# Okabe and Ito's blue and orange.
OURS, PUBLISHED = "#0072B2", "#E69F00"
INK, FAINT = "#444444", "#dddddd"
HEAT = "cividis"
DPI = 150
#: How the points of a series are drawn; markers tell them apart alone.
LOOKS: dict[str, dict[str, object]] = {
    "published": {"marker": "o", "mfc": "white", "mec": PUBLISHED, "markersize": 6},
    "ours": {"marker": "o", "color": OURS, "markersize": 4},
    "label-tuned: LKGr as published": {"marker": "o", "mfc": "white", "mec": INK, "markersize": 9},
    "LKG": {"marker": "s", "color": OURS, "markersize": 6},
    "SC-knn": {"marker": "^", "color": "#D55E00", "markersize": 6},
    "KMeans": {"marker": "D", "color": PUBLISHED, "markersize": 5},
}
# Colours of Okabe and Ito, a grey, a brown and a purple, with dashes and markers: each tells the methods apart alone.
STYLES = (
    *((OURS, "-", "o"), ("#D55E00", "--", "s"), ("#009E73", "-.", "^"), ("#CC79A7", ":", "D"), ("#000000", "--", "v")),
    *((PUBLISHED, "-", "x"), ("#56B4E9", "-.", "P"), ("#999999", "-", "*"), ("#8C510A", ":", "p")),
    ("#6A3D9A", "--", "X"),
)
#: Methods that come first, and what the levels of each change are.
FIRST = ("LKGr", "LKGs")
UNITS = {
    "noise": "deviations of the entries",
    "outliers": "share of the samples",
    "useless_views": "number of views",
    "shuffled": "share of the samples, in one kernel",
}


def new_figure(title: str, n_panels: int, width: float, height: float, columns: int = 3) -> tuple[Figure, list[Axes]]:
    """Return a figure that belongs to no window, and as many axes as asked for."""
    columns = min(columns, n_panels)
    n_rows = -(-n_panels // columns)
    figure = Figure(figsize=(width * columns, height * n_rows), layout="constrained")
    figure.suptitle(title, size="medium")
    panels = figure.subplots(n_rows, columns, squeeze=False).ravel().tolist()
    for ax in panels:
        ax.set_axisbelow(True)
        ax.tick_params(length=0, colors=INK, labelsize="small")
        ax.spines[["top", "right", "left"]].set_visible(False)
    for unused in panels[n_panels:]:
        unused.set_axis_off()
    return figure, panels[:n_panels]


def to_png(figure: Figure) -> bytes:
    """Return a figure as the content of a file, the same for the same figure."""
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DPI)
    return target.getvalue()


def dots(title: str, rows: Sequence[str], panels: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Figure:
    """Draw figures in per cent as dots, a panel each with a line per row and a look per series."""
    wide = len(panels) == 1
    figure, drawn = new_figure(title, len(panels), 7.5 if wide else 3.6, (1.4 if wide else 0.8) + 0.2 * len(rows))
    for ax, (name, series) in zip(drawn, panels.items(), strict=True):
        for label, values in series.items():
            places = [rows.index(row) for row in values]
            ax.plot(list(values.values()), places, linestyle="none", label=label, zorder=3, **LOOKS[label])
        _rows(ax, rows)
        ax.set_xlim(0, 105)
        ax.set_title(name, loc="left", size="medium")
    if wide and len(panels[""]) > 2:
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


def _rows(ax: Axes, rows: Sequence[str]) -> None:
    ax.set_yticks(range(len(rows)), rows, size="small")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="y", color=FAINT, linewidth=0.6)


def ranks(title: str, panels: Mapping[str, tuple[Ranking, Mapping[str, float]]]) -> Figure:
    """Draw mean ranks, the best above, with bars at the side over methods that do not differ significantly.

    Guests have open circles and no part in the bars: each was ranked among the others alone.
    """
    n_rows = max(len(ranking.mean_ranks) + len(guests) for ranking, guests in panels.values())
    figure, drawn = new_figure(title, len(panels), 4.6, 1.2 + 0.24 * n_rows)
    for ax, (words, (ranking, guests)) in zip(drawn, panels.items(), strict=True):
        means = {**ranking.mean_ranks, **guests}
        rows = sorted(means, key=lambda name: means[name])
        _rows(ax, rows)
        for place, name in enumerate(rows):
            ax.plot([0, means[name]], [place, place], color=OURS if name in guests else INK, linewidth=0.8)
            look = LOOKS["published" if name in guests else "ours"]
            ax.plot([means[name]], [place], zorder=3, **{**look, "mec": OURS if name in guests else INK, "color": INK})
            ax.text(means[name] + 0.3, place, f"{means[name]:.1f}", va="center", size="x-small", color=INK)
        for number, group in enumerate(ranking.groups):
            ends = [rows.index(group[0]) - 0.2, rows.index(group[-1]) + 0.2]
            ax.plot([len(ranking.mean_ranks) + 0.5 * number] * 2, ends, color="black", linewidth=3)
        ax.set_xlim(left=0)
        ax.set_xlabel(f"mean rank, critical difference {ranking.critical_difference:.2f}", color=INK, size="small")
        ax.set_title(f"{words}, {ranking.n_data} data sets", loc="left", size="medium")
    figure.supxlabel("open circles: what users have, each ranked with the others", size="small", color=OURS)
    return figure


def lines(title: str, found: Mapping[str, Mapping[str, Mapping[float, float]]]) -> Figure:
    """Draw accuracies in per cent over the levels of a change, a panel per change and a line per method."""
    shown = {change: of for change, of in found.items() if of}
    figure, panels = new_figure(title, len(shown), 4.0, 3.0, columns=2)
    methods = sorted({method for of in shown.values() for method in of}, key=lambda name: (name not in FIRST, name))
    looks = dict(zip(methods, cycle(STYLES)))
    handles = {}
    for ax, (change, of) in zip(panels, shown.items(), strict=True):
        for method, levels in of.items():
            colour, dashes, marker = looks[method]
            look = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.5}
            [handles[method]] = ax.plot(list(levels), list(levels.values()), dashes, **look)
        ax.set_title(change.replace("_", " "), loc="left", size="medium")
        ax.set_xlabel(UNITS[change], color=INK)
        ax.set_ylabel("accuracy in per cent", color=INK)
        ax.set_ylim(0, 100)
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
    ordered = [handles[method] for method in methods]
    figure.legend(ordered, methods, loc="outside lower center", ncols=3 * min(2, len(shown)), frameon=False)
    return figure
