import io
import zipfile

import numpy as np
import pytest

from files.small_files import X, refuse, write
from kernelbraid.datasets import read_labels, read_samples
from kernelbraid.files import memory


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(path, compression=zipfile.ZIP_STORED, **members):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name.replace("_dot_", "."), content)
    return path


def change(path, local, central, value):
    """Change a byte of the headers of the first member, both the one before it and the one in the directory."""
    content = bytearray(path.read_bytes())
    content[local] = value
    content[content.find(b"PK\x01\x02") + central] = value
    path.write_bytes(content)
    return path


def test_an_encrypted_member_is_refused(tmp_path):
    path = archive(tmp_path / "a.npz", X_dot_npy=npy(X))
    refuse(read_samples, change(path, 6, 8, 1), "'X.npy' is encrypted", "without a password")


def test_an_unknown_compression_is_refused(tmp_path):
    path = archive(tmp_path / "a.npz", X_dot_npy=npy(X))
    refuse(read_samples, change(path, 8, 10, 99), "compressed in another way", "numpy.savez_compressed")


def test_members_that_are_no_arrays_are_left_alone(tmp_path):
    path = archive(tmp_path / "a.npz", X_dot_npy=npy(X), README="words", empty="")
    np.testing.assert_array_equal(read_samples(path).X, X)
    refuse(read_samples, path, "no array 'README'", key="README")


def test_a_member_that_is_called_an_array_and_is_none_is_refused(tmp_path):
    refuse(read_samples, archive(tmp_path / "a.npz", X_dot_npy="words"), "no NumPy file")


@pytest.mark.parametrize("key", [None, "X"])
def test_sizes_are_held_against_the_memory_before_anything_is_decoded(tmp_path, monkeypatch, key):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 100)))
    monkeypatch.setattr(memory, "available_bytes", lambda: 500_000)
    refuse(read_samples, tmp_path / "a.npz", "the array 'X' takes 1 MB of memory, and 500 KB are free", key=key)


@pytest.mark.parametrize("read", [read_samples, read_labels])
def test_a_member_that_nobody_asked_for_is_never_decoded(tmp_path, monkeypatch, read):
    np.savez_compressed(tmp_path / "a.npz", X=X, y=[0, 1, 2], junk=np.zeros((10, 10, 10, 1000)))
    monkeypatch.setattr(memory, "available_bytes", lambda: 500_000)
    read(tmp_path / "a.npz")


def test_an_array_that_is_longer_than_its_member_is_refused(tmp_path):
    content = npy(X).replace(b"(3, 2)", b"(9, 9)")
    refuse(read_samples, archive(tmp_path / "a.npz", X_dot_npy=content), "longer than the file")


def test_a_flipped_value_is_found_by_its_check_sum(tmp_path):
    np.savez(tmp_path / "a.npz", X=X)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    at = content.find(X.tobytes())
    content[at] ^= 1
    refuse(read_samples, write(tmp_path, "a.npz", bytes(content)), "damaged")
