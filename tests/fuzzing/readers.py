"""Mutated files of every format, through what the command line reads them with."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from scipy import sparse

from fuzzing.corpus import MAKERS, corpus
from fuzzing.mutation import mutate
from fuzzing.target import MEGABYTE, ROOM, RefusedError, Target, all_refused, outcome_of
from kernelbraid.cli.views import open_views, read_views
from kernelbraid.datasets import DataError, LabelFile, Samples, Stream, column_names, read_labels

FREE = 200 * MEGABYTE  # memory that files are told is free
NAME = "data"


@contextmanager
def little_memory() -> Iterator[None]:
    """Let the readers see little free memory, so that small files can be too large."""
    with ExitStack() as stack:
        for module in ("kernelbraid.files.memory", "kernelbraid.files.sources"):
            stack.enter_context(mock.patch(f"{module}.available_bytes", return_value=FREE))
        yield


def make(suffix: str, rng: random.Random, folder: Path) -> None:
    """Write a file of the corpus, mostly changed."""
    files = corpus(suffix)
    content = rng.choice(files)
    (folder / f"{NAME}{suffix}").write_bytes(mutate(rng, content, files) if rng.random() < 0.97 else content)


def check(folder: Path) -> None:
    """Read samples, at once and in pieces, labels and names; all of them must agree."""
    path = next(folder.glob(f"{NAME}.*"))
    columns = {"key": None, "id_column": None, "drop": ()}
    with little_memory():
        refused = partial(outcome_of, about=path)
        labels = refused(lambda: read_labels(path), DataError)
        names = refused(lambda: column_names(path), DataError)
        views = refused(lambda: read_views([path], precomputed=True, **columns), DataError)
        again = refused(lambda: read_views([path], precomputed=True, **columns), DataError)
        pieces = refused(lambda: _gather(open_views([path], **columns).data[0]), DataError)
    if isinstance(labels, LabelFile):
        check_labels(labels)
    if not isinstance(views, RefusedError):
        X = views.data
        assert same(X, again.data), "the same file gives other samples"
        check_samples(X, views.ids)
        if not isinstance(pieces, RefusedError):
            assert same(X, pieces), "samples in pieces differ from those read at once"
    else:
        assert isinstance(again, RefusedError), "the same file is refused once"
    assert isinstance(names, RefusedError | list)
    all_refused(labels, views, pieces)


def _gather(stream: Stream) -> np.ndarray | sparse.csr_array:
    parts = list(stream)
    assert sum(part.shape[0] for part in parts) == stream.n_samples, "pieces have other sizes than they said"
    for number, size in enumerate(stream.sizes):
        assert stream.piece(number).shape == (size, stream.n_features), "a piece has another shape than it said"
    return sparse.vstack(parts).tocsr() if sparse.issparse(parts[0]) else np.concatenate(parts)


def check_samples(X: np.ndarray | sparse.csr_array, ids: list[str] | None) -> None:
    """Expect finite numbers, and one name for each sample."""
    assert X.dtype in (np.float32, np.float64), f"samples of type {X.dtype}"
    assert X.ndim in (2, 3), f"samples of shape {X.shape}"
    assert 0 not in X.shape, f"samples of shape {X.shape}"
    assert np.isfinite(X.data if sparse.issparse(X) else X).all(), "samples are not finite"
    assert ids is None or len(ids) == X.shape[-2], "not one name for each sample"


def check_labels(labels: LabelFile | Samples) -> None:
    """Expect one label per sample, each of them one that can be compared."""
    assert labels.values.ndim == 1, f"labels of shape {labels.values.shape}"
    assert labels.values.size > 0, "no labels"
    assert labels.values.dtype.kind in "biufU", f"labels of type {labels.values.dtype}"
    assert labels.values.dtype.kind != "f" or np.isfinite(labels.values).all(), "labels are not finite"
    assert labels.ids is None or len(labels.ids) == labels.values.size, "not one name for each label"


def same(one: np.ndarray | sparse.csr_array, other: np.ndarray | sparse.csr_array) -> bool:
    """Tell whether two matrices are the same in type, form and content."""
    if sparse.issparse(one) != sparse.issparse(other) or one.shape != other.shape or one.dtype != other.dtype:
        return False
    return (one != other).nnz == 0 if sparse.issparse(one) else np.array_equal(one, other)


TARGETS = [Target(suffix[1:], partial(make, suffix), check, share=1.0, room=FREE + ROOM) for suffix in MAKERS]
