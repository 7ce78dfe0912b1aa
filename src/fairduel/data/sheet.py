"""Tables as spreadsheets save them: any separator, decimal commas, comments, trailing cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fairduel.errors import InputError

# The first of those that are in the most lines separates the cells: where a comma is in every
# line too, it is in the numbers.
SEPARATORS = {";": "semicolons", "\t": "tabs", ",": "commas"}
COMMA, POINT = (re.compile(rf"[-+]?\d*{sign}\d+([eE][-+]?\d+)?") for sign in (",", r"\."))


@dataclass(frozen=True)
class Line:
    """The cells of a line, without blanks around them, and its number in the file, from 1."""

    number: int
    cells: tuple[str, ...]

    def place(self, column: int) -> str:
        """Say where a cell is, as editors and spreadsheets count."""
        return f"line {self.number}, column {column + 1}"


@dataclass(frozen=True)
class Sheet:
    """All lines that have cells, equally many in each. comma: whether it is decimal."""

    lines: tuple[Line, ...]
    comma: bool = False

    def number(self, cell: str) -> float | None:
        """Return the number in a cell, or None if there is none."""
        try:
            return float(cell.replace(",", ".") if self.comma else cell)
        except ValueError:
            return None


def decoded(data: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 where a mark says so, as Excel writes it."""
    try:
        marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("it is not text: save it as CSV in UTF-8.") from error


def read_sheet(text: str) -> Sheet:
    """Return the table in a text; lines that begin with # are comments."""
    lines = io.StringIO(text, newline="").readlines()
    comments = {n: line for n, line in enumerate(lines, 1) if line.lstrip().startswith("#")}
    kept = ["\n" if number in comments else line for number, line in enumerate(lines, 1)]
    separator = find_separator(kept)
    found = tuple(_same_width(list(_parsed("".join(kept), separator)), separator))
    if found:
        _check_comments(comments, separator, len(found[0].cells))
    return Sheet(found, separator != "," and _has_commas(found))


def find_separator(lines: list[str]) -> str:
    """Return what separates the cells in most of these lines, outside of quotes."""
    unquoted = ["".join(line.split('"')[::2]) for line in lines]
    counts = {each: sum(each in line for line in unquoted) for each in SEPARATORS}
    return max(counts, key=counts.__getitem__) if any(counts.values()) else ","


def _parsed(text: str, separator: str) -> Iterator[Line]:
    """Return the lines that have any cell that is not empty."""
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
    number = 1
    try:
        for row in rows:
            cells = tuple(map(str.strip, row))
            if any(cells):
                yield Line(number, cells)
            number = rows.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"it is not CSV ({error} in line {number}): mend that line, or save it again."
        ) from error


def _same_width(lines: list[Line], separator: str) -> Iterator[Line]:
    """Return the lines without trailing cells that none needs; the rest is equally long."""
    needed = [1 + max(at for at, cell in enumerate(line.cells) if cell) for line in lines]
    width = max(needed, default=0)
    for line in lines:
        if len(line.cells) < width:
            longest = lines[needed.index(width)]
            raise InputError(
                f"line {line.number} has {len(line.cells)} of the {width} cells that line "
                f"{longest.number} has, with {SEPARATORS[separator]} between: give all lines "
                "the same number of cells."
            )
        yield Line(line.number, line.cells[:width])


def _check_comments(comments: dict[int, str], separator: str, width: int) -> None:
    """Refuse a comment that may be a header, or a name that begins with #."""
    for number, line in comments.items():
        if width > 1 and len(line.split(separator)) == width:
            raise InputError(
                f"line {number} begins with #, like a comment, but has as many cells as the "
                "others: remove the #, or the whole line."
            )


def _has_commas(lines: tuple[Line, ...]) -> bool:
    """Return whether numbers have decimal commas; some with a comma and some with a point don't."""
    cells = [(line.place(at), cell) for line in lines for at, cell in enumerate(line.cells)]
    commas = [(place, cell) for place, cell in cells if COMMA.fullmatch(cell)]
    points = [(place, cell) for place, cell in cells if POINT.fullmatch(cell)]
    if commas and points:
        raise InputError(
            f"{commas[0][0]} has a decimal comma ({commas[0][1]}) and {points[0][0]} a decimal "
            f"point ({points[0][1]}): use one of them."
        )
    return bool(commas)
