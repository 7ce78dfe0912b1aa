"""The pages: they work without scripts, and only the first address has a token in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup

import fairduel
from fairduel.serve import acts, api, draws, messages, shapes, views
from fairduel.serve.access import Caller, address, check_same_origin, finished
from fairduel.serve.acts import Refused, derived, hashed, new_token
from fairduel.serve.api import Here, Site, create, fresh_token
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change

FOLDER = Path(__file__).parent
YEAR = 365 * 24 * 3600
ROLES = {"organiser": "fairduel_o", "voter": "fairduel_v", "join": "fairduel_j"}  # cookies
WELFARES = ("nash", "egalitarian", "utilitarian")  # what the form offers, in plain words
KEY = "fairduel_key"
LANGUAGE = "fairduel_lang"
pages = APIRouter(include_in_schema=False)


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=select_autoescape(default=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )


def language_of(request: Request) -> str:
    """Return the language of somebody: as they chose, else as their browser says."""
    for chosen in (request.query_params.get("lang"), request.cookies.get(LANGUAGE)):
        if chosen in messages.catalogues():
            return str(chosen)
    return messages.preferred(request.headers.get("accept-language", ""))


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page in the language of whoever asks."""
    language, path = language_of(request), request.url.path
    text = (
        _templates()
        .get_template(template)
        .render(
            t=partial(messages.say, language),
            language=language,
            version=fairduel.__version__,
            # where the page is, if it can be asked for again
            address=path if _can_be_asked_for(request) else values.get("base", path),
            **values,
        )
    )
    page = HTMLResponse(text, status)
    if request.query_params.get("lang") == language:
        _set_cookie(request, page, LANGUAGE, language, "/")
    return page


def _can_be_asked_for(request: Request) -> bool:
    """Return whether the address of a page shows it again, and not only what was sent to it."""
    return request.method == "GET" or request.url.path.endswith(("/new", "/join", "/setup"))


def error_page(request: Request, status: int, error: Refused | None = None) -> Response:
    """Return an error as a page, with the reason if there is more to say than the status."""
    language = language_of(request)
    known = (
        f"error_{status}" if f"error_{status}" in messages.catalogues()[language] else "error_400"
    )
    heading, detail = messages.say(language, known), ""
    if error is not None:
        what, hint = messages.refuse(language, error.template, error.values)
        heading, detail = (what, hint) if hint else (heading, what)
    parts = request.url.path.split("/")
    base = f"/p/{parts[2]}" if parts[1] == "p" and len(parts) > 2 else "/"
    back = base if status in (400, 405, 409, 413, 422, 429, 503) else ""
    return render(
        request, "said.html", status, heading=heading, detail=detail, back=back, base=base
    )


def reason(request: Request, error: Refused) -> str:
    """Return why something is refused, in the language of whoever asks."""
    return ": ".join(
        filter(None, messages.refuse(language_of(request), error.template, error.values))
    )


def _set_cookie(request: Request, page: Response, name: str, value: str, path: str) -> None:
    site: Site = request.app.state.site
    outside = site.base_url or str(request.base_url)
    page.set_cookie(
        name,
        value,
        max_age=YEAR,
        path=path,
        httponly=True,
        samesite="lax",
        secure=outside.startswith("https:"),
    )


def _go(to: str) -> RedirectResponse:
    return RedirectResponse(to, 303)


