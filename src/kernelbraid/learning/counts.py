"""What speaks for each number of clusters, and which one is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelbraid._typing import Host

TIED = 1e-6  # scores that differ by less are the same
#: Shares of the best score above which a number is on its plateau, and above which another peak is an alternative.
PLATEAU, PLAUSIBLE = 0.95, 0.85
#: Edges between clusters, in units of those of a cloud without any, above which there are none; and may be none.
NO_CLUSTERS, FEW_CLUES = 0.8, 0.65


@dataclass(frozen=True)
class Counts:
    """The numbers of clusters that were tried, ascending, and what speaks for each; means over the graphs."""

    n_clusters: NDArray[np.int64]
    stability: NDArray[np.float64]  # adjusted Rand index between the clusters of two graphs
    modularity: NDArray[np.float64]
    cut: NDArray[np.float64]  # share of a cluster's edges that leave it
    eigengap: NDArray[np.float64]  # distance from the last eigenvalue that is used to the next
    is_near: NDArray[np.bool_] | None = None  # which ones were tried with all restarts, and may be chosen; all if None
    compared: str = "graphs of different penalties"  # whose clusters were
    n_distinct: int | None = None  # samples, copies counted once; None: not known
    background: float | None = None  # edges between clusters, in units of those in a cloud without any; None: not known

    @property
    def score(self) -> NDArray[np.float64]:
        """What is maximised: stability, times the share of edges within clusters, times modularity over its limit."""
        limit = 1 - 1 / self.n_clusters
        return np.maximum(self.stability, 0.0) * (1 - self.cut) * np.maximum(self.modularity, 0.0) / limit

    @property
    def peak(self) -> int:
        """The number with the largest score among those that may be chosen; of several, the most modular."""
        score = self.score if self.is_near is None else np.where(self.is_near, self.score, -np.inf)
        tied = score > score.max() - TIED
        return int(self.n_clusters[int(np.argmax(np.where(tied, self.modularity, -np.inf)))])

    @property
    def best(self) -> int:
        """The choice: one cluster where a cloud without any falls apart as easily; no more than distinct samples."""
        if self.background is not None and self.background >= NO_CLUSTERS:
            return 1
        return self.n_distinct if self.n_distinct is not None and self.has_copies_alone else self.peak

    @property
    def has_copies_alone(self) -> bool:
        """Whether fewer samples are distinct than would make the best number of clusters."""
        return self.n_distinct is not None and self.n_distinct < self.peak

    @property
    def plateau(self) -> tuple[int, int]:
        """The numbers around the peak, in one row, that are about as good."""
        at = int(np.searchsorted(self.n_clusters, self.peak))
        good = self.score >= PLATEAU * self.score[at]
        low = high = at
        while low > 0 and good[low - 1]:
            low -= 1
        while high < len(good) - 1 and good[high + 1]:
            high += 1
        return int(self.n_clusters[low]), int(self.n_clusters[high])

    @property
    def alternatives(self) -> list[int]:
        """Other peaks off the plateau that are nearly as high, the highest first."""
        score, (low, high) = np.concatenate([[-np.inf], self.score, [-np.inf]]), self.plateau
        peaks = (score[1:-1] >= score[:-2]) & (score[1:-1] > score[2:]) & (self.score >= PLAUSIBLE * self.score.max())
        found = np.flatnonzero(peaks & ((self.n_clusters < low) | (self.n_clusters > high)))
        return [int(self.n_clusters[i]) for i in found[np.argsort(-self.score[found], kind="stable")]]

    def columns(self) -> dict[str, Host]:
        """Return the evidence as one array per quantity."""
        names = ("score", "stability", "modularity", "cut", "eigengap")
        return {"n_clusters": self.n_clusters, **{name: getattr(self, name) for name in names}}

    def sentences(self) -> list[str]:
        """Return the choice in words, with what is plausible as well."""
        if self.has_copies_alone:
            return self._doubts()
        low, high = self.plateau
        tried = f"among {self.n_clusters[0]} to {self.n_clusters[-1]}"
        told = [
            f"{self.peak} clusters have the best score {tried}: {self.compared} agree on them, they hold many edges, "
            "and share few."
        ]
        if low < high:
            told.append(f"{low} to {high} are about as good: the number is not sharp.")
        others = self.alternatives[:3]
        if others:
            told.append(
                f"Plausible as well: {_listed(others)}; coarser and finer clusters are both there where the data have "
                "a hierarchy."
            )
        return told + self._doubts()

    def _doubts(self) -> list[str]:
        """Return what speaks against any clusters at all."""
        if self.has_copies_alone:
            return [
                f"Of all samples {self.n_distinct} {'is' if self.n_distinct == 1 else 'are'} distinct, the rest copies."
            ]
        if self.background is None or self.background < FEW_CLUES:
            return []
        share = f"Clusters share {100 * self.background:.0f} % of the edges that they share in a cloud without any"
        if self.best == 1:
            return [f"{share}, so that all samples were left in one."]
        return [f"{share}: there may be none."]

    @property
    def warning(self) -> str | None:
        """What a user must know before using the labels."""
        doubts = self._doubts()
        return None if not doubts else f"n_clusters='auto' found no clear clusters. {doubts[0]}"


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
