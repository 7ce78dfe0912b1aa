"""Rows of named cells, from tables with any separator and from JSON, a block at a time.

Files of votes repeat themselves: of a million lines a few thousand may be different. So each block
is counted line by line first, and only different lines are taken apart.
"""

from __future__ import annotations

import csv
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fairduel.data.sheet import SEPARATORS, find_separator
from fairduel.data.source import Source
from fairduel.errors import InputError

MOST_COLUMNS = 2000
HEAD = 1000  # lines that decide what separates the cells
MOST_OPEN = 1 << 23  # characters in which a quote has to be closed
CHUNK = 1 << 14  # records of a JSON list at a time


@dataclass(frozen=True)
class Chunk:
    """Some rows: ``columns`` as they were asked for, how often each row occurs, and where.

    times: None if each occurs once. unit: what the rows are in the file. rows: one for each row,
    and texts: all of them, the first in the line of that number; both are lines.
    """

    columns: Sequence[Sequence[Any]]
    times: Sequence[int] | None
    unit: str
    numbers: Sequence[int]
    repeated: tuple[Sequence[str], Sequence[str]] | None = None

    def place(self, row: int) -> str:
        """Say where a row stands first."""
        return f"{self.unit} {self._numbers[row]}"

    @cached_property
    def _numbers(self) -> Sequence[int]:
        if self.repeated is None:
            return self.numbers
        rows, lines = self.repeated
        first: dict[str, int] = {}
        for number, line in zip(self.numbers, lines, strict=True):
            first.setdefault(line, number)
        return [first[row] for row in rows]


class Records(ABC):
    """Rows under a heading, read once. ``comma``: whether numbers may have decimal commas."""

    heading: tuple[str, ...]
    comma: bool = False

    @abstractmethod
    def chunks(self, columns: Sequence[str], ordered: bool = False) -> Iterator[Chunk]:
        """Return these columns of all rows; ``ordered``: each row for itself, in its place."""

    def number(self, cell: object) -> float | None:
        """Return the number in a cell, or None if there is none."""
        if isinstance(cell, bool) or not isinstance(cell, int | float | str):
            return None
        try:
            return float(cell.replace(",", ".") if self.comma and isinstance(cell, str) else cell)
        except (ValueError, OverflowError):
            return None


class _Lines:
    """Lines of a block: the different ones, how often each occurs, and where."""

    def __init__(self, lines: list[str], numbers: Sequence[int], ordered: bool) -> None:
        self.rows: Sequence[str] = lines
        self.times: Sequence[int] | None = None
        self.numbers = numbers
        self.repeated: tuple[Sequence[str], Sequence[str]] | None = None
        if not ordered:
            counted = Counter(lines)
            if 2 * len(counted) <= len(lines):
                self.rows, self.times = list(counted), list(counted.values())
                self.repeated = (self.rows, lines)

    def chunk(self, columns: Sequence[Sequence[Any]]) -> Chunk:
        return Chunk(columns, self.times, "line", self.numbers, self.repeated)


# Tables


