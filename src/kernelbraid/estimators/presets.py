"""The two sides of every difference between the paper's text and its authors' code, frozen whole; and what we do."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A value for every parameter of LKG that may be None."""

    kernels: str  # bank
    graph_penalty: str
    alpha: float  # neither side gives a setting: these four are ours, chosen for results that rarely collapse
    beta: float
    gamma: float
    mu: float
    mu_growth: float  # factor of mu after every step
    graph_start: str  # first J
    kernel_start: str  # first K and W
    weights_problem: str  # linear term of the weights' quadratic program
    graph_from: str  # which of J and Z is clustered
    n_neighbors: int | str  # strongest edges of each sample that stay in the graph, or "all"
    edge_weights: str  # what they weigh
    embedding: str  # which eigenvectors of the normalised graph
    n_init: int  # restarts of k-means
    max_iter: int  # steps of the solver
    tol: float  # change of the kernel below which it stops

    def resolve(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters, with this preset's value for each of its own that is None."""
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: mine.get(name) if value is None else value for name, value in parameters.items()}


PRESETS: dict[str, Preset] = {
    "authors": Preset(
        kernels="rmkkm",
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
        n_neighbors="all",
        edge_weights="learned",
        embedding="magnitude",
        n_init=100,
        max_iter=200,
        tol=1e-5,
    ),
    "paper": Preset(
        kernels="paper",
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
        n_neighbors="all",
        edge_weights="learned",
        embedding="largest",
        n_init=100,
        max_iter=200,
        tol=1e-5,
    ),
    "recommended": Preset(
        kernels="auto",
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
        n_neighbors=10,
        edge_weights="scaled",
        embedding="largest",
        n_init=20,
        max_iter=200,
        tol=1e-3,
    ),
}
