"""What the benchmarks on families of people share."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairduel import BradleyTerryThompson, FairVOI, Learner, Nash, compare
from fairduel._arrays import Floats
from fairduel.environments import Environment

SEED = 5_000_000
LEARNERS: dict[str, Learner[Any]] = {
    "Fair-VOI": FairVOI(),
    "Fair-VOI, T unknown": FairVOI(anytime=True),
    "BT-Thompson": BradleyTerryThompson(),
}


def shares(
    place: Environment, rounds: int, runs: int, workers: int | None, how: dict[str, Any]
) -> dict[str, Floats]:
    """Return the share that each learner loses in each run."""
    found = compare(
        LEARNERS, place, rounds, runs=runs, seed=SEED, checkpoints=1, workers=workers, **how
    )
    assert not found.failures, found.failures[0]
    ((_, players),) = found.settings.items()
    return {
        label: found.final(cells, "regret") / (rounds * found.final(cells, "best"))
        for label, cells in players.items()
    }


def of_chance(place: Environment, rounds: int, runs: int) -> Floats:
    """Return the share that playing at random loses in each run, whoever answers."""
    lost = []
    for run in range(runs):
        scores = place.draw(run, rounds, SEED).scores
        value = float(Nash().value(scores.mean(axis=1)))
        lost.append(1.0 - value / Nash().maximize(scores).value)
    return np.array(lost)


def shown(values: Floats) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.3f} ± {error:.3f}"
