"""Jobs of a judge, each in a process of its own, and the page that tells of their rows.

A judge is a module with `JOBS`, `measure(job)`, which returns rows, plain dicts, and `page(rows)`, which returns the
lines of its page below title and text, which are its docstring. A job is a word, often the name of a data set. Rows
are kept as they come in: what was stopped goes on.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import kernelbraid
from lab.records import LabError

ROOT = Path(__file__).resolve().parents[2]
#: Where the pages are.
JUDGED = ROOT / "lab" / "judged"
Row: TypeAlias = dict[str, Any]
#: What keeps the libraries for linear algebra to so many threads, if it is set before they are loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PAUSE = 0.01  # seconds between two looks at the memory


def main(judge: str, arguments: Sequence[str]) -> None:
    """Judge, print the page, and write it when it is whole."""
    module = import_module(f"lab.judging.{judge}")
    run = partial(in_process, judge, threads=getattr(module, "THREADS", 1))
    carry_out(module, module.JOBS, parser_of(module).parse_args(arguments), run)


def parser_of(judge: ModuleType) -> argparse.ArgumentParser:
    """Return a parser of what every judge is asked."""
    parser = argparse.ArgumentParser(f"python -m lab {name_of(judge)}", description=judge.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="jobs that are measured and printed alone")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at a time")
    parser.add_argument("--out", type=Path, default=JUDGED, help="folder for the page, lab/judged by default")
    return parser


def name_of(judge: ModuleType) -> str:
    """Return the word by which a judge is called."""
    return judge.__name__.rpartition(".")[2]


def carry_out(
    judge: ModuleType, every: Sequence[str], asked: argparse.Namespace, run: Callable[[str], list[Row]]
) -> None:
    """Measure what is asked for, print the page, and write it where nothing was left out.

    Parameters
    ----------
    judge : module
        Its docstring is the head of the page.
    every : sequence of str
        The jobs if none are named.
    asked : Namespace
        From `parser_of`.
    run : callable
        From a job to its rows.
    """
    kept = None if asked.names else asked.out / f"{name_of(judge)}.part"
    found = _read(kept)
    done = {row["job"] for row in found}
    jobs = list(dict.fromkeys(asked.names or every))
    with ThreadPoolExecutor(asked.jobs) as pool:
        for rows in pool.map(run, [job for job in jobs if job not in done]):
            _keep(kept, rows)
            found += rows
    found.sort(key=lambda row: jobs.index(row["job"]))
    machines, commits = (" and ".join(dict.fromkeys(row[what] for row in found)) for what in ("machine", "commit"))
    title, text = cleandoc(judge.__doc__ or "").replace("``", "`").split("\n\n")
    head = [f"# {title.rstrip('.')}", "", " ".join(text.split()), ""]
    command = f"Command: `python -m lab {name_of(judge)}`. {machines}; commit {commits}."
    lines = [*head, *judge.page(found), "", command, ""]
    print("\n".join(lines))
    if kept is not None:
        (asked.out / f"{name_of(judge)}.md").write_text("\n".join(lines), encoding="utf-8")
        kept.unlink(missing_ok=True)


def in_process(judge: str, job: str, *, root: Path = ROOT, threads: int | None = 1) -> list[Row]:
    """Return the rows of a job, measured in a process of its own.

    Parameters
    ----------
    root : path
        Checkout whose package is measured.
    threads : int or None, default=1
        Of the libraries for linear algebra; None leaves them as they are.
    """
    limits = {} if threads is None else dict.fromkeys(THREADS, str(threads))
    path = os.pathsep.join([str(root / "src"), str(ROOT)])
    environment = os.environ | limits | {"PYTHONPATH": path, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "lab.judging.jobs", judge, job]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["killed"])[-1]
        raise LabError(f"{judge}: {job!r} failed ({why}); python -m lab.judging.jobs {judge} {job!r} says more.")
    return list(json.loads(done.stdout.splitlines()[-1]))


def table(header: Sequence[str], lines: Iterable[Sequence[Any]]) -> list[str]:
    """Return a table; numbers have one digit unless they are words already, None is a dash."""
    words = [[_word(cell) for cell in line] for line in lines]
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *words)]


def _word(cell: Any) -> str:
    return "-" if cell is None else f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def _read(kept: Path | None) -> list[Row]:
    lines = kept.read_text(encoding="utf-8").splitlines() if kept is not None and kept.exists() else []
    return [json.loads(line) for line in lines]


def _keep(kept: Path | None, rows: Iterable[Row]) -> None:
    """Append the rows of a job."""
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with kept.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def describe() -> str:
    """Return processor, memory, system and versions, in words."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.1f} GB, {platform.system()}, Python "
        f"{platform.python_version()}, {packages}, kernelbraid {kernelbraid.__version__}"
    )


def timed(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, Any]:
    """Return the seconds that a call took, and what it returned."""
    started = time.perf_counter()
    result = function(*arguments, **options)
    return time.perf_counter() - started, result


@contextmanager
def metered() -> Iterator[dict[str, int]]:
    """Yield a dict that has, after the block, its peak of resident memory and the growth up to there, in bytes.

    ``growth_bytes`` is over before the block, ``own_bytes`` what of that are no pages of files, looked at often.
    """
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before, own = resident("VmRSS"), [resident("RssAnon")]
    done, found = threading.Event(), dict[str, int]()

    def watch() -> None:
        while not done.wait(PAUSE):
            own.append(resident("RssAnon"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()
        peak = resident("VmHWM")
        found.update(peak_bytes=peak, growth_bytes=peak - before, own_bytes=max(own) - own[0])


def resident(field: str) -> int:
    """Return what the system says of this process: VmRSS, resident bytes, VmHWM, their peak, or RssAnon, of no file."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def commit() -> str:
    """Return the commit of the package that is measured; a plus says that files were changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    done = subprocess.run(command, cwd=Path(kernelbraid.__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":  # one job here
    name, job = sys.argv[1:]
    measured = import_module(f"lab.judging.{name}").measure(job)
    print(json.dumps([{"job": job, "machine": describe(), "commit": commit(), **row} for row in measured]))
