"""Every figure printed in the tables of the paper, as it is printed, from ``published.toml``.

Cells that cannot be meant as they are printed are kept and named in `MISPRINTS`; what else is odd is in `ODDITIES`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

#: The methods of Table 2 in its order.
METHODS = ("KKM", "SC", "RKKM", "SSR", "SCSK", "MKKM", "AASC", "RMKKM", "SCMK", "LKGs", "LKGr")
#: Those whose published accuracies are whole counts of samples: one scoring. The others are means over 20 runs; of
#: SCSK, too, by its figures, but it is scored like its twin SCMK.
SCORED_ONCE = ("SSR", "SCSK", "SCMK", "LKGs", "LKGr")
#: Names of records whose data are views of a data set of the multi-view tables, where all figures are means.
PREFIXES = {"Cora": "cora", "NUS-WIDE": "nuswide"}
#: The methods that the paper proposes, tested against the others.
PROPOSED = ("LKGs", "LKGr")
#: Names of the measures in records, and as the paper prints them, in the order of the multi-view tables.
_PRINTED = ("F-score", "Precision", "Recall", "NMI", "ARI", "Entropy", "Acc", "Purity")
MEASURES = {name.lower().replace("-", "_"): name for name in _PRINTED}
# Cells that are no number as printed, and the number they are read as.
READ_AS = {".1.898": "1.898"}
#: Smaller is better for these.
LOWER_IS_BETTER = frozenset({"entropy"})


@dataclass(frozen=True)
class Printed:
    """A cell of a table."""

    text: str  # as printed
    value: float
    bracket: float | None  # mean over kernels, or deviation over runs in the rows LKGs, LKGr of multi-view tables


Grid = Mapping[str, Mapping[str, Printed]]


def _cell(text: str) -> Printed:
    value, _, bracket = text.rstrip(")").partition("(")
    return Printed(text, float(READ_AS.get(value, value)), float(bracket) if bracket else None)


def _grid(text: str) -> dict[str, dict[str, Printed]]:
    """Read a table with names in its first row and column; measures get the names of records."""
    names = {printed: name for name, printed in MEASURES.items()}
    header, *rows = (line.split() for line in text.strip().splitlines())
    columns = [names.get(name, name) for name in header[1:]]
    return {name: dict(zip(columns, map(_cell, cells), strict=True)) for name, *cells in rows}


_content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

#: Printed cells that cannot be meant: where, what is printed, what is to be made of it.
MISPRINTS: Mapping[str, tuple[str, str]] = _content["misprints"]
#: What else is to know before a figure of the paper is compared with one of ours.
ODDITIES: list[str] = [" ".join(text.split()) for text in _content["oddities"]]
#: Table 1.
DATA: Grid = _grid(_content["data"])
#: Table 2 by measure, in per cent: data set, method.
TABLE_2: Mapping[str, Grid] = {measure: _grid(text) for measure, text in _content["table2"].items()}
#: Table 3: proposed method and measure, rival.
WILCOXON: Mapping[tuple[str, str], Mapping[str, Printed]] = {
    (row.partition("/")[0], row.partition("/")[2].lower()): cells for row, cells in _grid(_content["wilcoxon"]).items()
}
#: Tables 4 and 5: data set and view, method, measure. Shares, not per cent.
MULTI_VIEW: Mapping[tuple[str, int], Grid] = {
    (data, view): _grid(text) for data, texts in _content["multi_view"].items() for view, text in enumerate(texts, 1)
}
#: The data sets of Table 2 and their names in records.
NINE = {title: title.lower() for title in DATA}
#: All data sets of the paper likewise. Of NUS-WIDE only a third view was found; the paper has two others.
RECORD_NAMES = {**NINE, "Cora": "cora", "NUS-WIDE": "nuswide_view3"}


def is_published(data: Iterable[str]) -> bool:
    """Return whether some data are of the paper."""
    return not set(data).isdisjoint(RECORD_NAMES.values())
