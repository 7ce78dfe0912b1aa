"""Learners, environments, welfares and checkpoints as text, for the command line alone."""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, get_type_hints

from fairduel._checks import one_of
from fairduel.data import read_rankings
from fairduel.environments import (
    BradleyTerry,
    Clustered,
    Environment,
    Fixed,
    Hard,
    Mallows,
    Paper,
    Random,
    RankedGroups,
    RankedPeople,
    Scored,
)
from fairduel.errors import InputError
from fairduel.experiments import Checkpoints
from fairduel.instance import Instance
from fairduel.learners import Learner, catalogue
from fairduel.welfare import Welfare
from fairduel.welfare.registry import by_name

Settings = TypeVar("Settings")

ENVIRONMENTS: dict[str, type[Environment]] = {
    "random": Random,
    "clustered": Clustered,
    "hard": Hard,
    "paper": Paper,
    "bradley-terry": BradleyTerry,
    "mallows": Mallows,
}
RANKINGS: dict[str, type[RankedGroups | RankedPeople]] = {
    "groups": RankedGroups,
    "people": RankedPeople,
}

# The name of a file may have anything in it, and sizes after it have neither colons nor slashes.
FILE = re.compile(r"(file:.*|rankings:.*?)(?:[:,]((?:\w+=[^:,/\\]*,?)+))?")
OWN_LEARNER = re.compile(r"(?P<module>[^\W\d][\w.]*):[^\W\d]\w*(:.*)?")


def welfare(text: str) -> Welfare:
    """Return the welfare of a text like ``power-mean:p=-1`` or ``gini:weights=3/2/1,sizes=1/4/5``.

    After the name and a colon come settings, the fields of the welfare's class, separated by
    commas, or by colons where commas separate the settings of a learner.
    """
    name, _, listed = text.partition(":")
    kind = by_name()[one_of("welfare", name, by_name())]
    given = _given(name, listed.replace(":", ","))
    readable: dict[str, Any] = _readable(kind) if dataclasses.is_dataclass(kind) else {}
    for setting in given:
        one_of(f"{name} setting", setting, readable)
    return kind(**{at: _read(at, value, readable[at]) for at, value in given.items()})


def learner(text: str, preset: str = "as_written") -> Learner[Any]:
    """Return the learner of a text like ``fair-eps:exploration=0.2,tournament.gap_guess=0.01``.

    After the name and a colon come settings, the fields of the learner's class, separated by
    commas; those of the tournament have its name and a dot in front. ``preset=as_run`` starts
    from the settings of the paper's Table 1. A welfare is given as a text of its own, like
    ``welfare=power-mean:p=-1``, and winners as arm numbers from 0, one for each user, like
    ``winners=3/0/1``.

    Your own learner is named as ``package.module:Name``, optionally with settings after another
    colon: an object, or a callable that returns one, which needs no preset.
    """
    settings: list[str] = []
    module = module_of(text)
    if module is not None:
        name, _, listed = text.removeprefix(f"{module}:").partition(":")
        given = _given(name, listed)
        made = _own(module, name)
    else:
        name, _, listed = text.partition(":")
        one_of("learner", name, catalogue.NAMES)
        given = _given(name, listed)
        if name in catalogue.PAPER:
            preset = one_of("preset", given.pop("preset", preset), catalogue.PRESETS)
            settings = ["preset"]
        made = catalogue.by_name(name, preset)
    readable = _readable(type(made)) if dataclasses.is_dataclass(made) else {}
    for setting, value in given.items():
        one_of(f"{name} setting", setting, [*readable, *settings])
        made = _changed(made, setting, _read(setting, value, readable[setting]))
    chosen: Learner[Any] = made
    return chosen


def module_of(text: str) -> str | None:
    """Return the module that the text of a learner names, or None for one of fairduel's own."""
    own = OWN_LEARNER.fullmatch(text)
    return own["module"] if own and own["module"] not in catalogue.NAMES else None


def learners(
    texts: list[str] | None, preset: str = "as_written", scoring: str | None = None
) -> dict[str, Learner[Any]]:
    """Return what several texts name, by text; None stands for all of fairduel's own.

    Those that can learn several scorings learn ``scoring`` unless their texts name another.
    """
    found: dict[str, Learner[Any]] = {}
    for text in catalogue.NAMES if texts is None else texts:
        if text in found:
            raise InputError(f"the learner {text!r} is given twice: give it once.")
        found[text] = _learning(learner(text, preset), text, scoring)
    return found


def _learning(made: Learner[Any], text: str, scoring: str | None) -> Learner[Any]:
    """Return a learner that learns a scoring, if it can learn several and names none."""
    takes = dataclasses.is_dataclass(made) and "scoring" in _readable(type(made))
    if scoring is None or not takes or "scoring=" in text:
        return made
    return _changed(made, "scoring", scoring)


def environment(text: str, sizes: Mapping[str, Any] | None = None) -> Environment:
    """Return what a text like ``random:users=5,arms=10,gap=0.1`` names.

    After the name and a colon come sizes, the fields of the environment's class; ``sizes`` has
    more of them, already parsed. ``file:PATH`` is the instance of that file, in every run.
    ``rankings:PATH`` has the people of a file of rankings as users, and after another colon comes
    what they are, ``as=groups`` or ``as=people``, and sizes.
    """
    place, listed = place_of(text)
    name, _, path = place.partition(":")
    given = _given(name, listed)
    make = _environment(name, path, given)
    readable = {size: hint for size, hint in get_type_hints(make.func).items() if hint in _READERS}
    settings = dict(sizes or {})
    for size in settings:
        if size not in readable:
            raise InputError(f"the environment {name!r} has no {size}: leave it out.")
    for size, value in given.items():
        one_of(f"setting of {name}", size, readable)
        if size in settings:
            raise InputError(f"the setting {size!r} of {name} is given twice: give it once.")
        settings[size] = _read(size, value, readable[size])
    made: Environment = make(**settings)
    return made


