"""Small tables as plain text for terminals, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """Rows under headings. right: the columns whose cells are aligned on the right."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    right: tuple[int, ...] = ()


def as_text(table: Table) -> str:
    """Format a table in columns; wide characters count as two."""
    from rich.cells import cell_len

    rows = [tuple(map(printable, row)) for row in (table.headings, *table.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            room = " " * (width - cell_len(cell))
            cells.append(room + cell if at in table.right else cell + room)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def as_html(table: Table) -> str:
    """Format a table as HTML, with the cells escaped."""
    head = _html_row(table, table.headings, "th")
    body = "".join(_html_row(table, row, "td") for row in table.rows)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _html_row(table: Table, row: tuple[str, ...], tag: str) -> str:
    cells = (
        f'<{tag} style="text-align: {"right" if at in table.right else "left"}">'
        f"{escape(cell)}</{tag}>"
        for at, cell in enumerate(row)
    )
    return f"<tr>{''.join(cells)}</tr>"


def printable(text: str) -> str:
    """Escape line breaks and control characters, which names may contain."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
