"""Numba kernels: compiled once, with a notice to the user, and cached on disk."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from fairduel.kernels.interrupts import shielded

shielded(importlib.import_module)("numba")
import numba  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])

NOTICE = "fairduel: compiling its kernels for this machine (once, 15 to 45 s) ...\n"


def kernel(*signatures: Any) -> Callable[[F], F]:
    """Compile a function for these signatures at once, and keep the result on disk.

    Where no cache directory can be written, the result lasts as long as the process.
    Division follows numpy (1 / 0 is inf), and sums keep their order, so that results do not
    depend on how wide the machine's vectors are. Ctrl-C waits for the end, of compiling too.
    """

    @shielded
    def compile_now(function: F) -> F:
        compiler = functools.partial(numba.njit, list(signatures), error_model="numpy")
        try:
            return shielded(cast(F, compiler(cache=True)(function)))
        except (RuntimeError, OSError):  # numba has no place for its cache, or lost it
            return shielded(cast(F, compiler()(function)))

    return compile_now


def part(function: F, inline: str = "never") -> F:
    """Compile a function as a part of the kernels that call it; it is kept on disk with them."""
    options: dict[str, Any] = {
        "error_model": "numpy",
        "inline": inline,
        # Only kernels call it, so numba need not compile ways in from Python and from C.
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    return cast(F, shielded(numba.njit(**options))(function))


def _announce_compilation() -> None:
    """Announce on stderr, in one line, the first time that numba compiles something of fairduel.

    What numba reads from its cache it does not compile.
    """
    from numba.core import event

    class Announcer(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            module = event.data["dispatcher"].py_func.__module__
            if not self.told and module.startswith("fairduel."):
                self.told = True
                sys.stderr.write(NOTICE)
                sys.stderr.flush()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Announcer())  # type: ignore[no-untyped-call]


_announce_compilation()
