"""What a poll consists of, as plain values; storages keep these and nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Answer = Literal["left", "right", "tie", "skip", "undo"]
ANSWERS = ("left", "right", "tie", "skip")
"""What a voter may say; "undo" takes an answer back."""


@dataclass(frozen=True)
class Settings:
    """How a poll is run.

    welfare: a name. repeats: whether a pair may come twice to a voter. mode: "poll" if voters
    answer on their own and a decision is one option, "live" if a decision is two options, which
    all voters then compare, as in the rounds of the paper.
    """

    welfare: str = "nash"
    repeats: bool = False
    draw: Literal["even", "independent"] = "even"
    show_result: bool = True
    mode: Literal["poll", "live"] = "poll"

    @property
    def live(self) -> bool:
        """Whether decisions are what people are asked about."""
        return self.mode == "live"

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON data."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Poll:
    """A poll. ``seed`` is the secret that its draws come from; tokens are kept as hashes only."""

    id: int
    slug: str
    title: str
    prompt: str
    state: str  # draft, open, paused or closed
    secret: bool
    settings: Settings
    seed: str
    organiser_hash: str
    join_hash: str | None
    join_nonce: str
    last_seq: int
    created_at: float


@dataclass(frozen=True)
class Option:
    """One thing that can be chosen; positions are never used again."""

    position: int
    name: str
    state: str = "active"  # or retired


@dataclass(frozen=True)
class Voter:
    """A person with a link. Nothing is left of somebody forgotten but the position."""

    position: int
    name: str
    token_hash: str | None
    state: str = "active"  # removed or forgotten
    nonce: str = ""  # what the organiser's token turns into this voter's; "" if it does not


class Question(NamedTuple):
    """The n-th pair that a voter was shown; options by position."""

    voter: int
    n: int
    left: int
    right: int


class Vote(NamedTuple):
    """An answer to a question. The last one to a question counts."""

    voter: int
    n: int
    answer: Answer


@dataclass(frozen=True)
class Event:
    """What the organiser did, or a voter who joined."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


Entry = Question | Vote | Event
"""A line of a poll's log. Each has a number; the order is that of the numbers, never of clocks."""


class Drawn(NamedTuple):
    """An option that was drawn, and all that the draw followed from."""

    option: int
    policy: tuple[tuple[int, float], ...]  # by position of option
    draw: str  # the hexadecimal digits that chance gave


@dataclass(frozen=True)
class Decision:
    """What was drawn: one option, or two in a live poll."""

    number: int
    sides: tuple[Drawn, ...]
    commitment: str  # SHA-256 of the seed
    after_seq: int
    at: float
    cancelled_after: int | None = None
    """The last number when this was cancelled: later draws do not count it, earlier ones do."""
    note: str = ""

    @property
    def options(self) -> tuple[int, ...]:
        """The positions of the options that were drawn."""
        return tuple(side.option for side in self.sides)


@dataclass(frozen=True)
class Frame:
    """All of a poll but its questions and votes."""

    poll: Poll
    options: tuple[Option, ...]
    voters: tuple[Voter, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Change:
    """What an act adds to a poll: lines of the log, and rows that are new or replaced.

    ``forget`` is a voter whose questions and votes are deleted.
    """

    entries: tuple[Entry, ...] = ()
    poll: Mapping[str, Any] = field(default_factory=dict)  # fields with new values
    options: tuple[Option, ...] = ()
    voters: tuple[Voter, ...] = ()
    decisions: tuple[Decision, ...] = ()
    forget: int | None = None

    @property
    def frames(self) -> bool:
        """Whether more than questions and votes change."""
        return any(isinstance(entry, Event) for entry in self.entries)


@dataclass(frozen=True)
class News:
    """The lines of a log after some number, and the rest of the poll if an event is among them."""

    last_seq: int
    entries: tuple[tuple[int, Entry], ...]
    frame: Frame | None = None
