"""From records to tables, pictures and one page. They are functions of records and of the published figures alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from lab.records import LabError, Record
from lab.results.claims import claims
from lab.results.comparison import comparison
from lab.results.figures import to_png
from lab.results.fits import fits
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
    "Inside the fits": fits,
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
    folder, ordered = Path(folder), newest(records)
    parts = {name: list(make(ordered)) for name, make in PARTS.items()}
    names = [item.name for items in parts.values() for item in items]
    if only is not None and not any(name.startswith(only) for name in names):
        raise LabError(f"no table of these records is called {only}...; there are {', '.join(names)}.")
    folder.mkdir(parents=True, exist_ok=True)
    written, pictures = [], {}
    for item in (item for items in parts.values() for item in items if item.name.startswith(only or "")):
        if isinstance(item, Picture):
            pictures[item.name] = to_png(item.draw())
        name, content = (
            (f"{item.name}.md", item.to_markdown().encode())
            if isinstance(item, Table)
            else (f"{item.name}.png", pictures[item.name])
        )
        written.append(folder / name)
        written[-1].write_bytes(content)
    if only is None:
        written.append(folder / "index.html")
        written[-1].write_text(page(ordered, parts, pictures, title), encoding="utf-8")
    return written
