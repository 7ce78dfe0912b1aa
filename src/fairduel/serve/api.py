"""The JSON API under /api/v1, for programs: a bearer token says who they are."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import PlainTextResponse, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from fairduel.serve import acts, draws, shapes, views
from fairduel.serve.access import Access, Caller, address, finished, in_time
from fairduel.serve.acts import Refused, derived, hashed, new_token
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change, Decision, Frame, Option, Question, Settings
from fairduel.serve.records import Voter as Person
from fairduel.serve.service import Act, Room, Service

_T = TypeVar("_T")
PULSE = 15.0  # seconds between signs of life in a stream of events
CALM = 0.3  # seconds between events at least
PAGE = 1000  # votes
LOOPBACK = ("127.0.0.1", "::1", "localhost")  # where only this machine reaches a server


class Csv(PlainTextResponse):
    """A table."""

    media_type = "text/csv"


class Events(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


_BEARER = HTTPBearer(auto_error=False, description="The token of a link.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
_WRONG = {
    400: "The request cannot be read.",
    401: "There is no token, or it is not valid.",
    403: "The token does not open this.",
    404: "There is no such thing.",
    409: "The state of the poll does not allow it.",
    413: "The request is too large.",
    422: "Something in the request is wrong.",
    429: "That was too often.",
    503: "The database does not answer now: try again.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": what,
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    for status, what in _WRONG.items()
}


api = APIRouter(prefix="/api/v1", responses=PROBLEMS)


@dataclasses.dataclass(frozen=True)
class Site:
    """What requests need of their server. It is found in the state of the application."""

    access: Access
    service: Service
    base_url: str | None  # how the outside reaches it; default: as the request does
    lan_url: str | None  # how others on the network do, if they can
    stopped: asyncio.Event

    async def act(self, who: Caller, act: Act) -> None:
        """Do something for somebody, and wait until it is on disk."""
        await finished(self.service.submit(who.room, who.guard(act)))

    async def fresh(self, who: Caller) -> None:
        """Wait until all that was written is known here; the token may have been replaced."""
        await finished(self.service.submit(who.room, None))
        who.check(who.room.ledger)

    def link(self, request: Request, kind: str, token: str) -> str:
        """Return the address to hand out: o for organisers, v for voters, j for everybody."""
        alone = request.url.hostname in LOOPBACK
        outside = self.base_url or (alone and self.lan_url) or str(request.base_url).rstrip("/")
        return f"{outside}/{kind}/{token}"


async def site_of(request: Request) -> Site:
    """Return the server that a request came to. (Async, since others are run in a thread.)"""
    site: Site = request.app.state.site
    return site


Here = Annotated[Site, Depends(site_of)]


def holder(*roles: str) -> Callable[..., Awaitable[Caller]]:
    """Return what finds the caller by the token, if their role is one of these."""

    async def find(slug: str, site: Here, token: Credentials) -> Caller:
        if token is None:
            raise Refused(
                "this needs the token of a link of the poll: send it as a bearer token.", 401
            )
        return await site.access.caller(token.credentials, slug, *roles)

    return find


async def reader(
    site: Here, who: Annotated[Caller, Depends(holder("organiser", "voter"))]
) -> Caller:
    """Return somebody who may read the result, when all that was written is known here."""
    check_may_read(who)
    await site.fresh(who)
    return who


async def exporter(site: Here, who: Annotated[Caller, Depends(holder("organiser"))]) -> Caller:
    """Return somebody who may have the votes, when all that was written is known here."""
    check_may_export(who.room)
    await site.fresh(who)
    return who


Organiser = Annotated[Caller, Depends(holder("organiser"))]
Voter = Annotated[Caller, Depends(holder("voter"))]
Reader = Annotated[Caller, Depends(reader)]
Exporter = Annotated[Caller, Depends(exporter)]

# Voting: first, since addresses are compared one after the other


@api.get("/polls/{slug}/question", tags=["voting"])
async def question(site: Here, who: Voter) -> shapes.Next:
    """Show the question that waits for the voter."""
    await finished(site.service.ask(who.room, who.as_voter, guard=who.guard))
    return next_out(who)


@api.put("/polls/{slug}/questions/{n}/vote", tags=["voting"])
async def vote(n: int, given: shapes.Said, site: Here, who: Voter) -> shapes.Next:
    """Answer a question; the same answer again changes nothing, another takes its place."""
    site.access.count_vote(who)
    await finished(site.service.answer(who.room, who.as_voter, n, given.answer, guard=who.guard))
    return next_out(who)


@api.delete("/polls/{slug}/questions/{n}/vote", tags=["voting"])
async def undo(n: int, site: Here, who: Voter) -> shapes.Next:
    """Take an answer back; the question waits again."""
    site.access.count_vote(who)
    await finished(site.service.undo(who.room, who.as_voter, n, guard=who.guard))
    return next_out(who)


@api.get("/polls/{slug}/mine", tags=["voting"])
async def mine(site: Here, who: Voter) -> shapes.Mine:
    """Show a voter all that is kept of them, and what they get.

    In a secret poll answers are None if the organiser has made the link, and could use it.
    """
    await site.fresh(who)
    ledger, names = who.room.ledger, [o.name for o in who.room.ledger.frame.options]
    hidden = views.known_link(ledger, who.as_voter)
    log = await in_time(asyncio.to_thread(site.service.votes_of, who.room, who.as_voter))
    return shapes.Mine(
        name=ledger.frame.voters[who.as_voter].name,
        answers=[
            shapes.MyAnswer(
                n=asked.n,
                left=names[asked.left],
                right=names[asked.right],
                answer=None if hidden or said == "undo" else said,
            )
            for asked, said in views.answers(ledger, who.as_voter)
        ],
        log=[] if hidden else [shapes.MyVote(n=v.n, answer=v.answer, at=at) for v, at in log],
        gain=gain_out(views.gain(who.room, who.as_voter)),
    )


# Polls


@api.post("/polls", status_code=201, tags=["polls"])
async def make_poll(
    given: shapes.NewPoll, request: Request, site: Here, token: Credentials
) -> shapes.MadePoll:
    """Make a poll, with the key of the server."""
    await site.access.server(token.credentials if token else None)
    site.access.links.take(address(request))
    key = new_token()
    made = new_poll(given, key)
    room = await create(site, made)

    def link(kind: str, token: str) -> shapes.Link:
        return shapes.Link(token=token, link=site.link(request, kind, token))

    return shapes.MadePoll(
        poll=poll_out(room),
        organiser=link("o", key),
        join=link("j", derived(key, made.poll.join_nonce)) if given.join else None,
        voters=[voter_link(site, request, v, derived(key, v.nonce)) for v in made.voters],
    )


@api.get("/polls/{slug}", tags=["polls"])
async def show_poll(
    site: Here, who: Annotated[Caller, Depends(holder("organiser", "voter", "join"))]
) -> shapes.PollOut:
    """Show a poll to anybody with a link of it."""
    await site.fresh(who)
    return poll_out(who.room)


@api.patch("/polls/{slug}", tags=["polls"])
async def change_poll(given: shapes.PollChange, site: Here, who: Organiser) -> shapes.PollOut:
    """Change the words of a poll, or open, pause or close it."""
    words = given.title is not None or given.prompt is not None
    if words == (given.state is not None):
        raise Refused("give the title and the prompt, or else the state.", 422)

    def act(ledger: Ledger) -> Change:
        if given.state is not None:
            return acts.set_state(ledger, given.state)
        return acts.describe(ledger, given.title, given.prompt)

    await site.act(who, act)
    return poll_out(who.room)


@api.delete("/polls/{slug}", status_code=204, tags=["polls"])
async def delete_poll(site: Here, who: Organiser) -> Response:
    """Delete a poll and all that belongs to it."""
    await delete(site, who)
    return Response(status_code=204)


@api.post("/polls/{slug}/options", status_code=201, tags=["polls"])
async def add_options(given: shapes.NewOptions, site: Here, who: Organiser) -> shapes.PollOut:
    """Add options."""
    await site.act(who, partial(acts.add_options, names=given.names))
    return poll_out(who.room)


@api.patch("/polls/{slug}/options/{position}", tags=["polls"])
async def change_option(
    position: int, given: shapes.OptionChange, site: Here, who: Organiser
) -> shapes.PollOut:
    """Rename an option, retire it, or take it back."""
    if (given.name is None) == (given.state is None):
        raise Refused("give either the name or the state.", 422)

    def act(ledger: Ledger) -> Change:
        if given.name is not None:
            return acts.rename_option(ledger, position, given.name)
        return acts.set_option(ledger, position, given.state or "")

    await site.act(who, act)
    return poll_out(who.room)


# Voters


@api.get("/polls/{slug}/voters", tags=["voters"])
async def show_voters(site: Here, who: Organiser) -> list[shapes.VoterOut]:
    """Show all voters to the organiser; of a secret poll only the names."""
    await site.fresh(who)
    hasty = await hasty_of(site, who)
    return [
        shapes.VoterOut(
            position=person.position,
            name=person.name,
            answers=person.answers,
            hasty=None if person.answers is None else hasty.get(person.position, 0),
            gain=gain_out(person.gain),
        )
        for person in views.standing(who.room).people
    ]


@api.post("/polls/{slug}/voters", status_code=201, tags=["voters"])
async def add_voter(
    given: shapes.NewVoter, request: Request, site: Here, who: Organiser
) -> shapes.VoterLink:
    """Add a voter, and return the link to hand out."""
    act = partial(acts.add_voter, name=given.name)
    return await linked(site, request, who, act)


@api.post("/polls/{slug}/join", status_code=201, tags=["voters"])
async def join(
    given: shapes.NewVoter,
    request: Request,
    site: Here,
    who: Annotated[Caller, Depends(holder("join"))],
) -> shapes.VoterLink:
    """Become a voter, by the link for everybody."""
    site.access.joins.take(address(request))
    act = partial(acts.add_voter, name=given.name)
    return await linked(site, request, who, act)


@api.post("/polls/{slug}/voters/{position}/link", tags=["voters"])
async def reissue(position: int, request: Request, site: Here, who: Organiser) -> shapes.VoterLink:
    """Give a voter a new link; the old one opens nothing from now on."""
    return await linked(site, request, who, partial(acts.reissue, voter=position))


async def hasty_of(site: Site, who: Caller) -> dict[int, int]:
    """Return how many answers of each voter came too soon; a secret poll says nothing of it."""
    if who.room.ledger.frame.poll.secret:
        return {}
    return await in_time(asyncio.to_thread(site.service.hasty, who.room))


async def linked(
    site: Site, request: Request, who: Caller, act: Callable[..., Change]
) -> shapes.VoterLink:
    """Do something to a voter that takes a new token, and return the link."""
    token, nonce = fresh_token(who)
    await site.act(who, partial(act, token=token, nonce=nonce))
    return voter_link(site, request, voter_with(who.room, token), token)


def fresh_token(who: Caller) -> tuple[str, str]:
    """Return a new token and what the organiser can make it from again, if they ask for it."""
    if who.role != "organiser":
        return new_token(), ""
    nonce = new_token()
    return derived(who.token, nonce), nonce


def voter_with(room: Room, token: str) -> Person:
    """Return the voter who has a token."""
    return next(v for v in room.ledger.frame.voters if v.token_hash == hashed(token))


def voter_link(site: Site, request: Request, voter: Person, token: str) -> shapes.VoterLink:
    """Return a voter's link as it is sent."""
    link = site.link(request, "v", token)
    return shapes.VoterLink(position=voter.position, name=voter.name, token=token, link=link)


