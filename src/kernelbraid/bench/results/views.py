"""Several views: what joining them is worth, what false ones and missing samples do. Nothing is tuned by label.

The one exception says so in its name: the best single view is picked by the true classes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from kernelbraid.bench.records.record import ADDED_VIEWS, STUDIES, Record, to_json
from kernelbraid.bench.results.table import EMPTY, Footnotes, Table, bold

VIEWS = STUDIES[3]
OURS = "LKG"
KERNELS = "LKG, kernels averaged"
JOINED = ("SC-knn-joined", "KMeans-joined")
PAPER = ("MKKM", "RMKKM", "SCMK", "LKGr")
BEST_VIEW = "label-tuned: LKG on the best view"
MEAN_VIEW = "LKG on one view, mean over the views"
SEVEN = ("webkb203", "ngs", "bbc", "leaves100", "movies", "proteinfold", "prokaryotic")
#: Beside the seven, which alone enter means.
BESIDE = ("cora",)
#: Kinds of false views by what they are called, each with the changes that it is made of.
FALSE: dict[str, tuple[str, ...]] = {
    "noise": ("noise_views",),
    "one decoy": ("decoys",),
    "two decoys": ("decoys",),
    "shuffled": ("shuffled_views",),
    "noise and decoys": ("decoys", "noise_views"),
    "copy": ("copies",),
    "shared nuisance": ("nuisance",),
}
#: Those that can be known to be false.
KNOWABLE = ("noise", "one decoy", "two decoys", "shuffled", "noise and decoys")
#: Views that are poor beside the others, by the change that takes them away or brings them.
POOR = {
    "leaves100": ("its second view", {}, {"without": 2}),
    "prokaryotic": ("its view of three features", {}, {"without": 2}),
    "digits": ("a view of their row sums", {"row_sums": 1}, {"row_sums": 0}),
}
#: By how many points a figure may be below another one before a note says so.
NEAR = 3.0
HOW = "Accuracy in per cent, as the methods come, with the number of classes; mean over the seeds."


@dataclass
class Found:
    """Records of several views, the newest of each trial, and reasons of those without scores."""

    records: dict[tuple[str, str, str], dict[int, Record]] = field(default_factory=lambda: defaultdict(dict))
    reasons: dict[tuple[str, str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> "Found":
        """Sort records by data set, method and changes."""
        found = cls()
        mine = [record for record in records if record.trial.study == VIEWS]
        for record in sorted(mine, key=lambda record: record.created):
            trial = record.trial
            key = (trial.data, _name(record), to_json(dict(trial.changes)))
            if record.succeeded:
                found.records[key][trial.seed] = record
            else:
                found.reasons[key] = f"{record.status}: {record.reason}"
        return found

    def of_trials(self, data: str, method: str, changes: Mapping[str, float] | None = None) -> list[Record]:
        """Return the records of all seeds."""
        return list(self.records.get((data, method, to_json(dict(changes or {}))), {}).values())

    def accuracy(self, data: str, method: str, changes: Mapping[str, float] | None = None) -> float | None:
        """Return the mean over the seeds in per cent; None if there is none."""
        scores = [record.scores["acc"] for record in self.of_trials(data, method, changes)]
        return 100 * fmean(scores) if scores else None

    def why(self, data: str, method: str) -> str:
        """Return why there is no figure."""
        return self.reasons.get((data, method, to_json({})), "")

    def levels(self, data: str, method: str, names: Sequence[str]) -> list[dict[str, float]]:
        """Return the changes of just these names that a method was run with on a data set, in the order of levels."""
        found = {
            to_json(dict(record.trial.changes)): {name: float(record.trial.changes[name]) for name in names}
            for (of, by, _), runs in self.records.items()
            for record in runs.values()
            if (of, by) == (data, method) and set(record.trial.changes) == set(names)
        }
        return sorted(found.values(), key=lambda changes: list(changes.values()))


def _name(record: Record) -> str:
    """Return what the method of a record is called here."""
    if record.trial.parameters == {"fusion": "kernels"} and record.trial.method == OURS:
        return KERNELS
    return record.trial.method


def views_tables(records: Sequence[Record]) -> list[Table]:
    """Return every table of several views that has a row.

    Parameters
    ----------
    records : sequence of Record
        Results in any order, of whatever experiment.
    """
    found = Found.of(records)
    makers = (methods_table, single_table, false_table, named_table, noise_table, missing_table, poor_table)
    return [table for table in (make(found) for make in makers) if table.rows]


def methods_table(found: Found) -> Table:
    """Return what every method gives on the views as they are."""
    data = [name for name in (*SEVEN, *BESIDE) if found.accuracy(name, OURS) is not None]
    figures = {method: _figures(found, method, data) for method in (OURS, KERNELS, *JOINED, *PAPER)}
    single = {name: _single(found, name) for name in data}
    figures[MEAN_VIEW] = {name: fmean(views) for name, views in single.items() if views}
    free = {method: line for method, line in figures.items() if line}
    best = {name: max(views) for name, views in single.items() if views}
    notes, rows = Footnotes(), []
    for method, line in free.items():
        top = {name: max(other.get(name, 0.0) for other in free.values()) for name in data}
        cells = [_cell(line.get(name), top[name], found.why(name, method), f"{name}, {method}", notes) for name in data]
        rows.append((method, *cells, _mean(line)))
    if best:
        rows.append((BEST_VIEW, *(_show(best.get(name)) for name in data), _mean(best)))
    told = [HOW, "Best of a column without labels in bold."]
    if rows:
        rivals = {"the best single view": best, **{method: figures[method] for method in JOINED}}
        told += [_behind(other, figures[OURS], line) for other, line in rivals.items() if line]
    header = ("Method", *data, f"mean of {len(SEVEN)}")
    return Table("views_methods", "Several views", header, tuple(rows), (*told, *notes.notes()))


def _figures(found: Found, method: str, data: Sequence[str]) -> dict[str, float]:
    values = {name: found.accuracy(name, method) for name in data}
    return {name: value for name, value in values.items() if value is not None}


def _single(found: Found, name: str) -> list[float]:
    """Return what each view gives alone, in the order of the views."""
    values = [found.accuracy(name, OURS, {"view": int(step["view"])}) for step in found.levels(name, OURS, ["view"])]
    return [value for value in values if value is not None]


def _behind(other: str, ours: Mapping[str, float], line: Mapping[str, float]) -> str:
    """Say where ours is behind another method."""
    gaps = {name: line[name] - ours[name] for name in ours if name in line}
    behind = [f"{name} ({gap:.1f})" for name, gap in gaps.items() if gap > 0.05]
    far = sum(gap > NEAR for gap in gaps.values())
    return (
        f"{OURS} is below {other} on {len(behind)} of {len(gaps)}, by more than {NEAR:g} points on {far}"
        f"{': ' if behind else ''}{', '.join(behind)}."
    )


def single_table(found: Found) -> Table:
    """Return what each view gives alone."""
    single = {name: _single(found, name) for name in (*SEVEN, *BESIDE)}
    width = max(map(len, single.values()))
    rows = [
        (name, *map(_show, views), *[EMPTY] * (width - len(views)), _show(found.accuracy(name, OURS)))
        for name, views in single.items()
        if views
    ]
    header = ("Data", *(f"view {i}" for i in range(1, width + 1)), "all")
    return Table("views_single", "LKG on each view alone", header, tuple(rows), (HOW,))


def _changes(found: Found, name: str, kind: str, method: str = OURS) -> dict[str, float] | None:
    """Return the changes that make false views of a kind; as many as the experiment has for the data set."""
    steps = found.levels(name, method, FALSE[kind])
    wanted = {"one decoy": 1, "two decoys": 2}.get(kind)
    chosen = [step for step in steps if wanted is None or step["decoys"] == wanted]
    return {key: int(level) for key, level in chosen[-1].items()} if chosen else None


def false_table(found: Found) -> Table:
    """Return what false views cost: per data set for LKG, on the mean of all for joined rows."""
    rows: list[tuple[str, ...]] = []
    lines: dict[str, dict[str, dict[str, float]]] = {}
    for method in (OURS, *JOINED):
        lines[method] = {}
        for name in SEVEN:
            steps = {kind: _changes(found, name, kind, method) for kind in FALSE}
            values = {kind: found.accuracy(name, method, step) for kind, step in steps.items() if step is not None}
            every = {"clean": found.accuracy(name, method), **values}
            lines[method][name] = {kind: value for kind, value in every.items() if value is not None}
    kinds = [kind for kind in ("clean", *FALSE) if any(kind in line for line in lines[OURS].values())]
    if len(kinds) < 2:
        return Table("views_false", "False views", (), ())
    for name, line in lines[OURS].items():
        if len(line) > 1:
            rows.append((f"{name}, {OURS}", *(_show(line.get(kind)) for kind in kinds), _loss(line)))
    for method, of_data in lines.items():
        shared = {kind: [line[kind] for line in of_data.values() if kind in line] for kind in kinds}
        means = {kind: fmean(values) for kind, values in shared.items() if len(values) == len(SEVEN)}
        rows.append((f"mean, {method}", *(_show(means.get(kind)) for kind in kinds), _loss(means)))
    notes = (
        HOW,
        "Noise: as many views of 50 features of noise as there are real ones. Decoys: seven clear clusters that have "
        "nothing to do with anything else. Shuffled: the first view, its samples in another order. Noise and decoys: "
        "both, two decoys. Copy: the first view once more. Shared nuisance: two decoys with the same clusters.",
        f"Most lost: the largest loss over {', '.join(KNOWABLE)}.",
    )
    return Table("views_false", "False views", ("Data", *kinds, "most lost"), tuple(rows), notes)


def _loss(line: Mapping[str, float]) -> str:
    losses = [line["clean"] - line[kind] for kind in KNOWABLE if kind in line and "clean" in line]
    return _show(max(losses)) if losses else EMPTY


def named_table(found: Found) -> Table:
    """Return how many false and how many real views LKG left out."""
    rows = []
    for kind in ("clean", *FALSE):
        false, real = [0, 0], [0, 0]
        for name in SEVEN:
            step = {} if kind == "clean" else _changes(found, name, kind)
            if step is None:
                continue
            added = int(sum(step.get(change, 0) for change in ADDED_VIEWS))
            for record in found.of_trials(name, OURS, step):
                weights = _weights(record)
                n_real = len(weights) - added
                for counts, some in ((real, weights[:n_real]), (false, weights[n_real:])):
                    counts[0] += sum(weight == 0 for weight in some)
                    counts[1] += len(some)
        if real[1]:
            rows.append((kind, *(f"{left} of {of}" if of else EMPTY for left, of in (false, real))))
    header = ("Added", "false views left out", "real views left out")
    note = (
        "Over all data sets, draws and seeds; left out: a weight of zero. A copy counts once with what it is a copy of."
    )
    return Table("views_named", "Views that LKG left out", header, tuple(rows), (note,))


def _weights(record: Record) -> list[float]:
    """Return the weights of the views in their order; a store has their names in that of the alphabet."""
    return [record.learned[name] for name in sorted(record.learned, key=lambda name: int(name.rpartition(" ")[2]))]


def noise_table(found: Found) -> Table:
    """Return the methods of the paper on the views as they are and with as many of noise, beside LKG."""
    rows, notes = [], Footnotes()
    methods = (OURS, *JOINED, *PAPER)
    for name in SEVEN:
        steps = {method: _changes(found, name, "noise", method) for method in methods}
        if any(steps[method] is not None for method in PAPER):
            for what in ("clean", "noise"):
                cells = []
                for method in methods:
                    step = {} if what == "clean" else steps[method]
                    value = None if step is None else found.accuracy(name, method, step)
                    cells.append(_cell(value, None, found.why(name, method), f"{name}, {method}", notes))
                rows.append((name, what, *cells))
    header = ("Data", "views", *methods)
    told = (HOW, "The methods of the paper with all twelve kernels of every view, one seed and one draw of noise.")
    return Table(
        "views_noise", "Views of noise, and the methods of the paper", header, tuple(rows), (*told, *notes.notes())
    )


def missing_table(found: Found) -> Table:
    """Return what missing samples cost."""
    shares = sorted({step["missing"] for name in SEVEN for step in found.levels(name, OURS, ["missing"])})
    rows, lines = [], []
    for name in SEVEN if shares else ():
        values = [found.accuracy(name, OURS), *(found.accuracy(name, OURS, {"missing": share}) for share in shares)]
        line = [value for value in values if value is not None]
        rows.append((name, *map(_show, values)))
        if len(line) == len(values):
            lines.append(line)
    if lines and len(lines) == len(rows):
        means = [fmean(column) for column in zip(*lines, strict=True)]
        rows.append((f"mean of {len(rows)}", *map(_show, means)))
        rows.append(("lost", *(_show(means[0] - mean) for mean in means)))
    header = ("Data", "none", *(f"{100 * share:g} %" for share in shares))
    note = "Of each view so many of the samples are missing, drawn for every view; each sample keeps one view."
    return Table("views_missing", "Samples missing in views", header, tuple(rows), (HOW, note))


def poor_table(found: Found) -> Table:
    """Return what a poor view beside rich ones costs."""
    rows = []
    for name, (what, with_it, without_it) in POOR.items():
        values = found.accuracy(name, OURS, with_it), found.accuracy(name, OURS, without_it)
        if values[0] is not None and values[1] is not None:
            rows.append((f"{name}: {what}", *map(_show, values), _show(values[1] - values[0])))
    header = ("Poor view", "with it", "without it", "lost")
    return Table("views_poor", "A poor view beside rich ones", header, tuple(rows), (HOW,))


def _cell(value: float | None, best: float | None, why: str, where: str, notes: Footnotes) -> str:
    if value is None:
        state, _, reason = why.partition(": ")
        return f"{state} {notes.mark(reason, where)}" if reason else EMPTY
    text = _show(value)
    return bold(text) if best is not None and text == _show(best) else text


def _mean(line: Mapping[str, float]) -> str:
    """Return the mean over the seven; an incomplete one only says how much there is."""
    known = [line[name] for name in SEVEN if name in line]
    return _show(fmean(known)) if len(known) == len(SEVEN) else f"{len(known)} of {len(SEVEN)}"


def _show(value: float | None) -> str:
    return EMPTY if value is None else f"{round(value, 1) + 0.0:.1f}"  # no minus before a zero
