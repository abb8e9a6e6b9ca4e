"""From records to tables, pictures and one page. They are functions of records and of the published figures alone."""

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment

from lab.records import LabError, Record, count_by_status
from lab.results.claims import claims
from lab.results.comparison import comparison
from lab.results.paper import failures, paper_results
from lab.results.pools import newest
from lab.results.published import is_published
from lab.results.reproduction import reproduction
from lab.results.study import study
from lab.results.table import Picture, Table
from lab.results.views import views

# Of a page without a title of its own, with and without data of the paper.
TITLE, OTHER_TITLE = "Low-rank kernel and graph learning: ours against published", "Clustering experiments"
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
        contents["index.html"] = _page(ordered, parts, contents, title).encode()
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (Path(folder) / name).write_bytes(content)
    return [Path(folder) / name for name in contents]


def _page(
    records: Sequence[Record], parts: Mapping[str, Sequence[Table | Picture]], files: Mapping[str, bytes], title: str
) -> str:
    """Return one HTML file of everything, pictures in it: it loads nothing, and can be mailed and opened anywhere."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    about = [*(record.machine or "machine not recorded" for record in records)]
    about += [f"version {record.trial.version}" for record in records]
    return template.render(
        title=title or (TITLE if is_published(record.trial.data for record in records) else OTHER_TITLE),
        counts=count_by_status(records),
        about=Counter(about).most_common(),
        parts={name: items for name, items in parts.items() if items},
        pictures={name: b64encode(content).decode() for name, content in files.items() if name.endswith(".png")},
    )
