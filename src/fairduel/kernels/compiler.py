"""Numba kernels: compiled once, with a notice to the user, and cached on disk."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from fairduel import kernels
from fairduel.kernels.interrupts import shielded

shielded(importlib.import_module)("numba")
import numba  # noqa: E402
from numba.core import event  # noqa: E402

F = TypeVar("F", bound=Callable[..., Any])

NOTICE = "fairduel: compiling its kernels for this machine (once, about a minute of one core) ...\n"


def kernel(*signatures: Any) -> Callable[[F], F]:
    """Compile a function for these signatures at once, and keep the result on disk.

    Where no cache directory can be written, the result lasts as long as the process.
    Division follows numpy (1 / 0 is inf), and sums keep their order, so that results do not
    depend on how wide the machine's vectors are. Other threads go on meanwhile. Ctrl-C waits for
    the end, of compiling too.
    """

    @shielded
    def compile_now(function: F) -> F:
        compiler = functools.partial(numba.njit, list(signatures), error_model="numpy", nogil=True)
        try:
            return shielded(cast(F, compiler(cache=True)(function)))
        except (RuntimeError, OSError):  # numba has no place for its cache, or lost it
            _announcer.kept = False
            return shielded(cast(F, compiler()(function)))

    def decorate(function: F) -> F:
        compiled = compile_now(function)
        if _announcer.told and _announcer.kept and function.__module__.startswith(_KERNELS):
            _compile_the_others()
        return compiled

    return decorate


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


class _Announcer(event.Listener):
    """Says on stderr, in one line, that numba compiles something of fairduel, the first time.

    What numba reads from its cache it does not compile.
    """

    told = False
    kept = True  # on disk, so that it need not be done again

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.told and module.startswith("fairduel."):
            self.told = True
            sys.stderr.write(NOTICE)
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        pass


_KERNELS = f"{kernels.__name__}."
_others: list[pkgutil.ModuleInfo] = []
_announcer = _Announcer()
event.register("numba:compile", _announcer)  # type: ignore[no-untyped-call]


def _compile_the_others() -> None:
    """Load all kernels once one had to be compiled: so the user waits once, and not for each."""
    if not _others:
        _others.extend(pkgutil.iter_modules(kernels.__path__, _KERNELS))
        for module in _others:
            importlib.import_module(module.name)
