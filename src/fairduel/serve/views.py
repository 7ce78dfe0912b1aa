"""What is shown of a poll, for the API and the pages alike. Secret polls show no individual."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fairduel.serve import draws
from fairduel.serve.advisor import Advice
from fairduel.serve.ledger import Ledger, View
from fairduel.serve.records import Answer, Question
from fairduel.serve.service import Room

PER_OPTION = 1.5  # answers of each voter, beyond which little is gained
LEAST_POINTS = 0.005  # what ten more answers must add to be worth asking for


@dataclass(frozen=True)
class Share:
    """An option with its part of the policy, None if it is too early, and what it was served."""

    position: int
    name: str
    share: float | None
    due: float
    served: int


@dataclass(frozen=True)
class Gain:
    """What a voter gets: the chance of something they like as much as their favourite."""

    value: float
    low: float
    high: float
    favourite: str | None


@dataclass(frozen=True)
class Person:
    """A voter, with the number of answers and what they get, as far as that may be shown.

    skipped: how often they could not say, which is no answer.
    """

    position: int
    name: str
    answers: int | None
    skipped: int | None
    gain: Gain | None


@dataclass(frozen=True)
class Standing:
    """How a poll stands: by all answers, or in a secret poll by those that may be shown.

    missing: about how many more answers are worth asking for; 0 in a secret poll, where the number
    would tell when somebody votes.
    """

    seq: int
    answers: int
    answering: int
    invited: int
    early: bool
    shares: tuple[Share, ...]
    people: tuple[Person, ...]
    kept: tuple[float, float, float] | None
    ten_more: float | None
    missing: int
    decisions: int
    computing: bool  # whether the shares are still to come

    @property
    def ranked(self) -> list[Share]:
        """The options, that with the largest share first."""
        return sorted(self.shares, key=lambda option: -(option.share or 0.0))


@dataclass(frozen=True)
class Progress:
    """How far a voter has come: answers, and about how many there should be."""

    answered: int
    target: int

    @property
    def left(self) -> int:
        """About how many answers are left."""
        return max(0, self.target - self.answered)


def progress(ledger: Ledger, voter: int) -> Progress:
    """Return how far a voter has come; skipped questions count as well."""
    K = len(ledger.options)
    sheet = ledger.sheets[voter]
    said = len(sheet.questions) - len(sheet.open)
    if ledger.frame.poll.settings.live:
        return Progress(said, said + sum(1 for _ in ledger.waiting(voter)))
    return Progress(said, min(round(PER_OPTION * K), K * (K - 1) // 2))


def standing(room: Room, *, anyway: bool = False) -> Standing:
    """Return how a poll stands. anyway: show shares although it is too early for them."""
    with room.lock:
        ledger, known = room.ledger, room.desk.shown
        view, frame = ledger.shown(), ledger.frame
        counts = dict(zip(view.voters, view.answers.tolist(), strict=True)) if view else {}
        early = _is_early(counts, len(ledger.options))
        lacking = known is None or set(known.view.options) != set(ledger.options)
        wanted = view is not None and (anyway or not early)
        show = wanted and not lacking
        policy = known.policy if known is not None and show else {}
        shares = _shares(ledger, policy)
        gains = _gains(room) if show and not frame.poll.secret else {}
        people = tuple(
            Person(
                voter.position,
                voter.name,
                None if frame.poll.secret else int(counts.get(voter.position, 0)),
                None if frame.poll.secret else ledger.sheets[voter.position].answers.count("skip"),
                gains.get(voter.position),
            )
            for voter in frame.voters
            if voter.state == "active"
        )
        advice = known.advice if known is not None and show else None
        return Standing(
            seq=view.seq if view else 0,
            answers=int(sum(counts.values())),
            answering=sum(count > 0 for count in counts.values()),
            invited=len(people),
            early=early,
            shares=shares,
            people=people,
            kept=None if advice is None else (advice.share, advice.share_low, advice.share_high),
            ten_more=None if advice is None else advice.ten_more,
            missing=0 if frame.poll.secret else _missing(ledger, advice),
            decisions=len(frame.decisions),
            computing=wanted and lacking,
        )


def gain(room: Room, voter: int) -> Gain | None:
    """Return what one voter gets; None if they have said nothing, or it is too early.

    None as well if the organiser shows no result, or could read it by the voter's link.
    """
    with room.lock:
        hidden = not room.ledger.frame.poll.settings.show_result or known_link(room.ledger, voter)
    if hidden or standing(room).early:
        return None
    with room.lock:
        return _gains(room).get(voter)


def known_link(ledger: Ledger, voter: int) -> bool:
    """Return whether a poll is secret, but the organiser knows a voter's link.

    Such a link shows nothing that the voter has said: the organiser could look as well.
    """
    return ledger.frame.poll.secret and ledger.frame.voters[voter].nonce != ""


def answers(ledger: Ledger, voter: int) -> list[tuple[Question, Answer]]:
    """Return what a voter was asked and said, in order."""
    sheet = ledger.sheets[voter]
    pairs = zip(sheet.questions, sheet.answers, strict=True)
    return [(question, answer) for question, answer in pairs if answer is not None]


COLUMNS = ("user", "left", "right", "winner")


def votes(ledger: Ledger) -> Iterator[tuple[str, str, str, str]]:
    """Yield the answers that count: who, between what, and "left", "right" or "tie"."""
    names = {k: ledger.frame.options[k].name for k in ledger.options}
    for voter in ledger.voters:
        for question, answer in answers(ledger, voter):
            if answer != "skip" and {question.left, question.right} <= set(names):
                who = ledger.frame.voters[voter].name
                yield who, names[question.left], names[question.right], answer


def votes_csv(ledger: Ledger) -> str:
    """Return the answers that count, as a table that ``fairduel.data.read_votes`` reads."""
    out = io.StringIO()
    rows = (map(_as_text, vote) for vote in votes(ledger))
    csv.writer(out, lineterminator="\n").writerows([COLUMNS, *rows])
    return out.getvalue()


def _as_text(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula; different names stay different."""
    return f"'{name}" if name.lstrip("'").startswith(("=", "+", "-", "@")) else name


