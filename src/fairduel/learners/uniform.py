"""Uniform-Over-Users: identify the winners, then play a random user's winner for ever."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel.learners._states import replaced
from fairduel.learners.learner import Learner
from fairduel.learners.phases import AS_RUN_TOURNAMENT, check_winners
from fairduel.learners.tournament import Tournament, TournamentState
from fairduel.offers import Play, commit
from fairduel.tally import Tally


@dataclass(frozen=True, eq=False)
class UniformState:
    tournament: TournamentState
    committed: int | None = None  # rounds played since identification ended


@dataclass(frozen=True)
class UniformOverUsers(Learner[UniformState]):
    """The balanced baseline of Section 5.1: every winner in proportion to its users.

    tournament: settings of the identification. winners: each user's winner where it is known.
    """

    tournament: Tournament = field(default_factory=Tournament)
    winners: tuple[int, ...] | None = None

    @classmethod
    def as_written(cls, **settings: Any) -> UniformOverUsers:
        """Return identification as Algorithm 4 states it; the default."""
        return cls(**settings)

    @classmethod
    def as_run(cls, **settings: Any) -> UniformOverUsers:
        """Return the settings that the numbers of the paper's Table 1 come from."""
        return cls(**({"tournament": AS_RUN_TOURNAMENT} | settings))

    def init(self, users: int, arms: int, horizon: int, seed: int) -> UniformState:
        winners = check_winners(self.winners, users, arms)
        return UniformState(self.tournament.init(users, arms, horizon, seed, winners))

    def ask(self, state: UniformState) -> tuple[Play, UniformState]:
        if state.committed is None:
            duels, tournament = self.tournament.ask(state.tournament)
            state = replaced(state, tournament=tournament)
            if duels is not None:
                return duels, state
            state = replaced(state, committed=0)
        assert state.committed is not None
        left = state.tournament.budget - state.tournament.tally.rounds - state.committed
        return commit(self.policy(state), max(left, 1)), state

    def tell(self, state: UniformState, tally: Tally) -> UniformState:
        if state.committed is None:
            return replaced(state, tournament=self.tournament.tell(state.tournament, tally))
        return replaced(state, committed=state.committed + tally.rounds)

    def policy(self, state: UniformState) -> Floats:
        winners = self.tournament.winners(state.tournament)
        arms = state.tournament.candidates.shape[1]
        return np.asarray(np.bincount(winners, minlength=arms) / len(winners), np.float64)
