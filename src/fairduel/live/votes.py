"""The log of a session: duels and votes as they came, and who and what is in it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fairduel._arrays import Floats
from fairduel._names import check_names, comparable
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
class Question:
    """Two arms to ask one user about."""

    user: str
    left: str
    right: str


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


@dataclass(frozen=True)
class Voted:
    """A user answered about two arms outside any duel; None takes that answer back."""

    user: str
    left: str
    right: str
    answer: str | None


@dataclass(frozen=True)
class Moved:
    """A user or an arm came, or came back, or went."""

    kind: Literal["user", "arm"]
    name: str
    present: bool


Event = Asked | Told | Voted | Moved


@dataclass(frozen=True)
class Roster:
    """All users and arms that a session has ever had, and those that are gone."""

    users: tuple[str, ...]
    arms: tuple[str, ...]
    gone_users: frozenset[str] = frozenset()
    gone_arms: frozenset[str] = frozenset()

    @cached_property
    def present_users(self) -> tuple[str, ...]:
        return tuple(name for name in self.users if name not in self.gone_users)

    @cached_property
    def present_arms(self) -> tuple[str, ...]:
        return tuple(name for name in self.arms if name not in self.gone_arms)

    def after(self, moved: Moved) -> Roster:
        """Return the roster after somebody or something has come or gone."""
        if moved.kind == "user":
            users, gone = _after(self.users, self.gone_users, moved)
            return replace(self, users=users, gone_users=gone)
        arms, gone = _after(self.arms, self.gone_arms, moved)
        return replace(self, arms=arms, gone_arms=gone)

    def restrict(self, tally: Tally) -> Tally:
        """Return the part of a tally that is about those present."""
        users, arms = len(self.users), len(self.arms)
        if not self.gone_users and not self.gone_arms and tally.wins.shape[:2] == (users, arms):
            return tally
        d = [n for n, name in enumerate(self.users) if name not in self.gone_users]
        k = [n for n, name in enumerate(self.arms) if name not in self.gone_arms]
        plays = grown(tally.plays, (arms, arms))[np.ix_(k, k)]
        return Tally(plays, self.wins_of(tally)[np.ix_(d, k, k)])

    def wins_of(self, tally: Tally) -> Floats:
        """Return the wins of a tally from before some came."""
        return np.asarray(grown(tally.wins, (len(self.users), len(self.arms), len(self.arms))))


class Votes:
    """Every duel of a session with its answers, and every vote outside duels. It only grows.

    Adding an event, finding a duel and finding those that wait for a user take the same work
    however many duels there are: nothing here walks the log but ``records`` and ``heard_after``.
    """

    def __init__(
        self, users: Sequence[str], arms: Sequence[str], before: Floats | None = None
    ) -> None:
        self.roster = Roster(tuple(users), tuple(arms))
        self.before = before
        self._heard = Tally.empty(len(users), len(arms))  # halves, whose sums are exact
        self.settled = 0  # duels that were issued before anybody last came or went
        self.voted: dict[tuple[str, str, str], str] = {}  # by user and pair, the arms in order
        self._users = {name: d for d, name in enumerate(users)}
        self._arms = {name: k for k, name in enumerate(arms)}
        self._called = {comparable(name): name for name in users}
        self._asked: list[Asked] = []
        self._answers: list[dict[str, str]] = []  # to each duel
        # For each user the duels that wait for a vote: a dict is a set that keeps its order.
        self._waiting: dict[str, dict[int, None]] = {name: {} for name in users}
        # After how many duels each user came or went, in turns.
        self._moves: dict[str, list[int]] = {}

    @property
    def tally(self) -> Tally:
        """All duels and votes, with the votes from before."""
        return self._with_before(self._heard)

    def _with_before(self, tally: Tally) -> Tally:
        """Return a tally with the votes from before, which may be from before some came.

        They are added last: they need not be halves, and whoever goes on from a file has to
        arrive at the same sum.
        """
        if self.before is None:
            return tally
        return replace(tally, wins=tally.wins + grown(self.before, tally.wins.shape))

    def __len__(self) -> int:
        return len(self._asked)

    def add(self, event: Event) -> None:
        """Add an event that has been checked."""
        if isinstance(event, Moved):
            self._move(event)
            return
        self._count(event, self._heard)
        if isinstance(event, Voted):
            self._vote(event)
        elif isinstance(event, Asked):
            self._asked.append(event)
            self._answers.append({})
            if _wants_votes(event):
                for user in self.roster.present_users:
                    self._waiting[user][event.id] = None
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
        """Return the duels that wait for a user's vote, oldest first.

        They were issued while the user was there. Whoever has left may still answer them: that
        counts if the user comes back.
        """
        gone = self.roster.gone_arms
        duels = [self.duel(id) for id in self._waiting[self.check_user(user)]]
        return [duel for duel in duels if not gone & {duel.left, duel.right}]

    def news(self, id: int, answers: Mapping[str, str | None], change: bool = False) -> Told:
        """Return what these answers add to those before; raise an error if any is not allowed.

        change: whether answers may be others than before.
        """
        asked = self.asked(id)
        if not isinstance(answers, Mapping):
            raise InputError(
                f"the answers to duel {id} are {answers!r}: give a dict with an answer for each "
                f"user, like {{{next(iter(self._users))!r}: {asked.left!r}}}."
            )
        checked: dict[str, str] = {}
        for given, answer in answers.items():
            user = self.check_user(given)
            if user in checked:
                raise InputError(f"{user!r} answers twice to duel {id}: give one answer.")
            checked[user] = self._check_answer(asked, user, answer, change)
        before = self._answers[id - 1]
        return Told(id, {u: answer for u, answer in checked.items() if before.get(u) != answer})

    def vote(self, user: str, left: str, right: str, answer: str | None) -> Voted | None:
        """Return a vote outside any duel that is allowed; None if it changes nothing."""
        user, pair = self.check_user(user), (self.check_arm(left), self.check_arm(right))
        if pair[0] == pair[1]:
            raise InputError(f"{user!r} compares {pair[0]!r} with itself: give two arms.")
        given = None if answer is None else self._allowed(pair, answer)
        if given is None and answer is not None:
            raise InputError(
                f"{user!r} answers {answer!r} about {pair[0]!r} and {pair[1]!r}: the answers are "
                f"{_list((*pair, TIE, SKIP))}, or None to take an answer back."
            )
        if self.voted.get(_key(user, *pair)) == given:
            return None
        return Voted(user, *pair, given)

    def said(self, user: str) -> set[tuple[str, str]]:
        """Return the pairs, each in order, that a user was asked about outside duels."""
        return {(left, right) for who, left, right in self.voted if who == user}

    def move(self, kind: Literal["user", "arm"], name: str, present: bool) -> Moved | None:
        """Return the coming or going of a user or an arm; None if it changes nothing."""
        roster = self.roster
        names, there, called = (
            (roster.users, roster.present_users, self._called)
            if kind == "user"
            else (roster.arms, roster.present_arms, {comparable(arm): arm for arm in roster.arms})
        )
        found = _found(name, called)
        if present:
            name = check_names(kind, [name])[0] if found is None else found
            return None if name in there else Moved(kind, name, True)
        if found is None:
            some = "an" if kind == "arm" else "a"
            raise InputError(f"{name!r} is not {some} {kind} here: the {kind}s are {_list(names)}.")
        if found not in there:
            return None
        if len(there) == 1:
            raise InputError(f"{found!r} is the last {kind}: add another one first.")
        return Moved(kind, found, False)

    def tally_of(self, event: Event) -> Tally:
        """Return the tally of an event, as the learner is told it."""
        tally = Tally.empty(len(self._users), len(self._arms))
        self._count(event, tally)
        return tally

    def leave(
        self,
        users: Sequence[str] = (),
        arms: Sequence[str] = (),
        settled: int = 0,
        moves: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """Let those go who are gone according to a file, and nobody wait for what came meanwhile.

        settled: how many duels there were when anybody last came or went. moves: what ``moves``
        returned; files from before that have none, and who is gone is taken to have gone last.
        """
        self.roster = replace(self.roster, gone_users=frozenset(users), gone_arms=frozenset(arms))
        self.settled = settled
        found = {name: [settled] for name in users if settled} if moves is None else moves
        self._moves = {name: [int(count) for count in counts] for name, counts in found.items()}
        for name in {*users, *self._moves}:
            waiting = self._waiting[name]
            self._waiting[name] = {id: None for id in waiting if self._was_there(name, id)}

    def moves(self) -> dict[str, list[int]]:
        """Return after how many duels users came or went, in turns, until they are as they are."""
        moved = (name for name in self.roster.users if self._moves.get(name))
        return {name: [*self._moves[name]] for name in moved}

    def _was_there(self, user: str, id: int) -> bool:
        """Return whether a user was there when a duel was issued: every later move undone."""
        counts = self._moves.get(user, [])
        later = len(counts) - bisect_left(counts, id)
        return (user not in self.roster.gone_users) != (later % 2 == 1)

    def heard_after(self, event: Voted | Told | Moved) -> tuple[Roster, Tally]:
        """Return who and what is present after an event, and what a learner that begins then hears.

        Duels from before anybody last came or went are rounds that asked nothing: who was not
        there is nobody who does not answer.
        """
        roster = self.roster.after(event) if isinstance(event, Moved) else self.roster
        tally = roster.restrict(self._with_before(self._heard + self.tally_of(event)))
        plays = np.zeros((len(self.roster.arms),) * 2, np.int64)
        for asked in [] if isinstance(event, Moved) else self._asked[self.settled :]:
            plays[self._arms[asked.left], self._arms[asked.right]] += 1
        plays = roster.restrict(Tally(plays, self._heard.wins)).plays.copy()
        plays[0, 0] += len(self) - plays.sum()
        return roster, replace(tally, plays=plays)

    def records(self) -> list[dict[str, Any]]:
        """Return all duels with their answers, as a session file has them."""
        return [
            {"left": a.left, "right": a.right, "listen": a.listen, "answers": {**answers}}
            for a, answers in zip(self._asked, self._answers, strict=True)
        ]

    def _count(self, event: Event, tally: Tally) -> None:
        """Add an event to a tally, and take away what it replaces."""
        if isinstance(event, Asked):
            tally.plays[self._arms[event.left], self._arms[event.right]] += 1
        elif isinstance(event, Voted):
            before = self.voted.get(_key(event.user, event.left, event.right))
            self._add(tally, event.user, event.left, event.right, before, -1.0)
            self._add(tally, event.user, event.left, event.right, event.answer, 1.0)
        elif isinstance(event, Told):
            asked, answers = self.asked(event.id), self._answers[event.id - 1]
            for user, answer in event.answers.items():
                self._add(tally, user, asked.left, asked.right, answers.get(user), -1.0)
                self._add(tally, user, asked.left, asked.right, answer, 1.0)

    def _add(
        self, tally: Tally, user: str, left: str, right: str, answer: str | None, weight: float
    ) -> None:
        """Add an answer to a tally; a tie is half a win each."""
        if left == right or answer is None or answer == SKIP:
            return
        d, i, j = self._users[user], self._arms[left], self._arms[right]
        share = 0.5 if answer == TIE else float(answer == left)
        tally.wins[d, i, j] += weight * share
        tally.wins[d, j, i] += weight * (1.0 - share)

    def _vote(self, event: Voted) -> None:
        key = _key(event.user, event.left, event.right)
        if event.answer is None:
            self.voted.pop(key, None)
        else:
            self.voted[key] = event.answer

    def _move(self, event: Moved) -> None:
        self.roster = roster = self.roster.after(event)
        self.settled = len(self)
        if event.kind == "user":
            self._note_move(event.name)
        self._users = {name: d for d, name in enumerate(roster.users)}
        self._arms = {name: k for k, name in enumerate(roster.arms)}
        self._called = {comparable(name): name for name in roster.users}
        for name in roster.users:
            self._waiting.setdefault(name, {})
        self._heard = Tally(
            grown(self._heard.plays, (len(roster.arms),) * 2), roster.wins_of(self._heard)
        )

    def _note_move(self, user: str) -> None:
        """Note when a user came or went. To go and to come between two duels leaves no trace."""
        counts = self._moves.setdefault(user, [])
        if counts and counts[-1] == len(self):
            counts.pop()
        elif len(self):
            counts.append(len(self))

    def _check_answer(self, asked: Asked, user: str, given: object, change: bool) -> str:
        """Return an answer that this user may give to this duel now."""
        allowed = tuple(dict.fromkeys((asked.left, asked.right, TIE, SKIP)))
        answer = SKIP if given is None else self._allowed((asked.left, asked.right), given)
        if answer is None:
            raise InputError(
                f"{user!r} answers {given!r} to duel {asked.id}: the answers are {_list(allowed)}."
            )
        before = self._answers[asked.id - 1].get(user, SKIP)
        if before not in (SKIP, answer) and not change:
            raise InputError(
                f"{user!r} answers {answer!r} to duel {asked.id} but has answered {before!r} "
                "before: leave this one out, or give change=True to change it."
            )
        return answer

    def _allowed(self, pair: tuple[str, str], given: object) -> str | None:
        """Return the answer about a pair that reads like what was given, if any."""
        return _found(given, {comparable(each): each for each in (*pair, TIE, SKIP)})

    def check_arm(self, given: object) -> str:
        """Return the name of an arm as the session has it."""
        arm = _found(given, {comparable(name): name for name in self._arms})
        if arm is None:
            raise InputError(f"{given!r} is not an arm here: the arms are {_list(self._arms)}.")
        return arm

    def check_user(self, given: object) -> str:
        """Return the name of a user as the session has it."""
        user = _found(given, self._called)
        if user is None:
            raise InputError(f"{given!r} is not a user here: the users are {_list(self._users)}.")
        return user


def grown(array: Any, shape: tuple[int, ...]) -> Any:
    """Return an array with zeros for those who came later."""
    if array.shape == shape:
        return array
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger


def _key(user: str, left: str, right: str) -> tuple[str, str, str]:
    """Return under what a vote is kept: whichever arm was on the left."""
    return user, min(left, right), max(left, right)


def _after(
    names: tuple[str, ...], gone: frozenset[str], moved: Moved
) -> tuple[tuple[str, ...], frozenset[str]]:
    if not moved.present:
        return names, gone | {moved.name}
    return (names if moved.name in names else (*names, moved.name)), gone - {moved.name}


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
