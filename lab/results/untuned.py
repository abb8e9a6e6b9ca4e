"""From records to figures of methods as they come: means over the seeds, with nothing chosen by the true classes."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Self

from lab.records import Record, Trial
from lab.results.pools import why_missing
from lab.results.table import Footnotes, show

#: Method, data set and kind of the data, each by what tables call them.
Place = tuple[str, str, str]


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
