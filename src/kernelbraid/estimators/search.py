"""Settings of LKG tried without labels, scored, and explained."""

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kernelbraid.estimators.base import AUTO, COMPUTING, COUNT, Interval, StrOptions, fit_context, mark_input
from kernelbraid.estimators.candidates import cluster_graph, count_components
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.estimators.members import Member, Reference, explain, fit_member, score_members
from kernelbraid.estimators.presets import PRESETS
from kernelbraid.kernels import BANKS
from kernelbraid.ops.refinement import average_graphs

# Weights of the squared penalty, those that cover the range with few fits first; kernels have a diagonal of one.
ALPHAS = (1.0, 0.1, 0.3, 3.0, 0.03)
#: What all candidates have in common: a fixed kernel, a graph in closed form, its ten strongest edges a sample.
COMMON: dict[str, Any] = {"preset": "recommended", "gamma": math.inf}


def default_candidates(precomputed: bool = False) -> list[dict[str, Any]]:
    """Return the settings that a search tries, in the order in which it tries them.

    Parameters
    ----------
    precomputed : bool, default=False
        Whether the kernels are given, so that only their average can be tried.
    """
    banks: list[Any] = ["precomputed"]
    if not precomputed:
        middle, near = BANKS["middle"], BANKS["near"]
        banks = [*([kernel] for kernel in middle), list(middle), *([kernel] for kernel in near)]
    return [{"kernels": bank, "alpha": alpha} for alpha in ALPHAS for bank in banks]


@dataclass(frozen=True)
class SearchProgress:
    """Where a search stands."""

    done: int
    total: int
    seconds: float
    params: Mapping[str, Any]  # of the fit that has just ended


class LKGSearch(ClusterMixin, BaseEstimator):
    """Search for a setting of :class:`LKG` without labels.

    Fits a list of settings, leaves out those that broke down or found nothing, and chooses the one whose clusters most
    of the others find, too, and which are dense in its own graph: the largest product of the mean adjusted Rand index
    with all other sound settings and of the modularity. Settings that suit the data tend to find the same clusters;
    those that do not, fail each in its own way. ``why_`` explains the choice.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; ``"auto"`` chooses it first, as :class:`LKG` does, for all settings.
    candidates : list of dict, default=None
        Parameters of LKG to try, on top of those that all candidates share (a fixed kernel, the squared penalty, ten
        neighbours); None tries five weights of the penalty with each of seven kernels and with the average of four.
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
        Threads of BLAS during the fits, as for :class:`LKG`.
    callback : callable, default=None
        ``callback(progress)`` is called after every fit; `progress` has the attributes ``done``, ``total``,
        ``seconds`` and ``params``. Returning True ends the search; what was found so far is kept.
    random_state : int, RandomState instance or None, default=None
        Draws the starts of k-means, the same ones for all candidates.

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
        Number of clusters, given or chosen.
    n_clusters_evidence_ : dict of ndarray or None
        As for :class:`LKG`.
    n_components_ : int
        Connected components of the graph of the chosen setting.
    results_ : pandas DataFrame
        One row a setting: parameters, scores that need no classes, how the fit ended and how long it took. Needs
        pandas.
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

    @fit_context(prefer_skip_nested_validation=False)  # candidates come from the user
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
        started = time.perf_counter()
        precomputed = self.kernels == "precomputed"
        candidates = default_candidates(precomputed) if self.candidates is None else list(self.candidates)
        if not candidates:
            raise ValueError("candidates is an empty list; give at least one dict of parameters of LKG.")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        base = self._base(precomputed, seed)
        self._count(base, X)
        reference = Reference(keep_graphs=self.result == "consensus")
        members = list(self._try(base, candidates, X, reference, started))
        self.n_features_in_ = reference.n_features
        sound = [member for member in members if not member.fault]
        score_members(sound, reference.kernel())
        best = max(sound, key=lambda member: member.scores["score"]) if sound else members[0]
        self.best_index_ = members.index(best)
        self.best_params_ = dict(best.params)
        self.best_estimator_ = clone(base).set_params(**best.params)
        if self.n_init is not None:
            self.best_estimator_.set_params(n_init=self.n_init)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the same fit as before; why_ tells how it ended
            self.best_estimator_.fit(X)
        self.labels_, self.n_components_ = self.best_estimator_.labels_, self.best_estimator_.n_components_
        self.candidate_labels_ = np.stack([member.labels for member in members])
        self._members = members
        self.why_ = explain(members, best, len(candidates), time.perf_counter() - started, reference.all_alike)
        if self.result == "consensus" and len(sound) > 1:
            self._join(sound, seed)
        if not sound:
            warnings.warn(f"LKGSearch: {self.why_[0]} {self.why_[-1]}", ConvergenceWarning, stacklevel=2)
        return self

    @property
    def results_(self):
        """One row a setting."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("results_ is a pandas data frame; pip install 'kernelbraid[io]'.") from None
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

    def _join(self, sound: Sequence[Member], seed: int) -> None:
        """Cluster the average of the graphs of the better half."""
        better = sorted(sound, key=lambda member: -member.scores["score"])[: (len(sound) + 1) // 2]
        graph = average_graphs([member.graph.toarray() for member in better])
        _, _, found = cluster_graph(
            graph,
            self.n_clusters_,
            spectrum="largest",
            n_init=PRESETS["recommended"].n_init if self.n_init is None else self.n_init,
            restart_score="inertia",
            random_state=check_random_state(seed),
            samples=[graph],
            threads=self.n_jobs,
        )
        self.labels_, self.n_components_ = found.labels, count_components(graph)
        self.why_.append(f"The labels are those of a consensus: the average of the graphs of {len(better)} settings.")

    def _base(self, precomputed: bool, seed: int) -> LKG:
        """Return the estimator that the candidates change."""
        base = LKG(self.n_clusters, **COMMON, memory_budget=self.memory_budget, device=self.device, n_jobs=self.n_jobs)
        return base.set_params(random_state=seed, kernels="precomputed" if precomputed else "auto")

    def _count(self, base: LKG, X: Any) -> None:
        """Choose the number of clusters if it is not given, and tell the estimator that the candidates change."""
        self.n_clusters_, self.n_clusters_evidence_ = self.n_clusters, None
        if self.n_clusters == "auto":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                counted = clone(base).set_params(n_init=1).fit(X)
            self.n_clusters_, self.n_clusters_evidence_ = counted.n_clusters_, counted.n_clusters_evidence_
            base.set_params(n_clusters=self.n_clusters_)

    def _try(
        self, base: LKG, candidates: Sequence[Mapping[str, Any]], X: Any, reference: "Reference", started: float
    ) -> Iterator[Member]:
        """Yield a member a setting until the budget is spent, the callback says so, or the user interrupts."""
        fits, seconds = self._limits(len(candidates))
        longest = 0.0
        for number, params in enumerate(candidates[:fits], 1):
            elapsed = time.perf_counter() - started
            if number > 1 and elapsed + longest > seconds:
                return
            try:
                member = fit_member(clone(base).set_params(**params), dict(params), X, reference)
            except KeyboardInterrupt:
                if number == 1:
                    raise
                return
            longest = max(longest, member.seconds)
            yield member
            progress = SearchProgress(number, fits, time.perf_counter() - started, params)
            if self.callback is not None and self.callback(progress):
                return

    def _limits(self, available: int) -> tuple[int, float]:
        """Return how many fits may be made, and how many seconds they may take."""
        if self.budget is None:
            return available, math.inf
        if isinstance(self.budget, Integral):
            return min(int(self.budget), available), math.inf
        return available, float(self.budget)
