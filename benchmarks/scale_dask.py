"""``python -m benchmarks.scale --dask``: a Dask array of six rings on two local workers, and with one of them killed.

The fits run in a fresh process, which is client and scheduler; the workers are two more, one thread each. The fit of
the same file without Dask, in a process of its own, gives the labels to compare with.
"""

import argparse
import json
import os
import signal
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.machine import status_bytes, timed
from benchmarks.report import describe, markdown_table
from benchmarks.rings import N_CLUSTERS, Fit, in_fresh_process, measure_fit, read_rows, write_rings
from kernelbraid import LandmarkLKG

CHUNK = 50_000  # rows of a chunk of the array, unless that makes fewer than eight chunks
WORKERS = 2
KILL_AT = 1 / 3  # of the seconds of the undisturbed fit
# Dask makes its workers hand freed memory back at once, which costs page faults; this makes them keep it.
KEPT = {"MALLOC_TRIM_THRESHOLD_": "268435456", "MALLOC_MMAP_THRESHOLD_": "268435456"}
PATIENCE = 60  # seconds that a killed worker has to come back


def measure(n: int) -> dict[str, Any]:
    """Return one row for each fit: in one process, on two workers, and with one of the two killed."""
    with tempfile.TemporaryDirectory(prefix="kernelbraid-") as folder:
        fit = replace(write_rings(Path(folder), n), labels=str(Path(folder) / "labels.npy"))
        alone = measure_fit(fit)
        print(json.dumps(alone), flush=True)
        # One process for each: the environment of the first workers stays in theirs.
        rows = [
            row
            for keep in (True, False)
            for row in in_fresh_process("benchmarks.scale_dask", {"fit": asdict(fit), "keep": keep})
        ]
        print("\n".join(map(json.dumps, rows)), flush=True)
    first = {"run": "one process, two threads", **{key: alone[key] for key in ("seconds", "ari")}}
    return {"n": n, "rows": [first | {"peak_bytes": alone["peak_bytes"], "workers_peak_bytes": []}, *rows]}


def measure_here(fit: Fit) -> list[dict[str, Any]]:
    """Start workers, and fit twice: in peace, and with one worker killed a third of the way."""
    with workers() as client:
        idle = seconds_of_a_task(client)
        quiet, labels = measure_fit_of(client, fit)
        quiet["seconds_of_a_task"] = idle
        with killing(client, KILL_AT * quiet["seconds"]) as deed:
            disturbed, again = measure_fit_of(client, fit)
        deed["in_time"] = deed.get("at", np.inf) <= disturbed["seconds"]
    quiet = {"run": "two workers", **quiet}
    del disturbed["traffic_bytes"]  # the killed worker cannot be asked any more
    disturbed = {"run": "two workers, one killed", **disturbed, "kill": deed}
    return [quiet, disturbed | {"same_as_undisturbed": bool(np.array_equal(labels, again))}]


def measure_kept(fit: Fit) -> list[dict[str, Any]]:
    """Fit on workers that keep their memory."""
    os.environ |= KEPT
    with workers() as client:
        return [{"run": "two workers that keep freed memory", **measure_fit_of(client, fit)[0]}]


