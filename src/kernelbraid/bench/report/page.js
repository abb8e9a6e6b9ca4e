
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
// As wide as its box now; a window of another width draws anew.
const plot = (box, traces, extra) =>
  Plotly.react(box, traces, layout({width: box.clientWidth, ...extra}), {displayModeBar: false});

// What is left out by the boxes: data sets by title and by the name in records, methods by name.
const left = {data: new Set(), method: new Set()};
const form = document.getElementById("filters");
const boxes = kind => form ? [...form.querySelectorAll(`[data-kind=${kind}] input`)] : [];
function isLeft(text) {
  return left.data.has(text) || left.method.has(text);
}
function filterTable(table) {
  const heads = [...table.tHead.rows[0].cells].map(head => head.textContent.trim());
  const names = heads.map((head, at) => head === "Data" || head === "Method" ? at : -1).filter(at => at >= 0);
  const gone = heads.map(isLeft);
  for (const row of table.rows) {
    [...row.cells].forEach((cell, at) => { cell.hidden = gone[at]; });
    if (row.parentElement === table.tBodies[0]) row.hidden = names.some(at => isLeft(row.cells[at].textContent.trim()));
  }
}
function filter() {
  const words = [];
  for (const kind of ["data", "method"]) {
    left[kind].clear();
    const all = boxes(kind), off = all.filter(box => !box.checked);
    off.forEach(box => { left[kind].add(box.value); left[kind].add(box.dataset.alias); });
    if (!all.length) continue;
    one(form, `[data-kind=${kind}] .count`).textContent = off.length ? `${all.length - off.length} of ${all.length}`
      : `all ${all.length}`;
    if (off.length) words.push(off.length);
  }
  const note = one(form, "p.note");
  note.hidden = !words.length;
  note.textContent = "Tables and pictures show a part; means and counts are over all.";
  document.querySelectorAll("table").forEach(filterTable);
  drawShown();
}

function drawDots(panel, points) {
  const [kind, ...rest] = one(panel, ".view").value.split(":");
  const chosen = rest.join(":"), measure = one(panel, ".measure").value, other = kind === "data" ? "method" : "data";
  const shown = points.filter(point => point[kind] === chosen && point.measure === measure && !isLeft(point[other])
    && (point.ours !== null || point.published !== null));
  const both = shown.filter(point => point.ours !== null && point.published !== null);
  const trace = (name, field, marker) => {
    const some = shown.filter(point => point[field] !== null);
    return {type: "scatter", mode: "markers", name, x: some.map(p => p[field]), y: some.map(p => p[other]),
      customdata: some.map(point => [point.data + ", " + point.method, field === "ours" ? point.detail : "as printed"]),
      hovertemplate: "<b>%{customdata[0]}</b><br>" + name + " %{x:.2f}<br>%{customdata[1]}<extra></extra>", marker};
  };
  const names = shown.map(point => point[other]), unit = one(panel, ".measure").selectedOptions[0].text;
  const theirs = shown.some(point => point.published !== null);
  const published = trace("published", "published",
    {symbol: "circle-open", size: 12, color: colour("theirs"), line: {width: 2.5}});
  plot(one(panel, ".dots"), [
    {type: "scatter", mode: "lines", x: both.flatMap(p => [p.ours, p.published, null]),
     y: both.flatMap(p => [p[other], p[other], null]), line: {color: colour("dim"), width: 1.5}, hoverinfo: "skip",
     showlegend: false},
    ...(theirs ? [published] : []),
    trace(theirs ? "ours" : unit, "ours", {symbol: "circle", size: 8, color: colour("ours")}),
  ], {height: 90 + 26 * names.length, hovermode: "closest", showlegend: theirs,
    margin: {l: 10, r: 10, t: theirs ? 40 : 10, b: 40},
    legend: {orientation: "h", x: 0, y: 1, yanchor: "bottom"},
    xaxis: {range: [0, 102], fixedrange: true, title: {text: unit + " in per cent"}},
    yaxis: {type: "category", categoryorder: "array", categoryarray: names, range: [names.length - 0.5, -0.5],
      fixedrange: true}});
}
function drawHeat(panel, surfaces) {
  const chosen = surfaces[Number(one(panel, ".surface").value)];
  const grey = (value, sign) => value === null ? Number(sign !== "") : null;
  const empty = chosen.z.map((row, y) => row.map((value, x) => grey(value, chosen.signs[y][x])));
  const shared = {type: "heatmap", x: chosen.x, y: chosen.y, customdata: chosen.hover, xgap: 2, ygap: 2,
    hovertemplate: "%{customdata}<extra></extra>"};
  plot(one(panel, ".heat"), [
    {...shared, z: chosen.z, colorscale: "Cividis", texttemplate: "%{z:.0f}", hoverongaps: false,
     colorbar: {title: {text: "Acc %"}, thickness: 10, len: 0.9}},
    {...shared, z: empty, zmin: 0, zmax: 1, colorscale: [[0, colour("box")], [1, colour("void")]], showscale: false,
     text: chosen.signs, texttemplate: "%{text}", hoverongaps: false, textfont: {size: 15, color: colour("ink")}},
  ], {height: 420, xaxis: {type: "category", title: {text: chosen.xName}, showgrid: false, fixedrange: true},
    yaxis: {type: "category", title: {text: chosen.yName}, showgrid: false, fixedrange: true}});
}
const kept = JSON.parse(document.getElementById("kept").textContent);
const LINES = [["ink", "dot"], ["ours", "solid"], ["third", "dashdot"], ["fourth", "dash"]];
function drawCurves(curves) {
  const traces = curves.lines.map((curve, at) => ({type: "scatter", mode: "lines+markers", name: curve.label,
    x: curve.values.map((_, step) => step + 1), y: curve.values, customdata: curves.besides, marker: {size: 5},
    line: {color: colour(LINES[at % LINES.length][0]), dash: LINES[at % LINES.length][1], width: 2},
    hovertemplate: "<b>step %{x}</b><br>" + curve.label + " %{y:.4g}<br>%{customdata}<extra></extra>"}));
  plot(document.getElementById("curves"), traces, {height: 420, hovermode: "closest", showlegend: true,
    legend: {orientation: "h", x: 0, y: 1, yanchor: "bottom"},
    xaxis: {title: {text: "step"}, fixedrange: true, rangemode: "tozero"},
    yaxis: {type: "log", range: curves.range, dtick: curves.dtick, exponentformat: "power", fixedrange: true}});
}
function drawKernel(kernel) {
  const {image, edges, sizes} = kernel, borders = sizes.reduce((all, size) => [...all, all.at(-1) + size], [0]);
  const cluster = sample => borders.findIndex(border => border > sample);
  const span = (what, first, last) => first === last ? `${what} ${first}` : `${what}s ${first}–${last}`;
  const block = at => span("sample", edges[at] + 1, edges[at + 1]) + ", "
    + span("cluster", cluster(edges[at]), cluster(edges[at + 1] - 1));
  const names = image.map((_, at) => block(at));
  const line = {type: "line", line: {color: "#fff", width: 1}}, end = borders.at(-1), inner = borders.slice(1, -1);
  const bare = {showticklabels: false, ticks: "", showgrid: false, fixedrange: true, constrain: "domain"};
  plot(document.getElementById("kernel"), [{type: "heatmap", z: image, x: edges, y: edges,
    customdata: names.map(row => names.map(column => row + "<br>" + column)), colorscale: "Cividis",
    zmin: kernel.range[0], zmax: kernel.range[1], colorbar: {thickness: 10, len: 0.9},
    hovertemplate: "%{customdata}<br>mean %{z:.3g}<extra></extra>"}],
  {height: Math.min(560, document.getElementById("kernel").clientWidth), margin: {l: 10, r: 10, t: 10, b: 10},
    shapes: inner.flatMap(at => [{...line, x0: at, x1: at, y0: 0, y1: end}, {...line, x0: 0, x1: end, y0: at, y1: at}]),
    xaxis: {...bare, range: [0, end]}, yaxis: {...bare, range: [end, 0], scaleanchor: "x"}});
}
function drawFit() {
  if (!kept.length) return;
  const fit = kept[Number(document.getElementById("fit").value)];
  document.getElementById("ending").textContent = fit.ending;
  document.getElementById("history").hidden = !fit.curves;
  document.getElementById("consensus").hidden = !fit.kernel;
  if (fit.curves && isSeen(document.getElementById("curves"))) drawCurves(fit.curves);
  if (fit.kernel && isSeen(document.getElementById("kernel"))) drawKernel(fit.kernel);
}
if (kept.length) document.getElementById("fit").addEventListener("change", drawFit);

