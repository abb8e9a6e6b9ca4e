"""``make bench``: kernelbraid against plain ports on a CPU, its memory, its growth, and its thresholding routes."""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.growth import measure_growth
from benchmarks.machine import describe_machine
from benchmarks.memory import fits_at, growth_fits, measure_memory
from benchmarks.pairs import Plan, measure_all
from benchmarks.problems import SIZES
from benchmarks.report import assemble
from benchmarks.routes import measure_routes

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Measure, print the tables, and write them to a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small problems only: a check of the commands, in a minute"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for cpu.json and cpu.md")
    options = parser.parse_args()
    started = time.perf_counter()
    results: dict[str, Any] = {
        "command": "make bench" + (" BENCH_ARGS=--quick" if options.quick else ""),
        "machine": describe_machine(),
    }
    results |= {name: _collect(name, rows) for name, rows in _measurements(options.quick).items()}
    results["minutes"] = (time.perf_counter() - started) / 60
    report = assemble(results)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "cpu.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "cpu.md").write_text(report, encoding="utf-8")
    print(f"\n{report}\nwritten: {options.out / 'cpu.md'}")


def _measurements(quick: bool) -> dict[str, Iterator[dict[str, Any]]]:
    """Return what is measured; nothing runs before it is asked for."""
    if quick:
        return {
            "pairs": measure_all(SIZES[:1], Plan(steps=3, published_at=(3,), steps_two_threads=3)),
            "growth": measure_growth((100, 200), largest_plain=200),
            "routes": measure_routes(200, (4, 40, 200), SIZES[0]),
            "memory": measure_memory(growth_fits((500,))),
        }
    return {
        "pairs": measure_all(SIZES, Plan()),
        "growth": measure_growth((250, 500, 1000, 2000), largest_plain=1000),
        "routes": measure_routes(1000, (5, 20, 50, 100, 250, 500, 1000), SIZES[-1]),
        "memory": measure_memory([*growth_fits((1500,)), *fits_at(2500)]),
    }


def _collect(name: str, rows: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run a measurement, with a line for every row so that one sees it move."""
    started = time.perf_counter()
    found = []
    for row in rows:
        found.append(row)
        shown = {key: value for key, value in row.items() if isinstance(value, str | int)}
        print(f"[{time.perf_counter() - started:6.1f} s] {name}: {shown}", flush=True)
    return found


if __name__ == "__main__":
    main()
