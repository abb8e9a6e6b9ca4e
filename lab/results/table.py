"""What is shown of records: tables of text with notes below them, and pictures."""

import io
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import ClassVar

from matplotlib.figure import Figure

#: Titles and notes of tables.
HEADS = tomllib.loads(Path(__file__).with_name("heads.toml").read_text(encoding="utf-8"))
EMPTY = "-"  # nothing can stand here
DPI = 150
NAMED = 6  # cells that a note names, at most


@dataclass(frozen=True)
class Table:
    """A table of text; a cell in two stars stands out."""

    name: str  # of its file
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    suffix: ClassVar[str] = "md"

    def content(self) -> bytes:
        """Return the content of its file: Markdown, the notes as a list below."""
        rule = ("---", *("---:" for _ in self.header[1:]))
        lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (self.header, rule, *self.rows)]
        notes = [f"- {_markdown(note)}" for note in self.notes]
        return "\n".join([f"# {_markdown(self.title)}", "", *lines, *(["", *notes] if notes else []), ""]).encode()


def headed(
    name: str, header: Sequence[str], rows: Iterable[tuple[str, ...]], *notes: str, head: str = "", **facts: object
) -> Table:
    """Return a table with the title and the notes that heads.toml has for the beginning of its name, and more notes."""
    known = max((key for key in HEADS if (head or name).startswith(key)), key=len)
    title, *told = (text.format(**HEADS["shared"], **facts) for text in HEADS[known])
    return Table(name, title, tuple(header), tuple(rows), (*told, *notes))


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when it is written."""

    name: str  # of its file
    title: str  # what it shows, for those who do not see it
    draw: Callable[[], Figure]
    suffix: ClassVar[str] = "png"

    def content(self) -> bytes:
        """Return the content of its file, the same for the same picture."""
        target = io.BytesIO()
        self.draw().savefig(target, format="png", dpi=DPI)
        return target.getvalue()


@dataclass
class Footnotes:
    """Numbers reasons in the order in which they are met."""

    reasons: dict[str, list[str]] = field(default_factory=dict)  # reason: the cells it holds for

    def mark(self, reason: str, where: str) -> str:
        """Return the mark of a reason."""
        self.reasons.setdefault(reason, []).append(where)
        return f"[{list(self.reasons).index(reason) + 1}]"

    def missing(self, why: str, where: str) -> str:
        """Return the text of a cell without a figure: how it ended, and the mark of the reason."""
        status, _, reason = why.partition(": ")
        return f"{status} {self.mark(reason, where)}" if reason else status

    def notes(self) -> Iterator[str]:
        """Yield one note per reason."""
        for number, (reason, cells) in enumerate(self.reasons.items(), 1):
            more = f"; and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
            yield f"[{number}] {reason} ({'; '.join(cells[:NAMED])}{more})"


def show(value: float | None, digits: int = 1) -> str:
    """Return a figure as text, without a minus before a zero."""
    return EMPTY if value is None else f"{round(value, digits) + 0.0:.{digits}f}"


def show_mean(figures: Collection[float], wanted: int, digits: int = 1) -> str:
    """Return the mean of so many figures as text; an incomplete one only says how many there are."""
    return show(fmean(figures), digits) if figures and len(figures) == wanted else f"{len(figures)} of {wanted}"


def bold_best(cells: Sequence[str]) -> list[str]:
    """Set the largest numbers, as they are shown, in bold."""
    numbers = [float(cell) if cell.replace(".", "", 1).isdigit() else -1.0 for cell in cells]
    return [f"**{cell}**" if number == max(numbers) >= 0 else cell for cell, number in zip(cells, numbers, strict=True)]


def bold_best_of_columns(lines: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Set the largest numbers of every column in bold."""
    return list(zip(*map(bold_best, zip(*lines, strict=True)), strict=True))


def _markdown(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
