"""Labels and coordinates for samples that a fit has not seen, and how sure each label is."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelbraid._arrays import beside, is_on_host, to_numpy
from kernelbraid._machine import calm, n_workers
from kernelbraid._typing import Array, Input
from kernelbraid.estimators.base import ViewReport, as_published
from kernelbraid.estimators.dask_views import DaskViews, Question, answers, joined
from kernelbraid.estimators.reading import holds_dask, read_new
from kernelbraid.learning.confidence import evened, memberships, of_labels, one_hot, shares_of
from kernelbraid.learning.counting import network_of
from kernelbraid.learning.extend import AT_ONCE, DEVICE_SHARE, Extension, NewSamples, Placement, Placing, with_rows
from kernelbraid.learning.levels import Level, reliability_of, sentences
from kernelbraid.learning.outliers import Reach, outlier_scores
from kernelbraid.learning.readout import PlacedGraph, Reading, in_words, parts_in_words
from kernelbraid.learning.sources import Samples
from kernelbraid.learning.vertices import Vertices

#: Share of the labels of new samples that must stay where they are compared with fewer fitted ones.
ALIKE = 0.999
#: Attributes that are worked out when they are first asked for.
LAZY = ("embedding_", "membership_", "confidence_", "outlier_scores_", "reliability_", "why_")


class InductiveMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What a clusterer that has learned a graph tells on request: of new samples, and how sure each label is.

    The fit sets ``_fitted``, and ``_certainty`` to an empty dictionary, which keeps what was asked for, also in a file.
    """

    _fitted: Extension
    _vertices: Vertices
    _silent_edges: Array
    _silent_scores: np.ndarray
    levels_: list[Level] | None
    views_: ViewReport
    n_components_: int
    _certainty: dict[str, Any]
    _evidence_: Callable[[], tuple[float, list[str]]]
    _show: Callable[[Reading, Array], None]
    graph_: Array
    labels_: Array
    n_clusters_: int
    n_jobs: int | None

    @property
    def _n_features_out(self) -> int:
        return self._fitted.placement.n_components

    def transform(self, X):
        """Return the coordinates of samples in the embedding that was clustered.

        A sample is expressed by the fitted ones in the feature space of the learned kernel, and its strongest edges
        place it among them. Fitted samples have their row of ``embedding_``.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as in ``fit``. With precomputed kernels: their values between new samples (rows) and fitted ones
            (columns), a matrix for each kernel.

        Returns
        -------
        array of shape (n_samples, n_clusters)
            Coordinates.
        """
        return self._ask(X, "coordinates")

    def predict(self, X):
        """Return the clusters of samples: the nearest centre in the embedding.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as for :meth:`transform`.

        Returns
        -------
        array of shape (n_samples,)
            Labels; those of ``labels_`` for fitted samples.
        """
        return self._ask(X, "nearest")

    @property
    def _vertex_labels(self) -> np.ndarray:
        """The labels of the distinct samples."""
        return to_numpy(self.labels_)[self._vertices.first]

    def predict_proba(self, X):
        """Return how far samples belong to each cluster: the mean of ``membership_`` over their neighbours.

        The largest entry of a row need not be that of :meth:`predict`, which takes the nearest centre: such labels are
        the least sure ones. A sample that is farther from its neighbours than any fitted one from its own comes near
        even shares: there, nobody is sure.

        Parameters
        ----------
        X : matrix of shape (n_samples, n_features), list of such matrices, or kernels
            Samples as for :meth:`transform`.

        Returns
        -------
        array of shape (n_samples, n_clusters)
            Rows sum to one; those of ``membership_`` for fitted samples.
        """
        check_is_fitted(self)
        known = to_numpy(self.membership_)[self._vertices.first]
        return self._shares(X, known, lambda edges: shares_of(edges @ known))

    def _shares(self, X: Input, known: np.ndarray, along: Callable[[Array], np.ndarray]) -> Array:
        """Return what comes to samples along their edges, as far as neighbours speak for them; some are known."""
        fitted, reach = self._fitted, Reach.of(self._fitted.samples(), self._fitted.placement.graph)

        def answer(new: NewSamples) -> np.ndarray:
            edges, places = fitted.edges(new), fitted.known(new)
            return np.where((places >= 0)[:, None], known[places], evened(along(edges), reach.holds(new, edges)))

        return self._answers(X, answer)

    @property
    def _placing(self) -> Placing:
        """What new samples are asked about."""
        return Placing(self._fitted, self._vertex_labels)

    def _ask(self, X: Input, what: str) -> Array:
        check_is_fitted(self)
        return self._answers(X, getattr(self._placing, what))

    def _answers(self, X: Input, question: Question) -> Array:
        """Return what is said of samples: of those in Dask collections by workers, when it is needed."""
        if holds_dask(X):
            return DaskViews.open(self, X, reset=False).later(question)
        with calm(n_workers(self.n_jobs)):
            found = [question(part) for part in read_new(self, X, self._fitted).in_blocks()]
        return beside(found[0] if len(found) == 1 else joined(found), self.labels_)

    def _kept_samples(self) -> dict[int, tuple[np.ndarray, Array]]:
        """Return for every view that is kept which samples it has, and what it has of them."""
        index, kept = self._vertices.index, {}
        for view, (rows, A) in self._fitted.samples().items():
            place = np.full(len(self._vertices.first), -1)
            place[slice(None) if rows is None else rows] = np.arange(A.shape[0])
            at = np.where(index >= 0, place[index], -1)
            own = np.flatnonzero(at >= 0)
            kept[view] = own, (A if sparse.issparse(A) else to_numpy(A))[at[own]]
        return kept

    def at_level(self, level):
        """Return the same fit, read out at another level: nothing is learned anew.

        Parameters
        ----------
        level : int
            Place in ``levels_``, from the coarsest, 0, on.

        Returns
        -------
        LKG
            A fitted copy with the labels of the level, and what hangs on them; the graph is shared.
        """
        check_is_fitted(self)
        if self.levels_ is None:
            raise ValueError(
                f"n_clusters={self.n_clusters!r} was given, so that there are no levels; fit with n_clusters='auto'."
            )
        if not isinstance(level, int | np.integer) or not 0 <= level < len(self.levels_):
            raise ValueError(f"there is no level {level!r}: levels_ has {len(self.levels_)}, counted from 0.")
        other, before = copy(self), self._fitted.placement
        labels = self.levels_[level].labels[self._vertices.first]
        placement = Placement(before.graph, int(labels.max()) + 1, before.spectrum, before.n_jobs)
        other._fitted = replace(self._fitted, placement=placement)
        other._show(Reading(PlacedGraph(placement, np.arange(len(labels))), labels), self.labels_)
        silent = self._vertices.silent
        if len(silent):
            embedding, every = (np.require(to_numpy(A), requirements="W") for A in (other.embedding_, other.labels_))
            placed, every[silent] = other._placing.by_edges(self._silent_edges, np.full(len(silent), -1))
            embedding[silent] = to_numpy(placed)
            other._certainty["embedding"], other.labels_ = embedding, as_published(self, self.labels_, every)
        taken = [replace(one, is_taken=place == level) for place, one in enumerate(self.levels_)]
        other._evidence_ = other._of_level(replace(taken[level], labels=labels), sentences(taken))
        other.levels_ = [replace(one, labels=other._spread_labels(one)) if one.is_taken else one for one in taken]
        return other

    def _spread_labels(self, level: Level) -> np.ndarray:
        """Return the labels of all samples at a level; of silent ones, where most of their edges go."""
        if level.is_taken and level.n_clusters == self.n_clusters_:
            return to_numpy(self.labels_)
        everybody = self._vertices.spread(level.labels)
        if len(self._vertices.silent):
            shares = self._silent_edges @ one_hot(level.labels, level.n_clusters)
            everybody[self._vertices.silent] = shares.argmax(axis=1)
        return everybody

    def _of_level(self, level: Level, told: list[str]) -> Callable[[], tuple[float, list[str]]]:
        """Return what finds how far a level of the graph can be relied on, and why; it does not hold the estimator."""
        parts = parts_in_words(self.n_components_, self.n_clusters_)
        return partial(account_of_level, self._fitted.placement.graph, level, told, parts)

    def _told(self) -> tuple[float, list[str]]:
        """Return how far the clusters can be relied on, and why."""
        told = self._known("told", lambda: self._evidence_())
        self.__dict__.pop("_evidence_", None)  # kept until now, in case that somebody interrupts
        return told

    def __getstate__(self):
        if "_evidence_" in vars(self):  # which can be neither copied nor saved
            self._told()
        if "labels_" in vars(self):
            self._known("embedding", self._embedding)
        return super().__getstate__()

    @property
    def reliability_(self):
        """How far the clusters can be relied on."""
        return self._told()[0]

    @property
    def why_(self):
        """Why they can be relied on so far, in sentences."""
        return self._told()[1]

    @property
    def embedding_(self):
        """Coordinates of the samples."""
        return beside(self._known("embedding", self._embedding), self.labels_)

    def _embedding(self) -> np.ndarray:
        return self._vertices.spread(to_numpy(self._fitted.placement.embedding).copy())

    @property
    def membership_(self):
        """How far each sample belongs to each cluster."""
        return beside(self._known("membership", self._membership), self.labels_)

    @property
    def confidence_(self):
        """How sure each label is."""
        return beside(of_labels(self._known("membership", self._membership), to_numpy(self.labels_)), self.labels_)

    @property
    def outlier_scores_(self):
        """How far each sample stands aside."""
        return beside(self._known("outlier_scores", self._outlier_scores), self.labels_)

    def _known(self, name: str, find: Callable[[], Any]) -> Any:
        """Return what was found before, or find it now."""
        check_is_fitted(self)
        if name not in self._certainty:
            self._certainty[name] = find()
        return self._certainty[name]

    def _membership(self) -> np.ndarray:
        """Return the memberships of all samples in clusters of the graph that was learned."""
        fitted, vertices = self._fitted, self._vertices
        placement, threads = fitted.placement, n_workers(self.n_jobs)
        of_vertices = (placement.graph, to_numpy(placement.embedding), self._vertex_labels, self.n_clusters_)
        found = memberships(*of_vertices, spectrum=placement.spectrum, copies=fitted.copies, threads=threads)
        everybody = vertices.spread(found)
        if len(vertices.silent):
            everybody[vertices.silent] = shares_of(self._silent_edges @ found)
        return everybody

    def _outlier_scores(self) -> np.ndarray:
        vertices = self._vertices
        everybody = vertices.spread(outlier_scores(self._fitted.placement.graph, self._fitted.unexplained()))
        if len(vertices.silent):
            everybody[vertices.silent] = self._silent_scores
        return everybody

    def _label_silent(self, samples: Samples) -> None:
        """Place and label samples that count nothing, as new ones are."""
        vertices, here, found, aside = self._vertices, partial(as_published, self, samples.like), [], []
        embedding, every = (np.require(to_numpy(A), requirements="W") for A in (self.embedding_, self.labels_))
        shares = None if self.views_.shares is None else np.require(to_numpy(self.views_.shares), requirements="W")
        known = None if shares is None else shares[vertices.first]
        measured = np.stack(samples.measured, axis=1)
        at_once = AT_ONCE if is_on_host(samples.there) else AT_ONCE * DEVICE_SHARE
        placing = self._placing_of_many(samples, at_once)
        self._fitted = placing.fitted
        for rows, told in answers(samples, vertices.silent, placing.everything, at_once):
            edges, placed, every[rows], scores = told
            embedding[rows] = to_numpy(placed)
            if shares is not None:
                shares[rows] = shares_of((edges @ known) * measured[rows])
            found.append(edges)
            aside.append(scores)
        self._certainty["embedding"], self.labels_ = embedding, here(every)
        self.views_ = replace(self.views_, shares=None if shares is None else here(shares))
        for member in placing.fitted.members:
            member.relation.move(here)
        self._silent_scores = np.concatenate(aside)
        self._silent_edges = sparse.vstack(found, format="csr")
        if sparse.issparse(self.graph_):
            self.graph_ = with_rows(self.graph_, self._silent_edges, vertices.silent, vertices.first)

    def _placing_of_many(self, samples: Samples, at_once: int) -> Placing:
        """Return what places silent samples: by fewer of the fitted ones, where that gives them the same labels."""
        silent, placing = self._vertices.silent, self._placing
        if len(silent) <= at_once:
            return placing
        tried = NewSamples.of_samples(samples.some(silent[:: len(silent) // AT_ONCE][:AT_ONCE]))
        members = [replace(member, relation=member.relation.fewer()) for member in placing.fitted.members]
        fewer = replace(placing, fitted=replace(placing.fitted, members=members))
        return fewer if np.mean(placing.nearest(tried) == fewer.nearest(tried)) >= ALIKE else placing


def account_of_level(graph: Array, level: Level, told: list[str], parts: str) -> tuple[float, list[str]]:
    """Return how far a level of a graph can be relied on, and why, beside what is told already."""
    reliability = reliability_of(network_of(graph), level)
    return reliability, [*told, in_words(reliability), parts]
