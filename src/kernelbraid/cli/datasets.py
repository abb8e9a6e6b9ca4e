"""``kernelbraid datasets``: list, fetch, import, verify and show the data sets of the paper."""

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from kernelbraid.cli.arguments import file_argument, with_options
from kernelbraid.cli.ending import Failure


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


def verify(names: Annotated[list[str] | None, KEPT] = None) -> None:
    """Check the files of some data sets, or of all that are there: checksums, shapes and classes."""
    from kernelbraid.cli.output import print_warnings
    from kernelbraid.datasets import CATALOG, DataError, catalogue, loading

    entries, wrong = [catalogue.find(name) for name in dict.fromkeys(names or CATALOG)], []
    found = [(entry, path) for entry in entries for path in catalogue.files(entry)]
    for entry in entries:
        if names and not catalogue.files(entry):
            raise catalogue.missing(entry)
    for entry, path in found:
        try:
            loading.read_checked(entry, path)
            typer.echo(f"{entry.name}  good  {path}")
        except DataError as error:
            wrong.append(str(error))
    if not found:
        typer.echo(f"There are no data sets in {catalogue.data_folder()}.")
    print_warnings(wrong[:-1])
    if wrong:
        raise Failure(wrong[-1])


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
