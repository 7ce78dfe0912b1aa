"""Fair-ETC (Algorithm 1): identify the winners, estimate the scores, commit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._codec import later
from fairduel.inference.estimates import empirical_scores
from fairduel.learners._states import replaced
from fairduel.learners.learner import Learner
from fairduel.learners.phases import (
    AS_RUN_TOURNAMENT,
    all_pairs,
    check_borda,
    check_exploration,
    check_winners,
    guess,
    winner_pairs,
)
from fairduel.learners.tournament import Tournament, TournamentState
from fairduel.offers import Duels, Play, commit
from fairduel.tally import Tally
from fairduel.welfare import FrankWolfe, Nash, Welfare
from fairduel.welfare.welfare import check_welfare


@dataclass(frozen=True, eq=False)
class ETCState:
    horizon: int
    tournament: TournamentState
    explored: Tally | None = None  # since identification ended
    policy: Floats | None = None  # committed to; None before, and again when late answers come


@dataclass(frozen=True)
class FairETC(Learner[ETCState]):
    """Explore, then commit to the policy with the highest welfare (Algorithm 1).

    welfare: what to maximise; ``Utilitarian()`` makes the paper's utilitarian baseline.
    exploration: the constant in front of L. tournament: settings of the identification.
    winners: each user's winner where it is known; skips the identification. count_winners:
    whether |A*| in L is the number of distinct winners, or of users. repeat_pairs: whether a pair
    of two winners is explored L times for either, or L times in all. scoring: by which arms are
    scored. Under "borda" nobody is identified, and each pair of arms is explored; "maximin" is
    learned like "condorcet", relative to the arm that the tournament leaves.

    Exploration that does not fit the horizon is spread evenly over the pairs. Answers that come
    after the commitment are used: the policy is computed again.
    """

    welfare: Welfare = field(default_factory=Nash)
    exploration: float = 0.25
    tournament: Tournament = field(default_factory=Tournament)
    winners: tuple[int, ...] | None = None
    count_winners: bool = True
    repeat_pairs: bool = True
    scoring: str = later("condorcet")

    def __post_init__(self) -> None:
        check_welfare(self.welfare)
        check_exploration(self.exploration)
        check_borda(self.scoring, self.winners)

    @classmethod
    def as_written(cls, **settings: Any) -> FairETC:
        """Return Algorithm 1 and Theorem 4.2 as the paper states them; the default."""
        return cls(**settings)

    @classmethod
    def as_run(cls, **settings: Any) -> FairETC:
        """Return the settings that the numbers of the paper's Table 1 come from."""
        preset: dict[str, Any] = {
            "welfare": FrankWolfe(),
            "tournament": AS_RUN_TOURNAMENT,
            "count_winners": False,
            "repeat_pairs": False,
        }
        return cls(**(preset | settings))

    def init(self, users: int, arms: int, horizon: int, seed: int) -> ETCState:
        known = (0,) * users if self.scoring == "borda" else self.winners  # nobody to identify
        winners = check_winners(known, users, arms)
        return ETCState(horizon, self.tournament.init(users, arms, horizon, seed, winners))

    def ask(self, state: ETCState) -> tuple[Play, ETCState]:
        if state.explored is None:
            duels, tournament = self.tournament.ask(state.tournament)
            state = replaced(state, tournament=tournament)
            if duels is not None:
                return duels, state
            state = replaced(state, explored=Tally.empty(*tournament.candidates.shape))
        assert state.explored is not None
        rest = self._unexplored(state)
        if rest.rounds > 0:
            return rest, state
        policy = state.policy if state.policy is not None else self._best(state)
        left = state.horizon - state.tournament.tally.rounds - state.explored.rounds
        return commit(policy, max(left, 1)), replaced(state, policy=policy)

    def tell(self, state: ETCState, tally: Tally) -> ETCState:
        if state.explored is None:
            tournament = self.tournament.tell(state.tournament, tally)
            return replaced(state, tournament=tournament)
        policy = None if tally.wins.any() else state.policy
        return replaced(state, explored=state.explored + tally, policy=policy)

    def policy(self, state: ETCState) -> Floats:
        if state.explored is not None and self._unexplored(state).rounds == 0:
            return state.policy if state.policy is not None else self._best(state)
        return self._guess(state)

    def exploration_length(self, users: int, arms: int, winners: int, horizon: int) -> int:
        """Return L of Theorem 4.2 times its constant; at least one duel.

        Under Borda scores there are K (K - 1) / 2 pairs in place of K |A*|, and a score is the mean
        of K - 1 probabilities, each of which may then vary K - 1 times as much.
        """
        pairs, means = arms * winners, 1
        if self.scoring == "borda":
            pairs, means = max(1, arms * (arms - 1) // 2), max(1, arms - 1)
        share = users * horizon / pairs
        size = math.cbrt(share**2 * math.log(users * arms * horizon) / means)
        return max(1, math.ceil(self.exploration * size))

    def _unexplored(self, state: ETCState) -> Duels:
        """Return the duels of lines 3-7 that have not been played."""
        assert state.explored is not None
        users, arms = state.tournament.candidates.shape
        winners = self.tournament.winners(state.tournament)
        distinct = len(np.unique(winners)) if self.count_winners else users
        pairs = winner_pairs(winners, arms, self.repeat_pairs)
        if self.scoring == "borda":
            pairs = all_pairs(arms)
        length = self.exploration_length(users, arms, distinct, state.horizon)
        budget = state.horizon - state.tournament.tally.rounds
        wanted = _spread(len(pairs), length, budget)
        played = state.explored.plays[pairs[:, 0], pairs[:, 1]]
        return Duels(pairs, np.maximum(wanted - played, 0))

    def _best(self, state: ETCState) -> Floats:
        """Return the policy of line 8; a guess where the horizon left some pair unexplored."""
        assert state.explored is not None
        if self.scoring == "borda":
            return self._guess(state)
        winners = self.tournament.winners(state.tournament)
        heard = state.explored.answers[np.arange(len(winners)), :, winners] > 0
        if np.count_nonzero(~heard) > len(winners):  # besides each winner with itself
            return self._guess(state)
        return self.welfare.maximize(empirical_scores(state.explored.wins, winners)).policy

    def _guess(self, state: ETCState) -> Floats:
        return guess(self.welfare, self.tournament, state.tournament, state.explored, self.scoring)


def _spread(pairs: int, length: int, budget: int) -> Ints:
    """Return ``length`` duels for each pair, or as many as the budget allows, spread evenly."""
    if pairs * length <= budget:
        return np.full(pairs, length, np.int64)
    return budget // pairs + (np.arange(pairs) < budget % pairs)
