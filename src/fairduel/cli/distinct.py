"""Learners and environments have to be distinct: none given twice, in whatever words."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable

from fairduel.cli import specs as named
from fairduel.errors import InputError


def check_learners(texts: Iterable[str], preset: str = "as_written") -> None:
    """Refuse two texts that ``fairduel.cli.specs.learner`` makes the same learner of."""
    _check("learner", {text: _learner(text, preset) for text in _each_once("learner", texts)})


def check_environments(texts: Iterable[str]) -> None:
    """The same for what ``fairduel.cli.specs.environment`` reads."""
    _check("environment", {text: _environment(text) for text in _each_once("environment", texts)})


def _each_once(kind: str, texts: Iterable[str]) -> list[str]:
    found: list[str] = []
    for text in texts:
        if text in found:
            raise InputError(f"the {kind} {text!r} is given twice: give it once.")
        found.append(text)
    return found


def _check(kind: str, meanings: dict[str, Hashable]) -> None:
    first: dict[Hashable, str] = {}
    for text, meaning in meanings.items():
        if meaning in first:
            raise InputError(
                f"{first[meaning]!r} and {text!r} are the same {kind}: give one of them."
            )
        first[meaning] = text


def _learner(text: str, preset: str) -> Hashable:
    """Of fairduel's own all settings; of others, which may be anything, what the text says."""
    if named.module_of(text) is None:
        return repr(named.learner(text, preset))
    module, name, listed = (*text.split(":", 2), "")[:3]
    return module, name, _settings(listed)


def _environment(text: str) -> Hashable:
    name, _, listed = text.partition(":")
    if name == "file":
        return name, os.path.realpath(listed)
    named.environment(text)  # complains about what cannot be read
    given = {size: float(value) for size, value in _settings(listed)}
    return name, frozenset((named.ENVIRONMENTS[name] | given).items())


def _settings(listed: str) -> frozenset[tuple[str, str]]:
    parts = (part.partition("=") for part in listed.split(",") if part)
    return frozenset((setting, value) for setting, _, value in parts)
