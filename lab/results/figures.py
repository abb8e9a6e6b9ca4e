"""What all pictures share, and the four: dots, mean ranks, lines over levels, accuracy over two parameters.

Position or brightness carries every value, so that the pictures can be read with any colour vision and in grey.
Nothing is shown and no global setting is changed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from lab.results.pools import Pool, Pools
from lab.results.published import PROPOSED
from lab.results.significance import Ranking
from lab.results.table import Picture

# Okabe and Ito's blue and orange.
OURS, PUBLISHED = "#0072B2", "#E69F00"
INK, FAINT = "#444444", "#dddddd"
#: How the points of a series are drawn; markers tell them apart alone.
LOOKS: dict[str, dict[str, Any]] = {
    "published": {"marker": "o", "mfc": "white", "mec": PUBLISHED, "markersize": 6},
    "ours": {"marker": "o", "color": OURS, "markersize": 4},
    "label-tuned: LKGr as published": {"marker": "o", "mfc": "white", "mec": INK, "markersize": 9},
    "LKG": {"marker": "s", "color": OURS, "markersize": 6},
    "SC-knn": {"marker": "^", "color": "#D55E00", "markersize": 6},
    "KMeans": {"marker": "D", "color": PUBLISHED, "markersize": 5},
    "ranked": {"marker": "o", "color": INK, "markersize": 5},
    "guests": {"marker": "o", "mfc": "white", "mec": OURS, "markersize": 7},
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
FIXED, ROWS, COLUMNS = "alpha", "beta", "gamma"
COLOURS = "cividis"
DARK = 0.6  # share of the colour scale below which writing is white

#: The best result by value of two parameters: whether it is sound, its accuracy in per cent, how it ended if not.
Surface: TypeAlias = Mapping[tuple[float, float], tuple[bool, float, str]]


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


#: Rows from above, and by series the figure of each row that has one.
Panel: TypeAlias = tuple[Sequence[str], Mapping[str, Mapping[str, float]]]


def dots(title: str, panels: Mapping[str, Panel], *, end: float = 105, columns: int = 3) -> Figure:
    """Draw figures as dots, a panel each with a line per row and a look per series."""
    n_rows = max(len(rows) for rows, _ in panels.values())
    figure, drawn = new_figure(title, len(panels), 1.1 + 7.5 / columns, 1.0 + 0.22 * n_rows, columns)
    for ax, (name, (rows, series)) in zip(drawn, panels.items(), strict=True):
        for label, values in series.items():
            places = [rows.index(row) for row in values]
            ax.plot(list(values.values()), places, linestyle="none", label=label, zorder=3, **LOOKS[label])
        ax.set_yticks(range(len(rows)), rows, size="small")
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, end)
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
        ax.set_title(name, loc="left", size="medium")
    if columns == 1:
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


def ranks(title: str, found: Mapping[str, tuple[Ranking, Mapping[str, float]]]) -> Figure:
    """Draw mean ranks, the best above, with bars at the side over methods that do not differ significantly.

    Guests have open circles and no part in the bars: each was ranked among the others alone.
    """
    panels = {}
    for words, (ranking, guests) in found.items():
        means = {**ranking.mean_ranks, **guests}
        rows = sorted(means, key=lambda name: means[name])
        panels[f"{words}, {ranking.n_data} data sets"] = rows, {"ranked": ranking.mean_ranks, "guests": guests}
    n_methods = max(len(ranking.mean_ranks) for ranking, _ in found.values())
    figure = dots(title, panels, end=n_methods + 5, columns=2)
    for ax, (rows, _), (ranking, _) in zip(figure.axes, panels.values(), found.values(), strict=False):
        for number, group in enumerate(ranking.groups):
            ends = [rows.index(group[0]) - 0.2, rows.index(group[-1]) + 0.2]
            ax.plot([n_methods + 0.5 * number] * 2, ends, color="black", linewidth=3)
        ax.set_xticks(range(1, n_methods + 1, 2))
        ax.set_xlabel(f"mean rank, critical difference {ranking.critical_difference:.2f}", color=INK, size="small")
    figure.supxlabel(
        "open circles: what users have, each ranked with the others, no part in the bars", size="small", color=OURS
    )
    return figure


def lines(title: str, found: Mapping[str, Mapping[str, Mapping[float, float]]]) -> Figure:
    """Draw accuracies in per cent over the levels of a change, a panel per change and a line per method."""
    shown = {change: of for change, of in found.items() if of}
    figure, panels = new_figure(title, len(shown), 4.0, 3.0, columns=2)
    methods = sorted({method for of in shown.values() for method in of}, key=lambda name: (name not in FIRST, name))
    handles = {}
    for ax, (change, of) in zip(panels, shown.items(), strict=True):
        for method, levels in of.items():
            colour, dashes, marker = STYLES[methods.index(method) % len(STYLES)]
            look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.5}
            [handles[method]] = ax.plot(list(levels), list(levels.values()), dashes, **look)
        ax.set_title(change.replace("_", " "), loc="left", size="medium")
        ax.set_xlabel(UNITS[change], color=INK)
        ax.set_ylabel("accuracy in per cent", color=INK)
        ax.set_ylim(0, 100)
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
    ordered = [handles[method] for method in methods]
    figure.legend(ordered, methods, loc="outside lower center", ncols=3 * min(2, len(shown)), frameon=False)
    return figure


def sensitivities(results: Pools, stem: str) -> Iterator[Picture]:
    """Yield a picture for each proposed method and data set with a grid of parameters."""
    for method in PROPOSED:
        for data in results.data:
            found, title = surfaces(results[data, method]), f"{method} on {data}; best over parameters not shown"
            if found:
                yield Picture(f"sensitivity_{method}_{data}_{stem}", title, partial(draw, title, found))


def surfaces(pool: Pool) -> dict[float, Surface]:
    """Return a surface for every alpha at which more than half of a grid over beta and gamma was run.

    A few settings that share a value by chance, as those drawn at random may, are no surface.
    """
    results = [(of.trial.parameters, (not of.collapsed, 100 * of.scores["acc"], "collapsed")) for of in pool.outcomes]
    results += [(record.trial.parameters, (False, -1.0, record.status)) for record in pool.missing]
    found: dict[float, dict[tuple[float, float], tuple[bool, float, str]]] = defaultdict(dict)
    for parameters, result in results:
        if {FIXED, ROWS, COLUMNS} <= parameters.keys():
            place, surface = (parameters[ROWS], parameters[COLUMNS]), found[parameters[FIXED]]
            surface[place] = max(result, surface.get(place, result))
    sizes = {at: [len(set(values)) for values in zip(*surface, strict=True)] for at, surface in found.items()}
    return {at: found[at] for at, (ys, xs) in sorted(sizes.items()) if min(ys, xs) > 1 and 2 * len(found[at]) > ys * xs}


def draw(title: str, found: Mapping[float, Surface]) -> Figure:
    """Draw surfaces side by side on one colour scale: a heat map each, unsound cells hatched and labelled."""
    n_columns = max(len({x for _, x in surface}) for surface in found.values())
    figure, panels = new_figure(title, len(found), max(3.2, 0.75 * n_columns + 1), 3.4, columns=2)
    sound = [value for surface in found.values() for is_sound, value, _ in surface.values() if is_sound]
    norm = Normalize(min(sound, default=0), max(sound, default=100))
    for ax, (at, surface) in zip(panels, found.items(), strict=True):
        ys, xs = (sorted(set(values)) for values in zip(*surface, strict=True))
        colours = np.full((len(ys), len(xs)), np.nan)
        for (row, column), (is_sound, value, ending) in surface.items():
            y, x = ys.index(row), xs.index(column)
            text = f"{value:.1f}" if value >= 0 else ""
            look: dict[str, Any] = {"color": "white" if norm(value) < DARK else "black", "size": "small"}
            if is_sound:
                colours[y, x] = value
            else:
                text = f"{ending}\n{text}".strip()
                look = {"color": INK, "size": "xx-small", "bbox": {"facecolor": "white", "lw": 0, "pad": 0.8}}
            ax.text(x, y, text, ha="center", va="center", **look)
        ax.imshow(colours, COLOURS, norm=norm, origin="lower", aspect="auto")
        ax.patch.set(facecolor="white", edgecolor=FAINT, hatch="////")
        ax.set_xticks(range(len(xs)), [f"{value:g}" for value in xs])
        ax.set_yticks(range(len(ys)), [f"{value:g}" for value in ys])
        ax.set(xlabel=COLUMNS, ylabel=ROWS)
        ax.set_title(f"{FIXED} = {at:g}", loc="left", size="medium")
    figure.colorbar(ScalarMappable(norm, COLOURS), ax=panels, shrink=0.8, label="Acc in per cent")
    return figure
