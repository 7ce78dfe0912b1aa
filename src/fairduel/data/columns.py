"""Which column of a table says what, by its heading or because the caller says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairduel._checks import one_of
from fairduel.errors import InputError

ROLES = ("user", "left", "right", "winner", "loser", "count", "weight")
LISTED = 12  # names in an error

# In the order in which they are looked for, and in the spelling of ``plain``.
USERS = (
    *("user", "user id", "userid", "username", "user name", "voter", "voter id", "voter name"),
    *("judge", "judge id", "worker", "worker id", "workerid", "annotator", "annotator id"),
    *("rater", "rater id", "person", "participant", "participant id", "respondent"),
    *("respondent id", "who", "email", "e mail", "email address", "e mail address"),
)
# These name people where a row is a person, and may be anything where it is a vote.
PEOPLE = (*USERS, "name", "your name", "full name", "id", "response id", "ballot", "ballot id")
SIDES = (
    *(("left", "right"), ("model a", "model b"), ("option a", "option b"), ("item a", "item b")),
    *(("candidate a", "candidate b"), ("left option", "right option"), ("left item", "right item")),
    *(("option 1", "option 2"), ("item 1", "item 2"), ("first", "second"), ("a", "b")),
)
WINNERS = ("winner", "label", "preferred", "preference", "choice", "outcome", "result", "vote")
LOSERS = (
    *(("winner", "loser"), ("preferred", "rejected"), ("chosen", "rejected"), ("better", "worse")),
    ("won", "lost"),
)
COUNTS = ("count", "counts", "times", "n", "votes")
WEIGHTS = ("weight", "weights")
APPROVAL = {"voter id", "comment id", "vote"}


def plain(heading: str) -> str:
    """Return a heading without what people write in more than one way."""
    return re.sub(r"[\s_.:-]+", " ", heading.casefold()).strip()


def listed(names: Iterable[str]) -> str:
    """Return the first of some names, so that a sentence stays one."""
    shown = [repr(name) for name in names]
    more = f" and {len(shown) - LISTED:,} more" if len(shown) > LISTED else ""
    return ", ".join(shown[:LISTED]) + more


@dataclass(frozen=True)
class PairColumns:
    """The columns of pairwise votes. Without a winner it is the left one who won."""

    user: str | None
    left: str
    right: str
    winner: str | None
    count: str | None


class Headings:
    """The headings of a table, and the columns that were named for a role."""

    def __init__(self, names: Sequence[str], given: Mapping[str, str]) -> None:
        self.names = tuple(names)
        self.given = {
            one_of("role of a column", role, ROLES): self.column(name)
            for role, name in given.items()
        }

    def column(self, name: str) -> str:
        """Return the name of a column, if there is exactly one of that name."""
        found = one_of("column", name, self.names)
        if self.names.count(found) > 1:
            raise InputError(f"there are two columns {found!r}: give each a name of its own.")
        return found

    def find(self, role: str, words: Iterable[str]) -> str | None:
        """Return the column of a role: that which was named, or else the first of these words."""
        return self.given.get(role) or next(iter(self.all(words)), None)

    def all(self, words: Iterable[str]) -> list[str]:
        """Return all columns under these words, in the order of the words."""
        known = {plain(name): name for name in reversed(self.names)}
        return [self.column(known[word]) for word in words if word in known]

    def pairwise(self) -> PairColumns | None:
        """Return the columns of pairwise votes, if these headings are of such."""
        user, count = self._user(), self.find("count", COUNTS)
        left, right = self._pair("left", "right", SIDES)
        winner = self.find("winner", WINNERS)
        if left and right and winner:
            return PairColumns(user, left, right, winner, count)
        winner, loser = self._pair("winner", "loser", LOSERS)
        if winner and loser:
            return PairColumns(user, winner, loser, None, count)
        return None

    def is_approval(self) -> bool:
        """Return whether these are the headings of approval data."""
        return not self.given and {plain(name) for name in self.names} >= APPROVAL

    def columns(self) -> str:
        """Say which columns there are."""
        return f"its columns are {listed(self.names)}"

    def _user(self) -> str | None:
        if "user" in self.given:
            return self.given["user"]
        found = self.all(USERS)
        if len(found) > 1:
            raise InputError(
                f"the columns {found[0]!r} and {found[1]!r} may both say who voted: "
                "say which (--column user=NAME)."
            )
        return found[0] if found else None

    def _pair(
        self, first: str, second: str, words: Iterable[tuple[str, str]]
    ) -> tuple[str | None, str | None]:
        """Return two columns that belong together, as they were named or by their headings."""
        if first in self.given or second in self.given:
            return self.given.get(first), self.given.get(second)
        pairs = (self.all(pair) for pair in words)
        return next(((pair[0], pair[1]) for pair in pairs if len(pair) == 2), (None, None))
