"""Storage of polls: one interface, in the SQL that SQLite and PostgreSQL share.

A ``Database`` is a place, a ``Connection`` is for one thread. The log of a poll is numbered by the
transaction that appends to it, under the lock of the poll's row, so the order of numbers is the
order of commits and there are no gaps, whoever writes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from operator import itemgetter
from typing import Any, NamedTuple

from fairduel.errors import InputError
from fairduel.serve import schema
from fairduel.serve.records import (
    Change,
    Decision,
    Drawn,
    Entry,
    Event,
    Frame,
    News,
    Option,
    Poll,
    Question,
    Settings,
    Vote,
    Voter,
)

Row = tuple[Any, ...]
Numbered = tuple[int, Entry]


class StorageError(Exception):
    """The database cannot be read or written now; nothing was acknowledged."""


class Place(NamedTuple):
    """What a token opens: the role of its holder, the poll, and the voter's position."""

    role: str  # organiser, join or voter
    slug: str
    voter: int | None


class Connection(ABC):
    """A connection to a database, for one thread at a time."""

    @abstractmethod
    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement, with "?" for each value, and return its rows."""

    @abstractmethod
    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Write all or nothing. What is read inside stays true until the end."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Read one state of the database, whatever others write meanwhile."""

    @abstractmethod
    def lock(self, poll: int) -> int | None:
        """Lock a poll inside a transaction; return its last number, None if there is no poll."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def scrub(self) -> None:  # noqa: B027 - PostgreSQL does so by itself, in time
        """Wipe what was deleted from the files, as far as it can be done at once."""

    # Reading

    def slugs(self) -> list[str]:
        """Return the names of all polls, in alphabetical order."""
        return [slug for (slug,) in self.rows("SELECT slug FROM poll ORDER BY slug")]

    def place(self, token_hash: str) -> Place | None:
        """Return what the token with this hash opens."""
        found = self.rows(
            "SELECT 'organiser', slug, CAST(NULL AS INTEGER) FROM poll WHERE organiser_hash = ? "
            "UNION ALL SELECT 'join', slug, CAST(NULL AS INTEGER) FROM poll WHERE join_hash = ? "
            "UNION ALL SELECT 'voter', slug, position FROM voter JOIN poll ON poll_id = id "
            "WHERE token_hash = ?",
            (token_hash,) * 3,
        )
        return Place(*found[0]) if found else None

    def last_seq(self, poll: int) -> int | None:
        """Return the last number of a poll's log, None if there is no such poll."""
        found = self.rows("SELECT last_seq FROM poll WHERE id = ?", (poll,))
        return found[0][0] if found else None

    def last_seqs(self) -> dict[str, int]:
        """Return the last number of every poll's log, by the poll's name."""
        return dict(self.rows("SELECT slug, last_seq FROM poll"))

    def load(self, slug: str) -> tuple[Frame, News] | None:
        """Return a poll and its whole log, as of one moment."""
        with self.snapshot():
            found = self.rows("SELECT id FROM poll WHERE slug = ?", (slug,))
            if not found:
                return None
            frame = self.frame(found[0][0])
            last = frame.poll.last_seq
            return frame, News(last, self._entries(frame.poll.id, 0, last))

    def votes(self, poll: int, after: int, limit: int) -> list[tuple[int, Vote, float]]:
        """Return votes after a number, with their numbers and times; at most ``limit``."""
        found = self.rows(
            "SELECT seq, voter, n, answer, at FROM vote WHERE poll_id = ? AND seq > ? "
            "ORDER BY seq LIMIT ?",
            (poll, after, limit),
        )
        return [(row[0], Vote(*row[1:4]), row[4]) for row in found]

    def votes_of(self, poll: int, voter: int) -> list[tuple[Vote, float]]:
        """Return all votes of a voter with their times, also those that count no more."""
        found = self.rows(
            "SELECT voter, n, answer, at FROM vote WHERE poll_id = ? AND voter = ? ORDER BY seq",
            (poll, voter),
        )
        return [(Vote(*row[:3]), row[3]) for row in found]

    def hasty(self, poll: int, seconds: float) -> dict[int, int]:
        """Return how many answers of each voter that count came so soon after the one before."""
        found = self.rows(
            "SELECT voter, COUNT(*) FROM (SELECT voter, later, at - LAG(at) OVER "
            "(PARTITION BY voter ORDER BY seq) AS gap FROM (SELECT voter, seq, answer, at, "
            "LEAD(seq) OVER (PARTITION BY voter, n ORDER BY seq) AS later FROM vote "
            "WHERE poll_id = ?) AS votes WHERE answer <> 'undo') AS gaps "
            "WHERE gap < ? AND later IS NULL GROUP BY voter",
            (poll, seconds),
        )
        return {voter: int(count) for voter, count in found}

    def news(self, poll: int, after: int) -> News | None:
        """Return what the log has after a number; None if the poll is gone."""
        last = self.last_seq(poll)
        if last is None:
            return None
        entries = self._entries(poll, after, last)
        framed = any(isinstance(entry, Event) for _, entry in entries)
        return News(last, entries, self.frame(poll) if framed else None)

    def frame(self, poll: int) -> Frame:
        """Return all of a poll but its log."""
        row = self.rows(
            "SELECT id, slug, title, prompt, state, secret, settings, seed, organiser_hash, "
            "join_hash, join_nonce, last_seq, created_at FROM poll WHERE id = ?",
            (poll,),
        )[0]
        of_poll = "WHERE poll_id = ? ORDER BY position"
        options = self.rows(f"SELECT position, name, state FROM option {of_poll}", (poll,))
        voters = self.rows(
            f"SELECT position, name, token_hash, state, nonce FROM voter {of_poll}", (poll,)
        )
        decisions = self.rows(
            "SELECT number, commitment, after_seq, at, cancelled_after, note, option, policy, "
            "draw, other, other_policy, other_draw "
            "FROM decision WHERE poll_id = ? ORDER BY number",
            (poll,),
        )
        return Frame(
            _poll(row),
            tuple(Option(*option) for option in options),
            tuple(Voter(*voter) for voter in voters),
            tuple(_decision(decision) for decision in decisions),
        )

    def _entries(self, poll: int, after: int, last: int) -> tuple[Numbered, ...]:
        """Return the log after a number, in order. What comes in meanwhile is left for later."""
        chosen = "WHERE poll_id = ? AND seq > ? AND seq <= ? ORDER BY seq"
        span = poll, after, last
        asked = self.rows(
            f"SELECT seq, voter, n, left_option, right_option FROM question {chosen}", span
        )
        votes = self.rows(f"SELECT seq, voter, n, answer FROM vote {chosen}", span)
        events = self.rows(f"SELECT seq, kind, data FROM event {chosen}", span)
        entries: list[Numbered] = [(row[0], Question(*row[1:])) for row in asked]
        entries += [(row[0], Vote(*row[1:])) for row in votes]
        entries += [(seq, Event(kind, json.loads(data))) for seq, kind, data in events]
        entries.sort(key=itemgetter(0))
        return tuple(entries)

    # Writing: inside a transaction

    def create(self, frame: Frame) -> None:
        """Add a poll with its options and voters."""
        poll = frame.poll
        self.rows(
            "INSERT INTO poll(id, slug, title, prompt, state, secret, settings, seed, "
            "organiser_hash, join_hash, join_nonce, last_seq, created_at) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                *(poll.id, poll.slug, poll.title, poll.prompt, poll.state, int(poll.secret)),
                *(json.dumps(poll.settings.to_json()), poll.seed, poll.organiser_hash),
                *(poll.join_hash, poll.join_nonce, poll.last_seq, poll.created_at),
            ),
        )
        self._put(poll.id, Change(options=frame.options, voters=frame.voters))

    def append(
        self, poll: int, last_seq: int, changes: Sequence[Change], at: float
    ) -> tuple[Numbered, ...]:
        """Write changes to a poll that is locked, and return the new lines of its log."""
        entries = [entry for change in changes for entry in change.entries]
        numbered = tuple(enumerate(entries, last_seq + 1))
        self.rows("UPDATE poll SET last_seq = ? WHERE id = ?", (last_seq + len(entries), poll))
        for change in changes:
            if change.forget is not None:
                for table in ("vote", "question"):
                    self.rows(
                        f"DELETE FROM {table} WHERE poll_id = ? AND voter = ?",
                        (poll, change.forget),
                    )
            self._put(poll, change)
        self._log(poll, numbered, at)
        return numbered

    def delete(self, poll: int) -> None:
        """Delete a poll and all that belongs to it."""
        self.rows("DELETE FROM poll WHERE id = ?", (poll,))

    def add_key(self, key_hash: str) -> None:
        """Add a key of the server, which lets its holder make polls."""
        self.rows("INSERT INTO server_key(hash) VALUES (?) ON CONFLICT DO NOTHING", (key_hash,))

    def has_key(self, key_hash: str) -> bool:
        """Return whether a key of the server has this hash."""
        return bool(self.rows("SELECT 1 FROM server_key WHERE hash = ?", (key_hash,)))

    def _log(self, poll: int, entries: Iterable[Numbered], at: float) -> None:
        asked, votes, events = [], [], []
        for seq, entry in entries:
            if isinstance(entry, Question):
                asked.append((poll, seq, *entry, at))
            elif isinstance(entry, Vote):
                votes.append((poll, seq, *entry, at))
            else:
                events.append((poll, seq, entry.kind, json.dumps(dict(entry.data)), at))
        self.many("INSERT INTO question VALUES (?,?,?,?,?,?,?)", asked)
        self.many("INSERT INTO vote VALUES (?,?,?,?,?,?)", votes)
        self.many("INSERT INTO event VALUES (?,?,?,?,?)", events)

    def _put(self, poll: int, change: Change) -> None:
        """Add or replace rows."""
        for name, value in change.poll.items():
            stored = json.dumps(value.to_json()) if isinstance(value, Settings) else value
            self.rows(f"UPDATE poll SET {_column(name)} = ? WHERE id = ?", (stored, poll))
        self.many(
            "INSERT INTO option VALUES (?,?,?,?) ON CONFLICT(poll_id, position) "
            "DO UPDATE SET name = excluded.name, state = excluded.state",
            [(poll, option.position, option.name, option.state) for option in change.options],
        )
        self.many(
            "INSERT INTO voter VALUES (?,?,?,?,?,?) ON CONFLICT(poll_id, position) DO UPDATE SET "
            "name = excluded.name, token_hash = excluded.token_hash, state = excluded.state, "
            "nonce = excluded.nonce",
            [(poll, v.position, v.name, v.token_hash, v.state, v.nonce) for v in change.voters],
        )
        self.many(
            "INSERT INTO decision(poll_id, number, commitment, after_seq, at, cancelled_after, "
            "note, option, policy, draw, other, other_policy, other_draw) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(poll_id, number) "
            "DO UPDATE SET cancelled_after = excluded.cancelled_after, note = excluded.note",
            [_decision_row(poll, decision) for decision in change.decisions],
        )


