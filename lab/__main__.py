"""The laboratory's commands: ``python -m lab``."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from kernelbraid import __version__
from kernelbraid.datasets import DataError
from lab.records import Folder, LabError, Record, read_records

#: What judges the library, each with arguments of its own.
JUDGES = ("judge", "user", "confidence", "new_samples", "views", "trust", "scale", "cells")


def main(arguments: Sequence[str]) -> int:
    """Run a command, and return its exit code; what a user can mend is one sentence on stderr."""
    if arguments and arguments[0] in JUDGES:
        return importlib.import_module(f"lab.judging.{arguments[0]}").main(arguments[1:]) or 0
    asked = _parser().parse_args(arguments)
    try:
        return {"run": _run, "tables": _tables, "pack": _pack}[asked.command](asked)
    except (LabError, DataError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what is done is kept, and the same command does the rest.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lab",
        description="Run experiments, and make tables of what came out.",
        epilog=f"What judges the library: {', '.join(JUDGES)}; each tells its arguments with --help.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run what is missing of an experiment")
    run.add_argument("file", type=Path, metavar="FILE", help="experiment, a TOML file")
    run.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where records go")
    run.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; -1: all cores, -2: all but one")
    run.add_argument("--device", metavar="NAME", help="PyTorch device to compute on, such as cuda")
    run.add_argument("--retry-failed", action="store_true", help="run trials that failed once more")
    run.add_argument("--quiet", action="store_true", help="print nothing but errors")
    tables = commands.add_parser("tables", help="write tables, figures and a page of records")
    tables.add_argument("place", type=Path, metavar="PLACE", help="folder of a run, or a records.parquet")
    tables.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write")
    tables.add_argument("--title", metavar="TEXT", help="of the page")
    pack = commands.add_parser("pack", help="put the records of a folder into one file, records.parquet")
    pack.add_argument("folder", type=Path, metavar="FOLDER")
    return parser


def _run(asked: argparse.Namespace) -> int:
    from lab.experiment import read_experiment
    from lab.runner import run

    if asked.jobs == 0:
        raise LabError("--jobs 0 is no number of processes; give 1 or more, or -1 for all cores.")
    experiment = read_experiment(asked.file, __version__)
    total = len(experiment.trials)

    def tell(record: Record) -> None:
        trial = record.trial
        what = [trial.data, trial.method, trial.scoring, trial.bank, trial.kernel]
        outcome = f"accuracy {record.scores['acc']:.3f}" if record.succeeded else f"{record.status}: {record.reason}"
        print(" ".join(filter(None, what)), outcome, sep=", ", file=sys.stderr)

    options = {"n_jobs": asked.jobs, "device": asked.device, "again": asked.retry_failed}
    counts = run(experiment, Folder(asked.out), **options, **({} if asked.quiet else {"watch": tell}))
    if not asked.quiet:
        told = ", ".join(f"{counts[word]} {word}" for word in ("known", "done", "skipped", "failed", "failed before"))
        print(f"{experiment.title}: {total} trials, {told}")
    if counts["failed before"]:
        print("Trials failed in an earlier run; --retry-failed runs them again.", file=sys.stderr)
    return 1 if counts["failed"] or counts["failed before"] else 0


def _tables(asked: argparse.Namespace) -> int:
    from lab.results import write_tables

    title = {} if asked.title is None else {"title": asked.title}
    for path in write_tables(read_records(asked.place), asked.out, **title):
        print(path)
    return 0


def _pack(asked: argparse.Namespace) -> int:
    folder = Folder(asked.folder)
    read_records(asked.folder)  # says so if there are none
    with folder.alone():
        folder.pack()
    print(folder.packed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
