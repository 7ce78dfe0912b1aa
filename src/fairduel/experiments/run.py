"""Many simulations, on all cores or a cluster, that can be stopped and go on at any time."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from fairduel._checks import whole_number
from fairduel._files import AnyPath
from fairduel.errors import InputError
from fairduel.experiments.batching import Lost, run_calls
from fairduel.experiments.cells import Cell, Failure, Record, run_cell
from fairduel.experiments.dask_pool import DaskPool
from fairduel.experiments.keys import key_of, modules_of
from fairduel.experiments.pool import InProcess, LocalPool, Pool, check_not_a_worker
from fairduel.experiments.progress import bar, can_go_on
from fairduel.experiments.results import Results
from fairduel.experiments.store import Store
from fairduel.experiments.tables import write_tables
from fairduel.learners.learner import check_learner
from fairduel.simulation.run import MOST_ROUNDS
from fairduel.welfare.welfare import check_welfare

MOST_SEED = 2**63 - 1


def sweep(
    cells: Iterable[Cell],
    folder: AnyPath | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> Results:
    """Run all cells that have no result in the folder yet, and return the results of all of them.

    Without a folder everything stays in memory. Runs on ``workers`` processes (default: one for
    each core; 1 stays in this process, and so does by default what a script or notebook defines),
    or on the Dask cluster whose scheduler has the address ``scheduler``; the results are the same
    to the bit. A script that starts workers does so under ``if __name__ == "__main__"``. A sweep
    can be stopped at any time: what is finished is in the folder, and the same call goes on from
    there. A cell runs again when it or the code behind it has changed (see
    ``fairduel.experiments.keys``).

    A cell that fails, or that ends its worker process every time, is in ``failures``; the others
    go on, and the next sweep tries it again. A cell given twice counts once.
    """
    listed = list(cells)
    pool_size = _workers(workers, scheduler)
    if workers is None and scheduler is None and not _found_elsewhere(listed):
        pool_size = 1
    elsewhere = pool_size > 1 or scheduler is not None
    if elsewhere:
        check_not_a_worker()
    place = None if folder is None else Path(folder)
    with can_go_on(place):
        _check(listed, elsewhere)
        wanted: dict[str, Cell] = {}
        for cell in listed:
            wanted.setdefault(key_of(cell), cell)
        store = Store(place)
        left = {key: cell for key, cell in wanted.items() if key not in store}
        with can_go_on(place, lambda: _kept(wanted, store)):
            pool = _pool(min(pool_size, len(left)), scheduler) if left else None
            failures = _run_all(pool, left, len(wanted), store, progress) if pool else []
            results = Results(wanted, failures, store, place)
            if place is not None:
                write_tables(results, place)
    return results


def _check(cells: list[Cell], elsewhere: bool) -> None:
    """Find what would make cells fail before running any; ``elsewhere``: in other processes."""
    for cell in cells:
        whole_number("rounds", cell.rounds, 1, MOST_ROUNDS)
        whole_number("run", cell.run, 0, MOST_SEED)
        whole_number("seed", cell.seed, 0, MOST_SEED)
        check_learner(cell.learner)
        check_welfare(cell.welfare)
    if elsewhere:
        _check_modules(cells)
    _draw_once(cells)


def _draw_once(cells: list[Cell]) -> None:
    """Draw the last instance of every environment, so that bad sizes fail now.

    And so do probabilities to answer that are not one for each user.
    """
    last: dict[int, Cell] = {}
    for cell in cells:
        known = last.get(id(cell.environment))
        if known is None or cell.run > known.run:
            last[id(cell.environment)] = cell
    for cell in last.values():
        instance = cell.environment.draw(cell.run, cell.rounds, cell.seed)
        cell.answering.rates(len(instance.users))


def _check_modules(cells: list[Cell]) -> None:
    """Refuse what only this process can find."""
    if not _found_elsewhere(cells):
        raise InputError(
            "a learner, environment or welfare is defined in a script or notebook, where other "
            "processes can't find it: put it into a module, or leave workers out."
        )


def _found_elsewhere(cells: list[Cell]) -> bool:
    """Whether other processes can import all that the cells are made of."""
    parts = {
        id(part): part for cell in cells for part in (cell.learner, cell.environment, cell.welfare)
    }
    return all("__main__" not in modules_of(part) for part in parts.values())


def _kept(wanted: dict[str, Cell], store: Store) -> str:
    count = sum(key in store for key in wanted)
    return f"{count:,} of {len(wanted):,} simulations are done and"


def _pool(size: int, scheduler: str | None) -> Pool:
    if scheduler is not None:
        return DaskPool(scheduler)
    return LocalPool(size) if size > 1 else InProcess()


def _run_all(
    pool: Pool, left: dict[str, Cell], total: int, store: Store, progress: bool
) -> list[Failure]:
    """Run the cells, keep their records, and return the failures."""
    keys = {id(cell): key for key, cell in left.items()}
    failures: list[Failure] = []
    with (
        bar(total, total - len(left), progress) as advance,
        closing(_run(pool, list(left.values()))) as tasks,
    ):
        for finished in tasks:
            failures += _keep(finished, keys, store)
            advance(len(finished))
    return failures


def _run(
    pool: Pool, cells: list[Cell]
) -> Generator[list[tuple[Cell, Record | Failure | Lost]], None, None]:
    # The longest first, so that no worker is left with a long one at the end.
    ordered = sorted(cells, key=lambda cell: -cell.rounds)
    try:
        yield from run_calls(pool, run_keyed, ordered)
    except BaseException:
        pool.close(at_once=True)
        raise
    pool.close(at_once=False)


def run_keyed(cell: Cell) -> Record | Failure:
    """Run a cell under the key that it has where it runs: a worker may have other code."""
    return run_cell(cell, key_of(cell))


def _keep(
    finished: list[tuple[Cell, Record | Failure | Lost]], keys: dict[int, str], store: Store
) -> list[Failure]:
    """Store the records; return the failures."""
    records: list[Record] = []
    failures: list[Failure] = []
    for cell, result in finished:
        if isinstance(result, Failure):
            failures.append(replace(result, cell=cell))
        elif isinstance(result, Lost):
            failures.append(Failure(cell, "it ended its worker process every time it ran"))
        elif result.key != keys[id(cell)]:
            failures.append(
                Failure(
                    cell,
                    "the code behind it is not the same for the worker as it was at the start of "
                    "the sweep: start again, and give all workers the same version",
                )
            )
        else:
            records.append(result)
    if records:
        store.add(records)
    return failures


def _workers(workers: int | None, scheduler: str | None) -> int:
    if workers is None:
        # Those that this process may use, which in a container can be fewer than the machine's.
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else _cores()
    if scheduler is not None:
        raise InputError("a Dask cluster has its own workers: give workers or a scheduler.")
    return whole_number("workers", workers)


def _cores() -> int:
    return os.cpu_count() or 1
