"""Many simulations, on all cores or a cluster, that can be stopped and go on at any time."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path

from fairduel._files import AnyPath
from fairduel.errors import InputError
from fairduel.experiments.batching import Lost, run_calls
from fairduel.experiments.cells import Cell, Failure, Record, check_cells, key_of, run_cell
from fairduel.experiments.dask_pool import DaskPool
from fairduel.experiments.pool import LocalPool, Pool, check_not_a_worker
from fairduel.experiments.progress import bar, can_go_on
from fairduel.experiments.results import Results, Store, write_results
from fairduel.report.rows import require_pyarrow


def sweep(
    cells: Iterable[Cell],
    folder: AnyPath,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
) -> Results:
    """Run all cells that have no result in the folder yet, and give the results of all of them.

    Runs on so many worker processes, one for each core unless told, or on the Dask cluster whose
    scheduler has the address ``scheduler``; the results are the same to the bit. Stop it as you
    like: what is finished is in the folder, and the same call goes on from there. A cell runs
    again when it, fairduel, the module of its learner or the file of its environment has changed.

    A cell that fails, or that ends its worker process every time, is in ``failures``; the others
    go on, and the next sweep tries it again. A cell given twice counts once.
    """
    check_not_a_worker()
    require_pyarrow()
    with can_go_on(Path(folder)):
        wanted = dict.fromkeys(cells, "")
        check_cells(wanted)
        pool_size = _workers(workers, scheduler)
        wanted = {cell: key_of(cell) for cell in wanted}
        return _sweep(wanted, Path(folder), pool_size, scheduler, progress)


def _sweep(
    wanted: dict[Cell, str], folder: Path, pool_size: int, scheduler: str | None, progress: bool
) -> Results:
    """Run those of the cells, with their keys, that the folder lacks."""
    store = Store(folder)

    def kept() -> str:
        count = sum(key in store for key in wanted.values())
        return f"{count:,} of {len(wanted):,} simulations are done and"

    left = [cell for cell, key in wanted.items() if key not in store]
    failures: list[Failure] = []
    with can_go_on(folder, kept):
        if left:
            pool = (
                LocalPool(min(pool_size, len(left))) if scheduler is None else DaskPool(scheduler)
            )
            with (
                bar(len(wanted), len(wanted) - len(left), progress) as advance,
                closing(_run(pool, left)) as tasks,
            ):
                for finished in tasks:
                    failures += _keep(finished, wanted, store)
                    advance(len(finished))
        return write_results(store, folder, wanted, failures)


def _run(
    pool: Pool, cells: list[Cell]
) -> Generator[list[tuple[Cell, Record | Failure | Lost]], None, None]:
    # The longest first, so that no worker is left with a long one at the end.
    ordered = sorted(cells, key=lambda cell: -cell.rounds)
    try:
        yield from run_calls(pool, run_cell, ordered)
    except BaseException:
        pool.close(at_once=True)
        raise
    pool.close(at_once=False)


def _keep(
    finished: list[tuple[Cell, Record | Failure | Lost]], keys: dict[Cell, str], store: Store
) -> list[Failure]:
    """Put the records on disk; gives the failures."""
    records: list[Record] = []
    failures: list[Failure] = []
    for cell, result in finished:
        if isinstance(result, Failure):
            failures.append(result)
        elif isinstance(result, Lost):
            failures.append(Failure(cell, "it ended its worker process every time it ran"))
        elif result.key != keys[cell]:
            failures.append(
                Failure(
                    cell,
                    "the code or file behind it is not the same for the worker as it was at the "
                    "start of the sweep: start again, and give all workers the same version",
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
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers is {workers!r}: give a whole number from 1 up.")
    return workers


def _cores() -> int:
    return os.cpu_count() or 1
