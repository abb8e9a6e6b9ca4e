"""What people call.

Best times of what people call, in units of what they use now, and beside another checkout of the project: units of
scikit-learn's neighbour spectral clustering on the same samples, of pandas for reading. Call and unit take turns, the
checkouts too, each time in a process of its own. Memory is the growth of the process during the call.
"""

import atexit
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits, make_blobs

from lab.judging.jobs import ROOT, Row, carry_out, in_process, metered, parser_of, table, timed
from lab.records import LabError

HERE, BEFORE = "here", "before"


class Call(NamedTuple):
    """A call as people write it; `setup` leaves what it needs, `X` for the unit among it."""

    setup: str
    call: str = "model.fit(X)"
    repeat: int = 3
    unit: str = "neighbours.fit(X)"


#: Every public name of kernelbraid and every function below is there.
CALLS = {
    "LKG(10), digits, 1797": Call("X = digits(1797); model = LKG(10, random_state=0)", repeat=7),
    "LKG(10), digits, 1000": Call("X = digits(1000); model = LKG(10, random_state=0)", repeat=7),
    'LKG("auto"), digits, 1000': Call("X = digits(1000); model = LKG('auto', random_state=0)", repeat=2),
    "LKG(10), blobs, 3000": Call("X = blobs(3000); model = LKG(10, random_state=0)"),
    "LKG(10), three views, 1500": Call(
        "X = blobs(1500, 90); model = LKG(10, random_state=0)", "model.fit([X[:, :30], X[:, 30:60], X[:, 60:]])"
    ),
    "predict, digits, 797 after 1000": Call(
        "X = digits(1797); model = LKG(10, random_state=0).fit(X[:1000])", "model.predict(X[1000:])"
    ),
    "confidence, digits, 1000": Call(
        "X = digits(1000); model = LKG(10, random_state=0)", "model.fit(X).confidence_, model.outlier_scores_"
    ),
    "LKG(10), blobs, 10000": Call("X = blobs(10000); model = LKG(10, random_state=0)"),
    "MKKM, digits, 500": Call("X = digits(500); model = method('MKKM', 10)"),
    "SCMK, digits, 500": Call("X = digits(500); model = method('SCMK', 10)", repeat=2),
    "SCMK, TR41": Call("X = data('tr41'); model = method('SCMK', 10)", repeat=1),
    "LKG(30), TDT2": Call("X = data('tdt2'); model = LKG(30, random_state=0)", repeat=1),
    "kernelbraid cluster, digits, 1797": Call(
        "X = digits(1797); file = csv(X)", "command('cluster', file, '-k', '10')"
    ),
    "read 25 MB of CSV beside pandas": Call(
        "import pandas; from kernelbraid.datasets import read_samples; file = csv(blobs(20000, 64))",
        "read_samples(file)",
        unit="pandas.read_csv(file)",
    ),
}


def digits(n: int) -> np.ndarray:
    """Return samples of scikit-learn's digits with rows of unit length."""
    X = load_digits().data[:n]
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def blobs(n: int, n_features: int = 20) -> np.ndarray:
    """Draw ten clusters that overlap."""
    return make_blobs(n, n_features, centers=10, cluster_std=4, random_state=0)[0]


def data(name: str) -> Any:
    """Return the samples of a data set of the paper."""
    from kernelbraid.datasets import load

    return load(name).X


def method(name: str, n_clusters: int) -> Any:
    """Return a method of comparison by its name in the paper, of this or an earlier checkout."""
    from kernelbraid.methods import METHODS

    found: Any = METHODS[name]
    if hasattr(found, "make"):
        return found.make(n_clusters, random_state=0)
    return clone(found).set_params(n_clusters=n_clusters, random_state=0)


