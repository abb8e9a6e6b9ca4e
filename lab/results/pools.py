"""From records to cells: which of many results stands in a table, and why a cell is empty.

In `Pools` all is *label-tuned*: the best result is picked by a measure that knows the classes, as the paper does.
In `Untuned` nothing is: means over the seeds, of methods as they come.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Self

from lab.records import EVERY_SCORING, SCORINGS, Record, Trial, outside_study, to_json
from lab.results.published import LOWER_IS_BETTER, METHODS, PREFIXES, SCORED_ONCE, is_published
from lab.results.table import Footnotes, show

#: Ends of a fit after which the graph or the kernel says nothing, although labels and scores exist.
COLLAPSED = frozenset({"non_finite", "kernel_vanished", "graph_empty", "graph_diagonal"})
NOT_RUN = "not run"
#: As a scoring: for every method that behind its published figures.
AS_PUBLISHED = "scored as published"
#: Method, data set and kind of the data, each by what tables call them.
Place = tuple[str, str, str]


def newest(records: Iterable[Record]) -> list[Record]:
    """Return records from the oldest to the newest, without those of data and methods that have changed since.

    A failure does not count any more when another version of the package has run the trial.
    """
    ordered = sorted(records, key=lambda record: record.created)
    checksums = {record.trial.data: record.trial.checksum for record in ordered}  # the last one stays
    codes = {record.trial.method: record.trial.code for record in ordered}
    done = {replace(record.trial, version="").key for record in ordered if record.succeeded}
    return [
        record
        for record in ordered
        if (record.trial.checksum, record.trial.code) == (checksums[record.trial.data], codes[record.trial.method])
        and (record.succeeded or replace(record.trial, version="").key not in done)
    ]


def by_scoring(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return records of the plain methods on the data as they are, by what tables call their scoring.

    It is that behind the published figures where there are both scorings and data of the paper. Otherwise each
    scoring stands for itself; they are never mixed.
    """
    plain = [record for record in outside_study(records) if not record.trial.altered]
    there = {record.trial.scoring for record in plain}
    if there.issuperset(SCORINGS) and is_published(record.trial.data for record in plain):
        return {AS_PUBLISHED: as_published(plain)}
    return {which: [r for r in plain if r.trial.scoring == which] for which in EVERY_SCORING if which in there}


def stem(scoring: str) -> str:
    """Return a scoring as a part of the name of a file."""
    return scoring.removeprefix("scored ").replace(" ", "-")


def as_published(records: Sequence[Record]) -> list[Record]:
    """Return those scored like the published figures; of a method that the paper has not, means before single fits."""
    there = {(record.trial.method, record.trial.scoring) for record in records}

    def scoring(trial: Trial) -> str:
        if trial.method not in METHODS:
            return next(which for which in ("mean20", "best100", "once") if (trial.method, which) in there)
        once = trial.method in SCORED_ONCE and not trial.data.startswith(tuple(PREFIXES.values()))
        return "best100" if once else "mean20"

    return [record for record in records if record.trial.scoring == scoring(record.trial)]


def state(record: Record) -> str:
    """Return how a record ended: ``"done"``, ``"collapsed"``, ``"failed"`` or ``"skipped"``."""
    if not record.succeeded:
        return record.status
    return "collapsed" if record.status in COLLAPSED else "done"


def why_missing(record: Record) -> str:
    """Return how a record without scores ended, and why."""
    return f"{record.status}: {record.reason or 'no reason given'}"


@dataclass(frozen=True)
class Outcome:
    """One setting on one kernel (or on all): means over the seeds and the changes of the data."""

    records: tuple[Record, ...]  # one per seed and change

    @property
    def trial(self) -> Trial:
        """One of the trials."""
        return self.records[0].trial

    @cached_property
    def setting(self) -> str:
        """The bank and the parameters as text, equal for equal ones."""
        return _setting(self.trial)

    @cached_property
    def scores(self) -> Mapping[str, float]:
        """Means of the measures."""
        return _means([record.scores for record in self.records])

    @cached_property
    def deviations(self) -> Mapping[str, float]:
        """Means of the deviations."""
        return _means([record.deviations for record in self.records])

    @property
    def collapsed(self) -> bool:
        """Whether the fit found nothing under any seed."""
        return all(state(record) == "collapsed" for record in self.records)


@dataclass(frozen=True)
class Cell:
    """A figure of ours, or the reason why there is none."""

    value: float | None = None
    kernel_mean: float | None = None  # over the kernels at the setting of the value; one-kernel methods only
    deviation: float | None = None
    outcome: Outcome | None = None
    n_kernels: int = 0  # with a score at that setting
    why: str = ""  # there is no value

    def show(self, where: str, notes: Footnotes, *, scale: float = 100, digits: int = 2) -> str:
        """Return the figure as text, or how and why it is missing."""
        if self.value is None:
            return notes.missing(self.why, where)
        extra = self.kernel_mean if self.kernel_mean is not None else self.deviation
        text = f"{scale * self.value:.{digits}f}" + ("" if extra is None else f" ({scale * extra:.{digits}f})")
        if self.outcome is not None and self.outcome.collapsed:
            return f"{text} {notes.mark(f'the fit collapsed ({self.outcome.records[0].status})', where)}"
        return text


