import pickle

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.datasets import DataError, open_stream, read_samples
from kernelbraid.io import samples as module

rng = np.random.default_rng(0)
X = rng.standard_normal((23, 3))


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 5)


@pytest.fixture
def parquet(tmp_path):
    """Write columns as a Parquet file of groups of seven rows."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    def write(name="X.parquet", **columns):
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=7)
        return tmp_path / name

    return write


def columns_of(X, dtype=float):
    return {f"f{i}": column.astype(dtype) for i, column in enumerate(X.T)}


def as_matrix(stream):
    pieces = [piece.toarray() if sparse.issparse(piece) else piece for piece in stream]
    assert max(len(piece) for piece in pieces) <= 7
    return np.vstack(pieces)


def assert_streams(stream, expected):
    for _ in range(2):
        np.testing.assert_array_equal(as_matrix(stream), expected)
    pieces = [stream.piece(number) for number in range(len(stream.sizes))]
    assert [piece.shape[0] for piece in pieces] == list(stream.sizes)
    assert {piece.dtype for piece in pieces} == {stream.dtype}
    assert (stream.n_samples, stream.n_features) == expected.shape
    assert stream.dtype == expected.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_file_is_read_in_pieces(tmp_path, dtype, order):
    values = np.asarray(10 * X, dtype=dtype, order=order)
    np.save(tmp_path / "X.npy", values)
    stream = open_stream(tmp_path / "X.npy")
    assert_streams(stream, values.astype(np.float32 if dtype == np.float32 else np.float64))
    assert not stream.in_memory


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_parquet_file_is_read_in_groups(parquet, dtype):
    names = [f"s{i}" for i in range(23)]
    path = parquet(id=names, **columns_of(X, dtype), species=["x"] * 23)
    stream = open_stream(path, drop=["species"])
    assert_streams(stream, X.astype(dtype))
    assert stream.sizes == (7, 7, 7, 2)
    assert stream.ids == names
    assert stream.feature_names == ["f0", "f1", "f2"]
    assert stream.ids == read_samples(path, drop=["species"]).ids


def test_the_first_value_that_is_not_finite_is_named(tmp_path, parquet):
    spoilt = X.copy()
    spoilt[16, 1] = np.inf
    np.save(tmp_path / "X.npy", spoilt)
    tables = [parquet("inf.parquet", **columns_of(spoilt)), parquet(f0=X[:, 0], f1=[*X[:16, 1], None, *X[17:, 1]])]
    says = [
        r"column 'f1' has an infinite value in row 17 \('inf'\)",
        r"column 'f1' has no value in row 17 \('nan'\)",
    ]
    for path, message in zip([tmp_path / "X.npy", *tables], [r"\(17, 2\), counted from 1, is inf", *says], strict=True):
        stream = open_stream(path)
        with pytest.raises(DataError, match=message):
            list(stream)
        with pytest.raises(DataError, match=message):
            stream.piece(16 // stream.sizes[0])


def test_columns_are_kept_by_their_exact_names(tmp_path, parquet):
    path = parquet(**{"1": X[:, 0], "2": X[:, 1], "3": X[:, 2]})
    np.testing.assert_array_equal(as_matrix(open_stream(path, keep=["3", "1"])), X[:, [2, 0]])
    with pytest.raises(DataError, match="there is no column '4', which is needed; use one of 1, 2, 3"):
        open_stream(path, keep=["4"])
    assert open_stream(path, keep=["2"], drop=["elsewhere"]).n_features == 1


@pytest.mark.parametrize("kind", ["csv", "npz", "sparse"])
def test_other_files_are_read_as_a_whole(tmp_path, kind):
    path = tmp_path / f"X.{'csv' if kind == 'csv' else 'npz'}"
    if kind == "csv":
        path.write_text(
            "id,a,b,c\n" + "".join(f"s{i},{','.join(map(repr, row))}\n" for i, row in enumerate(X.tolist()))
        )
    elif kind == "npz":
        np.savez(path, X=X)
    else:
        sparse.save_npz(path, sparse.csr_array(X))
    stream = open_stream(path)
    assert_streams(stream, X)
    assert stream.in_memory
    assert (stream.ids or [None])[0] == ("s0" if kind == "csv" else None)


def test_a_worker_can_be_told_to_read_a_piece(tmp_path, parquet):
    np.save(tmp_path / "X.npy", X)
    for path, rows in ((tmp_path / "X.npy", 5), (parquet(**columns_of(X)), 7)):
        stream = pickle.loads(pickle.dumps(open_stream(path)))
        np.testing.assert_array_equal(stream.piece(1), X[rows : 2 * rows])


def test_bad_files_get_a_clear_sentence(tmp_path, parquet):
    np.save(tmp_path / "flat.npy", X[0])
    np.save(tmp_path / "text.npy", X.astype(str))
    np.save(tmp_path / "stack.npy", X[None])
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    np.savez(tmp_path / "stack.npz", X=np.stack([X @ X.T] * 2))
    (tmp_path / "bad.npy").write_bytes(b"no such format, whatever the name says")
    (tmp_path / "bad.parquet").write_bytes(b"no such format, whatever the name says")
    parquet("text.parquet", a=X[:, 0], b=["word"] * 23)
    parquet("empty.parquet", a=np.empty(0))
    for name, says in {
        "flat.npy": r"has shape \(3,\); give one row per sample",
        "text.npy": "is of type <U32; save real numbers",
        "stack.npy": r"has shape \(1, 23, 3\); give one row",
        "stack.npz": r"has shape \(2, 23, 23\); give one row",
        "bad.npy": "numpy.save",
        "objects.npy": "numpy.save",
        "bad.parquet": "the file cannot be read",
        "text.parquet": r"column 'b' has text in row 1 \('word'\); .* leave the column out \(--drop b\)",
        "empty.parquet": "the file is empty",
        "none.npy": "No such file",
    }.items():
        with pytest.raises(DataError, match=says):
            open_stream(tmp_path / name)
    with pytest.raises(DataError, match="an array file has no named columns"):
        open_stream(tmp_path / "flat.npy", drop=["a"])
