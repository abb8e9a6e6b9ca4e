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
    records: Sequence[Record], parts: Mapping[str, Sequence[Table | Picture]], files: Mapping[str, bytes], title: str
) -> str:
    """Return the whole page, pictures from their files."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
    about = [*(record.machine or "machine not recorded" for record in records)]
    about += [f"version {record.trial.version}" for record in records]
    return template.render(
        title=title or (TITLE if is_published(record.trial.data for record in records) else OTHER_TITLE),
        counts=count_by_status(records),
        about=Counter(about).most_common(),
        parts={name: items for name, items in parts.items() if items},
        pictures={name: b64encode(content).decode() for name, content in files.items() if name.endswith(".png")},
    )
