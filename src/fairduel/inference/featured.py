"""Arms with features: strengths that are partly linear in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairduel._arrays import Floats
from fairduel._threads import one_thread
from fairduel.inference.correlated import Correlated, Fit, infer_kinds, laplace

SPREADS = (1.0, 2.5)  # of strengths, in log-odds
OWN = (1.0, 0.3, 0.03)  # parts of the variance that features say nothing about
DRAWS = 128


def infer_featured(
    wins: Floats, features: Floats, winners: Sequence[int | None] | None = None
) -> Correlated:
    """Return the posterior given ``wins`` (D, K, K) of arms with ``features`` (K, F).

    theta_d = X beta_d and a part of every arm's own: a covariance between arms of
    (1 - q) X X' + q I, the features scaled to mean 0 and the diagonal to mean 1. Spread and q are
    not known, but the same for all users, and weighted by Laplace's evidence. With q = 1 the
    features say nothing. The same answers always give the same posterior.
    """
    with one_thread():
        kinds = [
            [_fit(wins[d : d + 1], spread, between) for d in range(len(wins))]
            for between in (between_arms(features, own) for own in OWN)
            for spread in SPREADS
        ]
        return infer_kinds(wins, winners, kinds, DRAWS)


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
