"""The laboratory's commands: ``python -m lab``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kernelbraid import __version__
from kernelbraid.datasets import DataError
from lab.records import Folder, LabError, Record, read_records

#: What judges the library, each with arguments of its own.
JUDGES = ("judge", "rules", "user", "confidence", "new_samples", "views", "trust", "scale", "cells")


def main(arguments: Sequence[str]) -> int:
    """Run a command, and return its exit code; what a user can mend is one sentence on stderr."""
    try:
        if arguments and arguments[0] in JUDGES:
            from lab.judging import jobs, user

            judge, *rest = arguments
            if judge == "user":
                user.main(rest)
            else:
                jobs.main(judge, rest)
            return 0
        asked = _parser().parse_args(arguments)
        return 1 if asked.command(asked) else 0
    except (LabError, DataError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what is done is kept, and the same command does the rest.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    judges = f"What judges the library: {', '.join(JUDGES)}; each tells its arguments with --help."
    parser = argparse.ArgumentParser("python -m lab", description="Experiments and their tables.", epilog=judges)
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="run what is missing of an experiment")
    run.add_argument("file", type=Path, metavar="FILE", help="experiment, a TOML file")
    run.add_argument("--out", type=Folder, required=True, metavar="FOLDER", help="where records go")
    run.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; -1: all cores, -2: all but one")
    run.add_argument("--device", metavar="NAME", help="PyTorch device to compute on, such as cuda")
    run.add_argument("--retry-failed", action="store_true", help="run trials that failed once more")
    run.add_argument("--quiet", action="store_true", help="print nothing but errors")
    run.set_defaults(command=_run)
    tables = commands.add_parser("tables", help="write tables, figures and a page of records")
    tables.add_argument("place", type=Path, metavar="PLACE", help="folder of a run, or a records.parquet")
    tables.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where to write")
    tables.add_argument("--only", metavar="NAME", help="beginning of the names of what is written; no page then")
    tables.add_argument("--title", default="", metavar="TEXT", help="of the page")
    tables.set_defaults(command=_tables)
    pack = commands.add_parser("pack", help="put the records of a folder into one file, records.parquet")
    pack.add_argument("folder", type=Folder, metavar="FOLDER")
    pack.set_defaults(command=lambda asked: asked.folder.pack())
    return parser


def _run(asked: argparse.Namespace) -> bool:
    from lab.experiment import read_experiment
    from lab.runner import run

    experiment = read_experiment(asked.file, __version__)
    options = {"n_jobs": asked.jobs or 1, "device": asked.device, "again": asked.retry_failed}
    counts = run(experiment, asked.out, **options, watch=(lambda record: None) if asked.quiet else _tell)
    if not asked.quiet:
        told = ", ".join(f"{counts[word]} {word}" for word in ("known", "done", "skipped", "failed", "failed before"))
        print(f"{experiment.title}: {len(experiment.trials)} trials, {told}")
    if counts["failed before"]:
        print("Trials failed in an earlier run; --retry-failed runs them again.", file=sys.stderr)
    return bool(counts["failed"] or counts["failed before"])


def _tell(record: Record) -> None:
    """Print what became of a trial."""
    trial = record.trial
    what = " ".join(filter(None, [trial.data, trial.method, trial.scoring, trial.bank, trial.kernel]))
    outcome = f"accuracy {record.scores['acc']:.3f}" if record.succeeded else f"{record.status}: {record.reason}"
    print(what, outcome, sep=", ", file=sys.stderr)


def _tables(asked: argparse.Namespace) -> None:
    from lab.results import write_tables

    for path in write_tables(read_records(asked.place), asked.out, asked.title, asked.only):
        print(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
