"""Learners, environments and horizons, each with each: from a TOML file, flags or both."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

from fairduel._files import AnyPath, read_whole
from fairduel.cli.distinct import check_environments, check_learners
from fairduel.cli.specs import LEARNERS, known
from fairduel.errors import InputError
from fairduel.experiments.cells import Cell

MOST_CELLS = 10**7


@dataclass(frozen=True)
class Grid:
    """What to compare; texts are those of ``Cell``. Every combination has so many runs."""

    learners: tuple[str, ...] = tuple(LEARNERS)
    environments: tuple[str, ...] = ("random",)
    rounds: tuple[int, ...] = (200_000,)
    runs: int = 10
    seed: int = 0
    checkpoints: str = "linear:100"

    def __post_init__(self) -> None:
        for name in ("learners", "environments", "rounds"):
            if not getattr(self, name):
                raise InputError(f"{name} is empty: give at least one.")
        for value in self.rounds:
            if self.rounds.count(value) > 1:
                raise InputError(f"rounds has {value} twice: give it once.")
        check_learners(self.learners)
        check_environments(self.environments)
        if self.runs < 1:
            raise InputError(f"runs is {self.runs}: give a whole number from 1 up.")
        simulations = len(self.learners) * len(self.problems) * self.runs
        if simulations > MOST_CELLS:
            raise InputError(
                f"that would be {simulations:,} simulations: ask for {MOST_CELLS:,} at most."
            )

    @property
    def problems(self) -> list[tuple[str, int]]:
        """Each environment with each horizon."""
        return list(product(self.environments, self.rounds))

    @property
    def cells(self) -> list[Cell]:
        return [
            Cell(environment, learner, rounds, run, self.seed, self.checkpoints)
            for environment, rounds in self.problems
            for learner in self.learners
            for run in range(self.runs)
        ]


def read_grid(file: AnyPath | None, given: dict[str, Any]) -> Grid:
    """The grid of a TOML file, if any; what is given (and not None) comes before it.

    The file has the fields of ``Grid`` as keys; what can have several values may have one.
    """
    settings = {} if file is None else _read(file)
    settings |= {name: value for name, value in given.items() if value is not None}
    return Grid(**{name: _checked(name, value) for name, value in settings.items()})


def _read(file: AnyPath) -> dict[str, Any]:
    try:
        settings = tomllib.loads(read_whole(file).decode())
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(file)!r} is not a TOML file: {error}.") from error
    for name in settings:
        known(f"setting of {str(file)!r}", name, [field.name for field in fields(Grid)])
    return settings


def _checked(name: str, value: Any) -> Any:
    """A value of the type that the field has."""
    default = Grid.__dict__[name]
    several = isinstance(default, tuple)
    kind = type(default[0] if isinstance(default, tuple) else default)
    values = value if several and isinstance(value, list | tuple) else [value]
    for each in values:
        if not isinstance(each, kind) or isinstance(each, bool):
            wanted = {int: "a whole number", str: "a text"}[kind]
            more = ", or a list of them" if several else ""
            raise InputError(f"{name} has {each!r}: give {wanted}{more}.")
    return tuple(values) if several else value
