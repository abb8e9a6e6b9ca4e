"""Tables and figures as files."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kernelbraid._system import write_whole
from kernelbraid.bench.records.record import Record
from kernelbraid.bench.results.claims import claim_tables
from kernelbraid.bench.results.comparison import comparison_tables
from kernelbraid.bench.results.figures import all_figures
from kernelbraid.bench.results.figures_comparison import comparison_figures
from kernelbraid.bench.results.figures_study import study_figures
from kernelbraid.bench.results.reproduction import reproduction_tables
from kernelbraid.bench.results.study import study_tables
from kernelbraid.bench.results.table import TEXTS, Table
from kernelbraid.bench.results.tables import all_tables
from kernelbraid.bench.results.views import views_tables
from kernelbraid.plotting.drawing import FORMATS, render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What tables and figures can be written as, by the suffixes of the files.
KINDS = (*TEXTS, *FORMATS)


def write_tables(records: Sequence[Record], folder: Path | str, formats: Sequence[str] = KINDS) -> list[Path]:
    """Write every table as Markdown, CSV and LaTeX, and every figure as PNG and SVG.

    Parameters
    ----------
    records : sequence of Record
        Results in any order.
    folder : path
        Made if it is not there.
    formats : sequence of str, default=("md", "csv", "tex", "png", "svg")
        Which of them are written; no figure is drawn for the first three.

    Returns
    -------
    list of Path
        The files, each whole or not there.
    """
    unknown = [name for name in formats if name not in KINDS]
    if unknown:
        raise ValueError(f"formats holds {unknown[0]!r}, which is unknown; choose from {', '.join(KINDS)}.")
    folder = Path(folder)
    texts, pictures = ([name for name in known if name in formats] for known in (TEXTS, FORMATS))
    written = []
    for table in _tables(records) if texts else []:
        written += [write_file(folder / f"{table.name}.{name}", TEXTS[name](table).encode()) for name in texts]
    for name, figure in _figures(records) if pictures else ():
        written += [write_file(folder / f"{name}.{kind}", render(figure, kind)) for kind in pictures]
    return written


def _tables(records: Sequence[Record]) -> list[Table]:
    """Return the tables of the paper and those of the study; of the study alone if there is nothing else."""
    others = outside_study(records)
    study = [*study_tables(records), *views_tables(records), *comparison_tables(records)]
    paper = [*all_tables(others), *reproduction_tables(others), *claim_tables(records)] if others or not study else []
    return [*paper, *study]


def _figures(records: Sequence[Record]) -> Iterator[tuple[str, "Figure"]]:
    yield from all_figures(outside_study(records))
    yield from study_figures(records)
    yield from comparison_figures(records)


def outside_study(records: Iterable[Record]) -> list[Record]:
    """Return the records that are not of the study."""
    return [record for record in records if not record.trial.study]


def write_file(path: Path, content: bytes) -> Path:
    """Write a file and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(path, "wb") as file:
        file.write(content)
    return path
