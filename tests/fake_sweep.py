"""Results without simulations, and a report of them, for tests of what is made of results."""

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.data import sushi_stand_in
from fairduel.experiments import Cell, Failure, Results
from fairduel.experiments.cells import CURVES, Record
from fairduel.experiments.keys import key_of
from fairduel.experiments.store import Store
from fairduel.paper import groups, reproduction

PICTURES = {"figure1", "figure2", "figure3-5", "figure3-10", "lower-bound", "upper-bound"}


def fake_sweep(
    cells: Sequence[Cell],
    folder: Path | None = None,
    *,
    lost: Callable[[Cell], bool] = lambda cell: False,
    **options: Any,
) -> Results:
    """Return smooth curves that depend on the labels and the run of each cell alone.

    The cells that are ``lost`` fail.
    """
    keyed = {key_of(cell): cell for cell in cells}
    failures = [Failure(cell, "it is <lost>") for cell in keyed.values() if lost(cell)]
    store = Store()
    store.add([_record(key, cell) for key, cell in keyed.items() if not lost(cell)])
    return Results(keyed, failures, store, folder)


def fake_report(factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a report of everything, made once for all tests: it takes seconds."""
    place = factory.getbasetemp() / "fake-report"
    if not (place / "report.md").exists():
        with pytest.MonkeyPatch.context() as patch:
            fake_world(patch)
            reproduction.reproduce(["all"], place, runs=3, workers=1, data=place)
    return place


def fake_world(patch: pytest.MonkeyPatch) -> None:
    """Simulate nothing, and let few people stand in for those who ranked sushi."""
    patch.setattr(reproduction, "sweep", fake_sweep)
    patch.setattr(groups, "sushi_stand_in", lambda: sushi_stand_in().sample(300, seed=2))
    patch.setattr(groups, "PERMUTATIONS", 1)


def _record(key: str, cell: Cell) -> Record:
    rounds = cell.checkpoints.of(cell.rounds)
    phases = {"identify": 100 + cell.run, "explore": 50, "exploit": 10}
    curves = _curves(cell, rounds.astype(float))
    utilities = np.ones(getattr(cell.environment, "users", 2))
    return Record(key, rounds, curves, utilities, 0.004, phases, 0.1)


def _curves(cell: Cell, rounds: Floats) -> dict[str, Floats]:
    learner = cell.learner_label.partition(",")[0]
    level = 1 + zlib.crc32(f"{cell.environment_label} {learner}".encode()) % 7
    luck = 1 + 0.1 * np.random.default_rng([level, cell.run]).standard_normal()
    straight = np.asarray(level * luck * 0.3 * rounds, np.float64)
    curves: dict[str, Floats] = dict.fromkeys(CURVES, straight)
    curves["regret"] = np.asarray(level * luck * rounds ** (2 / 3), np.float64)
    curves["gini"] = np.full(len(rounds), 0.03 * level * luck)
    return curves
