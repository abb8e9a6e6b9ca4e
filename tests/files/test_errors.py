import pytest

from files.small_files import write
from kernelbraid import datasets
from kernelbraid.files.errors import DataError
from kernelbraid.files.readers import read_samples


def test_the_error_of_the_readers_is_the_one_that_users_import():
    assert datasets.DataError is DataError


def test_whoever_catches_value_errors_catches_it(tmp_path):
    with pytest.raises(ValueError, match="text in row 1"):
        read_samples(write(tmp_path, "a.csv", "1,x\n2,y\n"))
