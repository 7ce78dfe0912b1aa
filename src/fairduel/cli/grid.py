"""A grid of learners, environments and horizons: from a TOML file, options or both."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fairduel._checks import one_of, whole_number
from fairduel._files import AnyPath, read_whole
from fairduel.cli import specs
from fairduel.errors import InputError
from fairduel.learners import catalogue

OPTIONS = {"learners": "learner", "environments": "environment"}  # the others have their own name


@dataclass(frozen=True)
class Grid:
    """What to compare, as text."""

    learners: tuple[str, ...] = catalogue.NAMES
    environments: tuple[str, ...] = ("random",)
    rounds: tuple[int, ...] = (200_000,)
    runs: int = 10
    seed: int = 0
    checkpoints: str = "linear:100"
    welfare: str = "nash"
    scoring: str | None = None
    answers: tuple[float, ...] = (1.0,)
    delay: int = 0

    def __post_init__(self) -> None:
        for name in ("learners", "environments", "rounds", "answers"):
            if not getattr(self, name):
                raise InputError(f"{name} is empty: give at least one.")
        whole_number("runs", self.runs)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``fairduel.compare``."""
        return {
            "learners": specs.learners(list(self.learners), scoring=self.scoring),
            "environments": specs.environments(list(self.environments), self.scoring),
            "rounds": self.rounds,
            "runs": self.runs,
            "seed": self.seed,
            "checkpoints": specs.checkpoints(self.checkpoints),
            "welfare": specs.welfare(self.welfare),
            "answers": specs.answers(self.answers),
            "delay": self.delay,
        }

    def command(self, out: Path, scheduler: str | None) -> str:
        """Return the command that compares the same without a file."""
        words = ["fairduel", "compare"]
        for field in fields(self):
            value = getattr(self, field.name)
            for each in value if isinstance(value, tuple) else () if value is None else (value,):
                words += [f"--{OPTIONS.get(field.name, field.name)}", str(each)]
        words += ["--out", out.as_posix()]
        return shlex.join(words + (["--scheduler", scheduler] if scheduler else []))


def read_grid(file: AnyPath | None, given: dict[str, Any]) -> Grid:
    """Return the grid of a TOML file, if any; values given (and not None) take precedence.

    The file has the fields of ``Grid`` as keys; lists of one may be written without brackets.
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
        one_of(f"setting of {str(file)!r}", name, [field.name for field in fields(Grid)])
    return settings


def _checked(name: str, value: Any) -> Any:
    """Return a value of the type that the field has."""
    default = Grid.__dict__[name]
    several = isinstance(default, tuple)
    kind = str if default is None else type(default[0] if isinstance(default, tuple) else default)
    values = value if several and isinstance(value, list | tuple) else [value]
    for each in values:
        fits = isinstance(each, int | float if kind is float else kind)
        if not fits or isinstance(each, bool):
            wanted = {int: "a whole number", float: "a number", str: "a text"}[kind]
            more = ", or a list of them" if several else ""
            raise InputError(f"{name} has {each!r}: give {wanted}{more}.")
    return tuple(values) if several else value
