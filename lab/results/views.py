"""Several views: what joining them is worth, what false ones and missing samples do. Nothing is tuned by label.

The one exception says so in its name: the best single view is picked by the true classes.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from lab.records import ADDED_VIEWS, Record, Trial
from lab.results.pools import Place, Untuned, kind_of
from lab.results.table import EMPTY, Footnotes, Table, bold_best_of_columns, headed, show, show_mean

LKG = "LKG"
KERNELS = "LKG, kernels averaged"
JOINED = ("SC-knn-joined", "KMeans-joined")
PAPER = ("MKKM", "RMKKM", "SCMK", "LKGr")
BEST_VIEW = "label-tuned: LKG on the best view"
MEAN_VIEW = "LKG on one view, mean over the views"
SEVEN = ("webkb203", "ngs", "bbc", "leaves100", "movies", "proteinfold", "prokaryotic")
#: Beside the seven, which alone enter means.
BESIDE = ("cora",)
#: Kinds of false views, by the changes that they are made of.
FALSE = {
    ("noise_views",): "noise",
    ("decoys",): "one decoy",
    ("decoys", "decoys"): "two decoys",
    ("shuffled_views",): "shuffled",
    ("decoys", "noise_views"): "noise and decoys",
    ("copies",): "copy",
    ("nuisance",): "shared nuisance",
}
#: Those that can be known to be false.
KNOWABLE = tuple(FALSE.values())[:5]
#: Views that are poor beside the others, by data set: in words, and the kinds of the data with them and without.
POOR = {
    "leaves100": ("its second view", "", "without 2"),
    "prokaryotic": ("its view of three features", "", "without 2"),
    "digits": ("a view of their row sums", "row_sums 1", "row_sums 0"),
}
#: By how many points a figure may be below another one before a note says so.
NEAR = 3.0


def _place(trial: Trial) -> Place:
    averaged = trial.method == LKG and trial.parameters == {"fusion": "kernels"}
    changes = tuple(sorted(trial.changes))
    if changes == ("decoys",):
        changes *= int(trial.changes["decoys"])
    return KERNELS if averaged else trial.method, trial.data, FALSE.get(changes, kind_of(trial.changes))


def views(records: Sequence[Record]) -> Iterator[Table]:
    """Yield every table of several views that has a row."""
    found = Untuned.of(records, _place, "views")
    makers = (methods_table, single_table, false_table, named_table, noise_table, missing_table, poor_table)
    if found.methods:
        yield from (table for table in (make(found) for make in makers) if table.rows)


def methods_table(found: Untuned) -> Table:
    """Return what every method gives on the views as they are."""
    data = [name for name in (*SEVEN, *BESIDE) if found.runs(LKG, name)]
    notes, single = Footnotes(), {name: _single(found, name) for name in data}
    methods = [method for method in (LKG, KERNELS, *JOINED, *PAPER) if data and method in found.methods]
    figures = {method: found.figures(method, data) for method in methods}
    lines = [[found.cell(notes, method, name) for name in data] for method in methods]
    best = {name: max(values) for name, values in single.items() if values}
    if best:
        figures[MEAN_VIEW] = {name: fmean(values) for name, values in single.items() if values}
        lines.append([show(figures[MEAN_VIEW].get(name)) for name in data])
    rows = [
        (method, *line, _mean(figures[method]))
        for method, line in zip(figures, bold_best_of_columns(lines), strict=True)
    ]
    rows += [(BEST_VIEW, *(show(best.get(name)) for name in data), _mean(best))] if best else []
    rivals = {"the best single view": best, **{method: figures.get(method, {}) for method in JOINED}}
    told = [_behind(other, found.figures(LKG, data), line) for other, line in rivals.items() if line]
    return headed("views_methods", ("Method", *data, f"mean of {len(SEVEN)}"), rows, *told, *notes.notes())


def _single(found: Untuned, name: str) -> list[float]:
    """Return what each view gives alone, in the order of the views."""
    kinds = [kind_of({"view": level}) for level in found.levels("view", name)]
    values = [found.figure(LKG, name, kind) for kind in kinds]
    return [value for value in values if value is not None]


def _behind(other: str, ours: Mapping[str, float], line: Mapping[str, float]) -> str:
    """Say where ours is behind another method."""
    gaps = {name: line[name] - ours[name] for name in ours if name in line}
    behind = [f"{name} ({gap:.1f})" for name, gap in gaps.items() if gap > 0.05]
    far = sum(gap > NEAR for gap in gaps.values())
    return (
        f"{LKG} is below {other} on {len(behind)} of {len(gaps)}, by more than {NEAR:g} points on {far}"
        f"{': ' if behind else ''}{', '.join(behind)}."
    )


def single_table(found: Untuned) -> Table:
    """Return what each view gives alone."""
    single = {name: _single(found, name) for name in (*SEVEN, *BESIDE)}
    width = max(map(len, single.values()))
    rows = [
        (name, *map(show, values), *[EMPTY] * (width - len(values)), show(found.figure(LKG, name)))
        for name, values in single.items()
        if values
    ]
    header = ("Data", *(f"view {i}" for i in range(1, width + 1)), "all")
    return headed("views_single", header, rows)


def false_table(found: Untuned) -> Table:
    """Return what false views cost: per data set for LKG, on the mean of all for joined rows."""
    kinds = [kind for kind in FALSE.values() if found.figures(LKG, SEVEN, kind)]
    rows = []
    for name in SEVEN if kinds else ():
        line = {kind: found.figure(LKG, name, kind) for kind in ("", *kinds)}
        rows.append((f"{name}, {LKG}", *map(show, line.values()), _most_lost(line)))
    for method in (LKG, *JOINED) if kinds else ():
        lines = {kind: found.figures(method, SEVEN, kind).values() for kind in ("", *kinds)}
        means = {kind: fmean(line) if len(line) == len(SEVEN) else None for kind, line in lines.items()}
        rows.append((f"mean, {method}", *map(show, means.values()), _most_lost(means)))
    return headed("views_false", ("Data", "clean", *kinds, "most lost"), rows, knowable=", ".join(KNOWABLE))


def _most_lost(line: Mapping[str, float | None]) -> str:
    clean = line[""]
    known = [value for kind in KNOWABLE if (value := line.get(kind)) is not None]
    return show(clean - min(known) if known and clean is not None else None)


def named_table(found: Untuned) -> Table:
    """Return how many false and how many real views LKG left out."""
    rows = []
    for kind in ("", *FALSE.values()):
        false, real = [], []
        for record in (record for name in SEVEN for record in found.runs(LKG, name, kind)):
            # Records have the names of views in the order of the alphabet.
            names = sorted(record.learned, key=lambda name: int(name.rpartition(" ")[2]))
            n_real = len(names) - int(sum(float(record.trial.changes.get(change, 0)) for change in ADDED_VIEWS))
            real += [record.learned[name] == 0 for name in names[:n_real]]
            false += [record.learned[name] == 0 for name in names[n_real:]]
        if real:
            rows.append((kind or "clean", *(f"{sum(out)} of {len(out)}" if out else EMPTY for out in (false, real))))
    header = ("Added", "false views left out", "real views left out")
    return headed("views_named", header, rows)


def noise_table(found: Untuned) -> Table:
    """Return the methods of the paper on the views as they are and with as many of noise, beside LKG."""
    rows, notes, methods = [], Footnotes(), (LKG, *JOINED, *PAPER)
    for name in SEVEN:
        if any(found.runs(method, name, "noise") for method in PAPER):
            for kind in ("", "noise"):
                cells = (found.cell(notes, method, name, kind) for method in methods)
                rows.append((name, kind or "clean", *cells))
    return headed("views_noise", ("Data", "views", *methods), rows, *notes.notes())


def missing_table(found: Untuned) -> Table:
    """Return what missing samples cost."""
    shares = found.levels("missing")
    kinds = ["", *(kind_of({"missing": share}) for share in shares)]
    rows = [(name, *(show(found.figure(LKG, name, kind)) for kind in kinds)) for name in SEVEN if shares]
    lines = [found.figures(LKG, SEVEN, kind).values() for kind in kinds]
    if rows and all(len(line) == len(SEVEN) for line in lines):
        means = [fmean(line) for line in lines]
        rows.append((f"mean of {len(SEVEN)}", *map(show, means)))
        rows.append(("lost", *(show(means[0] - mean) for mean in means)))
    header = ("Data", "none", *(f"{100 * share:g} %" for share in shares))
    return headed("views_missing", header, rows)


def poor_table(found: Untuned) -> Table:
    """Return what a poor view beside rich ones costs."""
    rows = []
    for name, (what, *kinds) in POOR.items():
        with_it, without = (found.figure(LKG, name, kind) for kind in kinds)
        if with_it is not None and without is not None:
            rows.append((f"{name}: {what}", *map(show, (with_it, without, without - with_it))))
    header = ("Poor view", "with it", "without it", "lost")
    return headed("views_poor", header, rows)


def _mean(line: Mapping[str, float]) -> str:
    return show_mean([line[name] for name in SEVEN if name in line], len(SEVEN))
