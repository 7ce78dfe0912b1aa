"""What an experiment gives: by cell, by label, and as tables."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from fairduel import (
    FairEpsilonGreedy,
    FairETC,
    InputError,
    Nash,
    Results,
    UniformOverUsers,
    Utilitarian,
    simulate,
)
from fairduel.environments import Clustered, Paper, Random
from fairduel.experiments import Cell, Checkpoints, sweep, tables
from fairduel.experiments.grid import grid
from fairduel.learners import Learner
from fairduel.report.metrics import METRICS

LEARNERS: dict[str, Learner[Any]] = {
    "etc": FairETC.as_run(),
    "eps": FairEpsilonGreedy(),
    "uniform": UniformOverUsers(),
}
PLACES = {"random": Random(users=3, arms=4), "clustered": Clustered(users=4, arms=3)}
CELLS = grid(LEARNERS, PLACES, 2000, 3, 0, 100, None)
PHASES = ["identify", "explore", "exploit"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return sweep(CELLS, tmp_path_factory.mktemp("results"), workers=1)


def test_results_are_those_of_simulate(found: Results) -> None:
    assert found.failures == ()
    for cell in CELLS:
        rng = np.random.default_rng(np.random.SeedSequence(cell.seed, spawn_key=(cell.run, 1)))
        instance = cell.environment.draw(cell.run, cell.rounds, cell.seed)
        path = simulate(instance, cell.rounds, cell.learner, seed=rng)
        for metric in METRICS:
            rounds, curve = found.curve([cell], metric)
            np.testing.assert_array_equal(rounds, path.checkpoints)
            np.testing.assert_array_equal(curve[0], getattr(path, metric))
            assert found.final([cell], metric)[0] == getattr(path, metric)[-1]
        assert found.final([cell], "identify")[0] == path.phases.get("identify", 0)
        assert found.final([cell], "best")[0] == path.best
        np.testing.assert_array_equal(found.utilities([cell])[0], path.utilities[-1])


def test_cells_are_found_in_any_order_and_by_content(found: Results) -> None:
    chosen = [CELLS[4], CELLS[0], CELLS[4]]
    regrets = found.final(chosen, "regret")
    assert regrets[0] == regrets[2] == found.final([CELLS[4]], "regret")[0]
    twin = grid(LEARNERS, PLACES, 2000, 3, 0, 100, None)[4]
    assert twin is not CELLS[4]
    assert found.final([twin], "regret")[0] == regrets[0]


def test_cells_without_a_result_are_nan(found: Results) -> None:
    other = Cell(UniformOverUsers(), Paper(), 2000, 0)
    assert np.isnan(found.curve([CELLS[0], other], "gini")[1][1]).all()
    assert np.isnan(found.final([other], "best")[0])
    assert np.isnan(found.utilities([other])).all()


def test_tables_have_a_row_for_each_checkpoint_and_each_run(found: Results) -> None:
    cell = ["environment", "learner", "horizon", "run", "seed", "welfare", "answers", "delay"]
    assert found.rows.column_names == [*cell, "rounds", *METRICS]
    assert found.runs.column_names == [*cell, "best", *PHASES, "seconds"]
    assert found.rows.num_rows == len(CELLS) * 100
    expected = [
        (c.environment_label, c.learner_label, c.rounds, c.run, c.seed, "nash", "1.0", 0)
        for c in CELLS
    ]
    assert [tuple(row[name] for name in cell) for row in found.runs.to_pylist()] == expected
    spent = [found.runs[phase].to_numpy() for phase in PHASES]
    np.testing.assert_array_equal(sum(spent), 2000)
    assert found.folder is not None
    assert json.loads((found.folder / "failures.json").read_text()) == []


def test_summary_has_every_mean_and_interval(found: Results) -> None:
    assert found.folder is not None
    with open(found.folder / "summary.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(LEARNERS) * len(PLACES)
    for row in rows:
        assert row["runs"] == "3"
        cells = found.settings[row["environment"], 2000][row["learner"]]
        summary = found.summary()[row["environment"], 2000][row["learner"]]
        for metric in METRICS:
            values = found.final(cells, metric)
            assert (
                float(row[metric]) == summary.metrics[metric].mean == pytest.approx(values.mean())
            )
            half = 1.96 * values.std(ddof=1) / 3**0.5
            assert float(row[f"{metric}_interval"]) == pytest.approx(half)


def test_tables_are_the_same_in_groups(found: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found.folder is not None
    monkeypatch.setattr(tables, "CELLS_AT_ONCE", 4)
    again = sweep(CELLS, found.folder, workers=1)
    assert again.rows.to_pylist() == found.rows.to_pylist()
    written = pq.read_table(found.folder / "rows.parquet")
    assert written.to_pylist() == found.rows.to_pylist()


def test_results_stay_when_other_cells_use_the_folder(tmp_path: Path) -> None:
    uniform = grid({"uniform": UniformOverUsers()}, Paper(), 100, 3, 0, 100, None)
    first = sweep(uniform, tmp_path, workers=1)
    second = sweep(grid(FairEpsilonGreedy(), Paper(), 200, 1, 0, 100, None), tmp_path, workers=1)
    assert list(first.settings) == [("Paper", 100)]
    assert (first.runs.num_rows, first.rows.num_rows) == (3, 300)
    assert list(second.settings) == [("Paper", 200)]
    assert second.rows.equals(pq.read_table(tmp_path / "rows.parquet"))


def test_different_checkpoints_make_no_curves(tmp_path: Path) -> None:
    asked = [
        Cell(UniformOverUsers(), Paper(), 100, run, checkpoints=Checkpoints(4 + run))
        for run in (0, 1)
    ]
    both = sweep(asked, workers=1)
    with pytest.raises(InputError, match="different checkpoints"):
        both.curve(asked, "regret")
    assert both.final(asked, "exploit").shape == (2,)
    with pytest.raises(InputError, match="no metric 'joy'"):
        both.curve(asked, "joy")
    with pytest.raises(InputError, match="no metric 'joy'"):
        both.final(asked, "joy")


def test_regret_is_measured_in_the_welfare_that_is_asked_for() -> None:
    place = Random(users=3, arms=4)
    learner = FairETC(welfare=Utilitarian())
    nash, mean = (
        Cell(learner, place, 500, 0, welfare=welfare) for welfare in (Nash(), Utilitarian())
    )
    both = sweep([nash, mean], workers=1)
    scores = place.draw(0, 500, 0).scores
    assert both.final([nash], "best")[0] == Nash().maximize(scores).value
    assert both.final([mean], "best")[0] == Utilitarian().maximize(scores).value


def test_no_cells_make_empty_tables(tmp_path: Path) -> None:
    none = sweep([], tmp_path)
    assert none.rows.num_rows == none.runs.num_rows == 0
    assert repr(none) == "Results(0 simulations)"
