"""Pictures of records: ours against published, sensitivity surfaces, learned kernel weights, and the list of all.

Brightness or position carries every value, so that the pictures can be read with any colour vision and in grey.
Matplotlib is imported when a picture is drawn; nothing is shown and no global setting is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kernelbraid.bench.records.record import Record
from kernelbraid.bench.records.snapshot_data import best_kept
from kernelbraid.bench.results.figures_claims import robustness
from kernelbraid.bench.results.figures_fits import consensus_kernels, convergence
from kernelbraid.bench.results.published import MEASURES, PROPOSED, RECORD_NAMES, TABLE_2, is_published
from kernelbraid.bench.results.selection import Conditions, Patch, Pool, Pools, Surface, conditions, pools, surfaces
from kernelbraid.bench.results.tables import figures as best_figures
from kernelbraid.bench.results.tables import shown_data, shown_methods, stem
from kernelbraid.plotting.drawing import FAINT, HEAT, INK, OURS, PUBLISHED, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DARK = 0.6  # share of the colour scale below which writing is white


def dot_plot(results: Pools, under: Conditions, measure: str = "acc") -> Figure:
    """Draw ours (filled) for every method that was run, one panel per data set, against published (open) where it is.

    Parameters
    ----------
    results : Pools
        Results of the conditions.
    under : Conditions
        Named in the title.
    measure : {"acc", "nmi"}, default="acc"
        What is drawn.

    Returns
    -------
    matplotlib Figure
        Panels in the order of Table 2, then other data.
    """
    methods, shown = shown_methods(results.methods()), shown_data(results.data())
    figure, panels = new_figure(len(shown), 3.6, 0.8 + 0.2 * len(methods))
    ours = {method: best_figures(results, method, measure, shown) for method in methods}
    for ax, data in zip(panels, shown, strict=True):
        for place, method in enumerate(methods):
            printed = TABLE_2[measure].get(data, {}).get(method)
            _dots(ax, place, ours[method].get(data), None if printed is None else printed.value)
        ax.set_yticks(range(len(methods)), methods, size="small")
        ax.set_ylim(len(methods) - 0.5, -0.5)
        ax.set_xlim(0, 105)
        ax.set_title(data, loc="left", size="medium")
        ax.grid(axis="y", color=FAINT, linewidth=0.6)
        plain(ax)
    whose = ": ours (filled) and published (open)" if is_published(results.data()) else ""
    figure.suptitle(f"{MEASURES[measure]} in per cent, {under}{whose}", size="medium")
    return figure


def _dots(ax: Axes, place: int, ours: float | None, published: float | None) -> None:
    if ours is not None and published is not None:
        ax.plot([ours, published], [place, place], color=INK, linewidth=1, zorder=2)
    if published is not None:
        ax.plot([published], [place], "o", markerfacecolor="white", markeredgecolor=PUBLISHED, markersize=6, zorder=3)
    if ours is not None:
        ax.plot([ours], [place], "o", color=OURS, markersize=4, zorder=4)


def sensitivity(found: Sequence[Surface]) -> Figure:
    """Draw surfaces of one method on one data set side by side: a heat map each, unsound cells hatched and labelled.

    Parameters
    ----------
    found : sequence of Surface
        At least one, as returned by `kernelbraid.bench.results.selection.surfaces`.

    Returns
    -------
    matplotlib Figure
        All panels share one colour scale.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    n_columns = max(len(surface.columns[1]) for surface in found)
    figure, panels = new_figure(len(found), max(3.2, 0.75 * n_columns + 1), 3.4, columns=2)
    values = [100 * patch.value for patch in _sound(found) if patch.value is not None] or [0.0, 100.0]
    scale = ScalarMappable(Normalize(min(values), max(values)), HEAT)
    for ax, surface in zip(panels, found, strict=True):
        _heat_map(ax, surface, scale)
    figure.colorbar(scale, ax=panels, shrink=0.8, label=f"{MEASURES[found[0].measure]} in per cent")
    figure.suptitle(f"{found[0].method} on {found[0].data}; best over parameters not shown", size="medium")
    return figure


def _sound(found: Sequence[Surface]) -> Iterator[Patch]:
    for surface in found:
        for patches in surface.patches:
            yield from (patch for patch in patches if patch.state == "done")


