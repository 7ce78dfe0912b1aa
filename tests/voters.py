"""Sessions and people who vote in them, for the tests of live use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairduel import (
    SKIP,
    TIE,
    Duels,
    FairEpsilonGreedy,
    FairETC,
    FairVOI,
    Learner,
    Session,
    Tally,
    Tournament,
    UniformOverUsers,
    Utilitarian,
)
from fairduel._arrays import Floats

USERS = ["ann", "bob", "cat"]
ARMS = ["pizza", "soup", "fish", "rice"]
QUICK = Tournament(gap_guess=0.9)
LEARNERS: list[Learner[Any]] = [
    FairVOI(),
    FairVOI(anytime=True, winners=(0, 1, 1)),
    FairETC(tournament=QUICK),
    FairETC(winners=(0, 1, 1), welfare=Utilitarian()),
    FairEpsilonGreedy(winners=(0, 1, 2)),
    FairEpsilonGreedy.as_run(winners=(0, 1, 2)),
    UniformOverUsers(tournament=QUICK),
]


@dataclass(frozen=True, eq=False)
class SameState:
    tally: Tally


@dataclass(frozen=True)
class Same(Learner[SameState]):
    """A user's own learner, and quick: it asks about the first two arms for ever."""

    anytime: bool = True

    def init(self, users: int, arms: int, horizon: int, seed: int) -> SameState:
        return SameState(Tally.empty(users, arms))

    def ask(self, state: SameState) -> tuple[Duels, SameState]:
        return Duels(np.array([[0, 1]]), np.array([1])), state

    def tell(self, state: SameState, tally: Tally) -> SameState:
        return SameState(state.tally + tally)

    def policy(self, state: SameState) -> Floats:
        arms = len(state.tally.plays)
        return np.full(arms, 1.0 / arms)


def new_session(learner: Learner[Any] | None = None, horizon: int = 400) -> Session:
    return Session(USERS, ARMS, horizon, learner or FairEpsilonGreedy(), seed=7)


def vote(session: Session, rounds: int, rng: np.random.Generator) -> None:
    """Everybody says anything; some stay away."""
    for _ in range(rounds):
        duel = session.ask()
        answers: dict[str, str | None] = {}
        for user in USERS:
            if rng.random() < 0.8:
                answers[user] = str(rng.choice([duel.left, duel.right, TIE, SKIP]))
        session.tell(duel, answers)


def saved(session: Session, path: Path) -> Path:
    session.save(path)
    return path


def fingerprint(session: Session) -> str:
    """All that a session is, to the bit."""
    return json.dumps(session._document())
