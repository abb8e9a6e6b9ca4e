"""The part of the report that shows figures: a panel per scoring and bank, with tables, dots and surfaces."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape

from kernelbraid.bench.records.record import Json
from kernelbraid.bench.report.markup import fold, folded_table, framed
from kernelbraid.bench.results.published import MEASURES, TABLE_2, is_published
from kernelbraid.bench.results.selection import Cell, Conditions, Pools, Surface, surfaces
from kernelbraid.bench.results.table import Footnotes
from kernelbraid.bench.results.tables import (
    BEST,
    TITLES,
    TUNED,
    Mean,
    averaged,
    difference,
    mean_title,
    paper_tables,
    show_cell,
    show_parameters,
    shown_data,
    shown_methods,
)

FULL_COLOUR = 10.0  # points of difference at which the colour of a cell is strongest
STRONGEST = 60  # per cent of that colour
FEW = 4  # data sets up to which the tables of all measures are open from the start
SIGNS = {"done": "", "collapsed": "×", "failed": "!", "skipped": "–", "not run": ""}
SCORINGS = {
    "as published": "best100 or mean20 for each method, as behind its published figures",
    "best100": "best100, one k-means, the best of 100 restarts, scored once",
    "mean20": "mean20, the mean over 20 runs",
    "once": "once, one fit with the restarts of the method itself",
}
LEGEND = (
    "<p class='legend'><span class='ours'>● ours</span>: from the records of this store. "
    "<span class='theirs'>○ published</span>: as printed in the paper. The difference is ours minus published; blue: "
    "ours is higher, orange: lower. A figure far above the published one is no reproduction of it, either.</p>"
)


def panel(index: int, results: Pools, under: Conditions) -> str:
    """Return everything that is shown of one scoring and bank."""
    data, methods = shown_data(results.data()), shown_methods(results.methods())
    few = len(data) <= FEW
    parts = [_table(results, data, measure, opened=measure == "acc" or few) for measure in TABLE_2 if data]
    parts += [_dots(results, data, methods)] if data else []
    parts += [folded_table(table, opened=not data) for table in paper_tables(results, under)]
    maps = [str(surface["title"]) for surface in _surfaces(results)]
    legend = LEGEND if is_published(results.data()) else ""
    return (
        f"<div class='panel' data-index='{index}'{' hidden' if index else ''}>"
        f"<p class='note'>Scoring: {escape(SCORINGS[under.scoring])}.</p>{legend}{''.join(parts)}"
        f"{_heat_part(maps) if maps else ''}</div>"
    )


def payload(results: Pools) -> dict[str, Json]:
    """Return what the pictures of a panel show."""
    return {"points": _points(results), "surfaces": list(_surfaces(results))}


def _dots(results: Pools, data: Iterable[str], methods: Iterable[str]) -> str:
    """Return the empty box of the dots, and what can be chosen for it."""
    views = _group("One data set", "data", data) + _group("One method", "method", methods)
    measures = "".join(f"<option value='{name}'>{MEASURES[name]}</option>" for name in TABLE_2)
    title = "Ours against published" if is_published(results.data()) else "By data set and by method"
    chosen = (
        f"<p><label>Show <select class='view'>{views}</select></label> "
        f"<label>Measure <select class='measure'>{measures}</select></label></p><div class='plot dots'></div>"
    )
    return fold(title, chosen, opened=True)


def _heat_part(titles: Iterable[str]) -> str:
    """Return the empty box of the surfaces, and which there are."""
    maps = "".join(f"<option value='{place}'>{escape(title)}</option>" for place, title in enumerate(titles))
    shown = (
        f"<p><label>Surface <select class='surface'>{maps}</select></label></p><div class='plot heat'></div>"
        "<p class='note'>Best over the parameters that are not shown. × collapsed, ! failed, – skipped; "
        "empty: not run. Every cell tells more when pointed at.</p>"
    )
    return fold("Sensitivity", shown)


def _group(title: str, kind: str, names: Iterable[str]) -> str:
    options = (f'<option value="{kind}:{escape(name)}">{escape(name)}</option>' for name in names)
    return f"<optgroup label='{title}'>{''.join(options)}</optgroup>"


def _table(results: Pools, data: Mapping[str, str], measure: str, *, opened: bool) -> str:
    """Return a half of Table 2: in each cell ours, below it what is published and the difference in colour."""
    notes, methods, rows = Footnotes(), shown_methods(results.methods()), []
    for title, name in data.items():
        cells = [_result(results[name, method].best(measure), title, method, measure, notes) for method in methods]
        rows.append(f"<tr><th scope='row'>{escape(title)}</th>{''.join(cells)}</tr>")
    over = averaged(data)
    means = "".join(_mean(Mean.of(results, over, method, measure)) for method in methods if over)
    foot = f"<tr><th scope='row'>{mean_title(over)}</th>{means}</tr>" if over else ""
    number, tuned = ("Table 2: ", TUNED) if is_published(results.data()) else ("", BEST)
    label = f"{MEASURES[measure]} in per cent"
    table = framed(label, ("Data", *methods), "".join(rows), (tuned, *notes.notes()), foot=foot)
    return fold(f"{number}{TITLES[measure]} in per cent", table, opened=opened)


def _result(cell: Cell, title: str, method: str, measure: str, notes: Footnotes) -> str:
    printed = TABLE_2[measure].get(title, {}).get(method)
    shown = escape(show_cell(cell, f"{title}, {method}", notes))
    return _coloured(shown, cell.value, None if printed is None else printed.text, difference(cell, printed))


def _mean(mean: Mean) -> str:
    return _coloured(mean.shown, mean.ours, None if mean.published is None else f"{mean.published:.2f}", mean.gap)


def _coloured(shown: str, value: float | None, published: str | None, gap: float | None) -> str:
    below = "" if published is None else f"<small class='theirs'>○ {escape(published)}</small>"
    look = ""
    if gap is not None:
        share = round(STRONGEST * min(1.0, abs(gap) / FULL_COLOUR))
        look = f' class="{"more" if gap >= 0 else "less"}" style="--share:{share}%"'
        below += f"<small class='gap'>{gap:+.2f}</small>"
    number = "" if value is None else f' data-value="{value:.6f}"'
    return f"<td{look}{number}>{f'<i>{shown}</i>' if value is None else shown}{below}</td>"


def _points(results: Pools) -> list[dict[str, Json]]:
    """Return what the dots show: one point per data set, method and measure."""
    found: list[dict[str, Json]] = []
    for title, name in shown_data(results.data()).items():
        for method in shown_methods(results.methods()):
            for measure, grid in TABLE_2.items():
                cell, printed = results[name, method].best(measure), grid.get(title, {}).get(method)
                found.append(
                    {
                        "data": title,
                        "method": method,
                        "measure": measure,
                        "ours": None if cell.value is None else round(100 * cell.value, 3),
                        "published": None if printed is None else printed.value,
                        "detail": _explain(cell),
                    }
                )
    return found


def _explain(cell: Cell) -> str:
    """Return the setting behind a figure, as it stands in the box over a point."""
    if cell.outcome is None:
        return escape(cell.why)
    outcome = cell.outcome
    words = [outcome.bank and f"bank {outcome.bank}", outcome.kernel, show_parameters(outcome.parameters), cell.caution]
    if cell.kernel_mean is not None:
        words.append(f"mean over kernels {100 * cell.kernel_mean:.2f}")
    return "<br>".join(escape(word) for word in words if word)


def _surfaces(results: Pools) -> Iterator[dict[str, Json]]:
    for (data, method), pool in sorted(results.items()):
        for surface in surfaces(pool):
            yield _heat(surface, f"{data}, {method}, {surface.fixed[0]} = {surface.fixed[1]:g}")


def _heat(surface: Surface, title: str) -> dict[str, Json]:
    (row_name, rows), (column_name, columns) = surface.rows, surface.columns
    values: list[list[float | None]] = []
    signs: list[list[str]] = []
    hovers: list[list[str]] = []
    for y, patches in zip(rows, surface.patches, strict=True):
        figures_ = [None if patch.value is None else round(100 * patch.value, 2) for patch in patches]
        sound = [patch.state == "done" for patch in patches]
        values.append([value if good else None for value, good in zip(figures_, sound, strict=True)])
        signs.append([SIGNS[patch.state] for patch in patches])
        hovers.append([])
        for x, patch, value in zip(columns, patches, figures_, strict=True):
            words = [f"{row_name} {y:g}, {column_name} {x:g}", patch.state]
            words += [f"{MEASURES[surface.measure]} {value:.2f}"] if value is not None else []
            hovers[-1].append("<br>".join(escape(word) for word in (*words, patch.detail) if word))
    return {
        "title": title,
        "x": [f"{value:g}" for value in columns],
        "y": [f"{value:g}" for value in rows],
        "xName": column_name,
        "yName": row_name,
        "z": values,
        "signs": signs,
        "hover": hovers,
    }
