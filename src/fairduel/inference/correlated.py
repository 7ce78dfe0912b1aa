"""Strengths that are correlated, between users or between arms: fitted, weighed and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.inference.independent import known_winners
from fairduel.inference.posterior import DRAWS, by_evidence, evenly_spaced
from fairduel.inference.strengths import Strengths

MOST_STEPS = 100  # of Newton's method; a handful is usual
CLOSE = 1e-4  # to the mode: the last step, in log-odds, whose square is what is left


@dataclass(frozen=True, eq=False)
class Correlated(Strengths):
    """The posterior of users with correlated strengths, as draws from it."""

    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K) from those kept."""
        return evenly_spaced(self.drawn, n, rng)


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


def infer_kinds(
    wins: Floats,
    winners: Sequence[int | None] | None,
    kinds: Sequence[Sequence[Fit]],
    draws: int,
) -> Correlated:
    """Return the posterior if strengths are of one of several kinds, weighed by their evidence.

    kinds: of each the fits to all users together, or to one after the other. draws: how many to
    keep. The same answers always give the same posterior, its draws among them.
    """
    users, arms, _ = wins.shape
    weights, total = by_evidence(
        np.array([sum(fit.log_evidence for fit in kind) for kind in kinds])
    )
    rng, half = np.random.default_rng(round(2.0 * float(wins.sum()))), draws // 2
    even = (np.arange(half) + rng.random(half)) / half
    drawn = [kinds[kind] for kind in np.searchsorted(weights.cumsum()[:-1], rng.permuted(even))]
    shifts = np.stack([np.concatenate([fit.draw(rng) for fit in kind]) for kind in drawn])
    modes = np.stack([np.concatenate([fit.mode for fit in kind]) for kind in drawn])
    # Each draw is followed by its mirror image, so that the first few are good ones too.
    strengths = np.stack([modes + shifts, modes - shifts], axis=1).reshape(-1, users, arms)
    known = known_winners(winners, users)
    best = np.where(known >= 0, known, strengths.argmax(axis=2))
    ahead = strengths - np.take_along_axis(strengths, best[:, :, None], axis=2)
    scores = 2.0 / (1.0 + np.exp(-np.minimum(ahead, 0.0)))
    beats = np.stack(  # of users one by one, to save memory
        [(own[:, None, :] >= own[:, :, None]).mean(axis=0) for own in strengths.transpose(1, 0, 2)]
    )
    return Correlated(
        probabilities=(best[:, :, None] == np.arange(arms)).mean(axis=0),
        log_beats=np.log(np.maximum(beats, 1.0 / (2.0 * len(strengths)))),
        scores=scores.mean(axis=0),
        wins=wins,
        known=known,
        weights=weights,
        strengths=strengths,
        shifts=np.stack([shifts, -shifts], axis=1).reshape(-1, users, arms),
        drawn=scores,
        log_evidence=total,
    )


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
    compared = np.nonzero(wins)  # most pairs of many arms never were
    value = _density(wins, compared, precision, mode)
    for _ in range(most):
        pull, factor = _derivatives(wins, precision, mode)
        step = cho_solve((factor, True), pull.ravel(), check_finite=False).reshape(mode.shape)
        higher = _density(wins, compared, precision, mode + step)
        while higher < value - 1e-9 * abs(value):
            step *= 0.5
            higher = _density(wins, compared, precision, mode + step)
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


def _density(
    wins: Floats, compared: tuple[Ints, ...], precision: Precision, theta: Floats
) -> float:
    """Return the log of likelihood and prior, but for constants."""
    user, i, j = compared
    behind = theta[user, j] - theta[user, i]
    likelihood = -(wins[user, i, j] * np.logaddexp(0.0, behind)).sum()
    return float(likelihood - 0.5 * (theta * precision.times(theta)).sum())


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
