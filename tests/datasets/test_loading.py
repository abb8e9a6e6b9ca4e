import dataclasses
from pathlib import Path

import numpy as np
import pooch
import pytest
from scipy import sparse

from kernelbraid.datasets import CATALOG, DataError, available, import_file, load, load_images
from kernelbraid.datasets.catalogue import BUNDLED, Source, View, data_folder, files
from kernelbraid.datasets.loading import checksum, read_checked
from problems import paper_data, shared_folder


@pytest.fixture
def stored(tmp_path, tiny):
    """Store samples as imported."""

    def store(X, y, **more):
        np.savez(tmp_path / "mine.npz", X=X, y=y, **more)
        return import_file("tiny", tmp_path / "mine.npz", force=True)

    return store


@pytest.mark.parametrize("name", BUNDLED)
def test_data_of_scikit_learn_need_no_folder(name, folder):
    data, entry = load(name), BUNDLED[name]
    assert data.X.shape == (entry.n_samples, *entry.n_features)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(np.bincount(data.y), entry.class_sizes)
    assert not folder.exists()
    if entry.preprocessing:
        np.testing.assert_allclose(data.X.std(axis=0), 1)
    else:
        assert data.X.max() == 16


def test_checksums_stay_those_of_committed_records():
    sums = {"digits": "e1e0b35ed76e", "wine": "9a76743cccb1", "breast_cancer": "ad8402bd12c9"}
    assert {name: load(name).checksum[:12] for name in BUNDLED} == sums


def test_a_missing_file_is_one_sentence_with_the_folder_and_the_command(folder):
    with pytest.raises(DataError) as error:
        load("yale")
    assert str(error.value) == (
        f"yale: there is no file yale.npz in {folder}; get it with kernelbraid datasets fetch yale, "
        "or name the folder that holds it in KERNELBRAID_DATA."
    )
    with pytest.raises(DataError, match=r"no file ngs\.npz .* download https://.*/NGs\.mat by hand and use"):
        load("ngs")


def test_a_file_from_elsewhere_is_refused_with_both_checksums(folder, tiny, samples, change):
    change(tiny, source=Source("http://x", "b" * 64, npz_sha256="a" * 64))
    folder.mkdir()
    path = folder / "tiny.npz"
    np.savez(path, X=samples[0], y=samples[1] - 1)
    for content in (path.read_bytes(), path.read_bytes()[:-10], b""):
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"is {checksum(path)}, but a{{64}} is expected.*fetch tiny --force"):
            load("tiny")


def test_raw_values_are_preferred_to_rounded_ones_but_not_to_a_file_written_here(folder, tiny, samples, change, stored):
    X, y = samples
    folder.mkdir()
    np.savez(folder / "tiny_raw.npz", X=X, y=y - 1)
    np.savez(folder / "tiny.npz", X=X.astype(np.float32), y=(y - 1).astype(np.int16))
    raw = Source("http://x", npz_sha256=checksum(folder / "tiny_raw.npz"))
    source = dataclasses.replace(tiny.source, npz_sha256=checksum(folder / "tiny.npz"))
    tiny = change(tiny, source=source, raw=raw)
    data = load("tiny")
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_array_equal(data.X, Z / np.linalg.norm(Z, axis=1, keepdims=True))
    assert data.checksum == raw.npz_sha256
    (folder / "tiny_raw.npz").rename(folder / "away.npz")
    data = load("tiny")
    assert (data.X.dtype, data.y.dtype, data.checksum) == (np.float64, np.int64, source.npz_sha256)
    (folder / "away.npz").rename(folder / "tiny_raw.npz")
    stored(X, y)
    np.testing.assert_array_equal(load("tiny").X, X)


