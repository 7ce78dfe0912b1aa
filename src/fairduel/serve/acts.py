"""What voters and organisers may do: functions from a ledger to what is to be written.

An act changes nothing itself. One that is not allowed raises ``Refused`` with one sentence.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import hmac
import itertools
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from fairduel._arrays import Floats
from fairduel._checks import one_of
from fairduel._names import check_names, comparable
from fairduel.errors import InputError
from fairduel.serve import draws
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import (
    ANSWERS,
    Answer,
    Change,
    Decision,
    Event,
    Frame,
    Option,
    Poll,
    Question,
    Settings,
    Vote,
    Voter,
)

MOST_OPTIONS = 50
MOST_VOTERS = 500
LONGEST = 120  # characters of a name
STATES = {  # where each state may lead
    "draft": ("open",),
    "open": ("paused", "closed"),
    "paused": ("open", "closed"),
    "closed": ("open",),
}


class Refused(InputError):
    """An act that is not allowed. ``status`` is its HTTP status.

    template: one sentence with the values in braces, by which other languages find their own.
    """

    def __init__(self, template: str, status: int = 409, **values: object) -> None:
        super().__init__(template.format(**values))
        self.template = template
        self.values = values
        self.status = status


def hashed(token: str) -> str:
    """Return what is stored of a token. It is random enough to need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """Return 128 random bits for an address."""
    return secrets.token_urlsafe(16)


