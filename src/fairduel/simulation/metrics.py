"""What a run was worth to its users: the measures of Section 5.1, and two more.

``utilities[..., d]`` is what user d has received so far, the sum over rounds of the mean score of
the two arms played. Any axes may come before the users': runs, checkpoints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.instance import Instance

STANDARD_ERRORS = 1.96  # half the width of the paper's 95 % intervals


def nash_welfare(utilities: ArrayLike) -> Floats:
    """Return the geometric mean over users, Section 5.1 (2); 0 where any user has nothing."""
    values = _utilities(utilities)
    with np.errstate(divide="ignore", over="ignore"):
        mean = np.exp(np.log(values).mean(axis=-1))  # log 0 = -inf, exp(-inf) = 0
    # A mean lies between the extremes; rounding at the ends of the float range does not know.
    clipped: Floats = np.clip(mean, values.min(axis=-1), values.max(axis=-1))
    return clipped


def minimum_welfare(utilities: ArrayLike) -> Floats:
    """Return the utility of the worst-off user, Section 5.1 (3)."""
    least: Floats = _utilities(utilities).min(axis=-1)
    return least


def utilitarian_welfare(utilities: ArrayLike) -> Floats:
    """Return the arithmetic mean over users, Section 5.1 (4)."""
    mean: Floats = _utilities(utilities).mean(axis=-1)
    return mean


def gini(utilities: ArrayLike) -> Floats:
    """Return the Gini coefficient, Section 5.1 (5): sum_ij |u_i - u_j| / (2 D sum_k u_k).

    0 is perfect equality, also where all users have nothing.
    """
    values = np.sort(_utilities(utilities), axis=-1)
    most = values[..., -1:]
    values = np.divide(values, most, out=np.zeros_like(values), where=most > 0)
    # Each step between neighbours in order separates k users from D - k: no cancellation.
    users = values.shape[-1]
    below = np.arange(1, users)
    distances = (below * (users - below) * np.diff(values, axis=-1)).sum(axis=-1)
    total = users * values.sum(axis=-1)
    index: Floats = np.divide(distances, total, out=np.zeros_like(total), where=total > 0)
    return index


def own_best_share(utilities: ArrayLike, rounds: ArrayLike, instance: Instance) -> Floats:
    """Return (..., D) each user's utility as a share of always playing its own best arm.

    ``rounds`` is the number of rounds behind the utilities: one, or one for each checkpoint
    (the axes before the users').
    """
    values = _utilities(utilities)
    _match_users(values, len(instance.users))
    own_best = instance.scores.max(axis=1)
    shares: Floats = values / (_rounds(rounds, values)[..., np.newaxis] * own_best)
    return shares


def price_of_fairness(scores: ArrayLike, policy: ArrayLike) -> Floats:
    """Return the mean utility that ``policy`` gives up, as a share of the highest possible.

    1 - (mean utility under the policy) / (best mean utility), after Bertsimas, Farias and
    Trichakis, "The price of fairness" (2011). scores: (D, K); policy: (..., K). 0 where all
    scores are 0, since there is nothing to give up.
    """
    matrix = _scores(scores)
    chances = _policy(policy, matrix.shape[1])
    return _price((chances @ matrix.T).mean(axis=-1), _best_mean(matrix))


def cumulative_price_of_fairness(
    utilities: ArrayLike, rounds: ArrayLike, scores: ArrayLike
) -> Floats:
    """Return the price of fairness so far: utilities (..., D) against the best over ``rounds``.

    ``rounds`` is as in ``own_best_share``. Where all scores are 0 it is 0.
    """
    values, matrix = _utilities(utilities), _scores(scores)
    _match_users(values, matrix.shape[0])
    return _price(values.mean(axis=-1), _rounds(rounds, values) * _best_mean(matrix))


def mean_interval(values: ArrayLike, axis: int = 0) -> tuple[Floats, Floats]:
    """Return the mean over ``axis`` and the half-width of its 95 % interval, 1.96 standard errors.

    The standard error is from the sample standard deviation (n - 1). A single value says nothing
    about its spread: the half-width is then NaN.
    """
    runs = _array("values", values)
    if not -runs.ndim <= axis < runs.ndim:
        raise InputError(f"axis is {axis} and the values have {runs.ndim} axes: name one of them.")
    count = runs.shape[axis]
    if count == 0:
        raise InputError("there are no values to take the mean of: give at least one.")
    mean: Floats = runs.mean(axis=axis)
    if count == 1:
        return mean, np.full_like(mean, np.nan)
    return mean, STANDARD_ERRORS * runs.std(axis=axis, ddof=1) / np.sqrt(count)


def _price(mean: Floats, best: float | Floats) -> Floats:
    mean, best = np.broadcast_arrays(mean, best)
    kept = np.divide(mean, best, out=np.ones_like(mean), where=best > 0)
    price: Floats = np.maximum(1.0 - kept, 0.0)  # below 0 by rounding only
    return price


def _best_mean(scores: Floats) -> float:
    """Return the best mean utility: linear in the policy, so a single arm attains it."""
    return float(scores.mean(axis=0).max())


# Checking


def _array(name: str, values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} have to be an array of numbers.") from error


def _never_negative(name: str, values: ArrayLike) -> Floats:
    array = _array(name, values)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        place = [int(index) for index in np.argwhere(bad)[0]]
        value = float(array[tuple(place)])
        raise InputError(f"{name}{place} is {value}: give finite numbers from 0 up.")
    return array


def _utilities(utilities: ArrayLike) -> Floats:
    array = _never_negative("utilities", utilities)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(
            f"utilities have shape {array.shape}: the last axis has to hold at least one user."
        )
    return array


def _scores(scores: ArrayLike) -> Floats:
    array = _never_negative("scores", scores)
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(
            f"scores have shape {array.shape}: give a (users, arms) matrix that is not empty."
        )
    return array


def _policy(policy: ArrayLike, arms: int) -> Floats:
    array = _never_negative("policy", policy)
    if array.ndim == 0 or array.shape[-1] != arms:
        raise InputError(
            f"policy has shape {array.shape}: give one probability for each of the {arms} arms."
        )
    if np.any(np.abs(array.sum(axis=-1) - 1) > 1e-9):
        raise InputError("policy does not add up to 1: give the probabilities of the arms.")
    return array


def _match_users(utilities: Floats, users: int) -> None:
    if utilities.shape[-1] != users:
        raise InputError(
            f"utilities are of {utilities.shape[-1]} users and the scores of {users}: "
            "give both for the same users."
        )


def _rounds(rounds: ArrayLike, utilities: Floats) -> Floats:
    array = _array("rounds", rounds)
    if not np.all(array >= 1):
        raise InputError("rounds have to be at least 1: leave out checkpoints before round 1.")
    try:
        return np.broadcast_to(array, utilities.shape[:-1])
    except ValueError as error:
        raise InputError(
            f"rounds have shape {array.shape} and the utilities {utilities.shape}: "
            "give one number of rounds for each checkpoint."
        ) from error
