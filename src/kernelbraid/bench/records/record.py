"""What was run and what came out: trials, and records of them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias, TypedDict

from kernelbraid._typing import Parameters

#: What JSON can say, with tuples for lists.
Json: TypeAlias = "bool | float | str | Sequence[Json] | Mapping[str, Json] | None"
#: Changes of the data by name, each with its level, and the name of a kernel if one of them is about a kernel.
Changes: TypeAlias = Mapping[str, float | str]
#: Those that add so many views.
ADDED_VIEWS = ("useless_views", "noise_views", "decoys", "shuffled_views", "copies", "nuisance", "row_sums")
#: ``"best100"``: one k-means, best of 100 restarts, scored once; ``"mean20"``: mean and deviation over 20 runs.
#: ``"once"``: one fit with the restarts that the method has by itself, and the seed as its `random_state`.
Scoring: TypeAlias = Literal["best100", "mean20", "once"]
#: Scorings behind the figures of the paper.
SCORINGS: tuple[Scoring, ...] = ("best100", "mean20")
#: All of them.
EVERY_SCORING: tuple[Scoring, ...] = (*SCORINGS, "once")
# Fields that every key holds; those that came later only count where they are not empty, so that old keys stay valid.
KEYED = ("data", "checksum", "method", "scoring", "bank", "kernel", "parameters", "seed", "version")
#: Versions before this one whose records are taken as they are: trials that they ran are not run again. A version that
#: means to change what methods give empties the list.
EARLIER = ("0.1.0",)

# Between the name of a method and the part that is taken out of it.
ABLATED = "/"
#: Parts of the study of what is found without labels, see `bench.results.study`, for several views
#: `bench.results.views`, and for all methods `bench.results.comparison`; no other table shows their trials.
STUDIES = ("label-free", "candidates", "baselines", "views", "comparison")


class KernelPicture(TypedDict):
    """A consensus kernel, small, its samples ordered by cluster."""

    image: list[list[float | None]]  # means over blocks of samples
    sizes: list[int]  # of the clusters, in the order of the image


class Kept(TypedDict, total=False):
    """What a record keeps of a fit where its trial asks for it."""

    history: dict[str, list[float | None]]  # numbers of each quantity, one per step
    kernel: KernelPicture


@dataclass(frozen=True)
class Trial:
    """What is run: everything that decides the outcome."""

    data: str  # name of the data set
    checksum: str  # of its samples and classes
    method: str
    scoring: Scoring
    bank: str = ""  # bank of kernels; "" for a method on features
    kernel: str = ""  # the one kernel of a method that takes one; "" otherwise
    parameters: Parameters = field(default_factory=dict)
    seed: int = 0
    version: str = ""  # of the package
    changes: Changes = field(default_factory=dict)  # of the data, see `kernelbraid.bench.trials.corruption`
    keep: tuple[str, ...] = ()  # what of the fit is kept beside its scores, see `kernelbraid.bench.records.snapshots`
    study: str = ""  # one of `STUDIES`; "" for the experiments of the paper
    code: str = ""  # checksum or version of a method that is not ours; "" for one of `kernelbraid.bench.COMPARED`

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(sorted(set(self.keep))))  # a list once it was JSON

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
        return {self.key, *(replace(self, version=version).key for version in EARLIER)}


@dataclass(frozen=True)
class Record:
    """A trial and its outcome; a failure is an outcome, too."""

    trial: Trial
    status: str  # how the fit ended, "done" for methods without a status, or "failed" or "skipped"
    reason: str = ""  # why it failed or was skipped
    scores: Mapping[str, float] = field(default_factory=dict)  # the eight measures; for "mean20" their means
    deviations: Mapping[str, float] = field(default_factory=dict)  # of the measures over the runs, "mean20" only
    label_free: Mapping[str, float] = field(default_factory=dict)  # scores that need no classes
    learned: Mapping[str, float] = field(default_factory=dict)  # weights of the kernels by name
    n_iter: int = 0
    seconds: float = 0.0  # of the fit alone
    peak_bytes: int = 0  # of the process until then
    machine: str = ""
    created: str = ""
    kept: Kept = field(default_factory=Kept)  # what the trial asked to keep of the fit
    tuned: Mapping[str, float] = field(default_factory=dict)  # of a search: each measure's best candidate, by label
    chosen: str = ""  # of a search: the setting that it chose without labels, in words

    @property
    def succeeded(self) -> bool:
        """Whether there are scores."""
        return self.status not in ("failed", "skipped")


def to_json(value: Json) -> str:
    """Return plain data as text, the same for equal data; infinity is a number in it, NaN is refused."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
        json.loads(text, parse_constant=_check_constant)
        return text


def _check_constant(name: str) -> float:
    if name == "NaN":
        raise ValueError("NaN is no number that a record can hold.")
    return float(name)