@api.patch("/polls/{slug}/voters/{position}", status_code=204, tags=["voters"])
async def remove(position: int, given: shapes.VoterChange, site: Here, who: Organiser) -> Response:
    """Take a voter out; the answers count no more."""
    await site.act(who, partial(acts.remove, voter=position))
    return Response(status_code=204)


@api.delete("/polls/{slug}/voters/{position}", status_code=204, tags=["voters"])
async def forget(
    position: int,
    site: Here,
    who: Annotated[Caller, Depends(holder("organiser", "voter"))],
) -> Response:
    """Delete a voter's name, link and answers: the organiser anybody's, a voter their own."""
    if who.role == "voter" and who.voter != position:
        raise Refused("this link does not open that: use the one for it.", 403)
    await site.act(who, partial(acts.forget, voter=position))
    return Response(status_code=204)


@api.delete("/polls/{slug}/voters/{position}/votes", status_code=204, tags=["voters"])
async def clear(position: int, site: Here, who: Organiser) -> Response:
    """Take all answers of a voter back; the questions wait again."""
    await site.act(who, partial(acts.clear, voter=position))
    return Response(status_code=204)


@api.post("/polls/{slug}/join-link", tags=["voters"])
async def open_join(request: Request, site: Here, who: Organiser) -> shapes.Link:
    """Make a new link for everybody; an old one opens nothing from now on."""
    token, nonce = fresh_token(who)
    act = partial(acts.set_join, token=token, nonce=nonce)
    await site.act(who, act)
    return shapes.Link(token=token, link=site.link(request, "j", token))


