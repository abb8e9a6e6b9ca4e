"""One HTML file of everything that was run: it loads nothing, and can be mailed and opened anywhere."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment

from lab.records import Record, count_by_status
from lab.results.published import is_published
from lab.results.table import Picture, Table

# Of a page without a title of its own, with and without data of the paper.
TITLE, OTHER_TITLE = "Low-rank kernel and graph learning: ours against published", "Clustering experiments"


def page(
    records: Sequence[Record],
    parts: Mapping[str, Sequence[Table | Picture]],
    pictures: Mapping[str, bytes],
    title: str = "",
) -> str:
    """Return the whole page; pictures are PNG by the names of those in the parts."""
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(
        title=title or (TITLE if is_published(record.trial.data for record in records) else OTHER_TITLE),
        counts=count_by_status(records),
        machines=Counter(record.machine or "not recorded" for record in records).most_common(),
        versions=Counter(record.trial.version or "not recorded" for record in records).most_common(),
        parts={name: items for name, items in parts.items() if items},
        pictures={name: b64encode(content).decode() for name, content in pictures.items()},
    )
