"""How good a policy is expected to be, and what more answers would add to it."""

from __future__ import annotations

import math

import numpy as np

from fairduel._arrays import Floats
from fairduel.inference import Posterior
from fairduel.learners.learner import Outlook
from fairduel.welfare import Welfare

DRAWS = 128
FEW = 32  # for welfares that are slow to maximise
MORE = 10.0  # answers of each user
NEARLY = 0.999  # of all utilities: a product of many is still a number


def prospects(
    posterior: Posterior,
    welfare: Welfare,
    policy: Floats,
    answers: Floats,
    rng: np.random.Generator,
) -> Outlook:
    """Return the share of the best that a policy keeps, and what ten more answers of each add.

    answers: (D,) of each user so far. Ten answers on top of n resolve a share 10 / (10 + n + K - 1)
    of what is unknown of a user: what is known of K arms beforehand is worth about K - 1 answers.
    So each draw of the scores is split into what these answers would tell, by which the policy is
    chosen anew, and the rest.
    """
    arms = posterior.scores.shape[1]
    drawn = np.maximum(posterior.sample(rng, FEW if welfare.slow else DRAWS), 1e-6)
    resolved = np.sqrt(MORE / (MORE + answers + arms - 1.0))[:, None]
    rest = np.sqrt(1.0 - resolved**2)
    told = np.clip(posterior.scores + resolved * (drawn - posterior.scores), 1e-6, 1.0)
    others = drawn[rng.permutation(len(drawn))]
    truth = np.clip(told + rest * (others - posterior.scores), 1e-6, 1.0)
    chosen = welfare.follow(told, policy)
    now = _kept(welfare, drawn, policy, policy)
    added = _kept(welfare, truth, chosen, policy) - _kept(welfare, truth, policy, policy)
    low, high = np.quantile(now, [0.025, 0.975], method="weibull")
    share = float(now.mean())
    more = min(max(float(added.mean()), 0.0), 1.0 - share)
    return Outlook(share, min(float(low), share), float(high), more)


def _kept(welfare: Welfare, scores: Floats, policies: Floats, start: Floats) -> Floats:
    """Return the share of the best that policies (K,) or (n, K) keep under scores (n, D, K).

    As an equivalent part of everybody's utility: for Nash, a share of the geometric mean.
    """
    best = _values(welfare, scores, welfare.follow(scores, start))
    ratio = _values(welfare, scores, policies) / np.maximum(best, 1e-300)
    return np.asarray(np.minimum(ratio, 1.0) ** (1.0 / _degree(welfare, scores.shape[1])))


def _values(welfare: Welfare, scores: Floats, policies: Floats) -> Floats:
    return welfare.value(
        np.einsum("ndk,nk->nd", scores, np.broadcast_to(policies, (len(scores), scores.shape[2])))
    )


def _degree(welfare: Welfare, users: int) -> float:
    """Return the power by which the welfare grows when all utilities do."""
    less, whole = welfare.value(np.full((2, users), [[NEARLY], [1.0]])).tolist()
    return math.log(less / whole) / math.log(NEARLY)
