"""Ready graphs with planted clusters, read out: ``python -m benchmarks.graphs`` writes the table.

Every sample has ten edges, four of five of them within its cluster of twenty, the others to anybody. Time and memory
beside the input are those of ``LKG(20, kernels="graph")`` and of scikit-learn's ``SpectralClustering(20,
affinity="precomputed")`` on the same graph, each in a process of its own, one after the other, with all cores. A
process ends after two minutes or at 12 GB: scikit-learn's factorises the graph, which fills up.
"""

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.machine import MemoryMeter, describe_machine, timed

OUT = Path(__file__).parent / "results"
EDGES, CLUSTERS, WITHIN = 10, 20, 0.8
SIZES = (5000, 25_000, 100_000)
LIMIT_SECONDS, LIMIT_BYTES = 120, 12 * 2**30


def planted(n: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return a graph with planted clusters as a csr matrix, and these clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLUSTERS, size=n)
    members = np.argsort(truth, kind="stable")
    starts = np.searchsorted(truth[members], np.arange(CLUSTERS + 1))
    rows = np.repeat(np.arange(n), EDGES)
    first, last = starts[truth[rows]], starts[truth[rows] + 1]
    own = members[first + (rng.random(n * EDGES) * (last - first)).astype(np.int64)]
    columns = np.where(rng.random(n * EDGES) < WITHIN, own, rng.integers(n, size=n * EDGES))
    kept = rows != columns
    places = (rows[kept].astype(np.int32), columns[kept].astype(np.int32))  # scikit-learn takes no others
    one_way = sparse.csr_matrix((np.ones(kept.sum()), places), shape=(n, n))
    return (one_way + one_way.T) / 2, truth


def job(whose: str, n: int) -> dict[str, Any]:
    """Cluster one graph."""
    from sklearn.cluster import SpectralClustering

    from kernelbraid import LKG
    from kernelbraid.metrics import ari

    models = {
        "LKG": LKG(CLUSTERS, kernels="graph", random_state=0),
        "SpectralClustering": SpectralClustering(CLUSTERS, affinity="precomputed", random_state=0),
    }
    model = models[whose]
    model.fit(planted(2000)[0])  # everything is imported
    graph, truth = planted(n)
    with MemoryMeter() as meter:
        seconds, _ = timed(model.fit, graph)
    size = graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes
    return {"whose": whose, "n": n, "seconds": seconds, "ari": ari(truth, model.labels_), "inputs": meter.growth / size}


def run_job(whose: str, n: int) -> dict[str, Any]:
    """Run a job in a process of its own; without figures if it takes too long or too much."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.graphs", "--job", json.dumps([whose, n])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return {"whose": whose, "n": n, "ended": f"not within {LIMIT_SECONDS} seconds"}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return {"whose": whose, "n": n, "ended": lines[-1] if lines else f"killed ({done.returncode})"}
    return dict(json.loads(done.stdout))


def row_of(found: dict[str, Any]) -> str:
    """Return a row of the table."""
    name = f"| {found['n']} | {found['whose']} |"
    if "ended" in found:
        return f"{name} {found['ended']} | | |"
    return f"{name} {found['seconds']:.1f} | {found['ari']:.3f} | {found['inputs']:.1f} |"


def main() -> None:
    """Run all jobs, or one and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small graphs, nothing written")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job is not None:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
        print(json.dumps(job(*json.loads(asked.job))))
        return
    found = []
    for n in (2000, 4000) if asked.quick else SIZES:
        for whose in ("LKG", "SpectralClustering"):
            found.append(run_job(whose, n))
            print(found[-1], flush=True)
    if asked.quick:
        return
    told = {"machine": describe_machine(), "jobs": found}
    (OUT / "graphs.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    lines = ["# Ready graphs", "", "<!-- tables -->", "", "Memory beside the input, in units of its size.", ""]
    lines += ["| Samples | Method | Seconds | ARI | Memory |", "| ---: | --- | ---: | ---: | ---: |"]
    lines += [row_of(row) for row in found]
    (OUT / "graphs.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
