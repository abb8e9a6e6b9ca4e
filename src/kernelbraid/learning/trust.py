"""Whom to trust among several views: those that find the same neighbours as another one.

Every sample has its nearest neighbours in a view: 3, 5, 10 and 20 of them, so that near ones count more, and wherever
a view is clear it is heard. For two views the neighbours that they share are compared with what they would share if the
samples of one changed places at random: mean and variance under all permutations are known exactly (Mantel), hubs,
copies and clusters of either view included. A view that agrees with no other is left out: nothing that several views
know can come from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from kernelbraid._arrays import kth_of_rows, peaks_of_rows
from kernelbraid._typing import Array

NEIGHBOURS = (3, 5, 10, 20)
#: Deviations above the mean of chance from which two views agree.
LEVEL = 5.0
#: Share of common neighbours, as a cosine, from which a view is a copy of another.
COPY = 0.99
#: Samples from which the neighbours of two views can be compared, and from which they tell a copy.
LEAST, ENOUGH = 20, 60
#: Samples that tell: more would only cost.
TELLING = 3000
# Similarities that differ by less, relative to the largest, are tied: copies of a sample differ by rounding.
TIED = 1e-10

#: Views that are trusted, why each of all is or is not, and what a user is told.
Verdict: TypeAlias = tuple[list[int], list[str], list[str]]


@dataclass(frozen=True)
class Trust:
    """What views say of each other."""

    agreement: NDArray[np.float64]  # (m, m): deviations above chance; NaN for a view with itself
    trusted: NDArray[np.bool_]  # (m,)
    counted: NDArray[np.bool_]  # (m,): trusted, and no copy of another
    reasons: list[str]  # (m,)
    warning: str | None = None  # what a user should be told

    def weighing(self, weights: NDArray[np.float64]) -> "Trust":
        """Return what was measured, for views whose weights were given."""
        used = weights > 0
        return Trust(self.agreement, used, used, ["has the weight that was given" for _ in used])


def judge(
    graphs: Sequence[Array],
    measured: Sequence[NDArray[np.bool_]],
    halves_agree: Callable[[int], bool | None],
    are_equal: Callable[[int, int], bool],
    graph_among: Callable[[int, NDArray[np.int64]], Array],
) -> Trust:
    """Tell which views to trust.

    Parameters
    ----------
    graphs : sequence of csr arrays of shape (n, n)
        Of nearest neighbours, one per view: :func:`neighbour_graph`.
    measured : sequence of ndarray of shape (n,)
        Which samples each view has.
    halves_agree : callable
        Tells whether two halves of the features of a view agree with each other; None if it has no two. Asked where no
        two views agree.
    are_equal : callable
        Tells whether two views hold the same numbers, shifted and scaled at most.
    graph_among : callable
        Returns the graph of nearest neighbours of a view among some of its samples: those that another one has, too.

    Returns
    -------
    Trust
        Views that agree with another one; of several camps the largest, and the one of the first view if they are
        equal. If no two views agree, those whose own features do; if none does, or none has features, all of them.
    """
    m = len(graphs)
    if len(measured[0]) < LEAST:
        everybody = np.ones(m, dtype=bool)
        reason = f"is not compared with the others, for which {LEAST} samples are needed"
        return Trust(np.full((m, m), np.nan), everybody, everybody, [reason] * m)
    agreement, cosines = _compare(graphs, measured, graph_among)
    originals = _originals(cosines >= COPY if len(measured[0]) >= ENOUGH else np.zeros_like(cosines, bool), are_equal)
    distinct = [i for i, source in enumerate(originals) if source == i]
    joined = agreement[np.ix_(distinct, distinct)] > LEVEL
    _, part = connected_components(sparse.csr_array(joined), directed=False)
    groups = [[i for i, mine in zip(distinct, part, strict=True) if mine == number] for number in range(max(part) + 1)]
    camps = sorted((group for group in groups if len(group) > 1), key=lambda camp: (-len(camp), camp[0]))
    found = _follow(camps, originals, agreement) if camps else _undecided(distinct, originals, halves_agree)
    kept, reasons, told = found
    for i, source in enumerate(originals):
        if source != i:
            reasons[i] = f"is a copy of view {source + 1}, and counts once with it"
    trusted = np.array([source in kept for source in originals])
    warning = f"of the views of X, {'; '.join(told)}; views_ says more." if told else None
    return Trust(agreement, trusted, trusted & (originals == np.arange(m)), reasons, warning)


def _compare(
    graphs: Sequence[Array],
    measured: Sequence[NDArray[np.bool_]],
    graph_among: Callable[[int, NDArray[np.int64]], Array],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return deviations above chance and cosines of all pairs, over the samples that both views have."""
    m = len(graphs)
    found = np.full((2, m, m), np.nan)
    for j, i in combinations(range(m), 2):
        rows = np.flatnonzero(measured[i] & measured[j])
        if len(rows) < LEAST:
            found[0, i, j] = found[0, j, i] = 0.0
            continue
        have_all = len(rows) == len(measured[i])
        A, B = (graphs[view] if have_all else graph_among(view, rows) for view in (i, j))
        found[:, i, j] = found[:, j, i] = deviations(A, B)
    return found[0], found[1]


