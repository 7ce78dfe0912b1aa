"""Tasks on worker processes that may die: nothing is lost, and nobody is blamed for another."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel.errors import InputError
from fairduel.experiments import dask_pool
from fairduel.experiments.batching import (
    LEAST_SECONDS,
    LOST,
    MOST_SECONDS,
    calls_in_a_task,
    run_calls,
)
from fairduel.experiments.pool import ONE_THREAD, LocalPool, WorkerDied
from fairduel.paper import groups

LONG = 3600.0  # seconds: nobody waits for it, however busy the machine is


@pytest.fixture
def pool() -> Iterator[LocalPool]:
    made = LocalPool(2)
    yield made
    made.close(at_once=True)


def double(number: int) -> int:
    return 2 * number


def die(number: int) -> int:
    if number == 7:
        os._exit(1)
    return double(number)


def refuse(number: int) -> int:
    raise ValueError(f"not {number}")


def threads(number: int) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ONE_THREAD}


def has_kernels() -> bool:
    return "fairduel.experiments.warm" in sys.modules


def nap(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


class Mark:
    """What the scheduler of a Dask cluster keeps of a task."""

    client = None

    def __init__(self, is_set: bool) -> None:
        self.now = is_set

    def is_set(self) -> bool:
        return self.now

    def set(self) -> None:
        self.now = True

    def clear(self) -> None:
        self.now = False


class FakePool:
    """Runs tasks when they are collected; ``fatal`` items end the worker of their task.

    Where it isn't isolated, all tasks under way go down with it.
    """

    resubmissions = 3

    def __init__(self, workers: int, fatal: set[int], isolated: bool) -> None:
        self.workers = workers
        self.fatal = fatal
        self.isolated = isolated
        self.tasks: dict[Future[Any], tuple[Callable[..., Any], Any]] = {}
        self.sizes: list[int] = []

    def size(self) -> int:
        return self.workers

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        assert len(self.tasks) < self.workers
        future: Future[Any] = Future()
        self.tasks[future] = (function, arguments)
        self.sizes.append(len(arguments[-1]))
        future.set_result(None)
        return future

    def collect(self, future: Future[Any]) -> Any:
        function, arguments = self.tasks[future]
        dies = not self.fatal.isdisjoint(arguments[-1])
        if not self.isolated:
            under_way = [items[-1] for _, items in self.tasks.values()]
            dies = any(not self.fatal.isdisjoint(items) for items in under_way)
        del self.tasks[future]
        if dies:
            raise WorkerDied
        return function(*arguments)

    def check(self) -> None: ...

    def close(self, at_once: bool) -> None: ...


class DesertedPool(FakePool):
    """Nothing ever finishes, as it finds out when it looks for the third time."""

    looked = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return Future()

    def check(self) -> None:
        self.looked += 1
        if self.looked == 3:
            raise InputError("nobody is there")


def results_of(pool: Any, function: Callable[[int], Any], items: Any) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for some in run_calls(pool, function, items):
        for item, result in some:
            assert item not in found
            found[item] = result
    return found


@given(
    items=st.integers(0, 600),
    workers=st.integers(1, 5),
    fatal=st.sets(st.integers(0, 600), max_size=4),
    isolated=st.booleans(),
)
def test_every_item_has_one_result_and_only_the_fatal_are_lost(
    items: int, workers: int, fatal: set[int], isolated: bool
) -> None:
    found = results_of(FakePool(workers, fatal, isolated), double, range(items))
    assert found == {i: LOST if i in fatal else 2 * i for i in range(items)}


def test_calls_of_a_thousandth_of_a_second_become_tasks_of_half_a_second() -> None:
    assert calls_in_a_task(100_000, 2, 0.001) == MOST_SECONDS / 0.001
    assert calls_in_a_task(1200, 2, 0.001) == LEAST_SECONDS / 0.001
    assert calls_in_a_task(600, 2, 0.001) == 300  # the end, evenly


def test_pool_is_asked_while_nothing_finishes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairduel.experiments.batching.CHECK_EVERY", 0.01)
    with pytest.raises(InputError, match="nobody is there"):
        results_of(DesertedPool(2, set(), isolated=False), double, range(10))


def test_calls_of_a_minute_are_tasks_of_their_own() -> None:
    assert calls_in_a_task(100, 2, 60.0) == 1


@given(st.integers(1, 10**6), st.integers(1, 100), st.none() | st.floats(0, 1e6))
def test_tasks_have_from_one_call_to_an_even_share(
    left: int, workers: int, pace: float | None
) -> None:
    assert 1 <= calls_in_a_task(left, workers, pace) <= -(-left // workers)


def test_processes_do_the_work(pool: LocalPool) -> None:
    assert results_of(pool, double, range(1000)) == {i: 2 * i for i in range(1000)}


IN_PROCESS = """
import sys
from fairduel.experiments.pool import InProcess

def loaded():
    return "fairduel.kernels.voi" in sys.modules

print(loaded(), InProcess().submit(loaded).result())
"""


def test_without_workers_kernels_are_loaded_before_a_task_begins() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_PROCESS], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False True\n"


WARM = """
import sys
import fairduel.experiments.warm
from fairduel.environments import Random
from fairduel.experiments import Cell
from fairduel.experiments.cells import Record, run_cell
from fairduel.learners.catalogue import NAMES, by_name

before = set(sys.modules)
for preset in ("as_written", "as_run"):
    for name in NAMES:
        cell = Cell(by_name(name, preset), Random(3, 3), 30, 0)
        assert isinstance(run_cell(cell, ""), Record)
