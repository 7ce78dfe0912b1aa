"""One instance for all runs."""

from __future__ import annotations

from dataclasses import dataclass

from fairduel.environments.environment import Environment
from fairduel.instance import Instance


@dataclass(frozen=True)
class Fixed(Environment):
    """The same instance in every run, with fresh randomness."""

    instance: Instance

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        return self.instance
