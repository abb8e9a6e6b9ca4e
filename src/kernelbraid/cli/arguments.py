"""What the commands take: arguments, and the options of ``options.toml``; what they do is loaded when they run."""

import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias

import typer

OPTIONS = tomllib.loads((Path(__file__).parent / "options.toml").read_text(encoding="utf-8"))
#: Parameters of estimators that have an option of their own.
PARAMETERS = [option.split()[0].strip("-").replace("-", "_") for option in OPTIONS["parameters"]]
KINDS = {"FILE": Path, "COLUMN...": list[str], "NAME=VALUE...": list[str]}  # other values are texts


def existing(value: str | Path) -> Path:
    """Return the path of a file that is there, or that of standard input."""
    path = Path(value)
    if str(path) != "-" and not path.exists():
        raise typer.BadParameter(f"there is no file {str(path)!r}; check the path.")
    if path.is_dir():
        raise typer.BadParameter(f"{str(path)!r} is a folder; give a file.")
    return path


def file_argument(name: str, text: str) -> Any:
    """Return an argument for a file that is there."""
    return typer.Argument(help=text, metavar=name, parser=existing, show_default=False)


Data: TypeAlias = Annotated[
    list[Path],
    file_argument(
        "DATA",
        "Files with one row per sample: .csv, .tsv, .parquet, .npy, .npz or .mat (up to v7.2), also packed, as "
        ".csv.gz; - is standard input. Several files are several views of the same samples.",
    ),
]


def complete_method(incomplete: str) -> list[str]:
    """Return the methods that a shell offers."""
    from kernelbraid.methods import METHODS  # loads scikit-learn, which the help can do without

    return [name for name in (*METHODS, "LKG", "LandmarkLKG") if name.startswith(incomplete)]


def one_of(words: list[str]) -> dict[str, Any]:
    """Return what typer is told of an option that takes one of several words."""

    def parse(value: str) -> str:
        if value not in words:
            raise typer.BadParameter(f"{value!r} is unknown; choose {' or '.join(words)}.")
        return value

    offered = {"autocompletion": lambda incomplete: [word for word in words if word.startswith(incomplete)]}
    return {"parser": parse, "metavar": "WORD", **offered}


def with_options(**panels: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator: a command gets options, those of the tables of each panel of its help, as one namespace."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        *arguments, _ = inspect.signature(command).parameters.values()
        rows = [
            (panel, *row) for panel, tables in panels.items() for one in tables.split() for row in OPTIONS[one].items()
        ]
        parameters = [*arguments, *(option(*row) for row in rows)]

        def run(**values: Any) -> None:
            given = {argument.name: values.pop(argument.name) for argument in arguments}
            command(**given, options=SimpleNamespace(**values))

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
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
        more, text = one_of(value.split("|")), f"{text} ({value.replace('|', ', ')})."
    elif name == "method":
        more["autocompletion"] = complete_method
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

      kernelbraid cluster million.npy -k 6 --n-landmarks 500 --n-jobs 4

      zcat some.csv.gz | kernelbraid cluster - --decimal comma --out -

      kernelbraid cluster iris.csv -k 3 --method RMKKM --set n_init=20
    """
    from kernelbraid.cli import cluster as work

    work.cluster(data, options)


@with_options(Input="samples tables", Output="labels json")
def predict(
    model: Annotated[Path, file_argument("MODEL", "File that cluster --save or kernelbraid.save_model has written.")],
    data: Data,
    options: SimpleNamespace,
) -> None:
    """Label new samples with a model that was saved.

    Samples of the fit keep their labels; others get the label of their neighbours. Columns are found by their names, or
    must be in the order of the fit. After a fit on kernels, give those between new samples (rows) and fitted ones.

    [bold]Examples[/bold]

      kernelbraid cluster iris.csv --drop species --save iris.model

      kernelbraid predict iris.model new.csv --out labels.csv
    """
    from kernelbraid.cli import cluster as work

    work.predict(model, data, options)


@with_options(Input="columns tables", Output="average json")
def score(
    truth: Annotated[Path, file_argument("TRUTH", "File with the true classes, or - for standard input.")],
    labels: Annotated[Path, file_argument("LABELS", "File with the labels to score, or - for standard input.")],
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

    keys = ("name", "title", "estimator", "kernels", "settings")
    known = [
        (name, TITLES[name], type(one).__name__, kernels_taken(one), settings_of(one)) for name, one in METHODS.items()
    ]
    if options.json:
        print_json({"methods": [dict(zip(keys, row, strict=True)) for row in known]})
        return
    print_table([row[:4] for row in known], header=("name", "method", "estimator", "kernels"))
    typer.echo("\nUse one with kernelbraid cluster DATA --n-clusters K --method NAME.")


@with_options(Output="folder json")
def demo(options: SimpleNamespace) -> None:
    """Cluster a bundled data set, compare with scikit-learn, and draw pictures."""
    from kernelbraid.cli.demo import run

    run(options.out or Path("demo-output"), as_json=options.json)
