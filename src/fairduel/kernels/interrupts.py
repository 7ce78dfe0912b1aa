"""Ctrl-C that waits, for code in which it must not raise an exception.

Python answers a signal between two steps of its own, wherever they are taken. numba's wrappers of
kernels take such steps too, to convert arrays and generators, and do not expect an exception from
them: it comes out as a SystemError, or crashes the process. Imports of compiled modules hide it.
"""

from __future__ import annotations

import functools
import sys

# What the module ``signal`` wraps: microseconds faster a call, and some kernels take no longer.
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]
from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_arrived: list[int] = []


def _note(number: int, frame: object) -> None:
    _arrived.append(number)


def shielded(function: F) -> F:
    """Return the function, with Ctrl-C put off while it runs in the main thread.

    Whatever handler there is, that of Python, of asyncio or of a notebook, is put back and then
    called. Other threads are never interrupted, and where Ctrl-C is ignored nothing is put off.
    """

    @functools.wraps(function, updated=())
    def call(*arguments: Any) -> Any:
        handler = getsignal(SIGINT)
        if handler is _note or not callable(handler):
            return function(*arguments)
        if _arrived:  # left behind: a second one came just before the first was answered
            _arrived.clear()
        try:
            signal(SIGINT, _note)
        except ValueError:  # this is not the main thread
            return function(*arguments)
        try:
            return function(*arguments)
        finally:
            signal(SIGINT, handler)
            if _arrived:
                _arrived.clear()
                handler(SIGINT, sys._getframe())

    return cast(F, call)
