"""Time and peak memory of fits over the number of samples: makes images/growth.csv and images/growth.png.

    python docs/growth.py [--old CHECKOUT] [--limit 240]

Samples: 20 normal clusters that overlap, in 50 features, in single precision. Every fit is in a process of its own,
with two threads; peak: resident memory beside what the process had before the fit. `--old`: a checkout of 0.2.0.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
SIZES = {
    "LKG": (1000, 2000, 3000, 10_000, 30_000, 100_000, 300_000),
    "LKG 0.2.0": (1000, 3000, 10_000),
    "LandmarkLKG 0.2.0": (3000, 10_000, 30_000, 100_000, 300_000),
    "SpectralClustering": (1000, 3000, 10_000, 30_000),
}
SPREAD = 0.57  # of centres, in standard deviations of a cluster: they overlap
#: What a fit consists of: module, name, what it is called.
PARTS = (
    ("learning.vertices", "Vertices.of", "copies"),
    ("solvers.low_rank.rows", "Basis.of", "factor"),
    ("solvers.low_rank.rows", "Cells.of", "cells"),
    ("learning.in_rows", "RowKernels.graphs", "edges"),
    ("learning.coefficients", "solve_ridge", "linear system"),
    ("learning.extend", "spectral_vectors", "eigenvectors"),
    ("learning.readout", "cluster", "clusters"),
    ("estimators.inductive", "InductiveMixin._label_silent", "labels of all others"),
)


def tell(text):
    """Write a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def clock(spent):
    """Let the parts of a fit note how long they take, without those within them."""
    from functools import wraps
    from importlib import import_module

    within = [0.0]  # what parts within a part took
    for module, name, part in PARTS:
        owner, last = import_module(f"kernelbraid.{module}"), name.rpartition(".")[2]
        owner = getattr(owner, name.rpartition(".")[0]) if "." in name else owner
        plain = vars(owner)[last]
        function = plain.__func__ if isinstance(plain, classmethod) else plain

        @wraps(function)
        def timed(*given, _function=function, _part=part, **named):
            start = time.perf_counter()
            within.append(0.0)
            try:
                return _function(*given, **named)
            finally:
                took = time.perf_counter() - start
                spent[_part] = spent.get(_part, 0.0) + took - within.pop()
                within[-1] += took

        setattr(owner, last, classmethod(timed) if isinstance(plain, classmethod) else timed)


def resident(field):
    """Return what Linux says of the memory of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(field))


def measure(what, n):
    """Fit once, and print what it took."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.RandomState(12)
    centres = rng.randn(20, 50) * SPREAD
    y = rng.randint(20, size=n)
    X = (centres[y] + rng.randn(n, 50)).astype(np.float32)
    spent: dict[str, float] = {}
    if what == "SpectralClustering":
        from sklearn.cluster import SpectralClustering

        model = SpectralClustering(20, affinity="nearest_neighbors", n_jobs=2, random_state=0)
    else:
        import kernelbraid

        model = getattr(kernelbraid, what.split()[0])(20, random_state=0, n_jobs=2)
        if what == "LKG":
            clock(spent)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
    before = resident("VmRSS")
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    peak = resident("VmHWM") - before
    index = adjusted_rand_score(y, np.asarray(model.labels_))
    tell(json.dumps({"what": what, "n": n, "seconds": seconds, "MB": peak, "index": index, **spent}))


def run(job, old, limit):
    """Return the measurement of a fit in a process of its own; None if it took too long."""
    what, n = job
    env = {**os.environ, **{f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL")}, "SCIPY_ARRAY_API": "1"}
    if what.endswith("0.2.0"):
        env["PYTHONPATH"] = os.pathsep.join([f"{old}/src", env.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--job", what, str(n)], env=env, capture_output=True, timeout=limit, text=True
        )
    except subprocess.TimeoutExpired:
        tell(f"{what}, {n} samples: more than {limit:.0f} s")
        return None
    if done.returncode:
        tell(done.stderr[-500:])
        return None
    tell(done.stdout.strip().splitlines()[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def draw(rows):
    """Draw time, peak and the shares of the parts over the number of samples."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, (times, peaks, shares) = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for what in SIZES:
        own = sorted((row for row in rows if row["what"] == what), key=lambda row: int(row["n"]))
        for ax, key in ((times, "seconds"), (peaks, "MB")):
            ax.loglog([int(row["n"]) for row in own], [float(row[key]) for row in own], "o-", label=what)
    times.set(xlabel="samples", ylabel="seconds")
    peaks.set(xlabel="samples", ylabel="peak beside what was there, MB")
    times.legend(fontsize=8)
    ours = sorted((row for row in rows if row["what"] == "LKG"), key=lambda row: int(row["n"]))
    bottom = [0.0] * len(ours)
    for part in dict.fromkeys(part for _, _, part in PARTS):
        share = [float(row.get(part) or 0) / float(row["seconds"]) for row in ours]
        shares.bar([str(row["n"]) for row in ours], share, bottom=bottom, label=part)
        bottom = [a + b for a, b in zip(bottom, share, strict=True)]
    shares.set(xlabel="samples", ylabel="share of the time of LKG", ylim=(0, 1))
    shares.tick_params(axis="x", rotation=45)
    shares.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    fig.savefig(HERE / "images" / "growth.png", dpi=110)


def main():
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old")
    parser.add_argument("--limit", type=float, default=240)
    parser.add_argument("--job", nargs=2)
    parser.add_argument("--draw", action="store_true", help="from the table that is there")
    options = parser.parse_args()
    if options.job:
        measure(options.job[0], int(options.job[1]))
        return
    table = HERE / "images" / "growth.csv"
    if options.draw:
        with table.open(newline="") as file:
            draw(list(csv.DictReader(file)))
        return
    jobs = sorted(((what, n) for what, sizes in SIZES.items() for n in sizes), key=lambda job: -job[1])
    jobs = [job for job in jobs if options.old or not job[0].endswith("0.2.0")]
    rows = [row for job in jobs if (row := run(job, options.old, options.limit))]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    draw(rows)


if __name__ == "__main__":
    main()
