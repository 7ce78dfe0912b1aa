"""What is lost when servers and databases are killed while people vote: nothing.

python benchmarks/serve_faults.py [--kills 200] [--pg-kills 50] [--stops 20] [--cuts 500]

Eight clients vote as fast as they can and send again what was not answered. Meanwhile the server
is killed (SIGKILL), or PostgreSQL is stopped with ``-m immediate``. Every vote that was answered
must be on disk, each once, and the numbers of the log must have no gap. Then the write-ahead log
of a file is cut at random bytes after the last sync, with rubbish behind half of the time: what
was acknowledged must be there, and what is there must be a state that once was. Without
PostgreSQL its parts are left out, with a word.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _polls import Client, Server, make_poll, patiently, serving

from cluster import Cluster, cluster, programs
from fairduel.serve.acts import new_poll
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change, Question, Vote
from fairduel.serve.sqlite import SQLite
from fairduel.serve.storage import open_database

CLIENTS = 8
ANSWERS = ("left", "right", "tie")


@dataclass
class Storm:
    """Votes that were acknowledged, by voter and number of the question."""

    acknowledged: dict[tuple[int, int], str] = field(default_factory=dict)
    over: bool = False

    async def vote(self, port: int, path: str, voter: int, token: str) -> None:
        client = Client(port, token)
        answer = await patiently(client, "GET", f"{path}/question")
        while not self.over:
            n = answer["question"]["n"]
            said = ANSWERS[n % 3]
            place = f"{path}/questions/{n}/vote"
            answer = await patiently(client, "PUT", place, {"answer": said})
            self.acknowledged[voter, n] = said
        client.close()

    def run(self, port: int, made: dict[str, Any]) -> None:
        path = f"/api/v1/polls/{made['poll']['slug']}"

        async def all_of_them() -> None:
            voters = enumerate(made["voters"])
            await asyncio.gather(*(self.vote(port, path, d, v["token"]) for d, v in voters))

        asyncio.run(all_of_them())


def storm(server: Server, times: int, strike: Callable[[], None]) -> tuple[Storm, dict[str, Any]]:
    """Strike some times while people vote; return what was acknowledged."""
    made = make_poll(server, CLIENTS)
    votes = Storm()
    thread = threading.Thread(target=votes.run, args=(server.port, made), daemon=True)
    thread.start()
    rng = random.Random(1)
    for _ in range(times):
        before = len(votes.acknowledged)
        while len(votes.acknowledged) < before + 8:  # people vote again
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.15))
        strike()
    votes.over = True
    thread.join()
    return votes, made


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
        f"{what:38} {times:>5} times  {len(votes.acknowledged):>7,} acknowledged  {lost} lost  "
        f"{double} double  {'no gap' if gapless else 'GAPS'}"
    )
    return fine and times > 0


def kill_servers(where: str, times: int, what: str) -> bool:
    with serving(where) as server:

        def strike() -> None:
            server.kill()
            server.start()

        votes, made = storm(server, times, strike)
    return verdict(where, votes, made, what, times)


def stop_database(database: Cluster, times: int) -> bool:
    with serving(database.url) as server:

        def strike() -> None:
            database.stop("immediate")
            database.start()

        votes, made = storm(server, times, strike)
    return verdict(database.url, votes, made, "PostgreSQL stopped with -m immediate", times)


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
    print(f"{'write-ahead log cut at any byte':38} {times:>5} times  {bad} bad")
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
    for name, number in (("kills", 200), ("pg-kills", 50), ("stops", 20), ("cuts", 500)):
        parser.add_argument(f"--{name}", type=int, default=number)
    wanted = parser.parse_args()
    fine = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if wanted.kills:
            where = str(folder / "polls.db")
            fine.append(kill_servers(where, wanted.kills, "server killed, SQLite"))
        if wanted.cuts:
            fine.append(cut_logs(folder, wanted.cuts))
    if programs() is None:
        print("no PostgreSQL is installed: its parts are left out")
    elif wanted.pg_kills or wanted.stops:
        with cluster(durable=True) as database:
            if wanted.pg_kills:
                what = "server killed, PostgreSQL"
                fine.append(kill_servers(database.url, wanted.pg_kills, what))
            if wanted.stops:
                fine.append(stop_database(database, wanted.stops))
    raise SystemExit(not all(fine))


if __name__ == "__main__":
    main()
