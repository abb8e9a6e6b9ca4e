"""``kernelbraid datasets``: list, fetch, import, verify and show the data sets of the paper."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kernelbraid.cli.arguments import file_argument
from kernelbraid.cli.ending import Failure


def catalogued(value: str) -> str:
    """Return the name of a data set that is kept in a file, or say which names there are."""
    from kernelbraid.datasets import catalogue

    try:
        return catalogue.find_in_file(value).name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


Names: TypeAlias = Annotated[list[str], typer.Argument(metavar="NAME", parser=catalogued, show_default=False)]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


def list_(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """List the data sets, and where they are."""
    from kernelbraid.cli.output import print_json, print_table
    from kernelbraid.datasets import available, catalogue, loading

    found = []
    for entry in map(catalogue.find, available()):
        path = loading.locate(entry) if entry.source.url else None
        told = {"source": entry.source.url or None, "bundled": not entry.source.url, "file": path and str(path)}
        sizes = {name: getattr(entry, name) for name in ("n_samples", "n_features", "n_classes")}
        found.append({**asdict(entry), **sizes, **told})
    if as_json:
        print_json({"folder": str(catalogue.data_folder()), "datasets": found})
        return
    rows = [
        [
            *(one["name"], one["title"], str(one["n_samples"]), " + ".join(map(str, one["n_features"]))),
            *(str(one["n_classes"]), "in scikit-learn" if one["bundled"] else one["file"] or "not here"),
        ]
        for one in found
    ]
    print_table(rows, header=("name", "data set", "samples", "features", "classes", "where"), numbers=(2, 3, 4))
    typer.echo("\nGet one with kernelbraid datasets fetch NAME.")


def fetch(names: Names, force: Force = False) -> None:
    """Download data sets from their public sources.

    Nothing is downloaded by any other command. Checksums are verified, and files are converted.
    """
    from kernelbraid import datasets

    for name in dict.fromkeys(names):
        path, is_new = datasets.fetch(name, force=force)
        typer.echo(f"{name}: {'written to' if is_new else 'already in'} {path}")


def import_(
    name: Annotated[str, typer.Argument(metavar="NAME", parser=catalogued, show_default=False)],
    file: Annotated[Path, file_argument("FILE", "A .mat, .npz, .csv, .tsv or .parquet file with samples and classes.")],
    raw: Annotated[
        bool, typer.Option("--raw", help="The values are raw: preprocess them as the catalogue says.")
    ] = False,
    force: Force = False,
) -> None:
    """Take a file of your own as a data set, if its shape and its number of classes are those of the catalogue."""
    from kernelbraid.datasets import import_file

    typer.echo(f"{name}: written to {import_file(name, file, raw=raw, force=force)}")


def verify(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]", parser=catalogued, show_default=False)] = None,
) -> None:
    """Check the files of some data sets, or of all that are there: checksums, shapes and classes."""
    from kernelbraid.cli.output import print_warnings
    from kernelbraid.datasets import CATALOG, DataError, catalogue, loading

    found, wrong = [], []
    for entry in map(catalogue.find, dict.fromkeys(names or CATALOG)):
        paths = catalogue.files(entry)
        if names and not paths:
            raise catalogue.missing(entry)
        found += paths
        for path in paths:
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
    """Draw samples of a data set that is made of images."""
    from kernelbraid.cli.output import check_target, write_whole
    from kernelbraid.datasets import load_images
    from kernelbraid.plotting.drawing import FORMATS, render
    from kernelbraid.plotting.samples import sample_sheet

    kind = out.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise typer.BadParameter(f"{str(out)!r} ends in neither .png nor .svg.", param_hint="'--out'")
    check_target(out, "'--out'")
    picture = render(sample_sheet(load_images(name, n_classes=classes, n_samples=samples)), kind)
    with write_whole(out) as file:
        file.write(picture)
    typer.echo(str(out))
