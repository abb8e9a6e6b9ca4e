"""What was run and what came out: trials, records of them, and the folder that holds these.

A folder has `records/KEY.json`, one file per trial, and perhaps `records.parquet`, where they are once they are packed.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pyarrow
from filelock import FileLock, Timeout
from pyarrow import parquet

#: Changes of the data by name, each with its level, and the name of a kernel if one of them is about a kernel.
Changes: TypeAlias = Mapping[str, float | str]
#: Those that add so many views.
ADDED_VIEWS = ("useless_views", "noise_views", "decoys", "shuffled_views", "copies", "nuisance", "row_sums")
#: ``"best100"``: one k-means, best of 100 restarts, scored once; ``"mean20"``: mean and deviation over 20 runs.
#: ``"once"``: one fit with the restarts that the method has by itself, and the seed as its `random_state`.
Scoring: TypeAlias = Literal["best100", "mean20", "once"]
#: Scorings behind the figures of the paper.
SCORINGS: tuple[Scoring, ...] = ("best100", "mean20")
EVERY_SCORING: tuple[Scoring, ...] = (*SCORINGS, "once")
# Fields that every key holds; those that came later only count where they are not empty, so that old keys stay valid.
KEYED = ("data", "checksum", "method", "scoring", "bank", "kernel", "parameters", "seed", "version")
#: Versions before this one whose records are taken as they are: their trials are not run again, but for those of
#: `LKG` as it comes, whose defaults have changed since.
EARLIER = ("0.1.0", "0.2.0")
# Between the name of a method and the part that is taken out of it.
ABLATED = "/"
#: Parts of the study; no other table shows their trials.
STUDIES = ("label-free", "candidates", "baselines", "views", "comparison")
# Columns of the packed file that hold tables of their own, as JSON.
NESTED = ("parameters", "changes", "keep", "scores", "deviations", "label_free", "learned", "kept", "tuned")


class LabError(Exception):
    """What was asked for cannot be done; the text says what is wrong, where, and what would be right."""


@dataclass(frozen=True)
class Trial:
    """What is run: everything that decides the outcome."""

    data: str  # name of the data set
    checksum: str  # of its samples and classes
    method: str
    scoring: Scoring
    bank: str = ""  # bank of kernels; "" for a method on features
    kernel: str = ""  # the one kernel of a method that takes one; "" otherwise
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    version: str = ""  # of the package
    changes: Changes = field(default_factory=dict)  # of the data
    study: str = ""  # one of `STUDIES`; "" for the experiments of the paper
    code: str = ""  # checksum or version of a method that is not ours
    keep: Sequence[str] = ()  # what earlier versions kept of the fit beside its scores

    @property
    def altered(self) -> bool:
        """Whether the data were changed or a part of the method taken out, which its name tells after a slash."""
        return bool(self.changes) or ABLATED in self.method

    @property
    def key(self) -> str:
        """Hash of all of it."""
        content = {name: value for name, value in asdict(self).items() if name in KEYED or value}
        return hashlib.sha256(to_json(content).encode()).hexdigest()

    @property
    def keys(self) -> set[str]:
        """Keys under which its outcome may be stored: its own, and those of the versions in `EARLIER`."""
        earlier = () if self.method == "LKG" else EARLIER
        return {self.key, *(replace(self, version=version).key for version in earlier)}


@dataclass(frozen=True)
class Record:
    """A trial and its outcome; a failure is an outcome, too."""

    trial: Trial
    status: str  # how the fit ended, "done" for methods without a status, or "failed" or "skipped"
    reason: str = ""  # why it failed or was skipped
    scores: Mapping[str, float] = field(default_factory=dict)  # the eight measures; for "mean20" their means
    deviations: Mapping[str, float] = field(default_factory=dict)  # of the measures over the runs, "mean20" only
    learned: Mapping[str, float] = field(default_factory=dict)  # weights of the kernels by name
    n_iter: int = 0
    seconds: float = 0.0  # of the fit alone
    machine: str = ""
    created: str = ""
    # What earlier versions recorded: parts of the fit, scores that need no classes, memory, what a search had found.
    kept: Mapping[str, Any] = field(default_factory=dict)
    label_free: Mapping[str, float] = field(default_factory=dict)
    peak_bytes: int = 0
    tuned: Mapping[str, float] = field(default_factory=dict)
    chosen: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether there are scores."""
        return self.status not in ("failed", "skipped")


