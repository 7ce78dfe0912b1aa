"""Pairwise votes: who was shown what beside what, and preferred which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import one_of
from fairduel._names import comparable
from fairduel.data.ballots import MOST_OPTIONS, Ballots, PairCounts
from fairduel.data.columns import PairColumns, listed, plain
from fairduel.data.lines import brief
from fairduel.data.rankings import frozen, totals
from fairduel.data.records import Chunk, Records
from fairduel.errors import InputError

Outcomes = Mapping[str, str] | Literal["names"]

LEFT, RIGHT, TIE, BOTH_BAD, SKIP = range(5)
MEANINGS = {"left": LEFT, "right": RIGHT, "tie": TIE, "both bad": BOTH_BAD, "skip": SKIP}
LEFT_SHARE = np.array([1.0, 0.0, 0.5, 0.5, 0.0])
RIGHT_SHARE = np.array([0.0, 1.0, 0.5, 0.5, 0.0])

# What an outcome may be called, in the spelling of ``plain``.
SIDE_WORDS = {
    **dict.fromkeys(("left", "l", "a", "model a", "option a", "item a", "candidate a"), LEFT),
    **dict.fromkeys(("right", "r", "b", "model b", "option b", "item b", "candidate b"), RIGHT),
}
TIE_WORDS = {
    **dict.fromkeys(("tie", "tied", "draw", "equal", "same", "no preference"), TIE),
    **dict.fromkeys(("tie (bothbad)", "tie (both bad)", "bothbad", "both bad"), BOTH_BAD),
    "skip": SKIP,
}
NUMBERS = {"-1", "0", "1", "2", "0.0", "1.0", "2.0", "0.5"}

# A vote is packed into one number: user, left, right, outcome.
BITS = 11
LOW = (1 << BITS) - 1
SHOWN = (1 << 3 * BITS) - 1  # all but the user
MERGE = 1 << 21  # counts that are kept before equal ones are added up


def count_votes(
    records: Records,
    columns: PairColumns,
    by: str | None = None,
    once: bool = False,
    outcomes: Outcomes | None = None,
) -> Ballots:
    """Count pairwise votes. Repeated votes of a user add up; ``once``: only the last one counts.

    by: the column of groups, which are users then. outcomes: what the words in the column of
    winners mean ("left", "right", "tie", "both bad" or "skip"), or "names" if they are names.
    """
    counting = _Counting(records, columns, by, once)
    for chunk in records.chunks(counting.columns, ordered=once):
        counting.add(chunk)
    if not counting.users.names:
        raise InputError("it has a heading and no votes: give a line for each vote.")
    return counting.ballots(outcomes)


class _Unreadable(Exception):
    """A cell is not what its column is for."""

    def __init__(self, cell: object, problem: str) -> None:
        super().__init__(problem)
        self.cell = cell


class _Names(dict[Any, int]):
    """The number of each name, from 0, by what is in the cells; new names get the next number."""

    def __init__(self, what: str, most: int | None = None) -> None:
        super().__init__()
        self.what, self.most = what, most
        self.names: list[str] = []
        self._known: dict[str, int] = {}

    def __missing__(self, cell: object) -> int:
        name = "" if cell is None else str(cell).strip()
        if not name:
            raise _Unreadable(cell, f"there is no {self.what}: fill it in, or leave the row out.")
        number = self._known.setdefault(comparable(name), len(self.names))
        if number == len(self.names):
            self.names.append(name)
        if self.most is not None and number > self.most:
            raise _Unreadable(
                cell,
                f"there are more than {self.most:,} {self.what}s, {brief(name)} among them: give "
                "the right column, or leave some out.",
            )
        self[cell] = number
        return number


class _Amounts(dict[Any, float]):
    """The number in each cell that has been seen, which may not be negative."""

    def __init__(self, records: Records) -> None:
        super().__init__()
        self._records = records

    def __missing__(self, cell: object) -> float:
        number = self._records.number(cell)
        if number is None or not 0.0 <= number < np.inf:
            raise _Unreadable(
                cell, f"the count is {brief(str(cell).strip())}: give a number from 0 up."
            )
        self[cell] = number
        return number


class _Outcomes(_Names):
    """The number of each outcome; an empty one is known too."""

    def __missing__(self, cell: object) -> int:
        if cell is None or not str(cell).strip():
            self[cell] = number = self._known.setdefault("", len(self.names))
            if number == len(self.names):
                self.names.append("")
            return number
        return super().__missing__(cell)


class _Counting:
    """Votes as they are counted: packed numbers, and how often each occurs."""

    def __init__(self, records: Records, columns: PairColumns, by: str | None, once: bool) -> None:
        self._asked = columns
        self._by, self._once = by, once
        self.users = _Names("user" if by is None else "group")
        self.people = _Names("user") if by and columns.user else None
        self.options = _Names("option", MOST_OPTIONS)
        self.outcomes = _Outcomes("outcome", LOW)
        self.amounts = _Amounts(records)
        self._votes: list[Ints] = []
        self._times: list[Floats] = []
        self._kept = 0
        self._members: list[Ints] = []
        self._first: dict[int, str] = {}  # where each pair with its outcome was seen first

    @property
    def columns(self) -> list[str]:
        """The columns that are read, in the order in which ``add`` takes them."""
        asked = self._asked
        extra = (asked.winner, asked.count, asked.user if self.people is not None else None)
        user = self._by or asked.user
        if user is None:
            raise InputError("nothing says who voted.")
        return [user, asked.left, asked.right, *(name for name in extra if name)]

    def add(self, chunk: Chunk) -> None:
        cells = iter(chunk.columns)
        user = _codes(chunk, next(cells), self.users)
        left, right = (_codes(chunk, next(cells), self.options) for _ in range(2))
        votes = ((user << BITS | left) << BITS | right) << BITS
        if self._asked.winner:
            votes |= _codes(chunk, next(cells), self.outcomes)
        times = np.ones(len(votes)) if chunk.times is None else np.array(chunk.times, np.float64)
        if self._asked.count:
            times *= _numbers(chunk, next(cells), self.amounts)
        if self.people is not None:
            person = _codes(chunk, next(cells), self.people)
            self._members.append(np.unique(user << 32 | person))
        shown, at = np.unique(votes & SHOWN, return_index=True)
        for seen, row in zip(shown.tolist(), at.tolist(), strict=True):
            if seen not in self._first:
                self._first[seen] = chunk.place(row)
        self._keep(votes, times)

    def _keep(self, votes: Ints, times: Floats) -> None:
        if not self._once:
            votes, times = _added(votes, times)
        self._votes.append(votes)
        self._times.append(times)
        self._kept += len(votes)
        if self._kept > MERGE and not self._once:
            votes, times = _added(np.concatenate(self._votes), np.concatenate(self._times))
            self._votes, self._times = [votes], [times]
            self._kept = len(votes) // 2  # so that merging costs a constant for each vote

    def ballots(self, outcomes: Outcomes | None) -> Ballots:
        """Return what was counted."""
        first = self._votes[0][: 1 << 10]
        votes, times = np.concatenate(self._votes), np.concatenate(self._times)
        self._votes, self._times = [], []
        shown = np.array(sorted(self._first))
        meaning = self._meanings(shown, outcomes)
        example = self._example(first, meaning[np.searchsorted(shown, first & SHOWN)])
        if self._once:
            votes, times = _last(votes, times)
        what = meaning[np.searchsorted(shown, votes & SHOWN)]
        order = np.argsort(self.options.names)
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        user = votes >> 3 * BITS
        left, right = number[votes >> 2 * BITS & LOW], number[votes >> BITS & LOW]
        return Ballots(
            "votes",
            tuple(self.users.names),
            tuple(self.options.names[k] for k in order),
            pair_counts(user, left, right, what, times),
            self._sizes(),
            f"read as pairwise votes; for example: {example}",
            grouped=self._by is not None,
            both_bad=float(times[what == BOTH_BAD].sum()),
        )

    def _sizes(self) -> Floats | None:
        """Return how many people each user is: None if that is unknown."""
        if self._by is None:
            return frozen(np.ones(len(self.users.names)))
        if self.people is None:
            return None
        members = np.unique(np.concatenate(self._members))
        return frozen(np.bincount(members >> 32).astype(np.float64))

    def _meanings(self, shown: Ints, outcomes: Outcomes | None) -> Ints:
        """Return what each pair with its outcome means."""
        options = self.options.names
        seen = [
            _Shown(
                options[each >> 2 * BITS & LOW],
                options[each >> BITS & LOW],
                self.outcomes.names[each & LOW] if self._asked.winner else "left",
                self._first[each],
            )
            for each in shown.tolist()
        ]
        for each in seen:
            if each.left == each.right:
                raise InputError(
                    f"{each.place} compares {each.left!r} with itself: mend it, or leave it out."
                )
        if not self._asked.winner:
            return np.zeros(len(shown), np.int64)
        sides = {plain(self._asked.left): LEFT, plain(self._asked.right): RIGHT}
        return np.array(_understood(seen, SIDE_WORDS | sides, outcomes))

    def _example(self, votes: Ints, meaning: Ints) -> str:
        at = int(np.argmax(meaning <= RIGHT))  # the first that is no tie, or else the first
        vote, what = int(votes[at]), int(meaning[at])
        user = self.users.names[vote >> 3 * BITS]
        left = self.options.names[vote >> 2 * BITS & LOW]
        right = self.options.names[vote >> BITS & LOW]
        return sentence(user, left, right, what)


# Counting


def _codes(chunk: Chunk, cells: Sequence[Any], names: _Names) -> Ints:
    return _numbers(chunk, cells, names).astype(np.int64, copy=False)


def _numbers(chunk: Chunk, cells: Sequence[Any], known: _Names | _Amounts) -> Ints | Floats:
    """Return the numbers of all cells; an error says which of them has none, and where."""
    try:
        dtype: type[Any] = np.int64 if isinstance(known, _Names) else np.float64
        return np.fromiter(map(known.__getitem__, cells), dtype, len(cells))
    except _Unreadable as error:
        raise InputError(f"{chunk.place(cells.index(error.cell))}: {error}") from error
    except TypeError as error:  # a list or an object in JSON
        at = next(n for n, cell in enumerate(cells) if isinstance(cell, list | dict))
        raise InputError(
            f"{chunk.place(at)} has {brief(str(cells[at]))} where one value has to be: name the "
            "right columns (--column ROLE=NAME)."
        ) from error


def _added(votes: Ints, times: Floats) -> tuple[Ints, Floats]:
    """Return each vote once, with the sum of its times."""
    different, at = np.unique(votes, return_inverse=True)
    return different, totals(at, times)


def _last(votes: Ints, times: Floats) -> tuple[Ints, Floats]:
    """Return the last vote of each user on each pair, whichever side the options were on."""
    left, right = votes >> 2 * BITS & LOW, votes >> BITS & LOW
    low, high = np.minimum(left, right), np.maximum(left, right)
    pair = (votes >> 3 * BITS << BITS | low) << BITS | high
    _, back = np.unique(pair[::-1], return_index=True)
    last = np.sort(len(votes) - 1 - back)
    return votes[last], times[last]


def pair_counts(user: Ints, left: Ints, right: Ints, meaning: Ints, times: Floats) -> PairCounts:
    """Return the wins in votes on what was left and right; ``meaning`` is that of each vote."""
    beat = ((user << BITS | left) << BITS | right, (user << BITS | right) << BITS | left)
    wins = np.concatenate([times * LEFT_SHARE[meaning], times * RIGHT_SHARE[meaning]])
    told = wins > 0
    packed, wins = _added(np.concatenate(beat)[told], wins[told])
    user, winner, loser = packed >> 2 * BITS, packed >> BITS & LOW, packed & LOW
    return PairCounts(frozen(user), frozen(winner), frozen(loser), frozen(wins))


def sentence(user: str, left: str, right: str, meaning: int) -> str:
    """Say what a vote means."""
    if meaning == SKIP:
        return f"{user} does not compare {left} with {right}"
    if meaning in (TIE, BOTH_BAD):
        return f"{user} likes {left} and {right} equally"
    better, worse = (left, right) if meaning == LEFT else (right, left)
    return f"{user} prefers {better} to {worse}"


# What outcomes mean


@dataclass(frozen=True)
class _Shown:
    """Two options, what the file says of them, and where it does so first."""

    left: str
    right: str
    outcome: str
    place: str


def _understood(
    seen: list[_Shown], sides: Mapping[str, int], outcomes: Outcomes | None
) -> list[int]:
    """Return what each outcome means: winners are all names, or all sides.

    What may be read in two ways is refused; so is what cannot be read at all, and it is no tie.
    """
    given = {} if outcomes is None or outcomes == "names" else _given(outcomes)
    by_name = [_by_name(each, given) for each in seen]
    if outcomes == "names":
        return _all_known(seen, by_name, by_name)
    by_side = [_by_word(each, given, sides) for each in seen]
    if not given and {each.outcome for each in seen} <= NUMBERS:
        found = listed(sorted({each.outcome for each in seen}))
        raise InputError(
            f"the winners are {found}, which may be names or sides: say what they mean "
            "(--outcomes 0=left,1=right, or --outcomes names)."
        )
    if None not in by_name and None not in by_side and by_name != by_side:
        each = next(each for each, a, b in zip(seen, by_name, by_side, strict=True) if a != b)
        raise InputError(
            f"{each.place}: the winner of {each.left!r} and {each.right!r} is {each.outcome!r}, "
            "which may be a name or a side: say which (--outcomes names, or "
            f"--outcomes {each.outcome}=left)."
        )
    if None not in by_name:
        return _all_known(seen, by_name, by_side)
    return _all_known(seen, by_side, by_name)


def _all_known(
    seen: list[_Shown], meanings: list[int | None], others: list[int | None]
) -> list[int]:
    """Return the meanings, if there is one for each."""
    known = [meaning for meaning in meanings if meaning is not None]
    if len(known) == len(seen):
        return known
    unknown = [
        each
        for each, one, other in zip(seen, meanings, others, strict=True)
        if one is None and other is None
    ]
    if not unknown:
        each = next(each for each, one in zip(seen, meanings, strict=True) if one is None)
        raise InputError(
            f"{each.place}: the winner is the name {each.outcome!r}, and elsewhere it is a side: "
            "write it in one way, or say what the words mean (--outcomes WORD=left,...)."
        )
    first = min(unknown, key=lambda each: int(each.place.split()[-1]))
    words = list(dict.fromkeys(each.outcome for each in [first, *unknown]))
    more = f" (and {len(words) - 3:,} others)" if len(words) > 3 else ""
    raise InputError(
        f"{first.place}: the winner of {first.left!r} and {first.right!r} is {first.outcome!r}; "
        f"unknown outcomes are {', '.join(map(repr, words[:3]))}{more}: mend them, or say what "
        "they mean (--outcomes WORD=left, right, tie, both bad or skip)."
    )


def _by_name(each: _Shown, given: Mapping[str, int]) -> int | None:
    name = comparable(each.outcome)
    if _word(each.outcome) in given:
        return given[_word(each.outcome)]
    for option, side in ((each.left, LEFT), (each.right, RIGHT)):
        if name == comparable(option):
            if plain(name) in TIE_WORDS:
                raise InputError(
                    f"an option is called {option!r}, like an outcome: give it another name."
                )
            return side
    return _by_word(each, given, {})


def _by_word(each: _Shown, given: Mapping[str, int], sides: Mapping[str, int]) -> int | None:
    word = _word(each.outcome)
    return given.get(word, (TIE_WORDS | {**sides}).get(word))


def _word(outcome: str) -> str:
    """Return an outcome in one spelling; in numbers every sign counts."""
    return plain(outcome) if any(map(str.isalpha, outcome)) else outcome.strip()


def _given(outcomes: Outcomes) -> dict[str, int]:
    if not isinstance(outcomes, Mapping):
        raise InputError(
            f'outcomes is {outcomes!r}: give "names", or what words mean, like {{"0": "left"}}.'
        )
    return {
        _word(word): MEANINGS[one_of("outcome", meaning, MEANINGS)]
        for word, meaning in outcomes.items()
    }
