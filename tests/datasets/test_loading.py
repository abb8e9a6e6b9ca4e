import dataclasses
import shutil

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.datasets import CATALOG, DataError, available, load, npz
from kernelbraid.datasets.bundled import BUNDLED
from kernelbraid.datasets.entries import Raw
from kernelbraid.datasets.loading import files, locate, read_checked
from problems import paper_data, shared_folder


def write_tiny(folder, samples):
    X, y = samples
    npz.write(folder / "tiny.npz", [X.astype(float)], y - 1, origin="a test")


def test_a_data_set_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        load("wine").y = None


def test_all_names_are_available():
    assert available() == [*CATALOG, *BUNDLED]


def test_a_missing_file_is_one_sentence_with_the_folder_and_the_command(folder):
    with pytest.raises(DataError) as error:
        load("yale")
    assert str(error.value) == (
        f"yale: there is no file yale.npz in {folder}; get it with kernelbraid datasets fetch yale, "
        "or name the folder that holds it in KERNELBRAID_DATA."
    )


def test_a_file_written_here_is_loaded(folder, tiny, samples):
    write_tiny(folder, samples)
    data = load("tiny")
    np.testing.assert_array_equal(data.X, samples[0])
    np.testing.assert_array_equal(data.y, samples[1] - 1)
    assert data.checksum == npz.checksum(folder / "tiny.npz")
    assert data.title == "Tiny"


def test_a_file_from_elsewhere_is_refused_with_both_checksums(folder, tiny, samples, change):
    tiny = change(tiny, sha256="a" * 64)
    folder.mkdir()
    np.savez(folder / "tiny.npz", X=samples[0], y=samples[1] - 1)
    with pytest.raises(DataError) as error:
        load("tiny")
    sentence = str(error.value)
    assert npz.checksum(folder / "tiny.npz") in sentence
    assert "a" * 64 in sentence
    assert "kernelbraid datasets fetch tiny --force" in sentence


@pytest.mark.parametrize("keep", [0, 10, 500, -10])
def test_a_truncated_file_is_refused_with_both_checksums(folder, tiny, samples, change, keep):
    tiny = change(tiny, sha256="a" * 64)
    write_tiny(folder, samples)
    path = folder / "tiny.npz"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"the SHA-256 is [0-9a-f]{64}, but a{64} is expected"):
        load("tiny")


def test_a_value_changed_later_is_refused_with_both_digests(folder, tiny, samples):
    write_tiny(folder, samples)
    with np.load(folder / "tiny.npz") as file:
        arrays = dict(file)
    arrays["X"][3, 2] += 1
    np.savez(folder / "tiny.npz", **arrays)
    with pytest.raises(DataError, match=f"the digest is [0-9a-f]{{64}}, but {arrays['digest']} is expected"):
        load("tiny")


def test_a_published_file_is_known_by_its_checksum(folder, tiny, samples, change):
    folder.mkdir()
    np.savez_compressed(folder / "tiny.npz", X=samples[0], y=(samples[1] - 1).astype(np.int16))
    change(tiny, sha256=npz.checksum(folder / "tiny.npz"))
    data = load("tiny")
    assert (data.X.dtype, data.y.dtype) == (np.float64, np.int64)


def test_raw_values_are_preferred_to_rounded_ones_but_not_to_a_file_written_here(folder, tiny, samples, change):
    X, y = samples
    folder.mkdir()
    np.savez(folder / "tiny_raw.npz", X=X, y=y - 1)
    np.savez(folder / "tiny.npz", X=X.astype(np.float32), y=y - 1)
    raw = Raw(npz.checksum(folder / "tiny_raw.npz"), tiny.source)
    tiny = change(tiny, sha256=npz.checksum(folder / "tiny.npz"), raw=raw)
    assert [path.name for path in files(tiny)] == ["tiny.npz", "tiny_raw.npz"]
    data = load("tiny")
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_array_equal(data.X, Z / np.linalg.norm(Z, axis=1, keepdims=True))
    assert data.checksum == raw.sha256
    write_tiny(folder, samples)
    assert locate(tiny).name == "tiny.npz"
    np.testing.assert_array_equal(load("tiny").X, X)


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.ones((12, 4)), np.repeat([0, 1, 2], 4), "the samples have shape 12 x 4, but Tiny has 12 x 5"),
        (np.ones((11, 5)), np.repeat([0, 1, 2], 4)[:11], "11 x 5"),
        (np.ones((12, 5)), np.repeat([0, 1, 2], 4)[:11], r"y has shape \(11,\)"),
        (np.ones((12, 5)), np.repeat([0, 1], 6), "2 classes from 0 to 1, but Tiny has 3"),
        (np.ones((12, 5)), np.repeat([1, 2, 3], 4), "3 classes from 1 to 3, but Tiny has 3, counted from 0"),
        (np.full((12, 5), np.nan), np.repeat([0, 1, 2], 4), r"\(1, 1\), counted from 1, is nan"),
    ],
)
def test_another_content_is_refused(folder, tiny, X, y, says):
    npz.write(folder / "tiny.npz", [X], y, origin="a test")
    with pytest.raises(DataError, match=says):
        load("tiny")


def test_a_file_in_a_folder_inside_is_found_after_one_beside_it(folder, tiny):
    X, y = np.arange(60.0).reshape(12, 5), np.repeat([0, 1, 2], 4)
    npz.write(folder / "more" / "tiny.npz", [X], y, origin="a test")
    np.testing.assert_array_equal(load("tiny").X, X)
    npz.write(folder / "tiny.npz", [X + 1], y, origin="a test")
    np.testing.assert_array_equal(load("tiny").X, X + 1)


def test_a_set_that_cannot_be_fetched_says_where_its_file_comes_from(folder):
    with pytest.raises(DataError, match=r"no file ngs\.npz .* put it there, or make it of https://.*/NGs\.mat and use"):
        load("ngs")


@pytest.mark.reference
@pytest.mark.parametrize("name", [name for name in CATALOG if name != "tiny"])
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
def test_raw_and_rounded_files_agree(name, folder, monkeypatch):
    shared = shared_folder("datasets")
    folder.mkdir()
    shutil.copy(shared / f"{name}.npz", folder)
    rounded = load(name)
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared))
    exact = load(name)
    np.testing.assert_allclose(rounded.X, exact.X, atol=1e-8)
    assert not np.array_equal(rounded.X, exact.X)
    np.testing.assert_allclose(np.linalg.norm(exact.X, axis=1), 1, rtol=1e-15)
    assert rounded.checksum == CATALOG[name].sha256
    assert exact.checksum == CATALOG[name].raw.sha256


@pytest.mark.reference
@pytest.mark.parametrize("name", ["yale", "jaffe"])
def test_the_values_are_those_of_the_reference_fits(name, monkeypatch):
    X, y = paper_data(name)
    monkeypatch.setenv("KERNELBRAID_DATA", str(shared_folder("datasets")))
    np.testing.assert_array_equal(load(name).X, X)
    np.testing.assert_array_equal(load(name).y, y)
