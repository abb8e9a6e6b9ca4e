"""Samples that come in blocks, of files or of whoever yields them: read once, and brought together as a matrix."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kernelbraid._arrays import is_dask, is_finite, is_foreign, to_numpy
from kernelbraid._blocks import together
from kernelbraid._typing import Array
from kernelbraid.estimators.tables import NUMBERS, no_numbers, refuse_infinite
from kernelbraid.io.samples import read_samples


class Blocks:
    """Samples in blocks of rows, one after the other, which are gone through once.

    A list of matrices means several views of the same samples. In this class, it means parts of one matrix.

    Parameters
    ----------
    blocks : list of matrices, or iterable
        Matrices of shape (n_rows, n_features), dense, sparse or data frames: a list of them, or an object that yields
        them. They may have different numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelbraid import LKG, Blocks
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0.0, 5.0], [5.0, 0.0]], 500, axis=0) + rng.normal(size=(1000, 2))
    >>> model = LKG(2, random_state=0).fit(Blocks([X[:300], X[300:]]))
    >>> np.bincount(model.labels_).tolist()
    [500, 500]

    Blocks that are made or read when they are needed:

    >>> class Drawn:
    ...     def __iter__(self):
    ...         for seed in range(3):
    ...             yield np.random.default_rng(seed).normal(size=(100, 2))
    >>> [block.shape for block in Blocks(Drawn())]
    [(100, 2), (100, 2), (100, 2)]
    """

    def __init__(self, blocks: Iterable[Any]) -> None:
        is_one = hasattr(blocks, "shape") or hasattr(blocks, "__array__") or isinstance(blocks, str | Path)
        if is_one or not hasattr(blocks, "__iter__"):
            raise ValueError(
                f"Blocks takes several blocks of rows, not one {type(blocks).__name__}; give a list of matrices or an "
                "object that yields them, and one matrix to the fit itself."
            )
        self._blocks = blocks

    def __iter__(self) -> Iterator[Any]:
        """Go through the blocks, from the first one."""
        return iter(self._blocks)


def gathered(X: Any, names: Sequence[str] | None = None) -> Any:
    """Return what users hand over, with matrices for files and blocks, alone or as views.

    Parameters
    ----------
    X : object
        Anything; arrays stay as they are.
    names : sequence of str, default=None
        The columns of a file, where a fit has seen them; all if None.
    """
    if isinstance(X, list | tuple):
        gaps = len(X) > 1
        return type(X)(_matrix(view, f"view {number} of X", None, gaps=gaps) for number, view in enumerate(X, 1))
    return _matrix(X, "X", names, gaps=False)


def _matrix(X: Any, name: str, names: Sequence[str] | None, *, gaps: bool) -> Any:
    """Return samples as a matrix, or as a data frame if their columns have names."""
    if isinstance(X, str | Path):
        samples = read_samples(X, keep=names, gaps=gaps)
        found, columns = samples.X, samples.feature_names
    elif isinstance(X, Blocks):
        columns = []
        found = together(_pieces(X, name, columns, gaps=gaps), name)
    else:
        return X
    if not columns or sparse.issparse(found):
        return found
    import pandas as pd

    return pd.DataFrame(found, columns=columns, copy=False)


def _pieces(blocks: Iterable[Any], name: str, columns: list[Any], *, gaps: bool) -> Iterator[Array]:
    """Yield blocks of rows as matrices, each of the same width and kind; data frames tell their columns."""
    width = n_rows = 0
    is_sparse = False
    for number, given in enumerate(blocks):
        what = f"block {number} of {name}"
        piece = checked_block(given, name, what, n_rows, gaps=gaps)
        if number == 0:
            width, is_sparse = piece.shape[1], sparse.issparse(piece)
            columns.extend(getattr(given, "columns", ()))
        if piece.shape[1] != width:
            raise ValueError(
                f"{what} has {piece.shape[1]} features, and block 0 has {width}; give every block the same features."
            )
        if hasattr(given, "columns") and list(given.columns) != columns:
            raise ValueError(f"{what} has other columns than block 0, or in another order; give every block the same.")
        n_rows += piece.shape[0]
        if sparse.issparse(piece) != is_sparse:
            piece = sparse.csr_array(piece) if is_sparse else piece.toarray()
        yield piece


def checked_block(given: Any, name: str, what: str, first_row: int | None, *, gaps: bool) -> Array:
    """Return a block of samples as a finite matrix, or say what is wrong with it; gaps are rows of NaN."""
    piece = _as_matrix(given, name)
    if piece is None:
        raise ValueError(f"{what} has shape {np.shape(given)}; every block must be a matrix (rows, features).")

    def where(row: int, column: int) -> str:
        overall = "" if first_row is None else f", row {first_row + row} of all"
        return f"row {row} of the block{overall}, column {column}, counted from 0"

    if not is_finite(piece):
        refuse_infinite(piece, what, where, gaps=gaps)
    return piece


def _as_matrix(piece: Any, name: str) -> Array | None:
    """Return a block as a floating-point matrix; None if it is none."""
    if is_dask(piece):
        raise ValueError(
            f"the blocks of {name} are Dask collections; join them, for instance with dask.array.concatenate."
        )
    if sparse.issparse(piece):
        piece = sparse.csr_array(piece)
    elif hasattr(piece, "columns") and hasattr(piece, "to_numpy"):
        for header, dtype in zip(piece.columns, piece.dtypes, strict=True):
            if getattr(dtype, "kind", "O") not in NUMBERS:
                raise no_numbers(name, header, dtype)
        single = all(dtype == np.float32 for dtype in piece.dtypes)
        piece = np.asarray(piece.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))
    else:
        piece = to_numpy(piece) if is_foreign(piece) else np.asarray(piece)
    if piece.ndim != 2:
        return None
    if piece.dtype.kind not in "fiub":
        raise ValueError(f"the blocks of {name} hold {piece.dtype} values; samples must be real numbers.")
    return piece if piece.dtype in (np.float32, np.float64) else piece.astype(np.float64)
