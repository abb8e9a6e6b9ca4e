import sys

import numpy as np
import pytest
from scipy import sparse

from kernelbraid.datasets import DataError, npz

X = np.arange(12.0).reshape(4, 3)
S = sparse.csr_array([[0, 2.5, 0], [1, 0, 0], [0, 0, 0], [0, 0, 3]])
y = np.array([0, 1, 0, 1], dtype=np.int16)


@pytest.mark.parametrize("views", [[X], [S], [X, S], [S, X, S]], ids=["dense", "sparse", "two", "three"])
def test_what_is_written_comes_back(folder, views):
    npz.write(folder / "a.npz", views, y, origin="here")
    content = npz.read(folder / "a.npz")
    assert len(content.views) == len(views)
    for found, given in zip(content.views, views, strict=True):
        assert found.dtype == np.float64
        assert sparse.issparse(found) == sparse.issparse(given)
        np.testing.assert_array_equal(*[A.toarray() if sparse.issparse(A) else A for A in (found, given)])
    np.testing.assert_array_equal(content.y, y)
    assert content.digest == npz.digest(content.views, content.y)
    assert npz.is_own(folder / "a.npz")
    with np.load(folder / "a.npz", allow_pickle=False) as file:
        assert str(file["origin"]) == "here"


def test_the_same_content_is_the_same_bytes(folder):
    for name in ("a.npz", "b.npz"):
        npz.write(folder / name, [S], y, origin="here")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


def test_the_digest_knows_values_shapes_and_classes():
    digests = {
        npz.digest([X], y),
        npz.digest([X + 1], y),
        npz.digest([X.reshape(3, 4)], y),
        npz.digest([X], 1 - y),
        npz.digest([X, X], y),
        npz.digest([S], y),
    }
    assert len(digests) == 6
    assert npz.digest([X], y) == npz.digest([np.asfortranarray(X)], y.astype(np.int64))


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"could not be written \(.*\); name another folder in KERNELBRAID_DATA\.$"):
        npz.write(tmp_path / "file" / "a.npz", [X], y, origin="here")


@pytest.mark.parametrize(("arrays", "says"), [({"X": X}, "no array 'y'"), ({"y": y, "Z": X}, "neither X nor X0")])
def test_a_file_of_another_layout_is_refused(tmp_path, arrays, says):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=says):
        npz.read(tmp_path / "a.npz")


def test_a_damaged_file_is_not_taken_for_one_written_here(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 nothing")
    assert not npz.is_own(tmp_path / "a.npz")
    assert not npz.is_own(tmp_path / "missing.npz")


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELBRAID_DATA", str(tmp_path / "here"))
    assert npz.data_folder() == tmp_path / "here"
    monkeypatch.setenv("KERNELBRAID_DATA", " ")
    assert npz.data_folder() == npz.user_cache()
    monkeypatch.delenv("KERNELBRAID_DATA")
    assert npz.data_folder() == npz.user_cache()


def test_the_cache_is_that_of_the_platform(monkeypatch, tmp_path):
    monkeypatch.setattr(npz.Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert npz.user_cache() == tmp_path / "xdg" / "kernelbraid"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert npz.user_cache() == tmp_path / ".cache" / "kernelbraid"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert npz.user_cache() == tmp_path / "Library" / "Caches" / "kernelbraid"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert npz.user_cache() == tmp_path / "Local" / "kernelbraid" / "kernelbraid" / "Cache"
