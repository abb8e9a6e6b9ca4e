import tempfile

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import _blocks
from kernelbraid.datasets import DataError, read_labels, read_samples
from kernelbraid.io import arrays, tables
from small_files import refuse, write

rng = np.random.default_rng(0)
X = rng.standard_normal((230, 3))
NAMES = [f"s{i:03}" for i in range(230)]


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch, tmp_path):
    """Blocks are short, and temporary files are here."""
    monkeypatch.setattr(tables, "HEAD", 20)
    for module in (tables, arrays):
        monkeypatch.setattr(module, "CELLS", 15)
    monkeypatch.setattr(arrays, "MAPPED", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture(params=["memory", "disk"])
def room(request, monkeypatch):
    """Return whether there is little memory."""
    if request.param == "disk":
        monkeypatch.setattr(_blocks, "available_bytes", lambda: 400)
    return request.param


def write_csv(folder, values=X, names=NAMES, sign=",", decimal="."):
    rows = [
        sign.join([name, *(repr(x).replace(".", decimal) for x in row)])
        for name, row in zip(names, values.tolist(), strict=True)
    ]
    return write(folder, "X.csv", "\n".join([sign.join(["id", "a", "b", "c"]), *rows, ""]))


@pytest.fixture
def parquet(tmp_path):
    """Write columns as a Parquet file of groups of seven rows."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    def write(name="X.parquet", **columns):
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=7)
        return tmp_path / name

    return write


def test_whole_numbers_name_samples_in_every_block_and_none_is_missing(parquet):
    ids = [1000 + i for i in range(230)]
    assert read_samples(parquet(id=ids, a=X[:, 0])).ids == list(map(str, ids))
    ids[166] = None
    refuse(read_samples, parquet(id=ids, a=X[:, 0]), "column 'id' has no value in row 167")
    assert read_labels(parquet(id=ids, label=[1] * 230)).ids[165:168:2] == ["1165", "1167"]


def columns_of(X, dtype=float):
    return {f"f{i}": column.astype(dtype) for i, column in enumerate(X.T)}


@pytest.mark.parametrize(("sign", "decimal"), [(",", "."), (";", ","), ("\t", ".")])
def test_a_table_of_text_is_read_in_blocks(tmp_path, room, sign, decimal):
    samples = read_samples(write_csv(tmp_path, sign=sign, decimal=decimal))
    np.testing.assert_array_equal(samples.X, X)
    assert isinstance(samples.X, np.memmap) is (room == "disk")
    assert samples.ids == NAMES
    assert [path.name for path in tmp_path.iterdir()] == ["X.csv"]  # temporary files have no names


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_parquet_file_is_read_in_blocks(parquet, room, dtype):
    path = parquet(id=NAMES, **columns_of(X, dtype), species=["x"] * 230)
    samples = read_samples(path, drop=["species"])
    np.testing.assert_array_equal(samples.X, X.astype(dtype))
    assert samples.X.dtype == dtype
    assert isinstance(samples.X, np.memmap) is (room == "disk")
    assert (samples.ids, samples.feature_names) == (NAMES, ["f0", "f1", "f2"])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool, ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_file_stays_where_it_is_if_it_can(tmp_path, room, dtype, order):
    values = np.asarray(10 * X, dtype=dtype, order=order)
    np.save(tmp_path / "X.npy", values)
    found = read_samples(tmp_path / "X.npy").X
    np.testing.assert_array_equal(found, values.astype(np.float32 if dtype == np.float32 else np.float64))
    as_it_lies = order == "C" and dtype in (np.float32, np.float64)
    assert isinstance(found, np.memmap) is (as_it_lies or room == "disk")
    assert found.flags.c_contiguous


def test_the_first_value_that_is_not_finite_is_named(tmp_path, parquet, room):
    spoilt = X.copy()
    spoilt[166, 1] = np.inf
    np.save(tmp_path / "X.npy", spoilt)
    gap = parquet(f0=X[:, 0], f1=[*X[:166, 1], None, *X[167:, 1]])
    refuse(read_samples, tmp_path / "X.npy", "position (167, 2), counted from 1, is inf")
    refuse(read_samples, parquet("inf.parquet", **columns_of(spoilt)), "column 'f1' has an infinite value in row 167")
    refuse(read_samples, gap, "column 'f1' has no value in row 167 ('nan')")
    refuse(read_samples, write_csv(tmp_path, spoilt), "column 'b' has an infinite value in row 168 ('inf')")
    assert not [path for path in tmp_path.iterdir() if path.suffix not in (".npy", ".parquet", ".csv")]


@pytest.mark.parametrize(
    ("late", "says"),
    [
        ("x,1,two,3", "column 'b' has text in row 202 ('two')"),
        ("x,1,2", "row 202 has 3 cells, those before it 4"),
        ("x,1,2,3,4", "row 202 has 5 cells, those before it 4"),
        (",1,2,3", "column 'id' has no value in row 202"),
        (",,,", " has no value in row 202"),
        ('x,1,"2,5",3', "column 'b' has a number in another way in row 202 ('2,5')"),
    ],
)
def test_what_comes_late_in_a_table_is_refused_at_its_place(tmp_path, late, says):
    lines = write_csv(tmp_path).read_text().splitlines()
    refuse(read_samples, write(tmp_path, "late.csv", "\n".join([*lines[:201], late, *lines[201:]])), says)


def test_empty_rows_at_the_end_are_none_however_many_blocks_they_fill(tmp_path):
    lines = write_csv(tmp_path).read_text().splitlines()
    np.testing.assert_array_equal(read_samples(write(tmp_path, "a.csv", "\n".join([*lines, *[",,,"] * 90]))).X, X)


def test_empty_rows_above_others_are_samples_that_a_view_lacks_wherever_blocks_end(tmp_path):
    rows = [*["1,2"] * 18, *[","] * 45, "3,4", ",", *["5,6"] * 40, ",", ","]
    path = write(tmp_path, "a.csv", "\n".join(["a,b", *rows]))
    gone = [row == "," for row in rows[:-2]]
    np.testing.assert_array_equal(np.isnan(read_samples(path, gaps=True).X), np.column_stack([gone, gone]))
    refuse(read_samples, path, "column 'a' has no value in row 20")


def test_decimal_commas_may_come_late_between_semicolons(tmp_path):
    rows = ["1;2"] * 100 + ["1;2,5"]
    assert read_samples(write(tmp_path, "a.csv", "\n".join(rows))).X[-1].tolist() == [1, 2.5]
    refuse(read_samples, write(tmp_path, "b.csv", "\n".join([*rows, "2.5;1"])), "column 1", "in row 102 ('2.5')")
    refuse(read_samples, write(tmp_path, "c.csv", "\n".join(["1.234;2", *rows])), "column 1", "in row 1 ('1.234')")


def test_samples_that_a_view_lacks_are_rows_without_values(tmp_path, parquet):
    gaps = X.copy()
    gaps[50:120] = np.nan
    np.save(tmp_path / "X.npy", gaps)
    for path in (tmp_path / "X.npy", parquet(**columns_of(gaps))):
        np.testing.assert_array_equal(read_samples(path, gaps=True).X, gaps)
        with pytest.raises(DataError, match="51"):
            read_samples(path)


def test_columns_are_kept_by_their_exact_names(parquet):
    path = parquet(**{"1": X[:, 0], "2": X[:, 1], "3": X[:, 2]})
    np.testing.assert_array_equal(read_samples(path, keep=["3", "1"]).X, X[:, [2, 0]])
    refuse(read_samples, path, "there is no column '4', which is needed; use one of 1, 2, 3", keep=["4"])
    assert read_samples(path, keep=["2"], drop=["elsewhere"]).X.shape == (230, 1)


def test_sparse_files_stay_sparse(tmp_path):
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(X))
    assert sparse.issparse(read_samples(tmp_path / "X.npz").X)
