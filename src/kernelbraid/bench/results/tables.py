"""The tables of the paper with our figures next to the published ones, and of other data without them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kernelbraid.bench.records.record import Record, to_json
from kernelbraid.bench.results.published import (
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
from kernelbraid.bench.results.selection import Cell, Conditions, Pool, Pools, conditions, pools
from kernelbraid.bench.results.table import EMPTY, Footnotes, Table
from kernelbraid.bench.results.wilcoxon import Comparison, compare, compare_published

#: Methods beside those of the paper, in the order of their columns; others follow by name.
BESIDE = ("SC-normalised", "KMeans", "SC-rbf", "SC-knn")
PAPER = {title: RECORD_NAMES[title] for title in DATA}  # titles and record names
OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"  # whose figures a row has
TITLES = {"acc": "Accuracy", "nmi": "NMI"}
BRACKETS = (
    "In brackets: the mean over the kernels at that setting for methods on one kernel, the deviation over the runs for "
    "others."
)
TUNED = f"Label-tuned: each of our figures is the best over all settings and kernels that were run. {BRACKETS}"
BEST = f"Label-tuned: each figure is the best, by the classes, of all settings and kernels that were run. {BRACKETS}"


def show_cell(cell: Cell, where: str, notes: Footnotes, *, scale: float = 100, digits: int = 2) -> str:
    """Return a figure of ours as text, or how and why it is missing."""
    if cell.value is None:
        state, _, reason = cell.why.partition(": ")
        return f"{state} {notes.mark(reason, where)}" if reason else state
    extra = cell.kernel_mean if cell.kernel_mean is not None else cell.deviation
    text = f"{scale * cell.value:.{digits}f}" + ("" if extra is None else f" ({scale * extra:.{digits}f})")
    return f"{text} {notes.mark(cell.caution, where)}" if cell.caution else text


def show_printed(cell: Printed, where: str, notes: Footnotes, digits: int) -> str:
    """Return a published figure as text, with a note if it is a misprint."""
    text = f"{cell.value:.{digits}f}" + ("" if cell.bracket is None else f" ({cell.bracket:.{digits}f})")
    if where not in MISPRINTS:
        return text
    printed, reading = MISPRINTS[where]
    return f"{text} {notes.mark(f'misprint {printed}: {reading}', where)}"


def shown_methods(found: Iterable[str], first: Sequence[str] = METHODS) -> list[str]:
    """Return the methods that were run, those of the paper first; the latter if there are none."""
    names = set(found)
    known = [name for name in dict.fromkeys((*first, *METHODS, *BESIDE)) if name in names]
    return [*known, *sorted(names.difference(known))] if names else list(first)


def shown_data(found: Iterable[str]) -> dict[str, str]:
    """Return titles and record names of what was run, but not the views: the data sets of Table 2, then others.

    Where nothing was run there are those of Table 2.
    """
    names = list(found)
    known = {title: name for title, name in PAPER.items() if not names or name in names}
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
    checksums: dict[str, set[str]] = {name: set() for name in counts}
    for record in records:
        checksums[record.trial.data].add(record.trial.checksum[:12])
    rows = []
    views = {name: name for name in sorted(counts) if is_view(name)}
    for title, name in {**shown_data(sorted(counts)), **views}.items():
        size = DATA.get(title)
        sizes = [EMPTY] * 3 if size is None else map(str, (size.instances, size.features, size.classes))
        rows.append((title, *sizes, name, " ".join(sorted(checksums.get(name, ()))) or EMPTY, str(counts[name])))
    header = ("Data", "Instances", "Features", "Classes", "Name in records", "Checksum", "Records")
    if is_published(counts):
        return Table("table1_data", "Table 1: data sets", header, tuple(rows), (ODDITIES[0],))
    return Table("data", "Data sets", ("Data", *header[5:]), tuple((row[0], *row[5:]) for row in rows))


def results_table(results: Pools, under: Conditions, measure: str) -> Table:
    """Return one half of Table 2: ours, published and the difference for every data set and method that was run.

    Without data of the paper there is nothing but our figures.
    """
    notes, methods = Footnotes(), shown_methods(results.methods())
    rows: list[tuple[str, ...]] = []
    data = shown_data(results.data())
    for title, name in data.items():
        cells = [results[name, method].best(measure) for method in methods]
        shown = (show_cell(cell, f"{title}, {by}", notes) for cell, by in zip(cells, methods, strict=True))
        rows.append((title, OURS, *shown))
        if title in DATA:
            printed = [TABLE_2[measure][title].get(method) for method in methods]
            rows.append((title, PUBLISHED, *(EMPTY if cell is None else cell.text for cell in printed)))
            differences = (difference(*pair) for pair in zip(cells, printed, strict=True))
            rows.append((title, DIFFERENCE, *(EMPTY if value is None else f"{value:+.2f}" for value in differences)))
    rows += _mean_rows(results, data, methods, measure)
    title, name = f"{TITLES[measure]} in per cent ({under})", f"{measure}_{stem(under)}"
    if is_published(results.data()):
        header = ("Data", "Source", *methods)
        return Table(f"table2_{name}", f"Table 2: {title}", header, tuple(rows), (TUNED, *notes.notes()))
    ours = tuple((row[0], *row[2:]) for row in rows if row[1] == OURS)
    return Table(f"results_{name}", title, ("Data", *methods), ours, (BEST, *notes.notes()))


def difference(ours: Cell, printed: Printed | None) -> float | None:
    """Return ours minus published in per cent, if there are both."""
    return None if ours.value is None or printed is None else 100 * ours.value - printed.value


@dataclass(frozen=True)
class Mean:
    """The means of a method in per cent over the data sets of a table; the first is None if some have no figure."""

    ours: float | None
    published: float | None
    found: int  # data sets with a figure of ours
    over: int  # data sets in all

    @classmethod
    def of(cls, results: Pools, data: Mapping[str, str], method: str, measure: str) -> "Mean":
        """Form them over titles with their record names."""
        found = figures(results, method, measure, data)
        grid = TABLE_2[measure]
        printed = [grid[title][method].value for title in data if method in grid.get(title, {})]
        ours = sum(found.values()) / len(data) if len(found) == len(data) else None
        theirs = sum(printed) / len(data) if len(printed) == len(data) else None
        return cls(ours, theirs, len(found), len(data))

    @property
    def gap(self) -> float | None:
        """Ours minus published."""
        return None if self.ours is None or self.published is None else self.ours - self.published

    @property
    def shown(self) -> str:
        """Ours as text; an incomplete one only says how much there is."""
        return f"{self.found} of {self.over}" if self.ours is None else f"{self.ours:.2f}"


def averaged(data: Mapping[str, str]) -> dict[str, str]:
    """Return the data sets that a mean is over: those of the paper, or all where there are none; two at least."""
    paper = {title: name for title, name in data.items() if title in DATA}
    chosen = paper or dict(data)
    return chosen if len(chosen) > 1 else {}


def mean_title(data: Mapping[str, str]) -> str:
    """Return what a row of means is called."""
    return "mean" if len(data) == len(DATA) else f"mean of {len(data)}"


def _mean_rows(
    results: Pools, data: Mapping[str, str], methods: Sequence[str], measure: str
) -> Iterator[tuple[str, ...]]:
    """Yield the means over the data sets of the paper, or over all."""
    over = averaged(data)
    if not over:
        return
    means, title = [Mean.of(results, over, method, measure) for method in methods], mean_title(over)
    yield (title, OURS, *(mean.shown for mean in means))
    yield (title, PUBLISHED, *(EMPTY if mean.published is None else f"{mean.published:.2f}" for mean in means))
    yield (title, DIFFERENCE, *(EMPTY if mean.gap is None else f"{mean.gap:+.2f}" for mean in means))


def figures(results: Pools, method: str, measure: str, data: Mapping[str, str] = PAPER) -> dict[str, float]:
    """Return our best figures of a method in per cent on those data sets, titles and record names, that have one."""
    cells = {title: results[name, method].best(measure) for title, name in data.items()}
    return {title: 100 * cell.value for title, cell in cells.items() if cell.value is not None}


def details_table(results: Pools, under: Conditions) -> Table:
    """Return one row per data set, method and measure: figures, the setting behind them, and how its records ended."""
    rows = []
    names = {name: title for title, name in shown_data(results.data()).items()}
    for (data, method), pool in sorted(results.items()):
        for measure in MEASURES:
            cell = pool.best(measure)
            printed = TABLE_2.get(measure, {}).get(names.get(data, data), {}).get(method)
            rows.append((data, method, measure, *_detail(cell, printed, pool)))
    numbers = ("ours", "kernel_mean", "deviation", "published", "published_kernel_mean", "difference")
    ends = ("done", "collapsed", "failed", "skipped", "replaced", "why")
    header = ("data", "method", "measure", *numbers, "bank", "kernel", "parameters", *ends)
    title, columns, tuned = f"All cells with their settings ({under})", list(zip(header, *rows, strict=True)), TUNED
    if not is_published(results.data()):
        tuned = BEST
        columns = [column for column in columns if not column[0].startswith(PUBLISHED) and column[0] != DIFFERENCE]
    header, *shown = zip(*columns, strict=True)
    return Table(f"details_{stem(under)}", title, header, tuple(shown), (tuned, "Figures are shares, not per cent."))


def _detail(cell: Cell, printed: Printed | None, pool: Pool) -> tuple[str, ...]:
    numbers = [cell.value, cell.kernel_mean, cell.deviation]
    numbers += [None, None] if printed is None else [printed.value / 100, printed.bracket and printed.bracket / 100]
    gap = difference(cell, printed)
    shown = ["" if value is None else f"{value:.4f}" for value in [*numbers, None if gap is None else gap / 100]]
    best = cell.outcome
    setting = ("", "", "") if best is None else (best.bank, best.kernel, show_parameters(best.parameters))
    counts = pool.counts
    ends = (counts.done, counts.collapsed, counts.failed, counts.skipped, counts.replaced)
    return (*shown, *setting, *map(str, ends), cell.why or cell.caution)


def show_parameters(parameters: Mapping[str, object]) -> str:
    """Return parameters as words."""
    return ", ".join(f"{name} {value}" for name, value in parameters.items())


def wilcoxon_table(results: Pools, under: Conditions) -> Table:
    """Return Table 3: published p-values, the same recomputed from Table 2, and those of our figures."""
    notes, rows = Footnotes(), []
    rivals = [name for name in shown_methods(results.methods()) if name not in PROPOSED]
    for method, measure in WILCOXON:
        if method not in results.methods() and results:
            continue
        head = (method, MEASURES[measure])
        row, own = WILCOXON[method, measure], figures(results, method, measure)
        where = {rival: f"Wilcoxon, {method} against {rival}, {MEASURES[measure]}" for rival in rivals}
        printed = [show_printed(row[name], where[name], notes, 4) if name in row else EMPTY for name in rivals]
        again = [f"{compare_published(method, name, measure).p:.4f}" if name in row else EMPTY for name in rivals]
        ours = [_show_test(compare(own, figures(results, name, measure), measure)) for name in rivals]
        rows += [(*head, PUBLISHED, *printed), (*head, "recomputed", *again), (*head, OURS, *ours)]
    explained = (
        "Exact two-sided p-values of the signed-rank test over the data sets of Table 2. "
        "Recomputed: from the published Table 2.",
        "Behind ours: on how many of the data sets that both methods were run on the method of the row is better.",
        *_incomplete(results, rivals),
    )
    title, header = f"Table 3: Wilcoxon signed-rank test ({under})", ("Method", "Measure", "Source", *rivals)
    return Table(f"table3_wilcoxon_{stem(under)}", title, header, tuple(rows), (*explained, *notes.notes()))


def _incomplete(results: Pools, rivals: Iterable[str]) -> Iterator[str]:
    """Say which rivals have no figure on a data set where a proposed method has one."""
    ours = [title for title in PAPER if any(title in figures(results, name, "acc") for name in PROPOSED)]
    lacking = {name: [title for title in ours if title not in figures(results, name, "acc")] for name in rivals}
    without = [f"{name} ({', '.join(titles)})" for name, titles in lacking.items() if 0 < len(titles) < len(ours)]
    if without:
        yield f"Not on all data sets: {', '.join(without)}."


def _show_test(comparison: Comparison | None) -> str:
    return "not run" if comparison is None else f"{comparison.p:.4f} ({comparison.wins} of {comparison.n})"


def multi_view_table(results: Pools, under: Conditions, data: str) -> Table:
    """Return Table 4 (Cora) or 5 (NUS-WIDE): eight measures, published for two views, and ours."""
    notes = Footnotes()
    rows: list[tuple[str, ...]] = []
    views = {view: grid for (name, view), grid in MULTI_VIEW.items() if name == data}
    names = [name for name in results.data() if is_view_of(data, name)] or [RECORD_NAMES[data]]
    methods = [method for name, method in results if name in names]
    for method in dict.fromkeys([*views[1], *shown_methods(methods, first=())]):
        for view, grid in views.items():
            rows += _published_view(data, view, method, grid.get(method), notes)
        for name in names:
            if (name, method) in results:
                rows += _our_view(results[name, method], notes)
    number = 4 if data == "Cora" else 5
    explained = (
        "Brackets: mean over kernels for the methods on one kernel, otherwise the deviation over the runs. "
        "Label-tuned: by each measure itself, or by accuracy for all of them.",
        *ODDITIES[1:],
    )
    title = f"Table {number}: multi-view data, {data} ({under})"
    header = ("Method", "Source", *MEASURES.values())
    return Table(
        f"table{number}_{PREFIXES[data]}_{stem(under)}", title, header, tuple(rows), (*explained, *notes.notes())
    )


def _published_view(
    data: str, view: int, method: str, cells: Mapping[str, Printed] | None, notes: Footnotes
) -> Iterator[tuple[str, ...]]:
    ordinal = {1: "1st", 2: "2nd"}[view]
    if cells is not None:
        where = {name: f"{data}, {ordinal} view, {method}, {printed}" for name, printed in MEASURES.items()}
        shown = (show_printed(cells[name], where[name], notes, 3) for name in MEASURES)
        yield (method, f"published, {ordinal} view", *shown)


def _our_view(pool: Pool, notes: Footnotes) -> Iterator[tuple[str, ...]]:
    at_best = pool.at_best("acc")
    for source, cells in {
        "best of each": {measure: pool.best(measure) for measure in MEASURES},
        "at best Acc": {measure: at_best.get(measure, Cell(why=pool.why)) for measure in MEASURES},
    }.items():
        where = f"{pool.data}, {pool.method}"
        shown = [show_cell(cells[measure], where, notes, scale=1, digits=3) for measure in MEASURES]
        yield (pool.method, f"ours, {pool.data}, {source}", *shown)
        if len(pool.outcomes) < 2:  # nothing was tuned
            break


def failures_table(records: Sequence[Record]) -> Table:
    """Return what failed or was skipped, and why: nothing is left out of the other tables without standing here.

    A cell that was skipped once, and run in another way since, is not left out.
    """
    done = {_cell(record) for record in records if record.succeeded}
    lost = Counter(
        (record.trial.data, record.trial.method, record.status, record.reason or "no reason given")
        for record in records
        if not record.succeeded and not (record.status == "skipped" and _cell(record) in done)
    )
    rows = tuple((data, method, str(count), state, why) for (data, method, state, why), count in sorted(lost.items()))
    notes = () if rows else ("Nothing failed and nothing was skipped.",)
    return Table("failures", "Failed and skipped", ("Data", "Method", "Records", "Status", "Reason"), rows, notes)


def _cell(record: Record) -> tuple[str, str, str, str]:
    """Return where a record stands in tables: data, method, changes of the data and study."""
    trial = record.trial
    return trial.data, trial.method, to_json(dict(trial.changes)), trial.study


def stem(under: Conditions) -> str:
    """Return conditions as a part of a file name."""
    parts = [under.scoring] if under.bank is None else [under.scoring, under.bank]
    return "_".join(re.sub(r"[^A-Za-z0-9]+", "-", part) for part in parts)


def all_tables(records: Sequence[Record]) -> list[Table]:
    """Return every table of the paper that records can fill, once for each of their conditions.

    Parameters
    ----------
    records : sequence of Record
        Results in any order; without any the tables show what is published.

    Returns
    -------
    list of Table
        Data, Table 2 by measure, Wilcoxon, multi-view, all cells with their settings, and failures.
    """
    tables = [data_table(records)]
    for under in conditions(records):
        results = pools(records, under)
        if shown_data(results.data()):
            tables += [results_table(results, under, measure) for measure in TABLE_2]
        tables += paper_tables(results, under)
        tables.append(details_table(results, under))
    return [*tables, *([] if records and all(record.succeeded for record in records) else [failures_table(records)])]


def paper_tables(results: Pools, under: Conditions) -> list[Table]:
    """Return Tables 3 to 5 of the paper, those of them that something was run for; all if nothing was."""
    tested = [wilcoxon_table(results, under)] if DATA.keys() & shown_data(results.data()).keys() else []
    views = [data for data in PREFIXES if not results or any(is_view_of(data, name) for name in results.data())]
    found = [*tested, *(multi_view_table(results, under, data) for data in views)]
    return [table for table in found if table.rows]
