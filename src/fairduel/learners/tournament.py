"""Identify each user's winner: the multi-user DKW tournament (Algorithms 3 and 4).

Every duel is answered by all users, so one comparison eliminates arms for all of them at once,
and the round tracker R(i, j) of a pair is shared. The paper leaves the schedule open ("choose a
user, select a distinct pair"). Here users come in order; a random arm is champion first, and the
winner for that user stays on against a random remaining arm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel.errors import InputError
from fairduel.inference.estimates import champions
from fairduel.learners._states import replaced
from fairduel.offers import Duels
from fairduel.tally import Tally

_SUREST = 1e-200  # no comparison can ask for more


@dataclass(frozen=True, eq=False)
class TournamentState:
    """Who is still in for whom, and the comparison under way."""

    budget: int
    confidence: float  # delta' of one comparison
    order: Ints  # (D, K): in which order the arms come up for each user, drawn at the start
    tally: Tally
    candidates: Bools  # (D, K): the sets S_d
    trackers: Ints  # (K, K): R(i, j), the same both ways round
    match: tuple[int, int, int] | None = None  # user, champion, challenger
    due: int = 0  # duels of this comparison round still to be played
    before: Floats | None = None  # (D, 2): wins of either arm not to count; None once judged


@dataclass(frozen=True)
class Tournament:
    """Settings of the tournament.

    gap_guess: the paper's Delta-hat; smaller is surer and slower. confidence_scale: delta =
    scale * K ln(K/2) / (Delta-hat T). split_over_users: whether delta/D goes in (Algorithm 1,
    line 1). pool_rounds: whether a comparison round judges by all duels of its pair, or by that
    round's own only. eliminate_for_all: whether a loser is out for every user who is sure of it,
    or only for those who still have both arms in (Algorithm 3, line 9).

    Where the formulas break: with two arms ln(K/2) = 0 would ask for certainty, so ln(3/2)
    stands in; delta is at most 1/2. A user with fewer answers than a round has duels is judged by
    the width that those answers support, and not at all without answers.
    """

    gap_guess: float = 0.0025
    confidence_scale: float = 0.5
    split_over_users: bool = True
    pool_rounds: bool = True
    eliminate_for_all: bool = False

    def __post_init__(self) -> None:
        _check_between("gap_guess", self.gap_guess, 1.0, "between 0 and 1")
        _check_between("confidence_scale", self.confidence_scale, math.inf, "above 0")

    def init(
        self, users: int, arms: int, budget: int, seed: int, winners: Ints | None = None
    ) -> TournamentState:
        """Return the state before the first duel; with known ``winners`` it is over at once."""
        if budget < 1:
            raise InputError(f"the budget is {budget}: it must be at least 1 duel.")
        rng = np.random.default_rng([seed, 0])
        candidates = np.ones((users, arms), bool)
        if winners is not None:
            candidates = np.arange(arms) == np.asarray(winners)[:, None]
        return TournamentState(
            budget=budget,
            confidence=self.confidence(users, arms, budget) / arms,  # Alg. 4, line 8
            order=rng.permuted(np.tile(np.arange(arms), (users, 1)), axis=1),
            tally=Tally.empty(users, arms),
            candidates=candidates,
            trackers=np.ones((arms, arms), np.int64),  # Alg. 4, line 3
        )

    def confidence(self, users: int, arms: int, horizon: int) -> float:
        """Return the delta of Algorithm 4 (Theorem 4.2), kept within (0, 1/2]."""
        delta = self.confidence_scale * arms * math.log(max(arms, 3) / 2)
        delta = min(0.5, max(delta / (self.gap_guess * horizon), _SUREST))
        return delta / users if self.split_over_users else delta

    def ask(self, state: TournamentState) -> tuple[Duels | None, TournamentState]:
        """Return the duels to play next; None once all winners are known or the budget is spent."""
        if state.before is not None and state.due == 0:
            state = self._judge(state)
        left = state.budget - state.tally.rounds
        if left <= 0:
            return None, state
        if state.before is None:
            match = _next_match(state)
            if match is None:
                return None, state
            state = self._open_round(state, match)
        assert state.match is not None
        pair = np.array([state.match[1:]], np.int64)
        duels = Duels(pair, np.array([min(state.due, left)], np.int64), phase="identify")
        return duels, state

    def tell(self, state: TournamentState, tally: Tally) -> TournamentState:
        due = max(0, state.due - tally.rounds)
        return replaced(state, tally=state.tally + tally, due=due)

    def finished(self, state: TournamentState) -> bool:
        """Return whether every user has one candidate left."""
        return bool((state.candidates.sum(axis=1) == 1).all())

    def winners(self, state: TournamentState) -> Ints:
        """Return each user's winner, or the likeliest candidate where the budget ran out."""
        if self.finished(state):
            return np.asarray(state.candidates.argmax(axis=1), np.int64)
        return champions(state.tally.wins, state.candidates)

    def _open_round(self, state: TournamentState, match: tuple[int, int, int]) -> TournamentState:
        _, i, j = match
        samples, _ = _round_size(int(state.trackers[i, j]), state.confidence)
        wins = state.tally.wins
        before = np.zeros((len(wins), 2))
        if not self.pool_rounds:
            before[:, 0], before[:, 1] = wins[:, i, j], wins[:, j, i]
        return replaced(state, match=match, due=samples, before=before)

    def _judge(self, state: TournamentState) -> TournamentState:
        """Eliminate for every user whose estimate passes the width (Algorithm 3, lines 9-22)."""
        from fairduel.kernels import judging

        assert state.match is not None and state.before is not None
        _, i, j = state.match
        round_ = int(state.trackers[i, j])
        samples, width = _round_size(round_, state.confidence)
        candidates, trackers = state.candidates.copy(), state.trackers.copy()
        answered = judging.judge(
            state.tally.wins, state.before, candidates, i, j, samples, width, self.eliminate_for_all
        )
        if not answered:  # the same round again
            return replaced(state, before=None)
        trackers[i, j] = trackers[j, i] = round_ + 1  # lines 23-24
        return replaced(state, candidates=candidates, trackers=trackers, before=None)