print(sorted(set(sys.modules) - before))
"""


def test_no_run_loads_anything_while_it_is_timed() -> None:
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_worker_has_the_kernels_before_its_first_task(pool: LocalPool) -> None:
    assert pool.collect(pool.submit(has_kernels))


def test_task_stops_when_its_time_is_up(pool: LocalPool) -> None:
    tasks = list(run_calls(pool, nap, [0.4 + i / 1000 for i in range(8)]))
    assert max(len(task) for task in tasks) <= 3  # fewer where a nap takes longer
    assert sum(len(task) for task in tasks) == 8
    assert len({process for task in tasks for _, process in task}) == 2


def test_item_that_ends_its_worker_every_time_is_found(pool: LocalPool) -> None:
    found = results_of(pool, die, range(100))
    assert found == {i: LOST if i == 7 else 2 * i for i in range(100)}


def test_worker_killed_from_outside_is_replaced(pool: LocalPool) -> None:
    first = pool.submit(nap, LONG)
    second = pool.submit(nap, 0.0)
    other = pool.collect(second)
    third = pool.submit(nap, 0.0)
    assert pool.collect(third) == other  # nobody else was disturbed
    os.kill(pool._busy[first].process.result(), signal.SIGKILL)
    with pytest.raises(WorkerDied):
        pool.collect(first)
    assert pool.collect(pool.submit(double, 4)) == 8


def test_worker_that_died_idle_is_replaced(pool: LocalPool) -> None:
    process = pool.collect(pool.submit(nap, 0.0))
    os.kill(process, signal.SIGKILL)
    while pool._idle[0].executor._broken is False:
        time.sleep(0.01)
    assert pool.collect(pool.submit(double, 4)) == 8


def test_processes_that_group_people_give_results_in_order() -> None:
    assert list(groups._Workers(2).map(double, range(30))) == [2 * i for i in range(30)]


def test_process_that_groups_people_may_die_but_not_every_time() -> None:
    with pytest.raises(InputError, match="the processes that group people end before"):
        groups._Workers(2).map(die, [6, 7, 8])


def test_task_of_dask_begins_once() -> None:
    begun = Mark(is_set=True)  # on a worker that is gone
    for _ in range(2):  # what it gives may be lost as well
        assert dask_pool._once(begun, die, 7) is None
    fresh = Mark(is_set=False)
    assert dask_pool._once(fresh, lambda: fresh.now) == (True,)
    with pytest.raises(ValueError, match="not 3"):
        dask_pool._once(fresh, refuse, 3)
    assert not fresh.now  # nothing is left behind


def test_lost_task_of_dask_cannot_begin_again_while_the_sweep_lasts() -> None:
    pool = dask_pool.DaskPool.__new__(dask_pool.DaskPool)
    mark, future = Mark(is_set=True), Future[Any]()
    future.set_result(None)  # what _once gives where another worker died of it
    pool._marks, pool._lost, pool._killed = {future: mark}, [], MemoryError
    pool._executor = SimpleNamespace(shutdown=lambda wait: None)
    pool._client = SimpleNamespace(close=lambda: None)
    with pytest.raises(WorkerDied):
        pool.collect(future)
    assert mark.is_set()
    pool.close(at_once=False)
    assert not mark.is_set()


def test_errors_of_the_function_come_back(pool: LocalPool) -> None:
    with pytest.raises(ValueError, match="not 3"):
        pool.collect(pool.submit(refuse, 3))
    assert pool.collect(pool.submit(double, 4)) == 8


def test_workers_are_single_threaded_and_the_caller_is_left_as_it_was(
    pool: LocalPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert pool.collect(pool.submit(threads, 0)) == ONE_THREAD
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "MKL_NUM_THREADS" not in os.environ


def test_closing_at_once_does_not_wait_for_tasks() -> None:
    pool = LocalPool(1)
    pool.collect(pool.submit(double, 1))
    process = pool._idle[0].process.result()
    pool.submit(nap, LONG)
    began = time.monotonic()
    pool.close(at_once=True)
    assert time.monotonic() - began < LONG / 2
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_closing_at_once_does_not_wait_for_the_task_of_a_worker_that_is_starting() -> None:
    pool = LocalPool(1)
    pool.submit(nap, LONG)
    began = time.monotonic()
    pool.close(at_once=True)
    assert time.monotonic() - began < LONG / 2


def test_server_of_workers_is_deaf_to_interrupts_from_its_start(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, threading, time\n"
        "from fairduel.experiments.pool import LocalPool\n"
        "def interrupt():\n"
        "    for _ in range(40):\n"
        "        os.killpg(0, signal.SIGINT)\n"
        "        time.sleep(0.05)\n"
        'if __name__ == "__main__":\n'
        "    signal.signal(signal.SIGINT, lambda *_: None)\n"  # which nobody inherits
        "    threading.Thread(target=interrupt).start()\n"
        "    pool = LocalPool(1)\n"
        "    assert pool.collect(pool.submit(abs, -3)) == 3\n"
        "    pool.close(at_once=False)\n"
    )
    run = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_script_without_a_guard_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from fairduel import UniformOverUsers, compare\n"
        "compare(UniformOverUsers(), rounds=10, runs=2, workers=2)\n"
    )
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr.count('if __name__ == "__main__"') >= 2  # by workers, and by the script
    assert InputError.__name__ in run.stderr.splitlines()[-1]


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\n"
        "from fairduel.experiments.pool import LocalPool\n"
        'if __name__ == "__main__":\n'
        "    pool = LocalPool(1)\n"
        "    print(pool.collect(pool.submit(os.getpid)), flush=True)\n"
        "    pool.submit(time.sleep, 600)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    for _ in range(15_000):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    pytest.fail("the worker is still there")