class Delimited(Records):
    """A table with a heading, and commas, semicolons or tabs between the cells."""

    def __init__(self, source: Source) -> None:
        self._blocks = source.blocks()
        self._first = next(self._blocks, "")
        lines = self._first.split("\n")
        self.separator = find_separator(lines[:HEAD])
        self.comma = self.separator != ","
        joined, numbers = _joined(lines, 1)
        at = next((n for n, line in enumerate(joined) if _is_content(line)), None)
        if at is None:
            raise InputError("it is empty: give a file with a heading and a line for each vote.")
        cells = self._parsed([joined[at]], [numbers[at]])[0]
        self._width = 1 + max((n for n, cell in enumerate(cells) if cell), default=0)
        self.heading = tuple(cells[: self._width])
        if self._width > MOST_COLUMNS:
            raise InputError(
                f"line {numbers[at]} has {self._width:,} columns: {MOST_COLUMNS:,} at most are "
                "read, so leave some out, or give a line for each vote."
            )
        self._start = numbers[at] + joined[at].count("\n")  # the last line of the heading

    def chunks(self, columns: Sequence[str], ordered: bool = False) -> Iterator[Chunk]:
        at = [self.heading.index(name) for name in columns]
        number = self._start + 1
        first = self._first.split("\n", self._start)
        text = first[self._start] if len(first) > self._start else ""
        while True:
            lines = text.split("\n")
            lines.pop()  # what follows the last line feed
            more = next(self._blocks, None)
            if text.count('"') % 2 == 1:  # a cell goes on in the next block
                if more is None or len(text) > MOST_OPEN:
                    raise InputError(
                        f"line {_joined(lines, number)[1][-1]} has a quote that is never closed: "
                        "mend that line, or save the file again."
                    )
                text += more
                continue
            if lines:
                yield self._chunk(lines, number, at, ordered)
            if more is None:
                return
            number += len(lines)
            text = more

    def _chunk(self, lines: list[str], number: int, at: list[int], ordered: bool) -> Chunk:
        numbers: Sequence[int] = range(number, number + len(lines))
        block = _Lines(lines, numbers, ordered)
        separators = {line.count(self.separator) for line in block.rows}
        joined = self.separator.join(block.rows)
        if separators == {self._width - 1} and '"' not in joined:
            cells = joined.split(self.separator)
            return block.chunk([cells[column :: self._width] for column in at])
        if '"' in joined:
            lines, numbers = _joined(lines, number)
        kept = [n for n, line in enumerate(lines) if line.strip(self.separator + " \t")]
        rows = self._parsed([lines[n] for n in kept], [numbers[n] for n in kept])
        rows, where = self._same_width(rows, [numbers[n] for n in kept])
        return Chunk([[row[column] for row in rows] for column in at], None, "line", where)

    def _parsed(self, lines: list[str], numbers: list[int]) -> list[list[str]]:
        """Return the cells of lines, without blanks around them."""
        rows = csv.reader(lines, delimiter=self.separator, skipinitialspace=True, strict=True)
        parsed: list[list[str]] = []
        try:
            parsed.extend([*map(str.strip, row)] for row in rows)
        except csv.Error as error:
            raise InputError(
                f"line {numbers[len(parsed)]} is not CSV ({error}): mend that line, or save the "
                "file again."
            ) from error
        return parsed

    def _same_width(
        self, rows: list[list[str]], numbers: list[int]
    ) -> tuple[list[list[str]], list[int]]:
        """Return the rows that are no comments, and where; all are as wide as the heading."""
        kept, where = [], []
        for row, number in zip(rows, numbers, strict=True):
            if len(row) < self._width or any(row[self._width :]):
                if row[0].startswith("#"):
                    continue
                raise InputError(
                    f"line {number} has {len(row)} cells and the heading {self._width}, with "
                    f"{SEPARATORS[self.separator]} between: give all lines the same number."
                )
            kept.append(row[: self._width])
            where.append(number)
        return kept, where


def _joined(lines: list[str], number: int) -> tuple[list[str], list[int]]:
    """Return lines with those joined that a cell in quotes spans, and where each begins."""
    joined: list[str] = []
    numbers: list[int] = []
    inside = False
    for at, line in enumerate(lines, number):
        if inside:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
            numbers.append(at)
        inside ^= line.count('"') % 2 == 1
    return joined, numbers


def _is_content(line: str) -> bool:
    return bool(line.strip(" \t,;")) and not line.lstrip().startswith("#")


# JSON


class JsonRecords(Records):
    """Objects with the same keys: one in each line, or all of them in one list."""

    def __init__(self, source: Source) -> None:
        listed = source.head.lstrip().startswith("[")
        self._parts = _listed(source) if listed else _by_lines(source)
        self._first = next(self._parts, None)
        if self._first is None:
            raise InputError("it has no records: give an object for each vote.")
        self.heading = tuple(dict.fromkeys(key for row in self._first.parsed() for key in row))
        if len(self.heading) > MOST_COLUMNS:
            raise InputError(
                f"its records have {len(self.heading):,} keys: {MOST_COLUMNS:,} at most are read, "
                "so leave some out."
            )

    def chunks(self, columns: Sequence[str], ordered: bool = False) -> Iterator[Chunk]:
        part = self._first
        while part is not None:
            yield part.chunk(columns, ordered)
            part = next(self._parts, None)


