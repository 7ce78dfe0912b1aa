"""Rows as the bytes of a CSV, JSON or Parquet file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

Rows = Sequence[dict[str, Any]]


def to_csv(rows: Rows) -> bytes:
    """Return a header, then a line for each row; floats to the last bit."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def to_json(rows: Rows) -> bytes:
    """Return a list of objects, one per line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n".encode()


def to_parquet(rows: Rows) -> bytes:
    """Return one row group, compressed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


FORMATS: dict[str, Callable[[Rows], bytes]] = {
    ".csv": to_csv,
    ".json": to_json,
    ".parquet": to_parquet,
}
