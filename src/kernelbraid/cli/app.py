"""The program: its commands and what they take, arguments and options of ``options.toml``; they load their work."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperCommand

from kernelbraid._version import __version__
from kernelbraid.cli.ending import BAD_USAGE, TABLES, SentenceGroup, run_to_its_end

EXIT_CODES = "Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted, 143 terminated."
KINDS: dict[str, Any] = {"FILE": Path, "COLUMN...": list[str], "NAME=VALUE...": list[str]}  # other values are texts


class PlainHelp:
    """Help for people: flags and arguments stand without the types that Python gives them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in parameters:
            if one.param_type_name == "argument" or one.is_flag:
                one.display_type_rich = lambda ctx: None  # its name says what it is
        return parameters


class PlainCommand(PlainHelp, TyperCommand):
    """A command."""


class PlainGroup(PlainHelp, SentenceGroup):
    """Several commands below one name."""


def start(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Cluster data with several kernels or several views at once.

    LKG learns a graph of the samples over several kernels, and clusters that graph; it can learn the kernel, too.

    Thirteen more methods are here, too: nine that its paper compares it with, and four that came after it.
    """
    if version:
        typer.echo(f"kernelbraid {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_USAGE)


def start_datasets(ctx: typer.Context) -> None:
    """List, fetch, import and show the data sets of the paper.

    Files are kept in the folder named by KERNELBRAID_DATA, without it in the cache of the user.

    [bold]Examples[/bold]

      kernelbraid datasets fetch yale jaffe

      kernelbraid datasets import cora Cora.mat

      kernelbraid datasets show yale --out yale.png
    """
    start(ctx)


NAMES = {"help_option_names": ["-h", "--help"]}
group = partial(typer.Typer, cls=PlainGroup, invoke_without_command=True, epilog=EXIT_CODES, context_settings=NAMES)
app = group(callback=start, pretty_exceptions_enable=False, rich_markup_mode="rich")
app.add_typer(below := group(callback=start_datasets), name="datasets")


def existing(value: str) -> Path:
    """Return the path of a file that is there, or that of standard input."""
    path = Path(value)
    if path.is_dir() or not (path.exists() or value == "-"):
        raise typer.BadParameter(f"{value!r} is {'a folder' if path.is_dir() else 'no file'}; check the path.")
    return path


def file_argument(name: str) -> Any:
    """Return an argument for a file that is there."""
    return typer.Argument(help=TABLES["arguments"][name], metavar=name, parser=existing, show_default=False)


Data: TypeAlias = Annotated[list[Path], file_argument("DATA")]


def command(group: typer.Typer, **panels: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator: a command of a group takes the options in the tables of each panel of its help together."""
    rows = [(panel, *row) for panel, tables in panels.items() for one in tables.split() for row in TABLES[one].items()]

    def decorate(work: Callable[..., None]) -> Callable[..., None]:
        *arguments, _ = inspect.signature(work).parameters.values()
        parameters = [*arguments, *(option(*row) for row in rows)]

        @wraps(work)
        def run(**values: Any) -> None:
            given = [values.pop(argument.name) for argument in arguments]
            work(*given, SimpleNamespace(**values))

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return group.command(work.__name__.strip("_"), cls=PlainCommand, epilog=EXIT_CODES)(run)

    return decorate


def option(panel: str, form: str, text: str) -> inspect.Parameter:
    """Return an option as it stands in the table, as a parameter of a function that typer reads."""
    flags, value = [word for word in form.split() if word[0] == "-"], form.split()[-1]
    name = flags[0].partition("/")[0].strip("-").replace("-", "_")
    kind: Any = KINDS.get(value, str)
    more: dict[str, Any] = {"metavar": value}
    if is_flag := value in flags:
        kind, more = bool, {}
    elif "|" in value:
        kind, more = StrEnum(name, [(word, word) for word in value.split("|")]), {"metavar": "WORD"}
        text = f"{text} ({value.replace('|', ', ')})."
    told = typer.Option(*flags, help=text, rich_help_panel=panel, show_default=False, **more)
    default = False if is_flag and "/" not in value else None
    annotation = Annotated[kind | None, told]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@command(app, Method="parameters method", Input="samples tables scale", Output="labels json model")
def cluster(data: Data, options: SimpleNamespace) -> None:
    """Cluster the samples in one or several files.

    What is not given comes from the method and its preset.

    [bold]Examples[/bold]

      kernelbraid cluster iris.csv --drop species --out labels.csv

      kernelbraid cluster pixels.npy words.mat -k 10 --json

      kernelbraid cluster wine.csv --scale standard --save wine.model

      kernelbraid cluster million.npy -k 6 --n-jobs 4

      zcat some.csv.gz | kernelbraid cluster - --decimal comma --out -

      kernelbraid cluster iris.csv -k 3 --method RMKKM --set n_init=20
    """
    from kernelbraid.cli import cluster as work

    work.cluster(data, options)


@command(app, Input="samples tables", Output="labels json")
def predict(model: Annotated[Path, file_argument("MODEL")], data: Data, options: SimpleNamespace) -> None:
    """Label new samples with a model that was saved.

    Samples of the fit keep their labels; others get the label of their neighbours.

    Columns are found by their names, or must be in the order of the fit.

    After a fit on kernels, give those between new samples (rows) and fitted ones.

    [bold]Examples[/bold]

      kernelbraid cluster iris.csv --drop species --save iris.model

      kernelbraid predict iris.model new.csv --out labels.csv
    """
    from kernelbraid.cli import cluster as work

    work.predict(model, data, options)


@command(app, Output="json")
def methods(options: SimpleNamespace) -> None:
    """List the methods that can be fitted.

    [bold]Example[/bold]

      kernelbraid methods --json
    """
    from kernelbraid.cli.output import print_json, print_table
    from kernelbraid.methods import METHODS, TITLES, kernels_taken, settings_of

    keys = ("name", "title", "estimator", "kernels")
    rows = [(name, TITLES[name], type(one).__name__, kernels_taken(one)) for name, one in METHODS.items()]
    if options.json:
        told = [{**dict(zip(keys, row, strict=True)), "settings": settings_of(METHODS[row[0]])} for row in rows]
        print_json({"methods": told})
    else:
        print_table(rows, header=("name", "method", "estimator", "kernels"))
        typer.echo("\nUse one with kernelbraid cluster DATA --n-clusters K --method NAME.")


@command(app, Input="columns tables", Output="average json")
def score(
    truth: Annotated[Path, file_argument("TRUTH")],
    labels: Annotated[Path, file_argument("LABELS")],
    options: SimpleNamespace,
) -> None:
    """Score labels against the truth with eight measures.

    Samples are matched by id where both files have ids, otherwise by their order.

    [bold]Examples[/bold]

      kernelbraid score truth.csv labels.csv --json

      kernelbraid score wine.csv labels.csv --column cultivar
    """
    from kernelbraid.cli.score import run

    run([truth, labels], options)


@command(app, Output="folder json")
def demo(options: SimpleNamespace) -> None:
    """Cluster a bundled data set, compare with scikit-learn, and draw pictures."""
    from kernelbraid.cli.demo import run

    run(options.out or Path("demo-output"), as_json=options.json)


def catalogued(value: str) -> str:
    """Return the name of a data set that is kept in a file, or say which names there are."""
    from kernelbraid.datasets import catalogue

    try:
        return catalogue.find_in_file(value).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


KEPT = typer.Argument(metavar="NAME", parser=catalogued, show_default=False, help="See kernelbraid datasets list.")


@command(below, Options="json")
def list_(options: SimpleNamespace) -> None:
    """List the data sets, and where they are."""
    from kernelbraid.cli.output import print_json, print_table
    from kernelbraid.datasets import available, catalogue, loading

    found, rows = [], []
    for entry in map(catalogue.find, available()):
        url, path = entry.source.url, str(loading.locate(entry) or "") if entry.source.url else ""
        sizes = {name: getattr(entry, name) for name in ("n_samples", "n_features", "n_classes")}
        found.append({**asdict(entry), **sizes, "source": url or None, "bundled": not url, "file": path or None})
        numbers = [str(entry.n_samples), " + ".join(map(str, entry.n_features)), str(entry.n_classes)]
        rows.append([entry.name, entry.title, *numbers, path or ("not here" if url else "in scikit-learn")])
    if options.json:
        print_json({"folder": str(catalogue.data_folder()), "datasets": found})
    else:
        print_table(rows, header=("name", "data set", "samples", "features", "classes", "where"), numbers=(2, 3, 4))
        typer.echo("\nGet one with kernelbraid datasets fetch NAME.")


@command(below, Options="force")
def fetch(names: Annotated[list[str], KEPT], options: SimpleNamespace) -> None:
    """Download data sets from their public sources.

    Nothing is downloaded by any other command. Checksums are verified, and files are converted.

    [bold]Example[/bold]

      kernelbraid datasets fetch yale jaffe
    """
    from kernelbraid import datasets

    for name in dict.fromkeys(names):
        path, is_new = datasets.fetch(name, force=options.force)
        typer.echo(f"{name}: {'written to' if is_new else 'already in'} {path}")


@command(below, Options="raw force")
def import_(name: Annotated[str, KEPT], file: Annotated[Path, file_argument("FILE")], options: SimpleNamespace) -> None:
    """Take a file of your own as a data set, if its shape and its number of classes are those of the catalogue.

    [bold]Example[/bold]

      kernelbraid datasets import cora Cora.mat
    """
    from kernelbraid.datasets import import_file

    typer.echo(f"{name}: written to {import_file(name, file, raw=options.raw, force=options.force)}")


@below.command(cls=PlainCommand, epilog=EXIT_CODES)
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Such as yale, orl or digits.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", show_default=False, help="A .png or .svg file.")],
    classes: Annotated[int, typer.Option(metavar="N", min=1, help="Classes, a row each.")] = 6,
    samples: Annotated[int, typer.Option(metavar="N", min=1, help="Samples of each class.")] = 10,
) -> None:
    """Draw samples of a data set that is made of images.

    [bold]Example[/bold]

      kernelbraid datasets show yale --out yale.png
    """
    from kernelbraid.cli.output import check_target, write_picture
    from kernelbraid.datasets import load_images
    from kernelbraid.plotting.axes import sample_sheet

    if out.suffix.lower() not in (".png", ".svg"):
        raise typer.BadParameter(f"{str(out)!r} ends in neither .png nor .svg.", param_hint="'--out'")
    check_target(out, "'--out'")
    write_picture(out, sample_sheet(load_images(name, n_classes=classes, n_samples=samples)))
    typer.echo(str(out))


def main() -> None:
    """Run the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no failure
    run_to_its_end(lambda: app(prog_name="kernelbraid"))
