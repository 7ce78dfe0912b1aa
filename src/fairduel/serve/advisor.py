"""The learner beside the votes: policies and questions are computed in threads of their own.

A vote never waits for it. Each poll has at most one computation at a time, from a copy of the
sums, and rests three times as long as the last one took, so the learner has a quarter of a core
at most, however many votes come in.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.serve.ledger import Ledger, View
from fairduel.serve.records import Settings

_LOG = logging.getLogger("fairduel.serve")
WORKERS = 2
REST = 3.0  # times as long as the last computation took
TICK = 0.02  # seconds


@dataclass(frozen=True)
class Advice:
    """What the learner says of sums of D voters and K options.

    policy: (K,) shares. worth: (D, K, K) what a voter's answer on a pair is worth; symmetric.
    utilities, low, high: (D,) what voters get, and an interval of 95 %. favourites: (D,) the
    options they like best, -1 where unknown. share, share_low, share_high: how much of the best
    welfare the policy is expected to keep. ten_more: what ten more answers of each would add.
    sides: the policies that a decision is drawn from, one for each of its options.
    """

    policy: Floats
    worth: Floats
    utilities: Floats
    low: Floats
    high: Floats
    favourites: Ints
    share: float
    share_low: float
    share_high: float
    ten_more: float
    sides: tuple[Floats, ...]


Advise = Callable[..., Advice]
"""It takes ``wins``, and by name ``welfare``, and ``plays`` of a live poll's duels, else None."""


@dataclass(frozen=True)
class Known:
    """Advice on a view of the sums."""

    view: View
    advice: Advice

    @property
    def policy(self) -> dict[int, float]:
        """The share of each option, by position."""
        return self._by_position(self.advice.policy)

    @property
    def sides(self) -> tuple[dict[int, float], ...]:
        """The policies that a decision is drawn from, by position of option."""
        return tuple(self._by_position(side) for side in self.advice.sides)

    def _by_position(self, policy: Floats) -> dict[int, float]:
        return dict(zip(self.view.options, policy.tolist(), strict=True))

    def worth(self, voter: int, options: int) -> Floats | None:
        """Return what a voter's answer on each pair is worth; None for one who came later."""
        row = self._rows.get(voter)
        if row is None:
            return None
        table = np.zeros((options, options))
        table[self._places] = self.advice.worth[row]
        return table

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {voter: row for row, voter in enumerate(self.view.voters)}

    @cached_property
    def _places(self) -> tuple[Any, ...]:
        return np.ix_(self.view.options, self.view.options)


@dataclass
class Desk:
    """What is known of one poll, and when to look at it again."""

    ledger: Ledger
    lock: threading.Lock
    current: Known | None = None  # by all answers, for the next questions
    shown: Known | None = None  # by those that may be shown
    seq: int = -1  # the last number that was looked at
    busy: bool = False
    rests_until: float = 0.0
    computing: threading.Lock = field(default_factory=threading.Lock)


class Advisor:
    """Threads that keep the advice on all polls fresh."""

    def __init__(self, advise: Advise, told: Callable[[str], None] = lambda slug: None) -> None:
        self._advise = advise
        self._told = told  # is called with the poll whose advice is new
        self._desks: dict[str, Desk] = {}
        self._pool = ThreadPoolExecutor(WORKERS, "fairduel-advice")
        self._stopped = threading.Event()
        self._clock = threading.Thread(target=self._tick, name="fairduel-clock", daemon=True)

    def start(self) -> None:
        """Begin to compute."""
        self._clock.start()

    def stop(self) -> None:
        """End; a computation that runs is forgotten when it is finished."""
        self._stopped.set()
        if self._clock.is_alive():
            self._clock.join()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def watch(self, ledger: Ledger, lock: threading.Lock) -> Desk:
        """Keep the advice on a poll fresh. lock: is held while the ledger changes."""
        desk = Desk(ledger, lock)
        self._desks[ledger.frame.poll.slug] = desk
        return desk

    def drop(self, slug: str) -> None:
        """Leave a poll alone."""
        self._desks.pop(slug, None)

    def compute(self, desk: Desk) -> Known | None:
        """Return the advice that may be shown, by all that is known now. This takes time.

        One at a time, or an older one that takes longer would replace a newer one.
        """
        with desk.computing:
            return self._compute(desk)

    def _compute(self, desk: Desk) -> Known | None:
        with desk.lock:
            ledger = desk.ledger
            view, shown, poll = ledger.view(), ledger.shown(), ledger.frame.poll
            desk.seq = ledger.seq
        current = desk.current
        if not _same(current, view):
            current = self._known(view, poll.settings)
        public = desk.shown
        if shown is None:
            public = None
        elif not poll.secret:
            public = current
        elif not _same(public, shown):
            public = self._known(shown, poll.settings)
        desk.current, desk.shown = current, public
        return public

    def compute_blank(self, desk: Desk) -> Known | None:
        """Return the advice on no answers at all."""
        with desk.lock:
            blank, poll = desk.ledger.blank(), desk.ledger.frame.poll
        return self._known(blank, poll.settings)

    def _known(self, view: View, settings: Settings) -> Known | None:
        if len(view.options) < 2 or not view.voters:
            return None
        from fairduel.welfare.registry import by_name

        welfare = by_name()[settings.welfare]()
        plays = view.plays if settings.live else None
        return Known(view, self._advise(view.wins, welfare=welfare, plays=plays))

    def _tick(self) -> None:
        while not self._stopped.wait(TICK):
            for slug, desk in list(self._desks.items()):
                rested = time.monotonic() >= desk.rests_until
                if rested and not desk.busy and desk.seq != desk.ledger.seq:
                    desk.busy = True
                    self._pool.submit(self._refresh, slug, desk)

    def _refresh(self, slug: str, desk: Desk) -> None:
        began = time.monotonic()
        try:
            self.compute(desk)
            self._told(slug)
        except Exception:  # voters go on with what was known before
            _LOG.exception("no advice on poll %s", slug)
        finally:
            ended = time.monotonic()
            desk.rests_until = ended + REST * (ended - began)
            desk.busy = False


def _same(known: Known | None, view: View) -> bool:
    if known is None:
        return False
    seen = known.view
    return (seen.seq, seen.voters, seen.options, seen.plays.tolist()) == (
        view.seq,
        view.voters,
        view.options,
        view.plays.tolist(),
    )
