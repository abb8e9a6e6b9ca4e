"""What a fit says of the cells, written where scanpy looks for it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kernelbraid._arrays import measured_rows
from kernelbraid._typing import Array
from kernelbraid.scverse.representations import View, in_names

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

    from kernelbraid.estimators import LKG

METHOD = "kernelbraid"


class Keys:
    """Where results are written.

    Parameters
    ----------
    key : str
        Name of the clustering.
    views : list of View
        What was clustered; several views have columns of their weights.
    """

    def __init__(self, key: str, views: list[View]) -> None:
        self.labels = self.report = key
        self.confidence = f"{key}_confidence"
        self.connectivities, self.distances = f"{key}_connectivities", f"{key}_distances"
        self.embedding = f"X_{key}"
        self.weights = [weight_key(key, view.name) for view in views] if len(views) > 1 else []

    def check(self, data: "AnnData | MuData") -> None:
        """Refuse to overwrite what somebody else has written; results of an earlier call are replaced."""
        if _is_ours(data.uns.get(self.report)):
            return
        written = {
            "obs": [self.labels, self.confidence, *self.weights],
            "obsm": [self.embedding],
            "obsp": [self.connectivities, self.distances],
            "uns": [self.report],
        }
        for room, keys in written.items():
            for key in keys:
                if key in getattr(data, room):
                    raise ValueError(
                        f"{room}[{key!r}] is there already, and is not a result of this function; give another "
                        "key_added, or delete it first."
                    )

    def clear(self, data: "AnnData | MuData") -> None:
        """Delete the results of an earlier call that the next one need not have."""
        earlier = data.uns.get(self.report)
        if not _is_ours(earlier):
            return
        gone = [self.confidence, *(weight_key(self.labels, name) for name in earlier["views"].index)]
        data.obs = data.obs.drop(columns=[column for column in gone if column in data.obs])


def weight_key(key: str, view: str) -> str:
    """Return the column of the weights that a view has in each cell."""
    return f"{key}_weight_{view.replace('/', '_')}"  # slashes are folders in files


def _is_ours(report: Any) -> bool:
    return isinstance(report, Mapping) and dict(report.get("params", {})).get("method") == METHOD


def write(
    data: "AnnData | MuData",
    keys: Keys,
    model: "LKG",
    views: list[View],
    asked: Mapping[str, Any],
) -> None:
    """Write labels, graph, embedding and report."""
    import pandas as pd

    labels, embedding = by_size(np.asarray(model.labels_)), np.asarray(model.embedding_)
    graph, distances = learned_graph(model.graph_, embedding)
    columns: dict[str, Any] = {
        keys.labels: pd.Categorical(labels.astype(str), categories=[str(i) for i in range(labels.max() + 1)])
    }
    columns[keys.confidence] = np.asarray(model.confidence_)
    weights = model.views_.shares
    if weights is not None:
        columns |= {key: np.asarray(weights)[:, view] for view, key in enumerate(keys.weights)}
    keys.clear(data)
    for key, column in columns.items():
        data.obs[key] = pd.Series(column, index=data.obs_names)
    data.obsm[keys.embedding] = embedding
    data.obsp[keys.connectivities], data.obsp[keys.distances] = graph, distances
    data.uns[keys.report] = {
        "connectivities_key": keys.connectivities,
        "distances_key": keys.distances,
        # The names that scanpy's own functions look for; theirs is the representation that was embedded.
        "params": {
            "method": METHOD,
            "n_neighbors": max(round(graph.nnz / graph.shape[0]), 2),
            "metric": "euclidean",
            "use_rep": keys.embedding,
        },
        "parameters": {name: _storable(value) for name, value in asked.items() if value is not None},
        "n_clusters": int(labels.max()) + 1,
        "views": _table(model, views),
        "agreement": model.views_.agreement,
        "reliability": float(model.reliability_),
        "why": np.array(model.why_, dtype=str),
    }


def by_size(labels: np.ndarray) -> np.ndarray:
    """Return labels numbered by the sizes of their clusters, the largest first, as scanpy numbers them."""
    _, first, inverse, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -counts))
    return np.argsort(order)[inverse]


def learned_graph(graph: Array, embedding: np.ndarray) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return the learned graph, its largest edge one, and the distances of connected cells in the embedding."""
    edges = sparse.coo_array(graph)
    off = (edges.row != edges.col) & (edges.data > 0)
    row, column, weights = edges.row[off], edges.col[off], edges.data[off]
    weights = weights / (weights.max() if len(weights) else 1.0)
    apart = np.linalg.norm(embedding[row] - embedding[column], axis=1)
    return _csr(weights, row, column, len(embedding)), _csr(apart, row, column, len(embedding))


def _csr(values: np.ndarray, row: Any, column: Any, n: int) -> sparse.csr_matrix:
    """Return a matrix as scanpy has them: the older kind, in single precision."""
    return sparse.csr_matrix((np.asarray(values, dtype=np.float32), (row, column)), shape=(n, n))


def _table(model: "LKG", views: list[View]) -> Any:
    """Return what is known of each view as a data frame; what is not known is NaN."""
    import pandas as pd

    report = model.views_
    return pd.DataFrame(
        {
            "representation": [view.path for view in views],
            "trusted": report.trusted,
            "weight": report.weights,
            "reason": [in_names(why, views) for why in report.why],
            "n_obs": [int(measured_rows(view.matrix).sum()) for view in views],
            "clarity": report.clarity,
        },
        index=[view.name for view in views],
    )


def _storable(value: Any) -> Any:
    """Return a parameter as something that files of AnnData can hold."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _storable(entry) for name, entry in value.items() if entry is not None}
    try:
        array = np.asarray(value)
    except ValueError:
        return repr(value)
    return array if array.dtype.kind in "biufU" else repr(value)
