"""What programs send and receive; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fairduel.serve.acts import LONGEST, MOST_OPTIONS, MOST_VOTERS

Name = Annotated[str, Field(max_length=LONGEST)]


class Given(BaseModel):
    """What somebody sends: nothing but the fields that are known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewPoll(Given):
    """A poll to be made. join: whether there is one link for everybody.

    mode: "poll" if voters answer on their own and a decision is one option, "live" if it is two
    options, which all voters then compare.
    """

    title: Name
    prompt: Annotated[str, Field(max_length=4 * LONGEST)] = ""
    options: Annotated[list[Name], Field(max_length=MOST_OPTIONS)]
    voters: Annotated[list[Name], Field(max_length=MOST_VOTERS)] = []
    join: bool = False
    secret: bool = False
    welfare: str = "nash"
    repeats: bool = False
    draw: Literal["even", "independent"] = "even"
    show_result: bool = True
    mode: Literal["poll", "live"] = "poll"
    open: bool = False


class PollChange(Given):
    """What to change of a poll; one of these."""

    title: Name | None = None
    prompt: Annotated[str, Field(max_length=4 * LONGEST)] | None = None
    state: Literal["open", "paused", "closed"] | None = None


class NewOptions(Given):
    """Options to be added."""

    names: Annotated[list[Name], Field(min_length=1, max_length=MOST_OPTIONS)]


class OptionChange(Given):
    """What to change of an option."""

    name: Name | None = None
    state: Literal["active", "retired"] | None = None


class NewVoter(Given):
    """A voter to be added."""

    name: Name


class VoterChange(Given):
    """Take a voter out; the answers count no more."""

    state: Literal["removed"]


class Said(Given):
    """An answer to a question."""

    answer: Literal["left", "right", "tie", "skip"]


class Cancelled(Given):
    """Why a decision is cancelled."""

    reason: Annotated[str, Field(max_length=4 * LONGEST)]


class Problem(BaseModel):
    """What is wrong, in one sentence (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class OptionOut(BaseModel):
    """An option."""

    position: int
    name: str
    state: Literal["active", "retired"]


class PollOut(BaseModel):
    """A poll. commitment: SHA-256 of the seed of its draws; seeds: those published."""

    slug: str
    title: str
    prompt: str
    state: Literal["draft", "open", "paused", "closed"]
    secret: bool
    welfare: str
    repeats: bool
    draw: Literal["even", "independent"]
    show_result: bool
    mode: Literal["poll", "live"]
    options: list[OptionOut]
    voters: int
    decisions: int
    commitment: str
    seeds: list[str]
    last_seq: int


class Link(BaseModel):
    """A link to hand out. It is shown once: only its hash is kept."""

    token: str
    link: str


class VoterLink(Link):
    """A voter's link."""

    position: int
    name: str


class MadePoll(BaseModel):
    """A new poll with all its links."""

    poll: PollOut
    organiser: Link
    join: Link | None
    voters: list[VoterLink]


class GainOut(BaseModel):
    """What somebody gets, with a 95 % interval."""

    value: float
    low: float
    high: float
    favourite: str | None


class VoterOut(BaseModel):
    """A voter; in a secret poll no more than the name.

    hasty: how many answers came less than 0.7 seconds after the one before.
    """

    position: int
    name: str
    answers: int | None
    hasty: int | None
    gain: GainOut | None


class QuestionOut(BaseModel):
    """The n-th question of a voter."""

    n: int
    left: OptionOut
    right: OptionOut


class Next(BaseModel):
    """The question that waits, None if there is none; and how far the voter has come."""

    question: QuestionOut | None
    state: Literal["draft", "open", "paused", "closed"]
    answered: int
    target: int
    undo: int | None


class MyAnswer(BaseModel):
    """An own answer, None if it is not shown."""

    n: int
    left: str
    right: str
    answer: Literal["left", "right", "tie", "skip"] | None


class MyVote(BaseModel):
    """An own answer as it was sent, perhaps to be changed or taken back later."""

    n: int
    answer: Literal["left", "right", "tie", "skip", "undo"]
    at: float


class Mine(BaseModel):
    """All that is kept of a voter, and what they get. log: empty if answers are not shown.

    gain: null if it is too early to say, if it has not been computed yet since the server was
    started, or if it is not shown to this voter.
    """

    name: str
    answers: list[MyAnswer]
    log: list[MyVote]
    gain: GainOut | None


class ShareOut(BaseModel):
    """An option's share of the policy; what it is due from decisions, and how often it came."""

    position: int
    name: str
    share: float | None
    due: float
    served: int


class PolicyOut(BaseModel):
    """The present policy. kept: the share of the best welfare it is expected to keep.

    missing: about how many more answers are worth asking for; 0 in a secret poll.
    """

    seq: int
    answers: int
    answering: int
    invited: int
    early: bool
    shares: list[ShareOut]
    kept: float | None
    kept_low: float | None
    kept_high: float | None
    ten_more: float | None
    missing: int


class DrawnOut(BaseModel):
    """An option that was drawn, with the policy and the digits that it follows from."""

    option: OptionOut
    policy: dict[int, float]
    draw: str


class DecisionOut(BaseModel):
    """A decision: one option, or two in a live poll."""

    number: int
    drawn: list[DrawnOut]
    commitment: str
    after_seq: int
    cancelled_after: int | None
    note: str
    at: float


class VoteOut(BaseModel):
    """A line of the log."""

    seq: int
    voter: int
    n: int
    answer: Literal["left", "right", "tie", "skip", "undo"]
    at: float


class VoteRecord(BaseModel):
    """An answer that counts."""

    user: str
    left: str
    right: str
    winner: Literal["left", "right", "tie"]


class VotePage(BaseModel):
    """Lines of the log; ``after`` is where to go on, None at the end."""

    votes: list[VoteOut]
    after: int | None


class Health(BaseModel):
    """Whether the server works."""

    status: Literal["ok"]
