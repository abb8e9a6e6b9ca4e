"""From records to tables, pictures and one page. They are functions of records and of the published figures alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from lab.records import LabError, Record
from lab.results.claims import claims
from lab.results.comparison import comparison
from lab.results.page import page
from lab.results.paper import failures, paper_results
from lab.results.pools import newest
from lab.results.reproduction import reproduction
from lab.results.study import study
from lab.results.table import Picture, Table
from lab.results.views import views

#: Parts of the page in their order, and what each has to show of records.
PARTS: Mapping[str, Callable[[Sequence[Record]], Iterable[Table | Picture]]] = {
    "Results": paper_results,
    "Reproduction": reproduction,
    "Claims of the paper": claims,
    "Without labels": study,
    "Several views": views,
    "Fifteen methods without labels": comparison,
    "Failed and skipped": failures,
}


def write_tables(records: Sequence[Record], folder: Path | str, title: str = "", only: str | None = None) -> list[Path]:
    """Write every table as Markdown, every picture as PNG, and all of them on one page, ``index.html``.

    Parameters
    ----------
    records : sequence of Record
        Results in any order.
    folder : path
        Made if it is not there.
    title : str, default=""
        Of the page, such as that of the experiment; without one it says what the records are about.
    only : str, optional
        Beginning of the names of what is written; there is no page then.

    Returns
    -------
    list of Path
        The files.
    """
    ordered = newest(records)
    parts = {name: list(make(ordered)) for name, make in PARTS.items()}
    found = [item for items in parts.values() for item in items]
    chosen = [item for item in found if item.name.startswith(only or "")]
    if not chosen:
        names = ", ".join(item.name for item in found)
        raise LabError(f"these records have no table whose name begins with {only!r}; there are {names}.")
    contents = {f"{item.name}.{item.suffix}": item.content() for item in chosen}
    if only is None:
        contents["index.html"] = page(ordered, parts, contents, title).encode()
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (Path(folder) / name).write_bytes(content)
    return [Path(folder) / name for name in contents]
