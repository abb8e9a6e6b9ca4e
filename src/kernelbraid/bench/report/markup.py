"""Tables and parts of the page as HTML."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from kernelbraid.bench.results.table import BOLD, Table

LONG = 40  # characters above which the text of a cell is broken into lines
NUMBER = re.compile(r"[-+*]*\.?\d")


def fold(title: str, body: str, *, level: int = 3, opened: bool = False, name: str = "") -> str:
    """Return a part of the page under a heading that opens and folds it; a named one is a section."""
    heading = f"<summary><h{level}>{escape(title)}</h{level}></summary>"
    part = f"<details class='part'{' open' if opened else ''}>{heading}{body}</details>"
    return f"<section id='{name}'>{part}</section>" if name else part


def folded_table(table: Table, *, opened: bool = False) -> str:
    """Return a table under its title, without the conditions in brackets."""
    return fold(table.title.rpartition(" (")[0] or table.title, html_table(table), opened=opened)


def html_table(table: Table) -> str:
    """Return a table whose headers sort it."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    texts = [not any(NUMBER.match(cell) for cell in column) for column in columns]
    rows = (
        f"<tr>{''.join(_td(cell, place == 0, texts[place]) for place, cell in enumerate(row))}</tr>"
        for row in table.rows
    )
    return framed(table.title, table.header, "".join(rows), table.notes, texts=texts)


def _td(text: str, first: bool, word: bool) -> str:
    if first:
        return f"<th scope='row'>{escape(text)}</th>"
    look = ["text"] * word + ["long"] * (len(text) > LONG)
    shown = BOLD.sub(r"<b>\1</b>", escape(text))
    return f"<td class='{' '.join(look)}'>{shown}</td>" if look else f"<td>{shown}</td>"


def framed(
    title: str, header: Sequence[str], rows: str, notes: Iterable[str], *, foot: str = "", texts: Iterable[bool] = ()
) -> str:
    """Return a table in a box of its own, which scrolls sideways where the page must not."""
    looks = [" class='text'" if word else "" for word in texts] or [""] * len(header)
    heads = "".join(
        f"<th scope='col'{look}><button type='button'>{escape(name)}</button></th>"
        for name, look in zip(header, looks, strict=True)
    )
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    below = f"<tfoot>{foot}</tfoot>" if foot else ""
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>{below}</table>"
    frame = f'<div class="frame" tabindex="0" role="region" aria-label="{escape(title)}">{table}</div>'
    return f"{frame}<ul class='note'>{listed}</ul>" if listed else frame
