"""What a sweep has found: kept cell by cell while it runs, and as tables when it is through."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._files import make_folder, write_whole
from fairduel.errors import InputError
from fairduel.experiments.cells import PHASES, Cell, Failure, Record
from fairduel.report.metrics import METRICS
from fairduel.simulation.metrics import STANDARD_ERRORS

KEPT = "cells"  # the folder of the files of finished tasks
ABANDONED = 3600.0  # seconds after which a temporary file has nobody left who writes it
CELLS_AT_ONCE = 2000  # so many are in memory while the tables are written


@dataclass(frozen=True)
class Results:
    """The results of a sweep, in the order of its cells, and the cells that have none.

    folder: has the same as files, ``rows.parquet``, ``runs.parquet`` and ``failures.json``, until
    a sweep of other cells writes its own there.
    """

    folder: Path
    failures: tuple[Failure, ...]
    # What was written to the files, since these may change; as it is there, which is compact.
    _rows: bytes = field(repr=False)
    _runs: bytes = field(repr=False)

    @cached_property
    def rows(self) -> Any:
        """A row for each cell and checkpoint, with all metrics, as a pyarrow Table.

        ``horizon`` is the last round of the cell, ``rounds`` that of the row.
        """
        return _read_table(self._rows)

    @cached_property
    def runs(self) -> Any:
        """A row for each cell: the best Nash welfare, rounds by phase, seconds; a pyarrow Table."""
        return _read_table(self._runs)

    @cached_property
    def combinations(self) -> frozenset[tuple[str, str, int]]:
        """Every environment, learner and horizon that there are results of."""
        names = ["environment", "learner", "horizon"]
        distinct = self.runs.select(names).group_by(names).aggregate([])
        return frozenset(zip(*(distinct[name].to_pylist() for name in names), strict=True))

    def curves(
        self, environment: str, learner: str, metric: str, horizon: int | None = None
    ) -> tuple[Ints, Floats]:
        """The checkpoints, and a metric there: (runs, checkpoints)."""
        if metric not in METRICS:
            raise InputError(f"there is no metric {metric!r}: use one of {', '.join(METRICS)}.")
        chosen = _chosen(self.rows, environment, learner, horizon)
        rounds = chosen["rounds"].to_numpy()
        runs = int((rounds == chosen["horizon"][0].as_py()).sum())
        table = rounds.reshape(runs, -1) if len(rounds) % runs == 0 else rounds[:, None]
        if (table != table[0]).any():
            raise InputError(
                f"{learner!r} in {environment!r} has runs with different checkpoints: "
                "read them off the rows."
            )
        return table[0], chosen[metric].to_numpy().reshape(runs, -1)

    def final(
        self, environment: str, learner: str, metric: str, horizon: int | None = None
    ) -> Floats:
        """(runs,) a metric after the last round, or a figure of the runs like "identify"."""
        if metric in METRICS:
            return self.curves(environment, learner, metric, horizon)[1][:, -1]
        figures = ("best", *PHASES, "seconds")
        if metric not in figures:
            names = ", ".join((*METRICS, *figures))
            raise InputError(f"there is no metric {metric!r}: use one of {names}.")
        chosen = _chosen(self.runs, environment, learner, horizon)
        return np.asarray(chosen[metric].to_numpy(), np.float64)


class Store:
    """The files of finished tasks in a sweep's folder, named by their content.

    Each is written whole, and none is ever changed. So sweeps that use one folder at the same time
    do each other no harm, though they may both run the same cells.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / KEPT
        make_folder(self._folder)
        _clean(folder)
        _clean(self._folder)
        self._places: dict[str, tuple[Path, int]] = {}
        for file in sorted(self._folder.glob("*.arrow")):
            self._note(file, _read_kept(file))

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def add(self, records: Sequence[Record]) -> None:
        """Keep what a task has found."""
        table = _kept(records)
        name = hashlib.sha256("".join(record.key for record in records).encode()).hexdigest()
        file = self._folder / f"{name[:32]}.arrow"
        write_whole(file, _to_arrow(table))
        self._note(file, table)

    def read(self, keys: Sequence[str]) -> Any:
        """The records of these keys as a pyarrow Table, in this order."""
        import pyarrow as pa

        order = {key: position for position, key in enumerate(keys)}
        files: dict[Path, list[str]] = {}
        for key in keys:
            files.setdefault(self._places[key][0], []).append(key)
        pieces, positions = [], []
        for file, inside in files.items():
            pieces.append(_read_kept(file).take([self._places[key][1] for key in inside]))
            positions += [order[key] for key in inside]
        return pa.concat_tables(pieces).take(np.argsort(positions))

    def _note(self, file: Path, table: Any) -> None:
        for row, key in enumerate(table["key"].to_pylist() if table is not None else ()):
            self._places[key] = (file, row)


