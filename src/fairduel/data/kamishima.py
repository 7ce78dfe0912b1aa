"""Kamishima's ``.order`` format: Sushi, and other data by the same author."""

from __future__ import annotations

from collections.abc import Iterable

from fairduel._files import AnyPath
from fairduel.data.lines import at_line, brief, read_lines, whole_number
from fairduel.data.rankings import Rankings, ranks_of
from fairduel.data.source import open_source
from fairduel.errors import InputError


def read_kamishima(path: AnyPath, items: Iterable[str] | None = None) -> Rankings:
    """Read an ``.order`` file: ``read_kamishima("sushi3a.5000.10.order")``.

    Line 1 holds the number of items and a 1. Each further line is one person's order: a 0, how
    many items follow, and their numbers (from 0), best first. The file has no names; ``items``
    names them, by default "item 0", "item 1" and so on.
    """
    with open_source(path) as source:
        return parse_kamishima(read_lines(source), items)


def parse_kamishima(lines: list[str], items: Iterable[str] | None = None) -> Rankings:
    """Return the rankings in the lines of an ``.order`` file."""
    with at_line(1):
        number = _header(lines[0])
    names = [f"item {k}" for k in range(number)] if items is None else list(items)
    if len(names) != number:
        raise InputError(
            f"it ranks {number} items and {len(names)} names were given: give one for each."
        )
    if len(lines) == 1:
        raise InputError("it holds no order after its first line: get it again.")
    rows = []
    for place, line in enumerate(lines[1:], 2):
        with at_line(place):
            rows.append(_row(line, number))
    return Rankings(names, rows)


def _header(line: str) -> int:
    fields = line.split()
    if len(fields) != 2 or fields[1] != "1":
        raise InputError(
            f"the header is {brief(line)}: it has to be the number of items and a 1, as in '10 1'."
        )
    number = whole_number(fields[0], "the number of items")
    # No one ranks more, and a wrong header should not cost all memory.
    if not 1 <= number <= 100_000:
        raise InputError(f"the number of items is {number}: it has to be from 1 to 100000.")
    return number


def _row(line: str, items: int) -> list[int]:
    fields = line.split()
    if len(fields) < 3 or fields[0] != "0":
        raise InputError(
            f"the order is {brief(line)}: it has to be a 0, how many items follow, and the items."
        )
    follow = whole_number(fields[1], "the number of items that follow")
    order = [whole_number(field, "an item") for field in fields[2:]]
    if len(order) != follow:
        raise InputError(
            f"{follow} items are announced and {len(order)} follow: get the file again."
        )
    return ranks_of([[item] for item in order], items)
