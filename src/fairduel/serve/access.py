"""Who may do what: tokens, limits of rate and size, and requests from elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

from fairduel.serve.acts import Refused, hashed
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change
from fairduel.serve.service import Act, Room, Service
from fairduel.serve.storage import Place, StorageError

T = TypeVar("T")
LARGEST_BODY = 64 * 1024
MOST_REMEMBERED = 20_000
PATIENCE = 10.0  # seconds that an answer waits for the database


@dataclass(frozen=True)
class Limits:
    """How often somebody may do something before they have to wait."""

    votes_per_second: float = 5.0  # of a voter
    links_per_minute: float = 20.0  # polls made from an address
    joins_per_minute: float = 120.0  # from an address, which a whole office may have
    plans_per_minute: float = 60.0  # of a poll: decisions and sessions, which the learner makes


@dataclass(frozen=True)
class Caller:
    """Somebody with a token: role, the poll, and which voter."""

    role: str  # organiser, voter or join
    room: Room
    voter: int | None
    token: str

    def is_valid(self, ledger: Ledger) -> bool:
        """Return whether the token still opens what it did."""
        frame = ledger.frame
        hashes = {"organiser": frame.poll.organiser_hash, "join": frame.poll.join_hash}
        if self.voter is not None:
            hashes["voter"] = frame.voters[self.voter].token_hash
        return hashes[self.role] == hashed(self.token)

    def check(self, ledger: Ledger) -> None:
        """Refuse a token that has been replaced, by whatever server."""
        if not self.is_valid(ledger):
            raise Refused("this link is not valid, or no longer: ask for a new one.", 401)

    def guard(self, act: Act) -> Act:
        """Return an act that is refused if the token has been replaced when it is decided."""

        def guarded(ledger: Ledger) -> Change:
            self.check(ledger)
            return act(ledger)

        return guarded

    @property
    def as_voter(self) -> int:
        """The voter's position."""
        assert self.voter is not None
        return self.voter


class Bucket:
    """A limit of rate: each key may act so often a second, and a few times more at once."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._rate, self._burst = per_second, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Count one act of a key, or refuse it."""
        now = time.monotonic()
        left, then = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        allowed = left >= 1.0
        self._left[key] = (left - 1.0 if allowed else left), now
        if len(self._left) > MOST_REMEMBERED:
            self._left.popitem(last=False)
        if not allowed:
            raise Refused("that was too often in a short time: wait a moment.", 429)


class Access:
    """Tokens, and the polls they open."""

    def __init__(self, service: Service, limits: Limits) -> None:
        self.service = service
        self.votes = Bucket(limits.votes_per_second, 2 * limits.votes_per_second)
        self.links = Bucket(limits.links_per_minute / 60.0, limits.links_per_minute)
        self.joins = Bucket(limits.joins_per_minute / 60.0, limits.joins_per_minute)
        self._plans = Bucket(limits.plans_per_minute / 60.0, limits.plans_per_minute)
        self._places: OrderedDict[str, Place] = OrderedDict()

    async def caller(self, token: str | None, slug: str, *roles: str) -> Caller:
        """Return who has a token, if their role is one of these."""
        if not token:
            raise Refused("this needs a link of the poll: open yours.", 401)
        place = await self._place(token)
        if place is None:
            raise Refused("this link is not valid, or no longer: ask for a new one.", 401)
        if place.slug != slug or place.role not in roles:
            raise Refused("this link does not open that: use the one for it.", 403)
        return Caller(place.role, await self.room(slug), place.voter, token)

    def count_vote(self, who: Caller) -> None:
        """Count a vote, or refuse it if there are too many."""
        self.votes.take(f"{who.room.ledger.frame.poll.id} {who.voter}")

    def count_plan(self, who: Caller) -> None:
        """Count what the learner has to work for, or refuse it if there is too much of it."""
        self._plans.take(str(who.room.ledger.frame.poll.id))

    async def place(self, token: str) -> Place | None:
        """Return what a token opens."""
        return await self._place(token)

    async def room(self, slug: str) -> Room:
        """Return a poll, which may have to be loaded first."""
        if self.service.in_memory(slug):
            return self.service.room(slug)
        return await in_time(asyncio.to_thread(self.service.room, slug))

    async def server(self, key: str | None) -> None:
        """Refuse whoever may not make polls."""
        if not key or not await in_time(asyncio.to_thread(self.service.has_key, key)):
            raise Refused("making polls needs the link that `fairduel serve` has printed.", 401)

    async def _place(self, token: str) -> Place | None:
        """Look a token up, in memory if it still opens what it did."""
        key = hashed(token)
        known = self._places.get(key)
        if known is not None and self._still(known, key):
            return known
        found = await in_time(asyncio.to_thread(self.service.place, token))
        if found is None:
            self._places.pop(key, None)
            return None
        self._places[key] = found
        if len(self._places) > MOST_REMEMBERED:
            self._places.popitem(last=False)
        return found

    def _still(self, place: Place, key: str) -> bool:
        if not self.service.in_memory(place.slug):
            return False
        frame = self.service.room(place.slug).ledger.frame
        if place.role == "voter":
            assert place.voter is not None
            return place.voter < len(frame.voters) and frame.voters[place.voter].token_hash == key
        return key in (frame.poll.organiser_hash, frame.poll.join_hash)


async def finished(future: Future[T]) -> T:
    """Wait for the writer. A request that ends meanwhile does not take its vote back."""
    try:
        return await in_time(asyncio.shield(asyncio.wrap_future(future)))
    except StorageError:
        future.cancel()  # what has not been begun will not be done: whoever sent it is told so
        raise


async def in_time(waiting: Awaitable[T]) -> T:
    """Wait for the database, but not for ever: one that stands still says nothing at all."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await waiting
    except TimeoutError as error:
        raise StorageError("the database takes too long") from error


def check_same_origin(request: Request, base_url: str | None) -> None:
    """Refuse a form that was sent from a page of somebody else."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        ours = site in ("same-origin", "none")
    else:
        hosts = (request.headers.get("host"), urlsplit(base_url or "").netloc or None)
        ours = origin is not None and urlsplit(origin).netloc in hosts
    if not ours:
        raise Refused("this form was sent from another site: open the poll by your link.", 403)


def address(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else ""


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class SmallBodies:
    """Refuse requests whose bodies are too large, before they are in memory."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BODY:
                raise HTTPException(413, f"this is more than {LARGEST_BODY:,} bytes: send less.")
            return message

        await self._app(scope, counted, send)


HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-robots-tag": "noindex",
    "cache-control": "no-store",
}


class SafeHeaders:
    """Send with every answer what browsers need to keep it safe."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = {name.encode(): value.encode() for name, value in HEADERS.items()}
                given = list(message.get("headers", ()))
                for name, _ in given:
                    headers.pop(name, None)
                message["headers"] = [*given, *headers.items()]
            await send(message)

        await self._app(scope, receive, with_headers)
