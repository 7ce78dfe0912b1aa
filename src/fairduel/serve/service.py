"""The polls of a server: one writer commits all that waits, memory follows the log.

An act is decided on the state before its commit and counts after it. What other processes have
written in the meantime is read first, under the same lock, so it makes no difference which of
them somebody talks to.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from fairduel._arrays import Floats
from fairduel.serve import acts
from fairduel.serve.acts import Refused, hashed
from fairduel.serve.advisor import Advise, Advisor, Desk, Known
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change, Event, Frame, News, Vote
from fairduel.serve.storage import Connection, Database, Place, StorageError

_T = TypeVar("_T")
Act = Callable[[Ledger], Change]
Guard = Callable[[Act], Act]
_LOG = logging.getLogger("fairduel.serve")
MOST_IN_BATCH = 256
FOLLOW = 0.5  # seconds between looks at what other processes have written
HASTY = 0.7  # seconds: nobody reads two options and chooses in less
MOST_LISTENERS = 10  # of one voter, or of the organiser
IDLE = 3600.0  # seconds after which a poll that nobody uses leaves the memory


def _unguarded(act: Act) -> Act:
    return act


@dataclass
class Room:
    """A poll in memory. The lock is held while its ledger changes or is read."""

    ledger: Ledger
    desk: Desk
    lock: threading.Lock
    used: float = field(default_factory=time.monotonic)
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock)  # is held while one is drawn

    def worth(self, voter: int) -> Floats | None:
        """Return what the voter's answers are worth, as far as is known."""
        known = self.desk.current
        return None if known is None else known.worth(voter, len(self.ledger.frame.options))


@dataclass
class _Request:
    room: Room
    act: Act | None  # None only looks
    voter: int | None
    done: Future[None] = field(default_factory=Future)

    @property
    def poll(self) -> int:
        return self.room.ledger.frame.poll.id