// Nothing is drawn in a part that is folded: it would have no width.
function isSeen(element) {
  return element !== null && element.offsetWidth > 0;
}
function draw(panel) {
  const own = payload[Number(panel.dataset.index)];
  if (isSeen(one(panel, ".dots"))) drawDots(panel, own.points);
  if (isSeen(one(panel, ".heat"))) drawHeat(panel, own.surfaces);
}
const panels = [...document.querySelectorAll(".panel")];
const drawShown = () => { panels.filter(panel => !panel.hidden).forEach(draw); drawFit(); };
panels.forEach(panel => panel.querySelectorAll("select").forEach(
  select => select.addEventListener("change", () => draw(panel))));
document.getElementById("conditions")?.addEventListener("change", event => {
  panels.forEach(panel => { panel.hidden = panel.dataset.index !== event.target.value; });
  drawShown();
});
let soon = 0;  // once for all parts that are opened together
const drawSoon = () => {
  cancelAnimationFrame(soon);
  soon = requestAnimationFrame(drawShown);
};
addEventListener("resize", drawSoon);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawShown);

document.querySelectorAll("details.part").forEach(part => part.addEventListener("toggle", drawSoon));
function unfold(address) {
  let part = address.length > 1 ? document.querySelector(address + " > details") : null;
  for (; part !== null; part = part.parentElement.closest("details")) part.open = true;
}
document.querySelectorAll("nav a").forEach(
  link => link.addEventListener("click", () => unfold(link.getAttribute("href"))));
document.querySelectorAll("nav button").forEach(button => button.addEventListener("click", () =>
  document.querySelectorAll("details.part").forEach(part => { part.open = button.dataset.set === "open"; })));
addEventListener("beforeprint", () => document.querySelectorAll("details.part").forEach(part => { part.open = true; }));
if (form) {
  form.addEventListener("change", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.querySelectorAll("button").forEach(button => button.addEventListener("click", () => {
    button.closest("details").querySelectorAll("input").forEach(box => { box.checked = button.dataset.set === "all"; });
    filter();
  }));
}
unfold(location.hash);
drawShown();
