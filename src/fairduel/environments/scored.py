"""The instances of any environment, scored by another scoring."""

from __future__ import annotations

from dataclasses import dataclass

from fairduel.environments.environment import Environment
from fairduel.instance import Instance
from fairduel.scorings import check_scoring


@dataclass(frozen=True)
class Scored(Environment):
    """The instances of another environment with the scores of ``scoring``."""

    environment: Environment
    scoring: str

    def __post_init__(self) -> None:
        check_scoring(self.scoring)

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        return self.environment.draw(run, rounds, seed).scored_by(self.scoring)
