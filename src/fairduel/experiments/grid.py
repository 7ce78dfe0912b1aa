"""Compare learners: each plays every environment for every horizon, run by run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from fairduel._checks import whole_number
from fairduel._files import AnyPath
from fairduel.environments import Environment, Fixed, Random
from fairduel.errors import InputError
from fairduel.experiments.cells import Cell
from fairduel.experiments.checkpoints import Checkpoints
from fairduel.experiments.keys import identity
from fairduel.experiments.results import Results
from fairduel.experiments.run import sweep
from fairduel.instance import Instance
from fairduel.learners import Learner, catalogue
from fairduel.simulation.answering import EVERYBODY_AT_ONCE, Answering
from fairduel.welfare import Nash, Welfare

MOST_CELLS = 10**7

Thing = TypeVar("Thing")
Learners: TypeAlias = Learner[Any] | Iterable[Learner[Any]] | Mapping[str, Learner[Any]]
Environments: TypeAlias = Instance | Environment | Iterable[Environment] | Mapping[str, Environment]


def compare(
    learners: Learners | None = None,
    environments: Environments | None = None,
    rounds: int | Sequence[int] = 200_000,
    *,
    runs: int = 10,
    seed: int = 0,
    checkpoints: Checkpoints | int = 100,
    welfare: Welfare | None = None,
    answers: float | Sequence[float] = 1.0,
    delay: int = 0,
    folder: AnyPath | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> Results:
    """Run every learner in every environment for every horizon, ``runs`` times each.

    learners, environments: one, several, or several by label; default: all of
    fairduel's own, and ``Random()``. An instance is an environment by itself. rounds: the horizon,
    or several. Run r is drawn from ``seed`` and r alone, so a learner's results do not depend on
    which others are compared, and all of them meet the same instances and the same luck.
    checkpoints: when to read off, or their number, evenly spaced. welfare: what regret is
    measured in; default: Nash, as in the paper. answers, delay: as in ``simulate``. folder,
    workers, scheduler, progress: as in ``sweep``; with a folder, results are
    stored and never run twice.

    >>> from fairduel import FairETC, FairVOI
    >>> results = compare([FairVOI(), FairETC()], Random(users=3, arms=4), 1_000, workers=1)
    >>> results.summary(), results.plot(), results.report("folder")  # doctest: +SKIP
    """
    answering = Answering(answers, delay)
    cells = grid(learners, environments, rounds, runs, seed, checkpoints, welfare, answering)
    return sweep(cells, folder, workers=workers, scheduler=scheduler, progress=progress)


def grid(
    learners: Learners | None,
    environments: Environments | None,
    rounds: int | Sequence[int],
    runs: int,
    seed: int,
    checkpoints: Checkpoints | int,
    welfare: Welfare | None,
    answering: Answering = EVERYBODY_AT_ONCE,
) -> list[Cell]:
    """Return the cells of all combinations."""
    if learners is None:
        learners = {name: catalogue.by_name(name) for name in catalogue.NAMES}
    players = labelled("learner", learners, Learner)
    if environments is None:
        environments = Random()
    if isinstance(environments, Instance):
        environments = Fixed(environments)
    places = labelled("environment", environments, Environment)
    horizons = _horizons(rounds)
    marks = checkpoints if isinstance(checkpoints, Checkpoints) else Checkpoints(checkpoints)
    simulations = len(players) * len(places) * len(horizons) * whole_number("runs", runs)
    if simulations > MOST_CELLS:
        raise InputError(
            f"that would be {simulations:,} simulations: ask for {MOST_CELLS:,} at most."
        )
    measured = Nash() if welfare is None else welfare
    return [
        Cell(learner, environment, horizon, run, seed, marks, measured, label, place, answering)
        for place, environment in places.items()
        for horizon in horizons
        for label, learner in players.items()
        for run in range(runs)
    ]


def labelled(what: str, given: Any, kind: Any) -> dict[str, Any]:
    """Return what is given by label; refuse duplicates, under any label."""
    if isinstance(given, Mapping):
        found = dict(given)
    else:
        single = isinstance(given, kind | str) or not isinstance(given, Iterable)
        several = [given] if single else list(given)
        for thing in several:
            _check_kind(what, repr(thing), thing, kind)
        found = _by_label(what, several)
    if not found:
        raise InputError(f"there is no {what} to compare: give at least one.")
    first: dict[str, str] = {}
    for label, thing in found.items():
        _check_kind(what, repr(label), thing, kind)
        same = first.setdefault(repr(identity(thing)), label)
        if same != label:
            raise InputError(f"{same!r} and {label!r} are the same {what}: give one of them.")
    return found


def _check_kind(what: str, named: str, thing: object, kind: Any) -> None:
    if not isinstance(thing, kind):
        example = "FairVOI()" if what == "learner" else "Random(users=5)"
        raise InputError(f"{named} is no {what}: give one with its settings, like {example}.")


def _by_label(what: str, things: list[Thing]) -> dict[str, Thing]:
    found: dict[str, Thing] = {}
    for thing in things:
        label = short_label(thing)
        if label in found:
            same = identity(thing) == identity(found[label])
            advice = "give it once" if same else "give a dict with labels of your own"
            raise InputError(f"there are two {what}s {label}: {advice}.")
        found[label] = thing
    return found


def short_label(thing: object) -> str:
    """Return the class and the settings that differ from their defaults."""
    name = type(thing).__name__
    if not dataclasses.is_dataclass(thing):
        return name
    changed = [
        f"{field.name}={_shown(getattr(thing, field.name))}"
        for field in dataclasses.fields(thing)
        if field.init and identity(getattr(thing, field.name)) != identity(_default(field))
    ]
    return f"{name}({', '.join(changed)})" if changed else name


def _shown(value: object) -> str:
    # What has a short repr of its own, like an Instance, keeps it.
    settings = getattr(value, "__dataclass_params__", None)
    return repr(value) if settings is None or not settings.repr else short_label(value)


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        make: Callable[[], object] = field.default_factory
        return make()
    return field.default


def _horizons(rounds: int | Sequence[int]) -> list[int]:
    horizons = list(rounds) if isinstance(rounds, Sequence) else [rounds]
    if not horizons:
        raise InputError("rounds is empty: give at least one horizon.")
    for horizon in horizons:
        if horizons.count(horizon) > 1:
            raise InputError(f"rounds has {horizon} twice: give it once.")
    return horizons
