"""The picture of the comparison: mean ranks of all methods, and which of them cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kernelbraid.bench.records.record import Record
from kernelbraid.bench.results.comparison import MEASURES, Compared
from kernelbraid.bench.results.ranks import Ranking
from kernelbraid.plotting.drawing import INK, OURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# In lines of text: between two names, between two bars, and from the axis to the first of either.
LINE, BAR, GAP = 1.0, 0.55, 0.9
THREAD = "#bbbbbb"  # from a rank to its name
INCHES = 0.24  # of a line of text
MARGIN = 0.6  # of names beside the ends of the axis, in ranks


def comparison_figures(records: Sequence[Record]) -> Iterator[tuple[str, Figure]]:
    """Yield the picture with the name of its file, if methods can be ranked."""
    found = Compared.of(records)
    rankings = {measure: found.ranking(measure) for measure in MEASURES}
    drawn = {measure: ranking for measure, ranking in rankings.items() if ranking is not None and ranking.n_data > 1}
    if drawn:
        yield "comparison_ranks", draw(drawn, {measure: _guests(found, measure) for measure in drawn})


def _guests(found: Compared, measure: str) -> dict[str, float]:
    """Return the mean rank that each method beside the others has among them."""
    rankings = {name: found.ranking(measure, guest=name) for name in found.beside}
    return {name: ranking.mean_ranks[name] for name, ranking in rankings.items() if ranking is not None}


def draw(rankings: Mapping[str, Ranking], guests: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw mean ranks on an axis, the best at the left, with bars over methods that do not differ significantly.

    Parameters
    ----------
    rankings : mapping
        By measure, one panel each, below each other.
    guests : mapping
        By measure: mean ranks of further methods, of which each was ranked among the others alone. They have open
        circles, and no part in the bars.

    Returns
    -------
    matplotlib Figure
        Names stand at both sides, with their mean ranks.
    """
    names = max(len(ranking.mean_ranks) + len(guests[measure]) for measure, ranking in rankings.items())
    bars = max(len(ranking.groups) for ranking in rankings.values())
    depth = GAP + BAR * bars + LINE * (-(-names // 2))
    figure, panels = new_figure(len(rankings), 8.5, INCHES * (depth + 4.5), columns=1)
    for ax, (measure, ranking) in zip(panels, rankings.items(), strict=True):
        _panel(ax, ranking, guests[measure], depth)
        ax.set_title(f"{MEASURES[measure]}, {ranking.n_data} data sets", loc="left", size="medium")
    figure.suptitle("Mean ranks without labels; a bar joins methods that do not differ significantly", size="medium")
    if any(guests.values()):
        figure.supxlabel(
            "open circles: what users have, each ranked with the others and no part in the bars",
            size="small",
            color=OURS,
        )
    return figure


def _panel(ax: Axes, ranking: Ranking, guests: Mapping[str, float], depth: float) -> None:
    ranks = {**ranking.mean_ranks, **guests}
    last = len(ranking.mean_ranks) + bool(guests)
    ax.set_xlim(1 - 0.22 * last, last + 0.22 * last)
    ax.set_ylim(depth + 0.3, -3.0)
    ax.set_axis_off()
    _scale(ax, last, ranking.critical_difference)
    top = GAP + BAR * len(ranking.groups)
    ordered = sorted(ranks, key=lambda name: ranks[name])
    half = -(-len(ordered) // 2)
    for at_left, some in ((True, ordered[:half]), (False, ordered[: half - 1 : -1])):
        for place, name in enumerate(some):
            _name(ax, name, ranks[name], top + LINE * (place + 0.5), 1 if at_left else last, guest=name in guests)
    for place, group in enumerate(ranking.groups):
        ends = [ranking.mean_ranks[group[0]] - 0.08, ranking.mean_ranks[group[-1]] + 0.08]
        level = GAP + BAR * place
        ax.plot(ends, [level, level], color="black", linewidth=3.5, solid_capstyle="round", zorder=4)


def _scale(ax: Axes, last: int, critical_difference: float) -> None:
    """Draw the axis of ranks, and above it the length by which two must differ."""
    ax.plot([1, last], [0, 0], color=INK, linewidth=1)
    for rank in range(1, last + 1):
        ax.plot([rank, rank], [0, -0.25], color=INK, linewidth=1)
        ax.text(rank, -0.45, str(rank), ha="center", va="bottom", size="small", color=INK)
    ends = [1, 1 + critical_difference]
    ax.plot(ends, [-2.0, -2.0], color="black", linewidth=1, marker="|", markersize=7)
    ax.text(
        sum(ends) / 2, -2.2, f"critical difference {critical_difference:.2f}", ha="center", va="bottom", size="small"
    )


def _name(ax: Axes, name: str, rank: float, level: float, end: int, *, guest: bool) -> None:
    """Draw a line from a rank down to its level, and to the name of the method beside the end of the axis."""
    at_left = end == 1
    edge = end - MARGIN if at_left else end + MARGIN
    colour = OURS if guest else INK
    ax.plot([rank, rank, edge], [0, level, level], color=colour if guest else THREAD, linewidth=0.8, zorder=2)
    face = "white" if guest else colour
    ax.plot([rank], [0], "o", markersize=5, markerfacecolor=face, markeredgecolor=colour, zorder=5, clip_on=False)
    shown = f"{name}  {rank:.1f}" if at_left else f"{rank:.1f}  {name}"
    ax.text(edge, level, f" {shown} ", ha="right" if at_left else "left", va="center", size="small", color=colour)