async def form(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent from a page of ours."""
    check_same_origin(request, request.app.state.site.base_url)
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError as error:
        raise Refused("this form cannot be read: use the page of the poll.", 400) from error
    return dict(parse_qsl(text, keep_blank_values=True))


Form = Annotated[dict[str, str], Depends(form)]


def number_in(fields: Mapping[str, str], name: str) -> int:
    """Return a whole number from a form."""
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused("{name} is {text!r}: give a whole number.", 422, name=name, text=text)
    return int(text)


def holder(role: str) -> Callable[..., Any]:
    """Return what finds the caller by the cookie for a role."""

    async def find(request: Request, slug: str, site: Here) -> Caller:
        return await site.access.caller(request.cookies.get(ROLES[role]), slug, role)

    return find


async def reader(request: Request, slug: str, site: Here) -> Caller:
    """Return somebody who may read the result, organiser or voter."""
    role = "organiser" if ROLES["organiser"] in request.cookies else "voter"
    who: Caller = await holder(role)(request, slug, site)
    api.check_may_read(who)
    await site.fresh(who)
    return who


Organiser = Annotated[Caller, Depends(holder("organiser"))]
Voter = Annotated[Caller, Depends(holder("voter"))]
Joiner = Annotated[Caller, Depends(holder("join"))]
Reader = Annotated[Caller, Depends(reader)]


def name_of(who: Caller) -> str:
    """Return the name of a voter."""
    return who.room.ledger.frame.voters[who.as_voter].name


async def own_form(who: Voter, fields: Form) -> dict[str, str]:
    """Return the fields of a voter's form, unless it says that it is on the page of another.

    It gives the name itself, so that nobody learns from a refusal who else takes part.
    """
    name = name_of(who)
    if fields.get("voter", name) != name:
        raise Refused(
            "this page is {page}'s, but this browser is now used by {name}: open your own link "
            "again.",
            403,
            page=fields["voter"],
            name=name,
        )
    return fields


OwnForm = Annotated[dict[str, str], Depends(own_form)]


def frame_of(who: Caller, here: str) -> dict[str, Any]:
    """Return what the pages of a poll have in common."""
    poll = who.room.ledger.frame.poll
    base = f"/p/{poll.slug}"
    links = [("poll", base), ("mine", f"{base}/mine")]
    if poll.settings.show_result:
        links.append(("result", f"{base}/result"))
    if who.role == "organiser":
        links = [("board", f"{base}/board"), ("setup", f"{base}/setup")]
    if who.role == "join":
        links = []
    name = name_of(who) if who.role == "voter" else ""
    return {"poll": poll, "base": base, "links": links, "here": here, "voter": name}


# Ways in


@pages.get("/")
async def home(request: Request) -> Response:
    """Say what this is."""
    return _go("/new") if KEY in request.cookies else render(request, "home.html")


@pages.get("/start/{key}")
async def start(key: str, request: Request, site: Here) -> Response:
    """Let somebody make polls."""
    await site.access.server(key)
    page = _go("/new")
    _set_cookie(request, page, KEY, key, "/")
    return page


@pages.get("/o/{token}")
@pages.get("/v/{token}")
@pages.get("/j/{token}")
async def enter(token: str, request: Request, site: Here) -> Response:
    """Let the holder of a link in; the token is in no address from now on."""
    place = await site.access.place(token)
    if place is None:
        raise Refused("this link is not valid, or no longer: ask for a new one.", 401)
    base = f"/p/{place.slug}"
    page = _go(base + {"organiser": "/setup", "voter": "", "join": "/join"}[place.role])
    _set_cookie(request, page, ROLES[place.role], token, base)
    return page


# Making a poll


class Wishes(NamedTuple):
    """A form for a new poll, as it was filled in."""

    title: str = ""
    prompt: str = ""
    options: str = ""
    voters: str = ""
    join: str = ""
    secret: str = ""
    show_result: str = "on"
    repeats: str = ""
    welfare: str = "nash"
    mode: str = "poll"


def _new_form(request: Request, given: Wishes, error: str = "", status: int = 200) -> Response:
    return render(request, "new.html", status, given=given, error=error, welfares=WELFARES)


@pages.get("/new")
async def new(request: Request, site: Here) -> Response:
    """Show the form for a new poll."""
    await site.access.server(request.cookies.get(KEY))
    return _new_form(request, Wishes())


@pages.post("/new")
async def make(request: Request, site: Here, fields: Form) -> Response:
    """Make a poll; what was wrong is said above the form, with all that was filled in."""
    await site.access.server(request.cookies.get(KEY))
    site.access.links.take(address(request))
    blank: dict[str, str] = Wishes(show_result="")._asdict()  # a box that is not ticked is not sent
    given = Wishes(**{name: fields.get(name, text) for name, text in blank.items()})
    key = new_token()
    try:
        wished = _wished(given)
        if len(wished.options) < 2:
            raise Refused("a poll needs two options at least: give more.", 422)
        made = api.new_poll(wished, key)
    except Refused as refusal:
        return _new_form(request, given, reason(request, refusal), 422)
    room = await create(site, made)
    base = f"/p/{room.ledger.frame.poll.slug}"
    page = _go(f"{base}/setup")
    _set_cookie(request, page, ROLES["organiser"], key, base)
    return page


def _wished(given: Wishes) -> shapes.NewPoll:
    """Return what a form asks for."""

    def lines(text: str) -> list[str]:
        return [line.strip() for line in text.splitlines() if line.strip()]

    return shapes.NewPoll.model_construct(
        title=given.title.strip(),
        prompt=given.prompt.strip(),
        options=lines(given.options),
        voters=lines(given.voters),
        join=bool(given.join) or not lines(given.voters),
        secret=bool(given.secret),
        show_result=bool(given.show_result),
        repeats=bool(given.repeats),
        welfare=given.welfare,
        mode=given.mode,
    )


# Voting


@pages.get("/p/{slug}")
async def vote_page(slug: str, request: Request, site: Here) -> Response:
    """Show the question that waits."""
    if ROLES["voter"] not in request.cookies and ROLES["organiser"] in request.cookies:
        return _go(f"/p/{slug}/board?{request.url.query}".rstrip("?"))
    who: Caller = await holder("voter")(request, slug, site)
    await finished(site.service.ask(who.room, who.as_voter, guard=who.guard))
    return _question(request, who)


def _question(request: Request, who: Caller, error: str = "", status: int = 200) -> Response:
    site: Site = request.app.state.site
    with who.room.lock:
        ledger, voter = who.room.ledger, who.as_voter
        asked = ledger.current(voter)
        names = [option.name for option in ledger.frame.options]
        shown = asked and {
            "n": asked.n,
            "left": names[asked.left],
            "right": names[asked.right],
            "decision": ledger.decision_of(voter, asked.n),
        }
        values: dict[str, Any] = {
            "question": shown,
            "made": [] if shown else _decisions(ledger)[-1:],
            "progress": views.progress(ledger, voter),
            "undo": ledger.last_answered(voter),
            "own_link": "",
        }
        if ledger.frame.voters[voter].nonce == "" and not values["progress"].answered:
            values["own_link"] = site.link(request, "v", who.token)
        news = api.outline(who.room, voter)[1]
    common = frame_of(who, "poll")
    values |= {"stream": f"{common['base']}/news", "look": common["base"], "news": news}
    return render(request, "vote.html", status, error=error, **values, **common)


@pages.post("/p/{slug}/vote")
async def vote(slug: str, request: Request, site: Here, who: Voter, fields: OwnForm) -> Response:
    """Answer a question; if that is not possible any more, show the next one and say so."""
    n, said = number_in(fields, "n"), fields.get("answer", "")
    site.access.count_vote(who)
    try:
        await finished(site.service.answer(who.room, who.as_voter, n, said, guard=who.guard))
    except Refused as refusal:
        if refusal.status != 409:
            raise
        error = reason(request, refusal)
        if fields.get("back") == "mine":
            return await _mine(request, site, who, error, 409)
        await finished(site.service.ask(who.room, who.as_voter, guard=who.guard))
        return _question(request, who, error=error, status=409)
    return _go(f"/p/{slug}/mine?stored=1" if fields.get("back") == "mine" else f"/p/{slug}")


@pages.post("/p/{slug}/undo")
async def undo(slug: str, site: Here, who: Voter, fields: OwnForm) -> Response:
    """Take an answer back."""
    site.access.count_vote(who)
    await finished(
        site.service.undo(who.room, who.as_voter, number_in(fields, "n"), guard=who.guard)
    )
    return _go(f"/p/{slug}")


@pages.get("/p/{slug}/mine")
async def mine(request: Request, site: Here, who: Voter) -> Response:
    """Show a voter's own answers, and what they get."""
    return await _mine(request, site, who)


async def _mine(
    request: Request, site: Site, who: Caller, error: str = "", status: int = 200
) -> Response:
    await site.fresh(who)
    ledger = who.room.ledger
    names = [option.name for option in ledger.frame.options]
    hidden = views.known_link(ledger, who.as_voter)
    said = [
        {
            "n": asked.n,
            "left": names[asked.left],
            "right": names[asked.right],
            "answer": "" if hidden else answer,
            "decision": ledger.decision_of(who.as_voter, asked.n),
        }
        for asked, answer in views.answers(ledger, who.as_voter)
    ]
    values: dict[str, Any] = {
        "answers": said,
        "hidden": hidden,
        "gain": views.gain(who.room, who.as_voter),
        "stored": "stored" in request.query_params,
    }
    common = frame_of(who, "mine")
    if common["poll"].settings.show_result:
        values["stream"] = f"{common['base']}/stream"
        values |= {"look": f"{common['base']}/mine", "news": api.summary(who.room)[1]}
    own_link = site.link(request, "v", who.token)
    return render(request, "mine.html", status, own_link=own_link, error=error, **values, **common)


@pages.get("/p/{slug}/mine.json")
async def mine_json(slug: str, site: Here, who: Voter) -> Response:
    """Give a voter all that is kept of them."""
    kept = await api.mine(site, who)
    return _file(f"{slug}-mine.json", kept.model_dump_json(indent=1), "application/json")


@pages.post("/p/{slug}/forget")
async def forget(site: Here, who: Voter, fields: OwnForm) -> Response:
    """Delete all about a voter."""
    await site.act(who, partial(acts.forget, voter=who.as_voter))
    page = _go("/done/forgotten")
    page.delete_cookie(ROLES["voter"], path=f"/p/{who.room.ledger.frame.poll.slug}")
    return page


@pages.get("/done/{what}")
async def done(what: str, request: Request) -> Response:
    """Say what has been deleted."""
    if what not in ("forgotten", "deleted"):
        return error_page(request, 404)
    return render(request, "said.html", heading=messages.say(language_of(request), f"done_{what}"))


@pages.get("/p/{slug}/join")
async def join_page(request: Request, site: Here, who: Joiner) -> Response:
    """Ask somebody for their name, and offer to go on as whoever has given it here before."""
    return await _join(request, site, who)


async def _join(
    request: Request, site: Site, who: Caller, error: str = "", status: int = 200, name: str = ""
) -> Response:
    common, known = frame_of(who, "join"), ""
    with suppress(Refused):
        token, slug = request.cookies.get(ROLES["voter"]), common["poll"].slug
        known = name_of(await site.access.caller(token, slug, "voter"))
    return render(request, "join.html", status, error=error, name=name, known=known, **common)


@pages.post("/p/{slug}/join")
async def join(request: Request, site: Here, who: Joiner, fields: Form) -> Response:
    """Make somebody a voter; the page that they get then shows the link to come back by."""
    name, token = fields.get("name", "").strip(), new_token()
    try:
        site.access.joins.take(address(request))
        act = partial(acts.add_voter, name=name, token=token)
        await site.act(who, act)
    except Refused as refusal:
        return await _join(request, site, who, reason(request, refusal), refusal.status, name)
    base = frame_of(who, "join")["base"]
    page = _go(base)
    _set_cookie(request, page, ROLES["voter"], token, base)
    return page


# Results


def _decisions(ledger: Ledger) -> list[dict[str, Any]]:
    names = [option.name for option in ledger.frame.options]
    return [
        {
            "number": decision.number,
            "options": [names[k] for k in decision.options],
            "cancelled": decision.cancelled_after is not None,
            "note": decision.note,
            "draws": [side.draw for side in decision.sides],
        }
        for decision in ledger.frame.decisions
    ]


def _seeds(ledger: Ledger) -> dict[str, str]:
    """Return the seeds of a poll by their hashes; of one that is not published yet nothing."""
    published = {draws.commitment(seed): seed for seed in ledger.seeds}
    return {draws.commitment(ledger.frame.poll.seed): "", **published}


def _result(request: Request, who: Caller, here: str, anyway: bool) -> Response:
    ledger = who.room.ledger
    common = frame_of(who, here)
    return render(
        request,
        f"{here}.html",
        shown=views.standing(who.room, anyway=anyway),
        made=_decisions(ledger),
        seeds=_seeds(ledger),
        anyway=anyway,
        stream=f"{common['base']}/stream",
        news=api.summary(who.room)[1],
        **common,
    )


@pages.get("/p/{slug}/result")
async def result(request: Request, who: Reader) -> Response:
    """Show the shares and the decisions."""
    return _result(request, who, "result", anyway=False)


@pages.get("/p/{slug}/board")
async def board(request: Request, site: Here, who: Organiser) -> Response:
    """Show how the poll stands."""
    await site.fresh(who)
    return _result(request, who, "board", anyway="anyway" in request.query_params)


@pages.get("/p/{slug}/stream")
async def stream(site: Here, who: Reader) -> Response:
    """Tell a page when to look again."""
    return await api.events(site, who)


@pages.get("/p/{slug}/news")
async def news(site: Here, who: Voter) -> Response:
    """Tell a voter's page when there may be something else to do."""
    return api.follow(site, who, partial(api.outline, voter=who.as_voter))


@pages.post("/p/{slug}/decide")
async def decide(slug: str, site: Here, who: Organiser, fields: Form) -> Response:
    """Draw a decision. The form knows its number, so sending it twice draws once."""
    await api.draw(site, who, number_in(fields, "number"))
    return _go(f"/p/{slug}/board")


@pages.post("/p/{slug}/cancel")
async def cancel(slug: str, site: Here, who: Organiser, fields: Form) -> Response:
    """Cancel a decision."""
    number, reason = number_in(fields, "number"), fields.get("reason", "").strip()
    act = partial(acts.cancel, number=number, reason=reason)
    await site.act(who, act)
    return _go(f"/p/{slug}/board")


async def exporter(site: Here, who: Organiser) -> Caller:
    """Return somebody who may have the votes, when all that was written is known here."""
    return await api.exporter(site, who)


Exporter = Annotated[Caller, Depends(exporter)]


def _file(name: str, content: str | bytes, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


@pages.get("/p/{slug}/votes.csv")
async def votes_csv(slug: str, who: Exporter) -> Response:
    """Export the answers that count."""
    with who.room.lock:
        text = views.votes_csv(who.room.ledger)
    return _file(f"{slug}.csv", text, "text/csv")


@pages.get("/p/{slug}/votes.json")
async def votes_json(slug: str, who: Exporter) -> Response:
    """Export the same as JSON."""
    with who.room.lock:
        text = views.votes_json(who.room.ledger)
    return _file(f"{slug}.json", text, "application/json")


@pages.get("/p/{slug}/session.json")
async def session_json(slug: str, site: Here, who: Exporter) -> Response:
    """Export a session that goes on from the votes."""
    site.access.count_plan(who)
    with who.room.lock:
        view = who.room.ledger.view()
    data = await asyncio.to_thread(views.session_json, view, who.room.ledger)
    return _file(f"{slug}-session.json", data, "application/json")


# Setup


@pages.get("/p/{slug}/setup")
async def setup_page(request: Request, site: Here, who: Organiser) -> Response:
    """Show the options, the people and all links."""
    await site.fresh(who)
    return await _setup(request, site, who)


async def _setup(
    request: Request,
    site: Site,
    who: Caller,
    error: str = "",
    status: int = 200,
    given: Mapping[str, str] | None = None,
) -> Response:
    frame, hasty = who.room.ledger.frame, await api.hasty_of(site, who)
    join = frame.poll.join_hash and _link(request, site, who, "j", frame.poll)
    voters = [
        {
            "position": v.position,
            "name": v.name,
            "hasty": hasty.get(v.position, 0),
            "joined": not v.nonce,
            **(_link(request, site, who, "v", v) or {}),
        }
        for v in frame.voters
        if v.state == "active"
    ]
    common = frame_of(who, "setup")
    own_link = site.link(request, "o", who.token)
    values = {
        "error": error,
        "join": join,
        "voters": voters,
        "options": frame.options,
        "given": given or {},
        "own_link": own_link,
        "only_here": urlsplit(own_link).hostname in api.LOOPBACK,
    }
    return render(request, "setup.html", status, **values, **common)


def _link(
    request: Request, site: Site, who: Caller, kind: str, of: Any
) -> dict[str, object] | None:
    """Return a link and its QR code, if the organiser's token makes it."""
    nonce, stored = (of.join_nonce, of.join_hash) if kind == "j" else (of.nonce, of.token_hash)
    token = derived(who.token, nonce)
    if hashed(token) != stored:
        return None
    link = site.link(request, kind, token)
    return {"link": link, "qr": qr_code(link)}


@lru_cache(1024)
def qr_code(text: str) -> Markup:
    """Return a QR code as a picture in the page."""
    import segno

    drawn = segno.make(text, error="m").svg_inline(
        svgclass="qr", lineclass=None, border=3, omitsize=True
    )
    picture = drawn.replace("<svg ", '<svg role="img" aria-label="QR" ', 1)
    return Markup(picture)  # noqa: S704 - drawn by segno, which writes no text into it


@pages.post("/p/{slug}/setup")
async def setup(request: Request, site: Here, who: Organiser, fields: Form) -> Response:
    """Do something as the organiser; what is refused is said above the page."""
    if fields.get("act") == "delete":
        await api.delete(site, who)
        return _go("/done/deleted")
    try:
        await site.act(who, _act(who, fields))
    except Refused as refusal:
        why = reason(request, refusal)
        return await _setup(request, site, who, why, refusal.status, fields)
    return _go(f"/p/{who.room.ledger.frame.poll.slug}/setup")


def _act(who: Caller, fields: Mapping[str, str]) -> Callable[[Ledger], Change]:
    """Return what a form of the setup page asks for."""
    act, name = fields.get("act", ""), fields.get("name", "").strip()
    token, nonce = fresh_token(who)
    if act in ("open", "paused", "closed"):
        return partial(acts.set_state, state=act)
    if act == "add-option":
        return partial(acts.add_options, names=[name])
    if act in ("retire", "restore"):
        state = "retired" if act == "retire" else "active"
        return partial(acts.set_option, position=number_in(fields, "option"), state=state)
    if act == "add-voter":
        return partial(acts.add_voter, name=name, token=token, nonce=nonce)
    if act == "reissue":
        voter = number_in(fields, "voter")
        return partial(acts.reissue, voter=voter, token=token, nonce=nonce)
    if act == "remove":
        return partial(acts.remove, voter=number_in(fields, "voter"))
    if act == "clear":
        return partial(acts.clear, voter=number_in(fields, "voter"))
    if act in ("join-on", "join-off"):
        return partial(acts.set_join, token=token if act == "join-on" else None, nonce=nonce)
    raise Refused("{act!r} is nothing that can be done.", 422, act=act)
