"""``LandmarkLKG`` against ``LKG`` on all samples: accuracy, NMI and seconds over seeds.

``python -m benchmarks.landmarks [NAME ...]`` fits both and writes results/landmarks.json, one row a data set, method
and seed, and the table from it. Rows with the same key are measured anew and replaced, all others stay, so the two
methods may be run one after the other or on two machines: ``--only full --device cuda --out FOLDER`` there, and
``--merge FOLDER/landmarks.json`` here. KERNELBRAID_DATA names the folder of the data sets.
"""

import argparse
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu import RESULTS
from benchmarks.gpu import device_name, synchronised
from benchmarks.machine import describe_machine, timed
from benchmarks.report import describe, markdown_table, spread
from kernelbraid import LKG, LandmarkLKG
from kernelbraid.datasets import Dataset, load
from kernelbraid.metrics import accuracy, nmi

SETS = {"ba": 500, "tdt2": 500, "orl": 200}  # and their numbers of landmarks
TITLES = {"landmarks": "LandmarkLKG", "full": "LKG"}
METHODS = tuple(TITLES)
SEEDS = (10, 11, 12, 13, 14)
CHOSEN_WITH = (0, 1, 2, 3, 4)  # seeds that the defaults were chosen with
BAR = 3.0  # points of accuracy that LandmarkLKG may lose
Row = dict[str, Any]