def identify(
    answer: Callable[[Duels], Tally],
    users: int,
    arms: int,
    budget: int,
    seed: int,
    tournament: Tournament | None = None,
) -> tuple[Ints, Tally, bool]:
    """Run a tournament on its own against anything that can answer duels.

    ``answer`` plays the duels it is given and returns their tally. Returns each user's winner, the
    tally of all answers, and whether the tournament ended before the budget did.
    """
    tournament = tournament or Tournament()
    state = tournament.init(users, arms, budget, seed)
    duels, state = tournament.ask(state)
    while duels is not None:
        state = tournament.tell(state, answer(duels))
        duels, state = tournament.ask(state)
    return tournament.winners(state), state.tally, tournament.finished(state)


def _check_between(name: str, value: object, most: float, span: str) -> None:
    """Refuse what is not a number above 0 and below ``most``."""
    if not isinstance(value, int | float | np.number) or not 0.0 < value < most:
        raise InputError(f"{name} is {value!r}: give a number {span}.")


def _round_size(round_: int, confidence: float) -> tuple[int, float]:
    """Return N_r and h_r of Algorithm 3, lines 4-6."""
    width = 2.0 ** -(round_ + 1)
    adjusted = 6.0 * confidence / (math.pi**2 * round_**2)
    return math.ceil(8.0 * math.log(4.0 / adjusted) / width**2), width


def _next_match(state: TournamentState) -> tuple[int, int, int] | None:
    """Return the same pair while its user cannot tell; else the champion and the next arm.

    The arms come up in an order drawn at the start, which is the same in law as drawing each
    challenger at random from those that are left: nothing so far has depended on their order.
    """
    if state.match is not None:
        user, i, j = state.match
        if state.candidates[user, i] and state.candidates[user, j]:
            return state.match
        if state.candidates[user].sum() > 1:
            champion = i if state.candidates[user, i] else j
            return user, champion, next(arm for arm in _in_order(state, user) if arm != champion)
    open_ = state.candidates.sum(axis=1) > 1
    if not open_.any():
        return None
    user = int(open_.argmax())
    champion, challenger = _in_order(state, user)[:2]
    return user, champion, challenger


def _in_order(state: TournamentState, user: int) -> list[int]:
    """Return the arms that are still in for a user, in the order in which they come up."""
    return [arm for arm in state.order[user].tolist() if state.candidates[user, arm]]