class Database(ABC):
    """A place where polls are kept."""

    @abstractmethod
    def connect(self) -> Connection:
        """Return a new connection."""

    @abstractmethod
    def back_up(self, version: int, confirmed: bool) -> None:
        """Copy a database of this version before it is changed, or refuse."""

    @abstractmethod
    def _lock_all(self, connection: Connection) -> None:
        """Keep others from migrating at the same time, until the transaction ends."""

    def migrate(self, *, confirmed: bool = False) -> None:
        """Bring the tables up to date, in one transaction and after a backup."""
        connection = self.connect()
        try:
            version = self._version(connection)
            if version == len(schema.MIGRATIONS):
                return
            if version > 0:
                self.back_up(version, confirmed)
            with connection.transaction():
                self._lock_all(connection)
                version = self._version(connection)  # another process may have been faster
                for script in schema.MIGRATIONS[version:]:
                    for statement in schema.statements(script):
                        connection.rows(statement)
                self._set_version(connection)
        finally:
            connection.close()

    def _version(self, connection: Connection) -> int:
        if not self._has_meta(connection):
            return 0
        found = connection.rows("SELECT value FROM meta WHERE key = 'schema_version'")
        version = int(found[0][0]) if found else 0
        if version > len(schema.MIGRATIONS):
            raise InputError(
                f"{self} was made by a newer fairduel (its tables have version {version}, and this "
                f"one knows {len(schema.MIGRATIONS)}): upgrade fairduel, or give another database."
            )
        return version

    @abstractmethod
    def _has_meta(self, connection: Connection) -> bool:
        """Return whether there is a table with the version."""

    def _set_version(self, connection: Connection) -> None:
        connection.rows("CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT)")
        connection.rows(
            "INSERT INTO meta VALUES ('schema_version', ?) "
            "ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            (str(len(schema.MIGRATIONS)),),
        )


