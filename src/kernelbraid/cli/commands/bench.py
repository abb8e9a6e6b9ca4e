"""``kernelbraid bench``: run experiments, and make tables and a report of what came out."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from kernelbraid._arrays import to_device
from kernelbraid._messages import Message
from kernelbraid.bench.records.export import read_records, read_titles, write_records
from kernelbraid.bench.records.record import Record
from kernelbraid.bench.records.store import Store, StoreError
from kernelbraid.bench.report.page import write_report
from kernelbraid.bench.results.table import TEXTS
from kernelbraid.bench.results.writing import KINDS, write_tables
from kernelbraid.bench.trials.errors import ProtocolError
from kernelbraid.bench.trials.experiment import Experiment, read_experiment
from kernelbraid.bench.trials.on_dask import DaskError, connect
from kernelbraid.bench.trials.runner import RunProgress
from kernelbraid.bench.trials.runner import run as run_trials
from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.output import check_folder, check_target, collect_warnings, print_json, print_table, print_warnings
from kernelbraid.cli.values import ALL_CORES, existing_file, number_of_jobs, several
from kernelbraid.datasets import DataError, available, load

SHOWN = 12  # cells of the live table
FEW = 2  # experiments whose titles are that of a report


def run(
    file: Path,
    store: Path,
    *,
    jobs: int,
    device: str | None,
    dask: str | None,
    again: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run what is missing of an experiment."""
    from kernelbraid import __version__

    try:
        experiment = read_experiment(file, load, available(), __version__)
        if device is not None:
            to_device(np.empty(0), device)  # says so if it is not there
        with nullcontext() if dask is None else connect(dask) as cluster:
            execute = None if cluster is None else partial(cluster.execute, sources=experiment.sources)
            records = Store(store)
            forgotten = _forget(records, experiment) if again else 0
            started = perf_counter()
            with show(experiment.title, hidden=quiet or as_json) as watch, collect_warnings() as found:
                progress = run_trials(experiment, records, n_jobs=jobs, device=device, execute=execute, watch=watch)
            print_warnings(found)
    except (ProtocolError, StoreError, DaskError, DataError, ValueError) as error:
        raise Failure(str(error)) from None
    summary = {
        "experiment": experiment.name,
        "store": str(store),
        "trials": progress.total,
        "known": progress.known,
        "done": progress.done,
        "failed": progress.failed,
        "failed_before": progress.failed_before,
        "skipped": progress.skipped,
        "elsewhere": progress.elsewhere,
        "run_again": forgotten,
        "seconds": round(perf_counter() - started, 1),
    }
    if as_json:
        print_json(summary)
    elif not quiet:
        print_table([[name.replace("_", " "), str(value)] for name, value in summary.items()])
    if progress.failed:
        raise Failure(f"{progress.failed} of {progress.total} trials failed: {progress.last_reason}")
    if progress.failed_before:
        of_all = f"{progress.failed_before} of {progress.total} trials"
        raise Failure(f"{of_all} failed in an earlier run; --retry-failed runs them again.")


def _forget(store: Store, experiment: Experiment) -> int:
    """Remove the failures of an experiment; damaged records are told of when it is run."""
    with collect_warnings():
        return store.forget((key for trial in experiment.trials for key in trial.keys), "failed")


def tables(store: Path, out: Path, formats: Sequence[str]) -> None:
    """Write the tables and figures of a store."""
    records = _records(store)
    with extras_told(f"; --formats {','.join(TEXTS)} writes the tables alone"):
        for path in write_tables(records, out, formats):
            typer.echo(str(path))


def report(store: Path, out: Path, title: str | None) -> None:
    """Write the interactive report of a store."""
    records = _records(store)
    titles = Store(store, create=False).titles().values()
    with extras_told():
        typer.echo(str(write_report(records, out, title or " · ".join(titles if len(titles) <= FEW else ()))))


@contextmanager
def extras_told(otherwise: str = "") -> Iterator[None]:
    """Let a library that is not installed be one sentence, with what can be done without it."""
    try:
        yield
    except ImportError as error:
        raise Failure(f"{str(error).rstrip('.')}{otherwise}.") from None


def _records(store: Path) -> list[Record]:
    try:
        with collect_warnings() as found:
            records = Store(store, create=False).records()
    except StoreError as error:
        raise Failure(str(error)) from None
    print_warnings(found)
    if not records:
        raise Failure(f"the store {str(store)!r} holds no record; run an experiment first.")
    return records


