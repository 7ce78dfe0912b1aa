"""Checks of arguments: whole numbers, numbers in a range, names, seeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from fairduel.errors import InputError

Seed: TypeAlias = int | np.random.Generator


def whole_number(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """Return ``value`` if it is a whole number from ``least`` to ``most``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):  # type: ignore[operator]
        span = f"from {least} up" if most is None else f"from {least} to {most:,}"
        raise InputError(f"{name} is {value!r}: give a whole number {span}.")
    return int(value)  # type: ignore[call-overload, no-any-return]


def number_within(name: str, value: object, rule: str, low: float, high: float) -> float:
    """Return ``value`` if it is a number in [low, high]; ``rule`` is that range in words."""
    if not isinstance(value, int | float | np.integer | np.floating) or not low <= value <= high:
        raise InputError(f"{name} is {value!r}: give a number {rule}.")
    return float(value)


def one_of(what: str, name: str, names: Iterable[str]) -> str:
    """Return ``name`` if it is one of ``names``; otherwise suggest the closest match."""
    choices = list(names)
    if name in choices:
        return name
    import difflib

    plain = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(name.lower(), plain, n=1)
    known = f"use one of {', '.join(choices)}." if choices else "leave it out, there are none."
    hint = f"did you mean {plain[near[0]]!r}?" if near else known
    raise InputError(f"there is no {what} {name!r}: {hint}")


def random_generator(seed: Seed) -> np.random.Generator:
    """Return ``seed`` if it is a generator, else a new generator seeded with it."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(whole_number("seed", seed, 0))
