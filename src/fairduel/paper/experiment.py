"""What the experiments share: which cells they run, and how to read the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments import Environment
from fairduel.experiments import Cell, Checkpoints, Results
from fairduel.learners import Learner
from fairduel.learners.catalogue import by_name
from fairduel.report.document import Section
from fairduel.report.figures import Line, line_of_runs
from fairduel.report.metrics import METRICS
from fairduel.welfare import Nash

LEARNERS = {
    "fair-etc": "Fair-ETC",
    "fair-eps": "Fair-ε-Greedy",
    "utilitarian-etc": "Utilitarian-ETC",
    "utilitarian-eps": "Utilitarian-ε-Greedy",
    "uniform": "Uniform-Over-Users",
}
FAIR = ("fair-etc", "fair-eps")
UTILITARIAN = ("utilitarian-etc", "utilitarian-eps")
BASELINES = (*UTILITARIAN, "uniform")

# In the order of Table 1.
TABLE_METRICS = ("regret", "minimum_welfare", "nash_welfare", "gini", "utilitarian_welfare")

Cells = tuple[Cell, ...]
Players = dict[str, Cells]  # by learner: a cell for each run


class Experiment(Protocol):
    """A set of cells to run, and the section of the report on their results."""

    @property
    def cells(self) -> Sequence[Cell]: ...

    def section(self, results: Results) -> Section: ...


def cells_of(
    learner: Learner[Any],
    label: str,
    environment: Environment,
    rounds: int,
    runs: Sequence[int],
    checkpoints: Checkpoints = Checkpoints(),  # noqa: B008  (a frozen value)
    place: str = "",
    seed: int = 0,
) -> Cells:
    """Return a cell for each run of a learner in an environment.

    label, place: what tables call the two; default of ``place``: the environment's sizes.
    """
    return tuple(
        Cell(
            learner,
            environment,
            rounds,
            run,
            seed,
            checkpoints=checkpoints,
            learner_label=label,
            environment_label=place or repr(environment),
        )
        for run in runs
    )


def players(
    environment: Environment,
    rounds: int,
    runs: int,
    preset: str = "as_run",
    place: str = "",
    seed: int = 0,
) -> Players:
    """Return the cells of all five learners of the paper on the same instances."""
    words = preset.replace("_", " ") + (f", seed {seed}" if seed else "")
    return {
        name: cells_of(
            by_name(name, preset),
            f"{label}, {words}",
            environment,
            rounds,
            range(runs),
            place=place,
            seed=seed,
        )
        for name, label in LEARNERS.items()
    }


def all_of(groups: Sequence[Players]) -> list[Cell]:
    """Return the cells of several settings."""
    return [cell for group in groups for cells in group.values() for cell in cells]


def lines(results: Results, group: Players, metric: str) -> tuple[Line, ...]:
    """Return a metric over time, a line for each learner."""
    return tuple(
        line_of_runs(LEARNERS[name], *results.curve(cells, metric), style)
        for style, (name, cells) in enumerate(group.items())
    )


def shares_lost(results: Results, cells: Cells) -> Floats:
    """Return (runs,) regret as a share of the best welfare times T."""
    best = results.final(cells, "best") * cells[0].rounds
    return np.asarray(results.final(cells, "regret") / best)


def lost_by_chance(environment: Environment, rounds: int, runs: int, seed: int = 0) -> Floats:
    """Return (runs,) the share of the best welfare that the uniform policy loses, exactly."""
    instances = [environment.draw(run, rounds, seed) for run in range(runs)]
    got = [
        each.scores.mean(axis=1).prod() / Nash().maximize(each.scores).value for each in instances
    ]
    return 1.0 - np.array(got)


def finals(results: Results, group: Players) -> dict[str, dict[str, Floats]]:
    """Return (runs,) values after the last round, by learner and metric."""
    return {
        name: {metric: results.final(cells, metric) for metric in METRICS}
        for name, cells in group.items()
    }
