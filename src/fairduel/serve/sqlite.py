"""Polls in a file of SQLite: a write-ahead log, and every commit is on disk when it returns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
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
        with _translated():
            return SQLiteConnection(self.path)

    def migrate(self, *, confirmed: bool = False) -> None:
        _make_private(self.path)
        try:
            self._check_own()
            self.connect().close()
        except StorageError as error:  # the name is wrong, if it does not work from the beginning
            raise InputError(
                f"cannot open {self}: {error.__cause__}: give the name of a file of fairduel's, or "
                "a new one in a directory that exists and can be written to."
            ) from error
        super().migrate(confirmed=confirmed)

    def _check_own(self) -> None:
        """Refuse the file of another program, before anything in it is changed."""
        with _translated(), closing(sqlite3.connect(self.path, timeout=WAIT)) as raw:
            found = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {name for (name,) in found}
        if tables and not {"meta", "poll"} <= tables:
            raise InputError(
                f"{self} is the database of another program: give the name of a file of "
                "fairduel's, or a new one."
            )

    def back_up(self, version: int, confirmed: bool) -> None:
        copy = self.path.with_name(f"{self.path.name}.version-{version}")
        if copy.exists():
            raise InputError(
                f"cannot back up {self}: {str(copy)!r} exists already: move it elsewhere."
            )
        _make_private(copy)
        connection = self.connect()
        try:
            connection.rows("VACUUM INTO ?", (str(copy),))
        finally:
            connection.close()

    def _lock_all(self, connection: Connection) -> None:
        """Do nothing: a transaction that writes keeps all others out."""

    def _has_meta(self, connection: Connection) -> bool:
        return bool(connection.rows("SELECT 1 FROM sqlite_master WHERE name = 'meta'"))


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner can read; those of SQLite beside it follow suit."""
    with suppress(OSError):  # it is there, or cannot be made, which is said when it is opened
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


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
            self._raw.execute("PRAGMA secure_delete = ON")  # or what is forgotten stays in the file
        except sqlite3.Error:
            self._raw.close()
            raise
        self._secured = False

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with _translated():
            return self._raw.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with _translated():
            self._raw.executemany(sql, rows)

    def transaction(self) -> AbstractContextManager[None]:
        self._secure()
        return ending(self, "BEGIN IMMEDIATE")

    def snapshot(self) -> AbstractContextManager[None]:
        return ending(self, "BEGIN")

    def lock(self, poll: int) -> int | None:
        return self.last_seq(poll)  # the transaction has the only lock there is

    def scrub(self) -> None:
        with suppress(StorageError):  # somebody reads: then it is the next one's work
            self.rows("PRAGMA busy_timeout = 0")
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        self.rows(f"PRAGMA busy_timeout = {WAIT * 1000:.0f}")

    def close(self) -> None:
        self._raw.close()

    def _secure(self) -> None:
        """Bring all that can be read to disk, before anybody decides on it; once is enough.

        Whoever opens a file that nobody else has open reads the write-ahead log to its end, and
        there may be a commit whose sync has failed or never came. Its vote would be found, and be
        acknowledged when it is sent again, without ever having been synced. A later sync of the
        log is no help, since the system may have given up what it could not write: it has to be
        copied, after which the log begins again.
        """
        if not self._secured:
            self.rows("PRAGMA wal_checkpoint(PASSIVE)")
            self._secured = True


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(f"the database file does not work now ({error})") from error
