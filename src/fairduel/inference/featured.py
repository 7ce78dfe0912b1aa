"""Arms with features: strengths that are partly linear in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairduel._arrays import Floats
from fairduel.inference.alike import Alike, Fit, evenly, laplace, posterior_of
from fairduel.inference.independent import known_winners

SPREADS = (1.0, 2.5)  # of strengths, in log-odds
OWN = (1.0, 0.3, 0.03)  # parts of the variance that features say nothing about
DRAWS = 128


def infer_featured(
    wins: Floats, features: Floats, winners: Sequence[int | None] | None = None
) -> Alike:
    """Return the posterior given ``wins`` (D, K, K) of arms with ``features`` (K, F).

    theta_d = X beta_d and a part of every arm's own: a covariance between arms of
    (1 - q) X X' + q I, the features scaled to mean 0 and the diagonal to mean 1. Spread and q are
    not known, but the same for all users, and weighted by Laplace's evidence. With q = 1 the
    features say nothing. The same answers always give the same posterior.
    """
    users, arms, _ = wins.shape
    kinds = [(s, between_arms(features, q)) for q in OWN for s in SPREADS]
    fits = [[_fit(wins[d : d + 1], s, between) for d in range(users)] for s, between in kinds]
    evidence = np.array([sum(fit.log_evidence for fit in kind) for kind in fits])
    weights = np.exp(evidence - evidence.max())
    total = float(evidence.max() + np.log(weights.mean()))
    weights /= weights.sum()
    rng = np.random.default_rng(round(2.0 * float(wins.sum())))
    parts = np.searchsorted(weights.cumsum()[:-1], rng.permuted(evenly(DRAWS // 2, rng)))
    shifts = np.array([[fit.draw(rng)[0] for fit in fits[part]] for part in parts])
    modes = np.array([[fit.mode[0] for fit in fits[part]] for part in parts])
    return posterior_of(
        wins,
        known_winners(winners, users),
        weights,
        strengths=np.stack([modes + shifts, modes - shifts], axis=1).reshape(-1, users, arms),
        shifts=np.stack([shifts, -shifts], axis=1).reshape(-1, users, arms),
        log_evidence=total,
    )


def between_arms(features: Floats, own: float) -> Floats:
    """Return the covariance (K, K) of arms, whose own part of the variance is ``own``."""
    scaled = features - features.mean(axis=0)
    scaled = scaled / np.maximum(scaled.std(axis=0), 1e-12)
    product = scaled @ scaled.T
    shared = product / max(float(np.diag(product).mean()), 1e-12)
    return np.asarray((1.0 - own) * shared + own * np.eye(len(features)))


def _fit(wins: Floats, spread: float, between: Floats) -> Fit:
    one = np.array([[spread**2]])
    return laplace(wins, one, np.zeros(wins.shape[:2]), between_arms=between)