@contextmanager
def show(title: str, *, hidden: bool) -> Iterator[Callable[[RunProgress, Record | None], None] | None]:
    """Yield a function that draws where a run stands on stderr, or None if nobody would see it."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    started = perf_counter()
    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:

        def watch(progress: RunProgress, record: Record | None) -> None:
            live.update(picture(title, progress, perf_counter() - started))

        yield watch


def picture(title: str, progress: RunProgress, seconds: float) -> Any:
    """Return the counts, the time left, and the best accuracies so far."""
    left = f"{seconds / progress.done * progress.left:.0f} s left" if progress.done else "starting"
    counts = f"{title}: {progress.done} done, {progress.failed} failed, {progress.skipped} skipped, "
    counts += f"{progress.known} known before, {progress.elsewhere} by other runners, {progress.left} to do, {left}"
    table = Table(box=None, pad_edge=False)
    for name in ("data", "method", "best accuracy"):
        table.add_column(name)
    for (data, method), accuracy in list(progress.best.items())[-SHOWN:]:
        table.add_row(data, method, f"{100 * accuracy:.1f}")
    return Group(counts, table)


app = typer.Typer(rich_markup_mode="rich", add_completion=False)


@app.callback(invoke_without_command=True)
def start(ctx: typer.Context) -> None:
    """Run experiments, and make tables and a report of what came out."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_USAGE)


@app.command("run")
def run_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", parser=existing_file, show_default=False, help="Experiment, a TOML file.")
    ],
    store: Annotated[
        Path, typer.Option("--store", metavar="STORE", show_default=False, help="File of records; made if not there.")
    ],
    jobs: Annotated[
        int, typer.Option("--jobs", parser=number_of_jobs, metavar="N", help=f"Parallel processes. {ALL_CORES}")
    ] = 1,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="PyTorch device to compute on, such as cuda.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Scheduler of a Dask cluster to run on, such as tcp://127.0.0.1:8786; in a network, start it with TLS "
            "(tls://10.0.0.1:8786): whoever reaches it can run any program.",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--retry-failed", help="Run trials that failed once more.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Run what a store does not have yet of an experiment.

    Every finished trial is stored at once. After an interruption, the same command does the rest. Several may share a
    store, also from several machines: none runs what another one has. Data sets and methods may be files of your own.

    [bold]Example[/bold]

      kernelbraid bench run mine.toml --store mine.db
      kernelbraid bench run experiments/smoke.toml --store smoke.db --jobs 2
      kernelbraid bench run smoke.toml --store smoke.db --dask tcp://127.0.0.1:8786
    """
    if dask is not None and (jobs != 1 or device is not None):
        other = "--device" if device is not None else "--jobs"
        raise Failure(f"--dask leaves the work to the cluster, which has no use for {other}; leave one out.", BAD_USAGE)
    run(file, store, jobs=jobs, device=device, dask=dask, again=again, as_json=as_json, quiet=quiet)


@app.command("tables")
def tables_command(
    store: Annotated[Path, typer.Argument(metavar="STORE", show_default=False, help="File of records.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write.")] = Path("tables"),
    formats: Annotated[
        str,
        typer.Option(
            "--formats",
            parser=several(*KINDS),
            metavar="LIST",
            help="What to write, separated by commas: tables as md, csv and tex, figures as png and svg.",
        ),
    ] = ",".join(KINDS),
) -> None:
    """Write tables and figures of what was run; on data of the paper ours beside the published ones.

    [bold]Example[/bold]

      kernelbraid bench tables smoke.db --out tables
      kernelbraid bench tables smoke.db --out tables --formats md,png
    """
    check_folder(out, "'--out'")
    tables(store, out, formats.split(","))


@app.command("report")
def report_command(
    store: Annotated[Path, typer.Argument(metavar="STORE", show_default=False, help="File of records.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write.")] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title of the page; by default that of the experiments.")
    ] = None,
) -> None:
    """Write one interactive page that needs no network.

    [bold]Example[/bold]

      kernelbraid bench report smoke.db --out report.html
    """
    check_target(out, "'--out'", [store])
    report(store, out, title)


@app.command("export")
def export_command(
    store: Annotated[Path, typer.Argument(metavar="STORE", show_default=False, help="File of records.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write, as Parquet.")] = Path(
        "records.parquet"
    ),
) -> None:
    """Write all records as one compact Parquet file.

    [bold]Example[/bold]

      kernelbraid bench export smoke.db --out records.parquet
    """
    check_target(out, "'--out'", [store])
    try:
        typer.echo(str(write_records(_records(store), out, Store(store, create=False).titles())))
    except StoreError as error:
        raise Failure(str(error)) from None


@app.command("import")
def import_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", parser=existing_file, show_default=False, help="Parquet file of records.")
    ],
    store: Annotated[
        Path, typer.Option("--store", metavar="STORE", show_default=False, help="File of records; made if not there.")
    ],
) -> None:
    """Add the records of a Parquet file to a store.

    [bold]Example[/bold]

      kernelbraid bench import records.parquet --store smoke.db
    """
    try:
        records, titles = read_records(file), read_titles(file)
        into = Store(store)
        into.add(*records)
        into.add_titles(titles)
    except StoreError as error:
        raise Failure(str(error)) from None
    typer.echo(str(Message("{count:#record}", count=len(records))))
