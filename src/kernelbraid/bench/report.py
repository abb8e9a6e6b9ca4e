"""One HTML file of everything that was run: no network, tables to sort, points to hover over.

The file holds plotly.js, the records that are shown, and the style; it can be mailed and opened anywhere.
"""

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from kernelbraid.bench.figures import FORMATS, all_figures, render
from kernelbraid.bench.published import DATA, MEASURES, METHODS, MISPRINTS, ODDITIES, TABLE_2
from kernelbraid.bench.records import Record
from kernelbraid.bench.select import Cell, Conditions, Counts, Pools, Surface, conditions, pools, surfaces
from kernelbraid.bench.tables import (
    PREFIXES,
    TUNED,
    Footnotes,
    Table,
    all_tables,
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

__all__ = ["all_tables", "write_report", "write_tables"]

TITLE = "Low-rank kernel and graph learning: ours against published"
# Nothing may be loaded from anywhere, whatever a record holds.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
FULL_COLOUR = 10.0  # points of difference at which the colour of a cell is strongest
STRONGEST = 60  # per cent of that colour
LONG = 40  # characters above which the text of a cell is broken into lines
NUMBER = re.compile(r"[-+]?\.?\d")
SIGNS = {"done": "", "collapsed": "×", "failed": "!", "skipped": "–", "not run": ""}


def write_tables(records: Sequence[Record], folder: Path | str) -> list[Path]:
    """Write every table as Markdown, LaTeX and CSV, and every figure as PNG and SVG.

    Parameters
    ----------
    records : sequence of Record
        Results in any order.
    folder : path
        Made if it is not there.

    Returns
    -------
    list of Path
        The files, each whole or not there.
    """
    folder = Path(folder)
    written = []
    for table in all_tables(records):
        for suffix, text in {"md": table.to_markdown(), "tex": table.to_latex(), "csv": table.to_csv()}.items():
            written.append(write_whole(folder / f"{table.name}.{suffix}", text.encode()))
    for name, figure in all_figures(records):
        written += [write_whole(folder / f"{name}.{kind}", render(figure, kind)) for kind in FORMATS]
    return written


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
    return write_whole(Path(path), report(records).encode())


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file that is never seen half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)  # temporary files are for their owner only
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def report(records: Sequence[Record]) -> str:
    """Return the whole page."""
    under = conditions(records)
    results = [pools(records, each) for each in under]
    shown = [_panel(index, *pair) for index, pair in enumerate(zip(results, under, strict=True))]
    payload = [{"points": _points(found), "surfaces": list(_surfaces(found))} for found in results]
    options = "".join(f'<option value="{index}">{escape(str(each))}</option>' for index, each in enumerate(under))
    body = [
        f"<header><h1>{TITLE}</h1><nav aria-label='Sections'><a href='#overview'>Overview</a><a href='#results'>Results"
        "</a><a href='#failures'>Failures</a><a href='#remarks'>About the paper</a></nav></header><main>",
        _overview(records, results),
        "<section id='results'><h2>Results</h2><p><label>Scoring and kernels "
        f"<select id='conditions'>{options}</select></label></p>{''.join(shown)}</section>",
        f"<section id='failures'><h2>Failed and skipped</h2>{_html_table(failures_table(records))}</section>",
        _remarks(),
        "</main>",
    ]
    head = (
        "<meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><link rel="icon" href="data:,">'
        f"<meta name='color-scheme' content='light dark'><title>{TITLE}</title><style>{CSS}</style>"
    )
    data = json.dumps(payload, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    scripts = (
        f"<script type='application/json' id='data'>{data}</script><script>{_plotly()}</script><script>{JS}</script>"
    )
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(body)}{scripts}</body></html>\n"


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError(
            "plotly, which draws the report, is not installed; pip install 'kernelbraid[bench]'."
        ) from None
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _overview(records: Sequence[Record], results: Iterable[Pools]) -> str:
    # A record without a bank stands under every bank: count over the records themselves, not over the panels.
    ends = Counts.of(records)
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
        f"<details><summary>Data sets</summary>{_html_table(data_table(records))}</details></section>"
    )


def _tally(title: str, values: Iterable[str]) -> str:
    counts = Counter(value or "not recorded" for value in values)
    items = "".join(f"<dd>{escape(value)}: {count:,} records</dd>" for value, count in counts.most_common())
    return f"<dt>{title}</dt>{items or '<dd>none</dd>'}"


