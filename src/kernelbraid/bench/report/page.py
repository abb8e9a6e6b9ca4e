"""One HTML file of everything that was run: no network, tables to sort, parts to fold, points to hover over.

The file holds plotly.js, the records that are shown, and the style; it can be mailed and opened anywhere. It shows what
there are records of: figures of the paper stand beside ours where its data were run, and nowhere else.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from kernelbraid.bench.records.record import Record
from kernelbraid.bench.report.assets import css, embed, javascript, plotly
from kernelbraid.bench.report.fits import fits_payload, fits_section
from kernelbraid.bench.report.markup import fold, folded_table, html_table
from kernelbraid.bench.report.panels import panel, payload
from kernelbraid.bench.results.claims import claim_tables
from kernelbraid.bench.results.comparison import comparison_tables
from kernelbraid.bench.results.published import MISPRINTS, ODDITIES, is_published
from kernelbraid.bench.results.selection import AS_PUBLISHED, Conditions, Endings, Pools, conditions, pools
from kernelbraid.bench.results.study import study_tables
from kernelbraid.bench.results.table import Table
from kernelbraid.bench.results.tables import data_table, failures_table, is_view, shown_data, shown_methods
from kernelbraid.bench.results.views import views_tables
from kernelbraid.bench.results.writing import outside_study, write_file

# Of a page without a title of its own, with and without data of the paper.
TITLE, OTHER_TITLE = "Low-rank kernel and graph learning: ours against published", "Clustering experiments"
SECTIONS = {
    "overview": "Overview",
    "results": "Results",
    "claims": "Claims of the paper",
    "study": "Without labels",
    "views": "Several views",
    "comparison": "Fifteen methods without labels",
    "fits": "Inside the fits",
    "failures": "Failed and skipped",
    "remarks": "About the published figures",
}
OPEN = ("overview", "results")  # from the start
# Nothing may be loaded from anywhere, whatever a record holds.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def write_report(records: Sequence[Record], path: Path | str, title: str = "") -> Path:
    """Write the interactive report.

    Parameters
    ----------
    records : sequence of Record
        Results in any order.
    path : path
        The HTML file, its folder made if it is not there; an older one stays as it is until the new one is complete.
    title : str, default=""
        Title of the page, such as that of the experiment; without one it says what the records are about.

    Returns
    -------
    Path
        The file.
    """
    return write_file(Path(path), report(records, title).encode())


def report(records: Sequence[Record], title: str = "") -> str:
    """Return the whole page."""
    shown = escape(title or (TITLE if is_published(record.trial.data for record in records) else OTHER_TITLE))
    others = outside_study(records)
    results = {each: pools(others, each) for each in conditions(others)} if others or not records else {}
    # As published, then the fullest.
    results = dict(sorted(results.items(), key=lambda item: (item[0].scoring != AS_PUBLISHED, -len(item[1]))))
    bodies = {
        "overview": _overview(records, results.values()),
        "results": _results(results),
        "claims": _tables(claim_tables(records)),
        "study": _tables(study_tables(records)),
        "views": _tables(views_tables(records)),
        "comparison": _tables(comparison_tables(records)),
        "fits": fits_section(others),
        "failures": _failures(records),
        "remarks": _remarks(records),
    }
    parts = {name: body for name, body in bodies.items() if body}
    links = "".join(f"<a href='#{name}'>{SECTIONS[name]}</a>" for name in parts)
    fold_all = "".join(f"<button type='button' data-set='{word}'>{word} all</button>" for word in ("open", "fold"))
    sections = "".join(
        fold(SECTIONS[name], body, level=2, opened=name in OPEN, name=name) for name, body in parts.items()
    )
    head = (
        "<meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><link rel="icon" href="data:,">'
        f"<meta name='color-scheme' content='light dark'><title>{shown}</title><style>{css()}</style>"
    )
    body = (
        f"<header><h1>{shown}</h1><nav aria-label='Sections'>{links}{fold_all}</nav>{_filters(records)}</header>"
        f"<main>{sections}</main>"
    )
    data = embed("data", [payload(found) for found in results.values()]) + embed("kept", fits_payload(others))
    scripts = f"{data}<script>{plotly()}</script><script>{javascript()}</script>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{body}{scripts}</body></html>\n"


def _filters(records: Sequence[Record]) -> str:
    """Return boxes by which data sets and methods are left out of all tables and pictures."""
    names = sorted({record.trial.data for record in records})
    data = {**shown_data(names), **{name: name for name in names if is_view(name)}} if names else {}
    methods = {name: name for name in shown_methods({record.trial.method for record in records})} if records else {}
    lists = [("data", "Data sets", data), ("method", "Methods", methods)]
    boxes = "".join(_boxes(kind, title, found) for kind, title, found in lists if len(found) > 1)
    return f"<form id='filters' aria-label='What is shown'>{boxes}<p class='note' hidden></p></form>" if boxes else ""


def _boxes(kind: str, what: str, names: Mapping[str, str]) -> str:
    inputs = "".join(
        f'<label><input type="checkbox" checked value="{escape(title)}" data-alias="{escape(alias)}">{escape(title)}'
        "</label>"
        for title, alias in names.items()
    )
    buttons = "".join(f"<button type='button' data-set='{word}'>{word}</button>" for word in ("all", "none"))
    count = f"<span class='count'>all {len(names)}</span>"
    return f"<details data-kind='{kind}'><summary>{what}: {count}</summary><p>{buttons}</p><p>{inputs}</p></details>"


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
    always = ("records", "data sets", "methods")
    items = "".join(
        f"<li><b>{count:,}</b> {name.removesuffix('s') if count == 1 else name}</li>"
        for name, count in cards.items()
        if count or name in always
    )
    replaced = max((sum(pool.counts.replaced for pool in found.values()) for found in results), default=0)
    older = (
        "<p>Of the same setting and seed the newest record counts, and of data or methods that have changed those of "
        f"the newest; up to {replaced:,} older ones do not.</p>"
    )
    collapsed = (
        "<p class='note'>Collapsed: the fit ended with an empty or diagonal graph, a vanished kernel or numbers that "
        "are not finite; its scores count, but say little.</p>"
    )
    return (
        f"<ul class='cards'>{items}</ul>{collapsed if ends.collapsed else ''}{older if replaced else ''}"
        f"<dl>{_tally('Machines', (record.machine for record in records))}"
        f"{_tally('Versions', (record.trial.version for record in records))}</dl>"
        f"<details><summary>Data sets</summary>{html_table(data_table(records))}</details>"
    )


def _tally(title: str, values: Iterable[str]) -> str:
    counts = Counter(value or "not recorded" for value in values)
    items = "".join(
        f"<dd>{escape(value)}: {count:,} record{'' if count == 1 else 's'}</dd>"
        for value, count in counts.most_common()
    )
    return f"<dt>{title}</dt>{items or '<dd>none</dd>'}"


def _results(results: Mapping[Conditions, Pools]) -> str:
    """Return a panel per scoring and bank, and the choice of one of them where there are several."""
    panels = "".join(panel(index, found, under) for index, (under, found) in enumerate(results.items()))
    options = "".join(f'<option value="{index}">{escape(str(under))}</option>' for index, under in enumerate(results))
    choice = f"<p><label>Scoring and kernels <select id='conditions'>{options}</select></label></p>"
    return f"{choice if len(results) > 1 else ''}{panels}"


def _tables(tables: Sequence[Table]) -> str:
    """Return tables under their titles, the first of them open."""
    return "".join(folded_table(table, opened=not place) for place, table in enumerate(tables))


def _failures(records: Sequence[Record]) -> str:
    table = failures_table(records)
    return html_table(table) if table.rows else ""


def _remarks(records: Sequence[Record]) -> str:
    if not is_published(record.trial.data for record in records):
        return ""
    items = [f"Misprint: {where}, printed {printed}: {reading}." for where, (printed, reading) in MISPRINTS.items()]
    listed = "".join(f"<li>{escape(text)}</li>" for text in (*items, *ODDITIES))
    return f"<ul>{listed}</ul>"
