"""What people do, end to end, by public names and the program: an installed wheel in an empty folder is enough."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs


@pytest.fixture(scope="session")
def blobs():
    """Sixty samples in three blobs, and their classes."""
    return make_blobs(60, n_features=4, centers=3, cluster_std=0.5, random_state=1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The empty folder in which everything happens."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def program(folder):
    """Run the program in a process of its own and in the empty folder; it succeeds unless another code is named."""

    def run(*arguments, code=0, content=None):
        command = [sys.executable, "-m", "kernelbraid", *map(str, arguments)]
        done = subprocess.run(command, input=content, capture_output=True, cwd=folder, timeout=120)
        assert done.returncode == code, done.stderr.decode()
        return done

    return run


@pytest.fixture
def write_table(folder):
    """Write samples as a table with ids under a name, and return its path."""

    def write(name, X, ids=None, *, between=",", decimal="."):
        path = folder / name
        ids = range(len(X)) if ids is None else ids
        rows = [["id", *(f"{path.stem}{column}" for column in range(X.shape[1]))]]
        rows += [[f"s{i}", *(repr(float(x)).replace(".", decimal) for x in X[i])] for i in ids]
        path.write_text("\n".join(map(between.join, rows)) + "\n")
        return path

    return write


@pytest.fixture
def read_labels(folder):
    """Read a CSV file of labels as a dictionary by id."""

    def read(name):
        with (folder / name).open(newline="") as file:
            return {row[next(iter(row))]: int(row["label"]) for row in csv.DictReader(file)}

    return read


@pytest.fixture(scope="session")
def shared():
    """Open a file of the reference data, in the folder that KERNELBRAID_SHARED names or in ../shared."""
    places = [Path(os.environ.get("KERNELBRAID_SHARED", "nowhere")), Path(__file__).resolve().parents[3] / "shared"]

    def read(name):
        for place in places:
            if (place / name).is_file():
                with np.load(place / name, allow_pickle=False) as file:
                    return dict(file)
        pytest.skip(f"no {name} in ../shared or in $KERNELBRAID_SHARED: the reference files are not distributed")

    return read
