"""Many samples.

Six rings in 64 features, float32, from a .npy file; `LKG(6, n_jobs=2, random_state=0)`, one thread for linear
algebra, each fit in a fresh process. The rings are two groups of three with a common centre: no cluster is a blob.
Peak: resident memory of the whole process, pages of the file that the system keeps mapped included; growth: over
before the fit, and what of it are no pages of the file. On workers: a Dask array on so many processes of one thread,
and the peak of client and scheduler. Index: adjusted Rand index against the rings.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kernelbraid import LKG
from kernelbraid.metrics import ari
from lab.judging.jobs import Row, metered, resident, table, timed

JOBS = ("100000", "200000", "500000", "1000000", "2000000", "1000000 on 2 workers")
N_CLUSTERS, N_FEATURES = 6, 64
CHUNK = 50_000  # rows that are drawn at a time, and in a chunk of a Dask array


def write_rings(path: Path, n: int) -> np.ndarray:
    """Write samples as float32 to a .npy file, and return the rings that they belong to.

    One generator of seed 0 draws in this order: the rings of all samples, all angles, the noise of all radii, and the
    noise of the features, row by row. So the samples do not depend on the size of the chunks.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLUSTERS, size=n)
    angle = rng.uniform(0, 2 * np.pi, size=n)
    radius = 1 + 2 * (y % 3) + rng.normal(scale=0.12, size=n)
    placed = np.stack([radius * np.cos(angle) + 12 * (y // 3), radius * np.sin(angle)], axis=1)
    with path.open("wb") as file:  # a memory map would keep all pages resident
        header = {"descr": "<f4", "fortran_order": False, "shape": (n, N_FEATURES)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n, CHUNK):
            rows = placed[start : start + CHUNK]
            X = rng.normal(scale=0.02, size=(len(rows), N_FEATURES))
            X[:, :2] += rows
            file.write(X.astype(np.float32).data)
    return y


def measure(job: str) -> list[Row]:
    """Fit a file of so many samples, here or on workers."""
    number, _, where = job.partition(" on ")
    with tempfile.TemporaryDirectory(prefix="kernelbraid-") as folder:
        path = Path(folder) / "samples.npy"
        y = write_rings(path, int(number))
        if where:
            return [fit_on(int(where.split()[0]), path, y)]
        model = LKG(N_CLUSTERS, n_jobs=2, random_state=0)
        with metered() as memory:
            seconds, _ = timed(model.fit, str(path))
        return [{"seconds": seconds, "index": float(ari(y, model.labels_)), **memory}]


def fit_on(n_workers: int, path: Path, y: np.ndarray) -> Row:
    """Fit a Dask array whose chunks are read by workers, until the labels are here."""
    import dask.array as da
    from distributed import Client, LocalCluster

    def read(block_info: dict) -> np.ndarray:
        start, stop = block_info[None]["array-location"][0]
        return np.array(np.load(path, mmap_mode="r")[start:stop])

    rows = [min(CHUNK, len(y) - start) for start in range(0, len(y), CHUNK)]
    X = da.map_blocks(read, chunks=(tuple(rows), (N_FEATURES,)), dtype=np.float32, meta=np.empty((0, 0), np.float32))
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client, metered() as memory:
        seconds, labels = timed(lambda: LKG(N_CLUSTERS, random_state=0).fit(X).labels_)
        workers = max(client.run(resident, "VmHWM").values())
    return {"seconds": seconds, "index": float(ari(y, labels)), "worker_bytes": workers, **memory}


def exponent(rows: Sequence[Row], key: str) -> float:
    """Return b of the least-squares fit a n^b, in logarithms."""
    sizes, values = np.log([int(row["job"]) for row in rows]), np.log([row[key] for row in rows])
    return float(np.polyfit(sizes, values, 1)[0])


def page(rows: Sequence[Row]) -> list[str]:
    """Return the page."""
    header = ["samples", "seconds", "peak (MB)", "growth (MB)", "of it no file (MB)", "largest worker (MB)", "index"]
    memory = ("peak_bytes", "growth_bytes", "own_bytes", "worker_bytes")
    lines = [
        [row["job"], row["seconds"]]
        + [f"{row[name] / 1e6:.0f}" if name in row else None for name in memory]
        + [f"{row['index']:.4f}"]
        for row in rows
    ]
    alone = [row for row in rows if row["job"].isdigit()]
    told = [f"{what} {exponent(alone, key):.2f}" for what, key in (("time", "seconds"), ("peak", "peak_bytes"))]
    return [*table(header, lines), *(["", f"Exponents over all sizes: {', '.join(told)}."] if len(alone) > 1 else [])]
