import struct

import numpy as np
import pytest
from scipy import io, sparse

from files.small_files import X, refuse, write
from kernelbraid.datasets import read_labels, read_samples


def matrix(values, kind=0, order="<", name=b"X\0"):
    rows, columns = values.shape
    return struct.pack(f"{order}5i", kind, rows, columns, 0, len(name)) + name + values.tobytes(order="F")


def test_matrices_text_and_sparse_ones_are_read(tmp_path):
    path = tmp_path / "a.mat"
    io.savemat(path, {"X": X, "y": np.array([[1.0], [2], [3]]), "note": "text"}, format="4")
    np.testing.assert_array_equal(read_samples(path).X, X)
    np.testing.assert_array_equal(read_labels(path, key="y").values, [1, 2, 3])
    np.testing.assert_array_equal(read_labels(path, key="note").values, ["text"])
    io.savemat(path, {"S": sparse.coo_array(X * (X > 2))}, format="4")
    read = read_samples(path).X
    assert isinstance(read, sparse.csr_array)
    np.testing.assert_array_equal(read.toarray(), X * (X > 2))


@pytest.mark.parametrize(("kind", "order", "dtype"), [(1000, ">", ">f8"), (10, "<", "<f4"), (1020, ">", ">i4")])
def test_other_numbers_and_orders_of_bytes_are_read(tmp_path, kind, order, dtype):
    values = np.arange(6).reshape(3, 2).astype(dtype)
    np.testing.assert_array_equal(read_samples(write(tmp_path, "a.mat", matrix(values, kind, order))).X, values)


def test_complex_numbers_are_refused_as_samples(tmp_path):
    io.savemat(tmp_path / "a.mat", {"X": X * 1j}, format="4")
    refuse(read_samples, tmp_path / "a.mat", "save real numbers")


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_damaged_matrices_get_one_sentence(tmp_path, read):
    for content in [
        matrix(X)[:-1],
        matrix(X)[:10],
        matrix(X, kind=7),
        matrix(X, kind=100),
        matrix(X, kind=2000),
        struct.pack("<5i", 0, -1, 2, 0, 2) + b"X\0",
        struct.pack("<5i", 0, 2**31 - 1, 2**31 - 1, 0, 2) + b"X\0",
        matrix(np.array([[1.0, 1, 5], [-2, 3, 0]]), kind=2),
        matrix(np.array([[9.0, 1, 5], [2, 3, 0]]), kind=2),
        matrix(np.array([[1.0, 2]]), kind=2),
    ]:
        refuse(read, write(tmp_path, "a.mat", content))
