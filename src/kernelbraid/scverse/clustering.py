"""One call from an AnnData or MuData to clusters, and where its results are written."""

import difflib
import warnings
from collections.abc import Iterable, Iterator, Mapping
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


def places_of(key: str, views: Iterable[str]) -> dict[str, list[str]]:
    """Return where results under a key are written; several views have columns of their weights."""
    weights = [f"{key}_weight_{view.replace('/', '_')}" for view in views]  # slashes are folders in files
    return {
        "obs": [key, f"{key}_confidence", *(weights if len(weights) > 1 else [])],
        "obsm": [f"X_{key}"],
        "obsp": [f"{key}_connectivities", f"{key}_distances"],
        "uns": [key],
    }


def check_places(data: "AnnData | MuData", places: Mapping[str, list[str]]) -> None:
    """Refuse to overwrite what somebody else has written; results of an earlier call are replaced."""
    if _is_ours(data.uns.get(places["uns"][0])):
        return
    for room, keys in places.items():
        for key in keys:
            if key in getattr(data, room):
                raise ValueError(
                    f"{room}[{key!r}] is there already, and is not a result of this function; give another "
                    "key_added, or delete it first."
                )


def _is_ours(report: Any) -> bool:
    return isinstance(report, Mapping) and dict(report.get("params", {})).get("method") == METHOD


def write(data: "AnnData | MuData", key: str, model: LKG, views: list[View], asked: Mapping[str, Any]) -> None:
    """Write labels, graph, embedding and report, in place of those of an earlier call."""
    import pandas as pd

    places, earlier = places_of(key, [view.name for view in views]), data.uns.get(key)
    if _is_ours(earlier):
        gone = places_of(key, earlier["views"].index)["obs"][1:]
        data.obs = data.obs.drop(columns=[column for column in gone if column in data.obs])
    labels, embedding, known = by_size(np.asarray(model.labels_)), np.asarray(model.embedding_), model.views_
    shares: Any = [] if known.shares is None else np.asarray(known.shares).T
    clusters = pd.Categorical(labels.astype(str), categories=[str(i) for i in range(labels.max() + 1)])
    for name, column in zip(places["obs"], [clusters, np.asarray(model.confidence_), *shares], strict=False):
        data.obs[name] = pd.Series(column, index=data.obs_names)
    use_rep, (connectivities, distances) = places["obsm"][0], places["obsp"]
    data.obsm[use_rep] = embedding
    data.obsp[connectivities], data.obsp[distances] = learned_graph(model.graph_, embedding)
    degree = max(round(data.obsp[connectivities].nnz / len(labels)), 2)
    told = {
        "representation": [view.path for view in views],
        "trusted": known.trusted,
        "weight": known.weights,
        "reason": [in_names(why, views) for why in known.why],
        "n_obs": [int(measured_rows(view.matrix).sum()) for view in views],
        "clarity": known.clarity,
    }
    data.uns[key] = {
        "connectivities_key": connectivities,
        "distances_key": distances,
        # The names that scanpy's own functions look for; theirs is the representation that was embedded.
        "params": {"method": METHOD, "n_neighbors": degree, "metric": "euclidean", "use_rep": use_rep},
        "parameters": {name: _storable(value) for name, value in asked.items() if value is not None},
        "n_clusters": int(labels.max()) + 1,
        "views": pd.DataFrame(told, index=[view.name for view in views]),
        "agreement": known.agreement,
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
    # As scanpy has them: the older kind of matrices, in single precision.
    kinds = [np.asarray(values, dtype=np.float32) for values in (weights, apart)]
    first, second = (sparse.csr_matrix((values, (row, column)), shape=(len(embedding),) * 2) for values in kinds)
    return first, second


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
    check_places(data, places_of(key_added, [view.name for view in views]))
    parameters = {"random_state": 0, **parameters}
    with _names_in_sentences(views):
        X = [view.matrix for view in views] if len(views) > 1 else views[0].matrix
        model = LKG(n_clusters, **parameters).fit(X)
    if copy:
        data = data.to_memory() if getattr(data, "isbacked", False) and not is_mudata(data) else data.copy()
    asked = {"n_clusters": n_clusters, "use_rep": use_rep, **parameters}
    write(data, key_added, model, views, asked)
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
    refuse_moved(LKG, parameters)
    known = [name for name in LKG().get_params() if name != "n_clusters"]
    for name in parameters:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "those of LKG are allowed."
            raise TypeError(f"there is no parameter {name}; {hint}")
