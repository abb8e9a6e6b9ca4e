"""The tables of the paper with our figures next to the published ones, as Markdown, LaTeX and CSV."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kernelbraid.bench.records.record import Record
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
)
from kernelbraid.bench.results.selection import Cell, Conditions, Pool, Pools, conditions, pools
from kernelbraid.bench.results.wilcoxon import Comparison, compare, compare_published

#: Methods beside those of the paper, in the order of their columns; others follow by name.
BESIDE = ("SC-normalised", "KMeans", "SC-rbf", "SC-knn")
EMPTY = "-"  # nothing can stand here
TITLES = {"acc": "Accuracy", "nmi": "NMI"}
TUNED = (
    "Label-tuned: each of our figures is the best over all settings and kernels that were run. In brackets: the mean "
    "over the kernels at that setting for methods on one kernel, the deviation over the runs for others."
)
BOLD = re.compile(r"\*\*(.+)\*\*")  # a cell that stands out
WIDE = 8  # columns above which a LaTeX table is scaled to the width of the text
LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$"},
}


@dataclass(frozen=True)
class Table:
    """A table of text."""

    name: str  # of its files
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Return the table as Markdown, its notes as a list below."""
        rule = ("---", *("---:" for _ in self.header[1:]))
        lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (self.header, rule, *self.rows)]
        notes = [f"- {_markdown(note)}" for note in self.notes]
        return "\n".join([f"# {_markdown(self.title)}", "", *lines, *(["", *notes] if notes else []), ""])

    def to_latex(self) -> str:
        """Return the table as a LaTeX float; wide ones need the package graphicx."""
        rows = [" & ".join(map(escape_latex, row)) + r" \\" for row in (self.header, *self.rows)]
        body = [f"\\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}", r"\hline", rows[0], r"\hline", *rows[1:]]
        body += [r"\hline", r"\end{tabular}"]
        if len(self.header) > WIDE:
            body = [r"\resizebox{\textwidth}{!}{%", *body, "}"]
        notes = [f"\\par\\footnotesize {escape_latex(note)}" for note in self.notes]
        top = [r"\begin{table}[ht]", r"\centering", f"\\caption{{{escape_latex(self.title)}}}"]
        return "\n".join([*top, f"\\label{{tab:{self.name}}}", *body, *notes, r"\end{table}", ""])

    def to_csv(self) -> str:
        """Return header and rows as CSV; the notes are left out."""
        text = io.StringIO()
        rows = [[BOLD.sub(r"\1", cell) for cell in row] for row in self.rows]
        csv.writer(text, lineterminator="\n").writerows([self.header, *rows])
        return text.getvalue()


#: What a table can be written as, by the suffix of the file.
TEXTS = {"md": Table.to_markdown, "csv": Table.to_csv, "tex": Table.to_latex}


