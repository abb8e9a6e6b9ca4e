import gc
from dataclasses import replace

import numpy as np
import pytest
from scipy import io, sparse

from kernelbraid.datasets import CATALOG, DataError, fetch, import_file, load
from kernelbraid.datasets.catalogue import Source, View
from kernelbraid.datasets.loading import checksum
from problems import shared_folder


def prepared(X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def refuse(*fragments, folder, run):
    """Expect one sentence, and that nothing is left behind."""
    with pytest.raises(DataError) as error:
        run()
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    for fragment in fragments:
        assert fragment in sentence, sentence
    assert not folder.exists() or not list(folder.iterdir())


def test_a_file_is_downloaded_once_checked_and_converted(folder, tiny, samples, server, capfd):
    path, is_new = fetch("tiny")
    assert (path, is_new) == (folder / "tiny.npz", True)
    assert [file.name for file in folder.iterdir()] == ["tiny.npz"]
    data = load("tiny")
    np.testing.assert_array_equal(data.X, prepared(samples[0]))
    np.testing.assert_array_equal(data.y, samples[1] - 1)
    with np.load(path) as file:
        assert str(file["origin"]) == tiny.source.url
    assert fetch("tiny") == (path, False)
    assert server[1] == ["/tiny.mat"]
    path.write_bytes(b"damaged")
    with pytest.raises(DataError, match="fetch tiny --force"):
        fetch("tiny")
    assert fetch("tiny", force=True) == (path, True)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"url": "http://127.0.0.1:1/tiny.mat"}, "failed (ConnectionError)"),  # nothing listens on port 1
        ({"sha256": "0" * 64}, "0" * 64),
        ({"url": "{}.gz"}, "failed (404 Client Error: File not found)"),
        ({"sha256": None}, "the checksum of its source is not known"),
    ],
)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # requests leaves it to the collector
def test_a_failed_download_says_what_where_and_what_to_do(folder, tiny, change, fields, says):
    fields = {name: value and value.format(tiny.source.url) for name, value in fields.items()}
    source = change(tiny, source=replace(tiny.source, **fields)).source
    refuse(says, f"download {source.url} by hand", "import tiny FILE", folder=folder, run=lambda: fetch("tiny"))
    gc.collect()


@pytest.mark.parametrize(("name", "says"), [("digits", "scikit-learn"), ("yal", "choose yale")])
def test_a_name_without_a_file_cannot_be_fetched_or_imported(folder, name, says):
    refuse(says, folder=folder, run=lambda: fetch(name))
    refuse(says, folder=folder, run=lambda: import_file(name, "x.mat"))


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path, tiny, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KERNELBRAID_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(DataError, match=r"could not be written \(.*\); name another folder in KERNELBRAID_DATA\.$"):
        fetch("tiny")


@pytest.mark.parametrize("raw", [False, True])
def test_a_file_of_the_user_is_taken_as_it_is_or_as_raw_values(tmp_path, folder, tiny, samples, raw):
    path = tmp_path / "mine.npz"
    np.savez(path, X=samples[0] / 7, y=samples[1])
    assert import_file("tiny", path, raw=raw) == folder / "tiny.npz"
    np.testing.assert_array_equal(load("tiny").X, prepared(samples[0] / 7) if raw else samples[0] / 7)
    np.savez(path, X=samples[0] + 1, y=samples[1])
    with pytest.raises(DataError, match="there already; add --force"):
        import_file("tiny", path)
    import_file("tiny", path, force=True)
    np.testing.assert_array_equal(load("tiny").X, samples[0] + 1)


def test_files_of_the_source_are_known_by_their_checksums(tmp_path, tiny, samples, change):
    np.savez(tmp_path / "raw.npz", X=samples[0], y=samples[1])
    change(tiny, raw=Source("http://x", npz_sha256=checksum(tmp_path / "raw.npz")), pending=())
    import_file("tiny", tmp_path / "raw.npz")
    np.testing.assert_array_equal(load("tiny").X, prepared(samples[0]))
    import_file("tiny", tmp_path / "site" / "tiny.mat", force=True)
    np.testing.assert_array_equal(load("tiny").X, samples[0])


def expect(path, samples):
    import_file("tiny", path, force=True)
    data = load("tiny")
    np.testing.assert_array_equal(data.X.toarray() if sparse.issparse(data.X) else data.X, samples[0])
    np.testing.assert_array_equal(data.y, samples[1] - 1)


def test_samples_and_classes_are_found_by_name_or_shape(tmp_path, tiny, samples):
    X, y = samples
    for content in (
        {"fea": X, "gnd": y, "other": np.eye(7)},
        {"A": X, "b": y},
        {"B": X + 1, "X": X, "b": y[::-1], "y": y},
        {"X": X.T, "y": y.astype(float)},
    ):
        np.savez(tmp_path / "a.npz", **content)
        io.savemat(tmp_path / "a.mat", content | {"c": "words"})
        expect(tmp_path / "a.npz", samples)
        expect(tmp_path / "a.mat", samples)


