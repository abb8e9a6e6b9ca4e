"""Accuracy over two parameters, as in the figures of the paper."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from lab.results.figures import FAINT, INK, new_figure
from lab.results.pools import Pool, Pools
from lab.results.published import PROPOSED
from lab.results.table import Picture

FIXED, ROWS, COLUMNS = "alpha", "beta", "gamma"
COLOURS = "cividis"
DARK = 0.6  # share of the colour scale below which writing is white

#: The best result by value of two parameters: whether it is sound, its accuracy in per cent, how it ended if not.
Surface: TypeAlias = Mapping[tuple[float, float], tuple[bool, float, str]]


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
