"""What a welfare is: an objective over utilities, an exact maximiser, and a certificate."""

from __future__ import annotations

import ctypes
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError
from fairduel.welfare.checks import policy_of, score_matrices, score_matrix
from fairduel.welfare.solution import Solution

SHOWN = 40  # characters of settings in a title


class Welfare(ABC):
    """An objective over the users' utilities u = S pi, maximised over policies pi.

    A new welfare is a subclass in a file of its own in ``fairduel/welfare``, where the command
    line finds it; ``fairduel.testing.WELFARE_LAWS`` test it. It declares:

    name: what to call it on the command line, like "nash". label: what its value is called in
    sentences, like "Nash welfare". summary: one sentence of help. relative: whether its
    logarithm is what is concave, so that gaps are in the logarithm: no policy has a value above
    ``value * exp(gap)``. Otherwise the welfare itself is concave, and no policy has a value above
    ``value + gap``. slow: whether maximising takes milliseconds rather than microseconds, so that
    learners should do it less often.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    summary: ClassVar[str]
    relative: ClassVar[bool] = False
    slow: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for declared in ("name", "label", "summary"):
            if not isinstance(getattr(cls, declared, None), str):
                raise TypeError(f"the welfare {cls.__name__} has no {declared}: declare a string.")

    @property
    def settings(self) -> str:
        """What sets it apart from others of its name, as the command line takes it, like "p=-1"."""
        return ""

    @property
    def text(self) -> str:
        """What the command line takes for it, like "power-mean:p=-1", but for users' weights."""
        return f"{self.name}:{self.settings}" if self.settings else self.name

    @property
    def title(self) -> str:
        """What its value is called, with the settings, like "power mean (p=-1)"."""
        shown = self.settings if len(self.settings) <= SHOWN else f"{self.settings[: SHOWN - 1]}…"
        return f"{self.label} ({shown})" if shown else self.label

    @abstractmethod
    def value(self, utilities: ArrayLike) -> Floats:
        """Return the welfare of ``utilities``, over their last axis."""

    @abstractmethod
    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return the derivatives of ``value`` in the utilities, in the shape of ``utilities``.

        Where there is none, a supergradient: a plane through the value that lies nowhere below.
        """

    @abstractmethod
    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return the best policy for ``scores`` (D, K); ``start`` is a policy to begin from."""

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return the gap of a policy: how much better any other can be, at most.

        Concave functions lie below their tangents, and a linear function is highest at an arm.
        """
        scores = score_matrix(scores)
        utilities = scores @ policy_of(policy, scores.shape[1])
        gradient = self.gradient(utilities)
        gap = max(0.0, float((gradient @ scores).max() - gradient @ utilities))
        if not self.relative:
            return gap
        value = float(self.value(utilities))
        return gap / value if value > 0.0 else float("inf")

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the best policy (B, K) for each of ``scores`` (B, D, K).

        Each is begun from the one before, the first from ``start``.
        """
        scores = score_matrices(scores)
        policies = np.empty((scores.shape[0], scores.shape[2]))
        for b, matrix in enumerate(scores):
            policies[b] = self.maximize(matrix, policies[b - 1] if b else start).policy
        return policies

    def compiled(self, users: int) -> Objective:
        """Return value and gradient as the kernels call them.

        By default they call back into Python, a few microseconds each time.
        """
        return _Bridge(self, users)

    def weighted(self, weights: tuple[float, ...]) -> Welfare:
        """Return this welfare for users of these weights, such as numbers of people.

        By default it has a field ``weights`` for them, or can't have any.
        """
        if "weights" not in getattr(self, "__dataclass_fields__", {}):
            raise InputError(
                f"the welfare {self.name!r} takes no weights of users: take another one, "
                "or leave the weights out."
            )
        weighted: Welfare = dataclasses.replace(self, weights=weights)  # type: ignore[type-var]
        return weighted

    def stays_best(
        self,
        policy: Floats,
        won: Floats,
        heard: Floats,
        winners: Ints,
        pairs: Ints,
        answers: Floats,
    ) -> int | None:
        """Return after how many of n answered duels ``policy`` is no longer best; n + 1 if never.

        The empirical scores are 2 ``won`` / ``heard`` (D, K), from the duels of each arm with
        each user's winner; the duels of ``pairs`` (n, 2) with ``answers`` (n, D) change them, and
        those up to the one returned are added to the counts. None stands for: not known without
        maximising again, and nothing is counted.
        """
        return None


class Objective:
    """A welfare for kernels: the address of a C function as in ``kernels.objectives``.

    weights: (D,) the users' weights, and after them whatever else the function has to know: its
    first argument.
    """

    def __init__(self, address: int, weights: Floats) -> None:
        self.address, self.weights = address, weights

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        """Call a kernel whose first arguments are an objective and its weights."""
        return kernel(self.address, self.weights, *arguments)


_ROW = ctypes.POINTER(ctypes.c_double)
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, _ROW, _ROW, _ROW, ctypes.c_int64)


class _Bridge(Objective):
    """An objective that calls ``value`` and ``gradient`` of a welfare.

    An exception cannot pass through a kernel: it waits until the kernel is done.
    """

    def __init__(self, welfare: Welfare, users: int) -> None:
        self._error: BaseException | None = None

        def evaluate(_: Any, utilities: Any, gradient: Any, users: int) -> float:
            if self._error is None:
                try:
                    point = np.ctypeslib.as_array(utilities, (users,)).copy()
                    np.ctypeslib.as_array(gradient, (users,))[:] = welfare.gradient(point)
                    return float(welfare.value(point))
                except BaseException as error:
                    self._error = error
            return float("nan")

        self._function = _FUNCTION(evaluate)  # kept alive as long as its address is
        address = ctypes.cast(self._function, ctypes.c_void_p).value
        assert address is not None
        super().__init__(address, np.ones(users))

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        self._error = None
        found = super().run(kernel, *arguments)
        if self._error is not None:
            raise self._error
        return found


def check_welfare(welfare: object) -> None:
    """Refuse names, classes and anything else that is not a welfare with its settings."""
    if isinstance(welfare, str | type):
        raise InputError(f"the welfare is {welfare!r}: give a welfare itself, like Nash().")
    if not isinstance(welfare, Welfare):
        raise InputError(
            f"{type(welfare).__name__} is not a welfare: derive the class from fairduel.Welfare."
        )