@api.delete("/polls/{slug}/join-link", status_code=204, tags=["voters"])
async def close_join(site: Here, who: Organiser) -> Response:
    """Take the link for everybody away."""
    await site.act(who, partial(acts.set_join, token=None))
    return Response(status_code=204)


# Results


@api.get("/polls/{slug}/policy", tags=["results"])
async def policy(who: Reader, anyway: bool = False) -> shapes.PolicyOut:
    """Show the present policy. anyway: although it is too early (organisers only)."""
    return policy_out(views.standing(who.room, anyway=anyway and who.role == "organiser"))


@api.get("/polls/{slug}/decisions", tags=["results"])
async def decisions(who: Reader) -> list[shapes.DecisionOut]:
    """Show all decisions, with what they follow from."""
    frame = who.room.ledger.frame
    return [decision_out(frame, decision) for decision in frame.decisions]


@api.put("/polls/{slug}/decisions/{number}", tags=["results"])
async def decide(number: int, site: Here, who: Organiser) -> shapes.DecisionOut:
    """Draw the decision of this number, which must be the next; one drawn before is shown."""
    drawn = await draw(site, who, number)
    return decision_out(who.room.ledger.frame, drawn)


@api.patch("/polls/{slug}/decisions/{number}", tags=["results"])
async def cancel(
    number: int, given: shapes.Cancelled, site: Here, who: Organiser
) -> shapes.DecisionOut:
    """Cancel a decision. It stays visible, with the reason."""
    act = partial(acts.cancel, number=number, reason=given.reason)
    await site.act(who, act)
    frame = who.room.ledger.frame
    return decision_out(frame, frame.decisions[number - 1])


