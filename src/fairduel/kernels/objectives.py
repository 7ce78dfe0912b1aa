"""Compiled: welfares as C functions, which other kernels call by their address.

So the kernels are compiled once for all welfares, those of plain Python among them. Such a
function takes the users' weights, their utilities, room for the gradient and the number of users;
it writes the gradient and returns the value.
"""

from collections.abc import Callable
from typing import Any, cast

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from fairduel._arrays import Floats
from fairduel.kernels.interrupts import shielded

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
