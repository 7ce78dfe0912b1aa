"""Names of users, arms and items: readable, and no two that people would take for the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from fairduel.errors import InputError

# Joiners and variation selectors shape the letters or emoji around them, and have no look of
# their own; tags make flags.
_SHAPING = frozenset("\u200c\u200d\ufe0e\ufe0f")
_TAGS = range(0xE0020, 0xE0080)
# Letters that are drawn as nothing, whatever their category says.
_BLANK = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0")


def check_names(
    kind: str, given: object, count: int | None = None, places: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the names of all users, or whatever ``kind`` says, if they are distinct and readable.

    count: how many there have to be; default: at least one. places: where each name stands, like
    "line 2, column 1"; default: its number.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        number = "" if count is None else f"{count} "
        raise InputError(f"the {kind}s are {given!r}: give a list of {number}names.")
    names = tuple(given)
    if not names and count is None:
        raise InputError(f"no {kind}s are given: name at least one.")
    if count is not None and len(names) != count:
        raise InputError(
            f"there are {len(names)} {kind} names for {count} {kind}s: give one name for each."
        )

    def who(at: int) -> str:
        return f"{kind} {at + 1}" if places is None else f"the {kind} in {places[at]}"

    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        _check_name(name, who(at))
        first = seen.setdefault(comparable(name), at)
        if first != at:
            raise InputError(
                f"{who(first)} and {who(at)} {_alike(names[first], name)}: "
                f"give every {kind} a name of its own."
            )
    return tuple(map(str, names))


def comparable(name: str) -> str:
    """Return what is the same for all names that people read as the same.

    That is one Unicode form (NFC) of each letter and one blank between words, without what only
    shapes letters. Upper and lower case differ.
    """
    plain = name if name.isascii() else "".join(c for c in name if c not in _SHAPING)
    return unicodedata.normalize("NFC", " ".join(plain.split()))


def _check_name(name: object, who: str) -> None:
    if not isinstance(name, str):
        raise InputError(f"the name of {who} is {name!r}: give a text.")
    if not comparable(name):
        raise InputError(f"the name of {who} is {name!r}, which is empty: give it a name.")
    if name != name.strip():
        raise InputError(
            f"the name of {who} is {name!r}, with a blank before or after: leave the blank out."
        )
    plain = name.isascii() and name.isprintable()  # the usual case, without a look at each letter
    hidden = None if plain else next(filter(_is_hidden, name), None)
    if hidden is not None:
        raise InputError(
            f"the name of {who} is {name!a}, where {hidden!a} cannot be seen: leave it out."
        )


def _is_hidden(letter: str) -> bool:
    """Return whether a letter leaves no trace on a page, or changes the order of those around."""
    if letter in _SHAPING or ord(letter) in _TAGS:
        return False
    return letter in _BLANK or unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _alike(first: str, second: str) -> str:
    if first == second:
        return f"are both called {first!r}"
    return f"are called {first!a} and {second!a}, which read the same"