def derived(organiser: str, nonce: str) -> str:
    """Return the token that an organiser's token and a nonce make.

    So the organiser's pages can show all links again, and the database has no token in it.
    """
    digest = hmac.new(organiser.encode(), nonce.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()


# Making a poll


def new_poll(
    title: str,
    options: Sequence[str],
    voters: Sequence[str] = (),
    *,
    prompt: str = "",
    secret: bool = False,
    settings: Settings | None = None,
    organiser: str,
    join: bool = False,
    opened: bool = False,
) -> Frame:
    """Return a poll in which nobody has voted.

    organiser: the token that the tokens of its voters follow from. join: whether there is one
    link for everybody. opened: whether people can vote from the start.
    """
    from fairduel.welfare.registry import by_name

    settings = settings or Settings()
    try:
        one_of("welfare", settings.welfare, by_name())
        one_of("mode", settings.mode, ("poll", "live"))
    except InputError as error:
        raise Refused("{reason}", 422, reason=error) from error
    _check_text("the title", title)
    if prompt:
        _check_text("the question", prompt, 4 * LONGEST)
    options, voters = _options(options), _voters(voters)
    if opened and len(options) < 2:
        raise Refused("a poll needs two options at least: give more.", 422)
    nonce = new_token()
    poll = Poll(
        id=secrets.randbits(48),
        slug=_slug(title),
        title=title,
        prompt=prompt,
        state="open" if opened else "draft",
        secret=secret,
        settings=settings,
        seed=draws.new_seed(),
        organiser_hash=hashed(organiser),
        join_hash=hashed(derived(organiser, nonce)) if join else None,
        join_nonce=nonce,
        last_seq=0,
        created_at=time.time(),
    )
    return Frame(
        poll,
        tuple(Option(k, name) for k, name in enumerate(options)),
        tuple(_invited(d, name, organiser) for d, name in enumerate(voters)),
        (),
    )


def _invited(position: int, name: str, organiser: str) -> Voter:
    nonce = new_token()
    return Voter(position, name, hashed(derived(organiser, nonce)), nonce=nonce)


# Voting


def ask(ledger: Ledger, voter: int, worth: Floats | None = None) -> Change:
    """Give a voter a question if none waits. worth: of the answer on each pair of options."""
    _check_voter(ledger, voter)
    poll = ledger.frame.poll
    if poll.settings.live or poll.state != "open" or ledger.current(voter) is not None:
        return Change()
    question = _next_question(ledger, voter, worth)
    return Change() if question is None else Change((question,))


def answer(ledger: Ledger, voter: int, n: int, said: str, worth: Floats | None = None) -> Change:
    """Answer the n-th question of a voter, and give them the next if no other waits.

    The same answer again changes nothing, another one takes its place.
    """
    if said not in ANSWERS:
        raise Refused("{said!r} is no answer: say left, right, tie or skip.", 422, said=said)
    question = _answerable(ledger, voter, n)
    if ledger.sheets[voter].answers[n - 1] == said:
        return Change()
    states = {ledger.frame.options[k].state for k in (question.left, question.right)}
    if states != {"active"}:
        raise Refused("one of the two options has been taken out: answer the next question.")
    if n in ledger.sheets[voter].open and ledger.is_cancelled(voter, n):
        raise Refused("the decision has been cancelled: there is nothing to answer about it.")
    vote = Vote(voter, n, cast(Answer, said))
    live = ledger.frame.poll.settings.live
    if live or any(other.n != n for other in ledger.waiting(voter)):
        return Change((vote,))
    following = _next_question(ledger, voter, worth)
    return Change((vote,) if following is None else (vote, following))


def undo(ledger: Ledger, voter: int, n: int) -> Change:
    """Take an answer back. The question waits again."""
    _answerable(ledger, voter, n)
    if ledger.sheets[voter].answers[n - 1] is None:
        return Change()
    if ledger.is_cancelled(voter, n):  # it could not be given again
        raise Refused("the decision has been cancelled: there is nothing to answer about it.")
    return Change((Vote(voter, n, "undo"),))


def _answerable(ledger: Ledger, voter: int, n: int) -> Question:
    _check_voter(ledger, voter)
    state = ledger.frame.poll.state
    if state != "open":
        raise Refused("the poll is {state}: answers count while it is open.", state=state)
    questions = ledger.sheets[voter].questions
    if not 1 <= n <= len(questions):
        raise Refused("there is no question {n} for you: ask for the next one.", 404, n=n)
    return questions[n - 1]


def _next_question(ledger: Ledger, voter: int, worth: Floats | None) -> Question | None:
    """Return the pair whose answer is worth most, else the one that was shown least."""
    pairs = _askable(ledger, voter)
    if not pairs:
        return None
    left, right = np.array(pairs).T
    n = len(ledger.sheets[voter].questions) + 1
    rng = np.random.default_rng([ledger.frame.poll.id, voter, n])
    values = np.zeros(len(pairs)) if worth is None else worth[left, right]
    best = np.lexsort((rng.random(len(pairs)), ledger.asked[left, right], -values))[0]
    return _question(voter, n, pairs[best], rng)


def _question(voter: int, n: int, pair: Sequence[int], rng: np.random.Generator) -> Question:
    """Return a question about a pair, with its sides by chance: some people like the left one."""
    left, right = pair if rng.random() < 0.5 else pair[::-1]
    return Question(voter, n, left, right)


def _askable(ledger: Ledger, voter: int) -> list[tuple[int, int]]:
    """Return the pairs that a voter may be asked: with repeats, all but the last one."""
    asked = ledger.sheets[voter].questions
    if ledger.frame.poll.settings.repeats:
        asked = asked[-1:] if len(ledger.options) > 2 else []
    seen = {frozenset((question.left, question.right)) for question in asked}
    return [p for p in itertools.combinations(ledger.options, 2) if frozenset(p) not in seen]


def _check_voter(ledger: Ledger, voter: int) -> None:
    if ledger.frame.voters[voter].state != "active":
        raise Refused("you are no longer a voter of this poll: ask its organiser.", 403)


# Organising


def set_state(ledger: Ledger, state: str) -> Change:
    """Open, pause or close a poll. Closing publishes the seed, so reopening makes a new one."""
    poll = ledger.frame.poll
    if state == poll.state:
        return Change()
    if state not in STATES[poll.state]:
        allowed = " or ".join(STATES[poll.state])
        raise Refused(
            "the poll is {now} and cannot become {state}: it may be {allowed}.",
            now=poll.state,
            state=state,
            allowed=allowed,
        )
    if state == "open" and len(ledger.options) < 2:
        raise Refused("the poll has fewer than two options: add some before it opens.")
    fields: dict[str, Any] = {"state": state}
    data: dict[str, Any] = {"state": state}
    if state == "closed":
        data["seed"] = poll.seed
    elif poll.state == "closed":
        fields["seed"] = draws.new_seed()
    return Change((Event("state", data),), poll=fields)


def describe(ledger: Ledger, title: str | None = None, prompt: str | None = None) -> Change:
    """Change the title or the question; not once anybody has been asked."""
    fields = {"title": title, "prompt": prompt}
    news = {name: text for name, text in fields.items() if text is not None}
    if "title" in news:
        _check_text("the title", news["title"])
    if news.get("prompt"):
        _check_text("the question", news["prompt"], 4 * LONGEST)
    _check_unasked(ledger)
    return Change((Event("described", news),), poll=news)


def add_options(ledger: Ledger, names: Sequence[str]) -> Change:
    """Add options to a poll, which may be running."""
    old = ledger.frame.options
    _check_running(ledger)
    _options([*(option.name for option in old), *names])
    added = tuple(Option(len(old) + k, name) for k, name in enumerate(names))
    return Change((Event("options", {"added": [o.position for o in added]}),), options=added)


def rename_option(ledger: Ledger, position: int, name: str) -> Change:
    """Rename an option, before anybody has been asked."""
    option = _option(ledger, position)
    _check_unasked(ledger)
    _options([name if o.position == position else o.name for o in ledger.frame.options])
    renamed = dataclasses.replace(option, name=name)
    return Change((Event("renamed", {"option": position}),), options=(renamed,))


def set_option(ledger: Ledger, position: int, state: str) -> Change:
    """Retire an option, or take it back."""
    option = _option(ledger, position)
    _check_running(ledger)
    if state not in ("active", "retired"):
        raise Refused(
            "{state!r} is no state of an option: say active or retired.", 422, state=state
        )
    if option.state == state:
        return Change()
    if state == "retired" and len(ledger.options) <= 2:
        raise Refused("two options have to stay: add another before you take this one out.")
    changed = dataclasses.replace(option, state=state)
    return Change((Event("option", {"option": position, "state": state}),), options=(changed,))


def add_voter(ledger: Ledger, name: str, token: str, nonce: str = "") -> Change:
    """Add a voter; without a nonce one who has come by the link for everybody."""
    old = ledger.frame.voters
    _check_running(ledger)
    there = [voter.name for voter in old if voter.state == "active"]
    if not nonce and comparable(name) in map(comparable, there):
        raise Refused(
            "the name {name!r} is taken: if it is yours, ask the organiser for your link, else "
            "add a surname.",
            422,
            name=name,
        )
    _voters([*there, name])
    if len(old) >= MOST_VOTERS:
        raise Refused(
            "the poll has {most} voters, and that is as many as it can have.", most=MOST_VOTERS
        )
    added = Voter(len(old), name, hashed(token), nonce=nonce)
    return Change((Event("voter", {"added": added.position}),), voters=(added,))


def reissue(ledger: Ledger, voter: int, token: str, nonce: str) -> Change:
    """Give a voter a new link. The old one opens nothing from now on.

    With a nonce, since whoever makes the link knows it, and a secret poll has to know that.
    """
    changed = dataclasses.replace(_voter(ledger, voter), token_hash=hashed(token), nonce=nonce)
    return Change((Event("reissued", {"voter": voter}),), voters=(changed,))


def new_links(ledger: Ledger, organiser: str) -> Change:
    """Make all links anew from another token of the organiser. The old ones open nothing."""
    poll, nonce = ledger.frame.poll, new_token()
    fields: dict[str, Any] = {"organiser_hash": hashed(organiser)}
    if poll.join_hash is not None:
        fields |= {"join_hash": hashed(derived(organiser, nonce)), "join_nonce": nonce}
    there = [voter for voter in ledger.frame.voters if voter.state == "active"]
    voters = tuple(_invited(voter.position, voter.name, organiser) for voter in there)
    return Change((Event("links"),), poll=fields, voters=voters)


def set_join(ledger: Ledger, token: str | None, nonce: str = "") -> Change:
    """Set a new link for everybody, or take it away."""
    fields = {"join_hash": None if token is None else hashed(token), "join_nonce": nonce}
    return Change((Event("join", {"open": token is not None}),), poll=fields)


def remove(ledger: Ledger, voter: int) -> Change:
    """Take a voter out, whose answers count no more."""
    gone = dataclasses.replace(_voter(ledger, voter), state="removed", token_hash=None)
    return Change((Event("removed", {"voter": voter}),), voters=(gone,))


def clear(ledger: Ledger, voter: int) -> Change:
    """Take all answers of a voter back. The questions wait again."""
    _voter(ledger, voter)
    _check_running(ledger)
    said = enumerate(ledger.sheets[voter].answers, 1)
    undone = tuple(Vote(voter, n, "undo") for n, answer in said if answer is not None)
    return Change((*undone, Event("cleared", {"voter": voter}))) if undone else Change()


def forget(ledger: Ledger, voter: int) -> Change:
    """Delete a voter's name, link, questions and answers."""
    if not 0 <= voter < len(ledger.frame.voters):
        raise Refused("there is no voter {voter}.", 404, voter=voter)
    if ledger.frame.voters[voter].state == "forgotten":
        return Change()
    gone = Voter(voter, "", None, "forgotten")
    return Change((Event("forgot", {"voter": voter}),), voters=(gone,), forget=voter)


def decide(
    ledger: Ledger, number: int, policies: Sequence[Mapping[int, float]], after_seq: int
) -> Change:
    """Draw a decision from a policy; in a live poll from two, and ask everybody about the pair.

    The number must be the next, so none is drawn twice.
    """
    poll, past = ledger.frame.poll, ledger.frame.decisions
    if 1 <= number <= len(past):
        return Change()  # drawn before
    if number != len(past) + 1:
        raise Refused(
            "the next decision has number {next}: draw that one.",
            next=len(past) + 1,
        )
    if poll.state not in ("open", "paused"):
        raise Refused(
            "the poll is {state}: decisions are drawn while it is open or paused.",
            state=poll.state,
        )
    if any(set(policy) != set(ledger.options) for policy in policies):
        raise Refused("the options have just changed: decide again.", 503)
    decision = Decision(
        number=number,
        sides=draws.decide(policies, past, poll.seed, poll.settings.draw),
        commitment=draws.commitment(poll.seed),
        after_seq=after_seq,
        at=time.time(),
    )
    asked = _asked_of_all(ledger, decision) if poll.settings.live else ()
    return Change((Event("decided", {"number": number}), *asked), decisions=(decision,))


def _asked_of_all(ledger: Ledger, decision: Decision) -> tuple[Question, ...]:
    """Return everybody's question about the options of a decision, if they are two."""
    if len(set(decision.options)) < 2:
        return ()
    asked = []
    for voter in ledger.voters:
        n = len(ledger.sheets[voter].questions) + 1
        rng = np.random.default_rng([ledger.frame.poll.id, voter, n])
        asked.append(_question(voter, n, decision.options, rng))
    return tuple(asked)


def cancel(ledger: Ledger, number: int, reason: str) -> Change:
    """Cancel a decision. It stays visible, with the reason."""
    past = ledger.frame.decisions
    if not 1 <= number <= len(past):
        raise Refused("there is no decision {number}.", 404, number=number)
    _check_running(ledger)
    _check_text("the reason", reason, 4 * LONGEST)
    if past[number - 1].cancelled_after is not None:
        return Change()
    cancelled = dataclasses.replace(past[number - 1], cancelled_after=len(past), note=reason)
    return Change((Event("cancelled", {"number": number}),), decisions=(cancelled,))


# Checks


def _option(ledger: Ledger, position: int) -> Option:
    if not 0 <= position < len(ledger.frame.options):
        raise Refused("there is no option {option}.", 404, option=position)
    return ledger.frame.options[position]


def _voter(ledger: Ledger, position: int) -> Voter:
    voters = ledger.frame.voters
    if not 0 <= position < len(voters) or voters[position].state != "active":
        raise Refused("there is no voter {voter}.", 404, voter=position)
    return voters[position]


def _check_running(ledger: Ledger) -> None:
    if ledger.frame.poll.state == "closed":
        raise Refused("the poll is closed: open it again first.")


def _check_unasked(ledger: Ledger) -> None:
    if ledger.voted:
        raise Refused("people have been asked already, so the words stay as they are.")


def _options(names: Sequence[str]) -> tuple[str, ...]:
    return _names("option", names, MOST_OPTIONS) if names else ()


def _voters(names: Sequence[str]) -> tuple[str, ...]:
    return _names("voter", names, MOST_VOTERS) if names else ()


def _names(kind: str, names: Sequence[str], most: int) -> tuple[str, ...]:
    if len(names) > most:
        raise Refused(
            "{count} {kind}s are too many: give at most {most}.",
            422,
            count=len(names),
            kind=kind,
            most=most,
        )
    seen = set()
    for number, name in enumerate(names, 1):
        # Who joins is not told how many others there are.
        _check_text(f"the name of option {number}" if kind == "option" else "the name", name)
        if comparable(name) in seen:
            raise Refused(
                "the name {name!r} is taken: give every {kind} one of its own.",
                422,
                name=name,
                kind=kind,
            )
        seen.add(comparable(name))
    return tuple(names)


def _check_text(what: str, text: str, most: int = LONGEST) -> None:
    """Check a text that is shown as one line."""
    if len(text) > most:
        raise Refused(
            "{what} has {count} characters: give at most {most}.",
            422,
            what=what,
            count=len(text),
            most=most,
        )
    if not comparable(text):
        raise Refused("{what} is empty: write something.", 422, what=what)
    try:
        check_names("text", [text])
    except InputError as error:
        raise Refused(
            "{what} is {text!r}, with a blank at its ends or a letter that cannot be seen: leave "
            "that out.",
            422,
            what=what,
            text=text,
        ) from error


def _slug(title: str) -> str:
    """Return a name for addresses: the title's plain letters, and chance enough to be the only."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in title.lower())
    words = "-".join(filter(None, plain.split("-")))[:30].strip("-")
    return "-".join(filter(None, (words or "poll", secrets.token_hex(3))))