class Service:
    """Polls in a database. ``start`` before use; all methods may be called from any thread."""

    def __init__(self, database: Database, advise: Advise) -> None:
        self.database = database
        self.advisor = Advisor(advise, self._tell)
        self._rooms: dict[str, Room] = {}
        self._doors: dict[str, threading.Lock] = {}  # held while a poll is loaded
        self._reading = threading.Lock()
        self._reader: Connection | None = None  # for one thread at a time, under the lock
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="fairduel-writer", daemon=True)
        self._follower = threading.Thread(target=self._follow, name="fairduel-log", daemon=True)
        self._decisions = ThreadPoolExecutor(4, "fairduel-decision")
        self._stopped = threading.Event()
        self._listeners: dict[str, dict[Callable[[], None], int | None]] = defaultdict(dict)

    def start(self) -> None:
        """Begin to work."""
        self.advisor.start()
        self._writer.start()
        self._follower.start()

    def stop(self) -> None:
        """End, when all that waits has been written."""
        self._stopped.set()
        self._requests.put(None)
        self._writer.join()
        self._follower.join()
        self._decisions.shutdown(wait=False, cancel_futures=True)
        self.advisor.stop()
        if self._reader is not None:
            self._reader.close()

    # Reading

    def room(self, slug: str) -> Room:
        """Return a poll, from memory if it is there."""
        found = self._rooms.get(slug)
        if found is not None:
            found.used = time.monotonic()
            return found
        with self._reading:
            door = self._doors.setdefault(slug, threading.Lock())
        with door:  # a long log keeps nobody else waiting
            if slug not in self._rooms:
                loaded = self._load(slug)
                if loaded is None:
                    raise Refused("there is no poll {slug!r}.", 404, slug=slug)
                ledger, lock = Ledger(*loaded), threading.Lock()
                self._rooms[slug] = Room(ledger, self.advisor.watch(ledger, lock), lock)
            return self._rooms[slug]

    def _load(self, slug: str) -> tuple[Frame, News] | None:
        connection = self.database.connect()
        try:
            return connection.load(slug)
        finally:
            connection.close()

    def in_memory(self, slug: str) -> bool:
        """Return whether a poll has been loaded, so that ``room`` takes no time."""
        return slug in self._rooms

    def place(self, token: str) -> Place | None:
        """Return what a token opens."""
        with self._reading:
            return self._read(lambda connection: connection.place(hashed(token)))

    def has_key(self, key: str) -> bool:
        """Return whether somebody may make polls."""
        with self._reading:
            return self._read(lambda connection: connection.has_key(hashed(key)))

    def slugs(self) -> list[str]:
        """Return the names of all polls."""
        with self._reading:
            return self._read(lambda connection: connection.slugs())

    def votes(self, room: Room, after: int, limit: int) -> list[tuple[int, Vote, float]]:
        """Return votes after a number, with their numbers and times."""
        poll = room.ledger.frame.poll.id
        with self._reading:
            return self._read(lambda connection: connection.votes(poll, after, limit))

    def votes_of(self, room: Room, voter: int) -> list[tuple[Vote, float]]:
        """Return all votes of a voter with their times, also those that count no more."""
        poll = room.ledger.frame.poll.id
        with self._reading:
            return self._read(lambda connection: connection.votes_of(poll, voter))

    def hasty(self, room: Room) -> dict[int, int]:
        """Return how many answers of each voter came too soon after another to be thought of."""
        poll = room.ledger.frame.poll.id
        with self._reading:
            return self._read(lambda connection: connection.hasty(poll, HASTY))

    def policy(self, room: Room) -> Known:
        """Return the advice that may be shown, on all that is known now. This takes time.

        The first decisions of a live poll come before any answer, so it begins with none.
        """
        known = self.advisor.compute(room.desk)
        if known is None and room.ledger.frame.poll.settings.live:
            known = self.advisor.compute_blank(room.desk)
        if known is None and room.ledger.is_too_small:
            raise Refused(
                "a secret poll shows nothing of fewer than five people: invite at least five."
            )
        if known is None:
            raise Refused(
                "it is too early to say: pause the poll to count all answers, or wait for more."
            )
        return known

    def policy_soon(self, room: Room) -> Future[Known]:
        """Return ``policy``, when it is there."""
        return self._decisions.submit(self.policy, room)

    def _read(self, ask: Callable[[Connection], _T]) -> _T:
        """Ask the reader, which is connected again if need be."""
        if self._reader is None:
            self._reader = self.database.connect()
        try:
            return ask(self._reader)
        except StorageError:
            self._reader.close()
            self._reader = None
            raise

    # Writing

    def create(self, frame: Frame) -> None:
        """Add a poll."""
        with self._reading:
            self._read(lambda connection: _create(connection, frame))

    def add_key(self, key: str) -> None:
        """Let whoever has a key make polls."""
        with self._reading:
            self._read(lambda connection: _add_key(connection, hashed(key)))

    def delete(self, slug: str) -> None:
        """Delete a poll and all that belongs to it."""
        room = self.room(slug)
        with self._reading:
            self._read(lambda connection: _delete(connection, room.ledger.frame.poll.id))
        self._drop(slug)

    def submit(self, room: Room, act: Act | None, voter: int | None = None) -> Future[None]:
        """Write what an act wants, or with None catch up with what others wrote.

        voter: whom the act concerns; default: the whole poll. When the result is there the act is
        on disk and in the ledger.
        """
        request = _Request(room, act, voter)
        if self._stopped.is_set():
            request.done.set_exception(StorageError("the server is stopping"))
        else:
            self._requests.put(request)
        return request.done

    def ask(self, room: Room, voter: int, guard: Guard = _unguarded) -> Future[None]:
        """See to it that a voter has a question, if there is any left.

        guard: turns an act into one that is done under some condition; so below.
        """
        act = partial(acts.ask, voter=voter, worth=room.worth(voter))
        return self.submit(room, guard(act), voter)

    def answer(
        self, room: Room, voter: int, n: int, said: str, guard: Guard = _unguarded
    ) -> Future[None]:
        """Answer a question of a voter."""
        act = partial(acts.answer, voter=voter, n=n, said=said, worth=room.worth(voter))
        return self.submit(room, guard(act), voter)

    def undo(self, room: Room, voter: int, n: int, guard: Guard = _unguarded) -> Future[None]:
        """Take an answer of a voter back."""
        return self.submit(room, guard(partial(acts.undo, voter=voter, n=n)), voter)

    # News

    def listen(
        self, slug: str, listener: Callable[[], None], voter: int | None
    ) -> Callable[[], None]:
        """Call a voter, or the organiser, when a poll changes; return how to stop that.

        The call may come from any thread.
        """
        self._listeners[slug][listener] = voter

        def ignore() -> None:
            self._listeners[slug].pop(listener, None)

        return ignore

    def check_room_for_listener(self, slug: str, voter: int | None) -> None:
        """Refuse somebody who follows a poll too often already."""
        others = list(self._listeners.get(slug, {}).values())
        if others.count(voter) >= MOST_LISTENERS:
            raise Refused("you follow this poll too often at once: close other windows.", 429)

    def _tell(self, slug: str) -> None:
        for listener in list(self._listeners.get(slug, ())):
            listener()

    def _follow(self) -> None:
        """Look at times for what other processes have written to the polls in memory."""
        connection: Connection | None = None
        while not self._stopped.wait(FOLLOW):
            try:
                if connection is None:
                    connection = self.database.connect()
                last = connection.last_seqs()
            except Exception:  # the next request says what is wrong, to whoever made it
                if connection is not None:
                    connection.close()
                    connection = None
                continue
            for slug, room in list(self._rooms.items()):
                if last.get(slug) != room.ledger.seq:
                    self.submit(room, None)
                elif time.monotonic() - room.used > IDLE and not self._listeners.get(slug):
                    self._drop(slug)  # it is loaded again when it is needed
        if connection is not None:
            connection.close()

    # The writer

    def _write(self) -> None:
        connection: Connection | None = None
        waiting: list[_Request] = []
        while (arrived := self._next(waiting)) is not None:
            chosen, waiting = _one_each([*waiting, *arrived])
            batch = [each for each in chosen if each.done.set_running_or_notify_cancel()]
            try:
                if connection is None:
                    connection = self.database.connect()
                self._commit(connection, batch)
            except Exception as error:  # whatever it is, the next ones must not wait for ever
                if not isinstance(error, StorageError):
                    _LOG.exception("a batch failed")
                for each in batch:
                    if not each.done.done():
                        each.done.set_exception(_as_storage_error(error))
                if connection is not None:
                    connection.close()
                    connection = None
        if connection is not None:
            connection.close()

    def _next(self, waiting: Sequence[_Request]) -> list[_Request] | None:
        """Return the requests that have come, waiting for one if there is nothing else to do."""
        found: list[_Request] = []
        while len(found) < MOST_IN_BATCH:
            try:
                request = self._requests.get(block=not waiting and not found)
            except queue.Empty:
                return found
            if request is None:
                if not found and not waiting:
                    return None
                self._requests.put(None)  # again, when these are done
                return found
            found.append(request)
        return found

    def _commit(self, connection: Connection, batch: Sequence[_Request]) -> None:
        """Decide and write requests in one transaction; then, and only then, count them."""
        by_poll: dict[int, list[_Request]] = defaultdict(list)
        for request in batch:
            by_poll[request.poll].append(request)
        written: list[tuple[Room, News]] = []
        if any(request.act for request in batch):
            with connection.transaction():
                for poll in sorted(by_poll):  # in one order, or two servers wait for each other
                    written += self._commit_poll(connection, poll, by_poll[poll])
        else:
            for poll in by_poll:
                self._catch_up(connection, by_poll[poll][0].room, connection.last_seq(poll))
        for room, news in written:
            with room.lock:
                room.ledger.apply(news)
        if any(_forgets(news) for _, news in written):
            connection.scrub()
        for request in batch:
            if not request.done.done():
                request.done.set_result(None)
        for slug in {room.ledger.frame.poll.slug for room, _ in written}:
            self._tell(slug)

    def _commit_poll(
        self, connection: Connection, poll: int, requests: Sequence[_Request]
    ) -> list[tuple[Room, News]]:
        room = requests[0].room
        looking = not any(request.act for request in requests)
        last = connection.last_seq(poll) if looking else connection.lock(poll)
        self._catch_up(connection, room, last)
        changes = []
        for request in requests:
            try:
                if last is None:
                    raise Refused("the poll has been deleted.", 404)
                if request.act is not None:
                    changes.append(request.act(room.ledger))
            except Exception as error:  # an act is a pure function: the others go on
                if not isinstance(error, Refused):
                    _LOG.exception("an act failed")
                request.done.set_exception(error)
        if last is None or not any(change.entries for change in changes):
            return []
        entries = connection.append(poll, last, changes, time.time())
        framed = connection.frame(poll) if any(change.frames for change in changes) else None
        return [(room, News(last + len(entries), entries, framed))]

    def _catch_up(self, connection: Connection, room: Room, last: int | None) -> None:
        """Count what other processes have written and committed."""
        poll = room.ledger.frame.poll
        if last == room.ledger.seq:
            return
        news = None if last is None else connection.news(poll.id, room.ledger.seq)
        if news is None:
            self._drop(poll.slug)
            return
        with room.lock:
            room.ledger.apply(news)
        self._tell(poll.slug)

    def _drop(self, slug: str) -> None:
        self._rooms.pop(slug, None)
        self.advisor.drop(slug)
        self._tell(slug)