def csv(X: np.ndarray) -> str:
    """Write samples to a file in a folder that goes with the process."""
    folder = tempfile.TemporaryDirectory(prefix="kernelbraid-")
    atexit.register(folder.cleanup)
    path = str(Path(folder.name) / "samples.csv")
    np.savetxt(path, X, delimiter=",", header=",".join(f"x{i}" for i in range(X.shape[1])), comments="")
    return path


def command(*words: str) -> None:
    """Run the command line as people do."""
    subprocess.run([sys.executable, "-m", "kernelbraid", *words], check=True, capture_output=True)


def measure(job: str) -> list[Row]:
    """Time a call and its unit in turn; say why where this checkout does not have it."""
    asked = CALLS[job]
    names: dict[str, Any] = {**globals(), "neighbours": SpectralClustering(10, affinity="nearest_neighbors")}
    try:
        exec("from kernelbraid import *", names)
        exec(asked.setup, names)
        if asked.repeat > 1:
            eval(asked.call, names)
    except (ImportError, AttributeError, TypeError, LookupError, ValueError) as error:
        return [{"missing": f"{type(error).__name__}: {error}".splitlines()[0]}]
    seconds, unit, growth = [], [], []
    for _ in range(asked.repeat):
        unit += [timed(eval, asked.unit, names)[0] for _ in range(3 if asked.repeat > 1 else 1)]
        with metered() as memory:
            seconds.append(timed(eval, asked.call, names)[0])
        growth.append(memory["growth_bytes"])
    return [{"seconds": min(seconds), "unit": min(unit), "growth_bytes": max(growth)}]


def best_of(job: str, *, roots: dict[str, Path], rounds: int, threads: int) -> list[Row]:
    """Measure a call in all checkouts by turns, and return the best of each, in units of the best unit."""
    found: dict[str, list[Row]] = {whose: [] for whose in roots}
    for _ in range(rounds):
        for whose, root in roots.items():
            if not any("missing" in row for row in found[whose]):
                found[whose] += in_process("user", job, root=root, threads=threads)
    unit = min((row["unit"] for rows in found.values() for row in rows if "unit" in row), default=None)
    best = [min(rows, key=lambda row: row.get("seconds", 0.0)) | {"whose": whose} for whose, rows in found.items()]
    return [row if "missing" in row else row | {"units": row["seconds"] / unit} for row in best]


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    measured = [row for row in rows if "missing" not in row]
    before = {row["job"]: row["seconds"] for row in measured if row["whose"] == BEFORE}
    lines = []
    for row in measured:
        ratio = row["seconds"] / before[row["job"]] if row["whose"] == HERE and row["job"] in before else None
        figures = [f"{row['seconds']:.3f}", row["units"], f"{row['growth_bytes'] / 1e6:.0f}"]
        lines.append([f"`{row['job']}`", row["whose"], *figures, None if ratio is None else f"{ratio:.2f}"])
    missing = [f"- `{row['job']}` is left out {row['whose']}: {row['missing']}" for row in rows if "missing" in row]
    header = ["call", "checkout", "seconds", "units", "MB", "here / before"]
    return [*table(header, lines), *(["", *missing] if missing else [])]


def main(arguments: Sequence[str]) -> None:
    """Measure, print the page, and write it when it is whole."""
    parser = parser_of(sys.modules[__name__])
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout, measured in the same run")
    parser.add_argument("--rounds", type=int, default=3, help="processes per call and checkout")
    parser.add_argument("--threads", type=int, default=1, help="of the libraries for linear algebra")
    asked = parser.parse_args(arguments)
    if unknown := [job for job in asked.names if job not in CALLS]:
        raise LabError(f"no call is named {unknown[0]!r}; there are {', '.join(map(repr, CALLS))}.")
    roots = {HERE: ROOT} | ({} if asked.against is None else {BEFORE: asked.against.resolve()})
    run = partial(best_of, roots=roots, rounds=asked.rounds, threads=asked.threads)
    carry_out(sys.modules[__name__], list(CALLS), asked, run)
