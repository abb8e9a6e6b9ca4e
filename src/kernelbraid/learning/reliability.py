"""How far the clusters of a fit can be relied on, from other ways to find them, in a number and in sentences."""

from dataclasses import dataclass, replace

import numpy as np

from kernelbraid._machine import calm
from kernelbraid.learning.readout import Reading, join_pieces, run_kmeans
from kernelbraid.learning.settings import Readout
from kernelbraid.metrics.partitions import agreement

#: Of the restarts of k-means that a user asks for, the part that the other way gets; and the most of them.
BESIDE, MOST = 4, 20
#: Reliability below which a sentence warns, and above which one reassures.
LOW, HIGH = 0.5, 0.8


@dataclass(frozen=True)
class Evidence:
    """How far other ways to cut the same embedding find the same clusters, as adjusted Rand indices."""

    of_cuts: float = 1.0  # mean over pairs of cuts into pieces that were joined
    of_ways: float = 1.0  # between pieces that were joined and k-means alone
    of_parts: float = 1.0  # clusters over connected components, if these are more: nothing says which belong together
    is_short: bool = False  # whether fewer samples are distinct than clusters were asked for: no cut finds so many

    @property
    def reliability(self) -> float:
        """The product of all, between 0 and 1; 0 if there cannot be as many clusters as were asked for."""
        return 0.0 if self.is_short else float(max(self.of_cuts, 0.0) * max(self.of_ways, 0.0) * self.of_parts)


def judge(reading: Reading, readout: Readout, *, random_state: np.random.RandomState) -> Evidence:
    """Compare clusters with what the other way to find them in the same embedding gives.

    Parameters
    ----------
    reading : Reading
        Clusters, and the embedding that they were found in.
    readout : Readout
        How they were found.
    random_state : RandomState
        Draws the starts of the other way.
    """
    placed, k = reading.placed, int(readout.n_clusters)
    if int(reading.labels.max()) + 1 < k:
        return Evidence(is_short=True)
    if not 1 < k < placed.embedding.shape[0]:
        return Evidence()
    with calm(readout.n_jobs):
        joined, other = reading, reading
        if reading.agreement is not None:
            other = run_kmeans(placed, readout, -(-readout.n_init // BESIDE), random_state)
        else:
            joined = other = join_pieces(placed, replace(readout, n_init=min(readout.n_init, MOST)), random_state)
    assert joined.agreement is not None  # of its cuts
    of_ways = float(agreement([reading.labels, other.labels])[0])
    return Evidence(joined.agreement, of_ways, min(k / placed.n_components, 1.0))


def tell(evidence: Evidence, n_clusters: int, n_components: int) -> list[str]:
    """Return what the evidence says, in sentences."""
    if evidence.is_short:
        return [
            "Fewer samples are distinct than clusters were asked for: each cluster is a sample with its copies, and no "
            "graph was cut, so that reliability is 0."
        ]
    if n_clusters == 1:
        return ["All samples are in one cluster: nothing was cut."]
    told = [
        f"Cut in other ways, the graph gives the same clusters to an adjusted Rand index of {evidence.of_cuts:.2f}, "
        f"and k-means alone to {evidence.of_ways:.2f}: reliability {evidence.reliability:.2f}."
    ]
    if evidence.reliability < LOW:
        told.append(
            "That is low: the clusters hang on how the graph is cut. Take them with caution; other features, scaled "
            "samples or another number of clusters may be clearer."
        )
    elif evidence.reliability >= HIGH:
        told.append("That is high: the clusters do not hang on how the graph is cut.")
    if n_components > n_clusters:
        told.append(
            f"The graph has {n_components} connected components, more than clusters: nothing says which of them belong "
            "together."
        )
    else:
        told.append(f"The graph has {n_components} connected component{'s' if n_components > 1 else ''}.")
    return told
