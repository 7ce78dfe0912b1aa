"""Ballots in the BLT format of tools for ranked votes.

The first line has the number of options and that of seats, which is not used. A line with negative
numbers withdraws options. Each further line is a ballot: how many people gave it, the options from
the best on, with ``=`` between tied ones and ``-`` for a place that is left out, and a 0. A line 0
ends the ballots; the names of the options and a title follow, in quotes, each in its line.
"""

from __future__ import annotations

import csv
import re

import numpy as np

from fairduel.data.ballots import MOST_OPTIONS, Ballots
from fairduel.data.lines import NUMBER, at_line, brief, whole_number
from fairduel.data.orders import closed_up, stated
from fairduel.data.rankings import UNRANKED, ranks_of
from fairduel.errors import InputError

FIRST = re.compile(rf"\s*{NUMBER.pattern}\s+{NUMBER.pattern}\s*")
BALLOT = re.compile(r"0|[1-9].*\s0")
COMMENT = re.compile(r"\s*#.*")


def is_blt(head: str) -> bool:
    """Return whether a text begins with two whole numbers, and has ballots or a line 0 later."""
    lines = (_bare(line) for line in head.split("\n"))
    return bool(FIRST.fullmatch(next(lines))) and any(map(BALLOT.fullmatch, lines))


def parse_blt(lines: list[str]) -> Ballots:
    """Return the orders in the lines of a file."""
    with at_line(1):
        options = _size(_bare(lines[0]))
    withdrawn: set[int] = set()
    weights, rows = [], []
    for number, line in enumerate(lines[1:], 2):
        text = _bare(line)
        if text == "0":
            break
        with at_line(number):
            if text.startswith("-"):
                withdrawn |= _withdrawn(text, options)
            elif text:
                weight, row = _ballot(text, options)
                weights.append(weight)
                rows.append(row)
    else:
        raise InputError("it has no line 0 after the ballots, so it was cut off: get it again.")
    if not rows:
        raise InputError("it has no ballots before the line 0: get it again.")
    names = _names(lines[number:], number + 1, options)
    kept = [k for k in range(options) if k not in withdrawn]
    ranks = np.array(rows)[:, kept]
    ranks = closed_up(np.where(ranks == UNRANKED, np.nan, ranks))
    owners = [f"ballot {n}" for n in range(1, len(rows) + 1)]
    return stated(owners, [names[k] for k in kept], ranks, np.array(weights), "BLT ballots")


def _bare(line: str) -> str:
    """Return a line of numbers without its comment."""
    return COMMENT.sub("", line).strip()


def _size(line: str) -> int:
    if not FIRST.fullmatch(line):
        raise InputError(f"{brief(line)} has to be the number of options and that of seats.")
    options = whole_number(line.split()[0], "the number of options")
    if not 1 <= options <= MOST_OPTIONS:
        raise InputError(f"there are {options:,} options: give from 1 to {MOST_OPTIONS:,}.")
    return options


def _withdrawn(text: str, options: int) -> set[int]:
    numbers = [whole_number(part.removeprefix("-"), "an option") for part in text.split()]
    ranks_of([numbers], options, first=1)  # says which of them does not exist
    return {number - 1 for number in numbers}


def _ballot(text: str, options: int) -> tuple[float, list[int]]:
    """Return how many people gave a ballot, and its ranks."""
    first, *places = re.sub(r"\s*=\s*", "=", text).split()
    try:
        weight = float(first)
    except ValueError:
        weight = -1.0
    if not 0.0 < weight < np.inf:
        raise InputError(f"the weight is {brief(first)}: it has to be a number above 0.")
    if not places or places[-1] != "0":
        raise InputError("the ballot has no 0 at its end: get the file again.")
    groups = [
        [whole_number(option, "an option") for option in place.split("=")]
        for place in places[:-1]
        if place != "-"
    ]
    return weight, ranks_of(groups, options, first=1)


def _names(lines: list[str], number: int, options: int) -> list[str]:
    """Return the names of the options; the title after them, and what follows, is not used."""
    names = []
    for line in lines:
        text = line.strip()
        if text and not text.startswith("#"):
            cells = next(csv.reader([text], delimiter=" ", skipinitialspace=True))
            names.append(" ".join(cells[0].split()))
    if len(names) < options:
        raise InputError(
            f"there are {options} options and {len(names)} names from line {number} on: name each."
        )
    return names[:options]
