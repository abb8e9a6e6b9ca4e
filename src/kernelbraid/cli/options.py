"""Options of ``kernelbraid cluster``, and of ``predict`` where it has the same; None means not given."""

from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from kernelbraid.cli.values import (
    ALL_CORES,
    LARGEST_SEED,
    choice,
    complete_method,
    completing,
    decimal_mark,
    delimiter,
    known_method,
    number_of_jobs,
    real_number,
    weights_of_views,
    whole_number,
    whole_number_or,
)
from kernelbraid.files.sources import SUFFIXES
from kernelbraid.kernels import BANKS, KERNELS
from kernelbraid.kernels.banks import AUTO
from kernelbraid.learning.settings import PRESETS, Fusion
from kernelbraid.ops.refinement import EdgeWeights
from kernelbraid.ops.spectral import Spectrum

SPECTRA = get_args(Spectrum)
FORMATS = tuple(suffix[1:] for suffix in SUFFIXES if suffix != ".tab")
RECOMMENDED, PUBLISHED = (
    PRESETS["recommended"].learning,
    PRESETS["authors"].learning,
)  # both presets of the paper stop alike


def _option(metavar: str, help_text: str, parser: Any = None, name: str | None = None, offers: Any = None) -> Any:
    """Return an option of the group of the method; `offers` are what a shell completes."""
    panel = "Method (what is not given comes from the method and its preset)"
    names = () if name is None else (name,)
    told: dict[str, Any] = {"metavar": metavar, "help": help_text, "rich_help_panel": panel}
    return typer.Option(*names, parser=parser, autocompletion=offers, **told)


def _word(help_text: str, *words: str) -> Any:
    """Return an option that takes one of several words."""
    return _option("|".join(words), help_text, choice(*words), offers=completing(*words))


def _weight(help_text: str) -> Any:
    """Return an option that takes a positive number."""
    return _option("X", help_text, real_number())


def _count(help_text: str) -> Any:
    """Return an option that takes a whole number from 1."""
    return _option("N", help_text, whole_number(1))


MethodName: TypeAlias = Annotated[
    str | None,
    _option(
        "NAME",
        "A method of the paper, or a later one, see kernelbraid methods; without it LKG.",
        known_method,
        "--method",
        complete_method,
    ),
]
Preset: TypeAlias = Annotated[
    str | None,
    _word(
        "LKG: what does well without labels, the default; as in the authors' code; or as in the paper's text.",
        *("recommended", "authors", "paper"),
    ),
]
Penalty: TypeAlias = Annotated[
    str | None,
    _word(
        "LKG without --method: graph of small squares, the default; low-rank (LKGr), or sparse (LKGs).",
        *("frobenius", "nuclear", "l1"),
    ),
]
Kernels: TypeAlias = Annotated[
    str | None,
    _word(
        "Bank of kernels; auto, the default of LKG, is middle, with near beside it for samples that vary in few "
        "directions; "
        "precomputed: DATA holds the kernels; graph, distances: a ready graph of affinities or distances, dense or "
        "sparse, which LKG reads out.",
        *(*BANKS, AUTO, "precomputed", "graph", "distances"),
    ),
]
FusionOf: TypeAlias = Annotated[
    str | None,
    _word(
        "What is joined of several files: their graphs, as LKG does by default, or their kernels, as with a finite "
        "--gamma.",
        *get_args(Fusion),
    ),
]
ViewWeights: TypeAlias = Annotated[
    Any,
    _option(
        "W,W,...",
        "What each of several files counts, such as 1,1,0; without it those that agree with another count alike, and "
        "the others nothing.",
        weights_of_views,
        "--view-weights",
    ),
]
OneKernel: TypeAlias = Annotated[str | None, _word("The kernel of a method that takes one.", *KERNELS)]
Alpha: TypeAlias = Annotated[float | None, _weight("Weight of the graph penalty.")]
Beta: TypeAlias = Annotated[
    float | None, _weight("Weight of the kernel's rank; SCSK and SCMK: of the clusters in the graph.")
]
Gamma: TypeAlias = Annotated[
    float | None,
    _option(
        "X",
        "LKG: weight of the distance to the candidates; inf, the default, keeps their average, 10 learns the kernel; "
        "MKKM and RMKKM: exponent of the kernel weights, below 1.",
        real_number(infinite=True),
    ),
]
Mu: TypeAlias = Annotated[float | None, _weight("First weight of the constraints.")]
GraphFrom: TypeAlias = Annotated[str | None, _word("Matrix that becomes the graph.", "J", "Z")]
Neighbours: TypeAlias = Annotated[
    Any,
    _option("N|all", "Strongest edges of each sample that stay in the graph.", whole_number_or("all"), "--neighbors"),
]
Edges: TypeAlias = Annotated[
    str | None,
    _word(
        "What an edge weighs: what was learned, that relative to the sample's strongest, or 1.", *get_args(EdgeWeights)
    ),
]
Embedding: TypeAlias = Annotated[
    str | None,
    _option(
        "NAME",
        f"Eigenvectors of the graph that are clustered: {' or '.join(SPECTRA)}.",
        choice(*SPECTRA),
        offers=completing(*SPECTRA),
    ),
]
Restarts: TypeAlias = Annotated[int | None, _count("Restarts of k-means.")]
MaxIter: TypeAlias = Annotated[
    int | None,
    _count(
        f"Limit of iterations; LKG: {RECOMMENDED.max_iter} if not given, {PUBLISHED.max_iter} with the paper's presets."
    ),
]
Tolerance: TypeAlias = Annotated[
    float | None,
    _option(
        "X",
        f"Stop below this change in a step, 0 for never; LKG: {RECOMMENDED.tol:g} if not given, "
        f"{PUBLISHED.tol:g} with the paper's presets.",
        real_number(zero=True),
    ),
]
Storage: TypeAlias = Annotated[
    str | None, _word("Keep the kernels in memory, or form them when needed.", "auto", "stored", "lazy")
]
Device: TypeAlias = Annotated[str | None, _option("NAME", "PyTorch device to compute on, such as cuda.")]
Jobs: TypeAlias = Annotated[
    int | None,
    _option(
        "N",
        "Threads of the linear algebra library, and processes of the choice of --clusters; with "
        f"--landmarks: blocks in work at a time. {ALL_CORES}",
        number_of_jobs,
    ),
]
Seed: TypeAlias = Annotated[int, _option("N", "Seed of all random draws.", whole_number(0, LARGEST_SEED))]

