"""The commands and what they take: arguments, and the options of ``options.toml``; work is loaded when they run."""

import inspect
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias

import typer

from kernelbraid.cli.ending import TABLES

#: Parameters of estimators that have an option of their own.
PARAMETERS = [option.split()[0].strip("-").replace("-", "_") for option in TABLES["parameters"]]
KINDS: dict[str, Any] = {"FILE": Path, "COLUMN...": list[str], "NAME=VALUE...": list[str]}  # other values are texts


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


def with_options(**panels: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator: a command gets options, those of the tables of each panel of its help, as one namespace."""
    rows = [(panel, *row) for panel, tables in panels.items() for one in tables.split() for row in TABLES[one].items()]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        *arguments, _ = inspect.signature(command).parameters.values()
        parameters = [*arguments, *(option(*row) for row in rows)]

        @wraps(command)
        def run(**values: Any) -> None:
            given = [values.pop(argument.name) for argument in arguments]
            command(*given, SimpleNamespace(**values))

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

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


@with_options(Method="parameters method", Input="samples tables scale", Output="labels json model")
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


@with_options(Input="samples tables", Output="labels json")
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


@with_options(Input="columns tables", Output="average json")
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


@with_options(Output="json")
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


@with_options(Output="folder json")
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


@with_options(Options="json")
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


@with_options(Options="force")
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


@with_options(Options="raw force")
def import_(name: Annotated[str, KEPT], file: Annotated[Path, file_argument("FILE")], options: SimpleNamespace) -> None:
    """Take a file of your own as a data set, if its shape and its number of classes are those of the catalogue.

    [bold]Example[/bold]

      kernelbraid datasets import cora Cora.mat
    """
    from kernelbraid.datasets import import_file

    typer.echo(f"{name}: written to {import_file(name, file, raw=options.raw, force=options.force)}")


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
