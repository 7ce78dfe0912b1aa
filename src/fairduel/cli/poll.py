"""fairduel poll: make and run polls from the command line; a server may run on the same ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairduel.cli.help import Command
from fairduel.cli.output import check_output, fail, write
from fairduel.cli.serve import FILE, Database
from fairduel.errors import InputError

if TYPE_CHECKING:  # slow to import
    from fairduel.serve.records import Voter
    from fairduel.serve.service import Room, Service

Slug = Annotated[str, typer.Argument(metavar="POLL", help="The poll's name in its addresses.")]
BaseUrl = Annotated[str, typer.Option(metavar="URL", help="How others reach the server.")]
Qr = Annotated[bool, typer.Option("--qr", help="Show QR codes, too.")]
HERE = "http://127.0.0.1:8000"

poll = typer.Typer(
    help="Make and run polls; `fairduel serve` on the same database serves them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@contextmanager
def _service(db: str, *, new: bool = False) -> Iterator[Service]:
    from fairduel.serve.run import check_installed, learner, ready
    from fairduel.serve.service import Service
    from fairduel.serve.storage import StorageError

    check_installed()
    if not new and "://" not in db and not Path(db).exists():
        raise InputError(f"there is no file {db!r}: give the polls' own with --db.")
    service = Service(ready(db), learner)
    service.start()
    try:
        yield service
    except StorageError as error:
        raise InputError(f"cannot use {service.database}: {error}: try again.") from error
    finally:
        service.stop()


@contextmanager
def _room(db: str, slug: str) -> Iterator[tuple[Service, Room]]:
    from fairduel._checks import one_of

    with _service(db) as service:
        known = service.slugs()
        if not known:
            raise InputError(f"there is no poll in {db!r}: make one with fairduel poll new.")
        yield service, service.room(one_of("poll", slug, known))


def _do(db: str, slug: str, act: Callable[..., Any], **arguments: object) -> None:
    """Do something to a poll."""
    with _room(db, slug) as (service, room):
        service.submit(room, partial(act, **arguments)).result()


def _set_state(db: str, slug: str, state: str) -> None:
    from fairduel.serve import acts

    _do(db, slug, acts.set_state, state=state)
    sys.stdout.write(f"{slug} is {state}\n")


@poll.command(cls=Command)
def new(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What the poll is about.")],
    option: Annotated[list[str], typer.Option(metavar="NAME", help="An option; repeat it.")],
    voter: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A person with a link; repeat it.")
    ] = None,
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="The question above each pair.")] = "",
    join: Annotated[bool, typer.Option("--join", help="Make one link for everybody, too.")] = False,
    secret: Annotated[
        bool, typer.Option("--secret", help="Show nobody what one person said.")
    ] = False,
    welfare: Annotated[str, typer.Option(metavar="NAME", help="What is fair.")] = "nash",
    live: Annotated[
        bool,
        typer.Option("--live", help="Serve two options a decision; everybody compares them."),
    ] = False,
    repeats: Annotated[
        bool, typer.Option("--repeats", help="Let a pair come to a voter again.")
    ] = False,
    hide_result: Annotated[
        bool, typer.Option("--hide-result", help="Show the result to the organiser only.")
    ] = False,
    db: Database = FILE,
    base_url: BaseUrl = HERE,
    qr: Qr = False,
) -> None:
    """Make a poll, open it, and print its links. They are shown once: keep them.

    \b
    Example:
      fairduel poll new Lunch --option curry --option soup --voter Ann --voter Bob
    """
    from fairduel.serve import acts
    from fairduel.serve.records import Settings
    from fairduel.serve.run import check_base_url

    check_base_url(base_url)
    token = acts.new_token()
    made = acts.new_poll(
        title,
        option,
        voter or [],
        prompt=prompt,
        secret=secret,
        settings=Settings(
            welfare=welfare,
            repeats=repeats,
            show_result=not hide_result,
            mode="live" if live else "poll",
        ),
        organiser=token,
        join=join or not voter,
        opened=True,
    )
    with _service(db, new=True) as service:
        service.create(made)
        room = service.room(made.poll.slug)
        sys.stdout.write(f"made {made.poll.slug}\n")
        _print_links(room, token, base_url, qr)


@poll.command("list", cls=Command)
def list_(db: Database = FILE) -> None:
    """List the polls: name, state, people, title."""
    with _service(db) as service:
        for slug in service.slugs():
            frame = service.room(slug).ledger.frame
            people = sum(voter.state == "active" for voter in frame.voters)
            sys.stdout.write(f"{slug}  {frame.poll.state}  {people}  {frame.poll.title}\n")


@poll.command("open", cls=Command)
def open_(slug: Slug, db: Database = FILE) -> None:
    """Open a poll, or open it again."""
    _set_state(db, slug, "open")


@poll.command(cls=Command)
def pause(slug: Slug, db: Database = FILE) -> None:
    """Pause a poll: answers do not count until it is opened again."""
    _set_state(db, slug, "paused")


@poll.command(cls=Command)
def close(slug: Slug, db: Database = FILE) -> None:
    """Close a poll, and publish the seed of its draws."""
    _set_state(db, slug, "closed")


@poll.command(cls=Command)
def links(
    slug: Slug,
    renew: Annotated[
        bool, typer.Option("--renew", help="Make new links; the old ones open nothing then.")
    ] = False,
    voter: Annotated[str | None, typer.Option(metavar="NAME", help="Only for this person.")] = None,
    db: Database = FILE,
    base_url: BaseUrl = HERE,
    qr: Qr = False,
) -> None:
    """Make new links for a poll, of everybody or of one person.

    Links that were handed out cannot be shown here: only their hashes are kept. The organiser's
    page of the poll shows them.
    """
    from fairduel.serve import acts
    from fairduel.serve.run import check_base_url

    check_base_url(base_url)
    if not renew:
        raise InputError(
            "links are kept as hashes and cannot be shown: see the organiser's page, or make new "
            "ones with --renew."
        )
    token = acts.new_token()
    with _room(db, slug) as (service, room):
        if voter is None:
            service.submit(room, partial(acts.new_links, organiser=token)).result()
            _print_links(room, token, base_url, qr)
        else:
            act = partial(acts.reissue, token=token, nonce=acts.new_token())
            service.submit(room, partial(act, voter=_find(room, voter).position)).result()
            _print_link(voter, f"{base_url.rstrip('/')}/v/{token}", qr)


@poll.command(cls=Command)
def decide(slug: Slug, db: Database = FILE) -> None:
    """Draw the next decision."""
    from fairduel.serve import acts

    with _room(db, slug) as (service, room):
        known = service.policy(room)
        number = len(room.ledger.frame.decisions) + 1
        act = partial(acts.decide, number=number, policies=known.sides, after_seq=known.view.seq)
        service.submit(room, act).result()
        drawn = dict.fromkeys(room.ledger.frame.decisions[number - 1].options)
        names = [room.ledger.frame.options[k].name for k in drawn]
        sys.stdout.write(f"decision {number}: {' and '.join(names)}\n")
        if not known.view.answers.any():
            sys.stdout.write("nobody has answered yet, so all options had the same share\n")


@poll.command(cls=Command)
def export(
    slug: Slug,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where to write: .csv or .json; default: votes.csv, or session.json.",
        ),
    ] = None,
    session: Annotated[
        bool,
        typer.Option("--session", help="Write a .json file that fairduel.Session.load reads."),
    ] = False,
    db: Database = FILE,
) -> None:
    """Write the answers that count to a file, which `fairduel fit` reads."""
    from fairduel.serve import api, views

    usual = Path("session.json" if session else "votes.csv")
    if out is None and usual.exists():
        raise InputError(f"there is a file {str(usual)!r} already: give a name with --out.")
    out = out or usual
    check_output(out, (".json",) if session else (".csv", ".json"))
    with _room(db, slug) as (_, room):
        api.check_may_export(room)
        if session:
            data = views.session_json(room.ledger.view(), room.ledger)
        else:
            table = out.suffix.lower() == ".csv"
            text = views.votes_csv(room.ledger) if table else views.votes_json(room.ledger)
            data = text.encode()
        write(out, data, quiet=False)


@poll.command(cls=Command)
def forget(
    slug: Slug,
    voter: Annotated[str, typer.Argument(metavar="NAME", help="Whom to forget.")],
    db: Database = FILE,
) -> None:
    """Delete a person's name, link and answers."""
    from fairduel.serve import acts

    with _room(db, slug) as (service, room):
        position = _find(room, voter).position
        service.submit(room, partial(acts.forget, voter=position)).result()
    sys.stdout.write(f"{voter} is forgotten\n")