MANY = "Many samples (more than fit into a graph of all pairs)"
Landmarks: TypeAlias = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(1),
        metavar="N",
        help="Learn kernel and graph on N landmarks, and express all samples over them, such as 500; "
        ".npy and Parquet files are read block by block.",
        rich_help_panel=MANY,
    ),
]
Dask: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let the workers of this Dask scheduler read and express the samples; DATA must be a file that they see. "
        "In a network, start it with TLS: whoever reaches it can run any program.",
        rich_help_panel=MANY,
    ),
]

INPUT, OUTPUT = "Input", "Output"
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write the labels here: .csv, .tsv, .csv.gz or .parquet; - for CSV on standard output, with the summary "
        "on standard error.",
        rich_help_panel=OUTPUT,
    ),
]
Confidence: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--confidence",
        help="Write how sure each label is, and of a fit how far each sample stands aside, beside the labels.",
        rich_help_panel=OUTPUT,
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print labels and summary as one JSON object.", rich_help_panel=OUTPUT)
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no summary and no progress bar.", rich_help_panel=OUTPUT)
]
Verbose: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Write on standard error what is done and decided, with times: versions, kernels, settings, steps.",
        rich_help_panel=OUTPUT,
    ),
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        parser=choice(*FORMATS),
        autocompletion=completing(*FORMATS),
        metavar="NAME",
        help=f"What standard input, or a file whose name does not tell it, holds: {', '.join(FORMATS[:-1])} or "
        f"{FORMATS[-1]}; without it the content decides.",
        rich_help_panel=INPUT,
    ),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        parser=delimiter,
        metavar="SIGN",
        help="What stands between the cells of CSV and TSV files: a sign, or comma, semicolon, tab, space or pipe; "
        "without it commas, tabs and semicolons are found.",
        rich_help_panel=INPUT,
    ),
]
Decimal: TypeAlias = Annotated[
    str | None,
    typer.Option(
        parser=decimal_mark,
        metavar="MARK",
        help="What stands before decimals in CSV and TSV files, point or comma; without it the cells decide, "
        "and those that may have separators of thousands are refused.",
        rich_help_panel=INPUT,
    ),
]
Key: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Array to read from .npz and .mat files; without it the only matrix, X or fea.",
        rich_help_panel=INPUT,
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column with the names of the samples, by name or number from 1; "
        "a first column called id, index, name or sample is found by itself. "
        "Several files with this column are matched by it and need not hold the same samples.",
        rich_help_panel=INPUT,
    ),
]
Drop: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out; may be given several times.", rich_help_panel=INPUT),
]
Scale: TypeAlias = Annotated[
    str | None,
    typer.Option(
        parser=choice("standard", "unit", "none"),
        autocompletion=completing("standard", "unit", "none"),
        metavar="standard|unit|none",
        help="Scale every file on its own: features to mean 0 and variance 1, samples to length 1, or nothing, the "
        "default; predict does the same to new samples.",
        rich_help_panel=INPUT,
    ),
]
Header: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default=False,
        help="Whether the first row of CSV and TSV files names the columns; without it the row itself decides.",
        rich_help_panel=INPUT,
    ),
]
