"""``kernelbraid datasets``: list, fetch, import, verify and show the data sets of the paper."""

from pathlib import Path
from typing import Annotated, Any

import typer

from kernelbraid.cli.failure import BAD_USAGE, Failure
from kernelbraid.cli.output import check_target, print_json, print_table, print_warnings, write_whole
from kernelbraid.cli.values import existing_file, whole_number
from kernelbraid.datasets import CATALOG, DataError, catalogue, fetch, import_file, load_images, loading
from kernelbraid.plotting.drawing import FORMATS, render
from kernelbraid.plotting.samples import sample_sheet

NOT_HERE, BUNDLED_WITH = "not here", "in scikit-learn"
HEADER = ["name", "data set", "samples", "features", "classes", "where"]

app = typer.Typer(rich_markup_mode="rich", add_completion=False)


def catalogued(value: str) -> str:
    """Return the name of a data set that is kept in a file, or say which names there are."""
    try:
        return catalogue.find_in_file(value).name
    except DataError as error:
        raise typer.BadParameter(str(error)) from None


Names = Annotated[list[str], typer.Argument(metavar="NAME", parser=catalogued, show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


@app.callback(invoke_without_command=True)
def start(ctx: typer.Context) -> None:
    """List, fetch, import, verify and show the data sets of the paper.

    Files are kept in the folder named by KERNELBRAID_DATA, without it in the cache of the user.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(BAD_USAGE)


@app.command("list")
def list_all(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """List the data sets, and where they are.

    [bold]Example[/bold]

      kernelbraid datasets list --json
    """
    found = describe()
    if as_json:
        print_json({"folder": str(catalogue.data_folder()), "datasets": found})
        return
    rows = [
        [
            one["name"],
            one["title"],
            str(one["n_samples"]),
            " + ".join(map(str, one["n_features"])),
            str(one["n_classes"]),
            BUNDLED_WITH if one["bundled"] else one["file"] or NOT_HERE,
        ]
        for one in found
    ]
    print_table(rows, header=HEADER, numbers=(2, 3, 4), unbroken=(0,))
    if any(row[-1] == NOT_HERE for row in rows):
        typer.echo("\nGet one with kernelbraid datasets fetch NAME.")


@app.command("fetch")
def fetch_some(names: Names, force: Force = False) -> None:
    """Download data sets from their public sources.

    Nothing is downloaded by any other command. Checksums are verified, and files are converted.

    [bold]Example[/bold]

      kernelbraid datasets fetch yale jaffe
    """
    for name in dict.fromkeys(names):
        path, is_new = fetch(name, force=force)
        typer.echo(f"{name}: {'written to' if is_new else 'already in'} {path}")


@app.command("import")
def import_one(
    name: Annotated[str, typer.Argument(metavar="NAME", parser=catalogued, show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=existing_file,
            show_default=False,
            help="A .mat (up to v7.2), .npz, .csv, .tsv or .parquet file with samples and classes.",
        ),
    ],
    raw: Annotated[
        bool, typer.Option("--raw", help="The values are raw: apply the preprocessing of the catalogue.")
    ] = False,
    force: Force = False,
) -> None:
    """Take a file of your own as a data set.

    Its shape and its number of classes must be those of the catalogue.

    [bold]Example[/bold]

      kernelbraid datasets import cora Cora.mat
    """
    typer.echo(f"{name}: written to {import_file(name, file, raw=raw, force=force)}")


@app.command("verify")
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]", parser=catalogued, show_default=False, help="Without a name, all that are there."
        ),
    ] = None,
) -> None:
    """Check the files of data sets: checksums, shapes and classes.

    [bold]Example[/bold]

      kernelbraid datasets verify yale
    """
    rows, wrong = [], []
    for name in dict.fromkeys(names or CATALOG):
        entry = catalogue.find_in_file(name)
        paths = catalogue.files(entry)
        if names and not paths:
            raise catalogue.missing(entry)
        for path in paths:
            try:
                loading.read_checked(entry, path)
            except DataError as error:
                wrong.append(str(error))
            else:
                rows.append([name, "good", str(path)])
    if not rows and not wrong:
        typer.echo(f"There are no data sets in {catalogue.data_folder()}.")
    if rows:
        print_table(rows, unbroken=(0, 1))
    if len(wrong) > 1:
        print_warnings(wrong)
        raise Failure(f"{len(wrong)} of {len(wrong) + len(rows)} files did not pass; see the warnings above.")
    if wrong:
        raise Failure(wrong[0])


@app.command("show")
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", show_default=False, help="yale, jaffe, orl, ar, ba or digits.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", show_default=False, help="Where to write: .png or .svg.")
    ],
    classes: Annotated[int, typer.Option(metavar="N", parser=whole_number(1), help="Classes, a row each.")] = 6,
    samples: Annotated[int, typer.Option(metavar="N", parser=whole_number(1), help="Samples of each class.")] = 10,
) -> None:
    """Draw samples of a data set that is made of images.

    Grey levels are drawn where their file, say yale_raw.npz, is in the folder; otherwise the values that are clustered.

    [bold]Example[/bold]

      kernelbraid datasets show digits --out digits.png
    """
    kind = out.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise typer.BadParameter(f"{str(out)!r} ends in neither .png nor .svg.", param_hint="'--out'")
    check_target(out, "'--out'")
    images = load_images(name, n_classes=classes, n_samples=samples)
    try:
        picture = render(sample_sheet(images), kind)
    except ImportError as error:
        raise Failure(str(error)) from None
    with write_whole(out, "wb") as file:
        file.write(picture)
    typer.echo(str(out))


def describe() -> list[dict[str, Any]]:
    """Return all data sets as plain data; what those of scikit-learn lack is None."""
    known = []
    for name, entry in CATALOG.items():
        path = loading.locate(entry)
        known.append(
            {
                **_sizes(name, entry),
                "kind": entry.kind,
                "bundled": False,
                "file": None if path is None else str(path),
                "preprocessing": list(entry.preprocessing),
                "source": entry.source.url,
                "source_sha256": entry.source.sha256,
                "source_bytes": entry.source.n_bytes,
                "licence": entry.licence,
                "upstream": entry.upstream,
                "note": entry.note,
            }
        )
    empty = dict.fromkeys(known[0])
    known += [empty | _sizes(name, one) | {"bundled": True} for name, one in catalogue.BUNDLED.items()]
    return known


def _sizes(name: str, one: Any) -> dict[str, Any]:
    """Return what entries of both kinds have."""
    features = list(one.n_features)
    sizes = {"n_samples": one.n_samples, "n_features": features, "n_classes": one.n_classes}
    return {"name": name, "title": one.title, **sizes}
