"""Settings of LKG tried without labels, scored, and explained."""

import math
import time
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from kernelbraid._arrays import to_numpy
from kernelbraid._messages import Message, install
from kernelbraid._threads import n_workers
from kernelbraid._typing import Parameters
from kernelbraid.estimators.base import (
    AUTO,
    COMPUTING,
    COUNT,
    Interval,
    StrOptions,
    fit_context,
    mark_input,
)
from kernelbraid.estimators.confident import ConfidenceMixin
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.reading import (
    check_memory,
    copy_features,
    n_found,
    read_samples,
    warn_of,
    warn_of_copies,
    warn_of_counts,
)
from kernelbraid.estimators.tryouts import (
    Attempt,
    Banks,
    Member,
    Tryout,
    agreed,
    attempts,
    best_of,
    check_tryouts,
    explain,
    score_attempts,
)
from kernelbraid.learning.candidates import GivenKernels, Views
from kernelbraid.learning.counting import count_if_asked
from kernelbraid.learning.counts import Counts
from kernelbraid.learning.fusion import count_fused
from kernelbraid.learning.identity import identities, row_digests
from kernelbraid.learning.readout import cluster, place_graph
from kernelbraid.learning.settings import Settings
from kernelbraid.ops.refinement import average_graphs

#: Weights of the penalty that are tried, in units of what :class:`LKG` takes for so many samples and clusters.
PARTS = (1.0, 1 / 3, 3.0)
#: Edges of each sample that are tried.
NEIGHBOURS = (10, 7, 15, 5)
#: The same for graphs of several views that are fused.
ALPHAS, FUSED_NEIGHBOURS = (1.0, 3.0, 30.0), (20, 10)
#: Factor by which the score of another setting must be larger than that of LKG as it comes.
LEAD = 1.3
#: And the least score of such a setting: where no two agree, a larger score is chance.
CLEAR = 0.8
#: What all candidates have in common: a fixed kernel, and a graph in closed form.
COMMON: dict[str, Any] = {"preset": "recommended", "gamma": math.inf}


def default_candidates(n_samples: int, n_clusters: int, *, several: bool = False) -> list[dict[str, Any]]:
    """Return the settings that a search tries, in the order in which it tries them.

    Parameters
    ----------
    n_samples, n_clusters : int
        What the weight of the penalty follows from.
    several : bool, default=False
        Whether there are several views, whose graphs are fused.
    """
    if several:
        fused = [{"alpha": alpha, "n_neighbors": few} for few in FUSED_NEIGHBOURS for alpha in ALPHAS]
        return [{}, {"assign_labels": "merge"}, *fused]
    default = Settings.of(COMMON).sized(n_samples, n_clusters)
    alpha, own = default.learning.alpha, default.readout.n_neighbors
    others = [count for count in NEIGHBOURS if count != own and count < n_samples]
    tried = [{"alpha": part * alpha, "n_neighbors": count} for count in (own, *others) for part in PARTS]
    return [{}, *tried[1:]]


@dataclass(frozen=True)
class SearchProgress:
    """Where a search stands."""

    done: int
    total: int
    seconds: float
    params: Parameters  # of the fit that has just ended


