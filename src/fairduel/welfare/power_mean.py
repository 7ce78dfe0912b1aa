"""Power means of the users' utilities: from utilitarian over Nash towards egalitarian."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.welfare.checks import (
    check_tolerance,
    mean_one,
    policy_of,
    score_matrices,
    score_matrix,
    start_policy,
    unserved_users,
    user_weights,
)
from fairduel.welfare.egalitarian import Egalitarian
from fairduel.welfare.nash import Nash
from fairduel.welfare.solution import Solution
from fairduel.welfare.utilitarian import Utilitarian
from fairduel.welfare.welfare import Objective, Welfare

FAR = -1e6  # below, the policy is the egalitarian one
NOTHING = 1e-13  # of a user's best score; less counts as this where the slope would be infinite


@dataclass(frozen=True)
class PowerMean(Welfare):
    """The power mean (sum_d v_d u_d^p)^(1/p) with shares v of the weights, maximised exactly.

    p: at most 1. 1 is the mean, and has the utilitarian policy. 0 is the geometric mean, and has
    the policy of the Nash welfare. -1 is the harmonic mean. The lower p, the more the worst off
    count; ``Egalitarian`` is the limit. weights: a positive number for each user, such as the
    number of people it stands for; None for equal weights. tolerance: the gap to reach.

    The gap is in the logarithm: no policy has a mean above ``value * exp(gap)``. It comes from
    Hoelder's inequality: for any h > 0, no policy has more than M(h) max_k sum_d y_d S[d, k] with
    y_d = v_d h_d^(p-1) / sum_e v_e h_e^p. It is computed from the policy that is returned, and
    the tolerance is reached for p down to about -10^5. Below -10^6 the policy is the egalitarian
    one, which is best to log(D) / |p|.

    Users whose scores are all zero get nothing from any policy. They are named in ``unserved``,
    and policy and gap are those of the other users; for p <= 0 the mean is 0. Among several best
    policies the choice is that of ``Nash``.
    """

    name = "power-mean"
    label = "power mean"
    summary = (
        "The power mean of the users' utilities (p=-1, or any p up to 1): utilitarian at 1, Nash "
        "at 0, towards egalitarian below; a small minority gets more the lower p is."
    )
    relative = True

    p: float = -1.0
    weights: tuple[float, ...] | None = None
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "p", float(self.p))
        except (TypeError, ValueError):
            raise InputError(f"p is {self.p!r}: give a number of at most 1.") from None
        if not -np.inf < self.p <= 1.0:  # written so that NaN fails too
            raise InputError(
                f"p is {self.p:g}: give a finite number of at most 1, since a mean with p above 1 "
                "prefers inequality; for -inf there is Egalitarian()."
            )
        object.__setattr__(self, "weights", user_weights(self.weights))
        check_tolerance(self.tolerance)

    @property
    def settings(self) -> str:
        """The power."""
        return f"p={self.p:.15g}"

    def value(self, utilities: ArrayLike) -> Floats:
        """Return the power mean of utilities, over the last axis."""
        utilities = np.asarray(utilities, np.float64)
        return _mean(utilities, self._shares(utilities.shape[-1]), self.p)

    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return v_d (M / u_d)^(1 - p), at utilities of at least 1e-12."""
        raised = np.maximum(np.asarray(utilities, np.float64), 1e-12)
        shares = self._shares(raised.shape[-1])
        ratios = raised / _mean(raised, shares, self.p)[..., np.newaxis]
        return np.asarray(shares * ratios ** (self.p - 1.0))

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return the policy of highest mean for ``scores``; ``start`` may save time."""
        scores = score_matrix(scores)
        policies, gaps = self._solve(scores[None], start)
        policy, unserved = policies[0], unserved_users(scores)
        utilities = scores.dot(policy)
        gap = float(gaps[0]) if gaps.size else self.certificate(scores, policy)
        return Solution(policy, utilities, float(self.value(utilities)), gap, unserved, self.title)

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return how much higher the logarithm of the mean can be, at most.

        Users whom no policy serves are left out; inf where p <= 0 and another gets nothing.
        """
        scores = score_matrix(scores)
        policy, tops = policy_of(policy, scores.shape[1]), scores.max(axis=1)
        served = tops > 0.0
        if not served.any():
            return 0.0
        rows, tops = scores[served] / tops.max(), tops[served] / tops.max()
        shares, utilities = self._shares(len(scores))[served], rows @ policy
        shares = shares / shares.sum()
        value = float(_mean(utilities, shares, self.p))
        if value == 0.0:
            return float("inf")
        if self.p < FAR:  # by Egalitarian's bound, since M(u) <= u_d v_d^(1/p) for every user d
            best = value + Egalitarian().certificate(rows, policy)
            return math.log(best / value) + math.log(shares.min()) / self.p
        raised = np.maximum(utilities, NOTHING * tops) if self.p > 0.0 else utilities
        top = float(_mean(raised, shares, self.p))
        # y_d S[d, k] = a_d S[d, k] / h_d with a_d = v_d (h_d / M)^p, which sum to 1
        parts = shares * (raised / top) ** self.p
        over = (parts[:, None] * (rows / raised[:, None] - 1.0)).sum(axis=0).max()
        return max(0.0, float((1.0 + over) * (top / value) - 1.0))

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the best policy for each of ``scores``, all in one compiled loop."""
        return self._solve(score_matrices(scores), start)[0]

    def compiled(self, users: int) -> Objective:
        """Return the mean as the kernels call it."""
        from fairduel.kernels import objectives

        return Objective(objectives.POWER_MEAN, np.append(self._shares(users), self.p))

    def _shares(self, users: int) -> Floats:
        return mean_one(self.weights, users) / users

    def _solve(self, scores: Floats, start: ArrayLike | None) -> tuple[Floats, Floats]:
        """Return policies and gaps; no gaps where another welfare has the same policies."""
        _, users, arms = scores.shape
        none = np.empty(0)
        if self.p == 1.0:
            return Utilitarian(self.weights).follow(scores), np.zeros(len(scores))
        if self.p == 0.0:
            return Nash(self.weights, self.tolerance).follow(scores, start), none
        if self.p < FAR:
            return Egalitarian().follow(scores), none
        from fairduel.kernels import power_mean

        weights, begin = mean_one(self.weights, users), start_policy(start, arms)
        found: tuple[Floats, Floats] = power_mean.follow(
            scores, weights, self.p, begin, self.tolerance
        )
        return found


def _mean(utilities: Floats, shares: Floats, p: float) -> Floats:
    """Return power means, relative to the largest term: nothing overflows, small p keep digits."""
    extreme = np.max if p > 0.0 else np.min
    reference = np.asarray(extreme(utilities, axis=-1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(utilities / reference)
        found = logs @ shares if p == 0.0 else np.log1p(np.expm1(p * logs) @ shares) / p
        reference = reference[..., 0]
        return np.where(reference > 0.0, reference * np.exp(found), 0.0)
