"""The votes of a live session, from the file or the journal that it is kept in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._codec import decode
from fairduel.data.ballots import Ballots
from fairduel.data.pairwise import LEFT, RIGHT, SKIP, TIE, pair_counts, sentence
from fairduel.data.rankings import frozen
from fairduel.errors import InputError

FORMAT = re.compile(r'\s*\{\s*"format": "fairduel (session|journal)",\s*"version": (\d+)')
VERSION = 1  # of either, as ``live.storage`` writes it

Vote = tuple[str, str, str, int, float]
"""Who compared what is left with what is right, what came of it, and how often."""


def is_session(head: str) -> bool:
    """Return whether a text begins like a session that fairduel has written."""
    return FORMAT.match(head) is not None


def parse_session(text: str) -> Ballots:
    """Return the votes in a session file or a journal, of those who are present on what is."""
    found = FORMAT.match(text)
    if found is None or int(found[2]) != VERSION:
        raise InputError(f"it is no session of version {VERSION}: update fairduel.")
    try:
        log = _Log.of(json.loads(text)) if found[1] == "session" else _journal(text)
        votes = list(log.votes())
        users, options = log.present()
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError("the session in it is damaged: use an earlier copy.") from error
    if not votes:
        raise InputError("the session in it has no votes yet: ask and tell first.")
    numbers = {name: d for d, name in enumerate(users)}, {k: n for n, k in enumerate(options)}
    user, left, right, meaning, times = zip(*votes, strict=True)
    telling = next((vote for vote in votes if vote[3] <= RIGHT), votes[0])
    return Ballots(
        "votes",
        users,
        options,
        pair_counts(
            np.array([numbers[0][name] for name in user]),
            np.array([numbers[1][name] for name in left]),
            np.array([numbers[1][name] for name in right]),
            np.array(meaning),
            np.array(times),
        ),
        frozen(np.ones(len(users))),
        f"read as the votes of a session; for example: {sentence(*telling[:4])}",
    )


def _journal(text: str) -> _Log:
    """Return the session as it began, and all that has happened since.

    A last line without its end was cut off before it counted.
    """
    first, *events = [json.loads(line) for line in text.split("\n")[:-1]]
    log = _Log.of(first["session"])
    for event in events:
        log.add(event)
    return log


@dataclass
class _Log:
    """What has happened in a session. ``before``: the votes that it began with, ``gone``: names."""

    users: list[str]
    options: list[str]
    duels: list[dict[str, Any]]
    before: Any = None
    voted: dict[tuple[str, str, str], str] = field(default_factory=dict)
    gone: dict[str, set[str]] = field(default_factory=lambda: {"user": set(), "arm": set()})

    @classmethod
    def of(cls, document: dict[str, Any]) -> _Log:
        gone = document.get("gone", {"users": (), "arms": ()})
        return cls(
            list(document["users"]),
            list(document["arms"]),
            [dict(duel) for duel in document["duels"]],
            decode(document.get("before"), []),
            {(user, *sorted(pair)): answer for user, *pair, answer in document.get("votes", ())},
            {"user": set(gone["users"]), "arm": set(gone["arms"])},
        )

    def add(self, event: dict[str, Any]) -> None:
        """Add an event of a journal."""
        if "asked" in event:
            self.duels.append({"left": event["left"], "right": event["right"], "answers": {}})
        elif "voted" in event:
            left, right = sorted((event["left"], event["right"]))
            self.voted[event["voted"], left, right] = event["answer"]
        elif "moved" in event:
            kind, name = event["moved"], event["name"]
            names = self.users if kind == "user" else self.options
            if event["present"] and name not in names:
                names.append(name)
            (self.gone[kind].discard if event["present"] else self.gone[kind].add)(name)
        else:
            duel = self.duels[event["told"] - 1]
            duel["answers"] = {**duel["answers"], **event["answers"]}

    def present(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the users and options that are not gone."""
        gone = self.gone
        return (
            tuple(name for name in self.users if name not in gone["user"]),
            tuple(name for name in self.options if name not in gone["arm"]),
        )

    def votes(self) -> Iterator[Vote]:
        """Return all votes of those who are present, on what is present."""
        users, options = map(set, self.present())
        for vote in self._all():
            if vote[0] in users and {vote[1], vote[2]} <= options and vote[1] != vote[2]:
                yield vote

    def _all(self) -> Iterator[Vote]:
        if self.before is not None:
            for d, i, j in np.argwhere(self.before > 0).tolist():
                who, times = self.users[d], float(self.before[d, i, j])
                yield who, self.options[i], self.options[j], LEFT, times
        for (user, left, right), answer in self.voted.items():
            if answer is not None:
                yield user, left, right, _meaning(left, right, answer), 1.0
        for duel in self.duels:
            left, right = duel["left"], duel["right"]
            for user, answer in duel["answers"].items():
                yield user, left, right, _meaning(left, right, answer), 1.0


def _meaning(left: str, right: str, answer: str) -> int:
    return {left: LEFT, right: RIGHT, "tie": TIE, "skip": SKIP}[answer]
