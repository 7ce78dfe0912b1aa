"""What an environment is: sizes that determine one instance per run."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from fairduel.instance import Instance


class Environment(ABC):
    """Where the instances of an experiment come from: a frozen dataclass of its sizes.

    Run r of every learner plays the same instance, which depends on the sizes, the seed and r
    alone (and on the horizon, where hardness does).
    """

    @abstractmethod
    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        """Return the instance of a run that lasts for ``rounds``."""


def generator(run: int, seed: int) -> np.random.Generator:
    """Return the generator that the instance of a run is drawn with.

    Its spawn key is (run, 0); what happens in the run is drawn with (run, 1).
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, 0)))
