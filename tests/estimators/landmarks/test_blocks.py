import numpy as np
import pytest
from scipy import sparse

from kernelbraid import LKG, Blocks
from kernelbraid.datasets import open_stream
from kernelbraid.estimators.landmarks.blocks import draw_rows, open_blocks, sample_rows, side_by_side

rng = np.random.default_rng(0)
X = rng.standard_normal((57, 4))
X[rng.random(X.shape) < 0.3] = 0.0


class Cut:
    """Blocks of unequal lengths, cut anew every time."""

    def __init__(self, X, cuts=(1, 30, 31)):
        self.X, self.cuts = X, cuts

    def __iter__(self):
        yield from np.split(self.X, self.cuts) if not sparse.issparse(self.X) else [self.X[:20], self.X[20:]]


def blocks(source, size=10, **options):
    return list(open_blocks(LKG(), source, size, **options))


def dense(block):
    return block.toarray() if sparse.issparse(block) else block


def write_parquet(path, X):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({f"f{i}": column for i, column in enumerate(X.T)}), path, row_group_size=13)
    return path


SOURCES = {
    "array": lambda X, folder: X,
    "list of blocks": lambda X, folder: Blocks([X[:3], X[3:50], X[50:]]),
    "blocks cut anew": lambda X, folder: Blocks(Cut(X)),
    "sparse": lambda X, folder: sparse.csr_matrix(X),
    "sparse blocks": lambda X, folder: Blocks(Cut(sparse.csr_array(X))),
    "first dense, then sparse": lambda X, folder: Blocks([X[:20], sparse.csr_array(X[20:])]),
    "empty block": lambda X, folder: Blocks([X[:20], X[:0], X[20:]]),
    "npy": lambda X, folder: (np.save(folder / "X.npy", X), folder / "X.npy")[1],
    "stream": lambda X, folder: (np.save(folder / "X.npy", X), open_stream(folder / "X.npy"))[1],
    "memory map": lambda X, folder: (np.save(folder / "X.npy", X), np.load(folder / "X.npy", mmap_mode="r"))[1],
    "parquet": lambda X, folder: str(write_parquet(folder / "X.parquet", X)),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_blocks_again_and_again(kind, tmp_path):
    for dtype in [np.float32, np.float64]:
        samples = X.astype(dtype)
        estimator = LKG()
        source = open_blocks(estimator, SOURCES[kind](samples, tmp_path), 10)
        for _ in range(2):
            found = list(source)
            assert [block.shape[0] for block in found] == [10] * 5 + [7]
            assert {block.dtype for block in found} == {np.dtype(dtype)}
            np.testing.assert_array_equal(np.vstack([dense(block) for block in found]), samples)
        assert source.n_samples == 57
        assert estimator.n_features_in_ == 4


def test_integers_become_double():
    assert blocks(Blocks([np.arange(6).reshape(3, 2), np.ones((2, 2), dtype=bool)]))[0].dtype == np.float64


def test_blocks_of_another_library_become_numpy(foreign):
    np.testing.assert_array_equal(np.vstack(blocks(foreign.asarray(X))), X)
    np.testing.assert_array_equal(np.vstack(blocks(Blocks([foreign.asarray(X[:9]), foreign.asarray(X[9:])]))), X)


def test_a_data_frame_tells_its_names():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    estimator = LKG()
    open_blocks(estimator, pandas.DataFrame(X, columns=list("abcd")), 10)
    assert estimator.feature_names_in_.tolist() == list("abcd")


def test_an_index_of_pandas_is_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = pandas.DataFrame(X, index=[f"sample {i}" for i in range(len(X))])
    frame.columns = list("abcd")
    frame.to_parquet(tmp_path / "X.parquet")
    np.testing.assert_array_equal(np.vstack(blocks(tmp_path / "X.parquet")), X)


def spoilt(value, place=(31, 2)):
    Y = X.copy()
    Y[place] = value
    return Y


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Blocks([X[:5], X[5:, :3]]), "block 1 of X has 3 features, and block 0 has 4; give every block the same"),
        (Blocks([X[:5], X[0]]), r"block 1 of X has shape \(4,\); every block must be a matrix"),
        (Blocks([X[:5].astype(str), X]), "the blocks of X hold <U32 values"),
        (Blocks([X[:0], X[:0]]), r"0 sample\(s\)"),
        (Blocks([np.empty((3, 0))]), r"0 feature\(s\)"),
        (Blocks([]), "X holds no blocks; give at least one"),
        (spoilt(np.nan), r"block 3 of X contains NaN \(row 1 of the block, row 31 of X, column 2, counted from 0\)"),
        (
            spoilt(-np.inf),
            r"block 3 of X contains infinity \(row 1 of the block, row 31 of X, column 2, counted from 0\)",
        ),
        (
            Blocks(Cut(spoilt(np.nan))),
            r"block 3 of X contains NaN \(row 0 of the block, row 31 of X, column 2, counted from 0\)",
        ),
        (
            sparse.csr_array(spoilt(np.nan)),
            r"block 3 of X contains NaN \(row 1 of the block, row 31 of X, column 2, counted from 0\)",
        ),
        ("samples.doc", "samples.doc: the file cannot be read .No such file"),
    ],
)
def test_a_bad_source_gets_a_clear_sentence(source, message):
    with pytest.raises(ValueError, match=message):
        blocks(source)


