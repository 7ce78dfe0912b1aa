"""Many small calls as few tasks, on workers that may die."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic, TypeVar

from fairduel.experiments.pool import Pool, WorkerDied

Item = TypeVar("Item")
Result = TypeVar("Result")

LEAST_SECONDS = 0.5  # of a task: the cost of starting one is about a thousandth of it
MOST_SECONDS = 1.0  # of a task, but for its last call: what a death can cost
FIRST_CALLS = 256  # of a task whose calls might take any time
CHECK_EVERY = 5.0  # seconds without a result


class Lost:
    """The result of a call that ended its worker every time it was tried."""


LOST = Lost()


def run_calls(
    pool: Pool, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[list[tuple[Item, Result | Lost]]]:
    """Call the function with every item; yield items and results as they come, in any order.

    The items of a task that is lost are set aside. When all others are through, each of them is a
    task of its own, and in a pool that isn't isolated it has the pool to itself: so the item
    that ends workers is found. Items that take long should come first.
    """
    return _Run(pool, function, items).results()


class _Run(Generic[Item, Result]):
    def __init__(
        self, pool: Pool, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> None:
        self._pool = pool
        self._function = function
        self._waiting = deque(items)
        self._suspects: deque[Item] = deque()
        self._deaths: Counter[Item] = Counter()
        self._running: dict[Future[Any], list[Item]] = {}
        self._pace: float | None = None  # seconds a call, in the latest task

    def results(self) -> Iterator[list[tuple[Item, Result | Lost]]]:
        self._fill()
        while self._running:
            done, _ = wait(self._running, CHECK_EVERY, return_when=FIRST_COMPLETED)
            if not done:
                self._pool.check()
                continue
            finished = [self._collect(future) for future in done]
            del done  # else a cluster keeps their results, and recomputes them if they are lost
            self._fill()  # before the caller works on the results
            yield from filter(None, finished)

    def _fill(self) -> None:
        """Give every worker something to do."""
        size = self._pool.size()
        while self._waiting and len(self._running) < size:
            count = calls_in_a_task(len(self._waiting), size, self._pace)
            self._submit([self._waiting.popleft() for _ in range(count)])
        alone = size if self._pool.isolated else 1
        while self._suspects and not self._waiting and len(self._running) < alone:
            self._submit([self._suspects.popleft()])

    def _submit(self, items: list[Item]) -> None:
        self._running[self._pool.submit(_run_some, self._function, items)] = items

    def _collect(self, future: Future[Any]) -> list[tuple[Item, Result | Lost]]:
        items = self._running.pop(future)
        try:
            results, seconds = self._pool.collect(future)
        except WorkerDied:
            return self._bury(items)
        self._pace = seconds / len(results)
        self._waiting.extendleft(reversed(items[len(results) :]))
        return list(zip(items, results, strict=False))

    def _bury(self, items: list[Item]) -> list[tuple[Item, Result | Lost]]:
        self._deaths.update(items)
        lost = [item for item in items if self._deaths[item] > self._pool.resubmissions]
        self._suspects.extend(item for item in items if item not in lost)
        return [(item, LOST) for item in lost]


def calls_in_a_task(left: int, workers: int, pace: float | None) -> int:
    """Return how many of the calls left to give to one worker, at ``pace`` seconds each.

    As many as fill a task, but no more than a half share, so that there is something left to
    even out; a task below the least is only made of an even share of the last calls.
    """
    even = math.ceil(left / workers)
    if pace is None:
        return min(FIRST_CALLS, even)
    pace = max(pace, 1e-6)
    fill = min(math.ceil(MOST_SECONDS / pace), math.ceil(even / 2))
    return min(max(fill, math.ceil(LEAST_SECONDS / pace)), even)


def _run_some(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> tuple[list[Result], float]:
    """Return results of the first items, as many as time allows, and the seconds taken."""
    began = time.perf_counter()
    results = []
    for item in items:
        results.append(function(item))
        if time.perf_counter() - began >= MOST_SECONDS:
            break
    return results, time.perf_counter() - began
