"""What is lost when servers, disks and databases fail while people vote: nothing.

python benchmarks/serve_faults.py [--kills 200] [--cuts 500] [--syncs 10] [--full 10]
                                  [--pg-kills 50] [--stops 20] [--gone 3] [--frozen 2]

Eight clients vote as fast as they can and send again what was not answered. Meanwhile the server
is killed (SIGKILL), or PostgreSQL is stopped with ``-m immediate``. Every vote that was answered
must be on disk, each once, and the numbers of the log must have no gap. Then the write-ahead log
of a file is cut at random bytes after the last sync, with rubbish behind half of the time: what
was acknowledged must be there, and what is there must be a state that once was.

In outages the server lives, and what it writes to fails for some seconds: all syncs of a file, or
every seventh one, return EIO (strace sees to that); a disk is full; PostgreSQL is gone, or stands
still (SIGSTOP). Whoever votes meanwhile must be answered, with status 503 and a sentence, nobody
acknowledged while nothing can be written, and afterwards people must be able to vote again without
anybody's help. A second line says how many answers were a 503, how many never came, how long the
longest took, how many votes were acknowledged meanwhile, and how soon after the outage the next
one was; a third line has the sentence.

What is not there is left out, with a word: PostgreSQL, strace, the right to mount a small disk.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _polls import Client, Server, make_poll, patiently, serving

from cluster import Cluster, cluster, programs
from failing_syncs import CannotTraceError, failing_syncs
from fairduel.serve.acts import new_poll
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change, Question, Vote
from fairduel.serve.sqlite import SQLite
from fairduel.serve.storage import open_database

CLIENTS = 8
ANSWERS = ("left", "right", "tie")


@dataclass
class Storm:
    """People who vote: what was acknowledged, by voter and number of the question, and what not."""

    acknowledged: dict[tuple[int, int], str] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)  # the sentences of status 503
    unanswered: int = 0
    longest: float = 0.0  # seconds until an answer came
    over: bool = False

    async def vote(self, port: int, path: str, voter: int, token: str) -> None:
        client = Watched(port, token, self)
        answer = await patiently(client, "GET", f"{path}/question")
        while not self.over:
            n = answer["question"]["n"]
            said = ANSWERS[n % 3]
            place = f"{path}/questions/{n}/vote"
            answer = await patiently(client, "PUT", place, {"answer": said})
            self.acknowledged[voter, n] = said
        client.close()

    async def look(self, port: int) -> None:
        """Ask whether the database answers: yes or no, but nothing else."""
        client = Watched(port, "", self)
        while not self.over:
            await patiently(client, "GET", "/readyz")
            await asyncio.sleep(0.05)
        client.close()

    def run(self, port: int, made: dict[str, Any]) -> None:
        path = f"/api/v1/polls/{made['poll']['slug']}"

        async def all_of_them() -> None:
            voters = enumerate(made["voters"])
            votes = (self.vote(port, path, d, v["token"]) for d, v in voters)
            await asyncio.gather(self.look(port), *votes)

        asyncio.run(all_of_them())


class Watched(Client):
    """A client whose answers are counted."""

    def __init__(self, port: int, token: str, storm: Storm) -> None:
        super().__init__(port, token)
        self._storm = storm

    async def send(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        began = time.monotonic()
        try:
            status, answer = await super().send(method, path, body)
        except BaseException:  # also when patience has ended
            self._storm.unanswered += 1
            raise
        finally:
            self._storm.longest = max(self._storm.longest, time.monotonic() - began)
        if status == 503:
            self._storm.refused[answer["detail"]] += 1
        return status, answer


def storm(
    server: Server, times: int, strike: Callable[[Storm], None]
) -> tuple[Storm, dict[str, Any]]:
    """Strike some times while people vote; return what was acknowledged."""
    made = make_poll(server, CLIENTS)
    votes = Storm()
    thread = threading.Thread(target=votes.run, args=(server.port, made), daemon=True)
    thread.start()
    rng = random.Random(1)
    try:
        for _ in range(times):
            wait_for_votes(votes, 8)
            time.sleep(rng.uniform(0.0, 0.15))
            strike(votes)
        wait_for_votes(votes, 8)
    finally:
        votes.over = True
        thread.join(60)
    return votes, made


def wait_for_votes(votes: Storm, number: int) -> None:
    """Wait until people have voted again so often."""
    enough = len(votes.acknowledged) + number
    wait_until(lambda: len(votes.acknowledged) >= enough, "people cannot vote any more")


def wait_until(true: Callable[[], bool], otherwise: str) -> None:
    end = time.monotonic() + 60
    while not true():
        if time.monotonic() > end:
            raise RuntimeError(otherwise)
        time.sleep(0.005)


def verdict(where: str, votes: Storm, made: dict[str, Any], what: str, times: int) -> bool:
    """Compare what was acknowledged with what is on disk, and print it."""
    connection = open_database(where).connect()
    loaded = connection.load(made["poll"]["slug"])
    connection.close()
    assert loaded is not None
    rows = [entry for _, entry in loaded[1].entries if isinstance(entry, Vote)]
    stored = {(row.voter, row.n): row.answer for row in rows}
    lost = sum(stored.get(key) != said for key, said in votes.acknowledged.items())
    double = sum(count > 1 for count in Counter((row.voter, row.n) for row in rows).values())
    gapless = [seq for seq, _ in loaded[1].entries] == list(range(1, loaded[1].last_seq + 1))
    counted = float(Ledger(*loaded).wins.sum())
    fine = not lost and not double and gapless and counted == len(rows)
    print(
        f"{what:40} {times:>5} times  {len(votes.acknowledged):>7,} acknowledged  {lost} lost  "
        f"{double} double  {'no gap' if gapless else 'GAPS'}"
    )
    return fine and times > 0


def kill_servers(where: str, times: int, what: str) -> bool:
    with serving(where) as server:

        def strike(votes: Storm) -> None:
            server.kill()
            server.start()

        votes, made = storm(server, times, strike)
    return verdict(where, votes, made, what, times)


def stop_database(database: Cluster, times: int) -> bool:
    with serving(database.url) as server:

        def strike(votes: Storm) -> None:
            database.stop("immediate")
            database.start()

        votes, made = storm(server, times, strike)
    return verdict(database.url, votes, made, "PostgreSQL stopped with -m immediate", times)


# Outages


class CannotMountError(Exception):
    """Somebody who is not root wants a small disk."""


Broken = Callable[[Server], AbstractContextManager[None]]


def outage(where: str, broken: Broken, seconds: float, times: int, what: str, silent: bool) -> bool:
    """Break something for some seconds while people vote, who are told so.

    silent: nothing at all can be written meanwhile, so nothing may be acknowledged.
    """
    meanwhile, pause = 0, 0.0
    with serving(where) as server:

        def strike(votes: Storm) -> None:
            nonlocal meanwhile, pause
            told = votes.refused.total()
            with broken(server):
                wait_until(lambda: votes.refused.total() > told, "nobody is told")
                time.sleep(0.5)  # what was written before has been answered
                before = len(votes.acknowledged)
                time.sleep(seconds)
                meanwhile += len(votes.acknowledged) - before
            began = time.monotonic()
            wait_for_votes(votes, 1)
            pause = max(pause, time.monotonic() - began)

        votes, made = storm(server, times, strike)
    fine = verdict(where, votes, made, what, times)
    print(
        f"{'':40} {votes.refused.total():>7,} refused  {votes.unanswered} unanswered  "
        f"longest answer {votes.longest:.2f} s  {meanwhile:,} acknowledged meanwhile  "
        f"again after {pause:.2f} s"
    )
    print(f"{'':40} told: {' / '.join(votes.refused)}")
    told = all(sentence.endswith(".") for sentence in votes.refused)
    return fine and told and not votes.unanswered and not (silent and meanwhile)


def fail_syncs(folder: Path, times: int) -> Iterator[bool]:
    """Let all syncs fail, then every seventh one: a commit after a failure takes three."""
    for every, which in (1, "every sync"), (7, "every seventh sync"):
        where = str(folder / f"sync-{every}.db")

        def broken(server: Server, every: int = every) -> AbstractContextManager[None]:
            return failing_syncs(server.process, every=every)

        yield outage(where, broken, 2.0, times, f"{which} fails for 2 s, SQLite", every == 1)


def fill_disks(folder: Path, times: int) -> bool:
    """Let a disk be full: there may still be room for a vote that is shorter than others."""
    with small_disk(folder / "disk") as disk:

        def broken(server: Server) -> AbstractContextManager[None]:
            return full(disk)

        where = str(disk / "polls.db")
        return outage(where, broken, 2.0, times, "disk full for 2 s, SQLite", silent=False)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of 32 MB, which takes root."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        raise CannotMountError(mounted.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Take all the room that is left on a disk, inside the block."""
    place = disk / "rubbish"
    try:
        with place.open("wb", buffering=0) as rubbish, suppress(OSError):
            while True:
                rubbish.write(bytes(65536))
        yield
    finally:
        place.unlink()


