"""Style and script of the report."""

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
