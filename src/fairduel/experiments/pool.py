"""Worker processes on this machine, each replaced when it dies."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Protocol

from fairduel.errors import InputError
from fairduel.kernels.interrupts import shielded

# Libraries read these when they are loaded. A worker is one thread: the parallelism is ours.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)

GUARD = 'in a script, start it under if __name__ == "__main__"'


class WorkerDied(Exception):
    """The process that worked on a task is gone, and how far it came is unknown."""


class Pool(Protocol):
    """Where tasks run.

    isolated: a task can only be lost by its own fault, never by that of another one. resubmissions:
    how often it is worth submitting a lost task again.
    """

    isolated: bool
    resubmissions: int

    def size(self) -> int:
        """Return how many tasks run at the same time."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Start a task; at most ``size()`` of them may be under way."""
        ...

    def collect(self, future: Future[Any]) -> Any:
        """Return the result of a finished task; raise ``WorkerDied`` if it was lost."""
        ...

    def check(self) -> None:
        """Raise if no task will ever finish; called while none does."""
        ...

    def close(self, at_once: bool) -> None:
        """End all workers, whatever they are doing."""
        ...


class InProcess:
    """A pool without workers: a task runs here and now, without isolation."""

    isolated = True
    resubmissions = 0

    def size(self) -> int:
        return 1

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        import fairduel.experiments.warm  # noqa: F401  (and not while a run is timed)

        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future

    def collect(self, future: Future[Any]) -> Any:
        return future.result()

    def check(self) -> None:
        """Do nothing: every task is finished as soon as it is submitted."""

    def close(self, at_once: bool) -> None:
        """Do nothing: there are no workers to end."""


@dataclass
class _Worker:
    """A pool of one process, so that a death concerns one task and stops no other."""

    executor: ProcessPoolExecutor
    process: Future[int]  # its id, as soon as it has started


@dataclass
class LocalPool:
    """A pool of ``workers`` processes on this machine.

    They are forked from a server process that has loaded the compiled kernels: forking the caller
    itself is not safe where it has threads, and a new process for each worker would load the
    kernels again, which takes a second. Where there is no such server (Windows) they are new.
    """

    workers: int
    isolated: bool = field(default=True, init=False)
    resubmissions: int = field(default=3, init=False)
    _idle: list[_Worker] = field(default_factory=list, init=False)
    _busy: dict[Future[Any], _Worker] = field(default_factory=dict, init=False)
    _can_start: bool = field(default=False, init=False)

    def size(self) -> int:
        return self.workers

    @shielded  # else an interrupt would leave a half-started worker behind
    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        worker = self._idle.pop() if self._idle else _start()
        try:
            future = worker.executor.submit(function, *arguments)
        except BrokenProcessPool:  # it died while it had nothing to do
            _end(worker)
            worker = _start()
            future = worker.executor.submit(function, *arguments)
        self._busy[future] = worker
        return future

    def collect(self, future: Future[Any]) -> Any:
        worker = self._busy.pop(future)
        try:
            result = future.result()
            self._can_start = True
        except BrokenProcessPool as error:
            _end(worker)
            if not self._can_start and not _has_started(worker):
                raise InputError(
                    f"a worker process stopped before it could start (see above): {GUARD}."
                ) from error
            raise WorkerDied from error
        except BaseException:
            self._idle.append(worker)
            raise
        self._idle.append(worker)
        return result

    def check(self) -> None:
        """Do nothing: a worker that is gone makes its task fail."""

    def close(self, at_once: bool) -> None:
        for worker in (*self._idle, *self._busy.values()):
            if at_once:
                wait([worker.process])  # if it is still starting, it has a task to begin then
            if at_once and _has_started(worker):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.process.result(), signal.SIGTERM)
            _end(worker)
        self._idle.clear()
        self._busy.clear()


def check_not_a_worker() -> None:
    """Raise an error if a starting worker runs the caller's script once more."""
    main = sys.modules.get("__mp_main__")
    if main is not None and main.__name__ == "__mp_main__":
        raise InputError(f"a worker process cannot start workers of its own: {GUARD}.")


def _start() -> _Worker:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["fairduel.experiments.warm"])
    with _environment(ONE_THREAD):
        if "forkserver" in methods:
            _start_server()
        executor = ProcessPoolExecutor(1, context, initializer=_begin)
        # Starts the process now, while the environment is set.
        return _Worker(executor, executor.submit(os.getpid))


def _start_server() -> None:
    """Start the server that workers are forked from, unless it is running.

    It ignores Ctrl-C, but only once it has loaded everything; so it is started with that blocked.
    """
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # else this is done below, and that unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(worker: _Worker) -> None:
    worker.executor.shutdown(wait=True, cancel_futures=True)


def _has_started(worker: _Worker) -> bool:
    return worker.process.done() and worker.process.exception() is None


def _begin() -> None:
    """Prepare a worker for its tasks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    threading.Thread(target=_follow_parent, daemon=True).start()
    import fairduel.experiments.warm  # noqa: F401  (already there where the server has loaded it)


def _follow_parent() -> None:
    """End with the parent: a worker whose parent was killed would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
