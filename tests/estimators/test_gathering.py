import errno
import io
import mmap
import tempfile

import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG, Blocks, _blocks
from kernelbraid.estimators.gathering import gathered
from problems import blobs

X, y = blobs(n=120, d=4, k=3)
MODEL = LKG(3, random_state=0)


@pytest.fixture(scope="module")
def expected():
    return LKG(3, random_state=0).fit(X).labels_


def fit(given):
    return LKG(3, random_state=0).fit(given)


def in_parts(*ends):
    return np.split(X, ends)


@pytest.fixture
def files(tmp_path):
    """The samples in files of each kind."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    np.save(tmp_path / "X.npy", X)
    frame.to_csv(tmp_path / "X.csv", index=False)
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(X))
    found = [tmp_path / name for name in ("X.npy", "X.csv", "X.npz")]
    try:
        frame.to_parquet(tmp_path / "X.parquet", row_group_size=50)
        found.append(tmp_path / "X.parquet")
    except ImportError:  # pyarrow is not installed
        pass
    return found


def test_a_file_is_fitted_and_predicted_as_its_samples_are(files, expected):
    for path in files:
        model = fit(str(path))
        np.testing.assert_array_equal(model.labels_, expected, err_msg=path.name)
        np.testing.assert_array_equal(model.predict(path), expected, err_msg=path.name)


def test_columns_of_a_file_are_found_by_the_names_of_the_fit(files, tmp_path):
    table = next(path for path in files if path.suffix == ".csv")
    model = fit(table)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    import pandas

    pandas.read_csv(table)[["d", "a", "c", "b"]].assign(e=1).to_csv(tmp_path / "turned.csv", index=False)
    np.testing.assert_array_equal(model.predict(tmp_path / "turned.csv"), model.labels_)


def test_a_large_file_of_numpy_stays_where_it_is(files, monkeypatch):
    monkeypatch.setattr("kernelbraid.io.arrays.MAPPED", 0)
    assert isinstance(gathered(files[0]), np.memmap)


@pytest.mark.parametrize(
    "blocks",
    [
        in_parts(50),
        in_parts(1, 70, 110),
        [part.tolist() for part in in_parts(60)],
        [sparse.csr_array(part) for part in in_parts(60)],
        [X[:50], sparse.csr_array(X[50:])],
    ],
    ids=["two", "uneven", "lists", "sparse", "mixed"],
)
def test_blocks_are_samples_one_after_the_other(blocks, expected):
    np.testing.assert_array_equal(fit(Blocks(blocks)).labels_, expected)


def test_blocks_are_gone_through_once():
    class Counted:
        times = 0

        def __iter__(self):
            self.times += 1
            return iter(in_parts(40, 80))

    counted = Counted()
    fit(Blocks(counted))
    assert counted.times == 1
    np.testing.assert_array_equal(gathered(Blocks(part for part in in_parts(40))), X)


@pytest.fixture
def no_room(monkeypatch, tmp_path):
    """Memory is short, and temporary files are here."""
    monkeypatch.setattr(_blocks, "available_bytes", lambda: 400)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_where_memory_is_short_samples_are_brought_together_on_disk(no_room):
    found = gathered(Blocks(in_parts(10, 50, 90)))
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, X)
    assert not list(no_room.iterdir())  # nobody else sees the file, and it goes with the samples


@pytest.mark.parametrize("part", [100, 2**25])
def test_longer_numbers_that_come_late_lose_nothing_on_disk(no_room, monkeypatch, part):
    monkeypatch.setattr(_blocks, "PART", part)
    found = gathered(Blocks([X[:10].astype(np.float32), X[10:50].astype(np.float32), 1e100 * X[50:], X[:1]]))
    assert isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, np.vstack([X[:50].astype(np.float32), 1e100 * X[50:], X[:1]]))
    assert not list(no_room.iterdir())


def is_on_disk(values):
    while isinstance(values, np.ndarray):
        values = values.base
    return isinstance(values, mmap.mmap)


@pytest.mark.parametrize("is_short", [True, False])
def test_sparse_blocks_are_brought_together_in_memory_or_on_disk(request, is_short):
    folder = request.getfixturevalue("no_room") if is_short else None
    blocks = [sparse.csr_array(part * (part > 0)) for part in in_parts(10, 50, 50, 90)]
    found = gathered(Blocks(blocks))
    np.testing.assert_array_equal(found.toarray(), X * (X > 0))
    assert [is_on_disk(found.data), is_on_disk(found.indices)] == [is_short] * 2
    assert folder is None or not list(folder.iterdir())


def test_a_bad_block_leaves_no_file(no_room):
    with pytest.raises(ValueError, match="block 2 of X contains NaN"):
        gathered(Blocks([X[:50], X[50:100], X[100:] * np.nan]))
    assert not list(no_room.iterdir())


def test_a_full_disk_is_a_sentence_that_says_where(no_room, monkeypatch):
    class Full(io.BytesIO):
        def write(self, block):
            if self.tell() > 1000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(block)

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(
        OSError, match=r"the disk is full after 50 samples of X were brought together in .*; let TMPDIR name"
    ):
        gathered(Blocks(in_parts(10, 50, 90)))


def spoilt(row, value):
    samples = X.copy()
    samples[row, 2] = value
    return samples


@pytest.mark.parametrize(
    ("blocks", "says"),
    [
        (np.split(spoilt(87, np.nan), 12), r"block 8 of X contains NaN \(row 7 of the block, row 87 of all, column 2,"),
        (np.split(spoilt(3, np.inf), 2), r"block 0 of X contains infinity \(row 3 of the block, row 3 of all, column"),
        ([X, X[:, :3]], "block 1 of X has 3 features, and block 0 has 4; give every block the same features"),
        ([X, X[0]], r"block 1 of X has shape \(4,\); every block must be a matrix"),
        ([X.astype(str)], "the blocks of X hold <U.* values; samples must be real numbers"),
        ([X + 1j], "the blocks of X hold complex128 values"),
        ([], "X holds no blocks; give at least one block of samples"),
        ([X[:0]], r"0 sample\(s\)"),
    ],
)
def test_bad_blocks_get_a_sentence_with_the_place(blocks, says):
    with pytest.raises(ValueError, match=says):
        fit(Blocks(blocks))


def test_columns_of_blocks_must_be_the_same():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frames = [pandas.DataFrame(part, columns=list("abcd")) for part in in_parts(60)]
    assert fit(Blocks(frames)).feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="block 1 of X has other columns than block 0, or in another order"):
        fit(Blocks([frames[0], frames[1][["b", "a", "c", "d"]]]))
    with pytest.raises(ValueError, match=r"X has a column 'a' of (object|str) values"):
        fit(Blocks([frames[0].assign(a="x")]))


def test_views_in_blocks_may_lack_samples():
    first, second = X[:, :2].copy(), X[:, 2:]
    first[:20] = np.nan
    model = fit([Blocks(np.split(first, 6)), Blocks(np.split(second, 3))])
    np.testing.assert_array_equal(model.labels_, fit([first, second]).labels_)
    assert model.views_.n_samples.tolist() == [100, 120]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (X, "Blocks takes several blocks of rows, not one ndarray"),
        ("X.npy", "not one str"),
        (3, "not one int; give a list of matrices or an object that yields them"),
    ],
)
def test_what_is_no_blocks_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        Blocks(given)
