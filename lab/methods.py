"""Everything that experiments compare: a name, an estimator, its kernels, a grid."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering

from kernelbraid import ADMM, LKG
from kernelbraid.methods import METHODS as ESTIMATORS
from kernelbraid.methods import TITLES, kernels_taken, settings_of
from lab.ablation import NOTHING, TIGHT, average, bound_combination, kernel_first
from lab.records import ABLATED

T = TypeVar("T")
# What the solver of LKG has, which records know by these names alone; and how graphs are read out, by anybody.
OF_SOLVER, OF_READOUT = tuple(ADMM().get_params()), ("n_neighbors", "edge_weights", "embedding", "restart_score")


@dataclass(frozen=True)
class Method:
    """What is compared under one name."""

    title: str  # what it is, in words
    estimator: type[BaseEstimator]
    #: One kernel at a time, reported by the best and the mean; all kernels of a bank at once; or none.
    policy: Literal["each", "all", "features"]
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # tuned with labels
    fixed: Mapping[str, Any] = field(default_factory=dict)  # what no tuning changes
    reduce: Callable[..., np.ndarray] | None = None  # from all kernels of a bank to the one that it is given
    bank: str = "rmkkm"  # where an experiment names none
    #: What several views are to what takes one matrix: side by side as they are, or as rows of unit length.
    joins: Literal["", "columns", "unit rows"] = ""
    learns_graph: bool = False  # and finds clusters in its embedding, as often as is asked for
    code: str = ""  # checksum or version of one that is not ours

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters of the estimator."""
        starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        known = inspect.signature(self.estimator).parameters
        return [name for name, parameter in known.items() if parameter.kind not in starred]

    @property
    def settable(self) -> list[str]:
        """The same with those of a solver, and of what is read out of the graph that is learned."""
        more = (*(OF_SOLVER if self.estimator is LKG else ()), *(OF_READOUT if self.learns_graph else ()))
        return list(dict.fromkeys((*self.parameters, *more)))

    def make(self, n_clusters: int, **parameters: Any) -> BaseEstimator:
        """Return an unfitted estimator; parameters win over the settings of the method, not over fixed ones.

        An estimator that chooses the number of clusters itself, or draws nothing, is not told what it cannot use.
        """
        given = {"n_clusters": n_clusters, **self.settings, **parameters, **self.fixed}
        unused = [name for name in ("n_clusters", "random_state", *OF_READOUT) if name not in self.parameters]
        if self.estimator is LKG:
            of_solver = {name: given.pop(name) for name in OF_SOLVER if name in given}
            given["solver"] = ADMM(**of_solver) if of_solver else None
        return self.estimator(**{name: value for name, value in given.items() if name not in unused})


def combinations(grid: Mapping[str, Sequence[T]]) -> Iterator[dict[str, T]]:
    """Yield every point of a grid, one empty one if the grid is."""
    return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))


_TWIN = {"alpha": (1e-4, 1e-3, 1e-2, 1e-1), "beta": (1e-5, 1e-4, 1e-3, 1e-2)}
_GRIDS: dict[str, Mapping[str, Sequence[float]]] = {
    "SCSK": _TWIN,
    "RMKKM": {"gamma": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)},
    "SCMK": _TWIN,
}
_POLICIES: dict[str, Literal["each", "all", "features"]] = {"one": "each", "several": "all", "none": "features"}
_WITHOUT_GRAPH = ("KKM", "RKKM", "MKKM", "RMKKM", "SimpleMKKM")  # k-means over kernels


#: The methods of the paper, and later ones.
METHODS = {
    name: Method(
        TITLES[name],
        type(model),
        _POLICIES[kernels_taken(model)],
        {name.removeprefix("solver__"): value for name, value in settings_of(model).items()},
        _GRIDS.get(name, {}),
        learns_graph=name not in _WITHOUT_GRAPH,
    )
    for name, model in ESTIMATORS.items()
}

_LARGEST = {**METHODS["SC"].settings, "embedding": "largest"}
#: Other forms of the methods above that every table shows beside them.
VARIANTS = {"SC-normalised": replace(METHODS["SC"], title="spectral clustering, normalised", settings=_LARGEST)}


def _rival(title: str, estimator: type[BaseEstimator], **settings: Any) -> Method:
    return Method(f"scikit-learn's {title}", estimator, "features", settings, joins="columns")


_NEIGHBOURS = {"affinity": "nearest_neighbors", "n_neighbors": 10}
_NOISE = "HDBSCAN, clusters of 5 samples or more; it chooses their number, and noise counts as one more"
#: What a user of scikit-learn would use otherwise, untuned.
RIVALS = {
    "KMeans": _rival("k-means", KMeans, n_init=10),
    "SC-rbf": _rival("spectral clustering, rbf", SpectralClustering),
    "SC-knn": _rival("spectral clustering, 10 neighbours", SpectralClustering, **_NEIGHBOURS),
    "HDBSCAN": _rival(_NOISE, HDBSCAN, min_cluster_size=5, copy=True),
}

#: Ours for somebody without labels, as it comes.
LABEL_FREE = {"LKG": Method("LKG with its defaults", LKG, "all", bank="auto", learns_graph=True)}

_NO_RANK = {"beta": NOTHING}
# One kernel that stays as it is, but for negative entries, which LKG allows in no kernel. LKG stops when the kernel
# does, so the graph is given a number of steps instead.
_STAYS = {**_NO_RANK, "gamma": TIGHT, "tol": 0.0, "max_iter": 30}


def _ablation(title: str, **what: Any) -> Method:
    return replace(METHODS["LKGr"], title=title, **what)


#: LKGr as a whole and with a part taken out, for the claims of the paper; no other table shows them.
ABLATIONS = {
    f"LKGr{ABLATED}whole": _ablation("LKGr"),
    f"LKGr{ABLATED}no-rank": _ablation("no low-rank term (beta to 0)", fixed=_NO_RANK),
    f"LKGr{ABLATED}bound": _ablation("kernel bound to the combination", fixed=_STAYS, reduce=bound_combination),
    f"LKGr{ABLATED}one-kernel": _ablation("one kernel (Eq. 2)", fixed=_STAYS, policy="each"),
    f"LKGr{ABLATED}average": _ablation("the average kernel", fixed=_STAYS, reduce=average),
    f"LKGr{ABLATED}in-turn": _ablation("first the kernel, then the graph", fixed=_STAYS, reduce=kernel_first),
}

#: What takes one matrix, on several views as many would join them: rows of unit length, side by side.
JOINED = {
    f"{name}-joined": replace(method, title=f"{method.title}, views joined as rows of unit length", joins="unit rows")
    for name, method in {**METHODS, **VARIANTS, **RIVALS}.items()
    if name in ("KMeans", "SC-knn") or (name not in RIVALS and method.policy != "all")
}

#: Everything that can be compared.
COMPARED: dict[str, Method] = {**METHODS, **VARIANTS, **RIVALS, **LABEL_FREE, **ABLATIONS, **JOINED}
