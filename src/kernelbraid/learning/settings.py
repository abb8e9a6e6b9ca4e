"""Typed settings of learning and of reading out, and the presets: text and code of the paper, and what we do."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from kernelbraid._machine import n_workers
from kernelbraid._typing import Parameters
from kernelbraid.kernels import KernelStack, SelfTuning
from kernelbraid.ops.graphs import EdgeWeights, Spectrum
from kernelbraid.solvers.low_rank.penalties import Route
from kernelbraid.solvers.low_rank.step import GRAPH_PENALTIES, GraphName, LowRankProblem

Fusion: TypeAlias = Literal["graphs", "kernels"]
Assignment: TypeAlias = Literal["best", "merge", "kmeans", "communities"]
RestartScore: TypeAlias = Literal["inertia", "distance"]
S = TypeVar("S", "Learning", "Readout")

#: Banks that get graphs of their own where graphs are fused: widths of all samples, and of each by its neighbours.
FUSED_BANKS = ("middle", [SelfTuning(7)])
#: Edges of a sample in such a graph: a tenth of the samples, within these bounds.
FUSED_NEIGHBORS = (10, 20)
#: The weight of the penalty follows the samples: so many for each unit, times the root of the number of clusters; and
#: the least weight, below which noise is expressed, too.
SAMPLES_PER_ALPHA, LEAST_ALPHA = 250, 0.2
#: Edges of a sample where clusters have few samples, up to `FEW_PER_CLUSTER`, and where they have more; and for
#: communities that have more than `MANY_PER_CLUSTER` of more than `MANY`, where few edges blur what overlaps.
NEIGHBORS, FEW_PER_CLUSTER, MANY_PER_CLUSTER, MANY = (5, 10, 20), 30, 100, 2000
#: What has no value where nobody gives one.
OPTIONAL = ("resolution", "min_cluster_size")
#: Clusters that a graph is learned for where their number is still to be found.
GUESS = 10
#: Restarts of k-means from so many samples on, where each takes long and starts far apart differ little.
FEW_RESTARTS, MANY_SAMPLES = 5, 20_000
#: gamma of a solver that nobody gives one, where the preset has no kernel learned.
LEARNED = 10.0
#: Factor of Tr(K H_i) in the weights' problem, Eq. (14).
PULLS = {"projection": 2.0, "printed": 0.5}


@dataclass(frozen=True)
class Learning:
    """How a graph is learned from candidate kernels. Every field is the parameter of LKG or ADMM with its name."""

    graph_penalty: str
    alpha: float
    beta: float
    gamma: float  # infinite: the kernel stays the average of the candidates
    mu: float
    mu_growth: float  # factor of mu after every step
    graph_start: Literal["identity", "random"]  # first J
    kernel_start: Literal["average", "average/m"]  # first K and W
    weights_problem: Literal["projection", "printed"]  # linear term of the weights' quadratic program
    graph_from: GraphName  # the graph by which an iterate is judged: J or Z
    max_iter: int
    tol: float  # change of the kernel below which the solver stops
    thresholding: Route = "auto"
    record_objective: bool = False
    n_jobs: int | None = None  # threads of BLAS

    @property
    def is_kernel_fixed(self) -> bool:
        """Whether the kernel stays the average of the candidates."""
        return math.isinf(self.gamma)

    @property
    def is_closed_form(self) -> bool:
        """Whether one linear system gives the graph."""
        return self.is_kernel_fixed and self.graph_penalty == "frobenius"

    @property
    def is_batched(self) -> bool:
        """Whether the solver of many fits at once can make this one: it starts as the published code does."""
        return (
            not self.is_kernel_fixed
            and not self.record_objective
            and (self.graph_start, self.kernel_start) == ("identity", "average")
        )

    @property
    def expression_weight(self) -> float:
        """Weight of the squared coefficients of new samples: that of the fit, or of its constraints."""
        return float(self.alpha if self.graph_penalty == "frobenius" else self.mu)

    def problem(self, kernels: KernelStack) -> LowRankProblem:
        """Return Eq. (3) over candidate kernels; without their inner products if no weights are learned."""
        R = np.empty((0, kernels.n_kernels)) if self.is_kernel_fixed else kernels.factor()
        penalty, pull = GRAPH_PENALTIES[self.graph_penalty], PULLS[self.weights_problem]
        return LowRankProblem(kernels, R, self.alpha, self.beta, self.gamma, penalty, self.mu_growth, pull)


@dataclass(frozen=True)
class Readout:
    """How a learned graph becomes labels. Every field is the parameter of the estimators with its name."""

    n_neighbors: int | Literal["all"]  # strongest edges of each sample that stay in the graph
    edge_weights: EdgeWeights
    embedding: Spectrum
    n_init: int  # restarts of k-means
    assign_labels: Assignment = "kmeans"  # how the embedding becomes clusters
    restart_score: RestartScore = "inertia"
    n_clusters: int | Literal["auto"] = 8
    resolution: float | None = None  # of communities, where it decides their number
    min_cluster_size: int | None = None  # samples of a cluster; None: four where the number is found
    graph_from: GraphName = "Z"  # which of two learned graphs
    n_jobs: int | None = None  # threads of BLAS


@dataclass(frozen=True)
class Settings:
    """All that decides the outcome of LKG beside the samples and the seed."""

    kernels: Any  # "precomputed", a bank, or a bank per view
    learning: Learning
    readout: Readout
    is_solved: bool  # whether an iteration of the paper is asked for, whose matrices are published
    fusion: Fusion = "kernels"  # what is joined of several views
    alphas: tuple[float, ...] = ()  # weights of the penalty whose graphs are summed where graphs are fused
    fused_neighbors: int | Literal["all"] | None = None  # edges that stay of each sample there; None: by their number
    is_trusting: bool = False  # whether views are weighed before they are fused; otherwise all kernels are candidates
    view_weights: Any = None  # of the user
    approximation: Literal["auto", "exact"] = "auto"  # whether rows are formed where samples are many
    left_open: frozenset[str] = frozenset()  # alpha, n_neighbors, assign_labels, n_init, where the data decide

    @classmethod
    def of(cls, parameters: Parameters) -> "Settings":
        """Return the settings that the parameters of an estimator ask for.

        Parameters
        ----------
        parameters : mapping
            `preset` gives all values; those of the others that are there and not None win over it, as do those of
            the `solver`, which has a kernel learned where nothing else is said.
        """
        preset, solver = PRESETS[parameters["preset"]], parameters.get("solver")
        if solver is not None:
            gamma = LEARNED if preset.learning.is_kernel_fixed and solver.gamma is None else solver.gamma
            parameters = {**parameters, **solver.get_params(deep=False), "gamma": gamma}
        given = {name: value for name, value in parameters.items() if value is not None}
        given["n_jobs"] = n_workers(given.get("n_jobs"))
        if "resolution" in given:
            check_resolution(given)
            given["assign_labels"] = "communities"
        learning = changed(preset.learning, given)
        return cls(
            given.get("kernels", preset.kernels),
            learning,
            changed(preset.readout, given),
            preset.is_solved or solver is not None,
            given.get("fusion", preset.fusion if learning.is_kernel_fixed else "kernels"),
            preset.alphas if learning.is_closed_form and "alpha" not in given and preset.alphas else (learning.alpha,),
            given.get("n_neighbors", preset.fused_neighbors),
            preset.is_trusting or "view_weights" in given or given.get("fusion") == "graphs",
            given.get("view_weights"),
            approximation=given.get("approximation", "auto"),
            left_open=preset.left_open - given.keys(),
        )

    def sized(
        self, n_samples: int, n_clusters: int, *, several: bool = False, n_counted: float | None = None
    ) -> "Settings":
        """Return the settings for so many samples and clusters.

        Eigenvalues of a kernel grow with the samples that are alike, so that a penalty of the same weight smooths the
        less, the more there are; and a sample has no more neighbours than there are others in its cluster. For several
        views what is left open stays as it is, and for a learned kernel, which k-means alone reads out. Distinct
        samples that occur several times count as `n_counted`. With a resolution the number stays open.
        """
        few, more, most = NEIGHBORS
        others, each = max(n_samples // n_clusters - 1, 2), (n_counted or n_samples) / n_clusters
        is_large = self.readout.assign_labels == "communities" and n_samples > MANY and each > MANY_PER_CLUSTER
        chosen: dict[str, Any] = {
            "alpha": max(n_samples / (SAMPLES_PER_ALPHA * math.sqrt(n_clusters)), LEAST_ALPHA),
            "n_neighbors": min(few, others) if each <= FEW_PER_CLUSTER else most if is_large else more,
        }
        if not self.learning.is_closed_form:
            chosen = {"assign_labels": "kmeans"}
        elif several:
            chosen = {}
        if n_samples >= MANY_SAMPLES:
            chosen["n_init"] = FEW_RESTARTS
        chosen = {name: value for name, value in chosen.items() if name in self.left_open}
        is_open = self.readout.resolution is not None
        readout = changed(replace(self.readout, n_clusters="auto" if is_open else n_clusters), chosen)
        return replace(self, learning=changed(self.learning, chosen), readout=readout, left_open=frozenset())

    def fused_readout(self, n_samples: int) -> Readout:
        """Return how the graph of a view with so many samples is refined before it is summed.

        What only some of the views connect is weak in the sum, so that more edges than of a single graph do no harm.
        """
        few, many = FUSED_NEIGHBORS
        by_size = min(max(n_samples // 10, few), many)
        return replace(self.readout, n_neighbors=self.fused_neighbors or by_size)

    def kept_edges(self, n_samples: int) -> int | None:
        """Return how many edges of a sample stay there; None for all."""
        few = self.fused_readout(n_samples).n_neighbors
        return None if isinstance(few, str) else int(few)

    @property
    def fused_banks(self) -> list[Any]:
        """Banks that get graphs of their own where graphs are fused."""
        return list(FUSED_BANKS) if isinstance(self.kernels, str) and self.kernels == "auto" else [self.kernels]

    def flat(self) -> dict[str, Any]:
        """Return the value of every parameter under its name."""
        names = ("kernels", "fusion", "approximation")
        parts = {name: getattr(self, name) for name in names}
        for part in (self.learning, self.readout):
            parts |= {field.name: getattr(part, field.name) for field in fields(part)}
        return {name: value for name, value in parts.items() if value is not None or name not in OPTIONAL}


def check_resolution(given: Parameters) -> None:
    """Refuse a resolution beside what it decides."""
    resolution, n_clusters, way = given["resolution"], given["n_clusters"], given.get("assign_labels", "communities")
    if n_clusters != "auto":
        raise ValueError(
            f"resolution={resolution:g} decides how many clusters there are, and n_clusters={n_clusters} does, too; "
            "give n_clusters='auto' with a resolution, or leave that out."
        )
    if way != "communities":
        raise ValueError(f"resolution={resolution:g} is for assign_labels='communities', not {way!r}; leave out one.")


def check_fusion(settings: Settings) -> None:
    """Refuse settings of which one takes away what another asks for."""
    gamma = settings.learning.gamma
    if settings.learning.is_kernel_fixed:
        return
    if settings.fusion == "graphs":
        raise ValueError(
            f"fusion='graphs' fuses graphs, and gamma={gamma:g} has a kernel learned; leave out one of them."
        )
    if settings.view_weights is not None:
        raise ValueError(f"view_weights gives the weights that gamma={gamma:g} has learned; leave out one of them.")


def changed(settings: S, given: Parameters) -> S:
    """Return settings with those values that are given under the names of their fields."""
    mine = {field.name for field in fields(settings)}
    return replace(settings, **{name: value for name, value in given.items() if name in mine})


#: The two sides of every difference between the paper's text and its authors' code, frozen whole; and what we do.
#: Neither side gives alpha, beta, gamma and mu: those are ours, chosen for results that rarely collapse.
PRESETS: dict[str, Settings] = {
    "authors": Settings(
        kernels="rmkkm",
        learning=Learning(
            graph_penalty="nuclear",
            alpha=0.01,
            beta=0.1,
            gamma=0.1,
            mu=1.0,
            mu_growth=1.1,
            graph_start="identity",
            kernel_start="average",
            weights_problem="projection",
            graph_from="J",
            max_iter=200,
            tol=1e-5,
        ),
        readout=Readout(n_neighbors="all", edge_weights="learned", embedding="magnitude", n_init=100, graph_from="J"),
        is_solved=True,
        fused_neighbors="all",
    ),
    "paper": Settings(
        kernels="paper",
        learning=Learning(
            graph_penalty="nuclear",
            alpha=0.01,
            beta=0.1,
            gamma=100.0,
            mu=1.0,
            mu_growth=1.0,
            graph_start="random",
            kernel_start="average/m",
            weights_problem="printed",
            graph_from="Z",
            max_iter=200,
            tol=1e-5,
        ),
        readout=Readout(n_neighbors="all", edge_weights="learned", embedding="largest", n_init=100, graph_from="Z"),
        is_solved=True,
        fused_neighbors="all",
    ),
    "recommended": Settings(
        kernels="auto",
        learning=Learning(
            graph_penalty="frobenius",
            alpha=1.0,
            beta=0.01,
            gamma=math.inf,
            mu=1.0,
            mu_growth=1.1,
            graph_start="identity",
            kernel_start="average",
            weights_problem="projection",
            graph_from="Z",
            max_iter=200,
            tol=1e-3,
        ),
        readout=Readout(
            n_neighbors=10, edge_weights="scaled", embedding="largest", n_init=20, assign_labels="best", graph_from="Z"
        ),
        is_solved=False,
        fusion="graphs",
        alphas=(1.0, 30.0),
        is_trusting=True,
        left_open=frozenset({"alpha", "n_neighbors", "assign_labels", "n_init"}),
    ),
}