def votes_json(ledger: Ledger) -> str:
    """Return the same as JSON, a record for each answer."""
    records = [dict(zip(COLUMNS, vote, strict=True)) for vote in votes(ledger)]
    return json.dumps(records, ensure_ascii=False, indent=1) + "\n"


def session_json(view: View, ledger: Ledger) -> bytes:
    """Return a file of ``fairduel.Session`` that goes on from the votes. This takes time."""
    from fairduel.learners import FairVOI
    from fairduel.live import Session
    from fairduel.welfare.registry import by_name

    welfare = by_name()[ledger.frame.poll.settings.welfare]()
    users = [ledger.frame.voters[voter].name for voter in view.voters]
    arms = [ledger.frame.options[option].name for option in view.options]
    learner = FairVOI(welfare, anytime=True)
    session = Session.from_votes(users, arms, view.wins, learner=learner, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.json"
        session.save(path)
        return path.read_bytes()


def _is_early(counts: Mapping[int, float], options: int) -> bool:
    """Return whether half the people have not answered, or not about every option, in the median.

    The median is of those who answer: some never do.
    """
    answering = [count for count in counts.values() if count > 0]
    return 2 * len(answering) <= len(counts) or median(answering) < options - 1


def _missing(ledger: Ledger, advice: Advice | None) -> int:
    """Return what the pages of all voters say is left; 0 if the learner says that it is enough."""
    if advice is not None and advice.ten_more < LEAST_POINTS:
        return 0
    return sum(progress(ledger, voter).left for voter in ledger.voters)


def _shares(ledger: Ledger, policy: Mapping[int, float]) -> tuple[Share, ...]:
    """Return the options, with what they are due and were served so far."""
    past = ledger.frame.decisions
    counted = [d for d in past if d.cancelled_after is None]
    none = dict.fromkeys(ledger.options, 0.0)
    sides = range(2 if ledger.frame.poll.settings.live else 1)
    owed = [draws.due(none, past, len(past) + 1, side) for side in sides]
    served = {k: sum(d.options.count(k) for d in counted) for k in ledger.options}
    return tuple(
        Share(
            option.position,
            option.name,
            policy.get(option.position),
            sum(side[option.position] for side in owed) + served[option.position],
            served[option.position],
        )
        for option in ledger.frame.options
        if option.state == "active"
    )


def _gains(room: Room) -> dict[int, Gain]:
    """Return what each voter with answers gets, by position."""
    known = room.desk.shown
    if known is None:
        return {}
    advice, options = known.advice, room.ledger.frame.options
    gains = {}
    for d, voter in enumerate(known.view.voters):
        if known.view.wins[d].any():
            best = int(advice.favourites[d])
            favourite = None if best < 0 else options[known.view.options[best]].name
            gains[voter] = Gain(
                float(advice.utilities[d]), float(advice.low[d]), float(advice.high[d]), favourite
            )
    return gains
