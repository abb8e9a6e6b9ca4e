"""One HTML file of everything that was run: no network, tables to sort, points to hover over.

The file holds plotly.js, the records that are shown, and the style; it can be mailed and opened anywhere.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from kernelbraid.bench.records.record import Json, Record
from kernelbraid.bench.report.assets import css, embed, javascript, plotly
from kernelbraid.bench.report.fits import fits_payload, fits_section
from kernelbraid.bench.report.markup import framed, html_table, section
from kernelbraid.bench.results.claims import claim_tables
from kernelbraid.bench.results.published import DATA, MEASURES, METHODS, MISPRINTS, ODDITIES, PREFIXES, TABLE_2
from kernelbraid.bench.results.selection import Cell, Conditions, Endings, Pools, Surface, conditions, pools, surfaces
from kernelbraid.bench.results.study import study_tables
from kernelbraid.bench.results.tables import (
    TUNED,
    Footnotes,
    data_table,
    difference,
    failures_table,
    figures,
    multi_view_table,
    show_cell,
    show_parameters,
    shown_data,
    shown_methods,
    wilcoxon_table,
)
from kernelbraid.bench.results.writing import outside_study, write_file

TITLE = "Low-rank kernel and graph learning: ours against published"
SECTIONS = {
    "overview": "Overview",
    "results": "Results",
    "claims": "Claims",
    "study": "Without labels",
    "fits": "Fits",
    "failures": "Failures",
    "remarks": "About the paper",
}
# Nothing may be loaded from anywhere, whatever a record holds.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
FULL_COLOUR = 10.0  # points of difference at which the colour of a cell is strongest
STRONGEST = 60  # per cent of that colour
SIGNS = {"done": "", "collapsed": "×", "failed": "!", "skipped": "–", "not run": ""}


def write_report(records: Sequence[Record], path: Path | str) -> Path:
    """Write the interactive report.

    Parameters
    ----------
    records : sequence of Record
        Results in any order.
    path : path
        The HTML file, its folder made if it is not there; an older one stays as it is until the new one is complete.

    Returns
    -------
    Path
        The file.
    """
    return write_file(Path(path), report(records).encode())


def report(records: Sequence[Record]) -> str:
    """Return the whole page."""
    study, records = _study(records), outside_study(records)
    under = conditions(records)
    results = [pools(records, each) for each in under]
    shown = [_panel(index, *pair) for index, pair in enumerate(zip(results, under, strict=True))]
    payload = [{"points": _points(found), "surfaces": list(_surfaces(found))} for found in results]
    options = "".join(f'<option value="{index}">{escape(str(each))}</option>' for index, each in enumerate(under))
    links = "".join(f"<a href='#{name}'>{title}</a>" for name, title in SECTIONS.items())
    body = [
        f"<header><h1>{TITLE}</h1><nav aria-label='Sections'>{links}</nav></header><main>",
        _overview(records, results),
        "<section id='results'><h2>Results</h2><p><label>Scoring and kernels "
        f"<select id='conditions'>{options}</select></label></p>{''.join(shown)}</section>",
        _claims(records),
        study,
        fits_section(records),
        f"<section id='failures'><h2>Failed and skipped</h2>{html_table(failures_table(records))}</section>",
        _remarks(),
        "</main>",
    ]
    head = (
        "<meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><link rel="icon" href="data:,">'
        f"<meta name='color-scheme' content='light dark'><title>{TITLE}</title><style>{css()}</style>"
    )
    data = embed("data", payload) + embed("kept", fits_payload(records))
    scripts = f"{data}<script>{plotly()}</script><script>{javascript()}</script>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(body)}{scripts}</body></html>\n"


def _overview(records: Sequence[Record], results: Iterable[Pools]) -> str:
    # A record without a bank stands under every bank: count over the records themselves, not over the panels.
    ends = Endings.of(records)
    cards = {
        "records": len(records),
        "done": ends.done,
        "collapsed": ends.collapsed,
        "failed": ends.failed,
        "skipped": ends.skipped,
        "data sets": len({record.trial.data for record in records}),
        "methods": len({record.trial.method for record in records}),
    }
    items = "".join(f"<li><b>{count:,}</b> {name}</li>" for name, count in cards.items())
    replaced = max((sum(pool.counts.replaced for pool in found.values()) for found in results), default=0)
    older = f"<p>Of the same setting and seed the newest record counts; up to {replaced} older ones do not.</p>"
    return (
        f"<section id='overview'><h2>Overview</h2><ul class='cards'>{items}</ul>"
        "<p class='note'>Collapsed: the fit ended with an empty or diagonal graph, a vanished kernel or numbers that "
        f"are not finite; its scores count, but say little.</p>{older if replaced else ''}"
        f"<dl>{_tally('Machines', (record.machine for record in records))}"
        f"{_tally('Versions', (record.trial.version for record in records))}</dl>"
        f"<details><summary>Data sets</summary>{html_table(data_table(records))}</details></section>"
    )


def _tally(title: str, values: Iterable[str]) -> str:
    counts = Counter(value or "not recorded" for value in values)
    items = "".join(f"<dd>{escape(value)}: {count:,} records</dd>" for value, count in counts.most_common())
    return f"<dt>{title}</dt>{items or '<dd>none</dd>'}"


def _claims(records: Sequence[Record]) -> str:
    """Return the verdicts on the paper's claims and the tables behind them."""
    shown = "".join(f"<h3>{escape(table.title)}</h3>{html_table(table)}" for table in claim_tables(records))
    missing = "<p class='note'>No record was made for a claim; run experiments/claims.toml.</p>"
    return f"<section id='claims'><h2>Claims of the paper</h2>{shown or missing}</section>"


