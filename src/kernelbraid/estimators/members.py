"""The settings that a search has tried: fitted, scored without labels, and explained in sentences."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kernelbraid._arrays import to_numpy
from kernelbraid.estimators.low_rank import LKG
from kernelbraid.metrics import agreement, balance, kernel_silhouette, modularity

DOMINANT = 0.9  # share of the samples in one of three clusters or more that makes a result absurd
HIGH, LOW = 0.6, 0.3  # mean agreement of the settings above, and below which a sentence says so
ALIKE = 1e-6  # largest difference, relative to the largest entry, of kernels that are the same
SOUND = ("converged", "max_iter", "stopped")


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


class Reference:
    """What all members are compared by: above all the mean of their kernels, so that none judges for itself.

    Parameters
    ----------
    keep_graphs : bool, default=False
        Whether the graphs of the members will be needed.
    """

    def __init__(self, keep_graphs: bool = False) -> None:
        self.keep_graphs = keep_graphs
        self.total: Any = 0.0
        self.seen: set[str] = set()
        self.n_features = 0
        self._first: Any = None
        self._differs = False

    def add(self, name: str, K: NDArray[np.float64]) -> None:
        """Take a kernel in, once under each name."""
        if name in self.seen:
            return
        self.seen.add(name)
        self.total = self.total + K
        if self._first is None:
            self._first = K
        elif not self._differs:
            self._differs = not np.allclose(K, self._first, rtol=0, atol=ALIKE * float(np.abs(self._first).max()))

    @property
    def all_alike(self) -> bool:
        """Whether there were several kernels, all of them the same matrix."""
        return len(self.seen) > 1 and not self._differs

    def kernel(self) -> NDArray[np.float64]:
        """Return the mean."""
        return np.asarray(self.total / len(self.seen))


def fit_member(model: LKG, params: dict[str, Any], X: Any, reference: Reference) -> Member:
    """Fit a setting, and take in what its scores need."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is in the status
        model.fit(X)
    labels, graph = to_numpy(model.labels_), to_numpy(model.graph_)
    reference.add(" + ".join(model.kernel_names_), to_numpy(model.kernel_))
    reference.n_features = model.n_features_in_
    member = Member(params, labels, model.status_, time.perf_counter() - started)
    member.scores = {
        "modularity": modularity(graph, labels),
        "balance": balance(labels),
        "components": float(model.n_components_),
    }
    member.fault = _fault(member)
    if reference.keep_graphs:
        member.graph = sparse.csr_array(graph)
    return member


def _fault(member: Member) -> str:
    """Say why a setting cannot be chosen, nothing if it can."""
    if member.status not in SOUND:
        return f"the fit ended with {member.status}"
    sizes = np.bincount(member.labels)
    if len(sizes) > 2 and sizes.max() > DOMINANT * sizes.sum():
        return f"one cluster holds {100 * sizes.max() / sizes.sum():.0f} % of the samples"
    return ""


def score_members(members: Sequence[Member], kernel: NDArray[np.float64]) -> None:
    """Compare sound settings with each other, and with the kernel that all were given."""
    silhouettes = [kernel_silhouette(kernel, member.labels) for member in members]
    agreements = agreement([member.labels for member in members])
    for member, silhouette, agrees in zip(members, silhouettes, agreements, strict=True):
        member.scores |= {"silhouette": float(silhouette), "agreement": float(agrees)}
        # One setting has nobody to agree with; the factors are not below zero, so that two bad ones do not make a good.
        factor = max(float(agrees), 0.0) if len(members) > 1 else 1.0
        member.scores["score"] = factor * max(member.scores["modularity"], 0.0)


def explain(
    members: Sequence[Member], best: Member, available: int, seconds: float, all_alike: bool = False
) -> list[str]:
    """Return the search in sentences."""
    sound = [member for member in members if not member.fault]
    left = f" ({available - len(members)} more were left when the search ended)" if len(members) < available else ""
    fitted = f"{len(members)} setting{'s were' if len(members) > 1 else ' was'} fitted"
    told = [f"{fitted} in {seconds:.1f} s{left}; {len(sound)} of them {'is' if len(sound) == 1 else 'are'} sound."]
    faults = sorted({member.fault for member in members if member.fault})
    told += [f"Left out: {'; '.join(faults)}."] if faults else []
    chosen = ", ".join(f"{name}={_show(value)}" for name, value in best.params.items())
    if not sound:
        told.append(
            f"No setting is sound, so the first one was kept ({chosen}); other kernels or scaled data may help."
        )
        return told
    told.append(f"Chosen: {chosen}.")
    if len(sound) > 1:
        told.append(
            f"Its clusters agree with those of the other settings (mean adjusted Rand index "
            f"{best.scores['agreement']:.2f}) and are dense in its graph (modularity {best.scores['modularity']:.2f}): "
            f"the product of both is the largest. Their silhouette under the average kernel is "
            f"{best.scores['silhouette']:.3f}."
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
    components = int(best.scores["components"])
    told.append(f"Its graph has {components} connected component{'s' if components > 1 else ''}.")
    return told


def _show(value: Any) -> str:
    """Return a parameter as words; kernels by their names."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(getattr(entry, "name", str(entry)) for entry in value) + "]"
    return f"{value:g}" if isinstance(value, Real) and not isinstance(value, Integral) else str(value)