def _remarks() -> str:
    items = [f"Misprint: {where}, printed {printed}: {reading}." for where, (printed, reading) in MISPRINTS.items()]
    listed = "".join(f"<li>{escape(text)}</li>" for text in (*items, *ODDITIES))
    return f"<section id='remarks'><h2>About the published figures</h2><ul>{listed}</ul></section>"


def _panel(index: int, results: Pools, under: Conditions) -> str:
    """Return everything that is shown of one scoring and bank."""
    tables = [_results(results, measure) for measure in TABLE_2]
    views = [_section(multi_view_table(results, under, data)) for data in PREFIXES]
    data, methods = shown_data(results.data()), shown_methods(results.methods())
    views_of = _group("One data set", "data", data) + _group("One method", "method", methods)
    measures = "".join(f"<option value='{name}'>{MEASURES[name]}</option>" for name in TABLE_2)
    maps = "".join(
        f"<option value='{place}'>{escape(surface['title'])}</option>"
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
        f"{_section(wilcoxon_table(results, under))}<h3>Sensitivity</h3>"
        f"{heat if maps else '<p>No method was run on a grid of beta and gamma.</p>'}{''.join(views)}</div>"
    )


def _group(title: str, kind: str, names: Iterable[str]) -> str:
    options = (f'<option value="{kind}:{escape(name)}">{escape(name)}</option>' for name in names)
    return f"<optgroup label='{title}'>{''.join(options)}</optgroup>"


def _section(table: Table) -> str:
    return f"<h3>{escape(table.title.rpartition(' (')[0] or table.title)}</h3>{_html_table(table)}"


