"""Results as tables with labels, in memory and as the files of a folder."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairduel._files import write_whole
from fairduel.experiments.cells import CURVES, Cell, Failure
from fairduel.experiments.results import FIGURES, Results
from fairduel.report.rows import to_csv

CELLS_AT_ONCE = 2000  # in memory while the files are written


def rows(results: Results) -> Any:
    """Return a row for each checkpoint of each cell."""
    return _concatenated(results, _rows)


def runs(results: Results) -> Any:
    """Return a row for each cell."""
    return _concatenated(results, _runs)


def write_tables(results: Results, folder: Path) -> None:
    """Write rows.parquet, runs.parquet, summary.csv and failures.json to the folder."""
    write_whole(folder / "rows.parquet", _parquet(results, _rows))
    write_whole(folder / "runs.parquet", _parquet(results, _runs))
    write_whole(folder / "summary.csv", _summary(results))
    told = [_told(failure) for failure in results.failures]
    write_whole(
        folder / "failures.json", (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()
    )


def _concatenated(results: Results, kind: Any) -> Any:
    import pyarrow as pa

    tables = [kind(*results.records(cells)) for cells in _in_groups(results.cells)]
    return pa.concat_tables(tables or [kind(*results.records([]))]).unify_dictionaries()


def _parquet(results: Results, kind: Any) -> bytes:
    import pyarrow.parquet as pq

    data = io.BytesIO()
    schema = kind(*results.records([])).schema
    with pq.ParquetWriter(data, schema, compression="zstd") as writer:
        for cells in _in_groups(results.cells):
            writer.write_table(kind(*results.records(cells)))
    return data.getvalue()


def _rows(cells: Sequence[Cell], kept: Any) -> Any:
    import pyarrow as pa

    rounds = kept["rounds"].combine_chunks()
    lengths = np.diff(rounds.offsets.to_numpy())
    columns = {name: _as_column(np.repeat(v, lengths)) for name, v in _settings(cells).items()}
    columns["rounds"] = rounds.flatten()
    columns |= {metric: kept[metric].combine_chunks().flatten() for metric in CURVES}
    return pa.table(columns)


def _runs(cells: Sequence[Cell], kept: Any) -> Any:
    import pyarrow as pa

    columns = {name: _as_column(values) for name, values in _settings(cells).items()}
    return pa.table(columns | {name: kept[name].combine_chunks() for name in FIGURES})


def _settings(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the columns that say which cell a row is of; texts as objects, so as to share them."""
    return {
        "environment": np.array([cell.environment_label for cell in cells], dtype=object),
        "learner": np.array([cell.learner_label for cell in cells], dtype=object),
        "horizon": np.array([cell.rounds for cell in cells], np.int64),
        "run": np.array([cell.run for cell in cells], np.int64),
        "seed": np.array([cell.seed for cell in cells], np.int64),
        "welfare": np.array([cell.welfare.text for cell in cells], dtype=object),
        "answers": np.array([str(cell.answering.answers) for cell in cells], dtype=object),
        "delay": np.array([cell.answering.delay for cell in cells], np.int64),
    }


def _as_column(values: Any) -> Any:
    import pyarrow as pa

    texts = values.dtype == object
    return pa.array(values, pa.string()).dictionary_encode() if texts else pa.array(values)


def _summary(results: Results) -> bytes:
    """Return every metric after the last round: mean and half the 95 % interval."""
    found: list[dict[str, Any]] = []
    for (environment, horizon), by_learner in results.summary().items():
        for learner, summary in by_learner.items():
            row: dict[str, Any] = {"environment": environment, "learner": learner}
            row |= {"horizon": horizon, "runs": summary.runs}
            for metric, estimate in summary.metrics.items():
                row[metric] = estimate.mean
                row[f"{metric}_interval"] = estimate.half_width
            found.append(row)
    return to_csv(found) if found else b""


def _told(failure: Failure) -> dict[str, Any]:
    cell = failure.cell
    return {
        "environment": cell.environment_label,
        "learner": cell.learner_label,
        "rounds": cell.rounds,
        "run": cell.run,
        "seed": cell.seed,
        "reason": failure.reason,
        "trace": failure.trace,
    }


def _in_groups(cells: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
    for start in range(0, len(cells), CELLS_AT_ONCE):
        yield cells[start : start + CELLS_AT_ONCE]
