import io
import json
import zipfile
from hashlib import sha256

import numpy as np
import pytest

from kernelbraid.estimators.models.members import CHECKSUMS, PLAIN, MembersIn, MembersOut


@pytest.fixture
def file():
    return io.BytesIO()


def write(file, **arrays):
    with zipfile.ZipFile(file, "w") as archive:
        members = MembersOut(archive)
        for name, array in arrays.items():
            with members.open(name) as content:
                np.lib.format.write_array(content, array, allow_pickle=False)
        members.close()


ARRAYS = [
    *(np.zeros(3, dtype=kind) for kind in ("b1", "i8", "u1", "f4", "f8", "c16", "S4", "U7", "m8[s]", "M8[ns]")),
    *(np.array(5.0), np.empty((0, 0)), np.empty((0, 4)), np.arange(6.0).reshape(2, 3)),
    *(np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(4, dtype=">f8"), np.zeros((1, 2, 1, 3, 1, 1, 1, 2))),
]


def test_an_array_comes_back_as_numpy_reads_it(file):
    for array in ARRAYS:
        write(file, a=array)
        with zipfile.ZipFile(file) as archive:
            found = MembersIn(archive).read_array("a")
            np.testing.assert_array_equal(found, np.lib.format.read_array(io.BytesIO(archive.read("a"))))
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.dtype.isnative
        assert found.flags.writeable
        assert found.flags.f_contiguous == array.flags.f_contiguous


def test_every_kind_of_array_that_is_written_is_read():
    assert {array.dtype.kind for array in ARRAYS} == set(PLAIN)


def test_checksums_are_those_of_the_members(file):
    write(file, a=np.arange(3), b=np.arange(4))
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == ["a", "b", CHECKSUMS]
        said = json.loads(archive.read(CHECKSUMS))
        assert said == {name: sha256(archive.read(name)).hexdigest() for name in ("a", "b")}
