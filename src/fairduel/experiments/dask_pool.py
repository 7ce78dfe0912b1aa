"""The workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

from fairduel.errors import InputError
from fairduel.experiments.pool import WorkerDied

PATIENCE = 20  # seconds to wait for the scheduler, and for its first worker
WITHOUT_WORKERS = 60  # seconds to wait for new workers when all are gone


class DaskPool:
    """The cluster whose scheduler has this address, like ``tcp://10.0.0.1:8786``.

    Its workers need the same fairduel, and what else the cells name: modules of learners, files.
    The scheduler itself moves the tasks of a worker that dies to others, by default four times;
    so that a task can't end them one by one, it only ever starts once (``_once``).
    """

    isolated = False
    resubmissions = 1  # not every cluster replaces workers that die

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError as error:
            raise InputError(
                "a Dask cluster needs dask.distributed: install it with "
                "pip install 'fairduel[dask]'."
            ) from error
        dask: Any = distributed  # has no types
        self._killed: type[Exception] = dask.KilledWorker
        self._address = address
        try:
            self._client = _connected(dask, address)
        except (OSError, ValueError) as error:  # a timeout is an OSError
            raise InputError(
                f"there is no Dask scheduler with a worker at {address!r}: "
                "give the address that dask scheduler shows, and start a worker."
            ) from error
        self._deserted: float | None = None  # when the last worker went
        self._marks: dict[Future[Any], Any] = {}  # of tasks that may still be running
        self._lost: list[Any] = []  # marks of lost tasks
        self._event: Any = dask.Event
        self._executor = self._client.get_executor(pure=False)

    def size(self) -> int:
        with self._explained():
            threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        mark = self._event(f"fairduel-{secrets.token_hex(8)}", client=self._client)
        with self._explained():
            future: Future[Any] = self._executor.submit(_once, mark, function, *arguments)
        self._marks[future] = mark
        return future

    def collect(self, future: Future[Any]) -> Any:
        self._deserted = None
        mark = self._marks.pop(future)
        with self._explained():
            try:
                result = future.result()
            except self._killed:  # the scheduler has given up on it
                result = None
        if result is None:
            # The mark stays: if the scheduler loses its result, it runs the task again.
            self._lost.append(mark)
            raise WorkerDied
        return result[0]

    def check(self) -> None:
        """Raise if no workers are left: the scheduler would keep the tasks waiting for ever."""
        try:
            workers = len(self._client.nthreads())
        except OSError:  # no connection: if it doesn't come back, the tasks are cancelled
            return
        if workers:
            self._deserted = None
            return
        now = time.monotonic()
        self._deserted = self._deserted or now
        if now - self._deserted >= WITHOUT_WORKERS:
            raise InputError(
                f"the Dask cluster at {self._address!r} has no workers any more: start some, and "
                "the sweep goes on with what it has not finished."
            )

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Explain errors of the cluster; those of cells stay as they are."""
        try:
            yield
        except (CancelledError, OSError) as error:
            raise InputError(
                f"the Dask scheduler at {self._address!r} is gone: start it again, and the sweep "
                "goes on with what it has not finished."
            ) from error
        except Exception as error:
            raise InputError(
                f"the workers of the Dask cluster at {self._address!r} cannot run the cells "
                f"({type(error).__name__}: {error}): give them the same fairduel and Python."
            ) from error

    def close(self, at_once: bool) -> None:
        # No task that is still wanted is running, even where there is time.
        self._executor.shutdown(wait=False)
        with contextlib.suppress(OSError):  # the scheduler is gone, and the marks with it
            for mark in self._lost:
                mark.clear()
        self._client.close()


def _connected(dask: Any, address: str) -> Any:
    """Return a client of a scheduler that has a worker."""
    client = dask.Client(address, timeout=PATIENCE, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except BaseException:
        client.close()
        raise
    return client


# Threads of a worker that load numba at the same time can leave its lock held for ever, and those
# that connect to the scheduler at the same time can cut the worker off from it.
_first = threading.Lock()


def _once(mark: Any, function: Callable[..., Any], *arguments: object) -> tuple[Any] | None:
    """Call the function, unless a worker has begun to and did not finish.

    ``mark`` is an event that the scheduler keeps, so it stays when the worker is gone.
    """
    with _first:
        import fairduel.experiments.warm  # noqa: F401

        _ = mark.client
    if mark.is_set():
        return None
    mark.set()
    try:
        return (function(*arguments),)
    finally:
        mark.clear()
