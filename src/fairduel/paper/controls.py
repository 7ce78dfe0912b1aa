"""Learners that no experiment of the paper has: they show what a check can see.

``Told`` breaks the rules, so that a bound that no learner can beat has something to catch.
``Examined`` is marked: whether it found the right winners can be read off its phases.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fairduel._arrays import Floats
from fairduel.learners import Learner
from fairduel.learners._states import replaced
from fairduel.learners.tournament import Tournament, TournamentState
from fairduel.offers import Mix, Play, commit
from fairduel.tally import Tally

RIGHT, WRONG = "exploit", "explore"  # the phases that Examined goes on with


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


@dataclass(frozen=True, eq=False)
class ExaminedState:
    horizon: int
    tournament: TournamentState


@dataclass(frozen=True)
class Examined(Learner[ExaminedState]):
    """Identify the winners, and play on in the phase RIGHT or WRONG.

    truth: each user's winner. most: after how many duels to take the likeliest, finished or not;
    default: never, so that a tournament that the horizon ends plays in neither phase.
    """

    truth: tuple[int, ...]
    tournament: Tournament = field(default_factory=Tournament)
    most: int | None = None

    def init(self, users: int, arms: int, horizon: int, seed: int) -> ExaminedState:
        budget = horizon if self.most is None else min(self.most, horizon)
        return ExaminedState(horizon, self.tournament.init(users, arms, budget, seed))

    def ask(self, state: ExaminedState) -> tuple[Play, ExaminedState]:
        duels, tournament = self.tournament.ask(state.tournament)
        state = replaced(state, tournament=tournament)
        if duels is not None:
            return duels, state
        policy = self.policy(state)
        right = np.array_equal(self.tournament.winners(tournament), self.truth)
        left = max(state.horizon - tournament.tally.rounds, 1)
        return Mix(policy, policy, left, RIGHT if right else WRONG, listen=False), state

    def tell(self, state: ExaminedState, tally: Tally) -> ExaminedState:
        return replaced(state, tournament=self.tournament.tell(state.tournament, tally))

    def policy(self, state: ExaminedState) -> Floats:
        arms = state.tournament.candidates.shape[1]
        return np.full(arms, 1.0 / arms)
