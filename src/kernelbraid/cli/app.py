"""The program: its commands, options and help."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from kernelbraid.cli import cluster as clustering
from kernelbraid.cli import demo as demonstration
from kernelbraid.cli import score as scoring
from kernelbraid.cli.failure import BAD_USAGE, SentenceGroup
from kernelbraid.cli.output import check_target
from kernelbraid.cli.values import LARGEST_SEED, choice, existing_file, real_number, whole_number

INPUT, METHOD, OUTPUT = "Input", "Method (what is not given comes from the preset)", "Output"
EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted."

app = typer.Typer(
    name="kernelbraid",
    cls=SentenceGroup,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        from kernelbraid import __version__

        typer.echo(f"kernelbraid {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=EXIT_CODES)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Cluster data with several kernels or several views at once.

    LKG learns one kernel out of many and a graph of the samples, and clusters that graph.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_USAGE)


@app.command(epilog=EXIT_CODES)
def cluster(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            parser=existing_file,
            show_default=False,
            help="Files with one row per sample: .csv, .tsv, .parquet, .npy, .npz or .mat (up to v7.2). "
            "Several files are several views of the same samples.",
        ),
    ],
    clusters: Annotated[
        int,
        typer.Option(
            "--clusters", "-k", parser=whole_number(1), metavar="K", show_default=False, help="Number of clusters."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the labels here, as CSV.", rich_help_panel=OUTPUT),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object.", rich_help_panel=OUTPUT)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no summary and no progress bar.", rich_help_panel=OUTPUT)
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Array to read from .npz and .mat files; without it the only matrix, X or fea.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column with the names of the samples, by name or number from 1; "
            "a first column called id, index, name or sample is found by itself.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to leave out; may be given several times.", rich_help_panel=INPUT),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            parser=choice("authors", "paper"),
            metavar="authors|paper",
            help="As in the authors' code or as in the paper's text.",
            rich_help_panel=METHOD,
        ),
    ] = "authors",
    penalty: Annotated[
        str,
        typer.Option(
            parser=choice("nuclear", "l1"),
            metavar="nuclear|l1",
            help="Low-rank graph (LKGr) or sparse graph (LKGs).",
            rich_help_panel=METHOD,
        ),
    ] = "nuclear",
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="X", parser=real_number(zero=False), help="Weight of the graph penalty.", rich_help_panel=METHOD
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(
            metavar="X", parser=real_number(zero=False), help="Weight of the kernel's rank.", rich_help_panel=METHOD
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            parser=real_number(zero=False),
            help="Weight of the distance to the candidates.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    mu: Annotated[
        float | None,
        typer.Option(
            metavar="X", parser=real_number(zero=False), help="First weight of the constraints.", rich_help_panel=METHOD
        ),
    ] = None,
    kernels: Annotated[
        str | None,
        typer.Option(
            parser=choice("paper", "rmkkm", "precomputed"),
            metavar="paper|rmkkm|precomputed",
            help="Bank of twelve kernels; precomputed: DATA holds the kernels.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    graph_from: Annotated[
        str | None,
        typer.Option(
            parser=choice("J", "Z"), metavar="J|Z", help="Matrix that becomes the graph.", rich_help_panel=METHOD
        ),
    ] = None,
    n_init: Annotated[
        int | None,
        typer.Option(parser=whole_number(1), metavar="N", help="Restarts of k-means.", rich_help_panel=METHOD),
    ] = None,
    max_iter: Annotated[
        int, typer.Option(parser=whole_number(1), metavar="N", help="Limit of iterations.", rich_help_panel=METHOD)
    ] = 200,
    tol: Annotated[
        float,
        typer.Option(
            metavar="X",
            parser=real_number(zero=True),
            help="Stop below this change of the kernel; 0: never.",
            rich_help_panel=METHOD,
        ),
    ] = 1e-5,
    storage: Annotated[
        str,
        typer.Option(
            parser=choice("auto", "stored", "lazy"),
            metavar="auto|stored|lazy",
            help="Keep the kernels in memory, or form them when needed.",
            rich_help_panel=METHOD,
        ),
    ] = "auto",
    device: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="PyTorch device to compute on, such as cuda.", rich_help_panel=METHOD),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(1), metavar="N", help="Threads of the linear algebra library.", rich_help_panel=METHOD
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            parser=whole_number(0, LARGEST_SEED), metavar="N", help="Seed of all random draws.", rich_help_panel=METHOD
        ),
    ] = 0,
) -> None:
    """Cluster the samples in one or several files.

    [bold]Examples[/bold]

      kernelbraid cluster iris.csv --clusters 3 --drop species --out labels.csv

      kernelbraid cluster pixels.npy words.mat -k 10 --json

      kernelbraid cluster kernels.npy -k 5 --kernels precomputed
    """
    if out is not None:
        check_target(out, "'--out'", data)
    parameters = {
        "n_clusters": clusters,
        "preset": preset,
        "graph_penalty": penalty,
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
        "mu": mu,
        "kernels": kernels,
        "graph_from": graph_from,
        "n_init": n_init,
        "max_iter": max_iter,
        "tol": tol,
        "storage": storage,
        "device": device,
        "n_jobs": jobs,
        "random_state": seed,
    }
    reading = {"key": key, "id_column": id_column, "drop": drop or []}
    clustering.run(data, parameters, reading=reading, out=out, as_json=as_json, quiet=quiet)


@app.command(epilog=EXIT_CODES)
def score(
    truth: Annotated[
        Path,
        typer.Argument(metavar="TRUTH", parser=existing_file, show_default=False, help="File with the true classes."),
    ],
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS", parser=existing_file, show_default=False, help="File with the labels to score."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    nmi_average: Annotated[
        str,
        typer.Option(
            parser=choice("max", "arithmetic"),
            metavar="max|arithmetic",
            help="Divide the mutual information by the larger entropy or by the mean of both.",
        ),
    ] = "max",
    key: Annotated[str | None, typer.Option(metavar="NAME", help="Array to read from .npz and .mat files.")] = None,
) -> None:
    """Score labels against the truth with eight measures.

    Samples are matched by id where both files have ids, otherwise by their order.

    [bold]Example[/bold]

      kernelbraid score truth.csv labels.csv --json
    """
    scoring.run(truth, labels, key=key, nmi_average=nmi_average, as_json=as_json)


@app.command(epilog=EXIT_CODES)
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write.")] = Path("demo-output"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Cluster a bundled data set, compare with scikit-learn, and draw pictures."""
    demonstration.run(out, as_json=as_json)


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
    app(prog_name="kernelbraid")
