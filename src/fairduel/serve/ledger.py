"""A poll as its log tells it: what everybody was asked, what they said, and the sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.serve.records import Answer, Entry, Event, Frame, News, Question, Vote

LEAST_PEOPLE = 5  # below that a secret poll shows nothing
LEAST_NEWS = 5  # answers by which two views of a secret poll differ at least ...
LEAST_NEWS_PEOPLE = 3  # ... and people who gave them

Differences = dict[tuple[int, int], Answer | None]  # by voter and n: what was said before


@dataclass
class Sheet:
    """What one voter was asked and said; the n-th question stands at n - 1."""

    questions: list[Question] = field(default_factory=list)
    answers: list[Answer | None] = field(default_factory=list)
    decisions: list[int] = field(default_factory=list)  # how many there were when it was asked
    open: set[int] = field(default_factory=set)  # numbers of the questions without an answer
    counted: int = 0  # answers that add to the sums


@dataclass(frozen=True)
class View:
    """Sums at one moment. Voters and options are those who are there now, by position."""

    seq: int
    voters: tuple[int, ...]
    options: tuple[int, ...]
    wins: Floats  # (voters, options, options)
    plays: Ints  # (options, options): how often everybody was asked about the two, in a live poll

    @property
    def answers(self) -> Floats:
        """The number of answers of each voter."""
        counts: Floats = self.wins.sum(axis=(1, 2))
        return counts


class Ledger:
    """The state of a poll. It changes by lines of the log only, so a replay gives the same."""

    def __init__(self, frame: Frame, news: News) -> None:
        self.frame = frame
        self.seq = 0
        self.sheets: list[Sheet] = []
        self.wins = np.zeros((0, 0, 0))
        self.asked = np.zeros((0, 0), int)  # how often each pair was shown, to anybody
        self._released = np.zeros((0, 0, 0))  # the sums that a secret poll may show
        self._released_seq: int | None = None
        self._held: Differences = {}  # from those to the next that may be shown ...
        self._reserve: Differences = {}  # ... and from these to all: what closing will show
        self.seeds: list[str] = []  # published when the poll was closed
        self._decided = 0  # decisions so far ...
        self._settled = 0  # ... and when last a voter or an option came or went
        self._grow()
        self.apply(news)

    # The log

    def apply(self, news: News) -> None:
        """Follow the log."""
        if news.frame is not None:
            self.frame = news.frame
            self._grow()
        for seq, entry in news.entries:
            self._follow(seq, entry)
        self.seq = news.last_seq

    def _follow(self, seq: int, entry: Entry) -> None:
        if isinstance(entry, Vote):
            self._vote(seq, entry)
        elif isinstance(entry, Question):
            sheet = self.sheets[entry.voter]
            sheet.questions.append(entry)
            sheet.answers.append(None)
            sheet.decisions.append(self._decided)
            sheet.open.add(entry.n)
            self._count_asked(entry, 1)
        else:
            self._happen(seq, entry)

    def _happen(self, seq: int, event: Event) -> None:
        """Follow what the organiser did."""
        if event.kind == "decided":
            self._decided += 1
        elif event.kind in ("options", "option", "voter", "removed", "forgot"):
            self._settled = self._decided
        if event.kind == "forgot":
            self._forget(int(event.data["voter"]))
        if event.kind in ("removed", "forgot", "cleared", "option"):
            self._hide()
        if event.kind == "state" and event.data["state"] in ("paused", "closed"):
            self._release_all(seq)
        if "seed" in event.data:
            self.seeds.append(event.data["seed"])

    def _vote(self, seq: int, vote: Vote) -> None:
        """Replace an answer; the last one counts."""
        sheet = self.sheets[vote.voter]
        before = sheet.answers[vote.n - 1]
        after = None if vote.answer == "undo" else vote.answer
        sheet.answers[vote.n - 1] = after
        if after is None:
            sheet.open.add(vote.n)
        else:
            sheet.open.discard(vote.n)
        question = sheet.questions[vote.n - 1]
        sheet.counted += _add(self.wins[vote.voter], question, after, 1.0)
        sheet.counted -= _add(self.wins[vote.voter], question, before, -1.0)
        if self.frame.poll.secret:
            self._hold(seq, vote, before, after)

    def _hold(self, seq: int, vote: Vote, before: Answer | None, after: Answer | None) -> None:
        """Hold an answer back until enough others have come to hide it among them.

        As many are kept in reserve, so that the last ones can be shown when the poll is closed.
        """
        key = vote.voter, vote.n
        shown = self._reserve.setdefault(key, before)
        if _said(shown) == _said(after):
            del self._reserve[key]
        if _is_news(self._reserve):
            if self._held:
                self._release(seq, self._held, self._reserve)
            self._held, self._reserve = self._reserve, {}

    def _release(self, seq: int, differences: Differences, later: Differences) -> None:
        """Show the answers that differ, as they were before later ones."""
        for (voter, n), old in differences.items():
            sheet = self.sheets[voter]
            new = later[voter, n] if (voter, n) in later else sheet.answers[n - 1]
            _add(self._released[voter], sheet.questions[n - 1], old, -1.0)
            _add(self._released[voter], sheet.questions[n - 1], new, 1.0)
        self._released_seq = seq

    def _release_all(self, seq: int) -> None:
        """Show all answers, unless that would tell what few people have said since."""
        both = self._reserve | self._held
        now = {(voter, n): self.sheets[voter].answers[n - 1] for voter, n in both}
        changed = {key: old for key, old in both.items() if _said(old) != _said(now[key])}
        if _is_news(changed):
            self._release(seq, changed, {})
            self._held, self._reserve = {}, {}

    def _forget(self, voter: int) -> None:
        for question in self.sheets[voter].questions:
            self._count_asked(question, -1)
        self.sheets[voter] = Sheet()
        self.wins[voter] = 0.0

    def _hide(self) -> None:
        """Show nothing of a secret poll from which answers are taken, until others have come.

        They go with a voter, with an option, or when they are cleared; views before and after
        would tell what they were.
        """
        self._released = self.wins.copy()  # to be shown with the news that come from now on
        self._released_seq = None
        self._held, self._reserve = {}, {}

    def _count_asked(self, question: Question, by: int) -> None:
        self.asked[question.left, question.right] += by
        self.asked[question.right, question.left] += by

    def _grow(self) -> None:
        """Make room for new voters and options."""
        D, K = len(self.frame.voters), len(self.frame.options)
        self.sheets += [Sheet() for _ in range(D - len(self.sheets))]
        self.wins = _grown(self.wins, (D, K, K))
        self._released = _grown(self._released, (D, K, K))
        asked = np.zeros((K, K), int)
        asked[: len(self.asked), : len(self.asked)] = self.asked
        self.asked = asked

    # What it says

    @property
    def options(self) -> tuple[int, ...]:
        """The positions of the options that can be chosen."""
        return tuple(o.position for o in self.frame.options if o.state == "active")

    @property
    def voters(self) -> tuple[int, ...]:
        """The positions of the voters who are there."""
        return tuple(v.position for v in self.frame.voters if v.state == "active")

    @property
    def is_too_small(self) -> bool:
        """Whether the poll is secret, and has too few people to show anything of them."""
        return self.frame.poll.secret and len(self.voters) < LEAST_PEOPLE

    @property
    def voted(self) -> bool:
        """Whether anybody has been asked anything."""
        return any(sheet.questions for sheet in self.sheets)

    def waiting(self, voter: int) -> Iterator[Question]:
        """Yield the questions that wait for a voter's answer, and that still can be answered."""
        sheet, options = self.sheets[voter], self.frame.options
        for n in sorted(sheet.open):
            question = sheet.questions[n - 1]
            here = options[question.left].state == options[question.right].state == "active"
            if here and not self.is_cancelled(voter, n):
                yield question

    def decision_of(self, voter: int, n: int) -> int | None:
        """Return the number of the decision that a question of a live poll is about."""
        live = self.frame.poll.settings.live
        return self.sheets[voter].decisions[n - 1] if live else None

    def is_cancelled(self, voter: int, n: int) -> bool:
        """Return whether a question is about a decision that is cancelled."""
        number = self.decision_of(voter, n)
        return number is not None and self.frame.decisions[number - 1].cancelled_after is not None

    def last_answered(self, voter: int) -> int | None:
        """Return the last question whose answer can be taken back, and given anew; or skipped."""
        sheet, options = self.sheets[voter], self.frame.options
        for question in reversed(sheet.questions):
            there = options[question.left].state == options[question.right].state == "active"
            given = question.n not in sheet.open
            if there and given and not self.is_cancelled(voter, question.n):
                return question.n
        return None

    def current(self, voter: int) -> Question | None:
        """Return the first question that waits for a voter's answer."""
        return next(self.waiting(voter), None)

    def view(self) -> View:
        """Return the sums as they are now."""
        return self._view(self.seq, self.wins)

    def shown(self) -> View | None:
        """Return the sums that may be shown: in a secret poll old ones, or None."""
        if not self.frame.poll.secret:
            return self.view()
        if self._released_seq is None:
            return None
        view = self._view(self._released_seq, self._released)
        return view if np.count_nonzero(view.answers) >= LEAST_PEOPLE else None

    def blank(self) -> View:
        """Return sums without an answer, for the first decisions of a secret live poll."""
        return self._view(0, np.zeros_like(self.wins))

    def _view(self, seq: int, wins: Floats) -> View:
        voters, options = self.voters, self.options
        seen = wins[np.ix_(voters, options, options)]
        return View(seq, voters, options, seen, self._plays()[np.ix_(options, options)])

    def _plays(self) -> Ints:
        """Return how often all who are there now were asked about each pair by decisions.

        Decisions before anybody last came or went are rounds that asked nothing: who was not
        there is nobody who does not answer. So are those that were cancelled.
        """
        K, decisions = len(self.frame.options), self.frame.decisions[: self._decided]
        plays = np.zeros((K, K), np.int64)
        if not self.frame.poll.settings.live:
            return plays
        since = [d for d in decisions[self._settled :] if d.cancelled_after is None]
        for decision in since:
            plays[decision.options] += 1
        for k in self.options[:1]:
            plays[k, k] += len(decisions) - len(since)
        return plays


def _is_news(differences: Differences) -> bool:
    """Return whether enough answers of enough people differ to hide each of them."""
    people = {voter for voter, _ in differences}
    return len(differences) >= LEAST_NEWS and len(people) >= LEAST_NEWS_PEOPLE


def _add(wins: Floats, question: Question, answer: Answer | None, times: float) -> bool:
    """Add an answer to a voter's sums; return whether it is one that counts. A tie is half each."""
    left, right = question.left, question.right
    if answer == "left":
        wins[left, right] += times
    elif answer == "right":
        wins[right, left] += times
    elif answer == "tie":
        wins[left, right] += times / 2
        wins[right, left] += times / 2
    else:
        return False
    return True


def _said(answer: Answer | None) -> Answer | None:
    """Return an answer that counts; a skipped question says as little as an open one."""
    return None if answer == "skip" else answer


def _grown(array: Floats, shape: tuple[int, int, int]) -> Floats:
    grown = np.zeros(shape)
    grown[tuple(slice(n) for n in array.shape)] = array
    return grown