def to_json(value: Any) -> str:
    """Return plain data as text, the same for equal data."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


class Folder:
    """Records of a folder; a trial that has one is not run again.

    Parameters
    ----------
    path : path
        Made when the first record is added.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.packed = self.path / "records.parquet"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out of the folder as long as this one lives."""
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path / "lock", timeout=0):
                yield
        except Timeout:
            raise LabError(f"another run works in {str(self.path)!r}; wait for it, or give another --out.") from None

    def add(self, record: Record) -> None:
        """Write a record, whole or not at all."""
        place = self.path / "records" / f"{record.trial.key}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_suffix(".part")
        unfinished.write_text(to_json(_row(record)), encoding="utf-8")
        unfinished.replace(place)

    def records(self) -> list[Record]:
        """Return all records, those that are not packed after the others, the newest of each trial."""
        packed = _read_packed(self.packed) if self.packed.exists() else []
        loose = [_read(path) for path in sorted((self.path / "records").glob("*.json"))]
        return list({record.trial.key: record for record in (*packed, *loose)}.values())

    def pack(self) -> None:
        """Put all records into one file, small enough to be kept beside the code."""
        with self.alone():
            rows = [_row(record) for record in sorted(read_records(self.path), key=lambda record: record.trial.key)]
            rows = [{**row, **{name: to_json(row[name]) for name in NESTED}} for row in rows]
            unfinished = self.packed.with_suffix(".part")
            parquet.write_table(pyarrow.Table.from_pylist(rows), unfinished, compression="zstd", compression_level=19)
            unfinished.replace(self.packed)
            for path in (self.path / "records").glob("*.json"):
                path.unlink()


def read_records(place: Path | str) -> list[Record]:
    """Return the records of a folder or of a packed file; one without records gets a sentence."""
    place = Path(place)
    found = _read_packed(place) if place.is_file() else Folder(place).records()
    if not found:
        raise LabError(f"{str(place)!r} holds no records; make some with python -m lab run FILE --out {place}.")
    return found


def _read_packed(path: Path) -> list[Record]:
    try:
        rows = parquet.read_table(path).to_pylist()
        rows = [{name: json.loads(row[name]) if name in NESTED else row[name] for name in row} for row in rows]
    except (OSError, pyarrow.ArrowException, ValueError) as error:
        raise LabError(f"{path} holds no records ({' '.join(str(error).split())}).") from None
    return [_record(row, path) for row in rows]


def _read(path: Path) -> Record:
    try:
        return _record(json.loads(path.read_text(encoding="utf-8")), path)
    except (OSError, ValueError) as error:
        raise LabError(f"{path} is no record ({error}); remove it, and its trial is run again.") from None


def _row(record: Record) -> dict[str, Any]:
    """Return a record as one flat table."""
    content = asdict(record)
    return {**content.pop("trial"), **content}


def _record(row: Mapping[str, Any], path: Path) -> Record:
    of_trial = {column.name for column in fields(Trial)}
    trial = {name: value for name, value in row.items() if name in of_trial}
    try:
        return Record(Trial(**trial), **{name: value for name, value in row.items() if name not in of_trial})
    except TypeError as error:  # a field that there is not, or one that is missing
        raise LabError(f"{path} is of another version ({error}); give another folder.") from None


def count_by_status(records: Iterable[Record]) -> dict[str, int]:
    """Return how many trials are done, failed and skipped, each counted once."""
    found = {"done": 0, "failed": 0, "skipped": 0}
    for record in records:
        found["done" if record.succeeded else record.status] += 1
    return found


def outside_study(records: Sequence[Record]) -> list[Record]:
    """Return the records that are not of the study."""
    return [record for record in records if not record.trial.study]
