"""A server for tests, in a thread of this process, and people who talk to it."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from fairduel.serve.access import Limits
from fairduel.serve.advisor import Advise
from fairduel.serve.app import create_app
from fairduel.serve.service import Service
from fairduel.serve.storage import open_database
from fake_advice import advise

KEY = "the-key-of-the-server"
UNLIMITED = Limits(
    votes_per_second=1e6, links_per_minute=1e6, joins_per_minute=1e6, plans_per_minute=1e6
)


@dataclass
class Web:
    """A running server."""

    url: str
    service: Service

    def client(self, token: str | None = None) -> httpx.Client:
        """A program that talks to the API, with a token."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=30)

    def poll(self, **fields: Any) -> "Made":
        """Make a poll that is open."""
        given = {
            "title": "Lunch",
            "options": ["curry", "pizza", "soup", "salad"],
            "voters": ["ann", "bob", "cem"],
            "open": True,
            **fields,
        }
        with self.client(KEY) as client:
            answer = client.post("/polls", json=given)
        assert answer.status_code == 201, answer.text
        return Made(self, answer.json())


@dataclass
class Made:
    """A poll with all its links."""

    web: Web
    data: dict[str, Any]

    @property
    def slug(self) -> str:
        return str(self.data["poll"]["slug"])

    @property
    def path(self) -> str:
        return f"/polls/{self.slug}"

    def organiser(self) -> httpx.Client:
        return self.web.client(self.data["organiser"]["token"])

    def voter(self, position: int = 0) -> httpx.Client:
        return self.web.client(self.data["voters"][position]["token"])

    def vote(self, position: int, count: int, said: str = "left") -> None:
        """Answer some questions as a voter."""
        with self.voter(position) as client:
            following = client.get(f"{self.path}/question").json()
            for _ in range(count):
                place = f"{self.path}/questions/{following['question']['n']}/vote"
                answer = client.put(place, json={"answer": said})
                assert answer.status_code == 200, answer.text
                following = answer.json()

    def settled(self) -> None:
        """Wait until the learner knows all answers."""
        room = self.web.service.room(self.slug)
        until = time.monotonic() + 30
        while room.desk.seq != room.ledger.seq or room.desk.busy:
            assert time.monotonic() < until
            time.sleep(0.005)


@contextmanager
def serving(
    place: str, limits: Limits = UNLIMITED, advise: Advise = advise, **settings: Any
) -> Iterator[Web]:
    """Serve the polls at a place on a free port."""
    database = open_database(place)
    database.migrate()
    service = Service(database, advise)
    service.add_key(KEY)
    app = create_app(service, limits=limits, **settings)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield Web(f"http://127.0.0.1:{listening.getsockname()[1]}", service)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def serving_elsewhere(place: str) -> Iterator[tuple[Web, int]]:
    """Serve in a process of its own, which is killed in the end; its number comes with it."""
    program = (
        "import sys, web\n"
        "with web.serving(sys.argv[1]) as served:\n"
        "    print(served.url, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, place]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url
            yield Web(url, Service(open_database(place), advise)), process.pid
        finally:
            process.kill()
