"""Independent pairs: a Beta posterior for every pair of arms and user, given a winner exists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.inference.posterior import DRAWS, Posterior, stratified

JEFFREYS = 0.5  # prior answers for either arm of a pair
AT_ONCE = 2_000_000  # scores: more are drawn one part after the other, to save memory


@dataclass(frozen=True, eq=False)
class IndependentPairs(Posterior):
    """The posterior of independent pairs, in closed form.

    means, stds: (D, K, K) of d's score of k if w is the winner, at [d, k, w]. variances: (D, K) of
    the scores, over all winners. counts: (D, K, K) the number of answers, the prior's among them,
    that what is known of a pair is worth. wins: (D, K, K) answers for k over w, the prior's among
    them.
    """

    means: Floats
    stds: Floats
    variances: Floats
    counts: Floats
    wins: Floats

    def draw(self, shares: Floats, rng: np.random.Generator) -> tuple[Floats, Ints, Floats]:
        """Draw what the mean scores may become when these shares of the variance are resolved.

        Returns, for two draws (mirror images) per share: scores (2n, D, K), the winners (2n, D) in
        them, and the shifts (2n, D, K) of the scores given these winners. Scores are taken to be
        normal given the winner, and cut off at 1.
        """
        from fairduel.kernels import posterior

        n, (users, arms) = len(shares), self.scores.shape
        spins = stratified(n, users, rng)
        normals = rng.standard_normal((n, users, arms))
        drawn: tuple[Floats, Ints, Floats] = posterior.draw(
            self.scores, self.probabilities, self.means, self.stds, shares, spins, normals
        )
        return drawn

    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K): winners w, then 2 P[k, w] given them, exactly.

        Given w, its pairs are independent, and all that is known of them is that k loses.
        """
        users, winners = np.arange(len(self.wins)), self._draw_winners(rng, n)
        scores = np.empty((n, *self.scores.shape))
        most = max(1, AT_ONCE // self.scores.size)
        for start in range(0, n, most):
            some = winners[start : start + most]
            won, lost = self.wins[users, :, some], self.wins[users, some, :]
            scores[start : start + most] = 2.0 * draw_below_half(won, lost, rng)
        np.put_along_axis(scores, winners[:, :, None], 1.0, axis=2)
        return scores

    @cached_property
    def log_evidence(self) -> float:
        """The log of the probability of the answers, given that all users have a winner."""
        from scipy.special import betaln

        users, arms, _ = self.wins.shape
        prior = float(self.wins[0, 0, 0])  # a diagonal holds nothing else
        i, j = np.triu_indices(arms, 1)
        pairs = betaln(self.wins[:, i, j], self.wins[:, j, i]) - betaln(prior, prior)
        winner_exists = np.logaddexp.reduce(self.log_beats.sum(axis=1), axis=1)
        halves = min(arms - 1, 1000)  # the power of more is too small a number
        before = math.log(arms * 0.5**halves) - (arms - 1 - halves) * math.log(2.0)
        return float(pairs.sum() + winner_exists.sum() - users * before)

    def _draw_winners(self, rng: np.random.Generator, n: int) -> Ints:
        """Draw winners (n, D)."""
        edges = self.probabilities.cumsum(axis=1)[:, :-1]
        spins = stratified(n, len(edges), rng)
        return np.asarray((edges < spins[:, :, None]).sum(axis=2))


def infer_pairs(
    wins: Floats, winners: Sequence[int | None] | None = None, prior: float = JEFFREYS
) -> IndependentPairs:
    """Return the posterior given ``wins`` (D, K, K).

    winners: those users' winners that are known. prior: the answers for either arm of each pair
    that stand for what is known beforehand; default: Jeffreys' prior.
    """
    from fairduel.kernels import posterior

    probabilities, log_beats, means, stds, scores, variances, counts = posterior.posterior(
        wins, known_winners(winners, len(wins)), prior
    )
    return IndependentPairs(
        probabilities, log_beats, scores, means, stds, variances, counts, wins + prior
    )


def known_winners(winners: Sequence[int | None] | None, users: int) -> Ints:
    """Return every user's winner as far as it is known, and else -1."""
    given = [None] * users if winners is None else winners
    return np.array([-1 if w is None else w for w in given], np.int64)


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