@pytest.mark.parametrize("convert", [np.array, sparse.csc_array], ids=["dense", "sparse"])
def test_classes_in_a_column_after_the_features_are_found(tmp_path, tiny, samples, change, convert):
    change(tiny, source=replace(tiny.source, trailing=("label", "date")))
    table = np.c_[samples[0], samples[1], np.full(12, 980104)].astype(float)
    io.savemat(tmp_path / "a.mat", {"fea": convert(table)})
    expect(tmp_path / "a.mat", samples)


def test_views_in_cells_are_found_by_width_and_number_of_entries(tmp_path, tiny, samples, change):
    change(tiny, views=(View(12, 24), View(5)))
    links = np.eye(12) + np.roll(np.eye(12), 1, axis=1)
    cells = np.empty((1, 3), dtype=object)
    cells[0, :] = [samples[0].astype(float), sparse.csc_array(np.eye(12)), sparse.csc_array(links)]
    io.savemat(tmp_path / "a.mat", {"X": cells, "y": samples[1]})
    import_file("tiny", tmp_path / "a.mat")
    first, second = load("tiny").views
    np.testing.assert_array_equal(first.toarray(), links)
    np.testing.assert_array_equal(second, samples[0])


def test_views_of_one_shape_are_taken_by_their_names(tmp_path, tiny, samples, change):
    change(tiny, views=(View(5), View(5)))
    np.savez(tmp_path / "a.npz", X1=samples[0] + 1, X0=samples[0], y=samples[1])
    import_file("tiny", tmp_path / "a.npz")
    np.testing.assert_array_equal(load("tiny").views, [samples[0], samples[0] + 1])


@pytest.mark.parametrize("header", ["id,Class,a,b,c,d,e\n", ""], ids=["header", "plain"])
def test_a_table_has_its_classes_in_a_column_of_that_name_or_the_last(tmp_path, tiny, samples, header):
    pairs = enumerate(zip(*samples, strict=True))
    rows = [[f"s{i}", "abc"[label - 1], *row] if header else [*row, label] for i, (row, label) in pairs]
    (tmp_path / "a.csv").write_text(header + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    expect(tmp_path / "a.csv", samples)


X, y = np.ones((12, 5)), np.repeat([1, 2, 3], 4)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"X": X[:, :4], "y": y}, "no matrix of 12 x 5 (found X 12 x 4"),
        ({"X": X}, "there are no classes; save one label for each of the 12 samples as y"),
        ({"X": X, "a": y, "b": y}, "several arrays could be meant (a, b)"),
        ({"A": X, "B": X, "y": y}, "several arrays could be meant (A, B); call the right one X"),
        ({"X": X * np.nan, "y": y}, "NaN"),
        ({"X": X, "y": y * np.nan}, "NaN"),
        ({"X": X, "y": y // 2}, "Tiny has 3 classes, not 2"),
        (b"", "is empty"),
        (None, "no such file"),
    ],
)
@pytest.mark.parametrize("suffix", [".mat", ".npz"])
def test_a_file_without_the_data_set_is_refused(tmp_path, folder, tiny, content, says, suffix):
    path = tmp_path / f"a{suffix}"
    if isinstance(content, dict):
        io.savemat(path, content) if suffix == ".mat" else np.savez(path, **content)
    elif content is not None:
        path.write_bytes(content)
    refuse(str(path), says, folder=folder, run=lambda: import_file("tiny", path))


@pytest.mark.reference
def test_counts_of_tdt2_become_the_published_values(tmp_path):
    with np.load(shared_folder("datasets") / "tdt2_raw.npz") as file:
        parts = file["X_data"].astype(float), file["X_indices"], file["X_indptr"]
        counts, y = sparse.csr_array(parts, shape=tuple(file["X_shape"])), file["y"]
    extra = np.c_[y + 1, np.full(len(y), 980104)]
    io.savemat(tmp_path / "TDT2.mat", {"fea": sparse.hstack([counts, sparse.csr_array(extra)], format="csc")})
    import_file("tdt2", tmp_path / "TDT2.mat", raw=True)
    made = load("tdt2")
    with np.load(shared_folder("datasets") / "tdt2.npz") as file:
        np.testing.assert_allclose(made.X.data, file["X_data"], atol=1e-7)
        np.testing.assert_array_equal(made.X.indices, file["X_indices"])
    np.testing.assert_array_equal(np.bincount(made.y), CATALOG["tdt2"].class_sizes)
