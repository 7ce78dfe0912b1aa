"""The instances of the paper's own experiments."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from fairduel.environments.environment import Environment
from fairduel.environments.random import random_instance
from fairduel.errors import InputError
from fairduel.instance import Instance

PAPER_SEED = 42
PAPER_RUNS = 30


@dataclass(frozen=True)
class Paper(Environment):
    """The paper's 30 random instances, one per run, whatever the seed."""

    users: int = 10
    arms: int = 10
    gap: float = 0.1

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        if run >= PAPER_RUNS:
            raise InputError(
                f"run {run} is asked for, but the paper's {PAPER_RUNS} instances are 0 to "
                f"{PAPER_RUNS - 1}: ask for {PAPER_RUNS} runs at most, or use random instances."
            )
        return _paper_instances(self.users, self.arms, self.gap)[run]


def paper_instances(users: int = 10, arms: int = 10, gap: float = 0.1) -> list[Instance]:
    """Return the 30 random instances of the paper's experiments, to the bit.

    Table 1 has the default 10 users, 10 arms and gap; the other sizes use the same seeds.
    """
    seeds = np.random.default_rng(PAPER_SEED).integers(0, 100_000, size=PAPER_RUNS)
    return [random_instance(users, arms, gap, int(seed)) for seed in seeds]


@functools.cache
def _paper_instances(users: int, arms: int, gap: float) -> list[Instance]:
    return paper_instances(users, arms, gap)
