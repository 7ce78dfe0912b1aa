"""Policies worth playing, by a sample of the posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel.inference import Posterior
from fairduel.learners.voi.plan import RARE
from fairduel.welfare import Welfare

SAMPLE = 64  # draws of the scores
FEW = 16  # for welfares that are slow to maximise
RESOLVED = (0.1, 0.3)  # shares of what is unknown that mixed policies suppose to be known, or all
CLEAR = 4.0  # standard errors that leave no doubt that a policy is better than all arms alike
SURE = 1.0  # standard deviations of a lead: five draws of six say the same, if it is normal
LEAST = 1e-6  # of a score: some welfares have no gradient at 0
STEPS = 50  # of the ascent to the policy with the least loss


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores (n, D, K) drawn from the posterior, with the best policy (n, K) and welfare (n,)."""

    welfare: Welfare
    scores: Floats
    policies: Floats
    best: Floats

    def kept(self, policies: Floats) -> Floats:
        """Return the share (n, ..) of the best welfare that policies (.., K) keep in each draw."""
        utilities = np.einsum("ndk,...k->n...d", self.scores, policies)
        values = self.welfare.value(utilities)
        return np.asarray(values / self.best.reshape(-1, *[1] * (values.ndim - 1)))

    def loss(self, policies: Floats) -> Floats:
        """Return the share of the best welfare that policies (.., K) lose in the mean."""
        return np.asarray(1.0 - self.kept(policies).mean(axis=0))

    def lead(self, policy: Floats) -> float:
        """Return by how many standard deviations a policy keeps more than all arms alike."""
        kept = self.kept(np.stack([policy, np.full_like(policy, 1.0 / len(policy))]))
        ahead = kept[:, 0] - kept[:, 1]
        return float(ahead.mean() / max(ahead.std(), 1e-300))


def candidates(
    posterior: Posterior, welfare: Welfare, rng: np.random.Generator
) -> tuple[Floats, Sample]:
    """Return policies (C, K) that are worth playing, the one with the least loss first.

    They are mixtures of the policies that would be best if a share of what is unknown were known:
    with the whole of it, this is Thompson sampling; and what these mixtures have beyond the first
    policy, to compare with it. Who knows nothing hedges: all arms alike.
    """
    n = FEW if welfare.slow else SAMPLE
    middle = welfare.maximize(posterior.scores).policy
    sample = _sample(posterior.sample(rng, n), welfare, middle)
    alike = np.full_like(middle, 1.0 / len(middle))
    if posterior.blank or len(alike) == 1:
        return alike[None], sample
    mixed = _mixtures(posterior.scores, sample, middle)
    first = _least_loss(sample, np.concatenate([[middle], mixed]))
    # These draws have chosen the first, and so they flatter it: others say whether it is better.
    if sample.lead(first) < CLEAR / math.sqrt(n):
        others = _without(posterior.sample(rng, 2 * n), sample.scores)[:n]
        judge = _sample(others, welfare, middle)
        first = first if judge.lead(first) > 0.0 else alike
    beyond = np.maximum(mixed - first, 0.0) + 1e-9
    beyond /= beyond.sum(axis=1, keepdims=True)
    return _without_rare(np.concatenate([[first], mixed, beyond])), sample


def _sample(scores: Floats, welfare: Welfare, start: Floats) -> Sample:
    """Find the best policy for each draw of the scores, climbing from ``start``."""
    scores = np.clip(scores, LEAST, 1.0)
    policies = welfare.follow(scores, start)
    best = welfare.value(np.einsum("ndk,nk->nd", scores, policies))
    return Sample(welfare, scores, policies, np.maximum(best, 1e-300))


def _without(drawn: Floats, used: Floats) -> Floats:
    """Return the draws that are none of those used: a posterior may keep few of them."""
    seen = {each.tobytes() for each in used}
    new = [np.clip(each, LEAST, 1.0).tobytes() not in seen for each in drawn]
    return drawn[new] if any(new) else drawn


def _mixtures(scores: Floats, sample: Sample, start: Floats) -> Floats:
    """Return the mixtures (3, K)."""
    mixed = []
    for share in RESOLVED:
        known = scores + math.sqrt(share) * (sample.scores - scores)
        mixed.append(sample.welfare.follow(np.clip(known, LEAST, 1.0), start).mean(axis=0))
    return np.array([*mixed, sample.policies.mean(axis=0)])


def _least_loss(sample: Sample, policies: Floats) -> Floats:
    """Return the policy with the least loss, climbing from the best of those given."""
    from fairduel.kernels import voi

    users = sample.scores.shape[1]
    best = policies[sample.loss(policies).argmin()]
    climbed = sample.welfare.compiled(users).run(
        voi.climb, sample.scores, 1.0 / sample.best / len(sample.best),
        0.9 * best + 0.1 * policies.mean(axis=0), STEPS,
    )  # fmt: skip
    loss = sample.loss(np.stack([best, climbed]))
    return _without_rare(best if loss[0] <= loss[1] else climbed)


def _without_rare(policies: Floats) -> Floats:
    """Return policies without the arms that are hardly ever played."""
    kept = np.where(policies < RARE * policies.max(axis=-1, keepdims=True), 0.0, policies)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))