@contextmanager
def workers() -> Any:
    """Yield the client of fresh workers."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def measure_fit_of(client: Any, fit: Fit) -> tuple[dict[str, Any], np.ndarray]:
    """Return seconds, peaks of memory, messages and agreement of a fit on the workers, and its labels."""
    from distributed import get_task_stream

    warnings.simplefilter("ignore")
    model = LandmarkLKG(N_CLUSTERS, random_state=0)
    before = traffic(client)
    with get_task_stream(client) as executed:
        seconds, _ = timed(model.fit, as_dask(fit.samples))
    is_lazy = hasattr(model.labels_, "compute")
    seconds_labels, labels = timed(lambda: np.asarray(model.labels_))
    client.wait_for_workers(WORKERS, timeout=PATIENCE)
    alone = np.load(str(fit.labels))
    row = {
        "seconds": seconds,
        "seconds_labels": seconds_labels,
        "lazy_labels": is_lazy,
        "ari": float(adjusted_rand_score(np.load(fit.classes), labels)),
        "ari_one_process": float(adjusted_rand_score(alone, labels)),
        "other_labels": int(np.count_nonzero(alone != labels)),
        "peak_bytes": status_bytes("VmHWM"),
        "workers_peak_bytes": sorted(client.run(status_bytes, "VmHWM").values()),
        "tasks": len(executed.data),
        "traffic_bytes": traffic(client) - before,
    }
    return row, labels


def traffic(client: Any) -> int:
    """Return the bytes that the workers have sent to each other and to the client."""
    return sum(client.run(_sent).values())


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def seconds_of_a_task(client: Any, count: int = 2000) -> float:
    """Return what a task that does nothing costs."""
    seconds, _ = timed(lambda: client.gather(client.map(abs, range(count), pure=False)))
    return seconds / count


def as_dask(path: str) -> Any:
    """Return a .npy file as a Dask array whose chunks are read by the workers."""
    import dask
    import dask.array as da

    shape, kind = np.load(path, mmap_mode="r").shape, np.float32
    read = dask.delayed(read_rows, pure=True)
    chunks = []
    for start in range(0, shape[0], chunk_rows(shape[0])):
        stop = min(start + chunk_rows(shape[0]), shape[0])
        chunks.append(da.from_delayed(read(path, start, stop), shape=(stop - start, shape[1]), dtype=kind))
    return da.concatenate(chunks)


def chunk_rows(n: int) -> int:
    """Return the rows of a chunk of n samples."""
    return max(1, min(CHUNK, n // 8))


@contextmanager
def killing(client: Any, seconds: float) -> Any:
    """Kill one worker after so many seconds, unless the block ends before; yield what is known about it then."""
    before = client.run(os.getpid)
    address, victim = sorted(before.items())[0]
    deed: dict[str, Any] = {}
    started = time.perf_counter()

    def kill() -> None:
        os.kill(victim, signal.SIGKILL)
        deed.update(worker=address, at=time.perf_counter() - started)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield deed
    finally:
        timer.cancel()
        timer.join()
    deed["replaced"] = bool(set(client.run(os.getpid).values()) - set(before.values()))


def assemble(results: dict[str, Any]) -> str:
    """Return the page."""
    header = [
        "run",
        "seconds",
        "labels (s)",
        "ARI",
        "ARI with one process",
        "other labels",
        "tasks",
        "sent by workers (MB)",
        "peak (MB)",
        "workers (MB)",
    ]
    cells = []
    for row in results["rows"]:
        workers = " and ".join(f"{peak / 1e6:.0f}" for peak in row["workers_peak_bytes"]) or "-"
        compared = [shown(row, key, form) for key, form in (("ari_one_process", ".4f"), ("other_labels", "d"))]
        cells.append([row["run"], f"{row['seconds']:.1f}", shown(row, "seconds_labels", ".1f"), f"{row['ari']:.4f}"])
        sent = f"{row['traffic_bytes'] / 1e6:.0f}" if "traffic_bytes" in row else "-"
        cells[-1] += [*compared, shown(row, "tasks", "d"), sent, f"{row['peak_bytes'] / 1e6:.0f}", workers]
    disturbed = results["rows"][-1]
    text = (
        f"{results['n']} samples of six rings in 64 features, chunks of {chunk_rows(results['n'])} rows, "
        f"`LandmarkLKG(6, random_state=0)` on `LocalCluster(n_workers={WORKERS}, threads_per_worker=1)`. "
        "Labels: the seconds until they are here; other labels: samples whose label differs from that of the "
        "fit in one process. Peak: resident memory of the client with the scheduler, and of each worker, since "
        "the start of the process; a worker that was killed counts from its restart. Workers that keep freed memory: "
        f"`{' '.join(f'{name}={value}' for name, value in KEPT.items())}` in their environment; as they come, they "
        "hand every block back to the system."
    )
    head = f"# Many samples on Dask workers\n\n{describe(results['machine'])} Command: `{results['command']}`"
    parts = [f"{head}, {results['minutes']:.1f} minutes.", text, markdown_table(header, cells), story(disturbed)]
    return "\n\n".join(parts) + "\n"


def story(row: dict[str, Any]) -> str:
    """Return in words how the killed worker and the fit fared."""
    deed = row["kill"]
    if not deed["in_time"]:
        return "No worker was killed: the fit was over before. Take more samples."
    return (
        f"One worker was killed with SIGKILL {deed['at']:.1f} s after the start of the last fit and was "
        f"{'replaced' if deed['replaced'] else 'not replaced'}; the labels are "
        f"{'those' if row['same_as_undisturbed'] else 'not those'} of the undisturbed fit."
    )


def shown(row: dict[str, Any], key: str, form: str) -> str:
    """Return a figure, or a dash where there is none."""
    return format(row[key], form) if key in row else "-"


def main() -> None:
    """Fit on workers the file that the argument describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", help='JSON: {"fit": a Fit, "keep": whether workers keep their memory}')
    asked = json.loads(parser.parse_args().task)
    print(json.dumps((measure_kept if asked["keep"] else measure_here)(Fit(**asked["fit"]))))


if __name__ == "__main__":
    main()