def test_a_file_in_a_folder_inside_is_found_after_one_beside_it(folder, stored, samples):
    X, y = samples
    (folder / "more").mkdir(parents=True)
    stored(X, y).rename(folder / "more" / "tiny.npz")
    np.testing.assert_array_equal(load("tiny").X, X)
    stored(X + 1, y)
    np.testing.assert_array_equal(load("tiny").X, X + 1)


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_steps_are_their_formulas_and_leave_nothing_infinite(tmp_path, tiny, change, convert):
    counts = np.random.default_rng(0).poisson(0.7, (12, 5)).astype(float)
    counts[:, 2], counts[:, 3], counts[7] = 0, 2, 0  # a word of no text, one of all but one, and a text of no words
    df = np.maximum((counts > 0).sum(axis=0), 1)
    weighted = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * np.log(12 / df)
    deviation = np.maximum(counts.std(axis=0, ddof=1), 1e-9)
    expected = {"tfidf": weighted, "zscore": (counts - counts.mean(axis=0)) / deviation}
    expected["unit_norm"] = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1)
    for step, values in expected.items():
        change(tiny, preprocessing=(step,))
        np.savez(tmp_path / "mine.npz", **parts(convert(counts)), y=np.repeat([1, 2, 3], 4))
        import_file("tiny", tmp_path / "mine.npz", raw=True, force=True)
        found = load("tiny").X
        np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, values, atol=1e-12)


def parts(X):
    if isinstance(X, np.ndarray):
        return {"X": X}
    return {f"X_{part}": np.asarray(getattr(X, part)) for part in ("data", "indices", "indptr", "shape")}


def test_the_variable_names_the_folder_and_the_cache_of_the_user_is_it_without(monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", "~/here")
    assert data_folder() == Path.home() / "here"
    monkeypatch.setenv("KERNELBRAID_DATA", " ")
    assert data_folder() == Path(pooch.os_cache("kernelbraid"))


def test_images_of_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits

    digits = load_digits()
    found = load_images("digits", n_classes=3, n_samples=4)
    assert (found.classes, found.title, found.steps) == ([0, 4, 9], "handwritten digits", ())
    for one, images in zip(found.classes, found.rows, strict=True):
        np.testing.assert_array_equal(images, digits.images[digits.target == one][:4])
    assert sum(map(len, load_images("digits", n_classes=99, n_samples=9999).rows)) == 1797


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_pixels_of_matlab_come_column_by_column(tmp_path, tiny, change, samples, convert):
    change(tiny, views=(View(6),), picture=(2, 3, "F"))
    np.savez(tmp_path / "mine.npz", **parts(convert(np.arange(72.0).reshape(12, 6))), y=samples[1])
    import_file("tiny", tmp_path / "mine.npz")
    found = load_images("tiny", n_classes=2, n_samples=2)
    np.testing.assert_array_equal(found.rows[0][0], [[0, 2, 4], [1, 3, 5]])
    assert (found.classes, found.rows[1].shape, found.steps) == ([0, 2], (2, 2, 3), ("zscore", "unit_norm"))


@pytest.mark.parametrize("name", ["wine", "cora"])
def test_a_data_set_without_images_is_told_in_one_sentence(name):
    with pytest.raises(DataError, match=f"{name} is not made of images .* yale, jaffe, orl, ar, ba, digits"):
        load_images(name)


@pytest.mark.reference
@pytest.mark.parametrize("name", available()[:-3])
def test_the_shared_files_are_loaded_as_they_are(name, monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    data, entry = load(name), CATALOG[name]
    assert [X.shape for X in data.views] == [(entry.n_samples, width) for width in entry.n_features]
    assert all(X.dtype == np.float64 for X in data.views)
    assert [X.nnz if sparse.issparse(X) else None for X in data.views] == [view.nonzeros for view in entry.views]
    assert (data.X is None) == (len(entry.views) > 1)
    np.testing.assert_array_equal(np.bincount(data.y), entry.class_sizes)
    for path in files(entry):
        read_checked(entry, path)


@pytest.mark.reference
@pytest.mark.parametrize("name", ["yale", "jaffe", "orl", "ar"])
def test_faces_stand_upright(name, monkeypatch):
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    found = load_images(name, n_classes=999, n_samples=99)
    assert (found.steps, load(name).checksum) == ((), CATALOG[name].raw.npz_sha256)
    # An upright face is its own mirror image, roughly; one that lies on its side is not.
    face = np.concatenate(found.rows).mean(axis=0)
    face -= face.mean()
    assert (face * face[:, ::-1]).sum() / (face * face).sum() > 0.7
    assert (face * face[::-1]).sum() / (face * face).sum() < 0.6


@pytest.mark.reference
@pytest.mark.parametrize("name", ["yale", "jaffe"])
def test_the_values_are_those_of_the_reference_fits(name, monkeypatch):
    X, y = paper_data(name)
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    np.testing.assert_array_equal(load(name).X, X)
    np.testing.assert_array_equal(load(name).y, y)