@dataclass
class Pool:
    """All results of a method on a data set."""

    data: str
    method: str
    outcomes: list[Outcome] = field(default_factory=list)
    missing: list[Record] = field(default_factory=list)  # failed and skipped

    @property
    def settings(self) -> set[str]:
        """All that have scores."""
        return {outcome.setting for outcome in self.outcomes}

    @property
    def why(self) -> str:
        """Why there is no result: the commonest reason."""
        reasons = Counter(map(why_missing, self.missing))
        return reasons.most_common(1)[0][0] if reasons else NOT_RUN

    def best(self, measure: str) -> Cell:
        """Return the best of a measure over all settings and kernels."""
        scored = [outcome for outcome in self.outcomes if measure in outcome.scores]
        if not scored:
            return Cell(why=self.why)
        sign = -1 if measure in LOWER_IS_BETTER else 1
        return self.cell(max(scored, key=lambda outcome: sign * outcome.scores[measure]), measure)

    def cell(self, outcome: Outcome, measure: str) -> Cell:
        """Return a measure of an outcome, for methods on one kernel with the mean over the kernels."""
        value, deviation = outcome.scores[measure], outcome.deviations.get(measure)
        if not outcome.trial.kernel:
            return Cell(value, None, deviation, outcome)
        alike = [other for other in self.outcomes if other.trial.kernel and other.setting == outcome.setting]
        beside = [other.scores[measure] for other in alike if measure in other.scores]
        return Cell(value, fmean(beside), deviation, outcome, len(beside))


class Pools(dict[tuple[str, str], Pool]):
    """Pools by data and method; what was not run is an empty pool."""

    def __missing__(self, key: tuple[str, str]) -> Pool:
        return Pool(*key)

    @property
    def methods(self) -> list[str]:
        """The methods by name."""
        return sorted({method for _, method in self})

    @property
    def data(self) -> list[str]:
        """The data sets by name."""
        return sorted({data for data, _ in self})

    def figures(self, method: str, measure: str, data: Mapping[str, str]) -> dict[str, float]:
        """Return the best figures of a method in per cent by title, for titles with the names in records."""
        cells = {title: self[name, method].best(measure) for title, name in data.items()}
        return {title: 100 * cell.value for title, cell in cells.items() if cell.value is not None}

    def accuracies(self, method: str) -> dict[str, float]:
        """Return the best accuracies of a method in per cent by the name of the data in records."""
        return self.figures(method, "acc", {name: name for name in self.data})


def pools(records: Iterable[Record]) -> Pools:
    """Sort records by data and method, given from the oldest; of one setting and seed the newest counts."""
    last = {}
    for record in records:
        trial = record.trial
        last[trial.data, trial.method, _setting(trial), trial.kernel, trial.seed, to_json(trial.changes)] = record
    found, joined = Pools(), defaultdict(list)
    for (data, method, setting, kernel, *_), record in sorted(last.items(), key=lambda item: item[0]):
        pool = found.setdefault((data, method), Pool(data, method))
        if record.succeeded:
            joined[data, method, setting, kernel].append(record)
        else:
            pool.missing.append(record)
    for (data, method, *_), alike in joined.items():
        found[data, method].outcomes.append(Outcome(tuple(alike)))
    return found


def _setting(trial: Trial) -> str:
    return to_json([trial.bank, trial.parameters])


def _means(mappings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    shared = [name for name in mappings[0] if all(name in mapping for mapping in mappings)]
    return {name: fmean(mapping[name] for mapping in mappings) for name in shared}


def kind_of(changes: Mapping[str, float | str]) -> str:
    """Return what was done to data in words such as "noise 0.5"; nothing for data as they are."""
    return ", ".join(f"{name} {float(level):g}" for name, level in sorted(changes.items()))


@dataclass
class Untuned:
    """Records of studies by place, the newest of each seed and kernel, and why others are missing."""

    records: dict[Place, dict[tuple[int, str], Record]] = field(default_factory=lambda: defaultdict(dict))
    reasons: dict[Place, str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record], place: Callable[[Trial], Place], *studies: str) -> Self:
        """Sort the records of some studies, given from the oldest to the newest, into their places."""
        found = cls()
        for record in (record for record in records if record.trial.study in studies):
            if record.succeeded:
                found.records[place(record.trial)][record.trial.seed, record.trial.kernel] = record
            else:
                found.reasons[place(record.trial)] = why_missing(record)
        return found

    @property
    def methods(self) -> set[str]:
        """Methods with figures."""
        return {method for method, _, _ in self.records}

    def runs(self, method: str, data: str, kind: str = "") -> list[Record]:
        """Return the records of all seeds and kernels."""
        return list(self.records[method, data, kind].values()) if (method, data, kind) in self.records else []

    def figure(self, method: str, data: str, kind: str = "", measure: str = "acc") -> float | None:
        """Return the mean in per cent; None if there is none."""
        scores = [record.scores[measure] for record in self.runs(method, data, kind)]
        return 100 * fmean(scores) if scores else None

    def figures(self, method: str, data: Iterable[str], kind: str = "", measure: str = "acc") -> dict[str, float]:
        """Return the means of those data sets that have one."""
        values = {name: self.figure(method, name, kind, measure) for name in data}
        return {name: value for name, value in values.items() if value is not None}

    def cell(self, notes: Footnotes, method: str, data: str, kind: str = "", measure: str = "acc") -> str:
        """Return a mean as text, or how and why it is missing."""
        value = self.figure(method, data, kind, measure)
        why = self.reasons.get((method, data, kind), "")
        return show(value) if value is not None or not why else notes.missing(why, f"{data}, {method}")

    def levels(self, change: str, data: str = "") -> list[float]:
        """Return the levels at which any method was run with a change alone, on any data set or on one."""
        kinds = {kind for _, name, kind in self.records if data in ("", name)}
        return sorted(float(kind.removeprefix(f"{change} ")) for kind in kinds if kind.startswith(f"{change} "))