def _study(records: Sequence[Record]) -> str:
    """Return the tables of what somebody without labels gets."""
    shown = "".join(f"<h3>{escape(table.title)}</h3>{html_table(table)}" for table in study_tables(records))
    missing = "<p class='note'>No record is of the study; run experiments/study.toml.</p>"
    return f"<section id='study'><h2>Without labels</h2>{shown or missing}</section>"


def _remarks() -> str:
    items = [f"Misprint: {where}, printed {printed}: {reading}." for where, (printed, reading) in MISPRINTS.items()]
    listed = "".join(f"<li>{escape(text)}</li>" for text in (*items, *ODDITIES))
    return f"<section id='remarks'><h2>About the published figures</h2><ul>{listed}</ul></section>"


def _panel(index: int, results: Pools, under: Conditions) -> str:
    """Return everything that is shown of one scoring and bank."""
    tables = [_results(results, measure) for measure in TABLE_2]
    views = [section(multi_view_table(results, under, data)) for data in PREFIXES]
    data, methods = shown_data(results.data()), shown_methods(results.methods())
    views_of = _group("One data set", "data", data) + _group("One method", "method", methods)
    measures = "".join(f"<option value='{name}'>{MEASURES[name]}</option>" for name in TABLE_2)
    maps = "".join(
        f"<option value='{place}'>{escape(str(surface['title']))}</option>"
        for place, surface in enumerate(_surfaces(results))
    )
    heat = (
        f"<p><label>Surface <select class='surface'>{maps}</select></label></p><div class='plot heat'></div>"
        "<p class='note'>Best over the parameters that are not shown. × collapsed, ! failed, – skipped; "
        "empty: not run. Every cell tells more when pointed at.</p>"
    )
    return (
        f"<div class='panel' data-index='{index}'{' hidden' if index else ''}>{''.join(tables)}"
        f"<h3>Ours against published</h3><p><label>Show <select class='view'>{views_of}</select></label> "
        f"<label>Measure <select class='measure'>{measures}</select></label></p><div class='plot dots'></div>"
        f"{section(wilcoxon_table(results, under))}<h3>Sensitivity</h3>"
        f"{heat if maps else '<p>No method was run on a grid of beta and gamma.</p>'}{''.join(views)}</div>"
    )


def _group(title: str, kind: str, names: Iterable[str]) -> str:
    options = (f'<option value="{kind}:{escape(name)}">{escape(name)}</option>' for name in names)
    return f"<optgroup label='{title}'>{''.join(options)}</optgroup>"


def _results(results: Pools, measure: str) -> str:
    """Return a half of Table 2: in each cell ours, below it what is published and the difference in colour."""
    notes, methods, rows = Footnotes(), shown_methods(results.methods()), []
    for title, name in shown_data(results.data()).items():
        cells = [_result(results[name, method].best(measure), title, method, measure, notes) for method in methods]
        rows.append(f"<tr><th scope='row'>{escape(title)}</th>{''.join(cells)}</tr>")
    means = "".join(_mean(figures(results, method, measure), method, measure) for method in methods)
    header = f"{MEASURES[measure]} in per cent"
    explained = f"{TUNED} Below: published, and ours minus published; blue: ours is higher, orange: lower."
    foot = f"<tr><th scope='row'>mean</th>{means}</tr>"
    table = framed(header, ("Data", *methods), "".join(rows), (explained, *notes.notes()), foot=foot)
    return f"<h3>Table 2: {header}</h3>{table}"


def _result(cell: Cell, title: str, method: str, measure: str, notes: Footnotes) -> str:
    printed = TABLE_2[measure].get(title, {}).get(method)
    shown = escape(show_cell(cell, f"{title}, {method}", notes))
    return _coloured(shown, cell.value, None if printed is None else printed.text, difference(cell, printed))


def _mean(found: dict[str, float], method: str, measure: str) -> str:
    ours = sum(found.values()) / len(DATA) if len(found) == len(DATA) else None
    grid = TABLE_2[measure]
    theirs = sum(grid[data][method].value for data in DATA) / len(DATA) if method in METHODS else None
    shown = f"{len(found)} of {len(DATA)}" if ours is None else f"{ours:.2f}"
    gap = None if ours is None or theirs is None else ours - theirs
    return _coloured(shown, ours, None if theirs is None else f"{theirs:.2f}", gap)


def _coloured(shown: str, value: float | None, published: str | None, gap: float | None) -> str:
    below = "" if published is None else f"<small>{escape(published)}</small>"
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