def main() -> None:
    """Measure, or take what was measured elsewhere, and write the table for people and for programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SETS), metavar="NAME", help=", ".join(SETS))
    parser.add_argument("--only", choices=METHODS, help="one of the two methods")
    parser.add_argument("--device", help="of the fits on all samples, such as cuda")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--missing", action="store_true", help="leave out what the table has")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="FILE", help="measure nothing, add these results")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for landmarks.json and landmarks.md")
    options = parser.parse_args()
    unknown = set(options.names) - set(SETS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: no such data set here; choose from {', '.join(SETS)}")
    results = read(options.out / "landmarks.json")
    for file in options.merge or ():
        given = read(file, must_exist=True)
        results = {"machines": results["machines"] | given["machines"], "rows": joined(results["rows"], given["rows"])}
    if not options.merge:
        machine = describe_machine()
        known = {key_of(row) for row in results["rows"]} if options.missing else set()
        for row in measure(options, known):
            device = row["device"] if row["device"] != "cpu" else f"{machine['processor']}, {machine['cores']} cores"
            results["machines"][device] = describe(machine)
            results["rows"] = joined(results["rows"], [row | {"device": device, "commit": machine["commit"]}])
            print(json.dumps(row), flush=True)
            write(options.out, results)
    write(options.out, results)
    print(report(results))


def measure(options: argparse.Namespace, known: set[tuple[Any, ...]]) -> Iterator[Row]:
    """Yield one row a data set, method and seed."""
    for name in options.names:
        dataset = load(name)
        for method in METHODS if options.only is None else [options.only]:
            for seed in options.seeds:
                if (name, method, seed) not in known:
                    yield measure_one(dataset, method, seed, options.device)


def measure_one(dataset: Dataset, method: str, seed: int, device: str | None) -> Row:
    """Fit once, and return per cent and seconds."""
    k, p = dataset.n_clusters, SETS[dataset.name]
    model: Any
    if method == "landmarks":
        device = None
        model = LandmarkLKG(n_clusters=k, n_landmarks=p, random_state=seed, n_jobs=2)
    else:
        model = LKG(n_clusters=k, random_state=seed, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if device is None:
            seconds, _ = timed(model.fit, dataset.X)
        else:
            seconds, _ = synchronised(lambda: model.fit(dataset.X), device)
    labels = np.asarray(model.labels_)
    found = {"acc": 100 * accuracy(dataset.y, labels), "nmi": 100 * nmi(dataset.y, labels), "seconds": seconds}
    row = {"set": dataset.name, "method": method, "seed": seed, "samples": dataset.n_samples, "classes": k}
    row |= {"landmarks": p} if method == "landmarks" else {}
    row |= {name: round(value, 3) for name, value in found.items()}
    return row | {"device": "cpu" if device is None else device_name(device)}


def read(file: Path, *, must_exist: bool = False) -> dict[str, Any]:
    """Return the results of a file, empty ones if it is not there."""
    if not must_exist and not file.exists():
        return {"machines": {}, "rows": []}
    return json.loads(file.read_text(encoding="utf-8"))


def key_of(row: Row) -> tuple[str, str, int]:
    """Return what decides the outcome of a fit."""
    return row["set"], row["method"], row["seed"]


def joined(known: Sequence[Row], fresh: Sequence[Row]) -> list[Row]:
    """Return all rows; a fresh one replaces that of the same key."""
    rows = {key_of(row): row for row in [*known, *fresh]}
    return list(rows.values())


def write(folder: Path, results: dict[str, Any]) -> None:
    """Write the table for people and for programs, in the order of the sets."""
    order = list(SETS)
    used = {row["device"] for row in results["rows"]}
    rows = sorted(results["rows"], key=lambda row: (order.index(row["set"]), METHODS.index(row["method"]), row["seed"]))
    kept = {"machines": {name: text for name, text in results["machines"].items() if name in used}, "rows": rows}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "landmarks.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (folder / "landmarks.md").write_text(report(kept), encoding="utf-8")


def report(results: dict[str, Any]) -> str:
    """Return the page."""
    header = ["data set", "samples", "classes", "landmarks", "fits", "accuracy", "of LKG", "difference", "verdict"]
    header += ["NMI", "of LKG", "seconds", "of LKG"]
    cells = []
    for name in SETS:
        halves = [[row for row in results["rows"] if (row["set"], row["method"]) == (name, m)] for m in METHODS]
        if any(halves):
            cells.append(line_of(name, *halves))
    seeds = {row["seed"] for row in results["rows"]}
    text = (
        "LandmarkLKG against LKG on all samples, both as they come: per cent and seconds, mean ± standard deviation "
        f"over seeds ({listed(seeds)}). The defaults were chosen with the seeds {listed(CHOSEN_WITH)}"
        f"{', and these are fresh ones' if seeds.isdisjoint(CHOSEN_WITH) else ''}. The bar: within {BAR:g} points of "
        "the accuracy of LKG. Fits: LandmarkLKG / LKG."
    )
    devices = dict.fromkeys(row["device"] for row in results["rows"])
    machines = [machine_of(device, results) for device in devices]
    return "\n\n".join(["# Landmarks", text, markdown_table(header, cells), *machines]) + "\n"


def machine_of(device: str, results: dict[str, Any]) -> str:
    """Return one sentence about a machine, after the methods that it ran."""
    ran = {row["method"] for row in results["rows"] if row["device"] == device}
    sentence = results["machines"][device]
    titles = " and ".join(TITLES[method] for method in METHODS if method in ran)
    return f"{titles}: {sentence if device in sentence else f'{device}; {sentence}'}"


def listed(numbers: Iterable[int]) -> str:
    """Return numbers in order, with commas."""
    return ", ".join(map(str, sorted(numbers)))


def line_of(name: str, landmarks: Sequence[Row], full: Sequence[Row]) -> list[str]:
    """Return a line of the table; a dash where a method is missing."""
    first = [*landmarks, *full][0]
    difference = mean(landmarks, "acc") - mean(full, "acc") if landmarks and full else None
    verdict = "-" if difference is None else "pass" if difference >= -BAR else "short"
    cells = [name, str(first["samples"]), str(first["classes"]), str(SETS[name]), f"{len(landmarks)} / {len(full)}"]
    cells += [spread(landmarks, "acc"), spread(full, "acc")]
    cells += ["-" if difference is None else f"{difference:+.2f}", verdict]
    return cells + [spread(rows, key) for key in ("nmi", "seconds") for rows in (landmarks, full)]


def mean(rows: Sequence[Row], key: str) -> float:
    """Return the mean of a figure."""
    return float(np.mean([row[key] for row in rows]))


if __name__ == "__main__":
    main()
