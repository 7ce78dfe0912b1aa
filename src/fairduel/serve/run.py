"""A server in this process, until it is stopped."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import number_within, whole_number
from fairduel.errors import InputError
from fairduel.serve.acts import new_token
from fairduel.serve.advisor import Advice
from fairduel.serve.service import Service
from fairduel.serve.storage import Database, StorageError, open_database

KEEP_ALIVE = 75  # seconds: people think longer than the usual 5
_TOKEN = re.compile(r"/(o|v|j|start)/[^/?\s\"]+")


def serve(
    where: str,
    host: str,
    port: int,
    *,
    base_url: str | None,
    votes_per_second: float,
    migrate: bool,
    say: Callable[[str], Any],
) -> None:
    """Serve the polls of a database until Ctrl-C or a signal; ``say`` gets the link."""
    check_installed()
    import uvicorn

    from fairduel.serve.access import Limits
    from fairduel.serve.app import create_app

    whole_number("the port", port, 0, 65535)
    number_within("the vote rate", votes_per_second, "above 0", 1e-9, float("inf"))
    if base_url is not None:
        check_base_url(base_url)
    listening = listen(host, port)
    with listening:
        service = Service(ready(where, confirmed=migrate), learner)
        key = new_token()
        service.add_key(key)
        app = create_app(service, base_url=base_url, limits=Limits(votes_per_second))
        config = uvicorn.Config(
            app,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=5,
            access_log=False,
            log_level="warning",
        )
        mask_tokens(logging.getLogger("uvicorn.error"), logging.getLogger("uvicorn.access"))
        threading.Thread(target=warm, name="fairduel-warm", daemon=True).start()
        say(f"open {outside(base_url, listening)}/start/{key} to make a poll; Ctrl-C stops")
        if base_url is None and listening.getsockname()[0] in ("127.0.0.1", "::1"):
            say("only this machine can open it; --host 0.0.0.0 lets others on the network do so")
        # Ctrl-C may come before the server has begun to wait for anything.
        warnings.filterwarnings("ignore", "coroutine 'Server.serve' was never awaited")
        with suppress(KeyboardInterrupt):  # raised again when all is done
            _server(config, app.state.site.stopped).run(sockets=[listening])
        say("stopped")


def _server(config: Any, stopped: asyncio.Event) -> Any:
    """Return a server that ends as soon as it is told to, however many pages follow a poll."""
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            if not self.should_exit:  # Ctrl-C twice is as good as once
                super().handle_exit(sig, frame)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            stopped.set()
            await super().shutdown(sockets)

    return Server(config)


def check_base_url(url: str) -> None:
    """Refuse what is no address of a server."""
    try:
        parts = urlsplit(url)
        plain = not (parts.query or parts.fragment or url.split() != [url])
        right = parts.scheme in ("http", "https") and parts.hostname is not None and plain
    except ValueError:
        right = False
    if not right:
        raise InputError(f"the base URL is {url!r}: give one like https://polls.example.")


def check_installed() -> None:
    """Say what to install if the libraries of the extra are missing."""
    missing = [name for name in ("fastapi", "uvicorn", "segno") if not find_spec(name)]
    if missing:
        raise InputError(
            f"polls need {' and '.join(missing)}, which is not installed: "
            "pip install 'fairduel[serve]'."
        )


def learner(wins: Floats, *, welfare: Any, plays: Ints | None = None) -> Advice:
    """Advise by the package's own learner. The first call loads and perhaps compiles it."""
    from fairduel.live import advise, advise_duel

    said = advise(wins, welfare=welfare)
    sides: tuple[Floats, ...] = (said.policy,)
    if plays is not None:
        sides = advise_duel(wins, plays, welfare=welfare, seed=int(plays.sum()))
    return Advice(
        policy=said.policy,
        worth=said.worth,
        utilities=said.estimates.utilities,
        low=said.estimates.low,
        high=said.estimates.high,
        favourites=said.favourites,
        share=said.outlook.share,
        share_low=said.outlook.low,
        share_high=said.outlook.high,
        ten_more=said.outlook.ten_more,
        sides=sides,
    )


def warm() -> None:
    """Load the learner, and compile it if this is the first time, before anybody needs it."""
    from fairduel._threads import one_thread
    from fairduel.welfare import Nash

    one_thread()  # for good: advice on several polls is computed at once
    learner(np.zeros((2, 3, 3)), welfare=Nash())


def ready(where: str, *, confirmed: bool = False) -> Database:
    """Return a database whose tables are up to date."""
    database = open_database(where)
    try:
        database.migrate(confirmed=confirmed)
    except StorageError as error:
        raise InputError(f"cannot use {database}: {error}: give another with --db.") from error
    return database


def listen(host: str, port: int) -> socket.socket:
    """Take a port, which is an error now rather than later."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise InputError(
            f"cannot listen at {host} port {port}: {error.strerror}: give another --host or --port."
        ) from error


def outside(base_url: str | None, listening: socket.socket) -> str:
    """Return the address that people open."""
    if base_url is not None:
        return base_url.rstrip("/")
    host, port = listening.getsockname()[:2]
    everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - it was asked for
    shown = _own_address() if everywhere else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _own_address() -> str:
    """Return the address of this machine on its network, by which phones find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, but tells the way
        except OSError:
            return socket.gethostname()
        address: str = probe.getsockname()[0]
        return address


def mask_tokens(*loggers: logging.Logger) -> None:
    """Keep tokens out of logs."""

    def mask(record: logging.LogRecord) -> bool:
        record.msg, record.args = _TOKEN.sub(r"/\1/***", record.getMessage()), ()
        return True

    for logger in loggers:
        logger.addFilter(mask)
