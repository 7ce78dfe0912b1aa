"""Generalised Gini welfares: means in which the worse off weigh more, by their rank."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

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
from fairduel.welfare.solution import Solution
from fairduel.welfare.welfare import Objective, Welfare

DELTA = 2.0  # the mean times one minus the Gini coefficient
TIE = 1e-9  # utilities this close share a rank in the gradient


@dataclass(frozen=True)
class GeneralizedGini(Welfare):
    """The mean of the utilities, weighted by rank: the worse off weigh more. Maximised exactly.

    weights: the weight of each rank, worst off first, none larger than the one before. They are
    scaled to sum to 1, and each is for an equal part of the people: with as many weights as users
    the i-th is that of the user with the i-th lowest utility, and (1, 0, 0, 0) is the mean of the
    worst-off quarter, however many users there are. delta: instead of weights, the S-Gini welfare,
    in which the worst-off share t of the people weighs 1 - (1 - t)^delta: 1 is the mean, and the
    higher delta, the more the worst off count. Default: 2, the mean times one minus the Gini
    coefficient. sizes: a positive number for each user, such as the number of people it stands
    for; None for equal sizes. tolerance: the gap to reach, in units of the highest score.

    A minority with tastes of its own is worth serving only if its weight is at least that of the
    rest: with delta 2 a minority of less than 29 % (1 - 2^(-1/delta)) gets nothing at all.

    The gap is in units of utility: no policy has more than ``value + gap``. The welfare is the
    smallest of the weighted means y'u, over all weightings y of the users in which no group weighs
    more than its size allows; so for any such y no policy has more than max_k sum_d y_d S[d, k].

    Users whose scores are all zero have the lowest rank under every policy; they are named in
    ``unserved``. Among several best policies the one returned depends on scores, sizes and start
    alone.
    """

    name = "gini"
    label = "Gini welfare"
    summary = (
        "The mean of the users' utilities, the worse off weighing more by their rank (delta=2, or "
        "any delta from 1 up): for less inequality; with delta 2 a minority below 29% may get "
        "nothing at all."
    )

    weights: tuple[float, ...] | None = None
    delta: float | None = None
    sizes: tuple[float, ...] | None = None
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if self.weights is not None and self.delta is not None:
            raise InputError("weights and delta are both given: give one of them.")
        object.__setattr__(self, "weights", _rank_weights(self.weights))
        object.__setattr__(self, "delta", _delta(self.delta))
        object.__setattr__(self, "sizes", user_weights(self.sizes, "sizes"))
        check_tolerance(self.tolerance)

    @property
    def settings(self) -> str:
        """The weights of the ranks, or delta."""
        if self.weights is not None:
            return f"weights={'/'.join(f'{each:.15g}' for each in self.weights)}"
        return f"delta={DELTA if self.delta is None else self.delta:.15g}"

    def value(self, utilities: ArrayLike) -> Floats:
        """Return the mean weighted by rank, over the last axis."""
        utilities = np.asarray(utilities, np.float64)
        order = utilities.argsort(axis=-1, kind="stable")
        people = self._parts(utilities.shape[-1])[order].cumsum(axis=-1)
        people[..., -1] = 1.0
        weights = np.diff(self._phi(people), axis=-1, prepend=0.0)
        return np.asarray((weights * np.take_along_axis(utilities, order, axis=-1)).sum(axis=-1))

    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return the weight of each user's rank; users who tie share theirs by their sizes."""
        utilities = np.asarray(utilities, np.float64)
        return np.apply_along_axis(self._weighting, -1, utilities)

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return the policy of highest welfare for ``scores``; ``start`` may save time."""
        scores = score_matrix(scores)
        policies, gaps = self._solve(scores[None], start)
        utilities, unserved = scores.dot(policies[0]), unserved_users(scores)
        value = float(self.value(utilities))
        return Solution(policies[0], utilities, value, float(gaps[0]), unserved, self.title)

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return how much more any policy can have, at most.

        By maximising: one tangent would not do where several users have the same utility.
        """
        scores = score_matrix(scores)
        value = float(self.value(scores @ policy_of(policy, scores.shape[1])))
        best = self.maximize(scores)
        return max(0.0, best.value + best.gap - value)

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the best policy for each of ``scores``, all in one compiled loop."""
        return self._solve(score_matrices(scores), start)[0]

    def compiled(self, users: int) -> Objective:
        """Return the weighted mean as the kernels call it."""
        from fairduel.kernels import objectives

        delta, levels = self._rule()
        parameters = np.concatenate([self._parts(users), [delta, levels.size], levels])
        return Objective(objectives.GINI, parameters)

    def weighted(self, weights: tuple[float, ...]) -> GeneralizedGini:
        """Return the welfare of users who stand for ``weights`` people each."""
        return replace(self, sizes=weights)

    def _parts(self, users: int) -> Floats:
        """Return the users' shares of the people."""
        return mean_one(self.sizes, users, "sizes") / users

    def _rule(self) -> tuple[float, Floats]:
        """Return delta and no levels, or 0 and phi at equal distances, as the kernels take them."""
        if self.weights is None:
            return DELTA if self.delta is None else self.delta, np.empty(0)
        return 0.0, _levels(self.weights)

    def _phi(self, people: Floats) -> Floats:
        """Return what the worst-off share of the people weighs."""
        delta, levels = self._rule()
        if not levels.size:
            return np.asarray(1.0 - (1.0 - np.minimum(people, 1.0)) ** delta)
        return np.asarray(np.interp(people, np.linspace(0.0, 1.0, levels.size), levels))

    def _weighting(self, utilities: Floats) -> Floats:
        order = utilities.argsort(kind="stable")
        parts, found = self._parts(utilities.size), np.empty(utilities.size)
        people = before = 0.0
        first = 0
        while first < utilities.size:
            least = utilities[order[first]]
            last = int(np.searchsorted(utilities[order], least + TIE, side="right"))
            tied = order[first:last]
            people += parts[tied].sum()
            now = 1.0 if last == utilities.size else float(self._phi(np.array(people)))
            found[tied] = (now - before) * parts[tied] / parts[tied].sum()
            before, first = now, last
        return found

    def _solve(self, scores: Floats, start: ArrayLike | None) -> tuple[Floats, Floats]:
        from fairduel.kernels import game

        _, users, arms = scores.shape
        delta, levels = self._rule()
        found: tuple[Floats, Floats] = game.follow(
            scores, self._parts(users), delta, levels, start_policy(start, arms), self.tolerance
        )
        return found


