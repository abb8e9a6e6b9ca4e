"""Small files for the tests of the readers, and how a bad one must be refused."""

import numpy as np
import pytest

from kernelbraid.io.sources import DataError

X = np.array([[1.5, -2.0], [3.0, 4e-3], [5.0, 6.0]])


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refuse(read, path, *fragments, **options):
    """Expect one clear sentence that names the file."""
    with pytest.raises(DataError) as error:
        read(path, **options)
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    for fragment in fragments:
        assert fragment in sentence, sentence


def read_or_refuse(read, path):
    """Expect a result or one clear sentence, nothing else."""
    try:
        read(path)
    except DataError as error:
        sentence = str(error)
    else:
        return
    assert "\n" not in sentence
    assert sentence.startswith(str(path))
