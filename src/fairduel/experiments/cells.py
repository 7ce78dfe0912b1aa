"""One simulation of an experiment, as data, and how to run it.

Whatever can change the numbers of a cell is imported from here (see ``keys``), so this module
imports nothing that cannot.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.environments.environment import Environment
from fairduel.errors import InputError
from fairduel.experiments.checkpoints import Checkpoints
from fairduel.learners.learner import Learner
from fairduel.simulation.answering import EVERYBODY_AT_ONCE, Answering
from fairduel.simulation.loop import play
from fairduel.welfare import Nash, Welfare

# What is read off at every checkpoint: properties of Trajectory.
CURVES = ("regret", "nash_welfare", "minimum_welfare", "utilitarian_welfare", "gini")
PHASES = ("identify", "explore", "exploit")


@dataclass(frozen=True, eq=False)
class Cell:
    """A learner, what it plays, and for how long.

    rounds: the horizon. run: with the seed, determines the instance and the randomness; run r of
    every learner has the same. welfare: what regret is measured in. The labels name learner and
    environment in tables and pictures, and change nothing else. answering: who answers when.
    """

    learner: Learner[Any]
    environment: Environment
    rounds: int
    run: int
    seed: int = 0
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    welfare: Welfare = field(default_factory=Nash)
    learner_label: str = ""
    environment_label: str = ""
    answering: Answering = EVERYBODY_AT_ONCE

    def __repr__(self) -> str:
        learner = self.learner_label or repr(self.learner)
        environment = self.environment_label or repr(self.environment)
        return f"{learner} in {environment}, {self.rounds:,} rounds, run {self.run}"


@dataclass(frozen=True, eq=False)
class Record:
    """The result of a cell: the key it ran under, curves by metric, and figures of the whole run.

    utilities: (D,) what every user received in total.
    """

    key: str
    checkpoints: Ints
    curves: dict[str, Floats]
    utilities: Floats
    best: float
    phases: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Failure:
    """A cell without a result, and why.

    trace: where in the code it happened, if that is known. bad_input: whether the cell itself is
    wrong, and not the code that ran it.
    """

    cell: Cell
    reason: str
    trace: str = field(default="", repr=False)
    bad_input: bool = False


def run_cell(cell: Cell, key: str) -> Record | Failure:
    """Simulate a cell; any error becomes a failure of this cell alone."""
    began = time.perf_counter()
    try:
        instance = cell.environment.draw(cell.run, cell.rounds, cell.seed)
        # The same randomness for every learner, in any order; the instance has (run, 0).
        rng = np.random.default_rng(np.random.SeedSequence(cell.seed, spawn_key=(cell.run, 1)))
        marks = cell.checkpoints.of(cell.rounds)
        path = play(cell.learner, instance, cell.rounds, rng, marks, cell.welfare, cell.answering)
        curves = {metric: getattr(path, metric) for metric in CURVES}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a learner may even call sys.exit()
        bad_input = isinstance(error, InputError)
        return Failure(cell, _described(error), traceback.format_exc(), bad_input)
    phases = {phase: path.phases.get(phase, 0) for phase in PHASES}
    seconds = time.perf_counter() - began
    utilities = path.utilities[-1]
    return Record(key, path.checkpoints, curves, utilities, float(path.best), phases, seconds)


def _described(error: BaseException) -> str:
    if isinstance(error, InputError):
        return str(error)
    # Not str(), which for a custom exception may fail as well.
    return "".join(traceback.format_exception_only(error)).strip()
