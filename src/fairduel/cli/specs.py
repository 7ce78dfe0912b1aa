"""Learners, welfares and environments by name, and what was meant where a name is unknown."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, get_type_hints

import numpy as np

from fairduel.environments import generate
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import FairEpsilonGreedy, FairETC, FairVOI, Learner, UniformOverUsers
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian, Welfare

Settings = TypeVar("Settings")

WELFARES: dict[str, Callable[..., Welfare]] = {
    "nash": Nash,
    "utilitarian": Utilitarian,
    "egalitarian": Egalitarian,
    "frank-wolfe": FrankWolfe,
}

# The paper's utilitarian baselines are its own learners with another welfare.
LEARNERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "fair-voi": (FairVOI, {}),
    "fair-etc": (FairETC, {}),
    "fair-eps": (FairEpsilonGreedy, {}),
    "utilitarian-etc": (FairETC, {"welfare": Utilitarian()}),
    "utilitarian-eps": (FairEpsilonGreedy, {"welfare": Utilitarian()}),
    "uniform": (UniformOverUsers, {}),
}

PRESETS = ("as_written", "as_run")

OWN_LEARNER = re.compile(r"(?P<module>[^\W\d][\w.]*):[^\W\d]\w*(:.*)?")

# The sizes that each environment takes, and what they are unless told.
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "random": {"users": 10, "arms": 10, "gap": 0.1},
    "clustered": {"users": 10, "arms": 10, "gap": 0.1, "share": 0.5},
    "hard": {"users": 10, "arms": 10},
    "paper": {"users": 10, "arms": 10, "gap": 0.1},
}


def known(what: str, name: str, names: Iterable[str]) -> str:
    """The name, if it is one of ``names``; otherwise an error with the nearest of them."""
    choices = list(names)
    if name in choices:
        return name
    near = difflib.get_close_matches(name, choices, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(choices)}."
    raise InputError(f"there is no {what} {name!r}: {hint}")


def welfare(name: str, weights: tuple[float, ...] | None = None) -> Welfare:
    """A welfare by its name in ``WELFARES``; some take weights of the users."""
    kind = WELFARES[known("welfare", name, WELFARES)]
    if weights is None:
        return kind()
    if kind not in (Nash, Utilitarian):
        raise InputError(f"the welfare {name!r} takes no weights: use nash or utilitarian.")
    return kind(weights=weights)


def learner(text: str, preset: str = "as_written") -> Learner[Any]:
    """The learner that a text like ``fair-eps:exploration=0.2,tournament.gap_guess=0.01`` names.

    After the name and a colon come settings, the fields of the learner's class, separated by
    commas; those of the tournament have its name and a dot in front. ``preset=as_run`` starts
    from the settings of the paper's Table 1. A welfare is given by its name, and winners as arm
    numbers from 0, one for each user, like ``winners=3/0/1``.

    Anybody's own learner is named as ``package.module:Name``, perhaps with settings after another
    colon: an object, or what makes one when it is called, which needs no preset.
    """
    settings: list[str] = []
    module = module_of(text)
    if module is not None:
        name, _, listed = text.removeprefix(f"{module}:").partition(":")
        given = _given(name, listed)
        made = _own(module, name)
    else:
        name, _, listed = text.partition(":")
        kind, own = LEARNERS[known("learner", name, LEARNERS)]
        given = _given(name, listed)
        if hasattr(kind, "as_run"):  # one of the paper's
            preset = known("preset", given.pop("preset", preset), PRESETS)
            settings = ["preset"]
            kind = getattr(kind, preset)
        made = kind(**own)
    readable = _readable(type(made)) if dataclasses.is_dataclass(made) else {}
    for setting, value in given.items():
        known(f"{name} setting", setting, [*readable, *settings])
        made = _changed(made, setting, _read(setting, value, readable[setting]))
    chosen: Learner[Any] = made
    return chosen


def module_of(text: str) -> str | None:
    """The module that the text of a learner names, or None for one of fairduel's own."""
    own = OWN_LEARNER.fullmatch(text)
    return own["module"] if own and own["module"] not in LEARNERS else None


def environment(text: str) -> Callable[[int, int, int], Instance]:
    """What a text like ``random:users=5,arms=10,gap=0.1`` names: run, rounds, seed to an instance.

    After the name and a colon come sizes as in ``ENVIRONMENTS``; ``hard`` takes ``epsilon`` as
    well. ``file:PATH`` is the instance of that file, in every run. Else an instance is the one
    that ``instances`` has for the run.
    """
    name, _, listed = text.partition(":")
    if name == "file":
        return lambda run, rounds, seed: Instance.load(listed)
    defaults = ENVIRONMENTS[known("environment", name, [*ENVIRONMENTS, "file"])]
    given: dict[str, Any] = {}
    readable = defaults | ({"epsilon": 0.0} if name == "hard" else {})
    for size, value in _given(name, listed).items():
        known(f"setting of {name}", size, readable)
        given[size] = _read(size, value, type(readable[size]))
    made = defaults | given
    if name == "paper":
        return lambda run, rounds, seed: _paper_instance(run, **made)
    return lambda run, rounds, seed: _instance(name, run, rounds, seed, **made)