@poll.command(cls=Command)
def check(slug: Slug, db: Database = FILE) -> None:
    """Check that every decision follows from the published seed. Exit code 1 if one does not."""
    from fairduel.serve import draws

    with _room(db, slug) as (_, room):
        frame, seeds = room.ledger.frame, room.ledger.seeds
    found = draws.problems(frame.decisions, seeds, frame.poll.settings.draw)
    if found:
        hint = "" if frame.poll.state == "closed" else ": close the poll, which publishes it"
        raise typer.Exit(fail(f"{'; '.join(found)}{hint}.", 1))
    count = len(frame.decisions)
    sys.stdout.write(f"{count} {'decision' if count == 1 else 'decisions'}, all as drawn\n")


def _find(room: Room, name: str) -> Voter:
    """Return the voter of a name."""
    from fairduel._checks import one_of

    there = {v.name: v for v in room.ledger.frame.voters if v.state == "active"}
    return there[one_of("voter", name, there)]


def _print_links(room: Room, organiser: str, base_url: str, qr: bool) -> None:
    """Print all links of a poll; those of voters follow from the organiser's token."""
    from fairduel.serve.acts import derived

    base, frame = base_url.rstrip("/"), room.ledger.frame
    _print_link("organiser", f"{base}/o/{organiser}", qr)
    if frame.poll.join_hash is not None:
        _print_link("everybody", f"{base}/j/{derived(organiser, frame.poll.join_nonce)}", qr)
    for voter in frame.voters:
        if voter.state == "active":
            _print_link(voter.name, f"{base}/v/{derived(organiser, voter.nonce)}", qr)


def _print_link(name: str, link: str, qr: bool) -> None:
    sys.stdout.write(f"{name}: {link}\n")
    if qr:
        import segno

        segno.make(link, error="m").terminal(sys.stdout, compact=True)
