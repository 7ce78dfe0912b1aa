"""People who may be alike: strengths that are correlated between users, as the answers say.

``Strengths`` knows one correlation for all. Where each user has answered a few questions of their
own, it pays to learn who resembles whom: two people who agree on what both were asked probably
agree on the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairduel._arrays import Floats
from fairduel._threads import one_thread
from fairduel.inference.correlated import MOST_STEPS, Fit, infer_kinds, laplace
from fairduel.inference.independent import infer_pairs
from fairduel.inference.mixed import weigh
from fairduel.inference.posterior import DRAWS, Posterior
from fairduel.inference.strengths import Strengths, infer_strengths

SPREADS = (1.0, 2.5)  # of strengths, in log-odds
SHARED = 0.2  # correlation of any two users beforehand
TRUST = 10.0  # arms that what is expected beforehand of correlations is worth
STEPS = 5  # of learning correlations
LARGEST = 400  # users times arms: beyond it users are taken one by one


def infer_votes(
    wins: Floats, alike: Strengths, winners: Sequence[int | None] | None = None
) -> Posterior:
    """Return the posterior of people who may be alike, or of independent pairs, by evidence."""
    return weigh(alike, infer_pairs(wins, winners))


def infer_alike(wins: Floats, winners: Sequence[int | None] | None = None) -> Strengths:
    """Return the posterior of strengths given ``wins`` (D, K, K), with users who may be alike.

    The strengths of one arm, theta[:, k], are normal with covariance R (D, D), independently of
    those of other arms. R is that of unrelated users, or is learned by a few steps of expectation
    maximisation from ``TRUST`` arms' worth of weakly alike users; either with two spreads, the
    four weighted by Laplace's evidence. (That of a learned R is its density at the mode: an
    approximation that measurements justify, see docs/fair-voi.md.)
    """
    users, arms, _ = wins.shape
    if users * arms > LARGEST or users == 1:
        return infer_strengths(wins, winners, round(2.0 * float(wins.sum())))
    with one_thread():
        kinds = [[_fit(wins, spread, learned)] for learned in (False, True) for spread in SPREADS]
        return infer_kinds(wins, winners, kinds, DRAWS)


def _fit(wins: Floats, spread: float, learned: bool) -> Fit:
    """Fit strengths by Laplace's method, with unrelated users or with learned correlations.

    E step: the posterior of theta given R. M step: R is the mean of theta theta' over arms, and
    over ``TRUST`` more of what was expected beforehand (an inverse Wishart prior).
    """
    from scipy.linalg import cho_solve

    users, arms, _ = wins.shape
    before = spread**2 * np.eye(users)
    if not learned:
        return laplace(wins, before, np.zeros((users, arms)))
    before = spread**2 * ((1.0 - SHARED) * np.eye(users) + SHARED)
    covariance = before
    fit = laplace(wins, covariance, np.zeros((users, arms)))
    for step in range(STEPS):
        spread_out = cho_solve((fit.factor, True), np.eye(users * arms), check_finite=False)
        seen = fit.mode @ fit.mode.T
        seen += np.einsum("dkek->de", spread_out.reshape(users, arms, users, arms))
        covariance = (TRUST * before + seen) / (TRUST + arms)
        # On the way there a step towards the mode will do: it moves with the covariance.
        fit = laplace(wins, covariance, fit.mode, MOST_STEPS if step == STEPS - 1 else 1)
    away = np.trace(np.linalg.solve(covariance, before)) - users
    away += np.linalg.slogdet(covariance)[1] - np.linalg.slogdet(before)[1]
    return replace(fit, log_evidence=fit.log_evidence - 0.5 * TRUST * float(away))