def instances(
    environment: str, runs: int, rounds: int, seed: int, **sizes: int | float | None
) -> Iterator[Instance]:
    """An instance for each run, which depends on the seed and the run's number alone.

    ``sizes`` are users, arms, gap and share; those that are None are as in ``ENVIRONMENTS``. The
    paper's instances have seeds of their own. The hard ones are I^0, I^1 and so on in turn, each
    with its arms in random order.
    """
    defaults = ENVIRONMENTS[known("environment", environment, ENVIRONMENTS)]
    given = {size: value for size, value in sizes.items() if value is not None}
    for size in given:
        if size not in defaults:
            raise InputError(f"the environment {environment!r} has no {size}: leave it out.")
    made = defaults | given
    if environment == "paper":
        return _paper(runs, **made)
    return (_instance(environment, run, rounds, seed, **made) for run in range(runs))


def _own(module: str, name: str) -> Any:
    """Somebody's learner: the object of that name, or what it makes."""
    if module == "__main__":
        raise InputError(
            f"the learner {name!r} is in a script or notebook, where other processes can't find "
            "it: put it into a module."
        )
    try:
        found = getattr(importlib.import_module(module), name)
        made = found if hasattr(found, "ask") and not isinstance(found, type) else found()
    except Exception as error:
        raise InputError(
            f"the learner '{module}:{name}' cannot be loaded: {type(error).__name__}: {error}; "
            "name a module that can be imported, and in it a learner or a class that makes one."
        ) from error
    for method in ("init", "ask", "tell", "policy"):
        if not callable(getattr(made, method, None)):
            raise InputError(
                f"'{module}:{name}' is no learner, since it has no {method}(): see "
                "fairduel.Learner for what one has to have."
            )
    return made


@functools.cache
def _paper_instances(**sizes: Any) -> list[Instance]:
    return generate.paper_instances(**sizes)


def _paper_instance(run: int, **sizes: Any) -> Instance:
    if run >= generate.PAPER_RUNS:
        raise InputError(
            f"run {run} is asked for and the paper's {generate.PAPER_RUNS} instances are 0 to "
            f"{generate.PAPER_RUNS - 1}: ask for one of these, or use the environment 'random'."
        )
    return _paper_instances(**sizes)[run]


def _paper(runs: int, **sizes: Any) -> Iterator[Instance]:
    if runs > generate.PAPER_RUNS:
        raise InputError(
            f"{runs} runs are asked for and the paper has {generate.PAPER_RUNS} instances: "
            f"ask for at most {generate.PAPER_RUNS}, or use the environment 'random'."
        )
    return iter(generate.paper_instances(**sizes)[: max(runs, 0)])


def _instance(environment: str, run: int, rounds: int, seed: int, **sizes: Any) -> Instance:
    # spawn_key (run, 0): compare() draws the simulation of the same run from (run, 1).
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, 0)))
    if environment == "random":
        return generate.random_instance(**sizes, seed=rng)
    if environment == "clustered":
        return generate.clustered_instance(**sizes, seed=rng)
    perturbed = run % (min(sizes["users"], sizes["arms"]) // 2 + 1)
    return generate.hard_instance(**sizes, rounds=rounds, instance=perturbed, seed=rng)


def _given(name: str, listed: str) -> dict[str, str]:
    """The settings of a text, not yet read."""
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
    """The types of all settings of a learner, those within other settings by dotted names."""
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
    """A copy with one setting changed; a dotted one lies within another."""
    name, _, inner = path.partition(".")
    if inner:
        value = _changed(getattr(settings, name), inner, value)
    changed: Settings = dataclasses.replace(settings, **{name: value})  # type: ignore[type-var]
    return changed


def _read(setting: str, text: str, hint: object) -> object:
    if hint not in _READERS:
        raise InputError(f"{setting} can't be given as text: set it where the learner is made.")
    read, rule = _READERS[hint]
    try:
        return read(text)
    except (ValueError, KeyError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{setting} is {text!r}: give {rule}.") from error


def _whole_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("/"))


def _some_numbers(text: str) -> tuple[int | None, ...]:
    return tuple(None if part == "-" else int(part) for part in text.split("/"))


# How each type of setting is read, and what to ask for where it can't be.
_READERS: dict[object, tuple[Callable[[str], object], str]] = {
    int: (int, "a whole number"),
    float: (float, "a number"),
    str: (str, "a text"),
    bool: ({"true": True, "false": False}.__getitem__, "true or false"),
    tuple[int, ...] | None: (_whole_numbers, "whole numbers with / between, like 3/0/1"),
    tuple[int | None, ...] | None: (
        _some_numbers,
        "whole numbers with / between, - for one that is not known, like 3/-/1",
    ),
    Welfare: (welfare, "the name of a welfare"),
}
