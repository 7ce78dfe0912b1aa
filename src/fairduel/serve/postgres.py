"""Polls in PostgreSQL: several servers share them, on one machine or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from urllib.parse import urlsplit

from fairduel.errors import InputError
from fairduel.serve.storage import Connection, Database, Row, StorageError, ending

PATIENCE = 10  # seconds, for a connection, a lock or a statement
_MIGRATING = 0x66616972  # the number of an advisory lock


class PostgreSQL(Database):
    """A database by its address, as in postgresql://user@host/name."""

    def __init__(self, url: str) -> None:
        self.url = url

    def __str__(self) -> str:
        parts = urlsplit(self.url)  # without a password
        return f"the database {parts.path.lstrip('/')!r} on {parts.hostname or 'this machine'}"

    def connect(self) -> PostgreSQLConnection:
        return PostgreSQLConnection(self.url)

    def back_up(self, version: int, confirmed: bool) -> None:
        if not confirmed:
            raise InputError(
                f"{self} has tables of version {version}, which have to change: back it up with "
                "pg_dump, then start with --migrate."
            )

    def _lock_all(self, connection: Connection) -> None:
        connection.rows("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))

    def _has_meta(self, connection: Connection) -> bool:
        return connection.rows("SELECT to_regclass('meta') IS NOT NULL") == [(True,)]


class PostgreSQLConnection(Connection):
    """A connection to a server; one that was lost stays lost."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise InputError(
                "PostgreSQL needs a library that is not installed: pip install 'fairduel[serve]', "
                "or in a checkout '.[serve]'."
            ) from error
        self._error = psycopg.Error
        with self._translated():
            self._raw = psycopg.connect(
                url,
                autocommit=True,
                connect_timeout=PATIENCE,
                keepalives_idle=PATIENCE,
                tcp_user_timeout=PATIENCE * 1000,
            )
            # What is acknowledged is on disk, whatever the server's own habit.
            self._raw.execute("SET synchronous_commit = on")
            self._raw.execute(f"SET statement_timeout = '{PATIENCE}s'")
            # What a killed server held is free again before others have waited in vain.
            self._raw.execute(f"SET idle_in_transaction_session_timeout = '{PATIENCE // 2}s'")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._translated():
            cursor = self._raw.execute(sql.replace("?", "%s"), values or None)
            return cursor.fetchall() if cursor.description else []

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            with self._translated(), self._raw.cursor() as cursor:
                cursor.executemany(sql.replace("?", "%s"), rows)

    def transaction(self) -> AbstractContextManager[None]:
        return ending(self, "BEGIN")

    def snapshot(self) -> AbstractContextManager[None]:
        return ending(self, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def lock(self, poll: int) -> int | None:
        found = self.rows("SELECT last_seq FROM poll WHERE id = ? FOR UPDATE", (poll,))
        return found[0][0] if found else None

    def close(self) -> None:
        self._raw.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise StorageError(f"the database does not answer ({said})") from error