def _rank_weights(weights: Iterable[float] | None) -> tuple[float, ...] | None:
    """Return weights of ranks as a tuple: not negative, not increasing, not all zero."""
    if weights is None:
        return None
    try:
        numbers = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one for each rank, or None.") from None
    for i, weight in enumerate(numbers):
        if not 0.0 <= weight < np.inf:
            raise InputError(f"weights[{i}] is {weight}: give a finite number from 0 up.")
        if i and weight > numbers[i - 1]:
            raise InputError(
                f"weights[{i}] is {weight}, more than weights[{i - 1}], which is {numbers[i - 1]}: "
                "weights of ranks must not increase from the worst off to the best off."
            )
    if not sum(numbers) > 0.0:
        raise InputError("weights are empty or all zero: give the worst off a positive weight.")
    return numbers


def _delta(delta: float | None) -> float | None:
    if delta is None:
        return None
    try:
        number = float(delta)
    except (TypeError, ValueError):
        raise InputError(f"delta is {delta!r}: give a number from 1 up.") from None
    if not 1.0 <= number < np.inf:  # written so that NaN fails too
        raise InputError(
            f"delta is {number:g}: give a finite number from 1 up, since below 1 the better off "
            "would weigh more; for inf there is Egalitarian()."
        )
    return number


@functools.lru_cache(maxsize=64)
def _levels(weights: tuple[float, ...]) -> Floats:
    """Return phi at equal distances from 0 to 1: the sums of the weights, scaled to end at 1."""
    scaled = np.asarray(weights) / max(weights)  # so that huge weights do not overflow
    sums = np.append(0.0, scaled.cumsum())
    return np.asarray(sums / sums[-1])
