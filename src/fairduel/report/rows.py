"""Rows as the bytes of a CSV, JSON or Parquet file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from fairduel.errors import InputError

Rows = Sequence[dict[str, Any]]


def to_csv(rows: Rows) -> bytes:
    """A header, then a line for each row; floats to the last bit."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def to_json(rows: Rows) -> bytes:
    """A list of objects, one a line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"[\n{lines}\n]\n".encode()


def to_parquet(rows: Rows) -> bytes:
    """One row group, compressed; needs pyarrow."""
    require_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


def require_pyarrow() -> None:
    """Say how to get pyarrow where it is missing, better before the work than after it."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise InputError(
            "Parquet files need pyarrow: install it with pip install 'fairduel[parquet]', "
            "or write .csv or .json instead."
        ) from error


FORMATS: dict[str, Callable[[Rows], bytes]] = {
    ".csv": to_csv,
    ".json": to_json,
    ".parquet": to_parquet,
}
