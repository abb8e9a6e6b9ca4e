"""One call from an AnnData or MuData to clusters, and where its results are written."""

import difflib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kernelbraid._arrays import measured_rows
from kernelbraid._typing import Array, Parameters
from kernelbraid.estimators import LKG
from kernelbraid.estimators.base import refuse_moved
from kernelbraid.estimators.reading import is_anndata, is_mudata
from kernelbraid.scverse.representations import View, in_names, views_of

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

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


def cluster(
    data: "AnnData | MuData",
    n_clusters: int | str = "auto",
    *,
    use_rep: Any = None,
    key_added: str = "kernelbraid",
    copy: bool = False,
    **parameters: Any,
) -> "AnnData | MuData | None":
    """Cluster the cells of an AnnData or MuData, and write labels and graph where scanpy looks for them.

    Parameters
    ----------
    data : AnnData or MuData
        Cells. The modalities of a MuData are views of them, each of which may lack some; several representations of an
        AnnData are views, too.
    n_clusters : int or "auto", default="auto"
        Number of clusters; ``"auto"`` chooses it.
    use_rep : str, list of str, dict of these by modality, or None, default=None
        What is clustered: ``"X"``, a name in ``obsm`` or in ``layers``, or with the place before it, as
        ``"layers/counts"``; a list has several views. Of a MuData, a name is looked up in every modality, or is a
        joint one in its own ``obsm``; a dict names modalities and leaves out the rest. If None, ``X_pca`` where it is
        there, and X otherwise, with a warning if that has more than 50 features.
    key_added : str, default="kernelbraid"
        Under which names results are written. Results of an earlier call are replaced; nothing else is.
    copy : bool, default=False
        Leave the data as they are, and return a copy with the results.
    **parameters
        Further parameters of :class:`~kernelbraid.LKG`; `random_state` is 0 unless it is given.

    Returns
    -------
    AnnData, MuData or None
        The copy, if `copy` is true. The following is written, with *key* for `key_added`:

        - ``obs[key]``: clusters as categories, ``"0"`` the largest one;
        - ``obs[key + "_confidence"]``: how sure each label is, between 0 and 1;
        - ``obs[key + "_weight_" + view]``: which share of its edges a cell has from each of several views;
        - ``obsp[key + "_connectivities"]``: the learned graph, its largest edge one;
        - ``obsp[key + "_distances"]``: distances of these neighbours in the embedding;
        - ``obsm["X_" + key]``: the embedding that was clustered;
        - ``uns[key]``: where the graph is, for ``neighbors_key=key`` of scanpy; ``parameters`` as they were given;
          ``views``, a data frame with what is known of each, and their ``agreement``; ``reliability`` and ``why``.

    Raises
    ------
    ValueError
        If a representation is not there, a modality shares no cell with the others, values are missing, or something
        else than results of this function would be overwritten.

    Notes
    -----
    Nothing is written before everything is computed. Matrices that are backed by a file are read into memory.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from kernelbraid.scverse import cluster
    >>> rng = np.random.default_rng(0)
    >>> cells = AnnData(np.repeat(np.eye(3), 20, axis=0) + 0.1 * rng.normal(size=(60, 3)))
    >>> cluster(cells, 3)
    >>> cells.obs["kernelbraid"].value_counts().tolist()
    [20, 20, 20]
    """
    _check(data, key_added, parameters)
    views = views_of(data, use_rep)
    keys = Keys(key_added, views)
    keys.check(data)
    parameters = {"random_state": 0, **parameters}
    with _names_in_sentences(views):
        X = [view.matrix for view in views] if len(views) > 1 else views[0].matrix
        model = LKG(n_clusters, **parameters).fit(X)
    if copy:
        data = data.to_memory() if getattr(data, "isbacked", False) and not is_mudata(data) else data.copy()
    asked = {"n_clusters": n_clusters, "use_rep": use_rep, **parameters}
    write(data, keys, model, views, asked)
    return data if copy else None


@contextmanager
def _names_in_sentences(views: list[View]) -> Iterator[None]:
    """Let what a fit refuses or warns of call views by their names; warnings come when it ends."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    except (ValueError, TypeError, MemoryError) as error:
        error.args = tuple(in_names(said, views) if isinstance(said, str) else said for said in error.args)
        raise
    finally:
        for warning in caught:
            warnings.warn(in_names(str(warning.message), views), warning.category, stacklevel=4)


def _check(data: object, key: object, parameters: Parameters) -> None:
    """Refuse what cannot be clustered, before anything is read."""
    if not (is_anndata(data) or is_mudata(data)):
        raise TypeError(
            f"data is a {type(data).__name__}, and must be an AnnData or a MuData; for matrices there is "
            "kernelbraid.LKG."
        )
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f"key_added={key!r} must be a name without slashes, which files of AnnData cannot hold.")
    if parameters.get("kernels") == "precomputed":
        raise ValueError("kernels='precomputed' has no representation to read; give the kernels to kernelbraid.LKG.")
    _check_parameters(parameters)


def _check_parameters(parameters: Parameters) -> None:
    """Refuse a parameter that LKG does not have."""
    refuse_moved(LKG, parameters)
    known = [name for name in LKG().get_params() if name != "n_clusters"]
    for name in parameters:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "those of LKG are allowed."
            raise TypeError(f"there is no parameter {name}; {hint}")
