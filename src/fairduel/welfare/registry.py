"""The welfares by name: every concrete one that a module of this package defines."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil

from fairduel import welfare
from fairduel.welfare.welfare import Welfare


@functools.cache
def by_name() -> dict[str, type[Welfare]]:
    """Return the classes of all welfares, sorted by name; a file added to the package counts."""
    found: dict[str, type[Welfare]] = {}
    for module in pkgutil.iter_modules(welfare.__path__):
        path = f"{welfare.__name__}.{module.name}"
        for kind in vars(importlib.import_module(path)).values():
            if _is_welfare(kind) and kind.__module__ == path:
                if kind.name in found:
                    raise TypeError(f"two welfares are called {kind.name!r}: rename one.")
                found[kind.name] = kind
    return dict(sorted(found.items()))


def _is_welfare(kind: object) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Welfare) and not inspect.isabstract(kind)
