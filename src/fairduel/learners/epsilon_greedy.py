"""Fair-epsilon-Greedy (Algorithm 2): identify the winners, then explore less and less often."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import whole_number
from fairduel._codec import later
from fairduel.inference.estimates import empirical_borda, empirical_scores
from fairduel.learners._states import replaced
from fairduel.learners.course import AgainstWinners, AllPairs, Counts, Course
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
from fairduel.offers import Duels, Play, Script, commit
from fairduel.tally import Tally
from fairduel.welfare import FrankWolfe, Nash, Welfare
from fairduel.welfare.welfare import check_welfare

# Explorations planned in one offer: enough that Python's share of the time is small.
_SCRIPT_STEPS = 1000
_SCRIPT_ANSWERS = 32_000  # with few users and arms more: larger arrays cost more to get than fill
_SCRIPT_SCORES = 5_000_000  # with very many users and arms fewer: the scores of a script, at most


@dataclass(frozen=True, eq=False)
class EpsilonGreedyState:
    horizon: int
    seed: int
    tournament: TournamentState
    later: Tally | None = None  # since identification ended
    script: int = -1  # which script is being played; -1 before the first
    before: int = 0  # rounds of earlier scripts: the paper's t - T_0 - tau_0
    length: int | None = None  # rounds of this script, if there will be another
    done: int = 0  # rounds of it that were played
    explored: Ints | None = None  # plays of each pair before this script
    policy: Floats | None = None  # what is played between explorations
    solved_with: float = 0.0  # answers that the policy rests on


@dataclass(frozen=True)
class FairEpsilonGreedy(Learner[EpsilonGreedyState]):
    """Explore with a probability that falls like t^(-1/3), else play the best policy so far.

    welfare: what to maximise; ``Utilitarian()`` makes the paper's utilitarian baseline.
    exploration: the constant in front of epsilon_t. tournament: settings of the identification.
    winners: each user's winner where it is known; skips the identification. count_winners:
    whether |A*| in epsilon_t is the number of distinct winners, or of users. warm_up: whether
    every pair is played once first. keep_identification: whether the estimates begin with the
    answers of the identification, or with none. least_played: whether to explore the pair played
    least so far, or in turn. solve_every: how many explorations lie between two solutions (and
    where a driver stops an offer within which one was due, it is solved there). scoring: by which
    arms are scored. Under "borda" nobody is identified, and all pairs of arms are explored;
    "maximin" is learned like "condorcet", relative to the arm that the tournament leaves.

    The exploration times do not depend on answers. They are drawn ahead, exactly, and only
    explorations count in the estimates (Algorithm 2, line 10), so between two of them the policy
    stands still.
    """

    welfare: Welfare = field(default_factory=Nash)
    exploration: float = 0.1
    tournament: Tournament = field(default_factory=Tournament)
    winners: tuple[int, ...] | None = None
    count_winners: bool = True
    warm_up: bool = True
    keep_identification: bool = False
    least_played: bool = False
    solve_every: int = 1
    scoring: str = later("condorcet")

    def __post_init__(self) -> None:
        check_welfare(self.welfare)
        check_exploration(self.exploration)
        check_borda(self.scoring, self.winners)
        whole_number("solve_every", self.solve_every)

    @classmethod
    def as_written(cls, **settings: Any) -> FairEpsilonGreedy:
        """Return Algorithm 2 and Theorem 4.3 as the paper states them; the default."""
        return cls(**settings)

    @classmethod
    def as_run(cls, **settings: Any) -> FairEpsilonGreedy:
        """Return the settings that the numbers of the paper's Table 1 come from."""
        preset: dict[str, Any] = {
            "welfare": FrankWolfe(),
            "tournament": AS_RUN_TOURNAMENT,
            "count_winners": False,
            "warm_up": False,
            "keep_identification": True,
            "least_played": True,
            "solve_every": 50,
        }
        return cls(**(preset | settings))

    def init(self, users: int, arms: int, horizon: int, seed: int) -> EpsilonGreedyState:
        known = (0,) * users if self.scoring == "borda" else self.winners  # nobody to identify
        winners = check_winners(known, users, arms)
        tournament = self.tournament.init(users, arms, horizon, seed, winners)
        return EpsilonGreedyState(horizon, seed, tournament)

    def ask(self, state: EpsilonGreedyState) -> tuple[Play, EpsilonGreedyState]:
        if state.later is None:
            duels, tournament = self.tournament.ask(state.tournament)
            state = replaced(state, tournament=tournament)
            if duels is not None:
                return duels, state
            state = replaced(state, later=Tally.empty(*tournament.candidates.shape))
        if state.tournament.tally.rounds >= state.horizon:  # nothing was left to explore with
            return commit(self.policy(state), 1), state
        if state.script < 0:
            rest = self._warm_up(state)
            if rest.rounds > 0:
                return rest, state
            state = self._begin(state)
        return self._ask_script(state)

    def tell(self, state: EpsilonGreedyState, tally: Tally) -> EpsilonGreedyState:
        if state.later is None:
            return replaced(state, tournament=self.tournament.tell(state.tournament, tally))
        done = state.done + tally.rounds if state.script >= 0 else 0
        return replaced(state, later=state.later + tally, done=done)

    def policy(self, state: EpsilonGreedyState) -> Floats:
        if state.later is not None and state.policy is not None:
            return self.welfare.maximize(self._scores(state), state.policy).policy
        return guess(self.welfare, self.tournament, state.tournament, state.later, self.scoring)

    def rate(self, users: int, arms: int, winners: int) -> float:
        """Return the factor of epsilon_t that does not change with t (Theorem 4.3).

        Under Borda scores K |A*| becomes the number of pairs over K - 1, the number of
        probabilities that a score is the mean of.
        """
        pairs = arms / 2 if self.scoring == "borda" else arms * winners
        return self.exploration * math.cbrt(users**2 * pairs)

    def _warm_up(self, state: EpsilonGreedyState) -> Duels:
        """Return the duels of lines 3-6: every pair once, as far as the horizon allows."""
        assert state.later is not None
        pairs = self._pairs(state)
        wanted = np.full(len(pairs), int(self.warm_up), np.int64)
        wanted[max(0, state.horizon - state.tournament.tally.rounds) :] = 0
        played = state.later.plays[pairs[:, 0], pairs[:, 1]]
        return Duels(pairs, np.maximum(wanted - played, 0))

    def _begin(self, state: EpsilonGreedyState) -> EpsilonGreedyState:
        """Turn to the first script: pairs count as explored if the identification counts."""
        pairs = self._pairs(state)
        plays = state.tournament.tally.plays * int(self.keep_identification)
        explored = (plays + plays.T)[pairs[:, 0], pairs[:, 1]]
        return replaced(state, script=0, length=0, explored=explored)

    def _ask_script(self, state: EpsilonGreedyState) -> tuple[Play, EpsilonGreedyState]:
        """Offer lines 7-16, from where the script stands."""
        state = self._solve_if_due(state)
        if state.length is not None and state.done >= state.length:
            state, gaps = self._next_script(state)
        else:
            gaps = self._gaps(state)
        assert state.policy is not None and state.later is not None
        left = state.horizon - state.tournament.tally.rounds - state.later.rounds
        ends = np.cumsum(gaps + 1) - state.done
        first, end = ends.searchsorted([0, left], side="right").tolist()
        if first >= end:  # beyond the horizon, too
            return commit(state.policy, max(left, 1)), state
        due = self._next_solution(state)
        if end - first > due:  # end where a solution is due: which it was last is not remembered
            end -= (end - first - due) % self.solve_every
        pairs = self._pairs(state)[self._schedule(state, end)[first:]]
        gaps = np.diff(ends[first:end], prepend=0) - 1
        return Script(gaps, pairs, _Follow(self, state, pairs)), state

    def _next_script(self, state: EpsilonGreedyState) -> tuple[EpsilonGreedyState, Ints]:
        """Turn to the next script; one with fewer steps than it may have is the last."""
        assert state.explored is not None and state.length is not None
        if state.length > 0:
            played = self._schedule(state, self._script_steps(state))
            counts = np.bincount(played, minlength=len(state.explored))
            state = replaced(
                state,
                script=state.script + 1,
                before=state.before + state.length,
                done=state.done - state.length,
                explored=state.explored + counts,
            )
        gaps = self._gaps(state)
        length = int(gaps.sum()) + len(gaps) if len(gaps) == self._script_steps(state) else None
        return replaced(state, length=length), gaps

    def _gaps(self, state: EpsilonGreedyState) -> Ints:
        """Return the rounds before each exploration of this script."""
        from fairduel.kernels import course

        users, arms = state.tournament.candidates.shape
        if arms == 1:
            return np.zeros(0, np.int64)
        winners = self.tournament.winners(state.tournament)
        distinct = len(np.unique(winners)) if self.count_winners else users
        rate = self.rate(users, arms, distinct)
        rng = np.random.default_rng([state.seed, 1, state.script])
        return course.exploration_gaps(
            rng, rate, users * arms, state.before, state.horizon, self._script_steps(state)
        )

    def _schedule(self, state: EpsilonGreedyState, steps: int) -> Ints:
        """Return which pair each of the first steps of this script explores.

        In turn, or the one played least.
        """
        from fairduel.kernels import course

        assert state.explored is not None
        if self.least_played:
            return course.least_played(state.explored, steps)
        before = state.script * self._script_steps(state)
        return (before + np.arange(steps)) % len(state.explored)

    def _script_steps(self, state: EpsilonGreedyState) -> int:
        """Return the number of explorations in a script."""
        users, arms = state.tournament.candidates.shape
        steps = max(_SCRIPT_STEPS, _SCRIPT_ANSWERS // max(users, arms))
        return int(min(steps, max(1, _SCRIPT_SCORES // (users * arms))))

    def _solve_if_due(self, state: EpsilonGreedyState) -> EpsilonGreedyState:
        """Find the best policy (line 12), again once ``solve_every`` explorations were answered."""
        heard = self._heard(state)
        new = heard - state.solved_with
        users = len(state.tournament.candidates)
        if state.policy is not None and new <= (self.solve_every - 1) * users:
            return state
        policy = self.welfare.maximize(self._scores(state), state.policy).policy
        # Where a script was stopped beyond a solution within it, the next ones keep their places.
        block = self.solve_every * users
        beyond = min(new % block, block - users) if state.policy is not None and new > block else 0
        return replaced(state, policy=policy, solved_with=heard - beyond)

    def _next_solution(self, state: EpsilonGreedyState) -> int:
        """Return after how many more explorations, all answered, the policy is computed again."""
        users = len(state.tournament.candidates)
        new = self._heard(state) - state.solved_with
        return max(1, math.floor(self.solve_every - new / users))

    def _pairs(self, state: EpsilonGreedyState) -> Ints:
        arms = state.tournament.candidates.shape[1]
        if self.scoring == "borda":
            return all_pairs(arms)
        winners = self.tournament.winners(state.tournament)
        return winner_pairs(winners, arms, repeat=not self.least_played)

    def _wins(self, state: EpsilonGreedyState) -> Floats:
        assert state.later is not None
        if self.keep_identification:
            return state.later.wins + state.tournament.tally.wins
        return state.later.wins

    def _heard(self, state: EpsilonGreedyState) -> float:
        return float(self._wins(state).sum())

    def _scores(self, state: EpsilonGreedyState) -> Floats:
        if self.scoring == "borda":
            return empirical_borda(self._wins(state))
        winners = self.tournament.winners(state.tournament)
        return empirical_scores(self._wins(state), winners)

    def _counts(self, state: EpsilonGreedyState) -> Counts:
        """Return what the scores are computed from, to go on counting."""
        if self.scoring == "borda":
            return AllPairs(self._wins(state))
        winners = self.tournament.winners(state.tournament)
        wins, users = self._wins(state), np.arange(len(winners))
        won = wins[users, :, winners]
        return AgainstWinners(winners, won, won + wins[users, winners, :])


@dataclass(frozen=True, eq=False)
class _Follow:
    """The policies between the explorations of a script, as their answers come in."""

    learner: FairEpsilonGreedy
    state: EpsilonGreedyState
    pairs: Ints

    def __call__(self, answers: Floats) -> Floats:
        state, learner = self.state, self.learner
        assert state.policy is not None
        steps = min(len(answers) + 1, len(self.pairs))
        return Course(
            learner.welfare,
            learner._counts(state),
            self.pairs[: steps - 1],
            answers[: steps - 1],
            state.policy,
            learner._next_solution(state),
            learner.solve_every,
        ).policies()
