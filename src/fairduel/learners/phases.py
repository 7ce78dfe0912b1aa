"""What the paper's learners share: identify the winners first, then compare arms with them.

Under Borda scores there is nobody to identify, and all arms are compared with each other.
"""

from __future__ import annotations

import math

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError
from fairduel.inference.estimates import empirical_borda, guessed_scores
from fairduel.learners.tournament import Tournament, TournamentState
from fairduel.scorings import check_learnable
from fairduel.tally import Tally
from fairduel.welfare import Welfare

# What the paper's printed numbers were made with: twice the delta of Theorem 4.2, no split over
# users, each comparison round judged by its own duels, and a loser out for every user who is sure.
AS_RUN_TOURNAMENT = Tournament(
    confidence_scale=1.0, split_over_users=False, pool_rounds=False, eliminate_for_all=True
)


def check_exploration(constant: float) -> None:
    """Refuse a constant in front of L or epsilon_t that is not positive."""
    if not isinstance(constant, int | float | np.number) or not 0.0 < constant < math.inf:
        raise InputError(f"exploration is {constant!r}: it must be a positive number.")


def check_winners(winners: tuple[int, ...] | None, users: int, arms: int) -> Ints | None:
    """Return known winners as an array: one arm for each user."""
    if winners is None:
        return None
    if len(winners) != users:
        raise InputError(f"{len(winners)} winners are given for {users} users: give one for each.")
    for user, arm in enumerate(winners):
        if not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
            raise InputError(
                f"winners[{user}] is {arm}, but there are {arms} arms: use 0 to {arms - 1}."
            )
    return np.array(winners, np.int64)


def winner_pairs(winners: Ints, arms: int, repeat: bool) -> Ints:
    """Return every (a, a*) with a* a winner and a another arm (Algorithm 1, line 3).

    Two arms that are both winners come twice, once for either, if ``repeat``.
    """
    pairs = [(a, w) for w in np.unique(winners) for a in range(arms) if a != w]
    if not repeat:
        known = set(winners.tolist())
        pairs = [(a, w) for a, w in pairs if not (a in known and a < w)]
    return np.array(pairs, np.int64).reshape(-1, 2)


def check_borda(scoring: str, winners: tuple[int, ...] | None) -> None:
    """Refuse scorings that cannot be learned, and winners where they are of no use."""
    if check_learnable(scoring) == "borda" and winners is not None:
        raise InputError(
            "winners are given, which the scoring borda has no use for: leave them out, or use "
            "the scoring condorcet."
        )


def all_pairs(arms: int) -> Ints:
    """Return every pair of arms once."""
    return np.column_stack(np.triu_indices(arms, 1)).astype(np.int64)


def guess(
    welfare: Welfare,
    tournament: Tournament,
    state: TournamentState,
    later: Tally | None,
    scoring: str,
) -> Floats:
    """Return the best policy given all answers so far, before the learner itself decides."""
    wins = state.tally.wins if later is None else state.tally.wins + later.wins
    if scoring == "borda":
        return welfare.maximize(empirical_borda(wins)).policy
    return welfare.maximize(guessed_scores(wins, tournament.winners(state))).policy
