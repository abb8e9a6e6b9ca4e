"""What of an AnnData or MuData is clustered: a matrix per view, with a row for every cell."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from kernelbraid._typing import Array
from kernelbraid.estimators.reading import is_anndata, is_mudata

if TYPE_CHECKING:
    from anndata import AnnData
    from mudata import MuData

#: What is clustered where nobody says: these if they are there, and X otherwise.
PREFERRED = "X_pca"
#: Features up to which scanpy, too, takes X without a word.
FEW_FEATURES = 50
# Where representations are, in the order in which a bare name is looked up.
ROOMS = ("obsm", "layers")


@dataclass(frozen=True)
class View:
    """One view of the cells."""

    name: str  # what columns and messages call it
    path: str  # where it was found, such as obsm/X_pca or rna/X
    matrix: Array  # (n_obs, n_features), dense or csr; rows of NaN where a modality lacks a cell


def in_names(sentence: str, views: Sequence[View]) -> str:
    """Return a sentence of the library in which several views are called by their names instead of their numbers."""
    if len(views) == 1:
        return sentence

    def names(found: re.Match[str]) -> str:
        return " and ".join(repr(views[int(number) - 1].name) for number in found[1].split(", "))

    return re.sub(r"\bviews? (\d+(?:, \d+)*)", names, sentence)


def views_of(data: "AnnData | MuData", use_rep: Any) -> list[View]:
    """Return the views that are to be clustered.

    Parameters
    ----------
    data : AnnData or MuData
        Cells.
    use_rep : str, sequence of str, mapping of str, or None
        As for :func:`kernelbraid.scverse.cluster`.
    """
    if is_mudata(data):
        return _of_modalities(data, use_rep)
    if isinstance(use_rep, Mapping):
        raise TypeError("use_rep names representations by modality, and an AnnData has none; give a name or a list.")
    return _of_one(data, use_rep, "the AnnData")


def _of_one(data: "AnnData", use_rep: Any, where: str) -> list[View]:
    """Return the views that an AnnData has."""
    names = [_default(data, where)] if use_rep is None else _list_of(use_rep, data)
    return _named([_found(data, name, where) for name in names])


def _list_of(use_rep: Any, data: "AnnData | MuData") -> list[str]:
    """Return names of representations."""
    names = [use_rep] if isinstance(use_rep, str) else use_rep
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"use_rep={use_rep!r} must be the name of a representation, or a list of names; {_there(data)}")
    return list(names)


def _default(data: "AnnData", where: str) -> str:
    """Return the representation that is clustered where nobody says, and tell if it is one that few would choose."""
    if PREFERRED in data.obsm:
        return f"obsm/{PREFERRED}"
    if data.n_vars > FEW_FEATURES and data.X is not None:
        warnings.warn(
            f"{where} has no {PREFERRED}, and X is clustered as it is, with {data.n_vars} features; run scanpy.pp.pca "
            "first, or say use_rep='X' if this is meant.",
            UserWarning,
            stacklevel=5,
        )
    return "X"


def _found(data: "AnnData | MuData", name: str, where: str) -> tuple[str, Array]:
    """Return the path of a representation, and its matrix in memory."""
    room, _, inner = name.partition("/")
    places = [(room, inner)] if room in ROOMS and inner else [(room, name) for room in ROOMS]
    if name == "X":
        if data.X is None:
            raise ValueError(f"{where} has no X; {_there(data)}")
        return "X", _in_memory(data.X)
    for room, key in places:
        if key in getattr(data, room):
            return f"{room}/{key}", _in_memory(getattr(data, room)[key])
    raise ValueError(f"{where} has no representation {name!r}; {_there(data)}")


def _there(data: "AnnData | MuData") -> str:
    """Say which representations there are."""
    there = ["X"] if not is_mudata(data) and data.X is not None else []
    there += [f"{room}/{key}" for room in ROOMS for key in getattr(data, room, {})]
    return f"there {'is' if len(there) == 1 else 'are'} {', '.join(there) or 'none'}."


def _in_memory(matrix: Any) -> Array:
    """Return a representation as a matrix in memory: of a file, of Dask, of a data frame."""
    for read in ("to_memory", "compute"):
        if hasattr(matrix, read):
            matrix = getattr(matrix, read)()
    return sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix)


def _of_modalities(data: "MuData", use_rep: Any) -> list[View]:
    """Return a view per modality, or per representation of the whole MuData."""
    if data.axis != 0:
        raise ValueError(
            f"the modalities of this MuData share features, not cells (axis={data.axis}); join them with "
            "anndata.concat, and give the AnnData."
        )
    if isinstance(use_rep, str | list | tuple):
        names = _list_of(use_rep, data)
        if all(name.removeprefix("obsm/") in data.obsm and name not in data.mod for name in names):
            return _named([_found(data, name, "the MuData") for name in names])
    wanted = dict(use_rep) if isinstance(use_rep, Mapping) else dict.fromkeys(data.mod, use_rep)
    unknown = [name for name in wanted if name not in data.mod]
    if unknown or not wanted:
        asked = f"use_rep names the modality {unknown[0]!r}" if unknown else "use_rep is empty"
        raise ValueError(f"{asked}; there are {', '.join(data.mod)}.")
    for name in wanted:
        if not is_anndata(data.mod[name]):
            told = f"modality {name!r} is a {type(data.mod[name]).__name__}, not an AnnData"
            raise TypeError(f"{told}; give its modalities themselves.")
    found = {name: _of_one(data.mod[name], rep, f"modality {name!r}") for name, rep in wanted.items()}
    _check_common(data, list(found))
    single = all(len(views) == 1 for views in found.values())
    return [
        View(name if single else f"{name}_{view.name}", f"{name}/{view.path}", _spread(data, name, view.matrix))
        for name, views in found.items()
        for view in views
    ]


def _check_common(data: "MuData", names: Sequence[str]) -> None:
    """Refuse modalities of which one has no cell in common with the others."""
    measured = {name: np.asarray(data.obsmap[name]).ravel() > 0 for name in names}
    for name in names:
        others = [measured[other] for other in names if other != name]
        if others and not (measured[name] & np.logical_or.reduce(others)).any():
            rest = " or ".join(repr(other) for other in names if other != name)
            raise ValueError(
                f"modality {name!r} has no cell in common with {rest}; cells are matched by obs_names: give the same "
                "names to the same cells, or cluster this modality by itself."
            )


def _spread(data: "MuData", name: str, matrix: Array) -> Array:
    """Return the rows of all cells: of NaN for those that the modality lacks."""
    places = np.asarray(data.obsmap[name]).ravel().astype(np.int64)
    rows = places[places > 0] - 1
    if len(rows) == data.n_obs:
        return matrix[rows]
    dtype = matrix.dtype if matrix.dtype in (np.float32, np.float64) else np.float64
    spread = np.full((data.n_obs, matrix.shape[1]), np.nan, dtype=dtype)
    spread[places > 0] = matrix[rows].toarray() if sparse.issparse(matrix) else matrix[rows]
    return spread


def _named(found: Sequence[tuple[str, Array]]) -> list[View]:
    """Return representations under short names, and longer ones where two would be the same."""
    short = [path.rpartition("/")[2] for path, _ in found]
    return [
        View(name if short.count(name) == 1 else path.replace("/", "_"), path, matrix)
        for name, (path, matrix) in zip(short, found, strict=True)
    ]
