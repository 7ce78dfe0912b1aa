"""How many votes a second a server writes to disk, and how long voters wait.

python benchmarks/serve_load.py [--seconds 10] [--voters 1000] [--processes 1 4]

Clients and servers share the machine, so all figures are lower bounds. First 64 voters who do not
think, against a bare server on the same libraries that does nothing but write a row. Then many who
think for 4 s (exponentially), and how long they wait. Then voters of a small poll while the learner
works on one of 300 voters beside it, and how long its threads keep others from doing anything
(from 1 ms on, since that is how often they look). Then several processes on one PostgreSQL. At last
how long 200,000 votes take to be read again, and a server to be started.
"""

from __future__ import annotations

import argparse
import asyncio
import queue
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np
from _polls import (
    CONTEXT,
    Client,
    Server,
    cpu_of,
    free_port,
    make_poll,
    no_advice,
    patiently,
    serving,
)
from pydantic import BaseModel

from cluster import cluster, programs
from fairduel.serve.acts import new_poll
from fairduel.serve.records import Change, Question, Vote
from fairduel.serve.run import learner
from fairduel.serve.service import Service
from fairduel.serve.sqlite import SQLite
from fairduel.welfare import Nash

EAGER = 64  # voters who do not think
THINK = 4.0  # seconds
BUSY = 300  # voters of the poll that the learner works on


class Said(BaseModel):
    """What the bare server is sent."""

    answer: str