def test_a_nan_far_into_a_stream_is_found():
    class Many:
        def __iter__(self):
            for number in range(800):
                yield np.where((np.arange(6).reshape(3, 2) == 5) & (number == 731), np.nan, np.ones((3, 2)))

    with pytest.raises(ValueError, match=r"block 731 of X contains NaN \(row 2 of the block, row 2195 of X"):
        blocks(Blocks(Many()), size=100)


def test_large_numbers_whose_sum_overflows_are_finite():
    assert len(blocks(np.full((3, 2), 1e308))) == 1


def test_a_source_that_changes_is_refused():
    given = [X, X]
    source = open_blocks(LKG(), Blocks(given), 10)
    list(source)
    given.pop()
    with pytest.raises(ValueError, match="gave 114 samples at first and 57 later"):
        list(source)


def test_files_are_read_by_the_names_of_the_fit(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.assign(more="text")[["c", "more", "a", "d", "b"]].to_csv(tmp_path / "b.csv", index=False)
    estimator = LKG()
    np.testing.assert_allclose(np.vstack(list(open_blocks(estimator, tmp_path / "a.csv", 10))), X)
    assert estimator.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(np.vstack(list(open_blocks(estimator, tmp_path / "b.csv", 10, reset=False))), X)
    frame[["a", "b", "c"]].to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(ValueError, match="no column 'd', which is needed; use one of a, b, c"):
        open_blocks(estimator, tmp_path / "c.csv", 10, reset=False)


def test_blocks_that_are_data_frames_keep_their_columns():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    estimator = LKG()
    np.testing.assert_array_equal(np.vstack(list(open_blocks(estimator, Blocks([frame[:9], frame[9:]]), 10))), X)
    assert estimator.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        open_blocks(estimator, Blocks([frame[["b", "a", "c", "d"]]]), 10, reset=False)
    with pytest.raises(ValueError, match="block 1 of X has other columns than block 0"):
        blocks(Blocks([frame[:9], frame[["b", "a", "c", "d"]]]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_sample_does_not_depend_on_the_cut(form):
    samples = [dense(sample_rows(blocks(form(X), size), 12, 0)) for size in (1, 7, 100)]
    assert samples[0].shape == (12, 4)
    np.testing.assert_array_equal(samples[0], samples[1])
    np.testing.assert_array_equal(samples[0], samples[2])
    assert len(np.unique(samples[0], axis=0)) == 12


def test_a_sample_is_uniform():
    rows = np.arange(40.0).reshape(-1, 1)
    counts = np.zeros(40)
    for seed in range(400):
        counts[sample_rows(blocks(rows, 7), 10, seed).ravel().astype(int)] += 1
    assert abs(counts - 100).max() < 40  # five standard deviations


def test_the_rows_of_a_sample_can_be_told_without_them(monkeypatch):
    monkeypatch.setattr("kernelbraid.estimators.landmarks.blocks.KEYS_AT_ONCE", 8)
    for count in (12, 57, 100):
        np.testing.assert_array_equal(X[draw_rows(len(X), count, 3)], open_blocks(LKG(), X, 10).sample(count, 3))


def test_a_small_source_is_its_own_sample():
    found = sample_rows(blocks(X, 10), 1000, 0)
    np.testing.assert_array_equal(np.unique(found, axis=0), np.unique(X, axis=0))


def test_columns_are_put_side_by_side_and_sparse_ones_stay_sparse():
    for forms in [(np.asarray, np.asarray), (sparse.csr_array, np.asarray), (np.asarray, sparse.csr_array)]:
        joined = side_by_side([form(part) for form, part in zip(forms, (X[:, :3], X[:, 3:]), strict=True)])
        np.testing.assert_array_equal(dense(joined), X)
        assert sparse.issparse(joined) == (sparse.csr_array in forms)
        assert not sparse.issparse(joined) or joined.format == "csr"
