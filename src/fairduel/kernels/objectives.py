"""Compiled: welfares as C functions, which other kernels call by their address.

So the kernels are compiled once for all welfares, those of plain Python among them. Such a
function takes the users' weights and whatever parameters come after them, the utilities, room for
the gradient and the number of users; it writes the gradient and returns the value.
"""

import math
from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import part
from fairduel.kernels.interrupts import shielded

carray: Any = numba.carray  # type: ignore[attr-defined]  # its type is about ctypes
_ROW = types.CPointer(types.float64)  # type: ignore[no-untyped-call]

Call = Callable[[int, Floats, Floats, Floats], float]


@shielded
def _objective(function: Callable[[Floats, Floats, Floats, int], float]) -> Any:
    """Compile a C function, and keep it on disk if there is a place for that."""
    signature = types.float64(_ROW, _ROW, _ROW, types.int64)
    try:
        return numba.cfunc(signature, cache=True, error_model="numpy")(function)
    except (RuntimeError, OSError):  # numba has no place for its cache, or lost it
        return numba.cfunc(signature, error_model="numpy")(function)


@_objective
def product(weights: Floats, utilities: Floats, gradient: Floats, users: int) -> float:
    """Evaluate Nash welfare: the product of the utilities to the power of their weights."""
    value = 1.0
    for d in range(users):
        value *= utilities[d] if weights[d] == 1.0 else utilities[d] ** weights[d]
    for d in range(users):
        gradient[d] = value * weights[d] / max(utilities[d], 1e-12)
    return value


@_objective
def mean(weights: Floats, utilities: Floats, gradient: Floats, users: int) -> float:
    """Evaluate utilitarian welfare: the weighted mean of the utilities."""
    value = 0.0
    for d in range(users):
        gradient[d] = weights[d] / users
        value += gradient[d] * utilities[d]
    return value


@_objective
def smallest(weights: Floats, utilities: Floats, gradient: Floats, users: int) -> float:
    """Evaluate egalitarian welfare: the smallest utility. Users who tie share the gradient."""
    least = utilities[0]
    for d in range(users):
        least = min(least, utilities[d])
    ties = 0
    for d in range(users):
        gradient[d] = 1.0 if utilities[d] <= least + 1e-9 else 0.0
        ties += int(gradient[d])
    for d in range(users):
        gradient[d] /= ties
    return float(least)


@part
def _power_mean(weights: Floats, utilities: Floats, users: int, floor: float) -> float:
    """Return the power mean of utilities, each at least the floor.

    Relative to the smallest for p <= 0 and to the largest for p > 0, so that nothing overflows;
    and by what the sum of powers differs from 1, so that small p lose no digits.
    """
    p = weights[users]
    least, most = utilities[0], utilities[0]
    for d in range(users):
        least, most = min(least, utilities[d]), max(most, utilities[d])
    reference = max(most if p > 0.0 else least, floor)
    if not reference > 0.0:
        return 0.0
    total = 0.0
    for d in range(users):
        power = math.log(max(utilities[d], floor) / reference)
        total += weights[d] * (power if p == 0.0 else math.expm1(p * power))
    return float(reference * math.exp(total if p == 0.0 else math.log1p(total) / p))


@_objective
def power_mean(weights: Floats, utilities: Floats, gradient: Floats, users: int) -> float:
    """Evaluate a power mean. ``weights``: the users' shares, and p.

    The gradient is taken at utilities of at least 1e-12: at 0 it may be infinite.
    """
    raised = _power_mean(weights, utilities, users, 1e-12)
    for d in range(users):
        at = max(utilities[d], 1e-12) / raised
        gradient[d] = weights[d] * at ** (weights[users] - 1.0)
    return _power_mean(weights, utilities, users, 0.0)


@part
def phi(share: float, delta: float, levels: Floats) -> float:
    """Return the most that a share of the people weighs in a generalised Gini welfare.

    ``levels`` are its values at equal distances, with lines between; if empty, ``delta`` counts.
    """
    if levels.size == 0:
        return float(1.0 - (1.0 - share) ** delta)
    at = share * (levels.size - 1)
    below = min(int(at + 1e-9), levels.size - 2)  # a sum of shares may be a little off
    return float(levels[below] + max(0.0, at - below) * (levels[below + 1] - levels[below]))


@part
def rank(utilities: Floats, order: Ints) -> None:
    """Sort users by utility, from the order given: fast where that is nearly it (Shell's sort)."""
    gap = 1
    while gap < order.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, order.size):
            d = order[i]
            j = i
            while j >= gap and utilities[order[j - gap]] > utilities[d]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = d
        gap //= 3


@_objective
def gini(weights: Floats, utilities: Floats, gradient: Floats, users: int) -> float:
    """Evaluate a generalised Gini welfare. Users who tie share the gradient by their sizes.

    ``weights``: the users' shares of the people, delta, the number of levels, and these.
    """
    levels = carray(weights, users + 2 + int(weights[users + 1]))[users + 2 :]
    order = np.arange(users)
    rank(utilities, order)
    value, share, before, i = 0.0, 0.0, 0.0, 0
    while i < users:
        first, start = i, share
        while i < users and utilities[order[i]] <= utilities[order[first]] + 1e-9:
            share += weights[order[i]]
            i += 1
        now = 1.0 if i == users else phi(min(share, 1.0), weights[users], levels)
        for j in range(first, i):
            d = order[j]
            gradient[d] = (now - before) * weights[d] / (share - start)
            value += gradient[d] * utilities[d]
        before = now
    return float(value)


def _evaluate(
    typing_context: Any, address: Any, weights: Any, utilities: Any, gradient: Any
) -> tuple[Any, Any]:
    """Call the objective at ``address``: write its gradient at ``utilities``, return its value."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[1:], values[1:], strict=True)
        ]
        rows, users = [array.data for array in arrays], builder.extract_value(arrays[1].shape, 0)
        kind = ir.FunctionType(ir.DoubleType(), [*(row.type for row in rows), users.type])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), [*rows, users])

    return types.float64(types.int64, weights, utilities, gradient), generate


evaluate = cast(Call, intrinsic(_evaluate))

# Looking an address up takes tens of microseconds, so it is done once.
PRODUCT, MEAN, SMALLEST = product.address, mean.address, smallest.address
POWER_MEAN, GINI = power_mean.address, gini.address