def run_bare(place: str, port: int) -> None:
    """Serve one address that writes a row, all that wait in one commit."""
    import uvicorn
    from fastapi import FastAPI

    from fairduel.serve.run import listen

    waiting: queue.SimpleQueue[tuple[int, str, Future[None]]] = queue.SimpleQueue()

    def write() -> None:
        connection = sqlite3.connect(place, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS vote(n INTEGER, answer TEXT)")
        while True:
            batch = [waiting.get()]
            while not waiting.empty():
                batch.append(waiting.get())
            connection.execute("BEGIN IMMEDIATE")
            rows = [(n, answer) for n, answer, _ in batch]
            connection.executemany("INSERT INTO vote VALUES (?, ?)", rows)
            connection.execute("COMMIT")
            for _, _, done in batch:
                done.set_result(None)

    threading.Thread(target=write, daemon=True).start()
    app = FastAPI()

    @app.put("/questions/{n}/vote")
    async def vote(n: int, said: Said) -> dict[str, int]:
        done: Future[None] = Future()
        waiting.put((n, said.answer, done))
        await asyncio.wrap_future(done)
        return {"n": n}

    config = uvicorn.Config(app, access_log=False, log_level="critical")
    uvicorn.Server(config).run(sockets=[listen("127.0.0.1", port)])


async def eager(client: Client, path: str, end: float, waits: list[float]) -> None:
    """Vote without thinking."""
    answer = await patiently(client, "GET", f"{path}/question")
    while time.monotonic() < end:
        began = time.monotonic()
        place = f"{path}/questions/{answer['question']['n']}/vote"
        answer = await patiently(client, "PUT", place, {"answer": "left"})
        waits.append(time.monotonic() - began)
    client.close()


async def thinking(client: Client, path: str, end: float, waits: list[float]) -> None:
    """Vote, and think before each."""
    await asyncio.sleep(random.uniform(0, THINK))
    answer = await patiently(client, "GET", f"{path}/question")
    while (thought := random.expovariate(1 / THINK)) + time.monotonic() < end:
        await asyncio.sleep(thought)
        began = time.monotonic()
        place = f"{path}/questions/{answer['question']['n']}/vote"
        answer = await patiently(client, "PUT", place, {"answer": "left"})
        waits.append(time.monotonic() - began)
    client.close()


async def bare(port: int, end: float, waits: list[float]) -> None:
    client, n = Client(port, "x"), 0
    while time.monotonic() < end:
        began, n = time.monotonic(), n + 1
        await patiently(client, "PUT", f"/questions/{n}/vote", {"answer": "left"})
        waits.append(time.monotonic() - began)
    client.close()


def voters_of(
    server: Server, made: dict[str, Any], habit: Any, end: float, waits: Any
) -> list[Any]:
    path = f"/api/v1/polls/{made['poll']['slug']}"
    return [habit(Client(server.port, v["token"]), path, end, waits) for v in made["voters"]]


async def all_of(coroutines: list[Any]) -> None:
    await asyncio.gather(*coroutines)


def shown(waits: list[float]) -> str:
    middle, most, nearly = 1e3 * np.quantile(waits, [0.5, 0.95, 0.99])
    return f"waits {middle:.0f} ms (median), {most:.0f} ms (95 %), {nearly:.0f} ms (99 %)"


def throughput(servers: list[Server], seconds: float, what: str) -> tuple[float, float]:
    """Return how many votes a second are written, and the milliseconds of CPU that each takes."""
    made = make_poll(servers[0], EAGER)
    waits: list[float] = []
    end = time.monotonic() + seconds
    used = sum(server.cpu() for server in servers)
    voters: list[Any] = []
    for at, voter in enumerate(made["voters"]):
        server = servers[at % len(servers)]
        voters += voters_of(server, {**made, "voters": [voter]}, eager, end, waits)
    asyncio.run(all_of(voters))
    used = sum(server.cpu() for server in servers) - used
    rate = len(waits) / seconds
    cost = 1e3 * used / len(waits)
    print(f"{what:34} {rate:6,.0f} votes/s; {cost:.2f} ms of CPU each; {shown(waits)}")
    return rate, cost


def bare_throughput(folder: Path, seconds: float) -> tuple[float, float]:
    port = free_port()
    process = CONTEXT.Process(target=run_bare, args=(str(folder / "bare.db"), port), daemon=True)
    process.start()
    waits: list[float] = []

    async def run() -> None:
        await patiently(Client(port, "x"), "PUT", "/questions/0/vote", {"answer": "left"})
        end = time.monotonic() + seconds
        await all_of([bare(port, end, waits) for _ in range(EAGER)])

    asyncio.run(run())
    assert process.pid is not None
    cost = 1e3 * cpu_of(process.pid) / len(waits)
    process.kill()
    process.join()
    what, rate = "a bare server that writes a row", len(waits) / seconds
    print(f"{what:34} {rate:6,.0f} rows/s; {cost:.2f} ms of CPU each; {shown(waits)}")
    return rate, cost


def crowd(server: Server, people: int, seconds: float) -> None:
    polls = [make_poll(server, min(500, people - at)) for at in range(0, people, 500)]
    waits: list[float] = []
    end = time.monotonic() + seconds + THINK
    asyncio.run(
        all_of([v for made in polls for v in voters_of(server, made, thinking, end, waits)])
    )
    what = f"{people:,} voters who think for {THINK:.0f} s"
    print(f"{what:34} {len(waits) / seconds:6,.0f} votes/s; {shown(waits)}")


def beside_a_learner(folder: Path, seconds: float) -> None:
    """Vote in a small poll, alone and while the learner works on a large one."""
    learner(np.zeros((2, 3, 3)), welfare=Nash())  # its kernels are compiled, for the server too
    for busy in (0, BUSY):
        with serving(str(folder / f"beside-{busy}.db"), learning=bool(busy)) as server:
            small, waits, ignored = make_poll(server, 4), [], []  # type: ignore[var-annotated]
            voters = []
            end = time.monotonic() + seconds
            if busy:
                large = make_poll(server, busy)
                first = time.monotonic() + 3 * THINK  # for the learner to be loaded
                asyncio.run(all_of(voters_of(server, large, thinking, first, ignored)))
                end = time.monotonic() + seconds
                voters += voters_of(server, large, thinking, end, ignored)
            voters += voters_of(server, small, eager, end, waits)
            asyncio.run(all_of(voters))
            what = f"4 voters beside a poll of {busy}" if busy else "4 voters alone"
            print(
                f"{what:34} {len(waits) / seconds:6,.0f} votes/s; {shown(waits)}; "
                f"{1e3 * max(waits):.0f} ms at most"
            )


def starts(folder: Path) -> None:
    """Start the command five times; print how long it takes until somebody can connect."""
    seconds = []
    for number in range(5):
        port = free_port()
        command = [
            "fairduel",
            "serve",
            "--db",
            str(folder / f"start-{number}.db"),
            "--port",
            str(port),
        ]
        began = time.monotonic()
        with subprocess.Popen(
            [sys.executable, "-m", *command], stdout=subprocess.DEVNULL
        ) as server:
            while time.monotonic() - began < 60:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.005)
            seconds.append(time.monotonic() - began)
            server.terminate()
    print(f"a server is started in {min(seconds):.2f} to {max(seconds):.2f} s", flush=True)


