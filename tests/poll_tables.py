"""Polls for tests, and a way to act on a ledger without a database."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TypeVar

from fairduel.serve import acts
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change, Entry, Frame, News, Settings

T = TypeVar("T")
OPTIONS = ("curry", "pizza", "soup", "salad")
PEOPLE = ("ann", "bob", "cem")


def frame(
    options: Sequence[str] = OPTIONS,
    people: Sequence[str] = PEOPLE,
    *,
    secret: bool = False,
    settings: Settings | None = None,
    id: int | None = None,
    state: str = "open",
) -> Frame:
    """A poll that is open."""
    made = acts.new_poll(
        "Lunch",
        options,
        people,
        secret=secret,
        settings=settings,
        organiser=acts.new_token(),
    )
    poll = dataclasses.replace(made.poll, state=state)
    if id is not None:
        poll = dataclasses.replace(poll, id=id)
    return dataclasses.replace(made, poll=poll)


class Table:
    """A ledger that is told what a storage would tell it, with the whole log beside."""

    def __init__(self, frame: Frame) -> None:
        self.first = frame
        self.ledger = Ledger(frame, News(0, ()))
        self.log: list[tuple[int, Entry]] = []

    def write(self, change: Change) -> None:
        seq = self.ledger.seq
        entries = tuple(enumerate(change.entries, seq + 1))
        if change.forget is not None:
            self.log = [
                line for line in self.log if getattr(line[1], "voter", None) != change.forget
            ]
        self.log += entries
        framed = self._framed(change) if change.frames else None
        self.ledger.apply(News(seq + len(entries), entries, framed))

    def _framed(self, change: Change) -> Frame:
        old = self.ledger.frame
        return Frame(
            dataclasses.replace(old.poll, **change.poll),
            _merged(old.options, change.options, "position"),
            _merged(old.voters, change.voters, "position"),
            _merged(old.decisions, change.decisions, "number"),
        )

    def replayed(self) -> Ledger:
        """The same poll from its log alone, as after a restart."""
        return Ledger(self.ledger.frame, News(self.ledger.seq, tuple(self.log)))


def _merged(old: Iterable[T], new: Iterable[T], key: str) -> tuple[T, ...]:
    rows = {getattr(row, key): row for row in old} | {getattr(row, key): row for row in new}
    return tuple(rows[place] for place in sorted(rows))