@api.get("/polls/{slug}/votes", tags=["results"])
async def votes(
    site: Here,
    who: Exporter,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=PAGE)] = PAGE,
) -> shapes.VotePage:
    """Export the log of votes, page by page: ``after`` is that of the page before."""
    found = await in_time(asyncio.to_thread(site.service.votes, who.room, after, limit))
    return shapes.VotePage(
        votes=[shapes.VoteOut(seq=seq, at=at, **vote._asdict()) for seq, vote, at in found],
        after=found[-1][0] if len(found) == limit else None,
    )


@api.get(
    "/polls/{slug}/votes.csv",
    tags=["results"],
    response_class=Csv,
)
async def votes_csv(who: Exporter) -> Response:
    """Export the answers that count, as a table that fairduel reads."""
    with who.room.lock:
        return Csv(views.votes_csv(who.room.ledger))


@api.get("/polls/{slug}/votes.json", tags=["results"])
async def votes_json(who: Exporter) -> list[shapes.VoteRecord]:
    """Export the same as JSON, which fairduel reads as well."""
    with who.room.lock:
        found = list(views.votes(who.room.ledger))
    return [
        shapes.VoteRecord(user=user, left=left, right=right, winner=winner)  # type: ignore[arg-type]
        for user, left, right, winner in found
    ]


@api.get("/polls/{slug}/session.json", tags=["results"])
async def session_json(site: Here, who: Exporter) -> dict[str, Any]:
    """Export a file of `fairduel.Session` that goes on from the votes."""
    site.access.count_plan(who)
    with who.room.lock:
        view = who.room.ledger.view()
    data = await asyncio.to_thread(views.session_json, view, who.room.ledger)
    content: dict[str, Any] = json.loads(data)
    return content


@api.get(
    "/polls/{slug}/events",
    tags=["results"],
    response_class=Events,
)
async def events(site: Here, who: Reader) -> StreamingResponse:
    """Follow a poll: an event whenever what may be shown of it has changed."""
    return follow(site, who, summary)


