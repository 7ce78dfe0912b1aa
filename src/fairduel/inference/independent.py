"""Independent pairs: a Beta posterior for every pair of arms and user, given a winner exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.inference.posterior import DRAWS, Posterior, stratified

JEFFREYS = 0.5  # prior answers for either arm of a pair


@dataclass(frozen=True, eq=False)
class IndependentPairs(Posterior):
    """The posterior of independent pairs, which knows the law of its scores.

    wins: (D, K, K) answers for k over w at [d, k, w], the prior's among them.
    """

    wins: Floats

    def sample(self, rng: np.random.Generator) -> Floats:
        """Draw scores (DRAWS, D, K) from the posterior: winners w, then 2 P[k, w] given them.

        Given w, its pairs are independent, and all that is known of them is that k loses.
        """
        users, winners = np.arange(len(self.wins)), self._draw_winners(rng)
        won, lost = self.wins[users, :, winners], self.wins[users, winners, :]
        scores = 2.0 * draw_below_half(won, lost, rng)
        np.put_along_axis(scores, winners[:, :, None], 1.0, axis=2)
        return scores

    def _draw_winners(self, rng: np.random.Generator) -> Ints:
        """Draw winners (DRAWS, D)."""
        edges = self.probabilities.cumsum(axis=1)[:, :-1]
        spins = stratified(DRAWS, len(edges), rng)
        return np.asarray((edges < spins[:, :, None]).sum(axis=2))


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
    return IndependentPairs(*posterior.posterior(wins, known, prior), wins + prior)


def draw_below_half(a: Floats, b: Floats, rng: np.random.Generator) -> Floats:
    """Draw X ~ Beta(a, b) given X < 1/2, exactly, by rejection.

    Where that is likely, from Beta(a, b). Where it is not, by t = log((1 - X) / X) > 0, whose
    density is in proportion to exp(-tilt t) / cosh(t / 2)^n and so below that of an exponential.
    """
    shape, a, b = a.shape, a.ravel(), b.ravel()
    n, tilt = a + b, 0.5 * (a - b)
    likely = tilt < 0.25 * np.sqrt(n)
    drawn = np.ones(a.size)
    some, rest = np.flatnonzero(likely), np.flatnonzero(~likely)
    while some.size:
        drawn[some] = rng.beta(a[some], b[some])
        some = some[drawn[some] > 0.5]
    while rest.size:
        t = rng.standard_exponential(rest.size) / tilt[rest]
        accepted = rng.standard_exponential(rest.size) > n[rest] * np.log(np.cosh(0.5 * t))
        drawn[rest] = 1.0 / (1.0 + np.exp(t))
        rest = rest[~accepted]
    return drawn.reshape(shape)
