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
RESOLVED = (0.1, 0.3, 1.0)  # shares of what is unknown that mixed policies suppose to be known
STEPS = 50  # of the ascent to the policy with the least loss


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores (n, D, K) drawn from the posterior, and the best welfare (n,) for each."""

    welfare: Welfare
    scores: Floats
    best: Floats

    def kept(self, policies: Floats) -> Floats:
        """Return the share (n, ..) of the best welfare that policies (.., K) keep in each draw."""
        utilities = np.einsum("ndk,...k->n...d", self.scores, policies)
        values = self.welfare.value(utilities)
        return np.asarray(values / self.best.reshape(-1, *[1] * (values.ndim - 1)))

    def loss(self, policies: Floats) -> Floats:
        """Return the share of the best welfare that policies (.., K) lose in the mean."""
        return np.asarray(1.0 - self.kept(policies).mean(axis=0))


def candidates(
    posterior: Posterior, welfare: Welfare, rng: np.random.Generator
) -> tuple[Floats, Sample]:
    """Return policies (C, K) that are worth playing, the one with the least loss first.

    They are mixtures of the policies that would be best if a share of what is unknown were known:
    with the whole of it, this is Thompson sampling; and what these mixtures have beyond the first
    policy, to compare with it.
    """
    drawn = np.maximum(posterior.sample(rng, FEW if welfare.slow else SAMPLE), 1e-6)
    middle = welfare.maximize(posterior.scores).policy
    mixed, best = _mixtures(posterior.scores, drawn, welfare, middle)
    sample = Sample(welfare, drawn, best)
    first = _least_loss(sample, np.concatenate([[middle], mixed]))
    beyond = np.maximum(mixed - first, 0.0) + 1e-9
    beyond /= beyond.sum(axis=1, keepdims=True)
    return _without_rare(np.concatenate([[first], mixed, beyond])), sample


def _mixtures(
    scores: Floats, drawn: Floats, welfare: Welfare, start: Floats
) -> tuple[Floats, Floats]:
    """Return the mixtures (3, K), and the best welfare (n,) for each draw."""
    mixed = []
    best = np.ones(len(drawn))
    for share in RESOLVED:
        known = scores + math.sqrt(share) * (drawn - scores) if share < 1.0 else drawn
        policies = welfare.follow(np.clip(known, 1e-6, 1.0), start)
        mixed.append(policies.mean(axis=0))
        if share == 1.0:
            best = welfare.value(np.einsum("ndk,nk->nd", drawn, policies))
    return np.array(mixed), np.maximum(best, 1e-300)


def _least_loss(sample: Sample, policies: Floats) -> Floats:
    """Return the policy with the least loss, climbing from the best of those given.

    Where that is not better than all arms alike by more than chance, all arms alike: who knows
    nothing hedges.
    """
    from fairduel.kernels import voi

    users, arms = sample.scores.shape[1:]
    best = policies[sample.loss(policies).argmin()]
    climbed = sample.welfare.compiled(users).run(
        voi.climb, sample.scores, 1.0 / sample.best / len(sample.best),
        0.9 * best + 0.1 * policies.mean(axis=0), STEPS,
    )  # fmt: skip
    alike = np.full(arms, 1.0 / arms)
    kept = sample.kept(np.stack([best, climbed, alike]))
    first = best if kept[:, 0].mean() >= kept[:, 1].mean() else climbed
    ahead = kept[:, 0 if first is best else 1] - kept[:, 2]
    sure = ahead.mean() > ahead.std() / math.sqrt(len(ahead))
    return np.asarray(_without_rare(first) if sure or arms == 1 else alike)


def _without_rare(policies: Floats) -> Floats:
    """Return policies without the arms that are hardly ever played."""
    kept = np.where(policies < RARE * policies.max(axis=-1, keepdims=True), 0.0, policies)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))