def follow(
    site: Site, who: Caller, summarise: Callable[[Room], tuple[int, str]]
) -> StreamingResponse:
    """Return events, if not too many follow the poll already."""
    site.service.check_room_for_listener(who.room.ledger.frame.poll.slug, who.voter)
    return Events(stream(site, who, summarise))


# Making and drawing


def new_poll(given: shapes.NewPoll, organiser: str) -> Frame:
    """Return a poll as it was wished for."""
    return acts.new_poll(
        given.title,
        given.options,
        given.voters,
        prompt=given.prompt,
        secret=given.secret,
        settings=Settings(given.welfare, given.repeats, given.draw, given.show_result, given.mode),
        organiser=organiser,
        join=given.join,
        opened=given.open,
    )


async def create(site: Site, made: Frame) -> Room:
    """Keep a new poll."""
    await in_time(asyncio.to_thread(site.service.create, made))
    return await site.access.room(made.poll.slug)


async def draw(site: Site, who: Caller, number: int) -> Decision:
    """Draw the decision of a number, from the policy as it is now.

    One at a time: whoever asks again and again keeps no other poll from its decisions.
    """
    room = who.room
    async with room.deciding:
        await site.fresh(who)
        if not 1 <= number <= len(room.ledger.frame.decisions):
            site.access.count_plan(who)
            known = await _unless_stopped(site, site.service.policy_soon(room))
            sides, seq = known.sides, known.view.seq
            await site.act(who, partial(acts.decide, number=number, policies=sides, after_seq=seq))
    return room.ledger.frame.decisions[number - 1]


async def _unless_stopped(site: Site, future: Future[_T]) -> _T:
    """Wait for the learner, which may take long, but not when the server is to end."""
    waiting = asyncio.wrap_future(future)
    stopped = asyncio.ensure_future(site.stopped.wait())
    both: list[asyncio.Future[Any]] = [waiting, stopped]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
    if not waiting.done():
        waiting.cancel()
        raise Refused("the server is about to stop: try again in a moment.", 503)
    return waiting.result()


async def delete(site: Site, who: Caller) -> None:
    """Delete a poll and all that belongs to it."""
    await site.fresh(who)
    await in_time(asyncio.to_thread(site.service.delete, who.room.ledger.frame.poll.slug))


def check_may_read(who: Caller) -> None:
    """Refuse voters the result if the organiser keeps it back."""
    if who.role == "voter" and not who.room.ledger.frame.poll.settings.show_result:
        raise Refused("the organiser does not show the result.", 403)


def check_may_export(room: Room) -> None:
    """Refuse the votes of a secret poll to everybody."""
    if room.ledger.frame.poll.secret:
        raise Refused("the poll is secret: nobody gets its votes.", 403)


async def stream(
    site: Site, who: Caller, summarise: Callable[[Room], tuple[int, str]]
) -> AsyncIterator[str]:
    """Yield an event whenever the summary of a poll changes, and signs of life.

    It ends when the token has been replaced.
    """
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    service, room, stopped = site.service, who.room, site.stopped
    slug = room.ledger.frame.poll.slug

    def tell() -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(changed.set)

    ignore = service.listen(slug, tell, who.voter)
    told, due = "", 0.0  # when there has to be a sign of life, whoever votes meanwhile
    try:
        while not stopped.is_set() and service.in_memory(slug) and who.is_valid(room.ledger):
            changed.clear()
            number, news = summarise(room)
            if news != told:
                yield f"id: {number}\ndata: {news}\n\n"
                told, due = news, loop.time() + PULSE
            elif loop.time() >= due:
                yield ": still here\n\n"
                due += PULSE
            await asyncio.sleep(min(CALM, max(0.0, due - loop.time())))
            await _first(due - loop.time(), changed, stopped)
    finally:
        ignore()


async def _first(seconds: float, *events: asyncio.Event) -> None:
    """Wait until one of some events has come, for a number of seconds at most."""
    tasks = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def summary(room: Room) -> tuple[int, str]:
    """Return what changes when a page about a poll has to be drawn anew."""
    shown, known = views.standing(room), room.desk.shown
    frame = room.ledger.frame
    news = {
        "answers": shown.answers,
        "answering": shown.answering,
        "missing": shown.missing,
        "voters": shown.invited,
        "options": len(shown.shares),
        "decisions": shown.decisions,
        "cancelled": _cancelled(frame),
        "state": frame.poll.state,
        "advice": known.view.seq if known else None,
    }
    return shown.seq, json.dumps(news)