def _html_table(table: Table) -> str:
    """Return a table whose headers sort it."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    texts = [not any(NUMBER.match(cell) for cell in column) for column in columns]
    rows = (
        f"<tr>{''.join(_td(cell, place == 0, texts[place]) for place, cell in enumerate(row))}</tr>"
        for row in table.rows
    )
    return _framed(table.title, table.header, "".join(rows), table.notes, texts=texts)


def _td(text: str, first: bool, word: bool) -> str:
    if first:
        return f"<th scope='row'>{escape(text)}</th>"
    look = ["text"] * word + ["long"] * (len(text) > LONG)
    return f"<td class='{' '.join(look)}'>{escape(text)}</td>" if look else f"<td>{escape(text)}</td>"


def _framed(
    title: str, header: Sequence[str], rows: str, notes: Iterable[str], *, foot: str = "", texts: Iterable[bool] = ()
) -> str:
    """Return a table in a box of its own, which scrolls sideways where the page must not."""
    looks = [" class='text'" if word else "" for word in texts] or [""] * len(header)
    heads = "".join(
        f"<th scope='col'{look}><button type='button'>{escape(name)}</button></th>"
        for name, look in zip(header, looks, strict=True)
    )
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    below = f"<tfoot>{foot}</tfoot>" if foot else ""
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>{below}</table>"
    frame = f'<div class="frame" tabindex="0" role="region" aria-label="{escape(title)}">{table}</div>'
    return f"{frame}<ul class='note'>{listed}</ul>" if listed else frame


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
    table = _framed(header, ("Data", *methods), "".join(rows), (explained, *notes.notes()), foot=foot)
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


def _points(results: Pools) -> list[dict[str, Any]]:
    """Return what the dots show: a point a data set, method and measure."""
    found = []
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


def _surfaces(results: Pools) -> Iterator[dict[str, Any]]:
    for (data, method), pool in sorted(results.items()):
        for surface in surfaces(pool):
            yield _heat(surface, f"{data}, {method}, {surface.fixed[0]} = {surface.fixed[1]:g}")


def _heat(surface: Surface, title: str) -> dict[str, Any]:
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
    axes = {"x": [f"{value:g}" for value in columns], "y": [f"{value:g}" for value in rows]}
    names = {"xName": column_name, "yName": row_name}
    return {"title": title, **axes, **names, "z": values, "signs": signs, "hover": hovers}


CSS = """
:root{--ink:#1c1c1e;--dim:#5f6368;--paper:#fff;--box:#f4f5f7;--line:#d9dce1;--ours:#0072B2;--theirs:#D98200;
--more:#4aa3df;--less:#f0a030;--void:#c4c7cc}
@media(prefers-color-scheme:dark){:root{--ink:#ececee;--dim:#a2a6ad;--paper:#151618;--box:#202226;--line:#383b41;
--ours:#56B4E9;--theirs:#E69F00;--more:#1f77b4;--less:#b36b00;--void:#4a4d54}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
header,main{max-width:1280px;margin:0 auto;padding:0 20px;min-width:0}
h1{font-size:1.5rem;line-height:1.25;margin:1.2em 0 .4em}h2{font-size:1.25rem;margin:2em 0 .5em}
h3{font-size:1.05rem;margin:2em 0 .5em}
nav{display:flex;flex-wrap:wrap;gap:.3em 1.2em}a{color:var(--ours)}
section{border-top:1px solid var(--line);margin-top:1.5em}
.cards{display:flex;flex-wrap:wrap;gap:10px;list-style:none;padding:0;margin:0}
.cards li{background:var(--box);border-radius:8px;padding:8px 14px;color:var(--dim)}
.cards b{display:block;font-size:1.35rem;color:var(--ink);font-variant-numeric:tabular-nums}
dl{margin:.5em 0}dt{font-weight:600}dd{margin:0 0 0 1em;overflow-wrap:anywhere}
.note{color:var(--dim);font-size:.86rem;overflow-wrap:anywhere}ul.note{padding-left:1.2em}
.frame{overflow-x:auto;border:1px solid var(--line);border-radius:8px;max-width:100%}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{padding:5px 8px;text-align:right;vertical-align:top;border-bottom:1px solid var(--line);white-space:nowrap}
.text{text-align:left}td.long{white-space:normal;min-width:16em;text-align:left}
tbody tr:last-child>*{border-bottom:0}tfoot>tr>*{border-top:2px solid var(--line);border-bottom:0}
th:first-child{text-align:left;position:sticky;left:0;background:var(--box);z-index:1}
thead th{background:var(--box);padding:0}
thead button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:7px 8px;width:100%;
text-align:inherit;cursor:pointer;white-space:nowrap}
th[aria-sort=ascending] button::after{content:" ↑"}th[aria-sort=descending] button::after{content:" ↓"}
:focus-visible{outline:2px solid var(--ours);outline-offset:-2px}
td small{display:block;color:var(--dim);font-size:.8rem;line-height:1.25}td small.gap{color:var(--ink)}
td i{color:var(--dim)}
td.more{background:color-mix(in srgb,var(--more) var(--share),transparent)}
td.less{background:color-mix(in srgb,var(--less) var(--share),transparent)}
select{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px;padding:5px 8px;
max-width:100%}
label{display:inline-block;margin:0 1em .4em 0;max-width:100%}
.plot{width:100%;min-width:0;overflow:hidden}.heat{max-width:760px}
details{margin:.8em 0}summary{cursor:pointer;margin-bottom:.5em}
@media(max-width:600px){header,main{padding:0 12px}h1{font-size:1.25rem}.cards li{padding:6px 10px}}
"""

JS = r"""
"use strict";
const payload = JSON.parse(document.getElementById("data").textContent);
const one = (root, selector) => root.querySelector(selector);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function worth(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const text = cell.textContent.trim();
  if (cell.querySelector("i") || text === "-" || text === "") return null;
  const number = /^[-+]?[\d.,]*\d/.exec(text);
  return number && !isNaN(Number(number[0].replace(/,/g, ""))) ? Number(number[0].replace(/,/g, "")) : text;
}
function order(a, b) {
  if (typeof a === typeof b) return typeof a === "string" ? a.localeCompare(b) : a - b;
  return typeof a === "number" ? -1 : 1;
}
function sortBy(button) {
  const head = button.parentElement, body = button.closest("table").tBodies[0];
  const numeric = [...body.rows].some(row => typeof worth(row, head.cellIndex) === "number");
  const now = head.getAttribute("aria-sort");
  const next = now ? (now === "descending" ? "ascending" : "descending") : (numeric ? "descending" : "ascending");
  head.parentElement.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", next);
  const sign = next === "ascending" ? 1 : -1;
  const rows = [...body.rows].map((row, at) => ({row, at, value: worth(row, head.cellIndex)}));
  rows.sort((a, b) => a.value === null || b.value === null
    ? (a.value === null) - (b.value === null) || a.at - b.at  // what is missing stays at the end
    : sign * order(a.value, b.value) || a.at - b.at);
  body.append(...rows.map(entry => entry.row));
}
document.querySelectorAll("thead button").forEach(button => button.addEventListener("click", () => sortBy(button)));

function layout(extra) {
  const line = {gridcolor: colour("line"), zerolinecolor: colour("line"), linecolor: colour("line"), automargin: true};
  return {paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: {color: colour("ink"), size: 12},
    hoverlabel: {bgcolor: colour("box"), bordercolor: colour("line"), font: {color: colour("ink")}, align: "left"},
    margin: {l: 10, r: 10, t: 40, b: 40}, ...extra,
    xaxis: {...line, ...extra.xaxis}, yaxis: {...line, ...extra.yaxis}};
}
const config = {responsive: true, displayModeBar: false};

function drawDots(panel, points) {
  const [kind, ...rest] = one(panel, ".view").value.split(":");
  const chosen = rest.join(":"), measure = one(panel, ".measure").value, other = kind === "data" ? "method" : "data";
  const shown = points.filter(point => point[kind] === chosen && point.measure === measure);
  const both = shown.filter(point => point.ours !== null && point.published !== null);
  const trace = (name, field, marker) => {
    const some = shown.filter(point => point[field] !== null);
    return {type: "scatter", mode: "markers", name, x: some.map(p => p[field]), y: some.map(p => p[other]),
      customdata: some.map(point => [point.data + ", " + point.method, field === "ours" ? point.detail : "as printed"]),
      hovertemplate: "<b>%{customdata[0]}</b><br>" + name + " %{x:.2f}<br>%{customdata[1]}<extra></extra>", marker};
  };
  const names = shown.map(point => point[other]), unit = one(panel, ".measure").selectedOptions[0].text;
  Plotly.react(one(panel, ".dots"), [
    {type: "scatter", mode: "lines", x: both.flatMap(p => [p.ours, p.published, null]),
     y: both.flatMap(p => [p[other], p[other], null]), line: {color: colour("dim"), width: 1.5}, hoverinfo: "skip",
     showlegend: false},
    trace("published", "published", {symbol: "circle-open", size: 12, color: colour("theirs"), line: {width: 2.5}}),
    trace("ours", "ours", {symbol: "circle", size: 8, color: colour("ours")}),
  ], layout({height: 90 + 26 * names.length, hovermode: "closest", showlegend: true,
    legend: {orientation: "h", x: 0, y: 1, yanchor: "bottom"},
    xaxis: {range: [0, 102], fixedrange: true, title: {text: unit + " in per cent"}},
    yaxis: {type: "category", categoryorder: "array", categoryarray: names, range: [names.length - 0.5, -0.5],
      fixedrange: true}}), config);
}
function drawHeat(panel, surfaces) {
  if (!surfaces.length) return;
  const chosen = surfaces[Number(one(panel, ".surface").value)];
  const grey = (value, sign) => value === null ? Number(sign !== "") : null;
  const empty = chosen.z.map((row, y) => row.map((value, x) => grey(value, chosen.signs[y][x])));
  const shared = {type: "heatmap", x: chosen.x, y: chosen.y, customdata: chosen.hover, xgap: 2, ygap: 2,
    hovertemplate: "%{customdata}<extra></extra>"};
  Plotly.react(one(panel, ".heat"), [
    {...shared, z: chosen.z, colorscale: "Cividis", texttemplate: "%{z:.0f}", hoverongaps: false,
     colorbar: {title: {text: "Acc %"}, thickness: 10, len: 0.9}},
    {...shared, z: empty, zmin: 0, zmax: 1, colorscale: [[0, colour("box")], [1, colour("void")]], showscale: false,
     text: chosen.signs, texttemplate: "%{text}", hoverongaps: false, textfont: {size: 15, color: colour("ink")}},
  ], layout({height: 420, xaxis: {type: "category", title: {text: chosen.xName}, showgrid: false, fixedrange: true},
    yaxis: {type: "category", title: {text: chosen.yName}, showgrid: false, fixedrange: true}}), config);
}
function draw(panel) {
  const own = payload[Number(panel.dataset.index)];
  drawDots(panel, own.points);
  drawHeat(panel, own.surfaces);
}
const panels = [...document.querySelectorAll(".panel")];
const drawShown = () => panels.filter(panel => !panel.hidden).forEach(draw);
panels.forEach(panel => panel.querySelectorAll("select").forEach(
  select => select.addEventListener("change", () => draw(panel))));
document.getElementById("conditions").addEventListener("change", event => {
  panels.forEach(panel => { panel.hidden = panel.dataset.index !== event.target.value; });
  drawShown();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawShown);
drawShown();
"""
