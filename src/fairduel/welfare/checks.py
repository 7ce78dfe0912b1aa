"""Check what a welfare is given: scores, policies, weights of the users."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.errors import InputError

NO_START: Floats = np.empty(0)
WIDEST = 1e12  # the largest ratio of two weights


def score_matrix(scores: ArrayLike) -> Floats:
    """Return scores of D users and K arms as a C-contiguous (D, K) array; they may exceed 1."""
    return _scores(scores, "scores", ("user", "arm"))


def score_matrices(scores: ArrayLike) -> Floats:
    """Return a sequence of score matrices as a C-contiguous (B, D, K) array; B may be 0."""
    return _scores(scores, "scores", ("matrix", "user", "arm"))


def start_policy(start: ArrayLike | None, arms: int) -> Floats:
    """Return a policy to begin from as a (K,) array; an empty array for None."""
    return NO_START if start is None else policy_of(start, arms, "start")


def policy_of(values: ArrayLike, arms: int, name: str = "policy") -> Floats:
    """Return a policy as a (K,) array."""
    policy = _floats(values, name)
    if policy.shape != (arms,):
        raise InputError(
            f"{name} has shape {policy.shape}, but a policy for these scores has shape ({arms},)."
        )
    # Written so that NaN fails too.
    if not (policy.min() >= 0.0 and abs(policy.sum() - 1.0) <= 1e-6):
        raise InputError(f"{name} must be a policy: probabilities of the arms, which sum to 1.")
    return policy


def user_weights(
    weights: Iterable[float] | None, name: str = "weights"
) -> tuple[float, ...] | None:
    """Return weights of users as a tuple: positive numbers, not too different."""
    if weights is None:
        return None
    try:
        numbers = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, one for each user, or None.") from None
    if not numbers:
        raise InputError(f"{name} is empty: give one weight for each user, or None.")
    for user, weight in enumerate(numbers):
        if not 0.0 < weight < np.inf:
            raise InputError(
                f"{name}[{user}] is {weight}: give a positive finite number, or leave"
                " out the user's row of scores."
            )
    if max(numbers) > WIDEST * min(numbers):
        raise InputError(
            f"{name} range from {min(numbers)} to {max(numbers)}, a factor of more than"
            f" {WIDEST:g}: leave out users who weigh next to nothing."
        )
    return numbers


@functools.lru_cache(maxsize=64)
def mean_one(weights: tuple[float, ...] | None, users: int, name: str = "weights") -> Floats:
    """Return the weights of the users, scaled to have mean 1."""
    if weights is None:
        return np.ones(users)
    if len(weights) != users:
        raise InputError(f"{name} has {len(weights)} entries, but the scores have {users} users.")
    scaled = np.asarray(weights, np.float64)
    scaled = scaled / scaled.max()  # so that huge weights do not overflow
    return np.asarray(scaled * (users / scaled.sum()))


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that no gap can reach."""
    if not tolerance >= 0.0:
        raise InputError(f"tolerance is {tolerance}: it must not be negative.")


def unserved_users(scores: Floats) -> tuple[int, ...]:
    """Return the users whose scores are all zero."""
    tops = scores.max(axis=1)
    if tops.all():
        return ()
    return tuple(np.flatnonzero(tops == 0.0).tolist())


def _scores(scores: ArrayLike, name: str, axes: tuple[str, ...]) -> Floats:
    array = _floats(scores, name)
    if array.ndim != len(axes):
        wanted = ", ".join(f"{axis}s" for axis in axes).replace("matrixs", "matrices")
        raise InputError(f"{name} has {array.ndim} axes: it must have {len(axes)}: {wanted}.")
    if 0 in array.shape[-2:]:
        raise InputError(f"{name} has shape {array.shape}: give at least one user and one arm.")
    # Two passes without a temporary array; written so that NaN fails too.
    if array.size and not (array.min() >= 0.0 and array.max() < np.inf):
        bad = tuple(int(i) for i in np.argwhere(~((array >= 0.0) & (array < np.inf)))[0])
        where = ", ".join(f"{axis} {i}" for axis, i in zip(axes, bad, strict=True))
        raise InputError(
            f"{name} at {where} is {array[bad]}: scores must be finite and not negative."
        )
    return array


def _floats(values: ArrayLike, name: str) -> Floats:
    """Return an array of float64, C-contiguous, aligned and writable, as kernels take it."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}.") from None
    return array if array.flags.carray else np.array(array, order="C")
