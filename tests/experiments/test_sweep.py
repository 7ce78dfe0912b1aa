"""Sweeps: the same results however they are run, interrupted or broken into."""

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
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fairduel import FairEpsilonGreedy, FairETC, InputError, Results, UniformOverUsers
from fairduel.environments import Clustered, Paper, Random
from fairduel.experiments import Cell, keys, store, sweep
from fairduel.experiments.cells import Failure
from fairduel.experiments.dask_pool import DaskPool
from fairduel.experiments.grid import grid as cells_of
from fairduel.learners import Learner
from own_learners import Failing, Fatal, Leaving, counted, ready_made

LEARNERS: dict[str, Learner[Any]] = {
    "etc": FairETC.as_run(),
    "eps": FairEpsilonGreedy(),
    "own": ready_made,
}
PLACES = {"random": Random(users=3, arms=4), "clustered": Clustered(users=4, arms=3)}
PATIENCE = 300.0  # seconds, on a machine that has much else to do


def grid(runs: int = 3, rounds: int = 2000) -> list[Cell]:
    return cells_of(LEARNERS, PLACES, rounds, runs, 0, 100, None)


def one(run: int = 0, **changes: Any) -> Cell:
    return replace(Cell(UniformOverUsers(), Random(), 100, run), **changes)


def ran(folder: Path) -> int:
    return len(list(folder.iterdir()))


def row_bytes(results: Results) -> bytes:
    assert results.folder is not None
    return (results.folder / "rows.parquet").read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The grid in this process."""
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


# However it is run


def test_two_workers_give_the_same_bytes(reference: Results, tmp_path: Path) -> None:
    assert row_bytes(sweep(grid(), tmp_path, workers=2)) == row_bytes(reference)


def test_memory_gives_the_same_rows(reference: Results, tmp_path: Path) -> None:
    found = sweep(grid(), workers=1)
    assert found.folder is None
    assert found.rows.equals(reference.rows)


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
    # However slow this process is, the sweep waits for it after 25 cells.
    asked = counted(tmp_path / "ran", 40, seconds=0.2, most=25)
    process = start_sweep(tmp_path, "40, seconds=0.2, most=25", workers=2)
    kept = tmp_path / "results" / "cells"
    wait_until(lambda: len(list(kept.glob("*.arrow"))) >= 2)
    os.killpg(process.pid, stop) if stop == signal.SIGINT else process.kill()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == (-stop if stop == signal.SIGKILL else -signal.SIGINT)
    assert b"Process " not in said  # no worker complains
    if stop == signal.SIGINT:
        last = said.splitlines()[-1]
        assert re.match(rb"KeyboardInterrupt: \d+ of 40 simulations are done and kept in", last)
    wait_until(lambda: is_gone(process.pid))  # and with it the workers
    before = ran(tmp_path / "ran")
    kept_now = store.Store(tmp_path / "results")
    done = sum(keys.key_of(cell) in kept_now for cell in asked)
    # What ran and was not kept was under way: at most two tasks of a second each.
    assert 0 < done <= before < 40
    assert before - done <= 2 * 6
    (tmp_path / "ran.open").touch()
    found = sweep(asked, tmp_path / "results", workers=2)
    assert ran(tmp_path / "ran") - before == 40 - done
    assert found.runs.num_rows == 40


@pytest.mark.usefixtures("heard_ctrl_c")
@pytest.mark.parametrize("early", [False, True])
def test_command_that_is_interrupted_says_that_it_can_go_on(tmp_path: Path, early: bool) -> None:
    (tmp_path / "ran").mkdir()
    learner = f"own_learners:Counted:folder={tmp_path / 'ran'},seconds=0.2,most=10"
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
    out, said = process.communicate(timeout=PATIENCE)
    count = rb"\d+ of 100 simulations are done and"
    what = count + rb"|what is done is" if early else count
    kept = rb"kept in 'comparison'; running it again goes on from there\n"
    assert (process.returncode, out) == (130, b"")
    assert re.fullmatch(rb"stopped: (" + what + rb") " + kept, said)


def start_sweep(folder: Path, settings: str, workers: int) -> subprocess.Popen[bytes]:
    """Sweep counted cells in a process of its own, and a process group of its own."""
    script = folder / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from fairduel.experiments import sweep\n"
        "from own_learners import counted\n"
        'if __name__ == "__main__":\n'
        f"    cells = counted(Path({str(folder / 'ran')!r}), {settings})\n"
        f"    sweep(cells, {str(folder / 'results')!r}, workers={workers})\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_gone(group: int) -> bool:
    """Whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_damaged_file_is_run_again_and_old_leftovers_go(tmp_path: Path) -> None:
    asked = counted(tmp_path / "ran", 2)
    expected = sweep(asked, tmp_path / "results", workers=1).rows
    # How many files there are depends on the time that the cells took.
    files = list((tmp_path / "results" / "cells").iterdir())
    for file in files:
        file.write_bytes(file.read_bytes()[:-20])
    old, new = (file.with_name(f".fairduel-{name}.tmp") for name in ("old", "new"))
    for leftover in (old, new):
        leftover.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert sweep(asked, tmp_path / "results", workers=1).rows.equals(expected)
    assert ran(tmp_path / "ran") == 4
    assert new.exists()  # somebody may be at it
    assert not old.exists()


