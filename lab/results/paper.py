"""The tables of the paper with our figures beside the published ones, and of other data without them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from lab.records import Record, outside_study, to_json
from lab.results import figures, published
from lab.results.pools import Cell, Pool, Pools, by_scoring, pools, stem
from lab.results.published import DATA, MEASURES, MULTI_VIEW, NINE, PREFIXES, PROPOSED, TABLE_2, Printed
from lab.results.significance import compare
from lab.results.table import EMPTY, Footnotes, Picture, Table, headed, show_mean

#: Methods beside those of the paper, in the order of their columns; others follow by name.
BESIDE = ("SC-normalised", "KMeans", "SC-rbf", "SC-knn")
OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"  # whose figures a row has
TITLES = {"acc": "Accuracy", "nmi": "NMI"}
TUNED = "Label-tuned: each of our figures is the best over all settings and kernels that were run"
NOT_TUNED = "Each method was run in one setting, on one kernel if it takes one: no figure is picked by the classes"


def paper_results(records: Sequence[Record]) -> Iterator[Table | Picture]:
    """Yield the tables and pictures of the paper that records can fill, for each scoring that is shown."""
    others = outside_study(records)
    if published.is_published(record.trial.data for record in others):
        yield data_table(others)
    for scoring, chosen in by_scoring(others).items():
        results = pools(chosen)
        if shown_data(results.data):
            yield from (results_table(results, measure, scoring) for measure in TABLE_2)
            yield dots(results, scoring)
        if DATA.keys() & shown_data(results.data).keys() and set(PROPOSED) & set(results.methods):
            yield wilcoxon_table(results, scoring)
        for name in PREFIXES:
            if any(is_view(found, name) for found in results.data):
                yield multi_view_table(results, name, scoring)
        yield from figures.sensitivities(results, stem(scoring))


def shown_methods(found: Iterable[str]) -> list[str]:
    """Return methods in the order of columns: those of the paper first, then others."""
    names = set(found)
    known = [name for name in (*published.METHODS, *BESIDE) if name in names]
    return [*known, *sorted(names.difference(known))]


def shown_data(names: Sequence[str]) -> dict[str, str]:
    """Return titles and record names of data, but not of the views: the data sets of Table 2, then others."""
    known = {title: name for title, name in NINE.items() if name in names}
    return known | {name: name for name in names if name not in known.values() and not is_view(name, *PREFIXES)}


def is_view(name: str, *of: str) -> bool:
    """Return whether a record name is one of those multi-view data sets of the paper, or of a view of it."""
    return any(name == PREFIXES[data] or name.startswith(f"{PREFIXES[data]}_view") for data in of)


def data_table(records: Sequence[Record]) -> Table:
    """Return Table 1: the data sets, and which of them were used."""
    counts = Counter(record.trial.data for record in records)
    checksums = {record.trial.data: record.trial.checksum[:12] for record in records}
    rows = []
    names = sorted(counts)
    for title, name in {**shown_data(names), **{name: name for name in names if is_view(name, *PREFIXES)}}.items():
        sizes = (cell.text for cell in DATA[title].values()) if title in DATA else [EMPTY] * 3
        rows.append((title, *sizes, name, checksums[name], str(counts[name])))
    header = ("Data", "Instances", "Features", "Classes", "Name in records", "Checksum", "Records")
    return headed("table1_data", header, rows, published.ODDITIES[0])


def results_table(results: Pools, measure: str, scoring: str) -> Table:
    """Return one half of Table 2: ours, published and the difference for every data set and method that was run."""
    notes, rows, methods, data = Footnotes(), [], shown_methods(results.methods), shown_data(results.data)
    for title, name in data.items():
        cells = [results[name, method].best(measure) for method in methods]
        shown = (cell.show(f"{title}, {by}", notes) for cell, by in zip(cells, methods, strict=True))
        rows.append((title, OURS, *shown))
        if title in DATA:
            printed = [TABLE_2[measure][title].get(method) for method in methods]
            rows.append((title, PUBLISHED, *(EMPTY if cell is None else cell.text for cell in printed)))
            rows.append((title, DIFFERENCE, *map(show_gap, map(gap, cells, printed))))
    over = {title: name for title, name in data.items() if title in DATA} or data
    if len(over) > 1:
        rows += _mean_rows(results, over, methods, measure)
    name, which = ("table2", "Table 2: ") if published.is_published(results.data) else ("results", "")
    picked = TUNED if any(len(pool.outcomes) > 1 for pool in results.values()) else NOT_TUNED
    facts = {"which": which, "measure": TITLES[measure], "scoring": scoring, "picked": picked}
    name = f"{name}_{measure}_{stem(scoring)}"
    return headed(name, ("Data", "Source", *methods), rows, *notes.notes(), head="results", **facts)


def gap(ours: Cell, printed: Printed | None) -> float | None:
    """Return ours minus published in per cent, if there are both."""
    return None if ours.value is None or printed is None else 100 * ours.value - printed.value


def show_gap(value: float | None) -> str:
    """Return a difference with its sign."""
    return EMPTY if value is None else f"{value:+.2f}"


def _mean_rows(
    results: Pools, over: Mapping[str, str], methods: Sequence[str], measure: str
) -> Iterator[tuple[str, ...]]:
    """Yield the means over data sets; one that is not complete only says how many figures there are."""
    title, n = "mean" if over.keys() == DATA.keys() else f"mean of {len(over)}", len(over)
    ours = [list(results.figures(method, measure, over).values()) for method in methods]
    grids = [TABLE_2[measure][title] for title in over if title in DATA]
    theirs = [[grid[method].value for grid in grids if method in grid] for method in methods]
    yield title, OURS, *(show_mean(line, n, 2) for line in ours)
    if grids:
        means = zip(ours, theirs, strict=True)
        yield title, PUBLISHED, *(show_mean(line, n, 2) if line else EMPTY for line in theirs)
        yield title, DIFFERENCE, *(show_gap((sum(a) - sum(b)) / n if len(a) == len(b) == n else None) for a, b in means)


def dots(results: Pools, scoring: str) -> Picture:
    """Return the picture of the accuracies, ours beside the published ones."""
    panels, methods, data = {}, shown_methods(results.methods), shown_data(results.data)
    ours = {method: results.figures(method, "acc", data) for method in methods}
    for title in data:
        grid = TABLE_2["acc"].get(title, {})
        theirs = {method: grid[method].value for method in methods if method in grid}
        found = {method: line[title] for method, line in ours.items() if title in line}
        panels[title] = methods, {PUBLISHED: theirs, OURS: found}
    whose = ": ours (filled) and published (open)" if published.is_published(results.data) else ""
    title = f"Accuracy in per cent, {scoring}{whose}"
    return Picture(f"dots_acc_{stem(scoring)}", title, partial(figures.dots, title, panels))


def wilcoxon_table(results: Pools, scoring: str) -> Table:
    """Return Table 3: published p-values, the same recomputed from Table 2, and those of our figures."""
    notes, rows = Footnotes(), []
    rivals = [name for name in shown_methods(results.methods) if name not in PROPOSED]
    for (method, measure), printed in published.WILCOXON.items():
        grid = {by: {title: row[by].value for title, row in TABLE_2[measure].items()} for by in published.METHODS}
        ours = {by: results.figures(by, measure, NINE) for by in (method, *rivals)}
        cells: dict[str, list[str]] = {PUBLISHED: [], "recomputed": [], OURS: []}
        for rival in rivals:
            where = f"Wilcoxon, {method} against {rival}, {MEASURES[measure]}"
            cells[PUBLISHED].append(show_printed(printed[rival], where, notes, 4) if rival in printed else EMPTY)
            again, test = compare(grid[method], grid.get(rival, {})), compare(ours[method], ours[rival])
            cells["recomputed"].append(EMPTY if again is None else f"{again.p:.4f}")
            cells[OURS].append("not run" if test is None else f"{test.p:.4f} ({test.wins} of {test.n})")
        if ours[method]:
            rows += [(method, MEASURES[measure], source, *line) for source, line in cells.items()]
    header, told = ("Method", "Measure", "Source", *rivals), (*_incomplete(results, rivals), *notes.notes())
    return headed(f"table3_wilcoxon_{stem(scoring)}", header, rows, *told, scoring=scoring)


def _incomplete(results: Pools, rivals: Iterable[str]) -> Iterator[str]:
    """Say which rivals have no figure on a data set where a proposed method has one."""
    ours = set().union(*(results.figures(name, "acc", NINE) for name in PROPOSED))
    lacking = {name: ours - results.figures(name, "acc", NINE).keys() for name in rivals}
    without = [
        f"{name} ({', '.join(title for title in NINE if title in titles)})"
        for name, titles in lacking.items()
        if 0 < len(titles) < len(ours)
    ]
    if without:
        yield f"Not on all data sets: {', '.join(without)}."


def show_printed(cell: Printed, where: str, notes: Footnotes, digits: int) -> str:
    """Return a published figure as text, with a note if it is a misprint."""
    text = f"{cell.value:.{digits}f}" + ("" if cell.bracket is None else f" ({cell.bracket:.{digits}f})")
    if where not in published.MISPRINTS:
        return text
    printed, reading = published.MISPRINTS[where]
    return f"{text} {notes.mark(f'misprint {printed}: {reading}', where)}"


def multi_view_table(results: Pools, data: str, scoring: str) -> Table:
    """Return Table 4 (Cora) or 5 (NUS-WIDE): eight measures, published for two views, and ours."""
    notes, rows, views = Footnotes(), [], {"1st": MULTI_VIEW[data, 1], "2nd": MULTI_VIEW[data, 2]}
    names = [name for name in results.data if is_view(name, data)]
    run = shown_methods(method for name, method in results if name in names)
    for method in dict.fromkeys([*views["1st"], *run]):
        for ordinal, grid in views.items():
            where = f"{data}, {ordinal} view, {method}"
            cells = grid.get(method, {}).items()
            shown = [show_printed(cell, f"{where}, {MEASURES[measure]}", notes, 3) for measure, cell in cells]
            rows += [(method, f"published, {ordinal} view", *shown)] if shown else []
        for pool in (results[name, method] for name in names if (name, method) in results):
            rows += _our_view(pool, notes)
    number, told = 4 if data == "Cora" else 5, (*published.ODDITIES[1:], *notes.notes())
    facts = {"number": number, "data": data, "scoring": scoring}
    name = f"table{number}_{PREFIXES[data]}_{stem(scoring)}"
    return headed(name, ("Method", "Source", *MEASURES.values()), rows, *told, head="multi_view", **facts)


def _our_view(pool: Pool, notes: Footnotes) -> Iterator[tuple[str, ...]]:
    best = pool.best("acc").outcome
    sources = {"best of each": [pool.best(measure) for measure in MEASURES]}
    if best is not None and len(pool.outcomes) > 1:  # something was tuned
        sources["at best Acc"] = [pool.cell(best, measure) for measure in MEASURES]
    for source, cells in sources.items():
        shown = [cell.show(f"{pool.data}, {pool.method}", notes, scale=1, digits=3) for cell in cells]
        yield (pool.method, f"ours, {pool.data}, {source}", *shown)


def failures(records: Sequence[Record]) -> Iterator[Table]:
    """Yield what failed or was skipped, and why: nothing is left out of other tables without standing here.

    What was skipped once, and run in another way since, is not left out.
    """
    records = outside_study(records)
    cells = [(record.trial.data, record.trial.method, to_json(record.trial.changes)) for record in records]
    done = {cell for cell, record in zip(cells, records, strict=True) if record.succeeded}
    lost = Counter(
        (*cell[:2], record.status, record.reason or "no reason given")
        for cell, record in zip(cells, records, strict=True)
        if record.status == "failed" or (record.status == "skipped" and cell not in done)
    )
    rows = tuple((data, method, str(count), state, why) for (data, method, state, why), count in sorted(lost.items()))
    if rows:
        yield Table("failures", "Failed and skipped", ("Data", "Method", "Records", "Status", "Reason"), rows)