class LKGSearch(ConfidenceMixin, ClusterMixin, BaseEstimator):
    """Search for a setting of :class:`LKG` without labels.

    Fits a list of settings, leaves out those that broke down or found nothing, and chooses the one whose clusters most
    of the others find, too, however its graph is cut: the largest product of the mean adjusted Rand index with all
    other sound settings and of that between cuts of its own. Settings that suit the data tend to find the same
    clusters; those that do not, fail each in its own way. Of the default list, :class:`LKG` as it comes stays unless
    another setting has a score of at least 0.8 that is 1.3 times as large. ``why_`` explains the choice.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; ``"auto"`` chooses it first, as :class:`LKG` does, for all settings.
    candidates : list of dict, default=None
        Parameters of LKG to try, on top of those that all candidates share (a fixed kernel, the squared penalty); None
        tries LKG as it comes, and three weights of the penalty around its own with 5, 7, 10 and 15 neighbours; with
        several views LKG as it comes, with pieces joined, and three weights with 10 and 20 neighbours.
    kernels : {"samples", "precomputed"}, default="samples"
        What X holds.
    budget : int or float, default=None
        An int is the number of fits, taken from the start of the list; a float is a time in seconds, after which no
        fit is started. None fits all candidates. With a number of fits the result is deterministic.
    result : {"best", "consensus"}, default="best"
        ``labels_`` are those of the chosen setting, or those of a consensus: the average of the graphs of the better
        half of the sound settings, each with its degrees divided out, is clustered. On the data of the study the
        chosen setting is better on average.
    n_init : int, default=None
        Restarts of k-means for the chosen setting; as many as for the others, those of the preset, if None.
    memory_budget : float, default=None
        Bytes that a fit may use beside its input; what is free if None.
    device : str, default=None
        PyTorch device to compute on, such as ``"cuda"``; if None, the input decides.
    n_jobs : int, default=None
        Processes that try settings, each with one thread of BLAS. If None, one process, with threads as :class:`LKG`
        has them. -1 stands for all cores, -2 for all but one. The result does not depend on it.
    callback : callable, default=None
        ``callback(progress)`` is called after every fit; `progress` has the attributes ``done``, ``total``,
        ``seconds`` and ``params``. Returning True ends the search; what was found so far is kept.
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means, the same ones for all candidates; with an int those of :class:`LKG` with that int.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the chosen setting, or of the consensus.
    best_estimator_ : LKG
        Fitted with the chosen setting.
    best_params_ : dict
        Its parameters, as far as the candidates set them.
    best_index_ : int
        Its place in the list.
    candidate_labels_ : ndarray of shape (n_fits, n_samples)
        Clusters of every setting that was fitted, sound or not.
    n_clusters_ : int
        Number of clusters, given or chosen; fewer only if fewer samples are distinct, with a warning.
    n_clusters_evidence_ : dict of ndarray or None
        As for :class:`LKG`.
    n_components_ : int
        Connected components of the graph of the chosen setting.
    view_weights_ : ndarray of shape (n_views,)
        What each view counts in the chosen setting, as for :class:`LKG`.
    view_report_ : list of dict
        What is known of each view, as for :class:`LKG`.
    results_ : pandas DataFrame
        One row per setting: parameters, scores that need no classes, how the fit ended and how long it took. Needs
        pandas.
    membership_ : array of shape (n_samples, n_clusters)
        How far each sample belongs to each cluster, as for :class:`LKG`, by the graph of the chosen setting.
    confidence_ : array of shape (n_samples,)
        How sure each label is, as for :class:`LKG`.
    outlier_scores_ : array of shape (n_samples,)
        How far each sample stands aside, as for :class:`LKG`, under the kernels of the chosen setting.
    reliability_ : float
        How far the clusters can be relied on, between 0 and 1: that of the chosen setting, as for :class:`LKG`, times
        the mean adjusted Rand index of its clusters with those of the others.
    why_ : list of str
        What was tried, what was chosen, and how far it can be trusted.
    n_features_in_ : int
        Number of features, over all views.

    See Also
    --------
    LKG : One setting.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelbraid import LKGSearch
    >>> X = StandardScaler().fit_transform(load_wine().data)
    >>> search = LKGSearch(n_clusters=3, budget=10, random_state=0).fit(X)
    >>> search.labels_.shape
    (178,)
    """

    _parameter_constraints: ClassVar = {
        **COMPUTING,
        "n_clusters": [COUNT, AUTO],
        "result": [StrOptions({"best", "consensus"})],
        "n_init": [COUNT, None],
        "candidates": [list, tuple, None],
        "kernels": [StrOptions({"samples", "precomputed"})],
        "budget": [COUNT, Interval(Real, 0, None, closed="neither"), None],
        "callback": [callable, None],
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        candidates=None,
        kernels="samples",
        budget=None,
        result="best",
        n_init=None,
        memory_budget=None,
        device=None,
        n_jobs=None,
        callback=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.candidates = candidates
        self.kernels = kernels
        self.budget = budget
        self.result = result
        self.n_init = n_init
        self.memory_budget = memory_budget
        self.device = device
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state

    def __sklearn_tags__(self):
        return mark_input(super().__sklearn_tags__(), self.kernels)

    @fit_context(prefer_skip_nested_validation=False, jobs_are_threads=False)  # candidates come from the user
    def fit(self, X, y=None):
        """Try the settings and keep the best.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or stack of kernels
            As for :meth:`LKG.fit`; kernels with ``kernels="precomputed"``.
        y : None
            Ignored, here for scikit-learn.

        Returns
        -------
        LKGSearch
            The fitted search.
        """
        started, seed = time.perf_counter(), self._draw_seed()
        given = None if self.candidates is None else check_tryouts(self._base(seed), list(self.candidates))
        samples = read_samples(self, X, precomputed=self.kernels == "precomputed", gaps=True)
        counts = self._count(samples, seed)
        tryouts = given or check_tryouts(self._base(seed), self._candidates(samples, counts))
        banks = Banks(samples, is_shared=self._may_share(samples, tryouts))
        self._tell_of_views(banks, tryouts)
        found = self._try([tryout.with_count(counts) for tryout in tryouts], banks, seed, started)
        members, reference = score_attempts(found, keep_graphs=self.result == "consensus")
        best = best_of(members, lead=LEAD, least=CLEAR) if given is None else best_of(members)
        self._publish(members, found[best], counts, seed)
        told = explain(members, members[best], len(tryouts), time.perf_counter() - started, reference.all_alike)
        chosen = [] if counts is None else counts.sentences()
        self.why_ = [*chosen, *told, *self.best_estimator_.why_]
        self.reliability_ = self.best_estimator_.reliability_ * agreed(members, members[best])
        self._join(members, seed)
        warn_of_counts(counts)
        self._warn(members, told)
        warn_of_copies(self, self.best_estimator_.labels_, self.n_clusters if counts is None else counts.best)
        return self

    @property
    def results_(self):
        """One row per setting."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(f"results_ needs pandas; {install('io')}.") from None
        rows = [
            {
                **member.params,
                **member.scores,
                "status": member.status,
                "seconds": member.seconds,
                "fault": member.fault,
            }
            for member in self._members
        ]
        return pd.DataFrame(rows)

    def _membership(self) -> np.ndarray:
        """Return the memberships by the graph of the chosen setting, in its own clusters or in those of a consensus."""
        best, labels = self.best_estimator_, to_numpy(self.labels_)
        if np.array_equal(labels, to_numpy(best.labels_)):
            return to_numpy(best.membership_)
        return best._membership_of(labels)

    def _outlier_scores(self) -> np.ndarray:
        return to_numpy(self.best_estimator_.outlier_scores_)

    def _draw_seed(self) -> int:
        """Return the seed of every fit: one that is given itself, so that LKG as it comes finds what it would alone."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _base(self, seed: int) -> LKG:
        """Return the estimator that the candidates change; in several processes each has one thread."""
        threads = self.n_jobs if self.n_jobs is None else 1
        base = LKG(self.n_clusters, **COMMON, memory_budget=self.memory_budget, device=self.device, n_jobs=threads)
        return base.set_params(random_state=seed, kernels=self._bank())

    def _bank(self) -> str:
        """Return the kernels of a setting that names none."""
        return "precomputed" if self.kernels == "precomputed" else "auto"

    def _candidates(self, samples: Views | GivenKernels, counts: Counts | None) -> Sequence[Mapping[str, Any]]:
        """Return the settings for these samples and so many clusters."""
        n_clusters = self.n_clusters if counts is None else counts.best
        return default_candidates(samples.n_samples, n_clusters, several=samples.n_views > 1)

    def _may_share(self, samples: Views | GivenKernels, tryouts: Sequence[Tryout]) -> bool:
        """Refuse settings for which there is no room; tell whether the average of every bank can be kept as well."""
        fixed: dict[Hashable, Tryout] = {}
        for tryout in tryouts:
            if tryout.settings.learning.is_kernel_fixed:
                fixed[tryout.bank] = tryout
            self._check_memory(samples, tryout)
        try:
            return bool(fixed) and self._check_memory(samples, next(iter(fixed.values())), n_kept=len(fixed))
        except MemoryError:
            return False

    def _check_memory(self, samples: Views | GivenKernels, tryout: Tryout, n_kept: int = 0) -> bool:
        learning = tryout.settings.learning
        working = learning.working_matrices * (n_workers(self.n_jobs) or 1) + n_kept  # every process has its own
        storage = "lazy" if learning.is_kernel_fixed else "stored"
        check_memory(self, samples, tryout.settings.kernels, storage=storage, working=working)
        return True

    def _tell_of_views(self, banks: Banks, tryouts: Sequence[Tryout]) -> None:
        """Weigh the views, and warn of what that finds, once."""
        weighed = [found for found in (banks.weigh(tryout.settings) for tryout in tryouts) if found is not None]
        for warning in sorted({found.trust.warning for found in weighed if found.trust.warning is not None}):
            warnings.warn(warning, UserWarning, stacklevel=4)

    def _count(self, samples: Views | GivenKernels, seed: int) -> Counts | None:
        """Choose the number of clusters if it is not given, once for all settings."""
        if self.n_clusters != "auto":
            return None
        settings, banks = self._base(seed)._settings(), Banks(samples, is_shared=False)
        n_jobs = n_workers(self.n_jobs)
        weighed = banks.weigh(settings)
        if weighed is not None:
            return count_fused(weighed, settings, random_state=check_random_state(seed), n_jobs=n_jobs)
        candidates = banks.samples.pose(self._bank())
        return count_if_asked(candidates, "auto", random_state=check_random_state(seed), n_jobs=n_jobs)

    def _try(self, tryouts: Sequence[Tryout], banks: Banks, seed: int, started: float) -> list[Attempt]:
        """Fit settings until the budget is spent, the callback says so, or the user interrupts."""
        fits, seconds = self._limits(len(tryouts))
        found: list[Attempt] = []

        def in_time() -> Iterator[Tryout]:
            for tryout in tryouts[:fits]:
                longest = max((attempt.seconds for attempt in found), default=0.0)
                if found and time.perf_counter() - started + longest > seconds:
                    return
                yield tryout

        running = attempts(in_time(), banks, seed, n_workers(self.n_jobs))
        try:
            for attempt in running:
                found.append(attempt)
                progress = SearchProgress(len(found), fits, time.perf_counter() - started, attempt.tryout.params)
                if self.callback is not None and self.callback(progress):
                    break
        except KeyboardInterrupt:
            if not found:
                raise
        return found

    def _publish(self, members: list[Member], best: Attempt, counts: Counts | None, seed: int) -> None:
        """Set what was found; the chosen setting is clustered again if it is to have other restarts."""
        if self.n_init is not None:
            best = best.with_restarts(self.n_init, seed)
        self.best_index_ = next(i for i, member in enumerate(members) if member.params is best.tryout.params)
        self.best_params_ = dict(best.tryout.params)
        self.best_estimator_ = best.publish(seed)
        copy_features(self, self.best_estimator_)
        self.n_clusters_ = self.best_estimator_.n_clusters_
        self.n_clusters_evidence_ = None if counts is None else counts.columns()
        self.labels_, self.n_components_ = self.best_estimator_.labels_, self.best_estimator_.n_components_
        self.view_weights_, self.view_report_ = self.best_estimator_.view_weights_, self.best_estimator_.view_report_
        self.candidate_labels_ = np.stack([member.labels for member in members])
        self._members, self._certainty = members, {}

    def _join(self, members: Sequence[Member], seed: int) -> None:
        """Cluster the average of the graphs of the better half, if that is asked for."""
        sound = [member for member in members if not member.fault]
        if self.result != "consensus" or len(sound) < 2:
            return
        better = sorted(sound, key=lambda member: -member.scores["score"])[: (len(sound) + 1) // 2]
        given = {"n_clusters": self.n_clusters_, "n_jobs": self.n_jobs, "n_init": self.n_init}
        readout = Settings.of({"preset": COMMON["preset"], **given}).readout
        graph = average_graphs([member.graph for member in better])
        placed = place_graph(graph, readout, identities(row_digests([graph])))
        reading = cluster(placed, readout, random_state=check_random_state(seed))
        self.labels_, self.n_components_ = reading.labels, placed.n_components
        self.n_clusters_ = n_found(reading.labels)
        self.why_.append(f"The labels are those of a consensus: the average of the graphs of {len(better)} settings.")

    def _warn(self, members: Sequence[Member], told: Sequence[str]) -> None:
        """Warn if no setting is sound."""
        if all(member.fault for member in members):
            found = {"estimator": type(self).__name__, "fitted": told[0], "kept": told[-1]}
            warn_of(Message("{class.estimator}: {fitted} {kept}", **found), stacklevel=5)

    def _limits(self, available: int) -> tuple[int, float]:
        """Return how many fits may be made, and how many seconds they may take."""
        if self.budget is None:
            return available, math.inf
        if isinstance(self.budget, Integral):
            return min(int(self.budget), available), math.inf
        return available, float(self.budget)
