import re
import sys

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from kernelbraid.cli import app


@pytest.fixture(scope="session")
def blobs():
    """Thirty samples in three blobs that every method tells apart."""
    X, y = make_blobs([10, 10, 10], n_features=4, cluster_std=0.3, random_state=1)
    return X, y


@pytest.fixture
def blobs_csv(tmp_path, blobs):
    path = tmp_path / "blobs.csv"
    rows = [",".join(["id", "a", "b", "c", "d"])]
    rows += [",".join([f"s{i}", *map(repr, map(float, row))]) for i, row in enumerate(blobs[0])]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def told():
    """Two views of 60 samples in three clusters, and one of noise; and the clusters."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 20)
    views = [3 * rng.normal(size=(3, width))[y] + rng.normal(size=(60, width)) for width in (5, 6)]
    return [*views, rng.normal(size=(60, 20))], y


@pytest.fixture
def write_views(tmp_path, told):
    """Write rows of the views as tables with ids, and return the files: a.csv, b.csv and noise.csv."""

    def write(*rows, folder="fit"):
        (tmp_path / folder).mkdir(exist_ok=True)
        files = [tmp_path / folder / name for name in ("a.csv", "b.csv", "noise.csv")]
        for file, X, own in zip(files, told[0], rows or [range(60)] * 3, strict=True):
            header = ",".join(["id", *(f"{file.stem}{i}" for i in range(X.shape[1]))])
            file.write_text("\n".join([header, *(",".join([f"s{i}", *map(str, X[i])]) for i in own)]) + "\n")
        return files

    return write


@pytest.fixture
def run():
    """Run the program in this process; any exception but the end of the program is a failure of the test."""

    def invoke(*args, content=None):
        runner = CliRunner(env=dict.fromkeys(("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")))
        result = runner.invoke(
            app, [str(arg) for arg in args], content, catch_exceptions=False, prog_name="kernelbraid"
        )
        assert "Traceback" not in result.stderr
        return result

    return invoke


@pytest.fixture
def read_help(run):
    """Run the program for its help, and return that without the colours that some environments force on."""

    def invoke(*args):
        result = run(*args)
        assert result.exit_code == 0
        return re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)

    return invoke


@pytest.fixture
def look_like_a_terminal(monkeypatch):
    """Return what makes stderr a terminal; called by the test, as what captures it is another file in each phase."""

    def invoke():
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "100")

    return invoke


@pytest.fixture
def refuse(run, tmp_path):
    """Run the program, expect one sentence on stderr, and nothing printed or written."""

    def invoke(*args, code, says=()):
        before = sorted(tmp_path.rglob("*"))
        result = run(*args)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        for fragment in [says] if isinstance(says, str) else says:
            assert fragment in result.stderr
        assert sorted(tmp_path.rglob("*")) == before
        return result

    return invoke


@pytest.fixture
def no_fit(monkeypatch):
    """Fail if the program starts a fit."""
    from kernelbraid.cli import cluster

    monkeypatch.setattr(cluster, "fit", lambda *_: pytest.fail("the fit started"))


@pytest.fixture
def built(monkeypatch):
    """The parameters of the last estimator that would have been fitted; the program ends there."""
    from kernelbraid.cli import cluster

    found = {}

    def stop(model, *_):
        found.update(model.get_params())
        raise MemoryError("enough")

    monkeypatch.setattr(cluster, "fit", stop)
    return found


@pytest.fixture
def stack(tmp_path, blobs):
    """A file with two kernels."""
    X = blobs[0] - blobs[0].mean(axis=0)
    np.save(tmp_path / "stack.npy", np.stack([X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(-1))]))
    return tmp_path / "stack.npy"
