"""Polls in a file of SQLite: a write-ahead log, and every commit is on disk when it returns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from fairduel.errors import InputError
from fairduel.serve.storage import Connection, Database, Row, StorageError, ending

WAIT = 10.0  # seconds for another process that writes


class SQLite(Database):
    """A file; several processes of one machine may share it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __str__(self) -> str:
        return repr(str(self.path))

    def connect(self) -> SQLiteConnection:
        try:
            return SQLiteConnection(self.path)
        except sqlite3.Error as error:
            raise InputError(
                f"cannot open {self}: {error}: give the name of a file of fairduel's, or a new "
                "one in a directory that exists and can be written to."
            ) from error

    def back_up(self, version: int, confirmed: bool) -> None:
        copy = self.path.with_name(f"{self.path.name}.version-{version}")
        if copy.exists():
            raise InputError(
                f"cannot back up {self}: {str(copy)!r} exists already: move it elsewhere."
            )
        connection = self.connect()
        try:
            connection.rows("VACUUM INTO ?", (str(copy),))
        finally:
            connection.close()

    def _lock_all(self, connection: Connection) -> None:
        """Do nothing: a transaction that writes keeps all others out."""

    def _has_meta(self, connection: Connection) -> bool:
        return bool(connection.rows("SELECT 1 FROM sqlite_master WHERE name = 'meta'"))


class SQLiteConnection(Connection):
    """A connection to a file."""

    def __init__(self, path: Path) -> None:
        self._raw = sqlite3.connect(
            path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            self._raw.execute("PRAGMA journal_mode = WAL")
            self._raw.execute("PRAGMA synchronous = FULL")
            self._raw.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error:
            self._raw.close()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with _translated():
            return self._raw.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with _translated():
            self._raw.executemany(sql, rows)

    def transaction(self) -> AbstractContextManager[None]:
        return ending(self, "BEGIN IMMEDIATE")

    def snapshot(self) -> AbstractContextManager[None]:
        return ending(self, "BEGIN")

    def lock(self, poll: int) -> int | None:
        return self.last_seq(poll)  # the transaction has the only lock there is

    def close(self) -> None:
        self._raw.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(f"the database file does not work now ({error})") from error
