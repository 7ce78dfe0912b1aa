"""Learners that no experiment of the paper has: they show what a check can see.

``Told`` breaks the rules, so that a bound that no learner can beat has something to catch.
``Examined`` is marked: whether it found the right winners can be read off its phases.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fairduel._arrays import Floats
from fairduel.learners import Learner
from fairduel.learners.tournament import Tournament, TournamentState
from fairduel.offers import Mix, Play, commit
from fairduel.tally import Tally

RIGHT, WRONG = "exploit", "explore"  # the phases that Examined goes on with
RASHNESS = 6.5  # delta of a comparison; from 6.58 on its first round would have no duels


@dataclass(frozen=True)
class Told(Learner[int]):
    """Play the arm that it was told, for ever; the state is the number of rounds left."""

    arm: int
    arms: int

    def init(self, users: int, arms: int, horizon: int, seed: int) -> int:
        return horizon

    def ask(self, state: int) -> tuple[Play, int]:
        return commit(self.policy(state), max(state, 1)), state

    def tell(self, state: int, tally: Tally) -> int:
        return state - tally.rounds

    def policy(self, state: int) -> Floats:
        return np.asarray(np.arange(self.arms) == self.arm, np.float64)


@dataclass(frozen=True)
class Rash(Tournament):
    """A tournament that is content with far too little: its delta is no probability."""

    def confidence(self, users: int, arms: int, horizon: int) -> float:
        return RASHNESS * arms


@dataclass(frozen=True)
class Examined(Learner[TournamentState]):
    """Identify the winners, and play on in the phase RIGHT or WRONG; ``truth`` has the winners.

    A tournament that the horizon ends gets to neither.
    """

    truth: tuple[int, ...]
    tournament: Tournament = field(default_factory=Tournament)

    def init(self, users: int, arms: int, horizon: int, seed: int) -> TournamentState:
        return self.tournament.init(users, arms, horizon, seed)

    def ask(self, state: TournamentState) -> tuple[Play, TournamentState]:
        duels, state = self.tournament.ask(state)
        if duels is not None:
            return duels, state
        policy = self.policy(state)
        right = np.array_equal(self.tournament.winners(state), self.truth)
        left = max(state.budget - state.tally.rounds, 1)
        return Mix(policy, policy, left, RIGHT if right else WRONG, listen=False), state

    def tell(self, state: TournamentState, tally: Tally) -> TournamentState:
        return self.tournament.tell(state, tally)

    def policy(self, state: TournamentState) -> Floats:
        arms = state.candidates.shape[1]
        return np.full(arms, 1.0 / arms)