def _originals(alike: NDArray[np.bool_], are_equal: Callable[[int, int], bool]) -> list[int]:
    """Return the first view of which each is a copy; itself for one that is none."""
    found: list[int] = []
    for j in range(len(alike)):
        same = [found[i] for i in range(j) if alike[i, j] or are_equal(i, j)]
        found.append(same[0] if same else j)
    return found


def _follow(camps: list[list[int]], originals: list[int], agreement: NDArray[np.float64]) -> Verdict:
    """Trust the first camp, and say why the others are left out."""
    reasons: list[str] = []
    for i, source in enumerate(originals):
        others = np.array([other != source for other in originals])
        best = int(np.argmax(np.where(others, np.nan_to_num(agreement[i], nan=-np.inf), -np.inf)))
        camp = next((camp for camp in camps if source in camp), None)
        if camp is camps[0]:
            reasons.append(
                f"shares neighbours with view {best + 1} ({agreement[i, best]:z.1f} deviations above chance)"
            )
        elif camp is not None:
            reasons.append(
                f"shares neighbours with view {best + 1}, but not with the {len(camps[0])} views that are followed"
            )
        else:
            reasons.append(
                f"shares neighbours with no other view ({agreement[i, best]:z.1f} deviations above chance at most, and "
                f"{LEVEL:g} are needed)"
            )
    told = []
    alone = [i for i, source in enumerate(originals) if not any(source in camp for camp in camps)]
    if alone:
        share, are = ("shares", "is") if len(alone) == 1 else ("share", "are")
        told.append(f"{names_of(alone)} {share} neighbours with no other view and {are} left out")
    if len(camps) > 1:
        why = ", being more" if len(camps[0]) > len(camps[1]) else " for the first view"
        told.append(
            f"the views fall into camps that disagree: {names_of(camps[0])} are followed{why}, "
            f"{' and '.join(map(names_of, camps[1:]))} not; to follow another camp, give its views alone, or "
            "view_weights with zeros for the rest"
        )
    return camps[0], reasons, told


def _undecided(distinct: list[int], originals: list[int], halves_agree: Callable[[int], bool | None]) -> Verdict:
    """Leave out views that do not even agree with themselves, if others do; otherwise trust all, and say so."""
    says = {i: halves_agree(i) for i in distinct} if len(distinct) > 1 else {}
    empty = [i for i in distinct if says.get(i) is False] if any(says.values()) else []
    kept = [i for i in distinct if i not in empty]
    reasons = [_reason(i in empty, len(kept), len(distinct)) for i in range(len(originals))]
    told = []
    if empty:
        say, are = ("says", "is") if len(empty) == 1 else ("say", "are")
        told.append(f"{names_of(empty)} {say} nothing and {are} left out")
    if len(kept) > 1:
        told.append(
            f"no two agree more than chance has it, so that {names_of(kept)} are all used, and the clusters may mean "
            "little: look at the views one by one"
        )
    elif len(originals) > 1:
        copies = originals.count(kept[0]) - 1
        copied = "" if not copies else ", and a copy of it" if copies == 1 else f", and {copies} copies"
        told.append(f"one is left, {names_of(kept)}{copied}")
    return kept, reasons, told


def _reason(is_empty: bool, n_kept: int, n_distinct: int) -> str:
    """Say why a view is trusted, or not, where no two agree."""
    if is_empty:
        return "shares neighbours with no other view, nor do two halves of its features with each other"
    if n_distinct == 1:
        return "is the only one"
    if n_kept == 1:
        return "shares neighbours with no other view, but two halves of its features do with each other"
    return "shares neighbours with no other view, as is true of all: nothing speaks for one of them"


