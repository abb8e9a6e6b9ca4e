"""What records kept of fits, as it is drawn: the history of the steps, and a picture of the consensus kernel."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelbraid.bench.records.record import EVERY_SCORING, Record
from kernelbraid.bench.results.selection import Conditions

#: What an experiment may ask to keep.
PARTS = ("history", "kernel")
#: Rows and columns of the picture of a kernel, at most: about 50 kB in a record.
PIXELS = 96
#: Series of a history that are drawn, and what they are; the others are told beside them.
CURVES = {
    "objective": "objective",
    "kernel_change": "relative change of K",
    "kernel_residual": "kernel residual, norm of K − W",
    "graph_residual": "graph residual, norm of Z − J",
}
# Values below are rounding errors: no curve needs an axis that reaches further down.
LOWEST = 1e-8
# The residuals of the first steps may be rounding errors, too.
START = 2
# Percentiles of the values off the diagonal between which the colours of a kernel lie.
COLOURED = (0.5, 99.5)


def block_edges(n: int, most: int = PIXELS) -> np.ndarray:
    """Return where the blocks of n samples begin, and n."""
    return np.linspace(0, n, min(n, most) + 1).round().astype(int)


def kept_fits(records: Iterable[Record]) -> list[Record]:
    """Return the records that kept something, one for each fit: the newest, and of equal age that of the first scoring.

    They are in the order of data, method, bank and parameters.
    """
    found: dict[str, Record] = {}
    for record in sorted(records, key=lambda r: (r.created, -EVERY_SCORING.index(r.trial.scoring))):
        if record.kept:
            trial = replace(record.trial, scoring=EVERY_SCORING[0], checksum="", version="", keep=())
            found[trial.key] = record
    return sorted(found.values(), key=lambda r: (r.trial.data, r.trial.method, r.trial.bank, r.trial.key))


def best_kept(records: Iterable[Record], under: Conditions, part: str, *, order: Sequence[str]) -> list[Record]:
    """Return, for each data set and method, the record of highest accuracy that kept a part.

    Parameters
    ----------
    records : iterable of Record
        Results in any order.
    under : Conditions
        Which of them may be compared.
    part : str
        One of `PARTS`.
    order : sequence of str
        Data sets in the order of the result.

    Returns
    -------
    list of Record
        Ordered by data set, then by method.
    """
    best: dict[tuple[int, str], Record] = {}
    for record in kept_fits(record for record in records if under.admit(record.trial)):
        place = (order.index(record.trial.data), record.trial.method)
        if part in record.kept and (place not in best or record.scores["acc"] > best[place].scores["acc"]):
            best[place] = record
    return [best[place] for place in sorted(best)]


@dataclass(frozen=True)
class Curves:
    """The series of a history that are drawn on one logarithmic axis."""

    series: Mapping[str, tuple[float | None, ...]]  # by what they are; None where a logarithmic axis has no place
    bottom: float  # of the axis

    @classmethod
    def of(cls, history: Mapping[str, Sequence[float | None]]) -> "Curves":
        """Take those of `CURVES` from a kept history."""
        series = {
            label: tuple(value if value is not None and value > 0 else None for value in history[name])
            for name, label in CURVES.items()
            if name in history
        }
        later = [value for values in series.values() for value in values[START:] if value is not None]
        return cls(series, max(min(later, default=1.0) / 3, LOWEST))


def ending(record: Record) -> str:
    """Return how a fit ended and after how many steps."""
    return f"{record.status.replace('_', ' ')} after {record.n_iter} {'step' if record.n_iter == 1 else 'steps'}"


def colour_range(image: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    """Return where the colour scale of a kernel starts and ends; the diagonal would take most of it."""
    values = np.array(image, dtype=float)
    beside = values[~np.eye(len(values), dtype=bool)]
    low, high = np.nanpercentile(beside if beside.size else values, COLOURED).tolist()
    return (low, high) if high > low else (low - 0.5, low + 0.5)
