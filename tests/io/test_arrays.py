import pickle

import numpy as np
import pytest
from scipy import io, sparse

from kernelbraid.datasets import read_labels, read_samples
from small_files import X, refuse, write


class Trap:
    """Says so if it is ever unpickled."""

    def __reduce__(self):
        return pytest.fail, ("a pickled object was loaded",)


def test_a_stack_of_kernels_may_have_three_axes(tmp_path):
    stack = np.arange(18.0).reshape(2, 3, 3)
    np.save(tmp_path / "a.npy", stack)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").X, stack)
    np.savez(tmp_path / "a.npz", kernels=stack, y=[0, 1, 2])
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz").X, stack)


def test_a_matlab_stack_is_turned_round(tmp_path):
    stack = np.arange(18.0).reshape(2, 3, 3)
    io.savemat(tmp_path / "a.mat", {"KH": np.moveaxis(stack, 0, 2), "Y": [[1], [2], [3]]})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.mat").X, stack)


def test_the_only_matrix_is_read_whatever_its_name(tmp_path):
    np.savez(tmp_path / "a.npz", features=X, y=[0, 1, 2], note=np.array("text"))
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz").X, X)
    io.savemat(tmp_path / "a.mat", {"features": X, "gnd": [[1], [2], [3]], "note": "text"})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.mat").X, X)


@pytest.mark.parametrize(("names", "chosen"), [(["fea", "X"], "X"), (["fea", "other"], "fea")])
@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_of_several_matrices_the_usual_name_is_read(tmp_path, suffix, names, chosen):
    content, path = {name: X * (name == chosen) for name in names}, tmp_path / f"a{suffix}"
    np.savez(path, **content) if suffix == ".npz" else io.savemat(path, content)
    np.testing.assert_array_equal(read_samples(path).X, X)
    np.testing.assert_array_equal(read_samples(path, key=names[0]).X, content[names[0]])


@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_several_arrays_need_a_key(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    np.savez(path, a=X, b=X) if suffix == ".npz" else io.savemat(path, {"a": X, "b": X})
    refuse(read_samples, path, "a, b", "--key")
    refuse(read_samples, path, "no array 'c'", "a", "b", key="c")
    np.testing.assert_array_equal(read_samples(path, key="b").X, X)


@pytest.mark.parametrize("family", ["array", "matrix"])
def test_sparse_files_stay_sparse(tmp_path, family):
    for kind in ["csr", "csc", "coo", "bsr", "dia"]:
        matrix = getattr(sparse, f"{kind}_{family}")(X * (X > 2))
        sparse.save_npz(tmp_path / "a.npz", matrix)
        read = read_samples(tmp_path / "a.npz").X
        assert isinstance(read, sparse.csr_array)
        np.testing.assert_array_equal(read.toarray(), matrix.toarray())


def test_a_sparse_matlab_matrix_stays_sparse(tmp_path):
    matrix = sparse.csc_array(X * (X > 2))
    io.savemat(tmp_path / "a.mat", {"fea": matrix, "gnd": [[1], [2], [3]]})
    read = read_samples(tmp_path / "a.mat").X
    assert isinstance(read, sparse.csr_array)
    np.testing.assert_array_equal(read.toarray(), matrix.toarray())


def test_the_parts_of_a_sparse_matrix_are_put_together(tmp_path):
    matrix = sparse.csr_array(X * (X > 2))
    parts = {f"X_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "a.npz", **parts, y=[0, 1, 2])
    for key in (None, "X"):
        read = read_samples(tmp_path / "a.npz", key=key).X
        assert isinstance(read, sparse.csr_array)
        np.testing.assert_array_equal(read.toarray(), matrix.toarray())
    np.testing.assert_array_equal(read_labels(tmp_path / "a.npz").values, [0, 1, 2])


def test_sparse_parts_out_of_bounds_are_refused(tmp_path):
    parts = {"X_data": [1.0], "X_indices": [10**6], "X_indptr": [0, 1], "X_shape": [1, 2]}
    np.savez(tmp_path / "a.npz", **parts)
    refuse(read_samples, tmp_path / "a.npz", "cannot be read")
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices = np.array([0, 1, 99], dtype=matrix.indices.dtype)
    sparse.save_npz(tmp_path / "b.npz", matrix)
    refuse(read_samples, tmp_path / "b.npz", "cannot be read")


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_pickled_objects_are_refused_and_never_loaded(tmp_path, read):
    trap = np.array([[Trap(), Trap()]], dtype=object)
    np.save(tmp_path / "a.npy", trap)
    np.savez(tmp_path / "a.npz", X=trap)
    write(tmp_path, "b.npy", pickle.dumps(Trap()))
    write(tmp_path, "b.npz", pickle.dumps(Trap()))
    for name in ("a.npy", "a.npz", "b.npy", "b.npz"):
        refuse(read, tmp_path / name, "numpy.save")


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_matlab_file_of_version_7_3_is_refused_with_the_remedy(tmp_path, read):
    for content in [
        b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n" + bytes(100),
        b"Anything".ljust(124) + b"\x00\x02IM" + bytes(384) + b"\x89HDF\r\n\x1a\n" + bytes(100),
    ]:
        refuse(read, write(tmp_path, "a.mat", content), "save it again in MATLAB with -v7")
