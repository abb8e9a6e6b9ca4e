"""The program: its installation, its answers, and what becomes of work that is broken off."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from kernelbraid import load_model

CHECKOUT = Path(__file__).resolve().parents[2]


def test_the_wheel_is_built_installed_and_shows_its_demo(folder):
    if not (CHECKOUT / "pyproject.toml").is_file():
        pytest.skip("no checkout to build from: the wheel is installed already")
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", CHECKOUT], check=True, timeout=120)
    [wheel] = folder.glob("kernelbraid-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", "site", wheel], check=True, timeout=120)
    environment = {**os.environ, "PYTHONPATH": str(folder / "site")}
    where = [sys.executable, "-c", "import kernelbraid; print(kernelbraid.__file__)"]
    found = subprocess.run(where, capture_output=True, text=True, env=environment, check=True, timeout=120)
    assert Path(found.stdout.strip()).is_relative_to(folder / "site")
    assert not (folder / "site" / "lab").exists()
    [script] = (folder / "site" / "bin").glob("kernelbraid*") if os.name != "nt" else [None]
    demo = [sys.executable, script] if script else [sys.executable, "-m", "kernelbraid"]
    done = subprocess.run([*demo, "demo"], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "LKG" in done.stdout


def test_the_summary_comes_as_one_json_object(program, write_table, blobs):
    summary = json.loads(program("cluster", write_table("samples.csv", blobs[0]), "-k", 3, "--json").stdout)
    assert (summary["n_samples"], summary["n_clusters"], summary["n_iter"]) == (60, 3, 1)
    assert sorted(summary["cluster_sizes"]) == [20, 20, 20]
    assert summary["ids"][:2] == ["s0", "s1"]
    assert len(summary["labels"]) == 60
    assert 0 <= summary["reliability"] <= 1


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (2, ["cluster", "missing.csv", "-k", 3]),
        (1, ["cluster", "damaged.csv", "-k", 3, "--out", "labels.csv"]),
        (2, ["cluster", "damaged.csv", "-k", "three"]),
        (2, ["predicts"]),
    ],
    ids=["no file", "no numbers", "no number", "no command"],
)
def test_a_mistake_ends_with_its_exit_code_one_sentence_and_no_file(program, folder, code, arguments):
    (folder / "damaged.csv").write_text("id,a,b\ns1,1,2\ns2,3,many\n")
    done = program(*arguments, code=code)
    assert done.stdout == b""
    assert done.stderr.startswith(b"Error: ")
    assert done.stderr.count(b"\n") == 1
    assert [path.name for path in folder.iterdir()] == ["damaged.csv"]


@pytest.fixture
def long_work(folder):
    """Arguments of a fit that takes a minute."""
    np.save(folder / "samples.npy", np.random.default_rng(0).normal(size=(2500, 20)))
    return [sys.executable, "-m", "kernelbraid", "cluster", "samples.npy", "--out", "labels.csv", "--save", "a.model"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for a child alone")
def test_ctrl_c_ends_with_code_130_and_leaves_nothing_half_written(folder, long_work):
    (folder / "labels.csv").write_text("of an earlier fit")
    with subprocess.Popen([*long_work, "--verbose"], stderr=subprocess.PIPE, cwd=folder, text=True) as process:
        for line in process.stderr:
            if "choosing" in line:  # the work is under way
                process.send_signal(signal.SIGINT)
                break
        last = process.stderr.read().splitlines()[-1]
        assert process.wait(30) == 130
    assert last == "Error: interrupted before the work was done."
    assert (folder / "labels.csv").read_text() == "of an earlier fit"
    assert sorted(path.name for path in folder.iterdir()) == ["labels.csv", "samples.npy"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_command_leaves_each_file_whole_or_as_it_was_and_can_be_run_again(folder, write_table, blobs):
    write_table("samples.csv", blobs[0])
    (model := folder / "a.model").write_text("of an earlier fit")
    command = [sys.executable, "-m", "kernelbraid", "cluster", "samples.csv", "-k", "3", "--quiet"]
    command += ["--out", "labels.csv", "--save", "a.model"]
    with subprocess.Popen(command, cwd=folder) as process:
        while process.poll() is None and not list(folder.glob(".kernelbraid-*")):  # a file that is being written
            time.sleep(0.001)
        process.kill()
    assert model.read_bytes() == b"of an earlier fit" or load_model(model).labels_.shape == (60,)
    assert not (folder / "labels.csv").exists() or len((folder / "labels.csv").read_text().splitlines()) == 61
    assert subprocess.run(command, cwd=folder, timeout=120).returncode == 0
    hidden = ".kernelbraid-"  # what a killed program leaves goes with a later one, a day on
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith(hidden))
    assert names == ["a.model", "labels.csv", "samples.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_long_work_shows_its_progress_on_a_terminal(folder, long_work):
    master, slave = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(long_work, stdout=slave, stderr=slave, cwd=folder, env=environment) as process:
        os.close(slave)
        shown = b""
        while b"choosing the number of clusters" not in shown or b" left" not in shown:
            shown += os.read(master, 4096)
        process.terminate()
        with suppress(OSError):  # where the other end is closed
            while os.read(master, 4096):
                pass
    os.close(master)
    assert process.returncode == 143
    assert b"%" in shown
