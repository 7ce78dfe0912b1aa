"""The laws of welfares, and the scores on which they are tested."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fairduel._arrays import Floats
from fairduel.testing._checks import check, check_policy
from fairduel.welfare import Welfare


def a_solution_is_a_policy_and_its_utilities(welfare: Welfare) -> None:
    """The policy is a distribution, and utilities and value are those of the policy."""
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        check_policy(solution.policy, scores.shape[1])
        near = np.allclose(solution.utilities, scores @ solution.policy, rtol=1e-9, atol=1e-12)
        check(near, "the utilities are not those of the policy.")
        value = float(welfare.value(solution.utilities))
        check(bool(np.isclose(solution.value, value)), "the value is not that of the utilities.")


def values_are_taken_over_the_last_axis(welfare: Welfare) -> None:
    """``value`` of many utilities at once is the value of each."""
    utilities = np.random.default_rng(1).random((4, 2, 3))
    values = welfare.value(utilities)
    check(np.shape(values) == (4, 2), f"values of (4, 2, 3) utilities are {np.shape(values)}.")
    each = [[float(welfare.value(row)) for row in rows] for rows in utilities]
    check(np.allclose(values, each), "values of many utilities differ from those of each.")


def a_tangent_lies_above(welfare: Welfare) -> None:
    """``gradient`` has the shape of the utilities, and its tangents lie nowhere below the welfare.

    Below the logarithm of it, where the welfare is relative.
    """
    rng = np.random.default_rng(7)
    shape = np.shape(welfare.gradient(rng.random((4, 2, 3)) + 0.1))
    check(shape == (4, 2, 3), f"the gradient at (4, 2, 3) utilities is {shape}.")
    for users in (1, 2, 5):
        for point in (rng.uniform(0.2, 1.0, users), np.full(users, 0.5)):
            value, gradient = float(welfare.value(point)), welfare.gradient(point)
            steps = np.concatenate([np.diag(point), -np.diag(point), rng.random((20, users)) - 0.5])
            for size in (0.5, 1e-3):
                others = np.maximum(point + size * steps, 0.01)
                rise = (others - point) @ gradient
                most = value * np.exp(rise / value) if welfare.relative else value + rise
                above = bool(np.all(welfare.value(others) <= most + 1e-7))
                check(above, f"at {point} the gradient {gradient} is not that of the value.")


def no_policy_beats_the_gap(welfare: Welfare) -> None:
    """No other policy is worth more than the value and the gap allow."""
    rng = np.random.default_rng(2)
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        check(solution.gap >= 0.0, f"the gap is {solution.gap}.")
        most = _most(welfare, solution.value, solution.gap)
        arms = scores.shape[1]
        others = [np.eye(arms), rng.dirichlet(np.ones(arms), 50)]
        near = 0.99 * solution.policy + 0.01 * np.concatenate(others)
        best = welfare.value(np.concatenate([*others, near]) @ scores.T).max()
        check(best <= most + 1e-12, f"a policy is worth {best}, but {most} should be the most.")


def a_certificate_holds_for_any_policy(welfare: Welfare) -> None:
    """``certificate`` is the gap of a solution, and bounds what any policy falls short by."""
    rng = np.random.default_rng(8)
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        gap = welfare.certificate(scores, solution.policy)
        near = bool(np.isclose(gap, solution.gap, rtol=1e-3, atol=1e-6))
        check(near, f"the certificate of a solution is {gap}, but its gap {solution.gap}.")
        arms = scores.shape[1]
        for policy in (*np.eye(arms)[:3], *rng.dirichlet(np.ones(arms), 3)):
            gap, value = welfare.certificate(scores, policy), float(welfare.value(scores @ policy))
            check(gap >= 0.0, f"a certificate is {gap}.")
            most = _most(welfare, value, gap)
            below = solution.value <= most + 1e-9
            check(below, f"a policy is worth {solution.value}, but {most} should be the most.")


def nobody_is_preferred_by_number(welfare: Welfare) -> None:
    """Users and arms in another order get the same value."""
    rng = np.random.default_rng(3)
    for scores in _score_matrices():
        users, arms = rng.permutation(scores.shape[0]), rng.permutation(scores.shape[1])
        solution, other = welfare.maximize(scores), welfare.maximize(scores[users][:, arms])
        near = np.isclose(other.value, solution.value, rtol=_slack(solution.gap))
        check(bool(near), "the value depends on the order of users and arms.")


def a_start_does_not_change_the_value(welfare: Welfare) -> None:
    """Begun from any policy, the result is worth the same."""
    rng = np.random.default_rng(4)
    for scores in _score_matrices():
        solution = welfare.maximize(scores)
        for start in (np.eye(scores.shape[1])[0], rng.dirichlet(np.ones(scores.shape[1]))):
            other = welfare.maximize(scores, start)
            near = np.isclose(other.value, solution.value, rtol=_slack(solution.gap))
            check(bool(near), "the value depends on the policy to begin from.")


def following_is_maximizing_again_and_again(welfare: Welfare) -> None:
    """``follow`` returns policies worth as much as those of ``maximize``; none for no scores."""
    rng = np.random.default_rng(5)
    for scores in _score_matrices():
        many = scores * rng.uniform(0.9, 1.0, (6, *scores.shape))
        policies = welfare.follow(many)
        check(policies.shape == (6, scores.shape[1]), f"follow returns shape {policies.shape}.")
        for matrix, policy in zip(many, policies, strict=True):
            check_policy(policy, scores.shape[1])
            solution = welfare.maximize(matrix)
            value = float(welfare.value(matrix @ policy))
            near = np.isclose(value, solution.value, rtol=_slack(solution.gap))
            check(bool(near), "follow finds another value than maximize.")
        check(len(welfare.follow(many[:0])) == 0, "follow returns policies for no scores.")


WELFARE_LAWS: tuple[Callable[[Welfare], None], ...] = (
    a_solution_is_a_policy_and_its_utilities,
    values_are_taken_over_the_last_axis,
    a_tangent_lies_above,
    no_policy_beats_the_gap,
    a_certificate_holds_for_any_policy,
    nobody_is_preferred_by_number,
    a_start_does_not_change_the_value,
    following_is_maximizing_again_and_again,
)


def _score_matrices() -> Iterator[Floats]:
    """Yield scores of several sizes, some with zeros, equal users, equal arms."""
    rng = np.random.default_rng(6)
    for users, arms in ((1, 1), (1, 4), (4, 1), (2, 3), (3, 5), (6, 4), (10, 10)):
        scores = rng.uniform(0.05, 1.0, (users, arms))
        yield scores
        yield np.where(rng.random((users, arms)) < 0.3, 0.0, scores)
        yield np.repeat(scores, 2, axis=0)
        yield np.repeat(scores, 2, axis=1)


def _most(welfare: Welfare, value: float, gap: float) -> float:
    """Return what no policy is worth more than, by the gap of one that is worth ``value``."""
    if not welfare.relative or np.isinf(gap):
        return value + gap
    return float(value * np.exp(min(gap, 700.0)))


def _slack(gap: float) -> float:
    """Return the relative distance that two values within the gap of the best may have."""
    return float(min(np.expm1(min(gap, 1.0)) + 1e-8, 1.0))
