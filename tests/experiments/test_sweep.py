"""Sweeps: the same results however they are run, interrupted or broken into."""

import csv
import dataclasses
import importlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import fairduel
import fairduel.experiments.cells as cells_module
from fairduel import random_instance
from fairduel.cli import specs as named
from fairduel.errors import InputError
from fairduel.experiments import Cell, Results, results, sweep
from fairduel.experiments.cells import Failure, checkpoints, key_of
from fairduel.experiments.comparison import compare
from fairduel.experiments.dask_pool import DaskPool
from fairduel.report.metrics import METRICS

LEARNERS = ("fair-etc:preset=as_run", "fair-eps", "own_learners:ready_made")
ENVIRONMENTS = ("random:users=3,arms=4", "clustered:users=4,arms=3,share=0.5")


def grid(runs: int = 3, rounds: int = 2000) -> list[Cell]:
    return [
        Cell(environment, learner, rounds, run)
        for environment in ENVIRONMENTS
        for learner in LEARNERS
        for run in range(runs)
    ]


def counted(folder: Path, runs: int, seconds: float = 0.0) -> list[Cell]:
    """Cells that leave a file in the folder whenever one runs."""
    folder.mkdir(exist_ok=True)
    learner = f"own_learners:Counted:folder={folder},seconds={seconds}"
    return [Cell("random:users=2,arms=2", learner, 100, run) for run in range(runs)]


def ran(folder: Path) -> int:
    return len(list(folder.iterdir()))


