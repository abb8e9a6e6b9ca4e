"""From records to cells: which of many results stands in a table, and why a cell is empty.

Everything here is *label-tuned*: the best result is picked by a measure that knows the classes, as the paper does.
Results under different scorings are never mixed; the caller says which with `Conditions`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import Literal

from kernelbraid._typing import Parameters
from kernelbraid.bench.records.record import EVERY_SCORING, SCORINGS, Record, Scoring, Trial, to_json
from kernelbraid.bench.results.published import LOWER_IS_BETTER, PREFIXES, SCORED_ONCE, is_published

#: Ends of a fit after which the graph or the kernel says nothing, although labels and scores exist.
COLLAPSED = frozenset({"non_finite", "kernel_vanished", "graph_empty", "graph_diagonal"})
NOT_RUN = "not run"
#: As a scoring: for every method the one behind its published figures.
AS_PUBLISHED: Literal["as published"] = "as published"


@dataclass(frozen=True)
class Conditions:
    """Records that may stand in one table: one scoring, and one bank or all of them."""

    scoring: Scoring | Literal["as published"]
    bank: str | None = None  # None: all, the bank being one more thing that is tuned
    altered: bool = False  # only trials on changed data, and methods without a part
    study: str = ""  # only trials of this part of the study; none of any by default

    def admit(self, trial: Trial) -> bool:
        """Whether a trial belongs to it; one without a bank belongs to every bank."""
        if trial.altered != self.altered or trial.study != self.study:
            return False
        return trial.scoring == self._scoring_of(trial) and (self.bank is None or trial.bank in ("", self.bank))

    def _scoring_of(self, trial: Trial) -> str:
        if self.scoring != AS_PUBLISHED:
            return self.scoring
        once = trial.method in SCORED_ONCE and not trial.data.startswith(tuple(PREFIXES.values()))
        return "best100" if once else "mean20"

    def __str__(self) -> str:
        scoring = f"scored {self.scoring}" if self.scoring == AS_PUBLISHED else self.scoring
        return f"{scoring}, {'all banks' if self.bank is None else f'bank {self.bank}'}"


def conditions(records: Iterable[Record]) -> list[Conditions]:
    """Return the conditions that records were made under, ``"best100"`` if there are no records.

    Where there are records of both scorings of the paper, and of its data, the first conditions take those of the
    published figures.
    """
    banks: dict[Scoring, set[str]] = defaultdict(set)
    data = set()
    for record in records:
        if record.trial.altered or record.trial.study:
            continue
        banks[record.trial.scoring].add(record.trial.bank)
        data.add(record.trial.data)
    both = all(scoring in banks for scoring in SCORINGS)
    found: list[Conditions] = [Conditions(AS_PUBLISHED)] if both and is_published(data) else []
    for scoring in (scoring for scoring in EVERY_SCORING if scoring in banks):
        named = sorted(banks[scoring] - {""})
        found += [Conditions(scoring), *(Conditions(scoring, bank) for bank in named if len(named) > 1)]
    return found or [Conditions("best100")]


@dataclass(frozen=True)
class Endings:
    """How the records behind a cell ended; nothing is dropped without being counted."""

    done: int = 0
    collapsed: int = 0  # scored, but the fit found nothing
    failed: int = 0
    skipped: int = 0
    replaced: int = 0  # older records of the same setting and seed

    @classmethod
    def of(cls, records: Iterable[Record], replaced: int = 0) -> "Endings":
        """Count records."""
        return cls(**Counter(state(record) for record in records), replaced=replaced)

    def __add__(self, other: "Endings") -> "Endings":
        mine, theirs = asdict(self), asdict(other)
        return Endings(**{name: mine[name] + theirs[name] for name in mine})


def state(record: Record) -> str:
    """Return how a record ended: ``"done"``, ``"collapsed"``, ``"failed"`` or ``"skipped"``."""
    if not record.succeeded:
        return record.status
    return "collapsed" if record.status in COLLAPSED else "done"


@dataclass(frozen=True)
class Outcome:
    """One setting on one kernel (or on all): means over the seeds and the changes of the data."""

    bank: str
    kernel: str
    parameters: Parameters
    scores: Mapping[str, float]
    deviations: Mapping[str, float]
    records: tuple[Record, ...]  # one a seed and change

    @cached_property
    def setting(self) -> str:
        """The bank and the parameters as text, equal for equal ones."""
        return setting(self.bank, self.parameters)

    @property
    def collapsed(self) -> bool:
        """Whether the fit found nothing under any seed."""
        return all(state(record) == "collapsed" for record in self.records)

    @classmethod
    def of(cls, records: Sequence[Record]) -> "Outcome":
        """Join the records of one setting."""
        trial = records[0].trial
        means = [_means([getattr(record, name) for record in records]) for name in ("scores", "deviations")]
        return cls(trial.bank, trial.kernel, trial.parameters, means[0], means[1], tuple(records))


def setting(bank: str, parameters: Parameters) -> str:
    """Return what can be tuned as text."""
    return to_json([bank, dict(parameters)])


def _means(mappings: Sequence[Mapping[str, float]]) -> dict[str, float]:
    shared = [name for name in mappings[0] if all(name in mapping for mapping in mappings)]
    return {name: fmean(mapping[name] for mapping in mappings) for name in shared}


@dataclass(frozen=True)
class Cell:
    """A figure of ours, or the reason why there is none."""

    value: float | None = None
    kernel_mean: float | None = None  # over the kernels at the setting of the value; one-kernel methods only
    deviation: float | None = None
    outcome: Outcome | None = None
    kernels: tuple[int, int] = (0, 0)  # with a score at that setting, and tried at all
    why: str = ""  # there is no value

    @property
    def caution(self) -> str:
        """What a reader must know about the value."""
        scored, tried = self.kernels
        if self.outcome is not None and self.outcome.collapsed:
            return f"the fit collapsed ({self.outcome.records[0].status})"
        return f"{tried - scored} of {tried} kernels have no score at this setting" if scored < tried else ""


@dataclass(frozen=True)
class Pool:
    """All results of a method on a data set."""

    data: str
    method: str
    outcomes: tuple[Outcome, ...] = ()
    missing: tuple[Record, ...] = ()  # failed and skipped
    counts: Endings = Endings()

    @cached_property
    def kernels(self) -> Counter[str]:
        """How many single kernels of each bank were tried, with or without success."""
        tried = {(outcome.bank, outcome.kernel) for outcome in self.outcomes}
        tried |= {(record.trial.bank, record.trial.kernel) for record in self.missing}
        return Counter(bank for bank, kernel in tried if kernel)

    @property
    def why(self) -> str:
        """Why there is no result: the commonest reason."""
        reasons = Counter(f"{record.status}: {record.reason or 'no reason given'}" for record in self.missing)
        return reasons.most_common(1)[0][0] if reasons else NOT_RUN

    def best(self, measure: str) -> Cell:
        """Return the best of a measure over all settings and kernels."""
        scored = [outcome for outcome in self.outcomes if measure in outcome.scores]
        if not scored:
            return Cell(why=self.why)
        sign = -1 if measure in LOWER_IS_BETTER else 1
        return self._cell(max(scored, key=lambda outcome: sign * outcome.scores[measure]), measure)

    def at_best(self, measure: str = "acc") -> dict[str, Cell]:
        """Return all measures at the setting, and on the kernel, where one of them is best."""
        best = self.best(measure).outcome
        return {} if best is None else {name: self._cell(best, name) for name in best.scores}

    def _cell(self, outcome: Outcome, measure: str) -> Cell:
        value, deviation = outcome.scores[measure], outcome.deviations.get(measure)
        if not outcome.kernel:
            return Cell(value, None, deviation, outcome)
        beside = [other.scores[measure] for other in self._same_setting(outcome) if measure in other.scores]
        return Cell(value, fmean(beside), deviation, outcome, (len(beside), self.kernels[outcome.bank]))

    def _same_setting(self, outcome: Outcome) -> list[Outcome]:
        return [other for other in self.outcomes if other.kernel and other.setting == outcome.setting]


class Pools(dict[tuple[str, str], Pool]):
    """Pools by data and method; what was not run is an empty pool."""

    def __missing__(self, key: tuple[str, str]) -> Pool:
        return Pool(*key)

    def methods(self) -> list[str]:
        """Return the methods by name."""
        return sorted({method for _, method in self})

    def data(self) -> list[str]:
        """Return the data sets by name."""
        return sorted({data for data, _ in self})


def pools(records: Iterable[Record], under: Conditions) -> Pools:
    """Sort records by data and method; of the same setting and seed the newest counts.

    Of data or of a method that has changed, only records of what the newest one was made with count.
    """
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    admitted = sorted((record for record in records if under.admit(record.trial)), key=lambda record: record.created)
    for record in admitted:
        groups[record.trial.data, record.trial.method].append(record)
    checksums = {record.trial.data: record.trial.checksum for record in admitted}  # the last one stays
    codes = {record.trial.method: record.trial.code for record in admitted}
    return Pools({key: _pool(*key, group, checksums[key[0]], codes[key[1]]) for key, group in groups.items()})


def _pool(data: str, method: str, records: list[Record], checksum: str, code: str) -> Pool:
    newest: dict[tuple[str, str, int, str], Record] = {}
    for record in (record for record in records if (record.trial.checksum, record.trial.code) == (checksum, code)):
        trial = record.trial
        newest[setting(trial.bank, trial.parameters), trial.kernel, trial.seed, to_json(trial.changes)] = record
    joined: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for (tuned, kernel, *_), record in sorted(newest.items(), key=lambda item: item[0]):
        if record.succeeded:
            joined[tuned, kernel].append(record)
    missing = tuple(record for record in newest.values() if not record.succeeded)
    counts = Endings.of(newest.values(), replaced=len(records) - len(newest))
    return Pool(data, method, tuple(map(Outcome.of, joined.values())), missing, counts)


@dataclass(frozen=True)
class Patch:
    """A cell of a surface."""

    state: str = NOT_RUN  # or "done", "collapsed", "failed", "skipped"
    value: float | None = None
    detail: str = ""  # the other parameters of the value, or the reason why there is none


@dataclass(frozen=True)
class Surface:
    """A measure over two parameters, best over those that are not named."""

    data: str
    method: str
    measure: str
    fixed: tuple[str, float]
    rows: tuple[str, tuple[float, ...]]
    columns: tuple[str, tuple[float, ...]]
    patches: tuple[tuple[Patch, ...], ...]


def surfaces(
    pool: Pool, measure: str = "acc", *, fixed: str = "alpha", rows: str = "beta", columns: str = "gamma"
) -> list[Surface]:
    """Return a surface for every value of the fixed parameter at which more than half of a grid was run.

    A few settings that share a value by chance, as those drawn at random may, are no surface.
    """
    names = (fixed, rows, columns)
    places: dict[float, dict[tuple[float, float], list[Outcome | Record]]] = defaultdict(lambda: defaultdict(list))
    results: list[Outcome | Record] = [*pool.outcomes, *pool.missing]
    for result in results:
        parameters = (result.trial if isinstance(result, Record) else result).parameters
        if all(name in parameters for name in names):
            at, row, column = (parameters[name] for name in names)
            places[at][row, column].append(result)
    found = []
    for at, place in sorted(places.items()):
        ys, xs = (tuple(sorted(set(values))) for values in zip(*place, strict=True))
        if len(ys) > 1 and len(xs) > 1 and 2 * len(place) > len(ys) * len(xs):
            patches = tuple(tuple(_patch(place.get((y, x), []), measure, names) for x in xs) for y in ys)
            found.append(Surface(pool.data, pool.method, measure, (fixed, at), (rows, ys), (columns, xs), patches))
    return found


def _patch(results: Sequence[Outcome | Record], measure: str, named: Sequence[str]) -> Patch:
    """Return the best sound result of a place, otherwise the best collapsed one, otherwise the reason for none."""
    outcomes = [result for result in results if isinstance(result, Outcome) and measure in result.scores]
    if outcomes:
        sign = -1 if measure in LOWER_IS_BETTER else 1
        best = max(outcomes, key=lambda outcome: (not outcome.collapsed, sign * outcome.scores[measure]))
        others = {name: value for name, value in best.parameters.items() if name not in named}
        detail = [f"{name} {value}" for name, value in others.items()]
        detail += [best.records[0].status] if best.collapsed else []
        return Patch("collapsed" if best.collapsed else "done", best.scores[measure], ", ".join(detail))
    for result in results:
        if isinstance(result, Record):
            return Patch(result.status, None, result.reason)
    return Patch()
