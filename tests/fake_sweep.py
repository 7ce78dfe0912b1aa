"""Results without simulations, and a report of them, for tests of what is made of results."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from fairduel.data import sushi_stand_in
from fairduel.experiments.cells import Cell, checkpoints
from fairduel.paper import groups, reproduce
from fairduel.report.metrics import METRICS

PICTURES = {"figure1", "figure2", "figure3-5", "figure3-10", "lower-bound", "upper-bound"}


def fake_sweep(cells: Sequence[Cell], folder: Path, **options: Any) -> Any:
    """Smooth curves that depend on the cell alone, in the tables that ``sweep`` gives."""
    rows: dict[str, list[Any]] = {}
    runs: dict[str, list[Any]] = {}
    for cell in cells:
        rounds = checkpoints(cell.checkpoints, cell.rounds)
        _add(rows, {name: np.repeat(value, len(rounds)) for name, value in _named(cell).items()})
        _add(rows, {"rounds": rounds, **_curves(cell, rounds)})
        _add(runs, {name: np.array([value]) for name, value in _named(cell).items()})
        figures = {"best": 0.004, "identify": 100 + cell.run, "explore": 50, "exploit": 10}
        _add(runs, {name: np.array([value]) for name, value in figures.items()})
    return SimpleNamespace(rows=_table(rows), runs=_table(runs), failures=())


def fake_report(factory: pytest.TempPathFactory) -> Path:
    """The folder of a report of everything; made once for all tests, since it takes seconds."""
    place = factory.getbasetemp() / "fake-report"
    if not (place / "report.md").exists():
        with pytest.MonkeyPatch.context() as patch:
            fake_world(patch)
            reproduce.reproduce(["all"], place, runs=3, workers=1, data=place)
    return place


def fake_world(patch: pytest.MonkeyPatch) -> None:
    """Nothing is simulated, and those who stand in for sushi eaters are few."""
    patch.setattr(reproduce, "sweep", fake_sweep)
    patch.setattr(groups, "sushi_stand_in", lambda: sushi_stand_in().sample(300, seed=2))
    patch.setattr(groups, "PERMUTATIONS", 1)


def _curves(cell: Cell, rounds: Any) -> dict[str, Any]:
    name = cell.learner.partition(":")[0]
    level = 1 + zlib.crc32(f"{cell.environment} {name}".encode()) % 7
    luck = 1 + 0.1 * np.random.default_rng([level, cell.run]).standard_normal()
    curves = dict.fromkeys(METRICS, level * luck * 0.3 * rounds)
    curves["regret"] = level * luck * rounds ** (2 / 3)
    curves["gini"] = np.full(len(rounds), 0.03 * level * luck)
    return curves


def _named(cell: Cell) -> dict[str, Any]:
    return {
        "environment": cell.environment,
        "learner": cell.learner,
        "horizon": cell.rounds,
        "run": cell.run,
        "seed": cell.seed,
    }


def _add(columns: dict[str, list[Any]], values: dict[str, Any]) -> None:
    for name, array in values.items():
        columns.setdefault(name, []).append(array)


def _table(columns: dict[str, list[Any]]) -> Any:
    return pa.table({name: np.concatenate(parts) for name, parts in columns.items()})