def lose_database(database: Cluster, times: int) -> bool:
    """Let a database be gone: whoever asks it is refused at once."""

    @contextmanager
    def broken(server: Server) -> Iterator[None]:
        database.stop("immediate")
        try:
            yield
        finally:
            database.start()

    return outage(database.url, broken, 10.0, times, "PostgreSQL gone for 10 s", silent=True)


def freeze_database(database: Cluster, times: int) -> bool:
    """Let a database stand still, as when its disk does: whoever asks it hears nothing."""

    def broken(server: Server) -> AbstractContextManager[None]:
        return database.frozen()

    return outage(database.url, broken, 5.0, times, "PostgreSQL stands still for 15 s", silent=True)


# Power cuts


def cut_logs(folder: Path, times: int) -> bool:
    """Cut the write-ahead log after the last sync, as a power cut may."""
    place = folder / "cut.db"
    database = SQLite(place)
    database.migrate()
    connection = database.connect()
    connection.rows("PRAGMA wal_autocheckpoint = 0")
    frame = new_poll("Cut", ["a", "b"], ["ann"], organiser="o")
    with connection.transaction():
        connection.create(frame)
    log = Path(f"{place}-wal")
    synced = [(log.stat().st_size, 0)]  # the log's size and the last number after each commit
    for n in range(1, 201):
        with connection.transaction():
            last = connection.lock(frame.poll.id) or 0
            change = Change((Question(0, n, 0, 1), Vote(0, n, "left")))
            connection.append(frame.poll.id, last, [change], 0.0)
        synced.append((log.stat().st_size, last + 2))
    whole = log.read_bytes()
    rng, bad = random.Random(2), 0
    states = {last for _, last in synced}
    for trial in range(times):
        copy = folder / f"trial-{trial}.db"
        at = rng.randrange(len(synced))
        size, acknowledged = synced[at]
        cut = rng.randint(size, len(whole))
        shutil.copy(place, copy)
        rubbish = rng.randbytes(rng.randint(1, 9000)) if trial % 2 else b""
        Path(f"{copy}-wal").write_bytes(whole[:cut] + rubbish)
        found = _read(copy, frame.poll.slug)
        bad += found is None or found < acknowledged or found not in states
        for file in folder.glob(f"{copy.name}*"):
            file.unlink()
    connection.close()
    print(f"{'write-ahead log cut at any byte':40} {times:>5} times  {bad} bad")
    return bad == 0 and times > 0


