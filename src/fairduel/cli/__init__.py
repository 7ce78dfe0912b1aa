"""The command line: each command calls one library function and shows what it returns."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # itself, it takes milliseconds
import os
import sys


def main() -> None:
    """Run the console script. Ctrl-C ends it with one line and exit code 130, whenever it comes."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:  # and not ignored, as in the background
        signal.signal(signal.SIGINT, _leave)
    from fairduel.cli import app, stopping

    if heard:
        sys.unraisablehook = stopping.insist
        signal.signal(signal.SIGINT, stopping.interrupt)
    try:
        code = app.run(sys.argv[1:])
    except KeyboardInterrupt:  # just before or after
        code = stopping.say()
    if heard:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python is about to leave
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code. An error of its input becomes one line."""
    from fairduel.cli import app

    return app.run(arguments)


def _leave(number: int, frame: object) -> None:
    """Leave at once: nothing has begun, and an import may hide an exception."""
    os.write(2, b"stopped: there is no result\n")
    os._exit(130)
