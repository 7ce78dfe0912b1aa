"""Ctrl-C at the command line: one line and exit code 130, whatever becomes of the exception."""

from __future__ import annotations

import _thread
import sys
import threading
from typing import Any

STOPPED = 130
NOTHING = "there is no result"

_arrived: list[int] = []
_said: list[str] = []


def interrupt(number: int, frame: object) -> None:
    """Answer Ctrl-C, and note it: other people's code may turn the exception into another one."""
    _arrived.append(number)
    raise KeyboardInterrupt


def insist(unraisable: Any) -> None:
    """Interrupt again where the exception was lost, as in a callback of the garbage collector.

    A little later: from in here it would be lost again.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(unraisable)


def begin() -> None:
    """Forget what an earlier command has noted."""
    _arrived.clear()
    _said.clear()


def is_stop(error: BaseException) -> bool:
    """Return whether an exception is due to Ctrl-C."""
    return isinstance(error, KeyboardInterrupt) or bool(_arrived)


def say(error: BaseException | None = None) -> int:
    """Say once that the command has stopped, and what is kept, if anything; return the code."""
    if not _said:
        known = isinstance(error, KeyboardInterrupt) and error.args
        _said.append(str(error) if known else NOTHING)
        sys.stderr.write(f"stopped: {_said[0]}\n")
    return STOPPED
