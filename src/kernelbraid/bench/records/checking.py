"""From plain data to records: a file may be damaged or of somebody else, so that contents are checked on reading."""

import hashlib
import json
from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from typing import Any

from kernelbraid.bench.records.record import EVERY_SCORING, Json, Record, Trial
from kernelbraid.bench.records.snapshot_data import PARTS

# Where measures lie; those that are not named here are any finite number.
SPANS = {
    **dict.fromkeys(("acc", "nmi", "purity", "precision", "recall", "f_score", "balance"), (0.0, 1.0)),
    **dict.fromkeys(("ari", "silhouette"), (-1.0, 1.0)),
    "entropy": (0.0, inf),
}
# What rounding may add to the ends of a span.
SLACK = 1e-6


class DamagedRecord(ValueError):  # noqa: N818 (what was found, and named so)
    """Plain data are not what a run can have written."""

    def __init__(self, reason: str = "a row is not what a run can have written") -> None:
        super().__init__(reason)


def digest(*texts: str) -> str:
    """Return a checksum of texts."""
    total = hashlib.blake2b(digest_size=16)
    for text in texts:
        total.update(f"{len(text)}\n{text}".encode(errors="surrogatepass"))
    return total.hexdigest()


def parse_record(trial: str, outcome: str) -> Record:
    """Return a record from its two parts in JSON, or raise `DamagedRecord`."""
    try:
        return build_record(json.loads(trial), json.loads(outcome))
    except (TypeError, ValueError, RecursionError):
        raise DamagedRecord from None


def build_record(trial: Any, outcome: Any) -> Record:
    """Return a record from plain data, or raise `DamagedRecord`; fields that came later may be missing."""
    try:
        if not isinstance(trial.get("keep", []), list):
            raise DamagedRecord
        record = Record(Trial(**trial), **outcome)
        sound = _is_trial(record.trial) and _is_outcome(record)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError):
        raise DamagedRecord from None
    if not sound:
        raise DamagedRecord
    return record


def _is_trial(trial: Trial) -> bool:
    texts = (trial.data, trial.checksum, trial.method, trial.bank, trial.kernel, trial.version, trial.study, trial.code)
    return (
        all(isinstance(text, str) for text in texts)
        and trial.scoring in EVERY_SCORING
        and _is_count(trial.seed)
        and _is_table(trial.parameters, lambda name, value: True)
        and _is_table(trial.changes, lambda name, value: isinstance(value, str) or _is_number(value))
        and set(trial.keep) <= set(PARTS)
    )


def _is_outcome(record: Record) -> bool:
    texts = (record.status, record.reason, record.machine, record.created, record.chosen)
    return (
        all(isinstance(text, str) for text in texts)
        and record.status != ""
        and ("acc" in record.scores or not record.succeeded)
        and all(_is_table(scores, _is_score) for scores in (record.scores, record.label_free, record.tuned))
        and _is_table(record.deviations, lambda name, value: _is_number(value) and 0 <= value < inf)
        and _is_table(record.learned, lambda name, value: _is_number(value))
        and _is_count(record.n_iter)
        and _is_count(record.peak_bytes)
        and _is_number(record.seconds)
        and 0 <= record.seconds < inf
        and _is_kept(record.kept)
    )


def _is_table(content: Mapping[str, Any], fits: Callable[[str, Any], bool]) -> bool:
    return isinstance(content, dict) and all(fits(name, value) for name, value in content.items())


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not isnan(value)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_score(name: str, value: Any) -> bool:
    low, high = SPANS.get(name, (-inf, inf))
    return _is_number(value) and isfinite(value) and low - SLACK <= value <= high + SLACK


def _is_kept(kept: Any) -> bool:
    """Tell whether these are series of numbers with gaps, and a square image with the sizes of clusters."""
    if not (isinstance(kept, dict) and set(kept) <= set(PARTS) and isinstance(kept.get("history", {}), dict)):
        return False
    series = list(kept.get("history", {}).values())
    if "kernel" in kept:
        image, sizes = kept["kernel"]["image"], kept["kernel"]["sizes"]
        if not (isinstance(image, list) and image and isinstance(sizes, list) and all(map(_is_count, sizes))):
            return False
        if any(not isinstance(row, list) or len(row) != len(image) for row in image):
            return False
        series += image
    return all(isinstance(row, list) and all(value is None or _is_finite(value) for value in row) for row in series)


def _is_finite(value: Json) -> bool:
    return _is_score("", value)