def open_database(where: str) -> Database:
    """Return the database at a file name or a postgresql:// address."""
    from fairduel.serve.postgres import PostgreSQL
    from fairduel.serve.sqlite import SQLite

    if where.startswith(("postgresql://", "postgres://")):
        return PostgreSQL(where)
    if "://" in where:
        raise InputError(
            f"there is no database {where!r}: give a file name, or postgresql://USER@HOST/NAME."
        )
    return SQLite(where)


@contextmanager
def ending(connection: Connection, begin: str) -> Iterator[None]:
    """Run a block between a statement that begins a transaction and its end."""
    connection.rows(begin)
    try:
        yield
        connection.rows("COMMIT")
    except BaseException:
        with suppress(StorageError):  # the connection is gone, and the transaction with it
            connection.rows("ROLLBACK")
        raise


def _poll(row: Row) -> Poll:
    secret, settings = bool(row[5]), Settings(**json.loads(row[6]))
    return Poll(*(*row[:5], secret, settings, *row[7:]))


def _decision(row: Row) -> Decision:
    number, commitment, after_seq, at, cancelled_after, note = row[:6]
    sides = tuple(_drawn(*side) for side in (row[6:9], row[9:12]) if side[0] is not None)
    return Decision(number, sides, commitment, after_seq, at, cancelled_after, note)


def _drawn(option: int, policy: str, draw: str) -> Drawn:
    shares = tuple((position, share) for position, share in json.loads(policy))
    return Drawn(option, shares, draw)


def _decision_row(poll: int, d: Decision) -> Row:
    sides = [(side.option, json.dumps(side.policy), side.draw) for side in d.sides]
    first, second = (*sides, (None, None, None))[:2]
    moment = d.number, d.commitment, d.after_seq, d.at, d.cancelled_after, d.note
    return poll, *moment, *first, *second


def _column(name: str) -> str:
    """Return the name of a column of a poll; it stands in the statement as it is."""
    if name not in (
        "title",
        "prompt",
        "state",
        "settings",
        "seed",
        "organiser_hash",
        "join_hash",
        "join_nonce",
    ):
        raise KeyError(name)
    return name
