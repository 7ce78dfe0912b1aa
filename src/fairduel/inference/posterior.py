"""The posterior: what is known of every user's winner and scores, under any model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints

CYCLE = 0.05  # a reference arm that beats some other arm less surely is no clear winner
DRAWS = 400  # in a sample, with their mirror images


@dataclass(frozen=True, eq=False)
class Posterior:
    """Every user's preferences given the answers, and given that there is a winner.

    This is all that learners and sessions see of a model of preferences: another model fills in
    the same arrays, and may draw in its own way.

    probabilities: (D, K) that arm w is user d's winner. log_beats: (D, K, K) the log of the
    probability that w beats k, at [d, k, w]. means, stds: (D, K, K) of d's score of k if w is the
    winner. scores, variances: (D, K) mean and variance of the scores, over all winners.
    counts: (D, K, K) the number of answers, the prior's among them, that what is known of a pair
    is worth.
    """

    probabilities: Floats
    log_beats: Floats
    means: Floats
    stds: Floats
    scores: Floats
    variances: Floats
    counts: Floats

    def draw(self, shares: Floats, rng: np.random.Generator) -> tuple[Floats, Ints, Floats]:
        """Draw what the mean scores may become when these shares of the variance are resolved.

        Returns, for two draws (mirror images) per share: scores (2n, D, K), the winners (2n, D) in
        them, and the shifts (2n, D, K) of the scores given these winners.
        """
        from fairduel.kernels import posterior

        n, (users, arms) = len(shares), self.scores.shape
        spins = stratified(n, users, rng)
        normals = rng.standard_normal((n, users, arms))
        drawn: tuple[Floats, Ints, Floats] = posterior.draw(
            self.scores, self.probabilities, self.means, self.stds, shares, spins, normals
        )
        return drawn

    def sample(self, rng: np.random.Generator) -> Floats:
        """Draw scores (DRAWS, D, K) from the posterior: all of the variance is resolved.

        As normal, with the right mean and standard deviation, and cut off at 1; a model that knows
        their law draws from it instead.
        """
        return self.draw(np.ones(DRAWS // 2), rng)[0]


def stratified(n: int, users: int, rng: np.random.Generator) -> Floats:
    """Draw uniform variates (n, D): of each user's, one falls into every n-th part of [0, 1]."""
    strata = rng.permuted(np.tile(np.arange(n), (users, 1)), axis=1).T
    return np.asarray((strata + rng.random((n, users))) / n)


@dataclass(frozen=True, eq=False)
class Estimates:
    """What each user gets from a policy; 1 is the user's own favourite all the time.

    utilities, low, high: (D,) the mean, and the interval that holds it with probability 95 %.
    references: (D,) the arm that each user's scores are relative to, the likeliest to beat all
    others. without_winner: the users whose reference loses to some arm almost surely, so that
    they seem to have no favourite that beats all others.
    """

    utilities: Floats
    low: Floats
    high: Floats
    references: Ints
    without_winner: tuple[int, ...]


def estimate_utilities(posterior: Posterior, policy: Floats, sample: Floats) -> Estimates:
    """Return users' utilities under any policy, with intervals from a sample of the posterior."""
    utilities = posterior.scores @ policy
    # "weibull": between these two of n draws one more draw falls with probability 95 % exactly.
    low, high = np.quantile(sample @ policy, [0.025, 0.975], axis=0, method="weibull")
    references = posterior.probabilities.argmax(axis=1)
    surest = posterior.log_beats[np.arange(len(references)), :, references].min(axis=1)
    return Estimates(
        utilities=utilities,
        low=np.minimum(low, utilities),  # a few far draws may take the mean out of the interval
        high=np.maximum(high, utilities),
        references=references,
        without_winner=tuple(np.flatnonzero(surest < math.log(CYCLE)).tolist()),
    )
