import numpy as np
import pytest
from scipy import io, sparse

from files.small_files import X, refuse
from kernelbraid.datasets import read_samples
from kernelbraid.files import memory
from kernelbraid.files.mat import list_mat
from kernelbraid.files.sources import open_source

CONTENT = {
    "f8": X,
    "f4": X.astype("f4"),
    "i8": np.array([[2**62, 2**62 + 1]]),
    "u8": np.array([[2**64 - 1]], dtype="u8"),
    "i2": np.arange(24, dtype="i2").reshape(2, 3, 4),
    "flags": X > 0,
    "complex": X * 1j,
    "empty": np.empty((0, 3)),
    "sparse": sparse.csc_array(X * (X > 2)),
    "text": "some words",
    "rows": np.array(["ab", "cd"]),
    "cells": np.array([X, "word", np.array([X[:1], "in"], dtype=object)], dtype=object),
    "a_name_of_more_than_a_few_letters": np.array([[1.0]]),
}


def variables(path):
    return {name: array.read() for name, array in list_mat(open_source(path)).items()}


def assert_same(mine, theirs):
    if sparse.issparse(theirs):
        np.testing.assert_array_equal(mine.toarray(), theirs.toarray())
        return
    assert mine.dtype.kind == theirs.dtype.kind
    if mine.dtype.kind == "O":
        assert mine.shape == theirs.shape
        for one, other in zip(mine.ravel(), theirs.ravel(), strict=True):
            assert_same(one, other)
        return
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("compressed", [False, True])
def test_what_scipy_reads_is_read_alike(tmp_path, compressed):
    io.savemat(tmp_path / "a.mat", CONTENT, do_compression=compressed, long_field_names=True)
    mine, theirs = variables(tmp_path / "a.mat"), io.loadmat(tmp_path / "a.mat", spmatrix=False)
    assert list(mine) == list(CONTENT)
    for name, array in mine.items():
        assert_same(array, theirs[name])


def test_a_file_lists_its_variables_without_reading_them(tmp_path):
    io.savemat(tmp_path / "a.mat", {**CONTENT, "record": {"a": 1}})
    listed = list_mat(open_source(tmp_path / "a.mat"))
    assert {name: array.shape for name, array in listed.items()} == {
        **{name: np.atleast_2d(value).shape for name, value in CONTENT.items() if isinstance(value, np.ndarray)},
        **{"sparse": (3, 2), "text": (1,), "rows": (2,), "cells": (1, 3), "record": (1, 1)},
    }
    refuse(lambda path, key: read_samples(path, key=key), tmp_path / "a.mat", "neither numbers nor text", key="record")


def test_sizes_are_held_against_the_memory_before_anything_is_decoded(tmp_path, monkeypatch):
    io.savemat(tmp_path / "a.mat", {"X": np.zeros((1000, 100)), "small": X}, do_compression=True)
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    refuse(read_samples, tmp_path / "a.mat", "the variable 'X' takes 1.8 MB of memory, and 100 KB are free")
    np.testing.assert_array_equal(read_samples(tmp_path / "a.mat", key="small").X, X)


def test_logical_values_of_a_sparse_matrix_are_one_byte_each(tmp_path):
    # As MATLAB writes them: the type says doubles, the length that there is one byte for each.
    io.savemat(tmp_path / "a.mat", {"X": sparse.csc_array(X > 2)})
    content = bytearray((tmp_path / "a.mat").read_bytes())
    matrix = read_samples(tmp_path / "a.mat").X
    np.testing.assert_array_equal(matrix.toarray(), X > 2)
    assert content[128 + 17] & 0b10  # the flag that it depends on
