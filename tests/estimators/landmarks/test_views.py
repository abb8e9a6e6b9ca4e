import numpy as np
import pytest
from scipy import sparse

from kernelbraid import Blocks
from kernelbraid.datasets import open_stream
from kernelbraid.estimators.landmarks.views import is_view_list, open_views, with_old_calls
from problems import dense

rng = np.random.default_rng(0)
X = rng.standard_normal((57, 6))
X[rng.random(X.shape) < 0.3] = 0.0
A, B = X[:, :2], X[:, 2:]


class Cut:
    def __iter__(self):
        return iter(np.split(A, (1, 30, 31)))


def saved(A, folder):
    np.save(folder / "A.npy", A)
    return folder / "A.npy"


def frame(A):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    return pandas.DataFrame(A, columns=[f"f{i}" for i in range(A.shape[1])])


FORMS = {
    "array": lambda A, folder: A,
    "not in order": lambda A, folder: np.asfortranarray(A),
    "sparse": lambda A, folder: sparse.coo_array(A),
    "data frame": lambda A, folder: frame(A),
    "memory map": lambda A, folder: np.load(saved(A, folder), mmap_mode="r"),
    "path": saved,
    "path as text": lambda A, folder: str(saved(A, folder)),
    "stream": lambda A, folder: open_stream(saved(A, folder)),
    "list of blocks": lambda A, folder: Blocks([A[:3], A[3:50], A[50:]]),
    "blocks cut anew": lambda A, folder: Blocks(Cut()),
}


@pytest.mark.parametrize("kind", FORMS)
def test_views_of_every_form_are_put_side_by_side_again_and_again(kind, tmp_path):
    for size in [10, 100]:
        source = open_views([FORMS[kind](A, tmp_path), B], size)
        assert (source.widths, source.width, source.n_samples) == ((2, 4), 6, None)
        for _ in range(2):
            found = list(source)
            assert [block.shape[0] for block in found] == ([10] * 5 + [7] if size == 10 else [57])
            np.testing.assert_array_equal(np.vstack([dense(block) for block in found]), X)
            assert all(sparse.issparse(block) == (kind == "sparse") for block in found)
        assert source.n_samples == 57


def test_views_of_another_library_become_numpy(foreign):
    (block,) = open_views([foreign.asarray(A), foreign.asarray(B)], 100)
    np.testing.assert_array_equal(block, X)


def test_a_file_is_read_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelbraid.io.streams.ROWS", 5)
    read = []

    class Watched:
        def __iter__(self):
            for block in open_stream(saved(A, tmp_path)):
                read.append(len(block))
                yield block

    source = iter(open_views([Blocks(Watched()), B], 10))
    read.clear()
    next(source)
    assert read == [5, 5]


def test_a_sample_is_that_of_the_joined_matrix():
    source = open_views([A, sparse.csr_array(B)], 10)
    rows = dense(source.sample(12, 3))
    assert rows.shape == (12, 6)
    assert (rows[:, None] == X).all(axis=2).any(axis=1).all()
    np.testing.assert_array_equal(rows, dense(open_views([A, B], 57).sample(12, 3)))


def spoilt(A, value=np.nan, at=(31, 1)):
    A = A.copy()
    A[at] = value
    return A


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (
            [A, B[:9]],
            r"the views of X have \[57, 9\] rows; give the same samples .*align_views.* or kernelbraid.Blocks",
        ),
        ([Blocks([A[:30], A[30:]]), B[:9], B], r"the views of X have \[57, 9, 57\] rows"),
        ([Blocks([A]), B[:50]], r"the views of X have \[57, 50\] rows"),
        ([Blocks([A[:50]]), B], r"the views of X have \[50, 57\] rows"),
        ([A, B[0]], "view 2 of X is no matrix, but others are; give each view as .* as kernelbraid.Blocks"),
        ([A, Cut()], "view 2 of X is no matrix, but others are"),
        ([A, [B[:9], B[9:]]], "view 2 of X is no matrix, but others are"),
        ([A, spoilt(B)], r"view 2 of X contains NaN \(row 31, column 1\) beside numbers; a sample that"),
        (
            [A, spoilt(B, np.inf)],
            r"block 3 of view 2 of X contains infinity \(row 1 of the block, row 31 of view 2 of X",
        ),
        ([spoilt(A, at=31), spoilt(B, at=31)], r"sample 31 of X \(counted from 0\) is missing in every view; leave it"),
        ([sparse.csr_array(spoilt(A)), B], r"block 3 of view 1 of X contains NaN \(row 1 of the block, row 31"),
        ([Blocks([A, B]), B], "block 1 of view 1 of X has 4 features, and block 0 has 2"),
        ([A, Blocks([])], "view 2 of X holds no blocks"),
        ([A, Blocks([B.astype(str)])], "the blocks of view 2 of X hold <U32 values"),
        ([A, B[:, :0]], r"0 feature\(s\)"),
        ([A[:0], B[:0]], r"0 sample\(s\)"),
        ([A, "none.npy"], "none.npy: the file cannot be read .No such file"),
    ],
)
def test_bad_views_get_a_clear_sentence(views, message):
    with pytest.raises(ValueError, match=message):
        list(open_views(views, 10))


def test_a_view_that_changes_is_named():
    given = [A[:50], A[50:]]
    source = open_views([B, Blocks(given)], 100)
    list(source)
    given.pop()
    with pytest.raises(ValueError, match="view 2 of X gave 57 samples at first and 50 later"):
        list(source)


def test_a_list_of_matrices_and_sources_is_one_of_views():
    for given, expected in [
        ([A, B], True),
        ((A, B), True),
        (["a.npy", "b.npy"], True),
        ([Blocks([A])], True),
        ([A, [1.0]], True),
        (A, False),
        (A.tolist(), False),
        ([A[0], A[1]], False),
        ([], False),
        ("a.npy", False),
        (Blocks([A]), False),
    ]:
        assert is_view_list(given) == expected


def test_what_can_only_be_blocks_is_taken_for_blocks_with_a_warning():
    for given, fitted in [
        ([A[:9], A[9:]], None),
        ((A[:9], sparse.csr_array(A[9:])), None),
        ([A[:9], A[9:]], (2,)),
        ([A[:9], A[9:18]], (2,)),
        ([X[:9], X[9:18]], (2, 4)),
        (Cut(), None),
    ]:
        with pytest.warns(FutureWarning, match=r"is taken for blocks of rows; .* give kernelbraid.Blocks\(X\)"):
            blocks = with_old_calls(given, fitted, 1)
        assert isinstance(blocks, Blocks)
        assert [block.shape for block in blocks] == [block.shape for block in given]


def test_what_can_be_views_or_a_matrix_stays_what_it_is():
    for given, fitted in [
        ([A, B], None),
        ([A, A], None),
        ([A, B[:9]], None),
        ([A[:9]], (2,)),
        ([A, A], (2, 2)),
        ([A, A[:9]], (2, 2)),
        ([A, "A.npy"], None),
        ([Blocks([A]), A[:9]], None),
        (A.tolist(), None),
        (A, None),
        ("A.npy", None),
        (Blocks([A]), None),
        (3, None),
    ]:
        assert with_old_calls(given, fitted, 1) is given


def test_samples_that_are_used_up_are_refused():
    with pytest.raises(
        ValueError, match=r"X is a generator, which can be gone through once.*kernelbraid.Blocks of a list"
    ):
        with_old_calls((block for block in [A]), None, 1)
