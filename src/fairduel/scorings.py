"""Scorings: what each arm is worth to a user, from how likely the user prefers it to others.

Each is a function from preferences (D, K, K), or of one user (K, K), to scores in [0, 1], of which
a user's best arm has 1. ``SCORINGS`` has them by name. For two arms all but Copeland are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel.errors import InputError


class Scoring(NamedTuple):
    """A scoring: the function, and what it is for in a sentence."""

    score: Callable[[Floats], Floats]
    summary: str


def condorcet(preferences: Floats) -> Floats:
    """Return 2 P[k, w], w being the user's Condorcet winner (Section 3.2)."""
    winning = beats_all(preferences)
    if not winning.any(axis=-1).all():
        raise InputError(
            "some user has no Condorcet winner (an arm preferred to every other arm with "
            "probability above 1/2): take a scoring that needs none, like borda."
        )
    return _against(preferences, winning.argmax(axis=-1))


def maximin(preferences: Floats) -> Floats:
    """Return min(1, 2 P[k, w]), w being the arm whose worst duel is best: a winner, if any."""
    winning, worst = beats_all(preferences), preferences.min(axis=-1)
    best = np.where(winning.any(axis=-1, keepdims=True), winning, worst).argmax(axis=-1)
    return _against(preferences, best)


def borda(preferences: Floats) -> Floats:
    """Return 1 - (max b - b[k]), b[k] being the mean of P[k, j] over all other arms j."""
    return _below_best(preferences.sum(axis=-1), preferences.shape[-1])


def copeland(preferences: Floats) -> Floats:
    """Return 1 - (max c - c[k]), c[k] being the share of other arms that k beats; ties are half."""
    return _below_best(np.sign(preferences - 0.5).sum(axis=-1) / 2, preferences.shape[-1])


SCORINGS = {
    "condorcet": Scoring(
        condorcet, "How an arm does against the user's Condorcet winner, as in the paper."
    ),
    "maximin": Scoring(
        maximin,
        "The same where there is no such winner: against the arm whose worst duel is best.",
    ),
    "borda": Scoring(
        borda,
        "How an arm does against all others on average: second choices count, and those of a "
        "stated order by their places.",
    ),
    "copeland": Scoring(
        copeland,
        "How many others an arm beats, however narrowly: what many expect of duels, but it jumps "
        "where a duel is even, so no learner learns it.",
    ),
}


def check_scoring(scoring: object) -> str:
    """Return the name of a scoring if there is one of that name."""
    if not isinstance(scoring, str) or scoring not in SCORINGS:
        names = list(SCORINGS)
        raise InputError(f"the scoring is {scoring!r}: use {', '.join(names[:-1])} or {names[-1]}.")
    return scoring


def check_learnable(scoring: object) -> str:
    """Return the name of a scoring if learners can learn it."""
    if check_scoring(scoring) == "copeland":
        raise InputError(
            "no learner learns copeland scores, which jump where a duel is even: give a learner "
            "the scoring condorcet, maximin or borda."
        )
    return str(scoring)


def beats_all(preferences: Floats) -> Bools:
    """Return (D, K) whether an arm is preferred to every other arm."""
    # Both directions, so that numbers reciprocal only nearly still have at most one winner.
    beats = (preferences > 0.5) & (np.swapaxes(preferences, -1, -2) < 0.5)
    everyone: Bools = beats.sum(axis=-1) == preferences.shape[-1] - 1
    return everyone


def _against(preferences: Floats, arms: Ints) -> Floats:
    """Return min(1, 2 P[k, w]), w being each user's of ``arms``."""
    chances = np.take_along_axis(preferences, arms[..., None, None], axis=-1)[..., 0]
    return np.minimum(1.0, 2.0 * chances)


def _below_best(sums: Floats, arms: int) -> Floats:
    """Return scores by what arms have of the K - 1 others in sum; only differences count."""
    behind = sums.max(axis=-1, keepdims=True) - sums
    return np.asarray(1.0 - behind / max(arms - 1, 1))
