"""When the cells of an experiment are read off, whatever their horizon."""

from __future__ import annotations

from dataclasses import dataclass

from fairduel._arrays import Ints
from fairduel._checks import one_of, whole_number
from fairduel.simulation.trajectory import (
    MOST_CHECKPOINTS,
    linear_checkpoints,
    logarithmic_checkpoints,
)

SPACINGS = {"linear": linear_checkpoints, "log": logarithmic_checkpoints}


@dataclass(frozen=True)
class Checkpoints:
    """At most ``count`` rounds of every run, evenly spaced on a linear or a log axis."""

    count: int = 100
    spacing: str = "linear"

    def __post_init__(self) -> None:
        whole_number("the number of checkpoints", self.count, 1, MOST_CHECKPOINTS)
        one_of("spacing of checkpoints", self.spacing, SPACINGS)

    def of(self, rounds: int) -> Ints:
        """Return the checkpoints of a run that lasts for ``rounds``."""
        return SPACINGS[self.spacing](rounds, self.count)
