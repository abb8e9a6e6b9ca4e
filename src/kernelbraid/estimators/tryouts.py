"""The settings that a search tries: checked, fitted over shared kernels, scored without labels, and explained."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from kernelbraid._arrays import to_numpy
from kernelbraid._messages import Message, join
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.reading import is_precomputed
from kernelbraid.kernels import resolve_bank
from kernelbraid.learning.candidates import Candidates, GivenKernels, Views
from kernelbraid.learning.counts import Counts
from kernelbraid.learning.fusion import learn_graph
from kernelbraid.learning.learn import LearnedGraph
from kernelbraid.learning.parallel import each
from kernelbraid.learning.readout import Reading, cluster, read_out
from kernelbraid.learning.reliability import judge
from kernelbraid.learning.settings import Settings, check_fusion
from kernelbraid.learning.views import WeighedViews, has_several, weigh
from kernelbraid.metrics import agreement, balance, kernel_silhouettes, modularity
from kernelbraid.solvers.status import Status

DOMINANT = 0.9  # share of the samples in one of three clusters or more that makes a result absurd
HIGH, LOW = 0.6, 0.3  # mean agreement of the settings above, and below which a sentence says so
ALIKE = 1e-6  # largest difference, relative to the largest entry, of kernels that are the same


@dataclass
class Member:
    """A setting that was tried."""

    params: dict[str, Any]
    labels: NDArray[np.int64]
    status: str
    seconds: float
    scores: dict[str, float] = field(default_factory=dict)
    fault: str = ""  # why it cannot be chosen
    graph: Any = None  # sparse, if it is kept


@dataclass(frozen=True)
class Tryout:
    """A setting that is to be tried: the estimator that would be fitted, and what its parameters mean."""

    params: dict[str, Any]
    model: LKG
    settings: Settings

    @property
    def bank(self) -> Hashable:
        """What tells the kernels of settings apart: equal ones count as the same, functions only if they are."""
        return _key(self.settings.kernels)

    def with_count(self, counts: Counts | None) -> "Tryout":
        """Return the setting with the number of clusters that was chosen, if it leaves it open."""
        if counts is None or self.settings.readout.n_clusters != "auto":
            return self
        readout = replace(self.settings.readout, n_clusters=counts.best)
        model = clone(self.model).set_params(n_clusters=counts.best)
        return Tryout(self.params, model, replace(self.settings, readout=readout))

    def sized(self, candidates: Candidates | WeighedViews) -> "Tryout":
        """Return the setting for these samples."""
        n_clusters, several = int(self.settings.readout.n_clusters), has_several(candidates)
        return replace(self, settings=self.settings.sized(candidates.n_samples, n_clusters, several=several))


@dataclass(frozen=True)
class Attempt:
    """What became of a tryout."""

    tryout: Tryout
    candidates: Candidates | WeighedViews
    learned: LearnedGraph  # with a kernel at most
    reading: Reading
    seconds: float

    def with_restarts(self, n_init: int, seed: int) -> "Attempt":
        """Return the same graph, clustered again with other restarts of k-means."""
        settings = replace(self.tryout.settings, readout=replace(self.tryout.settings.readout, n_init=n_init))
        tryout = Tryout(self.tryout.params, clone(self.tryout.model).set_params(n_init=n_init), settings)
        reading = cluster(self.reading.placed, settings.readout, random_state=np.random.RandomState(seed))
        return replace(self, tryout=tryout, reading=reading)

    def publish(self, seed: int) -> LKG:
        """Return the estimator with what was learned: fitted, though nobody called its ``fit``."""
        model, settings = self.tryout.model, self.tryout.settings
        model._publish(self.candidates, settings, self.learned, self.reading)
        model._explain(judge(self.reading, settings.readout, random_state=np.random.RandomState(seed)))
        return model


def check_tryouts(base: LKG, candidates: Sequence[Mapping[str, Any]]) -> list[Tryout]:
    """Return the settings of all candidates, or name the first that no fit can have, before anything is computed."""
    if not candidates:
        raise ValueError("candidates is an empty list; give at least one dict of parameters of LKG.")
    return [_check_tryout(base, params, f"candidates[{number}]") for number, params in enumerate(candidates)]


def _check_tryout(base: LKG, params: Any, where: str) -> Tryout:
    if not isinstance(params, Mapping):
        raise ValueError(f"{where}={params!r} is no dict; give parameters of LKG by their names.")
    known = base.get_params(deep=False)
    foreign = next((name for name in params if name not in known), None)
    if foreign is not None:
        raise ValueError(f"{where} sets {foreign!r}, which is no parameter of LKG; it has {', '.join(sorted(known))}.")
    model = clone(base).set_params(**params)
    try:
        model._validate_params()
        if "kernels" in params and model.kernels not in (None, "auto") and not is_precomputed(model.kernels):
            _check_bank(model.kernels)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if is_precomputed(model.kernels) != is_precomputed(base.kernels):
        asked = "kernels of its own" if is_precomputed(base.kernels) else "'precomputed' kernels"
        raise ValueError(f"{where} asks for {asked}, and the search was given others; leave out its 'kernels'.")
    given = {**model.get_params(deep=False), "keep_matrices": bool(model.keep_matrices)}
    settings = Settings.of(given)
    try:
        check_fusion(settings)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return Tryout(dict(params), model, settings)


def _key(kernels: object) -> Hashable:
    """Return a bank, or a list of banks, as something that can be looked up."""
    if isinstance(kernels, list | tuple):
        return tuple(map(_key, kernels))
    return kernels if isinstance(kernels, Hashable) else id(kernels)


def _check_bank(kernels: Any) -> None:
    """Refuse what is no bank, nor a list with one for each view."""
    if not isinstance(kernels, str) and kernels and all(isinstance(bank, str | list | tuple) for bank in kernels):
        for bank in kernels:
            resolve_bank(bank)
        return
    resolve_bank(kernels)


class Banks:
    """Candidate kernels over the same samples: each bank is posed once, and its average kept if there is room.

    Parameters
    ----------
    samples : Views or GivenKernels
        Checked samples.
    is_shared : bool
        Whether average kernels are kept for the next setting with the same bank.
    """

    def __init__(self, samples: Views | GivenKernels, *, is_shared: bool) -> None:
        self.samples, self.is_shared = samples, is_shared
        self._posed: dict[tuple[Hashable, bool], Candidates] = {}
        self._weighed: dict[Hashable, WeighedViews] = {}

    def weigh(self, settings: Settings) -> WeighedViews | None:
        """Return the views, weighed once for all settings that ask for the same; None where they are not."""
        if self.samples.n_views == 1 or not settings.is_trusting:
            return None
        key = _key(settings.view_weights if settings.view_weights is None else list(settings.view_weights))
        if key not in self._weighed:
            self._weighed[key] = weigh(self.samples, settings.view_weights)
        return self._weighed[key]

    def pose(self, tryout: Tryout) -> Candidates | WeighedViews:
        """Return the candidates of a setting; kernels whose weights are learned are stored."""
        weighed = self.weigh(tryout.settings)
        if weighed is not None and tryout.settings.fusion == "graphs":
            return weighed
        if weighed is not None:
            learned = not tryout.settings.learning.is_kernel_fixed
            return weighed.one_kernel_each(tryout.settings.kernels, learned=learned)
        stored = not tryout.settings.learning.is_kernel_fixed and tryout.model.storage != "lazy"
        key = (tryout.bank, stored)
        if key not in self._posed:
            kernels = tryout.settings.kernels
            self._posed[key] = self.samples.pose(kernels, stored=stored, is_shared=self.is_shared and not stored)
        return self._posed[key]


class Reference:
    """What all members are compared by: the mean of their kernels, so that none judges for itself."""

    def __init__(self) -> None:
        self.total: Any = 0.0
        self.seen: set[str] = set()
        self._first: Any = None
        self._differs = False

    def add(self, name: str, form: Callable[[], Any]) -> None:
        """Take a kernel in, once under each name."""
        if name in self.seen:
            return
        self.seen.add(name)
        K = to_numpy(form())
        if self._first is None:
            self.total = self._first = K
            return
        self.total = self.total + K
        if not self._differs:
            self._differs = not np.allclose(K, self._first, rtol=0, atol=ALIKE * float(np.abs(self._first).max()))

    @property
    def all_alike(self) -> bool:
        """Whether there were several kernels, all of them the same matrix."""
        return len(self.seen) > 1 and not self._differs

    def kernel(self) -> NDArray[np.float64]:
        """Return the mean."""
        return np.asarray(self.total if len(self.seen) == 1 else self.total / len(self.seen))


def attempt(
    candidates: Candidates | WeighedViews, settings: Settings, seed: int, callback: Any = None
) -> tuple[LearnedGraph, Reading, float]:
    """Learn and read out one setting; of its matrices a kernel stays that new samples or the user will ask for."""
    started = time.perf_counter()
    random_state = np.random.RandomState(seed)
    keep = isinstance(candidates, Candidates) and (settings.keep_matrices or candidates.bank is None)
    learned = learn_graph(candidates, settings, random_state=random_state, keep_kernel=keep, callback=callback)
    reading = read_out(learned, settings.readout, random_state=random_state)
    if not settings.keep_matrices:
        kernel = learned.K if keep or not settings.learning.is_kernel_fixed else None
        learned = replace(learned, Z=None, J=None, K=kernel)
    return learned, reading, time.perf_counter() - started


def attempts(tryouts: Iterable[Tryout], banks: Banks, seed: int, n_jobs: int | None) -> Iterator[Attempt]:
    """Yield what becomes of the settings, in their order, in this process or in several."""
    waiting: list[tuple[Tryout, Candidates | WeighedViews]] = []

    def tasks() -> Iterator[tuple[Any, ...]]:
        for tryout in tryouts:
            candidates = banks.pose(tryout)
            tryout = tryout.sized(candidates)
            waiting.append((tryout, candidates))
            if isinstance(candidates, Candidates) and candidates.is_shared:
                candidates.average()  # once, here: processes would form it again and again
            yield candidates, tryout.settings, seed, tryout.model.callback

    for learned, reading, seconds in each(attempt, tasks(), n_jobs):
        tryout, candidates = waiting.pop(0)
        yield Attempt(tryout, candidates, learned, reading, seconds)


def score_attempts(found: Sequence[Attempt], *, keep_graphs: bool) -> tuple[list[Member], Reference]:
    """Return the settings with their scores, and what they were compared by."""
    members = [member_of(attempt, keep_graph=keep_graphs) for attempt in found]
    reference = Reference()
    for attempt in found:
        if isinstance(attempt.candidates, WeighedViews):
            reference.add("views", attempt.candidates.average)
            continue
        fixed = attempt.tryout.settings.learning.is_kernel_fixed
        form = attempt.candidates.average if fixed else partial(getattr, attempt.learned, "K")
        reference.add(" + ".join(attempt.candidates.names), form)
    sound = [member for member in members if not member.fault]
    score_members(sound, reference.kernel())
    return members, reference


def agreed(members: Sequence[Member], best: Member) -> float:
    """Return how much of the clusters of a setting the others find, too, between 0 and 1; 1 if there are none."""
    others = [member for member in members if not member.fault]
    return max(best.scores["agreement"], 0.0) if len(others) > 1 and not best.fault else 1.0


def best_of(members: Sequence[Member], *, lead: float = 1.0, least: float = -np.inf) -> int:
    """Return the place of the sound setting with the largest score; the first one if none is sound.

    The first one also stays if it is sound and no score is larger than its own by that factor, or all are too small.
    """
    scores = np.array([-np.inf if member.fault else member.scores["score"] for member in members])
    best = int(np.argmax(scores))
    is_clear = scores[best] > lead * scores[0] and scores[best] >= least
    return best if members[0].fault or is_clear else 0


def member_of(attempt: Attempt, *, keep_graph: bool) -> Member:
    """Return what a search keeps of a setting, with those scores that need no other."""
    labels, placed = attempt.reading.labels, attempt.reading.placed
    member = Member(attempt.tryout.params, labels, str(attempt.learned.status), attempt.seconds)
    graph = placed.graph if sparse.issparse(placed.graph) else to_numpy(placed.graph)
    member.scores = {
        "modularity": modularity(graph, labels),
        "stability": 1.0 if attempt.reading.agreement is None else attempt.reading.agreement,
        "balance": balance(labels),
        "components": float(placed.n_components),
    }
    member.fault = _fault(member)
    if keep_graph:
        member.graph = sparse.csr_array(graph)
    return member


def _fault(member: Member) -> str:
    """Say why a setting cannot be chosen, nothing if it can."""
    if not Status(member.status).is_sound:
        return f"the fit ended with {member.status}"
    sizes = np.bincount(member.labels)
    if len(sizes) > 2 and sizes.max() > DOMINANT * sizes.sum():
        return f"one cluster holds {100 * sizes.max() / sizes.sum():.0f} % of the samples"
    return ""


def score_members(members: Sequence[Member], kernel: NDArray[np.float64]) -> None:
    """Compare sound settings with each other, and with the kernel that all were given."""
    silhouettes = kernel_silhouettes(kernel, [member.labels for member in members])
    agreements = agreement([member.labels for member in members])
    for member, silhouette, agrees in zip(members, silhouettes, agreements, strict=True):
        member.scores |= {"silhouette": float(silhouette), "agreement": float(agrees)}
        # One setting has nobody to agree with; the factors are not below zero, so that two bad ones do not make a good.
        factor = max(float(agrees), 0.0) if len(members) > 1 else 1.0
        member.scores["score"] = factor * max(member.scores["stability"], 0.0)


def explain(
    members: Sequence[Member], best: Member, available: int, seconds: float, all_alike: bool = False
) -> list[str]:
    """Return the search in sentences; the last one is a message if no setting is sound."""
    sound = [member for member in members if not member.fault]
    left = f" ({available - len(members)} more were left when the search ended)" if len(members) < available else ""
    fitted = f"{len(members)} setting{'s were' if len(members) > 1 else ' was'} fitted"
    told = [f"{fitted} in {seconds:.1f} s{left}; {len(sound)} of them {'is' if len(sound) == 1 else 'are'} sound."]
    faults = sorted({member.fault for member in members if member.fault})
    told += [f"Left out: {'; '.join(faults)}."] if faults else []
    chosen: str = "the setting of LKG as it comes"
    if best.params:
        parts = (Message(f"{{set.{name}:s}}", **{name: _show(value)}) for name, value in best.params.items())
        chosen = join(", ", parts)
    if not sound:
        told.append(
            Message(
                "No setting is sound, so the first one was kept ({chosen}); other kernels or scaled data may help.",
                chosen=chosen,
            )
        )
        return told
    told.append(Message("Chosen: {chosen}.", chosen=chosen))
    if len(sound) > 1:
        told.append(
            f"Its clusters agree with those of the other settings to a mean adjusted Rand index of "
            f"{best.scores['agreement']:.2f}. Their modularity in its graph is {best.scores['modularity']:.2f}, and "
            f"their silhouette under the average kernel {best.scores['silhouette']:.3f}."
        )
        mean = float(np.mean([member.scores["agreement"] for member in sound]))
        if mean >= HIGH:
            told.append(f"The settings agree well ({mean:.2f} on average): the clusters do not hang on the choice.")
        elif mean < LOW:
            told.append(f"The settings agree little ({mean:.2f} on average): take the clusters with caution.")
    if len(members) == 1 < available:
        told.append("That was one fit only, so nothing was compared; a larger budget compares settings.")
    if all_alike:
        told.append("All kernels are the same matrix on these samples, so that only the penalty was chosen.")
    return told


def _show(value: Any) -> str:
    """Return a parameter as words; kernels by their names."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(getattr(entry, "name", str(entry)) for entry in value) + "]"
    return f"{value:g}" if isinstance(value, Real) and not isinstance(value, Integral) else str(value)