def names_of(views: Sequence[int]) -> str:
    """Return what one view or several are called: by their numbers, counted from 1."""
    return f"view{'' if len(views) == 1 else 's'} {', '.join(str(view + 1) for view in views)}"


def nearest_in(graph: Array, n_neighbors: Sequence[int] = NEIGHBOURS, tolerance: float | None = None) -> Array:
    """Return the symmetric graph of nearest neighbours among the edges that there are; ties share the last place.

    Parameters
    ----------
    graph : csr array of shape (n, n)
        Large for samples that are near each other; nothing on the diagonal.
    n_neighbors : sequence of int, default=(3, 5, 10, 20)
        Of each sample, in graphs that are summed; all that it has where those are fewer.
    tolerance : float, default=None
        By how much edges that tie may differ; if None, by rounding errors of the largest.

    Returns
    -------
    csr array of shape (n, n)
        Each of the graphs has a sum of one for every sample before it is made symmetric.
    """
    n, counts = graph.shape[0], np.diff(graph.indptr)
    row = np.repeat(np.arange(n), counts)
    order = np.lexsort((-graph.data, row))
    weights, columns = graph.data[order].astype(np.float64), graph.indices[order]
    tolerance = TIED * weights.max(initial=0.0) if tolerance is None else tolerance
    total = np.zeros(len(weights))
    has = counts > 0
    for k in n_neighbors:
        wanted = np.minimum(k, counts)
        last = np.zeros(n)
        last[has] = weights[(graph.indptr[:-1] + wanted - 1)[has]]
        above = weights > last[row] + tolerance
        tied = (weights >= last[row] - tolerance) & ~above
        n_above, n_tied = np.bincount(row, above, n), np.bincount(row, tied, n)
        share = (wanted - n_above) / np.where(n_tied > 0, n_tied, 1.0)
        total += (above + share[row] * tied) / np.maximum(wanted, 1)[row]
    W = sparse.csr_array((total, (row, columns)), shape=graph.shape)
    W.eliminate_zeros()
    return sparse.csr_array((W + W.T) / 2)


def neighbour_graph(similarities: Array, n_neighbors: Sequence[int] = NEIGHBOURS) -> Array:
    """Return what :func:`nearest_in` does, of similarities of all pairs, an ndarray of shape (n, n)."""
    n = similarities.shape[0]
    counts = sorted({min(k, n - 1) for k in n_neighbors} - {0})
    if not counts:
        return sparse.csr_array((n, n))
    S = np.array(similarities, dtype=np.float64)
    tolerance = TIED * np.abs(S).max()
    np.fill_diagonal(S, -np.inf)
    last = kth_of_rows(peaks_of_rows(S, counts[-1]), -counts[-1])[:, None]  # or less
    places = np.nonzero(last - tolerance <= S)
    return nearest_in(sparse.csr_array((S[places], places), shape=S.shape), counts, tolerance)


def deviations(A: Array, B: Array) -> tuple[float, float]:
    """Return how far two graphs over the same vertices agree beyond chance, in deviations, and their cosine.

    Parameters
    ----------
    A, B : csr arrays of shape (n, n)
        Symmetric, nothing on the diagonal.

    Returns
    -------
    z, cosine : float
        z is zero where there is no chance: one graph has no edge, or is complete.
    """
    n = A.shape[0]
    if n < 4:
        return 0.0, 0.0
    shared = float(A.multiply(B).sum())
    (a0, a1, a2), (b0, b1, b2) = _moments(A), _moments(B)
    if a1 == 0 or b1 == 0:
        return 0.0, 0.0
    pairs, triples = n * (n - 1.0), n * (n - 1.0) * (n - 2.0)
    mean = a0 * b0 / pairs
    square = (
        2 * a1 * b1 / pairs
        + 4 * (a2 - a1) * (b2 - b1) / triples
        + (a0**2 - 4 * a2 + 2 * a1) * (b0**2 - 4 * b2 + 2 * b1) / (triples * (n - 3.0))
    )
    variance = square - mean**2
    cosine = shared / np.sqrt(a1 * b1)
    return (float((shared - mean) / np.sqrt(variance)) if variance > 1e-12 * mean**2 else 0.0), float(cosine)


def _moments(A: Array) -> tuple[float, float, float]:
    """Return the sum of the entries, that of their squares, and that of the squared sums of rows."""
    rows = np.asarray(A.sum(axis=1)).ravel()
    return float(rows.sum()), float((A.data**2).sum()), float((rows**2).sum())
