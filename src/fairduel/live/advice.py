"""What to choose, and whom to ask what, from the votes that people gave each on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import whole_number
from fairduel.errors import InputError
from fairduel.inference import (
    Estimates,
    Posterior,
    Preferences,
    Strengths,
    estimate_utilities,
    infer_preferences,
)
from fairduel.inference.alike import infer_alike, infer_votes
from fairduel.inference.featured import infer_featured
from fairduel.inference.posterior import blank_or_not
from fairduel.inference.size import check_size
from fairduel.learners.learner import Outlook
from fairduel.learners.voi.candidates import candidates
from fairduel.learners.voi.learner import FairVOI, check_features, check_known
from fairduel.learners.voi.prospects import prospects
from fairduel.learners.voi.value import gains_by_user
from fairduel.offers import Mix
from fairduel.scorings import check_learnable
from fairduel.tally import Tally
from fairduel.welfare import Nash, Welfare
from fairduel.welfare.welfare import check_welfare

ENDLESS = 10**15  # the horizon for learners that do not look at it


@dataclass(frozen=True, eq=False)
class Advice:
    """What the votes say now.

    policy: (K,) how often to choose each arm. estimates: what each user gets from it. favourites:
    (D,) each user's likeliest winner, -1 for users who have said nothing. outlook: how good the
    policy is expected to be, and what ten more answers of each would add. worth: (D, K, K) what
    user d's answer on the pair i, j is worth, as a share of the best welfare; symmetric.
    """

    policy: Floats
    estimates: Estimates
    favourites: Ints
    outlook: Outlook
    worth: Floats


def advise(
    wins: Floats,
    *,
    welfare: Welfare | None = None,
    winners: Sequence[int | None] | None = None,
    scoring: str = "condorcet",
    features: Floats | None = None,
    seed: int = 0,
) -> Advice:
    """Return what votes say: ``wins[d, i, j]`` is how often user d preferred i to j.

    A tie is half a win each. Users may be alike, which the votes show. winners: those users'
    winners that are known. scoring: by which arms are scored; under others than the paper's, users
    are taken one by one. features: (K, F) numbers that describe arms, if there are any; users are
    taken one by one then too. The same votes and seed give the same advice.
    """
    wins = check_wins(wins)
    users, arms, _ = wins.shape
    check_size(users, arms)
    welfare = Nash() if welfare is None else welfare
    check_welfare(welfare)
    seed = whole_number("the seed", seed, 0)
    if features is not None:
        features = np.array(check_features(features, scoring))
    check_known(winners, features, users, arms)
    rng = np.random.default_rng([seed, round(2.0 * float(wins.sum()))])
    inferred, worthy = _infer(wins, winners, scoring, features)
    posterior = inferred if features is not None else blank_or_not(inferred, wins, winners)
    policy = candidates(posterior, welfare, rng)[0][0]
    estimates = estimate_utilities(posterior, policy, posterior.sample(rng))
    gains, speeds = gains_by_user(worthy, welfare, policy)
    worth = gains * speeds
    return Advice(
        policy=policy,
        estimates=estimates,
        favourites=find_favourites(estimates, wins, winners),
        outlook=prospects(posterior, welfare, policy, wins.sum(axis=(1, 2)), rng),
        worth=worth + worth.transpose(0, 2, 1),
    )


def advise_duel(
    wins: Floats, plays: Ints, *, welfare: Welfare | None = None, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return the policies from which to draw the two arms that everybody compares next.

    ``plays[i, j]`` is how often everybody was shown i and j. The policies are those of ``FairVOI``
    without a horizon, which decides anew by all that was played and answered so far.
    """
    wins = check_wins(wins)
    learner = FairVOI(welfare or Nash(), anytime=True)
    users, arms, _ = wins.shape
    state = learner.init(users, arms, ENDLESS, seed)
    play, _ = learner.ask(learner.tell(state, Tally(plays, wins)))
    assert isinstance(play, Mix)
    return play.left, play.right


def check_wins(wins: Any, users: int | None = None, arms: int | None = None) -> Floats:
    """Return votes (D, K, K) that may be counted; users, arms: how many there are, if known."""
    try:
        found = np.array(wins, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "the votes are no array of numbers: give wins[d, i, j], how often user d preferred arm "
            "i to arm j, for all users and arms."
        ) from None
    if users is None or arms is None:
        _check_axes(found)
    elif found.shape != (users, arms, arms):
        raise InputError(
            f"the votes have shape {found.shape}: give ({users}, {arms}, {arms}), as there are "
            f"{users} users and {arms} arms."
        )
    if not np.isfinite(found).all() or (found < 0.0).any():
        raise InputError("some numbers of votes are negative or no number: count votes from 0 on.")
    each = np.arange(found.shape[1])
    found[:, each, each] = 0.0
    return found


def _check_axes(wins: Floats) -> None:
    if wins.ndim != 3 or wins.shape[1] != wins.shape[2] or not wins.size:
        raise InputError(
            f"the votes have shape {wins.shape}: give one like (2, 3, 3) for 2 users and 3 arms."
        )


def _infer(
    wins: Floats,
    winners: Sequence[int | None] | None,
    scoring: str,
    features: Floats | None,
) -> tuple[Posterior, Strengths | Preferences]:
    """Return the posterior, and the part of it that says what answers are worth."""
    if check_learnable(scoring) != "condorcet":
        found = infer_preferences(wins, scoring, round(2.0 * float(wins.sum())))
        return found, found
    if features is not None:
        linear = infer_featured(wins, features, winners)
        return linear, linear
    alike = infer_alike(wins, winners)
    return infer_votes(wins, alike, winners), alike


def find_favourites(
    estimates: Estimates, wins: Floats, winners: Sequence[int | None] | None
) -> Ints:
    """Return each user's likeliest winner, -1 where nothing is said of any arm against another."""
    silent = (wins == wins.transpose(0, 2, 1)).all(axis=(1, 2)) & (wins.shape[1] > 1)
    if winners is not None:
        silent &= np.array([winner is None for winner in winners])
    return np.where(silent, -1, estimates.references)
