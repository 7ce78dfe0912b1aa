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
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fairduel.data.sheet import SEPARATORS, find_separator
from fairduel.data.source import Source
from fairduel.errors import InputError

MOST_COLUMNS = 2000
HEAD = 1000  # lines that decide what separates the cells
MOST_OPEN = 1 << 23  # characters in which a quote has to be closed


Columns = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Chunk:
    """Some rows: ``columns`` as they were asked for, how often each row occurs, and where.

    times: None if each row is there for itself. unit, numbers: what the rows of the file are, and
    their numbers. lines, all_lines: where rows were counted, those of the file.
    """

    columns: Columns
    times: Sequence[int] | None
    unit: str
    numbers: Sequence[int]
    lines: Sequence[str] = ()
    all_lines: Sequence[str] = ()

    def place(self, row: int) -> str:
        """Say where a row stands first."""
        return f"{self.unit} {self._numbers[row]}"

    @cached_property
    def _numbers(self) -> Sequence[int]:
        if self.times is None:
            return self.numbers
        first: dict[str, int] = {}
        for number, line in zip(self.numbers, self.all_lines, strict=True):
            first.setdefault(line, number)
        return [first[line] for line in self.lines]


def _repeats(lines: list[str]) -> tuple[list[str], list[int]] | None:
    """Return the different lines and how often each occurs, or None if most occur once."""
    counted = Counter(lines)
    if 2 * len(counted) > len(lines):
        return None
    return list(counted), list(counted.values())


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
        number, count = self._start + 1, not ordered
        first = self._first.split("\n", self._start)
        text: str | None = first[self._start] if len(first) > self._start else ""
        while text is not None:
            more = next(self._blocks, None)
            if text.count('"') % 2 == 1:  # a cell goes on in the next block
                text += self._continued(text, more, number)
                continue
            chunk = self._chunk(text, number, at, count)
            count = chunk.times is not None  # where lines did not repeat, others won't
            if len(chunk.columns[0]):
                yield chunk
            number += text.count("\n")
            text = more

    def _continued(self, text: str, more: str | None, number: int) -> str:
        """Return the block that follows a text with an open quote."""
        if more is None or len(text) > MOST_OPEN:
            start = _joined(text.split("\n"), number)[1][-1]
            raise InputError(
                f"line {start} has a quote that is never closed: mend that line, or save the "
                "file again."
            )
        return more

    def _chunk(self, text: str, number: int, at: list[int], count: bool) -> Chunk:
        """Return the columns of a block of lines; ``count``: whether lines may repeat."""
        numbers = range(number, number + text.count("\n"))
        if count:
            whole = '"' in text or min(at) == max(at)
            first, last = (0, self._width - 1) if whole else (min(at), max(at))
            lines = self._cut(text.split("\n")[:-1], first, last)
            repeats = _repeats(lines)
            if repeats is not None:
                inside = [column - first for column in at]
                columns = self._columns("\n".join([*repeats[0], ""]), inside, last - first + 1)
                if columns is not None:
                    return Chunk(columns, repeats[1], "line", numbers, repeats[0], lines)
        columns = self._columns(text, at, self._width)
        if columns is None:
            return self._uneven_chunk(text, number, at)
        return Chunk(columns, None, "line", numbers)

    def _cut(self, lines: list[str], first: int, last: int) -> list[str]:
        """Return lines from the first to the last column that is asked for.

        A time or a number at either end, which nobody asks for, would make every line different.
        A line that is too short or too long stays so, by which ``_columns`` knows it.
        """
        behind = self._width - 1 - last
        if behind:
            lines = [line.rsplit(self.separator, behind)[0] for line in lines]
        if first:
            lines = [line.split(self.separator, first)[-1] for line in lines]
        return lines

    def _columns(self, text: str, at: list[int], width: int) -> Columns | None:
        """Return columns of lines that are this wide, none of them empty, else None.

        A separator after each line feed leaves that feed in the last cell of its line. So if the
        last column has all of them, then every line has the right number of cells.
        """
        lines = text.count("\n")
        if f"\n{self.separator * (width - 1)}\n" in "\n" + text:
            return None
        if '"' in text:
            return self._quoted_columns(text.split("\n")[:-1], at)
        cells = text.replace("\n", "\n" + self.separator).split(self.separator)
        cells.pop()
        if len(cells) != lines * width or "".join(cells[width - 1 :: width]).count("\n") != lines:
            return None
        return [cells[column::width] for column in at]

    def _quoted_columns(self, lines: list[str], at: list[int]) -> Columns | None:
        """Return the same of lines with quotes, if each of these is closed in its line."""
        if any(line.count('"') % 2 for line in lines):
            return None
        rows: list[list[str]] = []
        with suppress(csv.Error):
            rows += csv.reader(lines, delimiter=self.separator, skipinitialspace=True, strict=True)
        whole = len(rows) == len(lines) and {*map(len, rows)} == {self._width}
        return [[row[column] for row in rows] for column in at] if whole else None

    def _uneven_chunk(self, text: str, number: int, at: list[int]) -> Chunk:
        """Return the columns of a block with quotes, comments, empty lines or trailing cells."""
        lines, numbers = _joined(text.split("\n")[:-1], number)
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
        repeats = None if ordered else _repeats(self.lines)
        rows, times = repeats or (self.lines, None)
        try:
            records = _records_of(rows, None)
        except ValueError:
            records = self.parsed()  # says which line is wrong
        cells = [[record.get(name) for record in records] for name in columns]
        return Chunk(cells, times, "line", self.numbers, rows, self.lines)


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