def _heat_map(ax: Axes, surface: Surface, scale: Any) -> None:
    (row_name, rows), (column_name, columns) = surface.rows, surface.columns
    for y, patches in enumerate(surface.patches):
        for x, patch in enumerate(patches):
            _square(ax, x, y, patch, scale)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(-0.5, len(rows) - 0.5)
    ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
    ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
    ax.set_xlabel(column_name)
    ax.set_ylabel(row_name)
    ax.set_title(f"{surface.fixed[0]} = {surface.fixed[1]:g}", loc="left", size="medium")
    plain(ax)


def _square(ax: Axes, x: int, y: int, patch: Patch, scale: Any) -> None:
    """Draw one cell: its colour if the fit is sound, hatches and words if it is not, nothing if it was not run."""
    from matplotlib.patches import Rectangle

    value = None if patch.value is None else 100 * patch.value
    text = "" if value is None else f"{value:.1f}"
    if patch.state == "done" and value is not None:
        look = {"facecolor": scale.to_rgba(value), "edgecolor": "white"}
        ink = "white" if scale.norm(value) < DARK else "black"
    else:
        look = {"facecolor": "white", "edgecolor": FAINT, "hatch": "" if patch.state == "not run" else "////"}
        ink, text = INK, f"{patch.state}\n{text}".strip()
    ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, linewidth=0.8, **look))
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8} if patch.state != "done" else None
    ax.text(x, y, text, ha="center", va="center", color=ink, size="xx-small" if box else "small", bbox=box)


def kernel_weights(found: Sequence[Pool]) -> Figure:
    """Draw the kernel weights learned at the best accuracy as bars, one panel per data set.

    Parameters
    ----------
    found : sequence of Pool
        Pools of one method with learned weights.

    Returns
    -------
    matplotlib Figure
        Kernels in the order of the records.
    """
    weights = [learned_weights(pool) for pool in found]
    most = max(len(names) for names in weights)
    figure, panels = new_figure(len(found), 3.6, 0.9 + 0.2 * most)
    for ax, pool, learned in zip(panels, found, weights, strict=True):
        ax.barh(range(len(learned)), list(learned.values()), height=0.7, color=OURS)
        ax.set_yticks(range(len(learned)), list(learned), size="x-small")
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        ax.set_title(pool.data, loc="left", size="medium")
        plain(ax)
    figure.suptitle(f"Kernel weights of {found[0].method} at its best accuracy", size="medium")
    return figure


def learned_weights(pool: Pool) -> dict[str, float]:
    """Return the kernel weights at the best accuracy, of the first seed."""
    best = pool.best("acc").outcome
    return {} if best is None else dict(best.records[0].learned)


def all_figures(records: Sequence[Record]) -> Iterator[tuple[str, Figure]]:
    """Yield every figure that records can fill, with the name of its file."""
    for under in conditions(records):
        results = pools(records, under)
        for name, figure in [*_of_results(results, under), *_of_fits(records, results, under)]:
            yield f"{name}_{stem(under)}", figure
    worse = robustness(records)
    if worse is not None:
        yield "robustness", worse


def _of_results(results: Pools, under: Conditions) -> Iterator[tuple[str, Figure]]:
    for measure in TABLE_2:
        shown = shown_data(results.data())
        if any(best_figures(results, method, measure, shown) for method in results.methods()):
            yield f"dots_{measure}", dot_plot(results, under, measure)
    for method in PROPOSED:
        for data in results.data():
            found = surfaces(results[data, method])
            if found:
                yield f"sensitivity_{method}_{data}", sensitivity(found)


def _of_fits(records: Sequence[Record], results: Pools, under: Conditions) -> Iterator[tuple[str, Figure]]:
    order = _ordered(results)
    for method in PROPOSED:
        with_weights = [results[data, method] for data in order if learned_weights(results[data, method])]
        if with_weights:
            yield f"weights_{method}", kernel_weights(with_weights)
    for part, draw in {"history": convergence, "kernel": consensus_kernels}.items():
        kept = best_kept(records, under, part, order=order)
        if kept:
            yield draw.__name__, draw(kept)


def _ordered(results: Pools) -> list[str]:
    """Return the data sets in the order of the paper, others behind."""
    order = list(RECORD_NAMES.values())
    return sorted(results.data(), key=lambda name: (order.index(name) if name in order else len(order), name))
