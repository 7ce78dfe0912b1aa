"""PrefLib's files of orders: ``.soc``, ``.soi``, ``.toc`` and ``.toi``, from any of its data sets.

The first letter says whether ties may occur (t) or not (s), the last whether every order names
every item (c, complete) or may leave some out (i). In the current format the file starts with
lines ``# KEY: value`` and an order is ``7: 1,{2,3},4``, for 7 people; items are numbered from 1.
In the older one the number of items comes first, then ``1,name`` for each, then three totals, and
an order is ``7,1,{2,3},4``. Both are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairduel._files import AnyPath
from fairduel.data.lines import NUMBER, at_line, brief, read_lines, whole_number
from fairduel.data.rankings import UNRANKED, Rankings, ranks_of
from fairduel.data.source import open_source
from fairduel.errors import InputError

KINDS = ("soc", "soi", "toc", "toi")

TIED = rf"\{{\s*{NUMBER.pattern}(?:\s*,\s*{NUMBER.pattern})*\s*\}}"
GROUP = re.compile(rf"{TIED}|{NUMBER.pattern}")
ORDER = rf"(?:{GROUP.pattern})(?:\s*,\s*(?:{GROUP.pattern}))*"
NAME_KEY = re.compile(rf"ALTERNATIVE NAME ({NUMBER.pattern})")


@dataclass(frozen=True)
class _Header:
    """What a file says about itself before the orders start."""

    kind: str
    names: list[str]
    people: int
    orders: int
    lines: int  # how many lines it takes
    after_count: str  # what stands between the count and the order


def read_preflib(path: AnyPath) -> Rankings:
    """Read a file of orders as PrefLib has them: ``read_preflib("00014-00000001.soc")``.

    The kind of data is the file's own DATA TYPE, or else the end of its name.
    """
    with open_source(path) as source:
        return parse_preflib(read_lines(source), source.ending)


def parse_preflib(lines: list[str], ending: str) -> Rankings:
    """Return the rankings in the lines of a file whose name has this ending."""
    current = lines[0].startswith("#")
    header = _metadata(lines, ending) if current else _old_header(lines, ending)
    line = re.compile(rf"\s*({NUMBER.pattern})\s*{header.after_count}\s*({ORDER})")
    counts, rows = [], []
    for place, text in enumerate(lines[header.lines :], header.lines + 1):
        with at_line(place):
            count, row = _order(text, line, header)
        counts.append(count)
        rows.append(row)
    _check_total("different orders", header.orders, len(rows))
    _check_total("people", header.people, sum(counts))
    return Rankings(header.names, rows, counts)


def _metadata(lines: list[str], ending: str) -> _Header:
    """Return the header of the current format."""
    size = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    values: dict[str, str] = {}
    for place, line in enumerate(lines[:size], 1):
        name, colon, value = line.removeprefix("#").partition(":")
        key = name.strip().upper()
        with at_line(place):
            if not colon or key in values:
                raise InputError(
                    f"the header has {brief(line)}: it has to be '# KEY: value', each key once."
                )
        values[key] = " ".join(value.split())  # as people read it
    return _Header(
        kind=_kind(values.get("DATA TYPE"), ending),
        names=_named(values, _total(values, "NUMBER ALTERNATIVES")),
        people=_total(values, "NUMBER VOTERS"),
        orders=_total(values, "NUMBER UNIQUE ORDERS"),
        lines=size,
        after_count=":",
    )


def _total(values: dict[str, str], key: str) -> int:
    if key not in values:
        raise InputError(f"its header has no '# {key}: ...': get the file again.")
    return _positive(values[key], key)


def _named(values: dict[str, str], number: int) -> list[str]:
    found = {int(match[1]): values[key] for key in values if (match := NAME_KEY.fullmatch(key))}
    if len(found) != number or not all(1 <= label <= number for label in found):
        raise InputError(
            f"it has {number} items and {len(found)} names: its header has to have "
            f"ALTERNATIVE NAME 1 to {number}.",
        )
    return [found[label] for label in range(1, number + 1)]


def _old_header(lines: list[str], ending: str) -> _Header:
    """Return the header of the older format: items, a line ``label,name`` for each, totals."""
    kind = _kind(None, ending)
    with at_line(1):
        number = _positive(lines[0].strip(), "the number of items")
    if len(lines) < number + 2:
        raise InputError(f"it ends before its {number} items and its totals: get it again.")
    names = []
    for label, line in enumerate(lines[1 : number + 1], 1):
        shown, _, name = line.partition(",")
        with at_line(label + 1):
            if shown.strip() != str(label):
                raise InputError(f"the item is {brief(line)}: it has to be '{label},name'.")
        names.append(" ".join(name.split()))
    with at_line(number + 2):
        totals = [_positive(part.strip(), "a total") for part in lines[number + 1].split(",")]
        if len(totals) != 3:
            raise InputError(
                f"there are {len(totals)} totals: there have to be three, people, the sum of "
                "the counts, different orders."
            )
    return _Header(kind, names, totals[1], totals[2], lines=number + 2, after_count=",")


def _kind(declared: str | None, ending: str) -> str:
    kind = (declared or ending).lower()
    if kind not in KINDS:
        raise InputError(
            f"its data are of the kind {brief(kind)}: give PrefLib's orders, .soc, .soi, .toc or "
            ".toi.",
        )
    return kind


def _positive(text: str, what: str) -> int:
    number = whole_number(text, what)
    if number == 0:
        raise InputError(f"{what} is 0: it has to be at least 1.")
    return number


def _order(text: str, line: re.Pattern[str], header: _Header) -> tuple[int, list[int]]:
    """Return how many people gave the order in this line, and its ranks."""
    match = line.fullmatch(text)
    if match is None:
        raise InputError(
            f"{brief(text)} is no order: it has to be like "
            f"'7{header.after_count} 1, {{2, 3}}, 4', 7 people who tie items 2 and 3."
        )
    groups = [[int(item) for item in NUMBER.findall(tied)] for tied in GROUP.findall(match[2])]
    row = ranks_of(groups, len(header.names), first=1)
    if header.kind[0] == "s" and any(len(tied) > 1 for tied in groups):
        raise InputError(f"there is a tie, which .{header.kind} does not allow: get it again.")
    if header.kind[2] == "c" and UNRANKED in row:
        raise InputError(
            f"item {row.index(UNRANKED) + 1} is missing, and .{header.kind} needs every item: "
            "get it again."
        )
    return _positive(match[1], "the number of people"), row


def _check_total(what: str, declared: int, found: int) -> None:
    if declared != found:
        raise InputError(
            f"its header says {declared} {what} and it holds {found}: get it again, whole."
        )