def outline(room: Room, voter: int) -> tuple[int, str]:
    """Return what changes when a voter has something else to do. It tells of no other's answers."""
    frame, sheet = room.ledger.frame, room.ledger.sheets[voter]
    news: dict[str, Any] = {
        "options": room.ledger.options,
        "state": frame.poll.state,
        "open": sorted(sheet.open),
        "asked": len(sheet.questions),
    }
    if frame.poll.settings.live:  # else decisions are part of the result
        news |= {"decisions": len(frame.decisions), "cancelled": _cancelled(frame)}
    return len(sheet.questions), json.dumps(news)


def _cancelled(frame: Frame) -> int:
    return sum(decision.cancelled_after is not None for decision in frame.decisions)


# Values as they are sent


def poll_out(room: Room) -> shapes.PollOut:
    """Return a poll as everybody with a link may see it."""
    with room.lock:
        frame, seeds, shown = room.ledger.frame, list(room.ledger.seeds), room.ledger.shown()
    poll = frame.poll
    return shapes.PollOut(
        slug=poll.slug,
        title=poll.title,
        prompt=poll.prompt,
        state=poll.state,  # type: ignore[arg-type]  # one of four
        secret=poll.secret,
        **poll.settings.to_json(),
        options=[option_out(option) for option in frame.options],
        voters=sum(voter.state == "active" for voter in frame.voters),
        decisions=len(frame.decisions),
        commitment=draws.commitment(poll.seed),
        seeds=seeds,
        last_seq=shown.seq if shown else 0,
    )


def option_out(option: Option) -> shapes.OptionOut:
    """Return an option as it is sent."""
    return shapes.OptionOut(
        position=option.position,
        name=option.name,
        state=option.state,  # type: ignore[arg-type]  # one of two
    )


def decision_out(frame: Frame, decision: Decision) -> shapes.DecisionOut:
    """Return a decision as it is sent."""
    return shapes.DecisionOut(
        number=decision.number,
        drawn=[
            shapes.DrawnOut(
                option=option_out(frame.options[side.option]),
                policy=dict(side.policy),
                draw=side.draw,
            )
            for side in decision.sides
        ],
        commitment=decision.commitment,
        after_seq=decision.after_seq,
        cancelled_after=decision.cancelled_after,
        note=decision.note,
        at=decision.at,
    )


def gain_out(gain: views.Gain | None) -> shapes.GainOut | None:
    """Return what somebody gets as it is sent."""
    return None if gain is None else shapes.GainOut(**dataclasses.asdict(gain))


def policy_out(shown: views.Standing) -> shapes.PolicyOut:
    """Return a standing as it is sent."""
    kept = shown.kept or (None, None, None)
    return shapes.PolicyOut(
        seq=shown.seq,
        answers=shown.answers,
        answering=shown.answering,
        invited=shown.invited,
        early=shown.early,
        shares=[shapes.ShareOut(**dataclasses.asdict(share)) for share in shown.shares],
        kept=kept[0],
        kept_low=kept[1],
        kept_high=kept[2],
        ten_more=shown.ten_more,
        missing=shown.missing,
    )


def next_out(who: Caller) -> shapes.Next:
    """Return the question that waits for a voter, and how far they have come."""
    with who.room.lock:
        ledger = who.room.ledger
        asked = ledger.current(who.as_voter)
        far = views.progress(ledger, who.as_voter)
        return shapes.Next(
            question=None if asked is None else question_out(ledger, asked),
            state=ledger.frame.poll.state,  # type: ignore[arg-type]  # one of four
            answered=far.answered,
            target=far.target,
            undo=ledger.last_answered(who.as_voter),
        )


def question_out(ledger: Ledger, asked: Question) -> shapes.QuestionOut:
    """Return a question as it is sent."""
    left, right = (option_out(ledger.frame.options[k]) for k in (asked.left, asked.right))
    return shapes.QuestionOut(n=asked.n, left=left, right=right)
