from dataclasses import replace

import numpy as np
import pytest
from scipy import io, sparse

from kernelbraid.datasets import DataError
from kernelbraid.datasets.conversion import read
from kernelbraid.datasets.entries import View


def expect(entry, path, samples):
    (X,), y = read(entry, path)
    np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else X, samples[0])
    np.testing.assert_array_equal(y, samples[1] - 1)


@pytest.mark.parametrize(("X_name", "y_name"), [("X", "y"), ("fea", "gnd"), ("data", "labels"), ("A", "b")])
@pytest.mark.parametrize("suffix", [".mat", ".npz"])
def test_samples_and_classes_are_found_by_name_or_shape(tmp_path, tiny, samples, X_name, y_name, suffix):
    path = tmp_path / f"a{suffix}"
    content = {X_name: samples[0], y_name: samples[1], "other": np.eye(7)}
    io.savemat(path, content) if suffix == ".mat" else np.savez(path, **content)
    expect(tiny, path, samples)


def test_a_name_decides_between_matrices_and_vectors_of_one_shape(tmp_path, tiny, samples):
    path = tmp_path / "a.mat"
    io.savemat(path, {"B": samples[0] + 1, "fea": samples[0], "b": samples[1][::-1], "gnd": samples[1]})
    expect(tiny, path, samples)


@pytest.mark.parametrize("convert", [np.array, sparse.csc_array], ids=["dense", "sparse"])
def test_features_as_rows_are_turned(tmp_path, tiny, samples, convert):
    io.savemat(tmp_path / "a.mat", {"X": convert(samples[0].T.astype(float)), "y": samples[1]})
    expect(tiny, tmp_path / "a.mat", samples)


@pytest.mark.parametrize("convert", [np.array, sparse.csc_array], ids=["dense", "sparse"])
def test_classes_in_a_column_after_the_features_are_found(tmp_path, tiny, samples, change, convert):
    entry = change(tiny, source=replace(tiny.source, trailing=("label", "date")))
    table = np.c_[samples[0], samples[1], np.full(12, 980104)].astype(float)
    io.savemat(tmp_path / "a.mat", {"fea": convert(table)})
    expect(entry, tmp_path / "a.mat", samples)


@pytest.mark.parametrize("views", [(View(12, 24), View(5, 60)), (View(12, 24), View(5))])
def test_views_in_cells_are_found_by_width_and_number_of_entries(tmp_path, tiny, samples, change, views):
    entry = change(tiny, views=views)
    links = np.eye(12) + np.roll(np.eye(12), 1, axis=1)
    cells = np.empty((1, 3), dtype=object)
    cells[0, :] = [samples[0].astype(float), sparse.csc_array(np.eye(12)), sparse.csc_array(links)]
    io.savemat(tmp_path / "a.mat", {"X": cells, "y": samples[1]})
    (first, second), y = read(entry, tmp_path / "a.mat")
    np.testing.assert_array_equal(first.toarray(), links)
    np.testing.assert_array_equal(second, samples[0])
    np.testing.assert_array_equal(y, samples[1] - 1)


def test_views_by_name_are_found(tmp_path, tiny, samples, change):
    entry = change(tiny, views=(View(5), View(5)))
    np.savez(tmp_path / "a.npz", X0=samples[0], X1=samples[0] + 1, y=samples[1])
    (first, second), _ = read(entry, tmp_path / "a.npz")
    np.testing.assert_array_equal(first + 1, second)


@pytest.mark.parametrize("header", ["a,b,c,d,e,label\n", ""], ids=["header", "plain"])
def test_a_table_has_its_classes_in_the_last_column(tmp_path, tiny, samples, header):
    rows = [",".join(map(str, [*row, label])) for row, label in zip(*samples, strict=True)]
    (tmp_path / "a.csv").write_text(header + "\n".join(rows) + "\n")
    expect(tiny, tmp_path / "a.csv", samples)


def test_a_column_called_class_is_found_anywhere_in_a_table_with_ids_and_words(tmp_path, tiny, samples):
    pairs = enumerate(zip(*samples, strict=True))
    rows = [f"s{i},{'abc'[label - 1]},{','.join(map(str, row))}" for i, (row, label) in pairs]
    (tmp_path / "a.csv").write_text("id,Class,a,b,c,d,e\n" + "\n".join(rows) + "\n")
    expect(tiny, tmp_path / "a.csv", samples)


X, y = np.ones((12, 5)), np.repeat([1, 2, 3], 4)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"X": X[:, :4], "y": y}, r"no matrix of 12 x 5 \(found X 12 x 4.*\); give the samples of Tiny as rows\.$"),
        ({"y": y}, "no matrix of 12 x 5"),
        ({"X": X}, "there are no classes; save one label for each of the 12 samples as y"),
        ({"X": X, "y": y[:11]}, "there are no classes"),
        ({"X": X, "a": y, "b": y}, r"several vectors could be meant \(a, b\)"),
        ({"A": X, "B": X, "y": y}, r"several matrices could be meant \(A, B\); call the right one X"),
        ({"X": X * np.nan, "y": y}, r"\(1, 1\), counted from 1, is nan"),
        ({"X": X, "y": y * np.nan}, "label 1 is nan"),
    ],
)
def test_a_file_without_the_data_set_is_refused(tmp_path, tiny, content, says):
    for path, write in ((tmp_path / "a.npz", np.savez), (tmp_path / "a.mat", lambda p, **c: io.savemat(p, c))):
        write(path, **content)
        with pytest.raises(DataError, match=says) as error:
            read(tiny, path)
        assert str(error.value).startswith(str(path))


def test_a_table_of_another_width_is_refused(tmp_path, tiny):
    (tmp_path / "a.csv").write_text("a,b,label\n1,2,0\n3,4,1\n")
    with pytest.raises(DataError, match=r"no matrix of 12 x 5 .*2 x 2"):
        read(tiny, tmp_path / "a.csv")


def test_a_table_holds_no_two_views(tmp_path, tiny, change):
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(DataError, match="a table holds one view"):
        read(change(tiny, views=(View(5), View(5))), tmp_path / "a.csv")


def test_an_array_without_classes_is_refused(tmp_path, tiny):
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(DataError, match=r"\.npy file has no classes"):
        read(tiny, tmp_path / "a.npy")