def row_bytes(results: Results) -> bytes:
    return (results.folder / "rows.parquet").read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The grid on one worker."""
    return sweep(grid(), tmp_path_factory.mktemp("reference"), workers=1)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a Dask cluster of three processes with two threads each.

    Two of them may die, and nobody has to wait for others to start in their place.
    """
    dask: Any = importlib.import_module("dask")  # without types
    distributed: Any = importlib.import_module("distributed")
    patience = dict.fromkeys(("connect", "tcp"), "120s")
    with (
        dask.config.set({"distributed.comm.timeouts": patience}),
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=2, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        yield cluster.scheduler_address


# What comes out


def test_a_summary_has_every_mean_and_interval(reference: Results) -> None:
    with open(reference.folder / "summary.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(LEARNERS) * len(ENVIRONMENTS)
    for row in rows:
        assert row["runs"] == "3"
        for metric in METRICS:
            values = reference.final(row["environment"], row["learner"], metric)
            assert float(row[metric]) == pytest.approx(values.mean())
            half = 1.96 * values.std(ddof=1) / 3**0.5
            assert float(row[f"{metric}_interval"]) == pytest.approx(half)


@pytest.mark.parametrize(
    ("changed", "said"), [({"seed": 2**63}, "seed is"), ({"rounds": 10**22}, "rounds is")]
)
def test_numbers_that_no_column_holds_are_refused_before_the_work(
    tmp_path: Path, changed: dict[str, int], said: str
) -> None:
    cell = dataclasses.replace(Cell("random", "fair-etc", 100, 0), **changed)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=said):
        sweep([cell], tmp_path)


def test_results_are_those_of_compare(reference: Results) -> None:
    assert reference.failures == ()
    for name, environment in (("random", ENVIRONMENTS[0]), ("clustered", ENVIRONMENTS[1])):
        sizes = {"users": 3, "arms": 4} if name == "random" else {"users": 4, "arms": 3}
        learners = {text: named.learner(text) for text in LEARNERS}
        expected = compare(learners, named.instances(name, 3, 2000, 0, **sizes), 2000)
        for learner in LEARNERS:
            for metric in METRICS:
                rounds, curves = reference.curves(environment, learner, metric)
                runs = expected.trajectories[learner]
                np.testing.assert_array_equal(rounds, runs[0].rounds)
                np.testing.assert_array_equal(curves, [getattr(run, metric) for run in runs])
            identify = [run.phases.get("identify", 0) for run in runs]
            np.testing.assert_array_equal(
                reference.final(environment, learner, "identify"), identify
            )
            best = reference.final(environment, learner, "best")
            np.testing.assert_array_equal(best, [run.best for run in runs])


def test_tables_have_a_row_for_each_checkpoint_and_each_run(reference: Results) -> None:
    cell = ["environment", "learner", "horizon", "run", "seed"]
    assert reference.rows.column_names == [*cell, "rounds", *METRICS]
    phases = ["identify", "explore", "exploit"]
    assert reference.runs.column_names == [*cell, "best", *phases, "seconds"]
    assert reference.rows.num_rows == 18 * 100
    assert reference.runs.num_rows == 18
    expected = [(c.environment, c.learner, c.rounds, c.run, c.seed) for c in grid()]
    assert [tuple(row[name] for name in cell) for row in reference.runs.to_pylist()] == expected
    spent = [reference.runs[phase].to_numpy() for phase in phases]
    np.testing.assert_array_equal(sum(spent), 2000)
    assert json.loads((reference.folder / "failures.json").read_text()) == []


def test_logarithmic_checkpoints_horizons_and_seeds(tmp_path: Path) -> None:
    environment = "random:users=2,arms=2"
    asked = [
        Cell(environment, "uniform", rounds, 0, seed, "log:5")
        for rounds in (100, 1000)
        for seed in (0, 1)
    ]
    found = sweep(asked, tmp_path, workers=1)
    rounds, curves = found.curves(environment, "uniform", "regret", 1000)
    np.testing.assert_array_equal(rounds, checkpoints("log:5", 1000))
    assert curves.shape == (2, 5)
    assert found.final(environment, "uniform", "gini", 100).shape == (2,)
    with pytest.raises(InputError, match="has the horizons 100, 1000: say which one"):
        found.curves(environment, "uniform", "regret")
    with pytest.raises(InputError, match="no results of 'fair-etc'"):
        found.curves(environment, "fair-etc", "regret")
    with pytest.raises(InputError, match="no metric 'joy'"):
        found.curves(environment, "uniform", "joy")
    with pytest.raises(InputError, match="no metric 'joy'"):
        found.final(environment, "uniform", "joy")


def test_runs_with_different_checkpoints_make_no_curves(tmp_path: Path) -> None:
    asked = [Cell("paper", "uniform", 100, run, 0, f"linear:{4 + run}") for run in (0, 1)]
    found = sweep(asked, tmp_path, workers=1)
    with pytest.raises(InputError, match="different checkpoints"):
        found.curves("paper", "uniform", "regret")
    assert found.final("paper", "uniform", "exploit").shape == (2,)


def test_no_cells_make_empty_tables(tmp_path: Path) -> None:
    found = sweep([], tmp_path)
    assert found.rows.num_rows == found.runs.num_rows == 0


def test_tables_are_the_same_in_groups(
    reference: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "CELLS_AT_ONCE", 4)
    found = sweep(grid(), reference.folder)
    assert found.rows.equals(pq.read_table(reference.folder / "rows.parquet"))
    assert found.rows.to_pylist() == reference.rows.to_pylist()
    assert found.rows.num_rows == 1800
    monkeypatch.undo()
    sweep(grid(), reference.folder)


def test_results_stay_when_other_cells_use_the_folder(tmp_path: Path) -> None:
    first = sweep([Cell("paper", "uniform", 100, run) for run in range(3)], tmp_path, workers=1)
    second = sweep([Cell("paper", "fair-eps", 200, 0)], tmp_path, workers=1)
    assert first.combinations == {("paper", "uniform", 100)}
    assert (first.runs.num_rows, first.rows.num_rows) == (3, 300)
    assert second.combinations == {("paper", "fair-eps", 200)}
    assert second.rows.equals(pq.read_table(tmp_path / "rows.parquet"))
    assert len(repr(first)) < 1000


# However it is run


def test_two_workers_give_the_same_bytes(reference: Results, tmp_path: Path) -> None:
    assert row_bytes(sweep(grid(), tmp_path, workers=2)) == row_bytes(reference)


@pytest.mark.filterwarnings("default")
def test_dask_workers_give_the_same_bytes(
    reference: Results, tmp_path: Path, scheduler: str
) -> None:
    assert row_bytes(sweep(grid(), tmp_path, scheduler=scheduler)) == row_bytes(reference)


def test_order_of_running_does_not_matter(reference: Results, tmp_path: Path) -> None:
    shuffled = grid()
    random.Random(1).shuffle(shuffled)
    sweep(shuffled[:7], tmp_path, workers=1)
    sweep(shuffled, tmp_path, workers=2)
    assert row_bytes(sweep(grid(), tmp_path)) == row_bytes(reference)


# Going on


def test_finished_cells_do_not_run_again(tmp_path: Path) -> None:
    asked = counted(tmp_path / "ran", 6)
    first = sweep(asked[:4], tmp_path / "results", workers=1)
    assert ran(tmp_path / "ran") == 4
    again = sweep([*asked, *asked], tmp_path / "results", workers=1)
    assert ran(tmp_path / "ran") == 6
    assert again.runs.num_rows == 6
    assert first.folder == again.folder
    sweep(asked[1:3], tmp_path / "results", workers=1)
    assert ran(tmp_path / "ran") == 6


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """Jobs that a shell runs in the background ignore it, and so would what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_killed_sweep_goes_on(tmp_path: Path, stop: signal.Signals) -> None:
    asked = counted(tmp_path / "ran", 40, seconds=0.2)
    process = start_sweep(asked, tmp_path, workers=2)
    kept = tmp_path / "results" / "cells"
    wait_until(lambda: len(list(kept.glob("*.arrow"))) >= 2)
    os.killpg(process.pid, stop) if stop == signal.SIGINT else process.kill()
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-stop if stop == signal.SIGKILL else -signal.SIGINT)
    assert b"Process " not in said  # no worker complains
    if stop == signal.SIGINT:
        last = said.splitlines()[-1]
        assert re.match(rb"KeyboardInterrupt: \d+ of 40 simulations are done and kept in", last)
    wait_until(lambda: is_quiet(tmp_path / "ran"))  # those under way when it died
    before = ran(tmp_path / "ran")
    done = len(results.Store(tmp_path / "results")._places)
    # What ran and was not kept was under way: at most two tasks of a second each.
    assert 0 < done <= before < 40
    assert before - done <= 2 * 6
    found = sweep(asked, tmp_path / "results", workers=2)
    assert ran(tmp_path / "ran") - before == 40 - done
    assert found.runs.num_rows == 40


@pytest.mark.usefixtures("heard_ctrl_c")
@pytest.mark.parametrize("early", [False, True])
def test_command_that_is_interrupted_says_that_it_can_go_on(tmp_path: Path, early: bool) -> None:
    (tmp_path / "ran").mkdir()
    learner = f"own_learners:Counted:folder={tmp_path / 'ran'},seconds=0.2"
    command = ["compare", "--learner", learner, "--rounds", "100", "--runs", "100"]
    command += ["--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from fairduel.cli import main; main()", *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    if early:  # the folder is made, and the workers' server is about to start
        wait_until((tmp_path / "comparison" / "cells").exists)
        time.sleep(0.3)
    else:
        wait_until(lambda: ran(tmp_path / "ran") >= 2)
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=60)
    count = rb"\d+ of 100 simulations are done and"
    what = count + rb"|what is done is" if early else count
    kept = rb"kept in 'comparison'; running it again goes on from there\n"
    assert (process.returncode, out) == (130, b"")
    assert re.fullmatch(rb"stopped: (" + what + rb") " + kept, said)


def start_sweep(cells: list[Cell], folder: Path, workers: int) -> subprocess.Popen[bytes]:
    """A sweep in a process of its own, and a process group of its own."""
    script = folder / "script.py"
    script.write_text(
        "from fairduel.experiments import Cell, sweep\n"
        'if __name__ == "__main__":\n'
        f"    sweep({cells!r}, {str(folder / 'results')!r}, workers={workers})\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_quiet(folder: Path) -> bool:
    before = ran(folder)
    time.sleep(0.5)
    return ran(folder) == before


def test_damaged_file_is_run_again_and_old_leftovers_go(tmp_path: Path) -> None:
    asked = counted(tmp_path / "ran", 2)
    expected = sweep(asked, tmp_path / "results", workers=1).rows
    (file,) = (tmp_path / "results" / "cells").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    old, new = (file.with_name(f".fairduel-{name}.tmp") for name in ("old", "new"))
    for leftover in (old, new):
        leftover.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert sweep(asked, tmp_path / "results", workers=1).rows.equals(expected)
    assert ran(tmp_path / "ran") == 4
    assert new.exists()  # somebody may be at it
    assert not old.exists()


def test_leftover_that_goes_while_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / ".fairduel-gone.tmp"
    monkeypatch.setattr(Path, "glob", lambda folder, pattern: iter([gone]))
    results._clean(tmp_path)


def test_two_sweeps_in_one_folder(tmp_path: Path) -> None:
    asked = counted(tmp_path / "ran", 30, seconds=0.1)
    other = start_sweep(asked, tmp_path, workers=1)
    kept = tmp_path / "results" / "cells"
    wait_until(lambda: len(list(kept.glob("*.arrow"))) >= 1)
    mine = sweep(asked, tmp_path / "results", workers=1)
    _, said = other.communicate(timeout=60)
    assert (other.returncode, said) == (0, b"")
    assert 30 < ran(tmp_path / "ran") < 60  # what neither had finished ran for both
    assert mine.failures == ()
    assert mine.rows.equals(sweep(asked, tmp_path / "alone", workers=2).rows)
    assert not list(tmp_path.rglob("*.tmp"))


# What makes a cell another one


def test_key_changes_with_every_setting() -> None:
    cell = Cell("random", "uniform", 100, 0)
    changes: dict[str, Any] = {
        "environment": "random:users=10",
        "learner": "fair-etc",
        "rounds": 101,
        "run": 1,
        "seed": 1,
        "checkpoints": "log:100",
    }
    assert set(changes) == {field.name for field in dataclasses.fields(Cell)}
    others = {key_of(dataclasses.replace(cell, **{name: changes[name]})) for name in changes}
    assert len(others | {key_of(cell)}) == len(changes) + 1
    assert key_of(cell) == key_of(dataclasses.replace(cell))


def test_key_changes_with_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell("random", "uniform", 100, 0)
    before = key_of(cell)
    monkeypatch.setattr(fairduel, "__version__", "99")
    assert key_of(cell) != before


def test_a_file_may_move(tmp_path: Path) -> None:
    """What counts is its content."""
    random_instance(2, 3, seed=1).save(tmp_path / "a.npz")
    os.makedirs(tmp_path / "there")
    (tmp_path / "there" / "b.npz").write_bytes((tmp_path / "a.npz").read_bytes())
    keys = {
        key_of(Cell(f"file:{tmp_path / name}", "fair-etc", 10, 0))
        for name in ("a.npz", "there/b.npz")
    }
    assert len(keys) == 1


def test_key_changes_with_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell("random", "fair-etc", 10, 0)
    before = key_of(cell)
    monkeypatch.setattr(cells_module, "_versions", lambda: ["0", "0", "0"])
    assert key_of(cell) != before


def test_key_changes_with_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_x").mkdir()
    part = tmp_path / "lab_x" / "part.py"
    cell = Cell("random", "lab_x.learners:Mine", 100, 0)
    keys = set()
    for source in ("one = 1", "one = 2"):
        part.write_text(source)
        cells_module.digest.cache_clear()
        keys.add(key_of(cell))
    single = tmp_path / "lab_y.py"
    for source in ("one = 1", "one = 2"):
        single.write_text(source)
        cells_module.digest.cache_clear()
        keys.add(key_of(dataclasses.replace(cell, learner="lab_y:Mine")))
    cells_module.digest.cache_clear()
    assert len(keys) == 4
    assert cells_module.digest("fairduel") != cells_module.digest("lab_y") != ""


def test_changed_code_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(tmp_path / "ran", 2)
    sweep(asked, tmp_path / "results", workers=1)
    # The workers still have the code as it is: they notice that it isn't the caller's.
    monkeypatch.setattr(fairduel, "__version__", "99")
    found = sweep(asked, tmp_path / "results", workers=1)
    assert ran(tmp_path / "ran") == 4
    assert [failure.cell for failure in found.failures] == asked
    assert "give all workers the same version" in found.failures[0].reason


def test_changed_file_runs_again(tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    asked = [Cell(f"file:{file}", "uniform", 100, run) for run in range(2)]
    regrets = []
    for seed in (1, 2):
        random_instance(2, 3, seed=seed).save(file)
        regrets.append(
            sweep(asked, tmp_path, workers=1).final(asked[0].environment, "uniform", "best")
        )
    assert regrets[0][0] == regrets[0][1] != regrets[1][0]


# Cells that go wrong


def test_failing_cells_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    bad = [Cell("random", f"own_learners:{name}", 100, 3, 5) for name in ("Failing", "Leaving")]
    found = sweep([*bad, *grid()], tmp_path, workers=2)
    assert [failure.cell for failure in found.failures] == bad
    reasons = [failure.reason for failure in found.failures]
    assert reasons == ["ArithmeticError: nothing adds up", "SystemExit: had enough"]
    assert "own_learners.py" in found.failures[0].trace
    assert found.runs.num_rows == len(grid())
    told = json.loads((tmp_path / "failures.json").read_text())
    assert [Cell(**{f.name: t[f.name] for f in dataclasses.fields(Cell)}) for t in told] == bad
    assert [entry["reason"] for entry in told] == reasons


def test_cell_that_ends_its_worker_once_is_run_again(tmp_path: Path) -> None:
    (tmp_path / "deaths").mkdir()
    fatal = Cell("random", f"own_learners:Fatal:folder={tmp_path / 'deaths'},deaths=1", 100, 0)
    found = sweep([fatal, *grid()], tmp_path / "results", workers=2)
    assert found.failures == ()
    assert found.runs.num_rows == 1 + len(grid())
    assert ran(tmp_path / "deaths") == 1


def test_cell_that_always_ends_its_worker_is_found(reference: Results, tmp_path: Path) -> None:
    (tmp_path / "deaths").mkdir()
    fatal = Cell("random", f"own_learners:Fatal:folder={tmp_path / 'deaths'}", 2000, 4, 9)
    asked = grid()
    asked.insert(5, fatal)
    found = sweep(asked, tmp_path / "results", workers=2)
    assert found.failures == (Failure(fatal, "it ended its worker process every time it ran"),)
    assert ran(tmp_path / "deaths") == 4  # and then three times more
    assert row_bytes(found) == row_bytes(reference)


@pytest.mark.filterwarnings("default")
def test_cell_that_always_ends_its_dask_worker_is_found(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "deaths").mkdir()
    fatal = Cell("random", f"own_learners:Fatal:folder={tmp_path / 'deaths'}", 2000, 4, 9)
    asked = grid(runs=1)
    asked.insert(2, fatal)
    found = sweep(asked, tmp_path / "results", scheduler=scheduler)
    assert [failure.cell for failure in found.failures] == [fatal]
    assert found.runs.num_rows == len(asked) - 1
    assert ran(tmp_path / "deaths") == 2  # with others, and then alone


@pytest.mark.filterwarnings("default")
def test_dask_workers_that_cannot_run_cells(scheduler: str) -> None:
    pool = DaskPool(scheduler)
    with pytest.raises(InputError, match=r"cannot run the cells \(ValueError: .*\): give them"):
        pool.collect(pool.submit(int, "x"))
    pool.close(at_once=True)


# What is wrong before the start


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"environment": "randon"}, "there is no environment 'randon': did you mean 'random'?"),
        ({"environment": "random:user=3"}, "no setting of random 'user': did you mean 'users'?"),
        ({"environment": "random:users=few"}, "users is 'few': give a whole number"),
        ({"environment": "random:users=0"}, "users is 0; give a whole number from 1 up"),
        ({"environment": "random:users"}, "'users' is not a setting of random"),
        ({"environment": "random:epsilon=0.1"}, "no setting of random 'epsilon'"),
        ({"environment": "hard:epsilon=0.3"}, "epsilon is 0.3; give a number above 0"),
        ({"environment": "file:none.json"}, "cannot read 'none.json'"),
        ({"environment": "paper", "run": 30}, "the paper's 30 instances are 0 to 29"),
        ({"learner": "fair-ect"}, "there is no learner 'fair-ect': did you mean 'fair-etc'?"),
        ({"learner": "fair-ect:preset=as_run"}, "no learner 'fair-ect': did you mean"),
        ({"learner": "fair-etc:preset=as_ran"}, "no preset 'as_ran': did you mean 'as_run'?"),
        ({"learner": "no_such_module:Mine"}, "'no_such_module:Mine' cannot be loaded"),
        ({"learner": "own_learners:None_such"}, "'own_learners:None_such' cannot be loaded"),
        ({"learner": "own_learners:NotALearner"}, "is no learner, since it has no init()"),
        ({"learner": "own_learners:NeedsArguments"}, "cannot be loaded: TypeError"),
        ({"learner": "own_learners:broken"}, "cannot be loaded: TypeError"),
        ({"learner": "own_learners:Counted:second=1"}, "did you mean 'seconds'?"),
        ({"learner": "__main__:Mine"}, "put it into a module"),
        ({"rounds": 0}, "rounds is 0: give a whole number from 1 to"),
        ({"rounds": 1.5}, "rounds is 1.5: give a whole number"),
        ({"run": -1}, "run is -1: give a whole number from 0 to"),
        ({"seed": -1}, "seed is -1: give a whole number from 0 to"),
        ({"seed": True}, "seed is True: give a whole number from 0 to"),
        ({"checkpoints": "100"}, "the checkpoints are '100': write linear or log"),
        ({"checkpoints": "log:0"}, "the checkpoints are 'log:0': write linear or log"),
        ({"checkpoints": "linear:x"}, "the checkpoints are 'linear:x': write linear or log"),
    ],
)
def test_bad_cells_are_refused_before_anything_runs(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    fine = Cell("random", "uniform", 100, 0)
    with pytest.raises(InputError) as error:
        sweep([fine, dataclasses.replace(fine, **change)], tmp_path / "results")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "results").exists()


def test_hard_environment_takes_an_epsilon() -> None:
    scores = [
        named.environment(f"hard:users=4,arms=4{e}")(0, 1000, 0) for e in ("", ",epsilon=0.1")
    ]
    assert scores[0] == next(named.instances("hard", 1, 1000, 0, users=4, arms=4))
    assert scores[0] != scores[1]


@pytest.mark.parametrize("name", list(named.ENVIRONMENTS))
def test_environments_are_the_same_by_text(name: str) -> None:
    made = named.environment(f"{name}:users=5,arms=4")
    expected = list(named.instances(name, 3, 500, 7, users=5, arms=4))
    assert [made(run, 500, 7) for run in range(3)] == expected


def test_bad_workers_folder_and_scheduler(tmp_path: Path) -> None:
    cell = Cell("random", "uniform", 100, 0)
    with pytest.raises(InputError, match="workers is 0: give a whole number from 1 up"):
        sweep([cell], tmp_path, workers=0)
    with pytest.raises(InputError, match="give workers or a scheduler"):
        sweep([cell], tmp_path, workers=1, scheduler="tcp://localhost:1")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot make the folder"):
        sweep([cell], tmp_path / "file")


@pytest.mark.filterwarnings("default")
def test_wrong_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairduel.experiments.dask_pool.PATIENCE", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://"):
        with pytest.raises(InputError, match="there is no Dask scheduler with a worker at"):
            sweep([Cell("random", "uniform", 100, 0)], tmp_path, scheduler=address)


def test_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    class Lonely:
        def __init__(self, address: str, **settings: Any) -> None:
            self.address = address

        def wait_for_workers(self, count: int, timeout: float) -> None:
            raise TimeoutError(f"none of {count} after {timeout} s")

        def close(self) -> None:
            closed.append(self.address)

    monkeypatch.setattr("distributed.Client", Lonely)
    with pytest.raises(InputError, match="there is no Dask scheduler with a worker at 'tcp://a:1'"):
        sweep(grid(), tmp_path, scheduler="tcp://a:1")
    assert closed == ["tcp://a:1"]  # nobody stays connected


def test_all_dask_workers_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker for too long ends the wait; one that comes back in time does not."""
    monkeypatch.setattr("fairduel.experiments.dask_pool.WITHOUT_WORKERS", 0.0)
    workers: dict[str, int] = {"a": 1}
    pool = DaskPool.__new__(DaskPool)
    pool._address, pool._deserted = "tcp://somewhere", None
    pool._client = SimpleNamespace(nthreads=lambda: workers)
    pool.check()
    workers.clear()
    with pytest.raises(InputError, match="has no workers any more: start some"):
        pool.check()
    monkeypatch.setattr("fairduel.experiments.dask_pool.WITHOUT_WORKERS", 3600.0)
    pool.check()
    workers["b"] = 1
    pool.check()
    assert pool._deserted is None