class _Part(ABC):
    """Some records of a file."""

    @abstractmethod
    def parsed(self) -> list[dict[str, Any]]: ...

    @abstractmethod
    def chunk(self, columns: Sequence[str], ordered: bool) -> Chunk: ...


@dataclass(frozen=True)
class _LinePart(_Part):
    lines: list[str]
    numbers: Sequence[int]

    def parsed(self) -> list[dict[str, Any]]:
        return _records_of(self.lines, self.numbers)

    def chunk(self, columns: Sequence[str], ordered: bool) -> Chunk:
        block = _Lines(self.lines, self.numbers, ordered)
        try:
            records = _records_of(block.rows, None)
        except ValueError:
            records = _records_of(self.lines, self.numbers)  # says which line is wrong
        return block.chunk([[record.get(name) for record in records] for name in columns])


@dataclass(frozen=True)
class _ListPart(_Part):
    records: list[dict[str, Any]]
    number: int

    def parsed(self) -> list[dict[str, Any]]:
        return self.records

    def chunk(self, columns: Sequence[str], ordered: bool) -> Chunk:
        cells = [[record.get(name) for record in self.records] for name in columns]
        numbers = range(self.number, self.number + len(self.records))
        return Chunk(cells, None, "record", numbers)


def _by_lines(source: Source) -> Iterator[_Part]:
    number = 1
    for text in source.blocks():
        lines = text.split("\n")
        lines.pop()
        numbers = range(number, number + len(lines))
        number += len(lines)
        kept = [n for n, line in zip(numbers, lines, strict=True) if line and not line.isspace()]
        if kept:
            whole = len(kept) == len(lines)
            some = lines if whole else [lines[n - numbers[0]] for n in kept]
            yield _LinePart(some, numbers if whole else kept)


def _records_of(lines: Sequence[str], numbers: Sequence[int] | None) -> list[dict[str, Any]]:
    """Return the object in each line; ``numbers`` are theirs, if errors are to say where."""
    try:
        # One call for all lines takes half the time of a call for each.
        records = json.loads(f"[{','.join(lines)}]")
        if len(records) == len(lines) and set(map(type, records)) <= {dict}:
            return records  # type: ignore[no-any-return]
    except (ValueError, RecursionError):
        pass
    if numbers is None:
        raise ValueError("a line is not one object")
    for number, line in zip(numbers, lines, strict=True):
        _check_object(line, number)
    raise InputError("it is not JSON: give an object in each line, or one list of objects.")


def _check_object(line: str, number: int) -> None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"line {number} is not whole JSON ({error}): give an object in each line, or one list "
            "of objects."
        ) from error
    if not isinstance(found, dict):
        raise _no_object(f"line {number}", found)


def _no_object(place: str, found: object) -> InputError:
    return InputError(
        f"{place} holds a {type(found).__name__} and not an object: give records such as "
        '{"user": "ann", "left": "x", "right": "y", "winner": "x"}.'
    )


_BETWEEN = re.compile(r"[\s,]*")


def _listed(source: Source) -> Iterator[_Part]:
    """Return the records of one JSON list, read piece by piece."""
    pieces = source.pieces()
    text = next(pieces).lstrip()
    scan = json.JSONDecoder().raw_decode
    records: list[dict[str, Any]] = []
    number, at = 1, 1  # after the bracket
    while True:
        at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "]":
            break
        try:
            record, at = scan(text, at)
        except (ValueError, RecursionError) as error:
            more = next(pieces, "")
            if not more:
                place = f"record {number + len(records)}"
                raise InputError(f"{place} is not whole JSON ({error}): get it again.") from error
            text, at = text[at:] + more, 0
            continue
        if not isinstance(record, dict):
            raise _no_object(f"record {number + len(records)}", record)
        records.append(record)
        if len(records) == CHUNK:
            yield _ListPart(records, number)
            number, records = number + CHUNK, []
    rest = text[at + 1 :] + "".join(pieces)
    if rest.strip():
        raise InputError("something follows the list of records: give one list alone.")
    if records:
        yield _ListPart(records, number)