def _markdown(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def bold(text: str) -> str:
    """Return the text of a cell that stands out."""
    return f"**{text}**"


def escape_latex(text: str) -> str:
    """Return text with every sign escaped that LaTeX would read as a command, and a minus sign before numbers."""
    if marked := BOLD.fullmatch(text):
        return f"\\textbf{{{escape_latex(marked[1])}}}"
    escaped = "".join(LATEX.get(sign, sign) for sign in " ".join(text.split()))
    return re.sub(r"^-(?=[\d.])", "$-$", escaped)


@dataclass
class Footnotes:
    """Numbers reasons in the order in which they are met."""

    reasons: dict[str, list[str]] = field(default_factory=dict)  # reason: the cells it holds for

    def mark(self, reason: str, where: str) -> str:
        """Return the mark of a reason."""
        self.reasons.setdefault(reason, []).append(where)
        return f"[{list(self.reasons).index(reason) + 1}]"

    def notes(self) -> Iterator[str]:
        """Yield one note per reason."""
        for number, (reason, cells) in enumerate(self.reasons.items(), 1):
            shown = "; ".join(cells[:6]) + (f"; and {len(cells) - 6} more" if len(cells) > 6 else "")
            yield f"[{number}] {reason} ({shown})"


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
    """Return the methods of the paper, then the others that were run."""
    others = set(found) - set(first)
    known = [name for name in (*METHODS, *BESIDE) if name in others]
    return [*first, *known, *sorted(others.difference(known))]


def shown_data(found: Iterable[str]) -> dict[str, str]:
    """Return titles and record names: the data sets of Table 2, then others that were run, but not the views."""
    known = {name: RECORD_NAMES[name] for name in DATA}
    views = tuple(PREFIXES.values())
    return known | {name: name for name in found if name not in known.values() and not name.startswith(views)}


def data_table(records: Sequence[Record]) -> Table:
    """Return Table 1: the data sets, and which of them were used."""
    counts = Counter(record.trial.data for record in records)
    checksums: dict[str, set[str]] = {name: set() for name in counts}
    for record in records:
        checksums[record.trial.data].add(record.trial.checksum[:12])
    rows = []
    views = {name: name for name in sorted(counts) if name.startswith(tuple(PREFIXES.values()))}
    for title, name in {**shown_data(sorted(counts)), **views}.items():
        size = DATA.get(title)
        sizes = [EMPTY] * 3 if size is None else map(str, (size.instances, size.features, size.classes))
        rows.append((title, *sizes, name, " ".join(sorted(checksums.get(name, ()))) or EMPTY, str(counts[name])))
    header = ("Data", "Instances", "Features", "Classes", "Name in records", "Checksum", "Records")
    return Table("table1_data", "Table 1: data sets", header, tuple(rows), (ODDITIES[0],))


def results_table(results: Pools, under: Conditions, measure: str) -> Table:
    """Return one half of Table 2: ours, published and the difference for every data set and method."""
    notes, methods = Footnotes(), shown_methods(results.methods())
    rows: list[tuple[str, ...]] = []
    for title, name in shown_data(results.data()).items():
        cells = [results[name, method].best(measure) for method in methods]
        shown = (show_cell(cell, f"{title}, {by}", notes) for cell, by in zip(cells, methods, strict=True))
        rows.append((title, "ours", *shown))
        if title in DATA:
            printed = [TABLE_2[measure][title].get(method) for method in methods]
            rows.append((title, "published", *(EMPTY if cell is None else cell.text for cell in printed)))
            differences = (difference(*pair) for pair in zip(cells, printed, strict=True))
            rows.append((title, "difference", *(EMPTY if value is None else f"{value:+.2f}" for value in differences)))
    rows += _mean_rows(results, methods, measure)
    title = f"Table 2: {TITLES[measure]} in per cent ({under})"
    name = f"table2_{measure}_{stem(under)}"
    return Table(name, title, ("Data", "Source", *methods), tuple(rows), (TUNED, *notes.notes()))


def difference(ours: Cell, printed: Printed | None) -> float | None:
    """Return ours minus published in per cent, if there are both."""
    return None if ours.value is None or printed is None else 100 * ours.value - printed.value


def _mean_rows(results: Pools, methods: Sequence[str], measure: str) -> Iterator[tuple[str, ...]]:
    """Yield the means over the nine data sets; an incomplete one only says how much there is."""
    means: dict[str, list[str]] = {"ours": [], "published": [], "difference": []}
    for method in methods:
        found = figures(results, method, measure)
        ours = sum(found.values()) / len(DATA) if len(found) == len(DATA) else None
        printed = [TABLE_2[measure][data][method].value for data in DATA] if method in METHODS else []
        theirs = sum(printed) / len(DATA) if printed else None
        means["ours"].append(f"{len(found)} of {len(DATA)}" if ours is None else f"{ours:.2f}")
        means["published"].append(EMPTY if theirs is None else f"{theirs:.2f}")
        means["difference"].append(EMPTY if ours is None or theirs is None else f"{ours - theirs:+.2f}")
    for source, cells in means.items():
        yield ("mean", source, *cells)


def figures(results: Pools, method: str, measure: str) -> dict[str, float]:
    """Return our best figures of a method in per cent on the data sets of the paper that have one."""
    cells = {title: results[RECORD_NAMES[title], method].best(measure) for title in DATA}
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
    title = f"All cells with their settings ({under})"
    return Table(f"details_{stem(under)}", title, header, tuple(rows), (TUNED, "Figures are shares, not per cent."))


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
        head = (method, MEASURES[measure])
        row, own = WILCOXON[method, measure], figures(results, method, measure)
        where = {rival: f"Wilcoxon, {method} against {rival}, {MEASURES[measure]}" for rival in rivals}
        printed = [show_printed(row[name], where[name], notes, 4) if name in row else EMPTY for name in rivals]
        again = [f"{compare_published(method, name, measure).p:.4f}" if name in row else EMPTY for name in rivals]
        ours = [_show_test(compare(own, figures(results, name, measure), measure)) for name in rivals]
        rows += [(*head, "published", *printed), (*head, "recomputed", *again), (*head, "ours", *ours)]
    explained = (
        "Exact two-sided p-values of the signed-rank test over the data sets of Table 2. "
        "Recomputed: from the published Table 2.",
        "Behind ours: on how many of the data sets that both methods were run on the method of the row is better.",
    )
    title, header = f"Table 3: Wilcoxon signed-rank test ({under})", ("Method", "Measure", "Source", *rivals)
    return Table(f"table3_wilcoxon_{stem(under)}", title, header, tuple(rows), (*explained, *notes.notes()))


def _show_test(comparison: Comparison | None) -> str:
    return "not run" if comparison is None else f"{comparison.p:.4f} ({comparison.wins} of {comparison.n})"


def multi_view_table(results: Pools, under: Conditions, data: str) -> Table:
    """Return Table 4 (Cora) or 5 (NUS-WIDE): eight measures, published for two views, and ours."""
    notes = Footnotes()
    rows: list[tuple[str, ...]] = []
    views = {view: grid for (name, view), grid in MULTI_VIEW.items() if name == data}
    names = [name for name in results.data() if name.startswith(PREFIXES[data])] or [RECORD_NAMES[data]]
    methods = [method for name, method in results if name in names]
    for method in shown_methods(methods, first=list(views[1])):
        for view, grid in views.items():
            rows += _published_view(data, view, method, grid.get(method), notes)
        for name in names:
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
    """Return what failed or was skipped, and why: nothing is left out of the other tables without standing here."""
    lost = Counter(
        (record.trial.data, record.trial.method, record.status, record.reason or "no reason given")
        for record in records
        if not record.succeeded
    )
    rows = tuple((data, method, str(count), state, why) for (data, method, state, why), count in sorted(lost.items()))
    notes = () if rows else ("Nothing failed and nothing was skipped.",)
    return Table("failures", "Failed and skipped", ("Data", "Method", "Records", "Status", "Reason"), rows, notes)


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
        tables += [results_table(results, under, measure) for measure in TABLE_2]
        tables += [wilcoxon_table(results, under), *(multi_view_table(results, under, data) for data in PREFIXES)]
        tables.append(details_table(results, under))
    return [*tables, failures_table(records)]
