"""One call from an AnnData or MuData to clusters."""

import difflib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kernelbraid._typing import Parameters
from kernelbraid.estimators import LKG
from kernelbraid.estimators.solver import refuse_moved
from kernelbraid.estimators.tables import is_anndata, is_mudata
from kernelbraid.scverse.representations import View, in_names, views_of
from kernelbraid.scverse.results import Keys, write

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData


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