def stalls() -> None:
    """Compute advice on a large poll in a thread; print how long others could not do anything."""
    rng = np.random.default_rng(1)
    for options in (10, 20):
        wins = rng.integers(0, 2, (BUSY, options, options)).astype(float)
        wins[:, range(options), range(options)] = 0.0
        learner(wins, welfare=Nash())
        thread = threading.Thread(target=lambda: learner(wins, welfare=Nash()))  # noqa: B023
        began = last = time.perf_counter()
        longest = 0.0
        thread.start()
        while thread.is_alive():
            time.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        print(
            f"a refresh of {BUSY} voters, {options} options: {last - began:.2f} s, in which others "
            f"stood still for {1e3 * longest:.0f} ms at most",
            flush=True,
        )


def replay(folder: Path, votes: int = 200_000) -> None:
    database = SQLite(folder / "long.db")
    database.migrate()
    D, K = 500, 20
    made = new_poll("Long", [f"o{k}" for k in range(K)], [f"v{d}" for d in range(D)], organiser="o")
    rng = np.random.default_rng(1)
    pairs = np.array([rng.choice(K, 2, replace=False) for _ in range(votes)]).tolist()
    entries: list[Any] = []
    for at, (left, right) in enumerate(pairs):
        n, voter = divmod(at, D)
        entries += [Question(voter, n + 1, left, right), Vote(voter, n + 1, "left")]
    connection = database.connect()
    with connection.transaction():
        connection.create(made)
        connection.append(made.poll.id, 0, [Change(tuple(entries))], 0.0)
    connection.close()
    service = Service(database, no_advice)
    began, used = time.monotonic(), time.process_time()
    room = service.room(made.poll.slug)
    took = time.monotonic() - began
    assert room.ledger.wins.sum() == votes
    print(f"{votes:,} votes replayed in {took:.1f} s ({time.process_time() - used:.1f} s of CPU)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--voters", type=int, default=1000)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--no-learner", action="store_true", help="leave the learner's part out")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(str(folder / "polls.db")) as server:
            rate, cost = throughput([server], wanted.seconds, "SQLite, 64 voters in a hurry")
            most, least = bare_throughput(folder, wanted.seconds)
            print(f"{'ratio to it, votes/s and CPU':34} {rate / most:6.2f} {cost / least:6.2f}")
            crowd(server, wanted.voters, wanted.seconds)
        if not wanted.no_learner:
            beside_a_learner(folder, wanted.seconds)
            stalls()
        replay(folder)
        starts(folder)
    if wanted.processes and programs() is not None:
        with cluster(durable=True) as database:
            for count in wanted.processes:
                with ExitStack() as stack:
                    servers = [stack.enter_context(serving(database.url)) for _ in range(count)]
                    throughput(servers, wanted.seconds, f"PostgreSQL, processes: {count}")


if __name__ == "__main__":
    main()
