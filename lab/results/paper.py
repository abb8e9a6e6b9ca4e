"""The tables of the paper with our figures beside the published ones, and of other data without them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from lab.records import Record, outside_study, to_json
from lab.results import figures
from lab.results.pools import Cell, Pool, Pools, by_scoring, pools
from lab.results.published import (
    DATA,
    MEASURES,
    METHODS,
    MISPRINTS,
    MULTI_VIEW,
    ODDITIES,
    PREFIXES,
    PROPOSED,
    RECORD_NAMES,
    TABLE_2,
    WILCOXON,
    Printed,
    is_published,
)
from lab.results.significance import Comparison, compare
from lab.results.table import EMPTY, Footnotes, Picture, Table

#: Methods beside those of the paper, in the order of their columns; others follow by name.
BESIDE = ("SC-normalised", "KMeans", "SC-rbf", "SC-knn")
OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"  # whose figures a row has
TITLES = {"acc": "Accuracy", "nmi": "NMI"}
BRACKETS = (
    "In brackets: the mean over the kernels at that setting for methods on one kernel, the deviation over the runs for "
    "others."
)
TUNED = f"Label-tuned: each of our figures is the best over all settings and kernels that were run. {BRACKETS}"
BEST = f"Label-tuned: each figure is the best, by the classes, of all settings and kernels that were run. {BRACKETS}"


def paper_results(records: Sequence[Record]) -> Iterator[Table | Picture]:
    """Yield every table of the paper that records can fill, and a picture of Table 2, for each scoring that is shown."""
    others = outside_study(records)
    if others:
        yield data_table(others)
    for scoring, chosen in by_scoring(others).items():
        results, stem = pools(chosen), scoring.removeprefix("scored ").replace(" ", "-")
        data = shown_data(results.data)
        if data:
            yield from (results_table(results, data, measure, scoring, stem) for measure in TABLE_2)
            yield dots(results, data, scoring, stem)
        if DATA.keys() & data.keys() and any(method in results.methods for method in PROPOSED):
            yield wilcoxon_table(results, scoring, stem)
        for name in PREFIXES:
            if any(is_view_of(name, found) for found in results.data):
                yield multi_view_table(results, name, scoring, stem)


def shown_methods(found: Iterable[str]) -> list[str]:
    """Return methods in the order of columns: those of the paper first, then others."""
    names = set(found)
    known = [name for name in (*METHODS, *BESIDE) if name in names]
    return [*known, *sorted(names.difference(known))]


def shown_data(names: Sequence[str]) -> dict[str, str]:
    """Return titles and record names of data, but not of the views: the data sets of Table 2, then others."""
    known = {title: RECORD_NAMES[title] for title in DATA if RECORD_NAMES[title] in names}
    others = (name for name in names if name not in known.values() and not is_view(name))
    return known | {name: name for name in others}


def is_view(name: str) -> bool:
    """Return whether a record name is one of the multi-view tables of the paper."""
    return any(is_view_of(data, name) for data in PREFIXES)


def is_view_of(data: str, name: str) -> bool:
    """Return whether a record name is one of a multi-view data set of the paper, or of a view of it."""
    return name == PREFIXES[data] or name.startswith(f"{PREFIXES[data]}_view")


def data_table(records: Sequence[Record]) -> Table:
    """Return Table 1: the data sets, and which of them were used."""
    counts = Counter(record.trial.data for record in records)
    checksums = {record.trial.data: record.trial.checksum[:12] for record in records}
    rows = []
    for title, name in (shown_data(sorted(counts)) | {name: name for name in sorted(counts) if is_view(name)}).items():
        size = DATA.get(title)
        sizes = [EMPTY] * 3 if size is None else map(str, (size.instances, size.features, size.classes))
        rows.append((title, *sizes, name, checksums[name], str(counts[name])))
    header = ("Data", "Instances", "Features", "Classes", "Name in records", "Checksum", "Records")
    if is_published(counts):
        return Table("table1_data", "Table 1: data sets", header, tuple(rows), (ODDITIES[0],))
    return Table("data", "Data sets", ("Data", *header[5:]), tuple((row[0], *row[5:]) for row in rows))


def results_table(results: Pools, data: Mapping[str, str], measure: str, scoring: str, stem: str) -> Table:
    """Return one half of Table 2: ours, published and the difference for every data set and method that was run.

    Without data of the paper there is nothing but our figures.
    """
    notes, methods, rows = Footnotes(), shown_methods(results.methods), []
    for title, name in data.items():
        cells = [results[name, method].best(measure) for method in methods]
        shown = (cell.show(f"{title}, {by}", notes) for cell, by in zip(cells, methods, strict=True))
        rows.append((title, OURS, *shown))
        if title in DATA:
            printed = [TABLE_2[measure][title].get(method) for method in methods]
            rows.append((title, PUBLISHED, *(EMPTY if cell is None else cell.text for cell in printed)))
            rows.append((title, DIFFERENCE, *map(show_gap, map(gap, cells, printed))))
    rows += _mean_rows(results, data, methods, measure)
    title, name = f"{TITLES[measure]} in per cent ({scoring}, all banks)", f"{measure}_{stem}"
    if is_published(results.data):
        header = ("Data", "Source", *methods)
        return Table(f"table2_{name}", f"Table 2: {title}", header, tuple(rows), (TUNED, *notes.notes()))
    ours = tuple((row[0], *row[2:]) for row in rows if row[1] == OURS)
    return Table(f"results_{name}", title, ("Data", *methods), ours, (BEST, *notes.notes()))


def gap(ours: Cell, printed: Printed | None) -> float | None:
    """Return ours minus published in per cent, if there are both."""
    return None if ours.value is None or printed is None else 100 * ours.value - printed.value


def show_gap(value: float | None) -> str:
    """Return a difference with its sign."""
    return EMPTY if value is None else f"{value:+.2f}"


def _mean_rows(
    results: Pools, data: Mapping[str, str], methods: Sequence[str], measure: str
) -> Iterator[tuple[str, ...]]:
    """Yield the means over the data sets of the paper, or over all; an incomplete one only says how much there is."""
    over = {title: name for title, name in data.items() if title in DATA} or dict(data)
    if len(over) < 2:
        return
    ours, theirs, gaps = [], [], []
    for method in methods:
        found = results.figures(method, measure, over).values()
        grid = [TABLE_2[measure][title].get(method) for title in over if title in DATA]
        printed = [cell.value for cell in grid if cell is not None]
        means = [sum(line) / len(over) if len(line) == len(over) else None for line in (found, printed)]
        ours.append(f"{len(found)} of {len(over)}" if means[0] is None else f"{means[0]:.2f}")
        theirs.append(EMPTY if means[1] is None else f"{means[1]:.2f}")
        gaps.append(show_gap(None if None in means else means[0] - means[1]))
    title = "mean" if len(over) == len(DATA) else f"mean of {len(over)}"
    yield from ((title, whose, *line) for whose, line in ((OURS, ours), (PUBLISHED, theirs), (DIFFERENCE, gaps)))


def dots(results: Pools, data: Mapping[str, str], scoring: str, stem: str) -> Picture:
    """Return the picture of the accuracies, ours beside the published ones."""
    methods = shown_methods(results.methods)
    ours = {method: results.figures(method, "acc", data) for method in methods}
    panels = {}
    for title in data:
        grid = TABLE_2["acc"].get(title, {})
        panels[title] = {
            PUBLISHED: {method: grid[method].value for method in methods if method in grid},
            OURS: {method: line[title] for method, line in ours.items() if title in line},
        }
    whose = ": ours (filled) and published (open)" if is_published(results.data) else ""
    title = f"Accuracy in per cent, {scoring}{whose}"
    return Picture(f"dots_acc_{stem}", title, partial(figures.dots, title, methods, panels))


def wilcoxon_table(results: Pools, scoring: str, stem: str) -> Table:
    """Return Table 3: published p-values, the same recomputed from Table 2, and those of our figures."""
    notes, rows = Footnotes(), []
    rivals = [name for name in shown_methods(results.methods) if name not in PROPOSED]
    over = {title: RECORD_NAMES[title] for title in DATA}
    for (method, measure), row in WILCOXON.items():
        if method in results.methods:
            head = (method, MEASURES[measure])
            where = {rival: f"Wilcoxon, {method} against {rival}, {MEASURES[measure]}" for rival in rivals}
            printed = [show_printed(row[name], where[name], notes, 4) if name in row else EMPTY for name in rivals]
            own = results.figures(method, measure, over)
            tests = [compare(own, results.figures(name, measure, over)) for name in rivals]
            again = [f"{_recomputed(method, name, measure).p:.4f}" if name in row else EMPTY for name in rivals]
            shown = ["not run" if test is None else f"{test.p:.4f} ({test.wins} of {test.n})" for test in tests]
            rows += [(*head, PUBLISHED, *printed), (*head, "recomputed", *again), (*head, OURS, *shown)]
    explained = (
        "Exact two-sided p-values of the signed-rank test over the data sets of Table 2. "
        "Recomputed: from the published Table 2.",
        "Behind ours: on how many of the data sets that both methods were run on the method of the row is better.",
        *_incomplete(results, rivals, over),
        *notes.notes(),
    )
    title, header = (
        f"Table 3: Wilcoxon signed-rank test ({scoring}, all banks)",
        ("Method", "Measure", "Source", *rivals),
    )
    return Table(f"table3_wilcoxon_{stem}", title, header, tuple(rows), explained)


def _recomputed(method: str, rival: str, measure: str) -> Comparison:
    rows = TABLE_2[measure]
    comparison = compare(*({data: row[name].value for data, row in rows.items()} for name in (method, rival)))
    assert comparison is not None  # Table 2 has no empty cell
    return comparison


def _incomplete(results: Pools, rivals: Iterable[str], over: Mapping[str, str]) -> Iterator[str]:
    """Say which rivals have no figure on a data set where a proposed method has one."""
    ours = set().union(*(results.figures(name, "acc", over) for name in PROPOSED))
    there = {name: results.figures(name, "acc", over) for name in rivals}
    lacking = {name: [title for title in over if title in ours and title not in found] for name, found in there.items()}
    without = [f"{name} ({', '.join(titles)})" for name, titles in lacking.items() if 0 < len(titles) < len(ours)]
    if without:
        yield f"Not on all data sets: {', '.join(without)}."


def show_printed(cell: Printed, where: str, notes: Footnotes, digits: int) -> str:
    """Return a published figure as text, with a note if it is a misprint."""
    text = f"{cell.value:.{digits}f}" + ("" if cell.bracket is None else f" ({cell.bracket:.{digits}f})")
    if where not in MISPRINTS:
        return text
    printed, reading = MISPRINTS[where]
    return f"{text} {notes.mark(f'misprint {printed}: {reading}', where)}"


def multi_view_table(results: Pools, data: str, scoring: str, stem: str) -> Table:
    """Return Table 4 (Cora) or 5 (NUS-WIDE): eight measures, published for two views, and ours."""
    notes, rows = Footnotes(), []
    views = {"1st": MULTI_VIEW[data, 1], "2nd": MULTI_VIEW[data, 2]}
    names = [name for name in results.data if is_view_of(data, name)]
    run = shown_methods(method for name, method in results if name in names)
    for method in dict.fromkeys([*views["1st"], *run]):
        for ordinal, grid in views.items():
            where = f"{data}, {ordinal} view, {method}"
            shown = [show_printed(c, f"{where}, {MEASURES[m]}", notes, 3) for m, c in grid.get(method, {}).items()]
            rows += [(method, f"published, {ordinal} view", *shown)] if shown else []
        for name in names:
            rows += _our_view(results[name, method], notes) if (name, method) in results else []
    explained = (
        "Brackets: mean over kernels for the methods on one kernel, otherwise the deviation over the runs. "
        "Label-tuned: by each measure itself, or by accuracy for all of them.",
        *ODDITIES[1:],
        *notes.notes(),
    )
    number = 4 if data == "Cora" else 5
    title = f"Table {number}: multi-view data, {data} ({scoring}, all banks)"
    header = ("Method", "Source", *MEASURES.values())
    return Table(f"table{number}_{PREFIXES[data]}_{stem}", title, header, tuple(rows), explained)


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

    def cell(record: Record) -> tuple[str, ...]:
        return record.trial.data, record.trial.method, to_json(record.trial.changes)

    others = outside_study(records)
    done = {cell(record) for record in others if record.succeeded}
    lost = Counter(
        (record.trial.data, record.trial.method, record.status, record.reason or "no reason given")
        for record in others
        if not record.succeeded and not (record.status == "skipped" and cell(record) in done)
    )
    rows = tuple((data, method, str(count), state, why) for (data, method, state, why), count in sorted(lost.items()))
    if rows:
        yield Table("failures", "Failed and skipped", ("Data", "Method", "Records", "Status", "Reason"), rows)
