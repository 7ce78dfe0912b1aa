"""Several learners on the same instances: what each run gave, and the mean over the runs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.cli import specs as named
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners.learner import Learner
from fairduel.report.learners_figure import RunsOf
from fairduel.report.metrics import METRICS
from fairduel.report.statistics import estimate
from fairduel.report.summary import Summary
from fairduel.simulation.loop import simulate
from fairduel.simulation.metrics import mean_interval
from fairduel.simulation.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Comparison:
    """The runs of every learner, by its label; run r of each was on the same instance."""

    trajectories: dict[str, list[Trajectory]]
    seconds: dict[str, list[float]]

    def curves(self, label: str, metric: str) -> tuple[Ints, Floats, Floats]:
        """The checkpoints, and the mean and half its 95 % interval at each of them."""
        runs = self.trajectories[label]
        mean, half_width = mean_interval([getattr(run, metric) for run in runs])
        return runs[0].rounds, mean, half_width

    def rows(self) -> list[dict[str, str | int | float]]:
        """A row for each learner, run (from 1) and checkpoint, with all metrics."""
        rows: list[dict[str, str | int | float]] = []
        for label, runs in self.trajectories.items():
            for number, run in enumerate(runs, 1):
                curves = [getattr(run, metric).tolist() for metric in METRICS]
                for rounds, *values in zip(run.rounds.tolist(), *curves, strict=True):
                    figures = dict(zip(METRICS, values, strict=True))
                    rows.append({"learner": label, "run": number, "rounds": rounds, **figures})
        return rows

    def runs_of(self) -> list[RunsOf]:
        """The regret and utilities of every learner, for its figure."""
        return [
            RunsOf(
                label,
                runs[0].rounds,
                np.array([run.regret for run in runs]),
                np.array([run.utilities[-1] / run.rounds[-1] for run in runs]),
            )
            for label, runs in self.trajectories.items()
        ]

    def summaries(self) -> dict[str, Summary]:
        """How every learner did, by its label."""
        return {
            label: Summary(
                len(runs),
                {name: estimate([getattr(run, name)[-1] for run in runs]) for name in METRICS},
                estimate([run.phases.get("identify", 0) for run in runs]),
                statistics.median(self.seconds[label]),
            )
            for label, runs in self.trajectories.items()
        }


def compare(
    learners: Mapping[str, Learner[Any]] | None,
    instances: Iterable[Instance],
    rounds: int,
    seed: int = 0,
    checkpoints: Ints | int = 100,
    before_run: Callable[[str, int], None] = lambda label, run: None,
) -> Comparison:
    """Let every learner play every instance: a run each. None: FairVOI and all of the paper's.

    Run r is drawn from ``seed`` and r alone, so a learner's results do not depend on who else is
    compared, and all of them meet the same luck. ``before_run`` hears the label of the learner
    and the number of the run (from 0) before it starts; for progress bars.
    """
    if learners is None:
        learners = {name: named.learner(name) for name in named.LEARNERS}
    if not learners:
        raise InputError("there is no learner to compare: give at least one.")
    if seed < 0:
        raise InputError(f"seed is {seed}: give a whole number from 0 up.")
    trajectories: dict[str, list[Trajectory]] = {label: [] for label in learners}
    seconds: dict[str, list[float]] = {label: [] for label in learners}
    for run, instance in enumerate(instances):
        for label, learner in learners.items():
            before_run(label, run)
            began = time.perf_counter()
            # A generator of its own for each learner: the same draws, whoever came before.
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, 1)))
            trajectories[label].append(simulate(learner, instance, rounds, rng, checkpoints))
            seconds[label].append(time.perf_counter() - began)
    if not any(trajectories.values()):
        raise InputError("there is no instance to compare the learners on: ask for at least 1 run.")
    return Comparison(trajectories, seconds)