def test_two_sweeps_in_one_folder(tmp_path: Path) -> None:
    asked = counted(tmp_path / "ran", 30, seconds=0.1)
    other = start_sweep(tmp_path, "30, seconds=0.1", workers=1)
    kept = tmp_path / "results" / "cells"
    wait_until(lambda: len(list(kept.glob("*.arrow"))) >= 1)
    mine = sweep(asked, tmp_path / "results", workers=1)
    _, said = other.communicate(timeout=PATIENCE)
    assert (other.returncode, said) == (0, b"")
    assert 30 <= ran(tmp_path / "ran") < 60  # what neither had finished ran for both
    assert mine.failures == ()
    assert mine.rows.equals(sweep(asked, tmp_path / "alone", workers=2).rows)
    assert not list(tmp_path.rglob("*.tmp"))


def test_changed_code_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(tmp_path / "ran", 4)
    sweep(asked, tmp_path / "results", workers=2)
    # The workers still have the code as it is: they notice that it isn't the caller's.
    monkeypatch.setattr(keys, "_versions", lambda: ["0", "0", "0"])
    found = sweep(asked, tmp_path / "results", workers=2)
    assert ran(tmp_path / "ran") == 8
    assert [failure.cell for failure in found.failures] == asked
    assert "give all workers the same version" in found.failures[0].reason


# Cells that go wrong


def test_failing_cells_are_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    bad = [
        Cell(kind(), Random(), 100, 3, 5, learner_label=kind.__name__, environment_label="random")
        for kind in (Failing, Leaving)
    ]
    found = sweep([*bad, *grid()], tmp_path, workers=2)
    assert [failure.cell for failure in found.failures] == bad
    reasons = [failure.reason for failure in found.failures]
    assert reasons == ["ArithmeticError: nothing adds up", "SystemExit: had enough"]
    assert "own_learners.py" in found.failures[0].trace
    assert found.runs.num_rows == len(grid())
    told = json.loads((tmp_path / "failures.json").read_text())
    assert [entry["learner"] for entry in told] == ["Failing", "Leaving"]
    assert (told[0]["environment"], told[0]["run"], told[0]["seed"]) == ("random", 3, 5)
    assert [entry["reason"] for entry in told] == reasons


def test_cell_that_ends_its_worker_once_is_run_again(tmp_path: Path) -> None:
    (tmp_path / "deaths").mkdir()
    fatal = one(learner=Fatal(folder=str(tmp_path / "deaths"), deaths=1))
    found = sweep([fatal, *grid()], tmp_path / "results", workers=2)
    assert found.failures == ()
    assert found.runs.num_rows == 1 + len(grid())
    assert ran(tmp_path / "deaths") == 1


def test_cell_that_always_ends_its_worker_is_found(reference: Results, tmp_path: Path) -> None:
    (tmp_path / "deaths").mkdir()
    fatal = Cell(Fatal(folder=str(tmp_path / "deaths")), Random(), 2000, 4, 9)
    asked = grid()
    asked.insert(5, fatal)
    found = sweep(asked, tmp_path / "results", workers=2)
    reason = "it ended its worker process every time it ran"
    assert found.failures == (Failure(fatal, reason),)
    assert ran(tmp_path / "deaths") == 4  # and then three times more
    assert row_bytes(found) == row_bytes(reference)


@pytest.mark.filterwarnings("default")
def test_cell_that_always_ends_its_dask_worker_is_found(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "deaths").mkdir()
    fatal = Cell(Fatal(folder=str(tmp_path / "deaths")), Random(), 2000, 4, 9)
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
    ("changes", "said"),
    [
        ({"environment": Random(users=0)}, "users is 0: give a whole number from 1 up"),
        ({"environment": Paper(), "run": 30}, "the paper's 30 instances are 0 to 29"),
        ({"learner": "fair-etc"}, "give a learner itself, like FairVOI()"),
        ({"learner": UniformOverUsers}, "give a learner itself, like FairVOI()"),
        ({"rounds": 0}, "rounds is 0: give a whole number from 1 to"),
        ({"rounds": 1.5}, "rounds is 1.5: give a whole number"),
        ({"rounds": 10**22}, "rounds is 10000000000000000000000: give a whole number"),
        ({"run": -1}, "run is -1: give a whole number from 0 to"),
        ({"seed": -1}, "seed is -1: give a whole number from 0 to"),
        ({"seed": 2**63}, "seed is 9223372036854775808: give a whole number from 0 to"),
        ({"seed": True}, "seed is True: give a whole number from 0 to"),
    ],
)
def test_bad_cells_are_refused_before_anything_runs(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        sweep([one(), one(**changes)], tmp_path / "results")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "results").exists()


def test_a_learner_of_a_script_stays_in_its_process() -> None:
    class Mine(UniformOverUsers):
        __module__ = "__main__"

    with pytest.raises(InputError, match="is defined in a script or notebook"):
        sweep([one(learner=Mine())], workers=2)
    assert sweep([one(learner=Mine())]).failures == ()


def test_bad_workers_folder_and_scheduler(tmp_path: Path) -> None:
    cell = one()
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
            sweep([one()], tmp_path, scheduler=address)


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