def _environment(name: str, path: str, given: dict[str, str]) -> partial[Any]:
    """Return the class of an environment, with what its file holds."""
    one_of("environment", name, [*ENVIRONMENTS, "rankings", "file"])
    if name == "file":
        return partial(Fixed, Instance.load(path))
    if name == "rankings":
        users = one_of("kind of users", given.pop("as", "groups"), RANKINGS)
        return partial(RANKINGS[users], read_rankings(path))
    return partial(ENVIRONMENTS[name])


def place_of(text: str) -> tuple[str, str]:
    """Return the name of an environment, with the file if it has one, and its listed sizes."""
    with_file = FILE.fullmatch(text)
    if with_file is not None:
        return with_file[1], with_file[2] or ""
    name, _, listed = text.partition(":")
    return name, listed


def described(text: str, environment: Environment) -> dict[str, Any]:
    """Return in words what is played: the name, and all sizes."""
    words: dict[str, Any] = {"environment": place_of(text)[0]}
    for users, kind in RANKINGS.items():
        words |= {"as": users} if isinstance(environment, kind) else {}
    sizes = vars(environment).items()
    return words | {size: value for size, value in sizes if isinstance(value, int | float | str)}


def scored(environment: Environment, scoring: str | None) -> Environment:
    """Return an environment with the scores of a scoring, if one is named."""
    return environment if scoring is None else Scored(environment, scoring)


def environments(texts: list[str], scoring: str | None = None) -> dict[str, Environment]:
    """Return what several texts name, by text."""
    found: dict[str, Environment] = {}
    for text in texts:
        if text in found:
            raise InputError(f"the environment {text!r} is given twice: give it once.")
        found[text] = scored(environment(text), scoring)
    return found


def checkpoints(text: str) -> Checkpoints:
    """Return what "linear:100" or "log:60" stands for."""
    spacing, _, count = text.partition(":")
    if spacing not in ("linear", "log") or not count.isdecimal() or int(count) < 1:
        raise InputError(
            f"the checkpoints are {text!r}: write linear or log, a colon and how many, "
            "like linear:100."
        )
    return Checkpoints(int(count), spacing)


def answers(given: Sequence[float]) -> float | Sequence[float]:
    """Return one probability for all users, or one for each."""
    return given[0] if len(given) == 1 else list(given)


def answering_words(given: Sequence[float], delay: int) -> dict[str, Any]:
    """Return who answers when, as far as it is not everybody at once."""
    words: dict[str, Any] = {} if all(each == 1 for each in given) else {"answers": answers(given)}
    return words | ({"delay": delay} if delay else {})


def _own(module: str, name: str) -> Any:
    """Return a user's own learner: the object of that name, or what it returns."""
    if os.getcwd() not in sys.path:  # where people have their modules
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module), name)
        made = found if isinstance(found, Learner) else found()
    except Exception as error:
        raise InputError(
            f"the learner '{module}:{name}' cannot be loaded ({type(error).__name__}: {error}): "
            "name a module that can be imported, and in it a learner or a class that makes one."
        ) from error
    if not isinstance(made, Learner):
        raise InputError(
            f"'{module}:{name}' is not a learner: derive its class from fairduel.Learner."
        )
    return made


def _given(name: str, listed: str) -> dict[str, str]:
    """Return the settings of a text, not yet parsed."""
    given: dict[str, str] = {}
    for part in filter(None, listed.split(",")):
        setting, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{part!r} is not a setting of {name}: write it as setting=value.")
        if setting in given:
            raise InputError(f"the setting {setting!r} of {name} is given twice: give it once.")
        given[setting] = value
    return given


def _readable(kind: type, prefix: str = "") -> dict[str, Any]:
    """Return the types of all settings of a learner; nested ones have dotted names."""
    types: dict[str, Any] = {}
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            types |= _readable(hint, f"{prefix}{field.name}.")
        else:
            types[prefix + field.name] = hint
    return types


def _changed(settings: Settings, path: str, value: object) -> Settings:
    """Return a copy with one setting changed; a dotted one is nested in another."""
    name, _, inner = path.partition(".")
    if inner:
        value = _changed(getattr(settings, name), inner, value)
    changed: Settings = dataclasses.replace(settings, **{name: value})  # type: ignore[type-var]
    return changed


def _read(setting: str, text: str, hint: object) -> object:
    if hint not in _READERS:
        raise InputError(f"{setting} can't be given as text: set it in Python.")
    read, rule = _READERS[hint]
    try:
        return read(text)
    except (ValueError, KeyError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{setting} is {text!r}: give {rule}.") from error


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split("/"))


def _whole_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("/"))


def _some_numbers(text: str) -> tuple[int | None, ...]:
    return tuple(None if part == "-" else int(part) for part in text.split("/"))


# How each type of setting is read, and what to ask for where it can't be.
_READERS: dict[object, tuple[Callable[[str], object], str]] = {
    int: (int, "a whole number"),
    int | None: (int, "a whole number"),
    float: (float, "a number"),
    float | None: (float, "a number"),
    str: (str, "a text"),
    bool: ({"true": True, "false": False}.__getitem__, "true or false"),
    tuple[float, ...] | None: (_numbers, "numbers with / between, like 3/2/1"),
    tuple[int, ...] | None: (_whole_numbers, "whole numbers with / between, like 3/0/1"),
    tuple[int | None, ...] | None: (
        _some_numbers,
        "whole numbers with / between, - for one that is not known, like 3/-/1",
    ),
    Welfare: (welfare, "a welfare, like nash or power-mean:p=-1"),
}
