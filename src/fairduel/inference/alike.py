"""People who may be alike: strengths that are correlated between users, as the answers say.

Where everybody answers the same duels, who resembles whom teaches nothing new. Where each user has
answered a few questions of their own, it does: two people who agree on what both were asked
probably agree on the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.inference.independent import known_winners
from fairduel.inference.posterior import DRAWS, evenly_spaced
from fairduel.inference.strengths import Strengths, infer_strengths

SPREADS = (1.0, 2.5)  # of strengths, in log-odds
SHARED = 0.2  # correlation of any two users beforehand
TRUST = 10.0  # arms that what is expected beforehand of correlations is worth
STEPS = 5  # of learning correlations
LARGEST = 400  # users times arms: beyond it users are taken one by one
MOST_STEPS = 100  # of Newton's method; a handful is usual
CLOSE = 1e-4  # to the mode: the last step, in log-odds, whose square is what is left


@dataclass(frozen=True, eq=False)
class Alike(Strengths):
    """The posterior of users with correlated strengths, as draws from it.

    The strengths of one arm, theta[:, k], are normal with covariance R (D, D), independently of
    those of other arms. R is that of unrelated users, or is learned by a few steps of expectation
    maximisation from ``TRUST`` arms' worth of weakly alike users; either with two spreads, the
    four weighted by Laplace's evidence. (That of a learned R is its density at the mode: an
    approximation that measurements justify, see docs/fair-voi.md.)
    """

    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K) from those kept."""
        return evenly_spaced(self.drawn, n, rng)


def infer_alike(wins: Floats, winners: Sequence[int | None] | None = None) -> Strengths:
    """Return the posterior of strengths given ``wins`` (D, K, K), with users who may be alike.

    The same answers always give the same posterior, its draws among them.
    """
    users, arms, _ = wins.shape
    seed = round(2.0 * float(wins.sum()))
    if users * arms > LARGEST or users == 1:
        return infer_strengths(wins, winners, seed)
    fits = [_fit(wins, spread, learned) for learned in (False, True) for spread in SPREADS]
    evidence = np.array([fit.log_evidence for fit in fits])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    rng = np.random.default_rng(seed)
    parts = np.searchsorted(weights.cumsum()[:-1], rng.permuted(evenly(DRAWS // 2, rng)))
    shifts = np.stack([fits[part].draw(rng) for part in parts])
    modes = np.stack([fits[part].mode for part in parts])
    return posterior_of(
        wins,
        known_winners(winners, users),
        weights,
        # Each draw is followed by its mirror image, so that the first few are good ones too.
        strengths=np.stack([modes + shifts, modes - shifts], axis=1).reshape(-1, users, arms),
        shifts=np.stack([shifts, -shifts], axis=1).reshape(-1, users, arms),
        log_evidence=float(evidence.max() + np.log(np.exp(evidence - evidence.max()).mean())),
    )


def evenly(n: int, rng: np.random.Generator) -> Floats:
    """Draw n variates, one in every n-th part of [0, 1]."""
    return np.asarray((np.arange(n) + rng.random(n)) / n)


def posterior_of(
    wins: Floats, known: Ints, weights: Floats, strengths: Floats, shifts: Floats,
    log_evidence: float,
) -> Alike:  # fmt: skip
    """Return the posterior by draws of strengths (n, D, K), and their deviations from modes."""
    winners = np.where(known >= 0, known, strengths.argmax(axis=2))
    ahead = strengths - np.take_along_axis(strengths, winners[:, :, None], axis=2)
    scores = 2.0 / (1.0 + np.exp(-np.minimum(ahead, 0.0)))
    beats = (strengths[:, :, None, :] >= strengths[:, :, :, None]).mean(axis=0)
    return Alike(
        probabilities=(winners[:, :, None] == np.arange(wins.shape[1])).mean(axis=0),
        log_beats=np.log(np.maximum(beats, 1.0 / (2.0 * len(strengths)))),
        scores=scores.mean(axis=0),
        wins=wins,
        known=known,
        weights=weights,
        strengths=strengths,
        shifts=shifts,
        drawn=scores,
        log_evidence=log_evidence,
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """The mode (D, K) of the strengths, a Cholesky factor of their precision, and the evidence."""

    mode: Floats
    factor: Floats
    log_evidence: float

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw a deviation (D, K) from the mode."""
        from scipy.linalg import solve_triangular

        normals = rng.standard_normal(self.mode.size)
        solved = solve_triangular(self.factor, normals, lower=True, trans="T", check_finite=False)
        return np.asarray(solved.reshape(self.mode.shape))


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


def laplace(
    wins: Floats,
    covariance: Floats,
    mode: Floats,
    most: int = MOST_STEPS,
    between_arms: Floats | None = None,
) -> Fit:
    """Move to the mode by Newton's method, from where it is.

    covariance: (D, D) of users. between_arms: (K, K) that of arms, the identity by default;
    theta[d, i] and theta[e, j] have the product of both.
    """
    from scipy.linalg import cho_solve

    arms = np.eye(mode.shape[1]) if between_arms is None else between_arms
    precision = Precision(inverse(covariance), inverse(arms))
    value = _density(wins, precision, mode)
    for _ in range(most):
        pull, factor = _derivatives(wins, precision, mode)
        step = cho_solve((factor, True), pull.ravel(), check_finite=False).reshape(mode.shape)
        higher = _density(wins, precision, mode + step)
        while higher < value - 1e-9 * abs(value):
            step *= 0.5
            higher = _density(wins, precision, mode + step)
        mode, value = mode + step, higher
        if np.abs(step).max() < CLOSE:
            break
    evidence = value - np.log(np.diag(factor)).sum()
    evidence -= 0.5 * mode.shape[1] * np.linalg.slogdet(covariance)[1]
    evidence -= 0.5 * mode.shape[0] * np.linalg.slogdet(arms)[1]
    return Fit(mode, factor, float(evidence))


@dataclass(frozen=True, eq=False)
class Precision:
    """The inverses of the covariances of users (D, D) and of arms (K, K)."""

    users: Floats
    arms: Floats

    def times(self, theta: Floats) -> Floats:
        return np.asarray(self.users @ theta @ self.arms)


def inverse(covariance: Floats) -> Floats:
    return np.asarray(np.linalg.inv(covariance), np.float64)


def _density(wins: Floats, precision: Precision, theta: Floats) -> float:
    """Return the log of likelihood and prior, but for constants."""
    ahead = theta[:, :, None] - theta[:, None, :]
    return float(
        -(wins * np.logaddexp(0.0, -ahead)).sum() - 0.5 * (theta * precision.times(theta)).sum()
    )


def _derivatives(wins: Floats, precision: Precision, theta: Floats) -> tuple[Floats, Floats]:
    """Return the gradient (D, K), and the Cholesky factor of the negative second derivative."""
    users, arms = theta.shape
    answers = wins + wins.transpose(0, 2, 1)
    chances = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
    weights = answers * chances * (1.0 - chances)
    curved = np.einsum("de,kl->dkel", precision.users, precision.arms)
    each = np.arange(users)
    curved[each, :, each, :] += weights.sum(axis=2)[:, :, None] * np.eye(arms) - weights
    pull = (wins - answers * chances).sum(axis=2) - precision.times(theta)
    return pull, np.linalg.cholesky(curved.reshape(users * arms, users * arms))
