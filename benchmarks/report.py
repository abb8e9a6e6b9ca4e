"""From measurements to tables in Markdown, and to the targets that they meet or miss."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Row = dict[str, Any]
Rows = list[Row]

LARGEST = 1404  # samples of the problem that the targets are about


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns are aligned in plain text, too."""
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def describe(machine: Row) -> str:
    """Return one sentence about the machine."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}, Python "
        f"{machine['python']}, {versions}, {' and '.join(machine['blas'])}; commit {machine['commit']}, "
        f"{machine['date']}."
    )


def speed_table(rows: Rows, threads: int) -> str:
    """Return seconds an iteration and ratios, for one number of threads."""
    last = "ours / own calls" if threads == 1 else "2 threads / 1 thread"
    header = ["size", "n", "setting", "method", "ours (s)", "(b) (s)", "(a) (s)", "(b) / ours", "(a) / ours", last]
    cells = []
    for row in rows:
        if row["threads"] == threads:
            seconds = [_seconds(row.get(f"seconds_{key}")) for key in ("ours", "b", "a")]
            ratios = [row.get("ratio_b"), row.get("ratio_a")]
            ratios.append(1 / row["ratio_own_calls" if threads == 1 else "ratio_ours_one_thread"])
            cells.append([*_problem(row), *seconds, *map(_ratio, ratios)])
    return markdown_table(header, cells)


def results_table(rows: Rows) -> str:
    """Return what was kept, by which routes, and how far J is from that of the plain port."""
    header = ["size", "n", "setting", "method", "kept in J", "kept in W", "route of J", "route of W"]
    header += ["J vs (b)", "J vs (b), exact weights"]
    cells = []
    for row in rows:
        if row["threads"] == 1:
            kept = ["-" if row["graph_rank"][0] < 0 else _span(row["graph_rank"]), _span(row["kernel_rank"])]
            routes = [", ".join(row["graph_route"]), ", ".join(row["kernel_route"])]
            differences = [_error(row["difference"]), _error(row["difference_exact_weights"])]
            cells.append([*_problem(row), *kept, *routes, *differences])
    return markdown_table(header, cells)


def _problem(row: Row) -> list[str]:
    return [row["size"], str(row["n"]), row["setting"], row["method"]]


def memory_table(rows: Rows) -> str:
    """Return the peak memory of fits in matrices of n x n numbers."""
    header = ["n", "kernels", "storage", "setting", "method", "growth (MB)", "in n^2 floats", "predicted", "routes"]
    cells = [
        [
            str(row["n"]),
            str(row["n_kernels"]),
            row["storage"],
            row["setting"],
            row["method"],
            f"{row['growth_bytes'] / 1e6:.0f}",
            f"{row['matrices']:.1f}",
            f"{row['predicted_matrices']:.1f}",
            ", ".join(row["routes"]),
        ]
        for row in rows
    ]
    return markdown_table(header, cells)


def growth_table(rows: Rows) -> str:
    """Return seconds an iteration of LKGr by n."""
    header = ["n", "setting", "stored (s)", "lazy (s)", "(b) (s)"]
    keys = ("seconds_stored", "seconds_lazy", "seconds_b")
    return markdown_table(header, [[str(r["n"]), r["setting"], *(_seconds(r.get(key)) for key in keys)] for r in rows])


def routes_table(rows: Rows) -> str:
    """Return seconds of one thresholding by kept rank; in brackets where the route gave up after that time."""
    routes = ("svd", "gram", "range", "subspace", "subspace, late", "polar", "propack", "propack+1")
    header = ["matrix", "n", "kept", *(f"{name} (s)" for name in routes), "error of propack"]
    cells = []
    for row in rows:
        seconds = [f"({_seconds(row[r])})" if row.get(f"fails_{r}") else _seconds(row.get(r)) for r in routes]
        cells.append([row["matrix"], str(row["n"]), str(row["rank"]), *seconds, _error(row.get("error_propack"))])
    return markdown_table(header, cells)


def targets_table(results: dict[str, Any]) -> str:
    """Return every target with what was measured; empty if the largest problem was left out."""
    largest = [row for row in results["pairs"] if row["n"] == LARGEST]
    one, two = ([row for row in largest if row["threads"] == threads] for threads in (1, 2))
    every_one, every_two = ([row for row in results["pairs"] if row["threads"] == threads] for threads in (1, 2))
    lazy = [row["matrices"] for row in results["memory"] if row["storage"] == "lazy" and row["n"] == 2500]
    if not largest:
        return ""
    checks: list[tuple[str, float, float, bool]] = []
    for method, (published, plain, plain_few) in {"LKGr": (9, 1.6, 2.2), "LKGs": (10, 1.5, 2.3)}.items():
        rows = [row for row in one if row["method"] == method]
        few = [row for row in rows if row["setting"] == "few pass"]
        checks += [
            (f"{method}: times faster than (a), any setting", _best(min, rows, "ratio_a"), published, True),
            (f"{method}: times faster than (b), any setting", _best(min, rows, "ratio_b"), plain, True),
            (f"{method}: times faster than (b), few pass", _best(min, few, "ratio_b"), plain_few, True),
        ]
    checks += [
        ("iteration over its own LAPACK and BLAS calls", 1 / _best(min, one, "ratio_own_calls"), 1.25, False),
        ("two threads over one", 1 / _best(min, two, "ratio_ours_one_thread"), 1.1, False),
        ("two threads over one, all sizes", 1 / _best(min, every_two, "ratio_ours_one_thread"), 1.1, False),
        ("J against (b)", _best(max, one, "difference"), 1e-8, False),
        ("J against (b), all sizes", _best(max, every_one, "difference"), 1e-8, False),
    ]
    if lazy:
        checks.append(("peak memory, lazy, in n^2 floats (n = 2500)", max(lazy), 12, False))
    return markdown_table(
        ["target (n = 1404, worst case)", "measured", "asked", "verdict"], [verdict(*c) for c in checks]
    )


def verdict(text: str, measured: float, asked: float, at_least: bool) -> list[str]:
    """Return the row of a target: what was measured, what is asked, and whether it holds."""
    holds = measured >= asked if at_least else measured <= asked
    shown = _error if asked < 1e-3 else _ratio
    return [text, shown(measured), f"{'>=' if at_least else '<='} {asked:g}", "pass" if holds else "short"]


def _best(choose: Callable[[list[float]], float], rows: Rows, key: str) -> float:
    return choose([row[key] for row in rows if key in row])


def spread(rows: Sequence[Row], key: str) -> str:
    """Return mean and standard deviation of a figure; a dash if there is none."""
    if not rows:
        return "-"
    values = [row[key] for row in rows]
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=min(1, len(values) - 1)):.2f}"


def _span(values: Sequence[int]) -> str:
    return str(values[0]) if min(values) == max(values) else f"{min(values)}-{max(values)}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.0e}"


def assemble(results: dict[str, Any]) -> str:
    """Return the whole report."""
    sections = {
        "Targets": targets_table(results),
        "Seconds an iteration, one BLAS thread": speed_table(results["pairs"], 1),
        "Seconds an iteration, two BLAS threads": speed_table(results["pairs"], 2),
        "Values kept, routes, and the largest difference in J": results_table(results["pairs"]),
        "Peak memory of a fit": memory_table(results["memory"]),
        "Time of an iteration by n (LKGr, one thread)": growth_table(results["growth"]),
        "One thresholding by kept rank (one thread)": routes_table(results["routes"]),
    }
    head = f"# CPU\n\n{describe(results['machine'])} Command: `{results['command']}`, {results['minutes']:.1f} minutes."
    return "\n\n".join([head, *(f"## {title}\n\n{table}" for title, table in sections.items() if table)]) + "\n"
