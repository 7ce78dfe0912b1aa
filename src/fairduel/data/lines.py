"""Texts read line by line, with errors that say where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fairduel.data.source import Source
from fairduel.errors import InputError

NUMBER = re.compile(r"[0-9]{1,12}")  # more digits cannot be a count of anything here


def read_lines(source: Source) -> list[str]:
    """Return the lines of a text, without trailing blanks and empty lines at the end.

    Only line feeds end a line: names may have the other characters that Python takes for one.
    """
    lines = [line.rstrip() for line in "".join(source.pieces()).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError("it is empty: get it again.")
    return lines


@contextmanager
def at_line(number: int) -> Iterator[None]:
    """Add the line of the file to errors raised inside."""
    try:
        yield
    except InputError as error:
        raise InputError(f"in line {number}, {error}") from error


def whole_number(text: str, what: str) -> int:
    """Return a number written in digits only; ``what`` names it in the error."""
    if not NUMBER.fullmatch(text):
        raise InputError(f"{what} is {brief(text)}: it has to be a whole number.")
    return int(text)


def brief(text: str) -> str:
    """Return a text short enough to be shown in an error."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
