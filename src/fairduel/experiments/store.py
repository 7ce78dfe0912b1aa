"""The records of finished cells: in memory, or in a folder too, as files that never change."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairduel._files import make_folder, remove_abandoned, write_whole
from fairduel.experiments.cells import CURVES, PHASES, Record

KEPT = "cells"  # the subfolder of the files


class Store:
    """Records by key, as pyarrow tables with a row each; curves are lists.

    Each file has the records of one task, is named by its keys and written whole. So experiments
    that use one folder at the same time do each other no harm, though both may run the same cells.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = None if folder is None else folder / KEPT
        self._tables: list[Any] = []
        self._places: dict[str, tuple[int, int]] = {}
        if folder is not None and self._folder is not None:
            make_folder(self._folder)
            remove_abandoned(folder)
            remove_abandoned(self._folder)
            for file in sorted(self._folder.glob("*.arrow")):
                self._note(_open(file))

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def add(self, records: Sequence[Record]) -> None:
        """Add the records of a task."""
        table = _table(records)
        if self._folder is not None:
            name = hashlib.sha256("".join(record.key for record in records).encode()).hexdigest()
            file = self._folder / f"{name[:32]}.arrow"
            write_whole(file, _to_arrow(table))
            table = _open(file)  # on disk only from now on
        self._note(table)

    def read(self, keys: Sequence[str]) -> Any:
        """Return the records of these keys as a pyarrow Table, in this order."""
        import pyarrow as pa

        if not keys:
            return _table([])
        by_table: dict[int, list[int]] = {}
        for position, key in enumerate(keys):
            by_table.setdefault(self._places[key][0], []).append(position)
        pieces = [
            self._tables[table].take([self._places[keys[position]][1] for position in positions])
            for table, positions in by_table.items()
        ]
        read = [position for positions in by_table.values() for position in positions]
        return pa.concat_tables(pieces).take(np.argsort(read))

    def _note(self, table: Any) -> None:
        if table is None:
            return
        for row, key in enumerate(table["key"].to_pylist()):
            self._places[key] = (len(self._tables), row)
        self._tables.append(table)


def _table(records: Sequence[Record]) -> Any:
    import pyarrow as pa

    floats, ints = pa.list_(pa.float64()), pa.list_(pa.int64())
    columns: dict[str, Any] = {
        "key": pa.array([record.key for record in records], pa.string()),
        "best": pa.array([record.best for record in records], pa.float64()),
        "seconds": pa.array([record.seconds for record in records], pa.float64()),
        "rounds": pa.array([record.checkpoints for record in records], ints),
        "utilities": pa.array([record.utilities for record in records], floats),
    }
    for phase in PHASES:
        columns[phase] = pa.array([record.phases[phase] for record in records], pa.int64())
    for metric in CURVES:
        columns[metric] = pa.array([record.curves[metric] for record in records], floats)
    return pa.table(columns)


def _to_arrow(table: Any) -> bytes:
    import pyarrow as pa

    data = io.BytesIO()
    with pa.ipc.new_file(data, table.schema) as writer:
        writer.write_table(table)
    return data.getvalue()


def _open(file: Path) -> Any:
    """Map the table of a file into memory, or None where it is damaged: its cells run again."""
    import pyarrow as pa

    try:
        table = pa.ipc.open_file(pa.memory_map(str(file))).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError):
        return None
    return table if table.schema.equals(_table([]).schema) else None
