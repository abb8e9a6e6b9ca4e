"""Samples that are gone through again and again, in blocks of rows, wherever they are kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, validate_data

from kernelbraid._arrays import is_foreign, to_numpy
from kernelbraid._typing import Array
from kernelbraid.blocks.dask_parts import is_dask
from kernelbraid.blocks.parts import LocalParts
from kernelbraid.blocks.source import Blocks
from kernelbraid.estimators.base import FLOATS, check_whole_rows, set_features
from kernelbraid.estimators.tables import NUMBERS, named_columns, no_numbers, remedy_for
from kernelbraid.io.streams import Stream, open_stream

KEYS_AT_ONCE = 1 << 20


class BlockSource:
    """Checked samples in blocks of the same number of rows, however they were cut.

    Parameters
    ----------
    pieces : callable
        Returns a fresh iterator over 2-d pieces of the samples, in order.
    size : int
        Rows of a block; the last one may have fewer.
    name : str, default="X"
        What messages call the samples.
    gaps : bool, default=False
        Whether samples may be missing: rows of NaN in dense pieces.
    """

    def __init__(self, pieces: Callable[[], Iterable[Any]], size: int, name: str = "X", *, gaps: bool = False) -> None:
        self.size, self.name, self.gaps = size, name, gaps
        self.n_samples: int | None = None  # known after the first time through
        self._pieces = pieces
        for self.first in pieces():
            first = as_matrix(self.first, name)
            if first is not None:
                break
        else:
            raise ValueError(f"{name} holds no blocks; give at least one block of samples.")
        self.width, self.is_sparse = first.shape[1], sparse.issparse(first)
        self.widths: tuple[int, ...] = (self.width,)
        self.names = list(self.first.columns) if is_frame(self.first) else None
        if not self.width:
            raise ValueError(f"0 feature(s) (shape={tuple(first.shape)}) while a minimum of 1 is required.")

    def __iter__(self) -> Iterator[Array]:
        """Yield the blocks, floating-point and finite; float32 stays what it is."""
        kept: list[Array] = []
        rows = total = 0
        for piece in self._checked():
            start = 0
            while start < piece.shape[0]:
                taken = piece[start : start + self.size - rows]
                kept.append(taken)
                start, rows, total = start + taken.shape[0], rows + taken.shape[0], total + taken.shape[0]
                if rows == self.size:
                    yield join(kept)
                    kept, rows = [], 0
        if kept:
            yield join(kept)
        if total != (self.n_samples or total):
            raise ValueError(
                f"{self.name} gave {self.n_samples} samples at first and {total} later; give a source that yields "
                "the same blocks every time."
            )
        if not total:
            raise ValueError(f"0 sample(s) (shape=(0, {self.width})) while a minimum of 1 is required.")
        self.n_samples = total

    def parts(self, n_jobs: int | None) -> LocalParts[Array]:
        """Return the blocks as parts, so many of them in work at a time."""
        return LocalParts(self, n_jobs)

    def sample(self, count: int, seed: int) -> Array:
        """Return a uniform sample of at most so many rows, in random order."""
        return sample_rows(self, count, seed)

    def require(self, required: Any) -> None:
        """There are no gaps."""

    def _checked(self) -> Iterator[Array]:
        """Yield the pieces, each of the same width and kind, or name the one that is not."""
        first_row = 0
        for number, given in enumerate(self._pieces()):
            piece = as_matrix(given, self.name)
            if piece is None:
                raise ValueError(
                    f"block {number} of {self.name} has shape {np.shape(given)}; every block must be a matrix "
                    "(rows, features)."
                )
            if piece.shape[1] != self.width:
                raise ValueError(
                    f"block {number} of {self.name} has {piece.shape[1]} features, and block 0 has {self.width}; "
                    "give every block the same features."
                )
            if self.names is not None and list(getattr(given, "columns", self.names)) != self.names:
                raise ValueError(
                    f"block {number} of {self.name} has other columns than block 0, or in another order; give "
                    "every block the same."
                )
            check_values(piece, number, first_row, self.name, gaps=self.gaps)
            first_row += piece.shape[0]
            if sparse.issparse(piece) != self.is_sparse:
                piece = sparse.csr_array(piece) if self.is_sparse else piece.toarray()
            yield piece


def open_blocks(estimator: BaseEstimator, X: Array, size: int, *, reset: bool = True) -> BlockSource:
    """Return samples as a source of blocks.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and, for a data frame, ``feature_names_in_``.
    X : matrix, path, Stream or Blocks
        Array, memory map, scipy.sparse matrix or data frame; path of a file that
        :func:`kernelbraid.datasets.open_stream` opens, or what that returns; or blocks of rows.
    size : int
        Rows of a block.
    reset : bool, default=True
        False for new samples of a fitted estimator, which must have its features.

    Returns
    -------
    BlockSource
        Goes through the samples as often as asked.
    """
    if isinstance(X, str | Path):
        return _open_file(estimator, Path(X), size, reset)
    if is_memory_map(X):
        pieces = slices(X, size)
    elif is_foreign(X):
        return open_blocks(estimator, to_numpy(X), size, reset=reset)
    elif isinstance(X, Blocks | Stream):
        pieces = partial(iter, X)
    else:
        with named_columns(X, "X"):
            X = validate_data(estimator, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=False, reset=reset)
        return BlockSource(slices(X, size), size)
    source = BlockSource(pieces, size)
    if source.names is not None:
        _check_feature_names(estimator, source.first, reset=reset)
    set_features(estimator, source.width, reset)
    return source


def _open_file(estimator: BaseEstimator, path: Path, size: int, reset: bool) -> BlockSource:
    """Return the samples of a file; columns are found by the names that the fit has seen."""
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    stream = open_stream(path, keep=None if known is None else known.tolist())
    source = BlockSource(partial(iter, stream), size)
    if reset and stream.feature_names is not None:
        estimator.feature_names_in_ = np.array(stream.feature_names, dtype=object)
    set_features(estimator, source.width, reset)
    return source


def join(blocks: list[Array]) -> Array:
    """Return blocks of rows as one matrix, sparse if one of them is."""
    if len(blocks) == 1:
        return blocks[0]
    if any(map(sparse.issparse, blocks)):
        return sparse.vstack([sparse.csr_array(block) for block in blocks], format="csr")
    return np.concatenate(blocks)


def side_by_side(blocks: Sequence[Array]) -> Array:
    """Return blocks of the same rows as one matrix, their columns side by side, sparse if one of them is."""
    if any(map(sparse.issparse, blocks)):
        return sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
    return np.hstack(blocks)


def is_memory_map(X: Any) -> bool:
    """Tell a matrix that is read when it is cut."""
    return isinstance(X, np.memmap) and X.ndim == 2


def slices(X: Array, size: int) -> Callable[[], Iterable[Any]]:
    """Cut a matrix into pieces; an empty one stays whole, and is refused as such."""
    return lambda: (X[start : start + size] for start in range(0, max(X.shape[0], 1), size))


def as_matrix(piece: Any, name: str = "X") -> Array | None:
    """Return a piece as a floating-point matrix; None if it is none."""
    if is_dask(piece):
        raise ValueError(
            f"the blocks of {name} are Dask collections; join them, for instance with dask.array.concatenate."
        )
    if sparse.issparse(piece):
        piece = sparse.csr_array(piece)
    elif is_frame(piece):
        piece = frame_to_matrix(piece, name)
    else:
        piece = to_numpy(piece) if is_foreign(piece) else np.asarray(piece)
    if piece.ndim != 2:
        return None
    if piece.dtype in FLOATS:
        return piece
    if piece.dtype.kind not in "fiub":
        raise ValueError(f"the blocks of {name} hold {piece.dtype} values; samples must be real numbers.")
    return piece.astype(np.float64)


def is_frame(piece: Any) -> bool:
    """Tell a data frame of pandas."""
    return hasattr(piece, "columns") and hasattr(getattr(piece, "dtypes", None), "items")


def frame_to_matrix(frame: Any, name: str = "X") -> np.ndarray:
    """Return a data frame of pandas as a matrix; what is missing becomes NaN."""
    check_columns(frame, name)
    single = all(dtype == np.float32 for dtype in frame.dtypes)
    return np.asarray(frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))


def check_columns(frame: Any, name: str = "X") -> None:
    """Refuse a data frame, of pandas or Dask, with a column that holds no numbers."""
    for header, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in NUMBERS:
            raise no_numbers(name, header, dtype)


def check_values(piece: Array, number: int, first_row: int | None, name: str, *, gaps: bool) -> None:
    """Refuse what is not finite in a piece; rows of NaN may be there where samples may be missing."""
    if not gaps or sparse.issparse(piece) or not np.isnan(piece).any():
        check_finite(piece, number, first_row, name)
        return
    check_whole_rows(piece, name, partial(row_among_all, number=number, first_row=first_row))
    check_finite(np.where(np.isnan(piece), 0.0, piece), number, first_row, name)


def row_among_all(row: int, number: int, first_row: int | None) -> int | str:
    """Return the number of a row of a block among all samples, or how to find it."""
    return f"{row} of block {number}" if first_row is None else first_row + row


def check_finite(piece: Array, number: int, first_row: int | None, name: str = "X") -> None:
    """Name the first element of a piece that is not finite, and its row among all samples if that is known."""
    values = piece.data if sparse.issparse(piece) else piece
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    bad = int(np.flatnonzero(~np.isfinite(values.ravel()))[0])
    if sparse.issparse(piece):
        places = piece.tocoo()
        row, column = int(places.row[bad]), int(places.col[bad])
    else:
        row, column = divmod(bad, piece.shape[1])
    what = "NaN" if np.isnan(values.ravel()[bad]) else "infinity"
    overall = "" if first_row is None else f", row {first_row + row} of {name}"
    raise ValueError(
        f"block {number} of {name} contains {what} (row {row} of the block{overall}, column {column}, counted from "
        f"0); {remedy_for(values.ravel()[bad])}."
    )


def draw_seed(random_state: np.random.RandomState) -> int:
    """Return the seed of the keys of rows."""
    return int(random_state.randint(np.iinfo(np.int32).max))


def row_keys(seed: int, start: int, count: int) -> np.ndarray:
    """Return random keys of rows from `start`: those of a row are the same, wherever and in whatever block it is."""
    return np.random.Generator(np.random.PCG64(seed).advance(start)).random(count)  # one draw for each key


def sample_rows(blocks: Iterable[Array], count: int, seed: int) -> Array:
    """Return a uniform sample of at most so many rows, in random order; it does not depend on how they were cut.

    The rows of smallest keys are the sample.
    """
    kept: list[Array] = []
    keys, start = np.empty(0), 0
    for block in blocks:
        fresh = row_keys(seed, start, block.shape[0])
        start += block.shape[0]
        chosen = np.flatnonzero(fresh < keys.max()) if len(keys) >= count else np.arange(len(fresh))
        if not len(chosen):
            continue
        rows, keys = join([*kept, block[chosen]]), np.concatenate([keys, fresh[chosen]])
        order = np.argsort(keys, kind="stable")[:count]
        kept, keys = [rows[order]], keys[order]
    return kept[0]


def draw_rows(n_samples: int, count: int, seed: int) -> np.ndarray:
    """Return which rows :func:`sample_rows` takes from so many."""
    numbers = (np.arange(start, min(start + KEYS_AT_ONCE, n_samples)) for start in range(0, n_samples, KEYS_AT_ONCE))
    return np.asarray(sample_rows(numbers, count, seed))
