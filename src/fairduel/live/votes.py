"""The log of a session: the duels issued, and their answers as they came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairduel._names import comparable
from fairduel.errors import InputError
from fairduel.tally import Tally

TIE = "tie"
"""The answer of a user who likes both equally: half a win for either."""
SKIP = "skip"
"""No answer, for now: the user may still answer."""
_LISTED = 10  # names in an error


@dataclass(frozen=True)
class Duel:
    """Two arms to show. ``vote`` is False where the answers would teach the learner nothing."""

    id: int
    left: str
    right: str
    vote: bool


@dataclass(frozen=True)
class Asked:
    """A duel was issued. ``listen``: whether the learner wants the answers."""

    id: int
    left: str
    right: str
    listen: bool


@dataclass(frozen=True)
class Told:
    """A duel was answered by some users, each with an arm, "tie" or "skip"."""

    id: int
    answers: dict[str, str]


Event = Asked | Told


class Votes:
    """Every duel of a session with its answers. It only grows.

    Adding an event, finding a duel and finding those that wait for a user take the same work
    however many duels there are: nothing here walks the log but ``records``.
    """

    def __init__(self, users: Sequence[str], arms: Sequence[str]) -> None:
        self.tally = Tally.empty(len(users), len(arms))
        self._users = {name: d for d, name in enumerate(users)}
        self._arms = {name: k for k, name in enumerate(arms)}
        self._called = {comparable(name): name for name in users}
        self._asked: list[Asked] = []
        self._answers: list[dict[str, str]] = []  # to each duel
        # For each user the duels that wait for a vote: a dict is a set that keeps its order.
        self._waiting: dict[str, dict[int, None]] = {name: {} for name in users}

    def __len__(self) -> int:
        return len(self._asked)

    def add(self, event: Event) -> None:
        """Add an event that has been checked."""
        self._count(event, self.tally)
        if isinstance(event, Asked):
            self._asked.append(event)
            self._answers.append({})
            if _wants_votes(event):
                for waiting in self._waiting.values():
                    waiting[event.id] = None
        else:
            self._answers[event.id - 1].update(event.answers)
            for user in event.answers:
                self._waiting[user].pop(event.id, None)

    def asked(self, id: int) -> Asked:
        """Return how a duel was issued."""
        if isinstance(id, bool) or not isinstance(id, int):
            raise InputError(f"the duel is {id!r}: give what ask() returned, or its id, like 1.")
        if not 1 <= id <= len(self):
            known = f"the duels so far are 1 to {len(self)}" if len(self) else "none was issued yet"
            raise InputError(f"there is no duel {id!r}: {known}: give one that ask() returned.")
        return self._asked[id - 1]

    def duel(self, id: int) -> Duel:
        """Return a duel as people see it."""
        asked = self.asked(id)
        return Duel(id, asked.left, asked.right, _wants_votes(asked))

    def shown(self, id: int) -> tuple[int, int]:
        """Return the two arms of a duel by number, the left one first."""
        asked = self.asked(id)
        return self._arms[asked.left], self._arms[asked.right]

    def unanswered(self, user: str) -> list[Duel]:
        """Return the duels that wait for a user's vote, oldest first."""
        return [self.duel(id) for id in self._waiting[self._check_user(user)]]

    def news(self, id: int, answers: Mapping[str, str | None]) -> Told:
        """Return what these answers add to those before; raise an error if any is not allowed."""
        asked = self.asked(id)
        if not isinstance(answers, Mapping):
            raise InputError(
                f"the answers to duel {id} are {answers!r}: give a dict with an answer for each "
                f"user, like {{{next(iter(self._users))!r}: {asked.left!r}}}."
            )
        checked: dict[str, str] = {}
        for given, answer in answers.items():
            user = self._check_user(given)
            if user in checked:
                raise InputError(f"{user!r} answers twice to duel {id}: give one answer.")
            checked[user] = self._check_answer(asked, user, answer)
        before = self._answers[id - 1]
        return Told(id, {u: answer for u, answer in checked.items() if before.get(u) != answer})

    def tally_of(self, event: Event) -> Tally:
        """Return the tally of an event, as the learner is told it."""
        tally = Tally.empty(len(self._users), len(self._arms))
        self._count(event, tally)
        return tally

    def records(self) -> list[dict[str, Any]]:
        """Return all duels with their answers, as a session file has them."""
        return [
            {"left": a.left, "right": a.right, "listen": a.listen, "answers": {**answers}}
            for a, answers in zip(self._asked, self._answers, strict=True)
        ]

    def _count(self, event: Event, tally: Tally) -> None:
        """Add an event to a tally; a tie is half a win each."""
        if isinstance(event, Asked):
            tally.plays[self._arms[event.left], self._arms[event.right]] += 1
            return
        i, j = self.shown(event.id)
        for user, answer in event.answers.items():
            if i != j and answer != SKIP:
                d = self._users[user]
                share = 0.5 if answer == TIE else float(self._arms[answer] == i)
                tally.wins[d, i, j] += share
                tally.wins[d, j, i] += 1.0 - share

    def _check_answer(self, asked: Asked, user: str, given: object) -> str:
        """Return an answer that this user may give to this duel now."""
        allowed = tuple(dict.fromkeys((asked.left, asked.right, TIE, SKIP)))
        answer = (
            SKIP if given is None else _found(given, {comparable(each): each for each in allowed})
        )
        if answer is None:
            raise InputError(
                f"{user!r} answers {given!r} to duel {asked.id}: the answers are {_list(allowed)}."
            )
        before = self._answers[asked.id - 1].get(user, SKIP)
        if before not in (SKIP, answer):
            raise InputError(
                f"{user!r} answers {answer!r} to duel {asked.id} but has answered {before!r} "
                "before: an answer stands once it is given, so leave this one out."
            )
        return answer

    def _check_user(self, given: object) -> str:
        """Return the name of a user as the session has it."""
        user = _found(given, self._called)
        if user is None:
            raise InputError(f"{given!r} is not a user here: the users are {_list(self._users)}.")
        return user


def _found(given: object, names: Mapping[str, str]) -> str | None:
    """Return the name that reads like what was given, if any."""
    return names.get(comparable(given)) if isinstance(given, str) else None


def _wants_votes(asked: Asked) -> bool:
    return asked.listen and asked.left != asked.right


def _list(names: Iterable[str]) -> str:
    """List the first names, so that a sentence stays one."""
    listed = [repr(name) for name in names]
    more = f" and {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
    return ", ".join(listed[:_LISTED]) + more