@dataclass(frozen=True)
class _RepeatedPart(_Part):
    """Records of a list, of which many are written alike: ``written`` in ``different`` ways."""

    records: list[dict[str, Any]]
    different: list[str]
    times: list[int]
    written: list[str]
    number: int

    def parsed(self) -> list[dict[str, Any]]:
        return self.records

    def chunk(self, columns: Sequence[str], ordered: bool) -> Chunk:
        if ordered:
            meant = dict(zip(self.different, self.records, strict=True))
            single = _ListPart([meant[text] for text in self.written], self.number)
            return single.chunk(columns, ordered)
        cells = [[record.get(name) for record in self.records] for name in columns]
        numbers = range(self.number, self.number + len(self.written))
        return Chunk(cells, self.times, "record", numbers, self.different, self.written)


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
_DIVIDER = re.compile(r"\}\s*,\s*\{")


def _listed(source: Source) -> Iterator[_Part]:
    """Return the records of one JSON list, read piece by piece."""
    number, text = 1, ""
    for piece in source.pieces():
        text = text + piece if text else piece.lstrip()[1:]  # without the bracket
        start, end = _BETWEEN.match(text).end(), text.rfind("}") + 1  # type: ignore[union-attr]
        part = _repeated_part(text[start:end], number)
        if part is not None:
            yield part
            number += len(part.written)
            text = text[end:]
            continue
        records, end = _whole_records(text)
        for record in records:
            if not isinstance(record, dict):
                raise _no_object(f"record {number}", record)
            number += 1
        if records:
            yield _ListPart(records, number - len(records))
        text = text[end:]
    problem = _problem(text)
    if problem:
        raise InputError(f"record {number} is not whole JSON ({problem}): get it again.")


def _repeated_part(text: str, number: int) -> _RepeatedPart | None:
    """Return the records of a text where many are written alike, taking apart each of them once.

    None for other texts. Records are divided at what is between the first two. If there are as many
    braces as parts, and as many records, then every brace begins or ends a record, and no part has
    been cut out of another.
    """
    between = _DIVIDER.search(text)
    if between is None:
        return None
    written = text.replace(between[0], "}\0{").split("\0")  # which no text has in it
    repeats = _repeats(written) if text.count("{") == text.count("}") == len(written) else None
    if repeats is None:
        return None
    joined = ",".join(repeats[0])
    with suppress(ValueError, RecursionError):
        records = json.loads(f"[{joined}]")
        objects = {*map(type, records)} == {dict}
        if objects and len(records) == joined.count("{") == len(repeats[0]):
            return _RepeatedPart(records, *repeats, written, number)
    return None


def _whole_records(text: str) -> tuple[list[Any], int]:
    """Return the records that a part of a list begins with, and where the rest begins.

    Flat records are all parsed in one call, which takes a third of the time of a call for each.
    """
    start = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    end = text.rfind("}") + 1
    with suppress(ValueError, RecursionError):
        return json.loads(f"[{text[start:end]}]"), max(start, end)
    records, scan = [], json.JSONDecoder().raw_decode
    with suppress(ValueError, RecursionError):
        while True:
            record, at = scan(text, start)
            records.append(record)
            start = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
    return records, start


def _problem(rest: str) -> str:
    """Return what is wrong with the end of a list, which has to be its bracket alone."""
    rest = rest.strip(" \t\n,")
    if rest == "]":
        return ""
    try:
        json.loads(f"[{rest}")
    except (ValueError, RecursionError) as error:
        return str(error)
    return "more follows the list"