def _read(place: Path, slug: str) -> int | None:
    """Return the last number of a poll, None if it cannot be read or makes no sense."""
    try:
        connection = SQLite(place).connect()
        loaded = connection.load(slug)
        connection.close()
    except (sqlite3.Error, ValueError):
        return None
    if loaded is None:
        return None
    ledger = Ledger(*loaded)
    sensible = ledger.wins.sum() * 2 == ledger.seq
    return ledger.seq if sensible else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    on_files = (("kills", 200), ("cuts", 500), ("syncs", 10), ("full", 10))
    on_postgres = (("pg-kills", 50), ("stops", 20), ("gone", 3), ("frozen", 2))
    for name, number in (*on_files, *on_postgres):
        parser.add_argument(f"--{name}", type=int, default=number)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        fine = list(try_files(Path(name), wanted))
    if programs() is None:
        print("no PostgreSQL is installed: its parts are left out")
    elif wanted.pg_kills or wanted.stops or wanted.gone or wanted.frozen:
        with cluster(durable=True) as database:
            fine += try_postgres(database, wanted)
    raise SystemExit(not all(fine))


def try_files(folder: Path, wanted: argparse.Namespace) -> Iterator[bool]:
    if wanted.kills:
        yield kill_servers(str(folder / "polls.db"), wanted.kills, "server killed, SQLite")
    if wanted.cuts:
        yield cut_logs(folder, wanted.cuts)
    if wanted.syncs:
        try:
            yield from fail_syncs(folder, wanted.syncs)
        except CannotTraceError as error:
            print(f"syncs that fail are left out: {error}")
    if wanted.full:
        try:
            yield fill_disks(folder, wanted.full)
        except CannotMountError as error:
            print(f"full disks are left out: {error}")


def try_postgres(database: Cluster, wanted: argparse.Namespace) -> Iterator[bool]:
    if wanted.pg_kills:
        yield kill_servers(database.url, wanted.pg_kills, "server killed, PostgreSQL")
    if wanted.stops:
        yield stop_database(database, wanted.stops)
    if wanted.gone:
        yield lose_database(database, wanted.gone)
    if wanted.frozen:
        yield freeze_database(database, wanted.frozen)


if __name__ == "__main__":
    main()
