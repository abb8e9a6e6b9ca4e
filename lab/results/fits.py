"""Pictures from inside the fits: accuracy over two parameters, and what records kept of steps and kernels."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from lab.records import Record
from lab.results.figures import FAINT, HEAT, INK, OURS, new_figure
from lab.results.pools import Pool, by_scoring, pools
from lab.results.published import PROPOSED, RECORD_NAMES
from lab.results.table import Picture

FIXED, ROWS, COLUMNS = "alpha", "beta", "gamma"
#: Series of a history that are drawn: what they are, and their colours, of Okabe and Ito, and dashes.
CURVES = {
    "objective": ("objective", "#000000", ":"),
    "kernel_change": ("relative change of K", OURS, "-"),
    "kernel_residual": ("kernel residual, norm of K − W", "#009E73", "-."),
    "graph_residual": ("graph residual, norm of Z − J", "#D55E00", "--"),
}
# Values below are rounding errors, and so may be the residuals of the first steps: no axis reaches down to them.
LOWEST, START = 1e-8, 2
# Percentiles of the values off the diagonal between which the colours of a kernel lie; the diagonal would take most.
COLOURED = (0.5, 99.5)

#: The best result by value of two parameters: whether it is sound, its accuracy in per cent, how it ended.
Surface: TypeAlias = Mapping[tuple[float, float], tuple[bool, float, str]]


def fits(records: Sequence[Record]) -> Iterator[Picture]:
    """Yield a picture of each surface, of the curves of convergence and of the consensus kernels, if there are any."""
    for scoring, chosen in by_scoring(records).items():
        results, stem = pools(chosen), scoring.removeprefix("scored ").replace(" ", "-")
        for method in PROPOSED:
            for data in results.data:
                found = surfaces(results[data, method])
                if found:
                    title = f"{method} on {data}; best over parameters not shown"
                    yield Picture(f"sensitivity_{method}_{data}_{stem}", title, partial(sensitivity, title, found))
        for part, draw in {"history": convergence, "kernel": consensus_kernels}.items():
            kept = best_kept(chosen, part)
            if kept:
                title = f"{draw.__name__.replace('_', ' ').capitalize()} of the most accurate fits that were kept"
                yield Picture(f"{draw.__name__}_{stem}", title, partial(draw, title, kept))


def surfaces(pool: Pool) -> dict[float, Surface]:
    """Return a surface for every alpha at which more than half of a grid over beta and gamma was run.

    A few settings that share a value by chance, as those drawn at random may, are no surface.
    """
    results = [(of.trial.parameters, (not of.collapsed, 100 * of.scores["acc"], "collapsed")) for of in pool.outcomes]
    results += [(record.trial.parameters, (False, -1.0, record.status)) for record in pool.missing]
    found: dict[float, dict[tuple[float, float], tuple[bool, float, str]]] = defaultdict(dict)
    for parameters, result in results:
        if {FIXED, ROWS, COLUMNS} <= parameters.keys():
            place = parameters[ROWS], parameters[COLUMNS]
            patches = found[parameters[FIXED]]
            patches[place] = max(result, patches.get(place, result))
    return {at: surface for at, surface in sorted(found.items()) if _is_grid(surface)}


def _is_grid(surface: Surface) -> bool:
    ys, xs = map(set, zip(*surface, strict=True))
    return len(ys) > 1 and len(xs) > 1 and 2 * len(surface) > len(ys) * len(xs)


def sensitivity(title: str, found: Mapping[float, Surface]) -> Figure:
    """Draw surfaces side by side on one colour scale: a heat map each, unsound cells hatched and labelled."""
    n_columns = max(len({x for _, x in surface}) for surface in found.values())
    figure, panels = new_figure(title, len(found), max(3.2, 0.75 * n_columns + 1), 3.4, columns=2)
    sound = [value for surface in found.values() for is_sound, value, _ in surface.values() if is_sound]
    scale = ScalarMappable(Normalize(min(sound, default=0), max(sound, default=100)), HEAT)
    for ax, (at, surface) in zip(panels, found.items(), strict=True):
        ys, xs = (sorted(set(values)) for values in zip(*surface, strict=True))
        colours = np.full((len(ys), len(xs)), np.nan)
        for (row, column), (is_sound, value, ending) in surface.items():
            y, x = ys.index(row), xs.index(column)
            colours[y, x] = value if is_sound else np.nan
            _label(ax, x, y, f"{value:.1f}" if value >= 0 else "", "" if is_sound else ending, dark=scale.norm(value))
        ax.imshow(colours, HEAT, norm=scale.norm, origin="lower", aspect="auto")
        ax.patch.set(facecolor="white", edgecolor=FAINT, hatch="////")
        ax.set_xticks(range(len(xs)), [f"{value:g}" for value in xs])
        ax.set_yticks(range(len(ys)), [f"{value:g}" for value in ys])
        ax.set(xlabel=COLUMNS, ylabel=ROWS)
        ax.set_title(f"{FIXED} = {at:g}", loc="left", size="medium")
    figure.colorbar(scale, ax=panels, shrink=0.8, label="Acc in per cent")
    return figure


def _label(ax: Axes, x: int, y: int, value: str, ending: str, *, dark: float) -> None:
    if ending:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        text = f"{ending}\n{value}".strip()
        ax.text(x, y, text, ha="center", va="center", color=INK, size="xx-small", bbox=box)
    else:
        ax.text(x, y, value, ha="center", va="center", color="white" if dark < 0.6 else "black", size="small")


def best_kept(records: Iterable[Record], part: str) -> list[Record]:
    """Return, for each data set and method, the record of highest accuracy that kept a part of its fit."""
    best: dict[tuple[str, str], Record] = {}
    for record in records:
        place = record.trial.data, record.trial.method
        if part in record.kept and (place not in best or record.scores["acc"] > best[place].scores["acc"]):
            best[place] = record
    order = list(RECORD_NAMES.values())
    return sorted(best.values(), key=lambda r: ((order + [r.trial.data]).index(r.trial.data), r.trial.method))


def convergence(title: str, records: Sequence[Record]) -> Figure:
    """Draw the history of fits on logarithmic axes, one panel per record; its title says how the fit ended."""
    figure, panels = new_figure(title, len(records), 4.4, 2.8, columns=2)
    shown = {}
    for ax, record in zip(panels, records, strict=True):
        ax.set_yscale("log")
        later = []
        for name, (label, colour, dashes) in CURVES.items():
            # None becomes nan, a gap; so does what a logarithmic axis has no place for.
            values = np.array(record.kept["history"].get(name, []), dtype=float)
            values[~(values > 0)] = np.nan
            later += values[START:].tolist()
            steps = np.arange(1, len(values) + 1)
            look = {"color": colour, "linewidth": 1.5, "marker": ".", "markersize": 3}
            [shown[label]] = ax.plot(steps, values, dashes, **look)
        ax.set_ylim(bottom=max(np.nanmin([1.0, *later]) / 3, LOWEST))
        ax.set_xlabel("step", color=INK)
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
        steps = f"{record.n_iter} {'step' if record.n_iter == 1 else 'steps'}"
        _name(ax, record, f"{record.status.replace('_', ' ')} after {steps}")
        ax.minorticks_off()
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=2, frameon=False)
    return figure


def consensus_kernels(title: str, records: Sequence[Record]) -> Figure:
    """Draw consensus kernels as heat maps, samples ordered by cluster, with lines between the clusters."""
    figure, panels = new_figure(title, len(records), 4.4, 4.0, columns=2)
    for ax, record in zip(panels, records, strict=True):
        image, sizes = np.array(record.kept["kernel"]["image"], dtype=float), record.kept["kernel"]["sizes"]
        n = sum(sizes)
        low, high = np.nanpercentile(image[~np.eye(len(image), dtype=bool)], COLOURED)
        drawn = ax.imshow(image, HEAT, vmin=low, vmax=high, extent=(0, n, n, 0), interpolation="nearest")
        for border in np.cumsum(sizes)[:-1]:
            ax.axhline(border, color="white", linewidth=0.6)
            ax.axvline(border, color="white", linewidth=0.6)
        figure.colorbar(drawn, ax=ax, shrink=0.85, extend="both", format="%.3g")
        ax.set(xticks=[], yticks=[])
        _name(ax, record, f"{n} samples in {len(sizes)} clusters")
        ax.spines["bottom"].set_visible(False)
    return figure


def _name(ax: Axes, record: Record, more: str) -> None:
    ax.set_title(f"{record.trial.data}, {record.trial.method}: {more}", loc="left", size="medium")
