"""The posterior: what is known of every user's winner and scores, under any model."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from fairduel._arrays import Floats, Ints

CYCLE = 0.05  # a reference arm that beats some other arm less surely is no clear winner
DRAWS = 400  # in a sample


@dataclass(frozen=True, eq=False)
class Posterior(ABC):
    """Every user's preferences given the answers, and given that there is a winner.

    This is all that sessions see of a model of preferences. Another model fills in the same
    arrays and draws in its own way; for Fair-VOI to plan by it, ``learners.voi.value`` has to know
    what answers are worth under it.

    probabilities: (D, K) that arm w is user d's winner. log_beats: (D, K, K) the log of the
    probability that w beats k, at [d, k, w]. scores: (D, K) mean of the scores. blank: whether
    nothing is known at all, so that all arms are alike but for the chance of draws. (Features are
    something that is known.)
    """

    probabilities: Floats
    log_beats: Floats
    scores: Floats
    blank: bool = field(default=False, kw_only=True)

    @abstractmethod
    def sample(self, rng: np.random.Generator, n: int = DRAWS) -> Floats:
        """Draw scores (n, D, K)."""

    def without_winner(self) -> tuple[int, ...]:
        """Return the users whose likeliest winner loses to some arm almost surely."""
        winners = self.probabilities.argmax(axis=1)
        surest = self.log_beats[np.arange(len(winners)), :, winners].min(axis=1)
        return tuple(np.flatnonzero(surest < math.log(CYCLE)).tolist())


_P = TypeVar("_P", bound=Posterior)


def blank_or_not(posterior: _P, wins: Floats, winners: Sequence[int | None] | None = None) -> _P:
    """Return a posterior that says whether any answer or winner is known."""
    known = wins.any() or any(winner is not None for winner in winners or ())
    return posterior if known else replace(posterior, blank=True)


def stratified(n: int, users: int, rng: np.random.Generator) -> Floats:
    """Draw uniform variates (n, D): of each user's, one falls into every n-th part of [0, 1]."""
    strata = rng.permuted(np.tile(np.arange(n), (users, 1)), axis=1).T
    return np.asarray((strata + rng.random((n, users))) / n)


def in_proportion(weights: Floats, n: int, rng: np.random.Generator) -> Ints:
    """Return how many of n draws are of each kind, about in proportion to the weights."""
    edges = np.minimum(np.cumsum(weights) * n + rng.random(), n).astype(np.int64)
    counts = np.diff(edges, prepend=0)
    counts[weights.argmax()] += n - counts.sum()
    return counts


def by_evidence(evidence: Floats, prior: Floats | None = None) -> tuple[Floats, float]:
    """Return the weights of hypotheses, and the log evidence of all.

    prior: their probabilities beforehand; default: even ones.
    """
    before = 1.0 / len(evidence) if prior is None else prior
    weights = before * np.exp(evidence - evidence.max())
    total = float(weights.sum())
    return weights / total, float(evidence.max()) + math.log(total)


def evenly_spaced(drawn: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Return n of the draws, evenly spaced, from a random one on."""
    kept = len(drawn)
    return np.asarray(drawn[(np.arange(n) * kept // n + rng.integers(kept)) % kept])


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
    return Estimates(
        utilities=utilities,
        low=np.minimum(low, utilities),  # a few far draws may take the mean out of the interval
        high=np.maximum(high, utilities),
        references=posterior.probabilities.argmax(axis=1),
        without_winner=posterior.without_winner(),
    )
