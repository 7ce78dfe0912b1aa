"""What the answers say about everybody's winner and scores, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints

PRIOR = 0.5  # Jeffreys' prior of a probability
CYCLE = 0.05  # a reference that beats some other arm less surely is no clear winner
DRAWS = 400  # of a report; they come with their mirror images


@dataclass(frozen=True, eq=False)
class Belief:
    """Every user's preferences given the answers, and given that there is a winner.

    log_beats: (D, K, K) log of the probability that w beats k, at [d, k, w]. means, deviations:
    (D, K, K) of d's score of k if w is the winner. chances: (D, K) that w is d's winner. scores,
    variances: (D, K) mean and variance of the scores, whoever the winner is.
    """

    log_beats: Floats
    means: Floats
    deviations: Floats
    chances: Floats
    scores: Floats
    variances: Floats

    def draw(self, shares: Floats, rng: np.random.Generator) -> tuple[Floats, Ints, Floats]:
        """What the mean scores may become when such shares of the variance are resolved.

        Two draws (mirror images) for each share; see ``draw`` in the kernels.
        """
        from fairduel.kernels import posterior

        n, (users, arms) = len(shares), self.scores.shape
        strata = rng.permuted(np.tile(np.arange(n), (users, 1)), axis=1).T
        spins = (strata + rng.random((n, users))) / n
        normals = rng.standard_normal((n, users, arms))
        drawn: tuple[Floats, Ints, Floats] = posterior.draw(
            self.scores, self.chances, self.means, self.deviations, shares, spins, normals
        )
        return drawn

    def sample(self, rng: np.random.Generator) -> Floats:
        """(draws, D, K) scores from the posterior: all of the variance is resolved.

        They are drawn as normal, with the right mean and deviation, and cut off at 1.
        """
        return self.draw(np.ones(DRAWS // 2), rng)[0]


@dataclass(frozen=True, eq=False)
class Estimates:
    """What each user gets from a policy, 1 being their own favourite all the time.

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


def believe(wins: Floats, winners: Sequence[int | None] | None = None) -> Belief:
    """What the answers say, where ``winners`` are those users' winners that are known."""
    from fairduel.kernels import posterior

    given = [None] * len(wins) if winners is None else winners
    known = np.array([-1 if w is None else w for w in given], np.int64)
    return Belief(*posterior.posterior(wins, known, PRIOR))


def estimate_utilities(belief: Belief, policy: Floats, sample: Floats) -> Estimates:
    """Users' utilities under any policy, with intervals from a sample of the belief."""
    utilities = belief.scores @ policy
    low, high = np.quantile(sample @ policy, [0.025, 0.975], axis=0)
    references = belief.chances.argmax(axis=1)
    surest = belief.log_beats[np.arange(len(references)), :, references].min(axis=1)
    return Estimates(
        utilities=utilities,
        low=np.minimum(low, utilities),  # a few far draws may take the mean out of the interval
        high=np.maximum(high, utilities),
        references=references,
        without_winner=tuple(np.flatnonzero(surest < math.log(CYCLE)).tolist()),
    )
