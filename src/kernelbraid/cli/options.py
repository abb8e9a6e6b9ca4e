"""The options of ``kernelbraid cluster`` that choose a method and set its parameters; None means not given."""

from typing import Annotated, Any, TypeAlias, get_args

import typer

from kernelbraid.cli.values import LARGEST_SEED, choice, known_method, real_number, whole_number
from kernelbraid.kernels import BANKS, KERNELS
from kernelbraid.ops.spectral import Spectrum

SPECTRA = get_args(Spectrum)


def _option(metavar: str, help_text: str, parser: Any = None, name: str | None = None) -> Any:
    """Return an option of the group of the method."""
    panel = "Method (what is not given comes from the method and its preset)"
    names = () if name is None else (name,)
    return typer.Option(*names, parser=parser, metavar=metavar, help=help_text, rich_help_panel=panel)


def _word(help_text: str, *words: str) -> Any:
    """Return an option that takes one of several words."""
    return _option("|".join(words), help_text, choice(*words))


def _weight(help_text: str) -> Any:
    """Return an option that takes a positive number."""
    return _option("X", help_text, real_number(zero=False))


def _count(help_text: str) -> Any:
    """Return an option that takes a whole number from 1."""
    return _option("N", help_text, whole_number(1))


MethodName: TypeAlias = Annotated[
    str | None,
    _option(
        "NAME",
        "A method of the paper, see kernelbraid methods; without it LKG.",
        known_method,
        "--method",
    ),
]
Preset: TypeAlias = Annotated[
    str | None,
    _word("LKG: as in the authors' code, the default, or as in the paper's text.", "authors", "paper"),
]
Penalty: TypeAlias = Annotated[
    str | None, _word("LKG without --method: low-rank graph (LKGr), the default, or sparse (LKGs).", "nuclear", "l1")
]
Kernels: TypeAlias = Annotated[
    str | None, _word("Bank of twelve kernels; precomputed: DATA holds the kernels.", *BANKS, "precomputed")
]
OneKernel: TypeAlias = Annotated[str | None, _word("The kernel of a method that takes one.", *KERNELS)]
Alpha: TypeAlias = Annotated[float | None, _weight("Weight of the graph penalty.")]
Beta: TypeAlias = Annotated[
    float | None, _weight("Weight of the kernel's rank; SCSK and SCMK: of the clusters in the graph.")
]
Gamma: TypeAlias = Annotated[
    float | None,
    _weight("Weight of the distance to the candidates; MKKM and RMKKM: exponent of the kernel weights, below 1."),
]
Mu: TypeAlias = Annotated[float | None, _weight("First weight of the constraints.")]
GraphFrom: TypeAlias = Annotated[str | None, _word("Matrix that becomes the graph.", "J", "Z")]
Embedding: TypeAlias = Annotated[
    str | None,
    _option("NAME", f"Eigenvectors of the graph that are clustered: {' or '.join(SPECTRA)}.", choice(*SPECTRA)),
]
Restarts: TypeAlias = Annotated[int | None, _count("Restarts of k-means.")]
MaxIter: TypeAlias = Annotated[int | None, _count("Limit of iterations; LKG: 200 if not given.")]
Tolerance: TypeAlias = Annotated[
    float | None,
    _option("X", "Stop below this change in a step; LKG: 1e-05 if not given, 0 for never.", real_number(zero=True)),
]
Storage: TypeAlias = Annotated[
    str | None, _word("Keep the kernels in memory, or form them when needed.", "auto", "stored", "lazy")
]
Device: TypeAlias = Annotated[str | None, _option("NAME", "PyTorch device to compute on, such as cuda.")]
Jobs: TypeAlias = Annotated[int | None, _count("Threads of the linear algebra library.")]
Seed: TypeAlias = Annotated[int, _option("N", "Seed of all random draws.", whole_number(0, LARGEST_SEED))]
