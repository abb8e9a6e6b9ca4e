"""Style and scripts of the report, which stand beside this module as files."""

import json
from importlib.resources import files

from kernelbraid._messages import install
from kernelbraid.bench.records.record import Json


def css() -> str:
    """Return the style of the page."""
    return _read("page.css")


def javascript() -> str:
    """Return the script of the page."""
    return _read("page.js")


def _read(name: str) -> str:
    return (files("kernelbraid.bench.report") / name).read_text(encoding="utf-8")


def embed(name: str, payload: Json) -> str:
    """Return data for the script of the page."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f"<script type='application/json' id='{name}'>{text}</script>"


def plotly() -> str:
    """Return plotly.js as it can stand in a page."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError(f"plotly, which draws the report, is not installed; {install('bench')}.") from None
    return str(get_plotlyjs()).replace("</script", "<\\/script")
