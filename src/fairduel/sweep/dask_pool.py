"""The workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

from fairduel.errors import InputError
from fairduel.sweep.pool import WorkerDied

PATIENCE = 20  # seconds to wait for the scheduler, and for its first worker
WITHOUT_WORKERS = 60  # seconds for somebody to start workers again when all are gone


class DaskPool:
    """The cluster whose scheduler has this address, like ``tcp://10.0.0.1:8786``.

    Its workers need the same fairduel, and what else the cells name: modules of learners, files.
    The scheduler itself moves the tasks of a worker that dies, and gives up on a task after some
    deaths, even if it was another task of the same worker that caused them.
    """

    isolated = False
    resubmissions = 1

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
        self._deserted: float | None = None  # since when there are no workers
        self._executor = self._client.get_executor(pure=False)

    def size(self) -> int:
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def collect(self, future: Future[Any]) -> Any:
        self._deserted = None
        try:
            return future.result()
        except self._killed as error:
            raise WorkerDied from error
        except CancelledError as error:
            raise InputError(
                f"the Dask scheduler at {self._address!r} is gone: start it again, and the sweep "
                "goes on with what it has not finished."
            ) from error

    def check(self) -> None:
        """The scheduler would keep the tasks for workers to come, and the sweep wait for ever."""
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

    def close(self, at_once: bool) -> None:
        self._executor.shutdown(wait=not at_once)
        self._client.close()


def _connected(dask: Any, address: str) -> Any:
    """A client of a scheduler that has a worker."""
    client = dask.Client(address, timeout=PATIENCE, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except BaseException:
        client.close()
        raise
    return client
