"""The files of a command as views of the same samples, read at once or opened to be read in blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbraid.datasets import DataError, Stream, column_names, open_stream, read_samples


@dataclass(frozen=True)
class FileViews:
    """The data of all files, ready for a fit."""

    data: Any  # one matrix, a list of views, kernels, or streams
    ids: list[str] | None
    n_samples: int
    n_features: int | None  # over all views; None for kernels
    names: list[str] | None = None  # of the features, if one file has them


def open_views(
    paths: Sequence[Path],
    *,
    key: str | None,
    id_column: str | None,
    drop: Sequence[str],
    keep: Sequence[str] | None = None,
) -> FileViews:
    """Open the files as views of the same samples, to be read in blocks."""
    choices = columns_by_file(paths, id_column, drop)
    streams: list[Stream] = [
        open_stream(path, key=key, keep=keep, **choice) for path, choice in zip(paths, choices, strict=True)
    ]
    n_samples = agreed_count(paths, [stream.n_samples for stream in streams])
    ids = agreed_ids(paths, [stream.ids for stream in streams])
    names = streams[0].feature_names if len(streams) == 1 else None
    return FileViews(streams, ids, n_samples, sum(stream.n_features for stream in streams), names)


def read_views(
    paths: Sequence[Path],
    *,
    key: str | None,
    id_column: str | None,
    drop: Sequence[str],
    precomputed: bool,
    keep: Sequence[str] | None = None,
    instead_of_kernels: str = "for kernels add --kernels precomputed",
) -> FileViews:
    """Read the files as views of the same samples, or as kernels over them."""
    choices = columns_by_file(paths, id_column, drop)
    files = [read_samples(path, key=key, keep=keep, **choice) for path, choice in zip(paths, choices, strict=True)]
    for path, file in zip(paths, files, strict=True):
        if file.X.ndim == 3 and not precomputed:
            raise DataError(f"{path}: this is a stack of shape {file.X.shape}; {instead_of_kernels}.")
    # Kernels between new and fitted samples need not be square.
    n_samples = agreed_count(paths, [file.X.shape[-2] for file in files])
    ids = agreed_ids(paths, [file.ids for file in files])
    matrices = [file.X for file in files]
    if precomputed:
        kernels = [kernel for X in matrices for kernel in (X if X.ndim == 3 else [X])]
        return FileViews(kernels, ids, n_samples, None)
    n_features = sum(X.shape[1] for X in matrices)
    if len(files) > 1:
        return FileViews(matrices, ids, n_samples, n_features)
    return FileViews(matrices[0], ids, n_samples, n_features, files[0].feature_names)


def columns_by_file(paths: Sequence[Path], id_column: str | None, drop: Sequence[str]) -> list[dict[str, Any]]:
    """Return id column and columns to drop for each file; among several files a column need not be in all."""
    if len(paths) == 1 or not (drop or id_column):
        return [{"id_column": id_column, "drop": drop} for _ in paths]
    known = [column_names(path) for path in paths]
    for name in [*drop, *([id_column] if id_column else [])]:
        if not any(name in names for names in known):
            raise DataError(f"no file has a column {name!r}; with several files give columns by name.")
    return [
        {"id_column": id_column if id_column in names else None, "drop": [name for name in drop if name in names]}
        for names in known
    ]


def agreed_ids(paths: Sequence[Path], ids: Sequence[list[str] | None]) -> list[str] | None:
    """Return the ids of the samples, which must be the same wherever they are given."""
    given = [(path, names) for path, names in zip(paths, ids, strict=True) if names is not None]
    if not given:
        return None
    first_path, first = given[0]
    for path, names in given[1:]:
        for row, (mine, other) in enumerate(zip(names, first, strict=True), 1):
            if mine != other:
                raise DataError(
                    f"{path}: sample {row} has the id {mine!r}, but {other!r} in {first_path}; "
                    "give the same samples in the same order."
                )
    return first


def agreed_count(paths: Sequence[Path], counts: Sequence[int]) -> int:
    """Return the number of samples, which must be the same in all files."""
    for path, count in zip(paths, counts, strict=True):
        if count != counts[0]:
            raise DataError(
                f"{path}: {count} samples, but {paths[0]} has {counts[0]}; all files must hold the same samples."
            )
    return counts[0]
