"""Tables of text, as Markdown, LaTeX and CSV, and the notes below them."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

EMPTY = "-"  # nothing can stand here
BOLD = re.compile(r"\*\*(.+)\*\*")  # a cell that stands out
WIDE = 8  # columns above which a LaTeX table is scaled to the width of the text
LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "|": "$|$"},
}


@dataclass(frozen=True)
class Table:
    """A table of text."""

    name: str  # of its files
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """Return the table as Markdown, its notes as a list below."""
        rule = ("---", *("---:" for _ in self.header[1:]))
        lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (self.header, rule, *self.rows)]
        notes = [f"- {_markdown(note)}" for note in self.notes]
        return "\n".join([f"# {_markdown(self.title)}", "", *lines, *(["", *notes] if notes else []), ""])

    def to_latex(self) -> str:
        """Return the table as a LaTeX float; wide ones need the package graphicx."""
        rows = [" & ".join(map(escape_latex, row)) + r" \\" for row in (self.header, *self.rows)]
        body = [f"\\begin{{tabular}}{{l{'r' * (len(self.header) - 1)}}}", r"\hline", rows[0], r"\hline", *rows[1:]]
        body += [r"\hline", r"\end{tabular}"]
        if len(self.header) > WIDE:
            body = [r"\resizebox{\textwidth}{!}{%", *body, "}"]
        notes = [f"\\par\\footnotesize {escape_latex(note)}" for note in self.notes]
        top = [r"\begin{table}[ht]", r"\centering", f"\\caption{{{escape_latex(self.title)}}}"]
        return "\n".join([*top, f"\\label{{tab:{self.name}}}", *body, *notes, r"\end{table}", ""])

    def to_csv(self) -> str:
        """Return header and rows as CSV; the notes are left out."""
        text = io.StringIO()
        rows = [[BOLD.sub(r"\1", cell) for cell in row] for row in self.rows]
        csv.writer(text, lineterminator="\n").writerows([self.header, *rows])
        return text.getvalue()


#: What a table can be written as, by the suffix of the file.
TEXTS = {"md": Table.to_markdown, "csv": Table.to_csv, "tex": Table.to_latex}


def _markdown(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def bold(text: str) -> str:
    """Return the text of a cell that stands out."""
    return f"**{text}**"


def escape_latex(text: str) -> str:
    """Return text with every sign escaped that LaTeX would read as a command, and a minus sign before numbers."""
    if marked := BOLD.fullmatch(text):
        return f"\\textbf{{{escape_latex(marked[1])}}}"
    escaped = "".join(LATEX.get(sign, sign) for sign in " ".join(text.split()))
    return re.sub(r"^-(?=[\d.])", "$-$", escaped)


@dataclass
class Footnotes:
    """Numbers reasons in the order in which they are met."""

    reasons: dict[str, list[str]] = field(default_factory=dict)  # reason: the cells it holds for

    def mark(self, reason: str, where: str) -> str:
        """Return the mark of a reason."""
        self.reasons.setdefault(reason, []).append(where)
        return f"[{list(self.reasons).index(reason) + 1}]"

    def notes(self) -> Iterator[str]:
        """Yield one note per reason."""
        for number, (reason, cells) in enumerate(self.reasons.items(), 1):
            shown = "; ".join(cells[:6]) + (f"; and {len(cells) - 6} more" if len(cells) > 6 else "")
            yield f"[{number}] {reason} ({shown})"