def _one_each(requests: Sequence[_Request]) -> tuple[list[_Request], list[_Request]]:
    """Split requests into those that can be decided at once, and the rest.

    Everything in a batch is decided on the state before it. So there is at most one request of a
    voter in it, and one that concerns the whole poll has the poll for itself.
    """
    batch: list[_Request] = []
    rest: list[_Request] = []
    taken: dict[int, set[int | None]] = defaultdict(set)
    for request in requests:
        others = taken[request.poll]
        looks = request.act is None
        alone = None in others or (request.voter is None and others) or request.voter in others
        if alone and not looks:
            rest.append(request)
        else:
            batch.append(request)
        if not looks:
            others.add(request.voter)
    return batch, rest


def _add_key(connection: Connection, key_hash: str) -> None:
    with connection.transaction():
        connection.add_key(key_hash)


def _create(connection: Connection, frame: Frame) -> None:
    with connection.transaction():
        connection.create(frame)


def _delete(connection: Connection, poll: int) -> None:
    with connection.transaction():
        connection.lock(poll)
        connection.delete(poll)
    connection.scrub()


def _forgets(news: News) -> bool:
    return any(isinstance(entry, Event) and entry.kind == "forgot" for _, entry in news.entries)


def _as_storage_error(error: Exception) -> StorageError:
    if isinstance(error, StorageError):
        return error
    return StorageError(f"the server has failed ({type(error).__name__})")
