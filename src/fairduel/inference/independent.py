"""Independent pairs: a Beta posterior for every pair of arms and user, given a winner exists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairduel._arrays import Floats
from fairduel.inference.posterior import Posterior

JEFFREYS = 0.5  # prior answers for either arm of a pair


def infer(
    wins: Floats, winners: Sequence[int | None] | None = None, prior: float = JEFFREYS
) -> Posterior:
    """Return the posterior given ``wins`` (D, K, K).

    winners: those users' winners that are known. prior: the answers for either arm of each pair
    that stand for what is known beforehand; default: Jeffreys' prior.
    """
    from fairduel.kernels import posterior

    given = [None] * len(wins) if winners is None else winners
    known = np.array([-1 if w is None else w for w in given], np.int64)
    log_beats, means, stds, probabilities, scores, variances = posterior.posterior(
        wins, known, prior
    )
    counts = wins + wins.transpose(0, 2, 1) + 2.0 * prior
    return Posterior(probabilities, log_beats, means, stds, scores, variances, counts)
