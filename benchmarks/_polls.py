"""Servers of polls in processes of their own, and a plain client, for the benchmarks of serve."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel.serve.acts import new_token
from fairduel.serve.advisor import Advice

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # for a PostgreSQL of one's own

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["uvicorn", "fairduel.serve.app", "psycopg", "_polls"])


def no_advice(wins: Floats, **settings: Any) -> Advice:
    """Say nothing, at no cost: voters get least-asked pairs."""
    D, K, _ = wins.shape
    zeros, nobody = np.zeros(D), np.full(D, -1)
    shares = np.full(K, 1.0 / K)
    worth = np.zeros((D, K, K))
    return Advice(shares, worth, zeros, zeros, zeros, nobody, 0.0, 0.0, 0.0, 0.0, (shares,))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def run_server(where: str, port: int, key: str, learning: bool) -> None:
    """Serve until somebody kills us."""
    import uvicorn

    logging.disable()  # what fails is sent again, and counted by the client

    from fairduel.serve.access import Limits
    from fairduel.serve.app import create_app
    from fairduel.serve.run import KEEP_ALIVE, learner, listen, ready, small_heads
    from fairduel.serve.service import Service

    service = Service(ready(where), learner if learning else no_advice)
    service.add_key(key)
    app = create_app(service, limits=Limits(1e9, 1e9))
    config = uvicorn.Config(
        app,
        http=small_heads(),
        access_log=False,
        log_level="critical",
        timeout_keep_alive=KEEP_ALIVE,
    )
    uvicorn.Server(config).run(sockets=[listen("127.0.0.1", port)])


class Server:
    """A server that can be killed and started again at the same address."""

    def __init__(self, where: str, *, learning: bool = False) -> None:
        self.where, self.port, self.key = where, free_port(), new_token()
        self.learning = learning
        self._process: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def process(self) -> int:
        return int(self._process.pid)

    def start(self) -> None:
        arguments = self.where, self.port, self.key, self.learning
        self._process = CONTEXT.Process(target=run_server, args=arguments, daemon=True)
        self._process.start()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.005)
        raise RuntimeError("the server does not start")

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self.process, signal.SIGKILL)
        self._process.join()

    def cpu(self) -> float:
        """Return the seconds of processor time that it has used."""
        return cpu_of(self.process)


def cpu_of(process: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(where: str, *, learning: bool = False) -> Iterator[Server]:
    server = Server(where, learning=learning)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def make_poll(server: Server, voters: int, options: int = 10) -> dict[str, Any]:
    """Make a poll in which a pair may come again, so that questions do not run out."""
    given = {
        "title": "Benchmark",
        "options": [f"option {k}" for k in range(options)],
        "voters": [f"voter {d}" for d in range(voters)],
        "repeats": True,
        "open": True,
    }

    async def post() -> dict[str, Any]:
        client = Client(server.port, server.key)
        status, made = await client.send("POST", "/api/v1/polls", given)
        assert status == 201, made
        client.close()
        return made

    return asyncio.run(post())


class Client:
    """One connection that stays open, with as little between it and the wire as possible."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Send a request and return the status and the JSON of the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        length = next(
            int(line[15:]) for line in lines if line.lower().startswith("content-length:")
        )
        return int(lines[0].split()[1]), json.loads(await reader.readexactly(length))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def patiently(client: Client, method: str, path: str, body: object = None) -> dict[str, Any]:
    """Send a request again and again until it is answered, as a person's page does."""
    while True:
        try:
            status, answer = await asyncio.wait_for(client.send(method, path, body), 30)
            if status == 200:
                return answer
            if status not in (429, 503):
                raise RuntimeError(f"{status}: {answer}")
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            client.close()
        await asyncio.sleep(0.02)
