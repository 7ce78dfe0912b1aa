"""Rows as files, read back."""

import csv
import io
import json
from typing import Any

import pyarrow.parquet as pq

from fairduel.report import rows as tables

ROWS: list[dict[str, Any]] = [
    {"learner": "fair-eps:exploration=0.1,warm_up=true", "run": 1, "rounds": 10**12, "gini": 0.1},
    {"learner": 'ünï "quoted"', "run": 2, "rounds": 1, "gini": 1 / 3},
]


def test_csv_keeps_every_digit() -> None:
    read = list(csv.DictReader(io.StringIO(tables.to_csv(ROWS).decode(), newline="")))
    assert [row["learner"] for row in read] == [row["learner"] for row in ROWS]
    assert [int(row["rounds"]) for row in read] == [10**12, 1]
    assert [float(row["gini"]) for row in read] == [0.1, 1 / 3]


def test_json_is_the_rows() -> None:
    assert json.loads(tables.to_json(ROWS)) == ROWS


def test_parquet_is_the_rows() -> None:
    assert pq.read_table(io.BytesIO(tables.to_parquet(ROWS))).to_pylist() == ROWS