def write_results(
    store: Store, folder: Path, cells: dict[Cell, str], failures: Sequence[Failure]
) -> Results:
    """Write the tables of these cells, by their keys, to the folder."""
    ordered = list(cells)
    place = {cell: number for number, cell in enumerate(ordered)}
    failed = tuple(sorted(failures, key=lambda failure: place[failure.cell]))
    missing = {failure.cell for failure in failed}
    done = {cell: key for cell, key in cells.items() if cell not in missing}
    rows, runs = _tables(store, done)
    write_whole(folder / "rows.parquet", rows)
    write_whole(folder / "runs.parquet", runs)
    write_whole(folder / "summary.csv", _summary(_read_table(rows).unify_dictionaries()))
    told = [{**dataclasses.asdict(f.cell), "reason": f.reason, "trace": f.trace} for f in failed]
    write_whole(
        folder / "failures.json", (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()
    )
    return Results(folder, failed, rows, runs)


def _tables(store: Store, cells: dict[Cell, str]) -> tuple[bytes, bytes]:
    """The rows and the runs of these cells, each as a Parquet file."""
    import pyarrow.parquet as pq

    rows_schema, runs_schema = _schemas()
    rows, runs = io.BytesIO(), io.BytesIO()
    with (
        pq.ParquetWriter(rows, rows_schema, compression="zstd") as rows_writer,
        pq.ParquetWriter(runs, runs_schema, compression="zstd") as runs_writer,
    ):
        for some in _in_groups(list(cells), CELLS_AT_ONCE):
            kept = store.read([cells[cell] for cell in some])
            rows_writer.write_table(_rows(some, kept, rows_schema))
            runs_writer.write_table(_runs(some, kept, runs_schema))
    return rows.getvalue(), runs.getvalue()


def _summary(rows: Any) -> bytes:
    """Every metric after the last round: mean and half the 95 % interval, for each combination."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    names = ["environment", "learner", "horizon"]
    last = rows.filter(pc.equal(rows["rounds"], rows["horizon"]))
    spread = pc.VarianceOptions(ddof=1)
    wanted: list[Any] = [("run", "count")]
    wanted += [(metric, "mean") for metric in METRICS]
    wanted += [(metric, "stddev", spread) for metric in METRICS]
    found = last.group_by(names, use_threads=False).aggregate(wanted)
    runs = found["run_count"]
    columns = {name: found[name].cast(pa.string()) for name in names[:2]}
    columns |= {"horizon": found["horizon"], "runs": runs}
    for metric in METRICS:
        columns[metric] = found[f"{metric}_mean"]
        error = pc.divide(found[f"{metric}_stddev"], pc.sqrt(runs))
        columns[f"{metric}_interval"] = pc.multiply(error, STANDARD_ERRORS)
    written = io.BytesIO()
    csv.write_csv(pa.table(columns), written)
    return written.getvalue()


def _rows(cells: Sequence[Cell], kept: Any, schema: Any) -> Any:
    """A row for each checkpoint."""
    import pyarrow as pa

    rounds = kept["rounds"].combine_chunks()
    lengths = np.diff(rounds.offsets.to_numpy())
    columns = {name: np.repeat(values, lengths) for name, values in _settings(cells).items()}
    columns["rounds"] = rounds.flatten()
    columns |= {metric: kept[metric].combine_chunks().flatten() for metric in METRICS}
    return pa.table([_as(columns[field.name], field.type) for field in schema], schema=schema)


def _runs(cells: Sequence[Cell], kept: Any, schema: Any) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = dict(_settings(cells))
    columns |= {name: kept[name].combine_chunks() for name in ("best", *PHASES, "seconds")}
    return pa.table([_as(columns[field.name], field.type) for field in schema], schema=schema)


def _settings(cells: Sequence[Cell]) -> dict[str, Any]:
    """The columns that say which cell a row is from; texts as objects, so as to share them."""
    return {
        "environment": np.array([cell.environment for cell in cells], dtype=object),
        "learner": np.array([cell.learner for cell in cells], dtype=object),
        "horizon": np.array([cell.rounds for cell in cells], np.int64),
        "run": np.array([cell.run for cell in cells], np.int64),
        "seed": np.array([cell.seed for cell in cells], np.int64),
    }


def _schemas() -> tuple[Any, Any]:
    """Of the rows and of the runs."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.string())
    cell = [
        ("environment", text),
        ("learner", text),
        ("horizon", pa.int64()),
        ("run", pa.int64()),
        ("seed", pa.int64()),
    ]
    rows = [*cell, ("rounds", pa.int64()), *((metric, pa.float64()) for metric in METRICS)]
    phases = ((phase, pa.int64()) for phase in PHASES)
    runs = [*cell, ("best", pa.float64()), *phases, ("seconds", pa.float64())]
    return pa.schema(rows), pa.schema(runs)


def _as(values: Any, kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return pa.array(values, pa.string()).dictionary_encode()
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def _kept(records: Sequence[Record]) -> Any:
    """A row for each record; curves are lists."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "key": pa.array([record.key for record in records], pa.string()),
        "best": pa.array([record.best for record in records], pa.float64()),
        "seconds": pa.array([record.seconds for record in records], pa.float64()),
        "rounds": pa.array([record.rounds for record in records], pa.list_(pa.int64())),
    }
    for phase in PHASES:
        columns[phase] = pa.array([record.phases[phase] for record in records], pa.int64())
    for metric in METRICS:
        curves = [record.curves[metric] for record in records]
        columns[metric] = pa.array(curves, pa.list_(pa.float64()))
    return pa.table(columns)


def _to_arrow(table: Any) -> bytes:
    import pyarrow as pa

    data = io.BytesIO()
    with pa.ipc.new_file(data, table.schema) as writer:
        writer.write_table(table)
    return data.getvalue()


def _read_kept(file: Path) -> Any:
    """The table of a file, or None where it is damaged: then its cells run again."""
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.py_buffer(file.read_bytes())).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError):
        return None
    return table if table.schema.equals(_kept([]).schema) else None


def _read_table(data: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.read_table(pa.BufferReader(data))


def _chosen(table: Any, environment: str, learner: str, horizon: int | None) -> Any:
    """The rows of one learner in one environment, for one horizon."""
    import pyarrow.compute as pc

    is_it = (pc.field("environment") == environment) & (pc.field("learner") == learner)
    if horizon is not None:
        is_it &= pc.field("horizon") == horizon
    chosen = table.filter(is_it)
    horizons = pc.unique(chosen["horizon"]).to_pylist()
    if not horizons:
        asked = "" if horizon is None else f" with horizon {horizon}"
        raise InputError(f"the sweep has no results of {learner!r} in {environment!r}{asked}.")
    if len(horizons) > 1:
        raise InputError(
            f"{learner!r} in {environment!r} has the horizons {', '.join(map(str, horizons))}: "
            "say which one."
        )
    return chosen


def _clean(folder: Path) -> None:
    """Remove what writers that were killed have left behind."""
    for file in folder.glob(".fairduel-*.tmp"):
        with contextlib.suppress(FileNotFoundError):  # its writer has just finished
            if time.time() - file.stat().st_mtime > ABANDONED:
                file.unlink()


def _in_groups(cells: Sequence[Cell], size: int) -> Iterator[Sequence[Cell]]:
    for start in range(0, len(cells), size):
        yield cells[start : start + size]
