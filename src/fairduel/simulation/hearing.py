"""What a learner hears of the duels that were played, and when."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.offers import Play, Script, next_part
from fairduel.simulation.responses import Responses
from fairduel.tally import Tally

AT_ONCE = 10**8  # rounds that are listened to: numpy splits up to ten times as many


@dataclass(frozen=True, eq=False)
class Asked:
    """Duels that were played for their answers: pairs (n, 2), and counts (C, n) by stretch.

    in_order: whether the duels of a stretch were played in the order listed; otherwise all orders
    are equally likely.
    """

    pairs: Ints
    counts: Ints
    in_order: bool


class Prompt:
    """Everybody answers every duel at once, so that offers are played whole."""

    def __init__(self, responses: Responses, users: int, arms: int) -> None:
        self._responses, self._users, self._arms = responses, users, arms

    def part(self, offer: Play) -> tuple[Play, int]:
        """Return what to play of an offer, and for how many rounds at most."""
        return offer, offer.rounds

    def hear(self, asked: Asked | None, rounds: int) -> Floats:
        """Return the wins (D, K, K) that are heard by the end of these ``rounds``."""
        wins = Tally.empty(self._users, self._arms).wins
        if asked is not None:
            counts = asked.counts.sum(axis=0)
            add_answers(wins, asked.pairs, counts, self._responses.answers(asked.pairs, counts))
        return wins


class Patient:
    """Answers are missing, or come ``delay`` rounds later.

    An offer that is listened to promises that nothing heard meanwhile changes it, so it is played
    whole, and so is any other while no answers are under way. Otherwise the learner is asked anew
    whenever it may have heard something, as in a live session; within a script that is after
    every duel. Answers depend on nothing but the pair, so they are drawn when they are heard.
    """

    def __init__(self, responses: Responses, users: int, arms: int, delay: int) -> None:
        self._responses, self._users, self._arms = responses, users, arms
        self._delay = delay
        self._played = 0
        self._under_way: deque[_Batch] = deque()

    def part(self, offer: Play) -> tuple[Play, int]:
        """Return what to play of an offer, and for how many rounds at most."""
        if isinstance(offer, Script):
            offer = next_part(offer, self._users)
        most = offer.rounds
        if offer.listen:
            most = min(most, AT_ONCE)
        elif self._under_way:
            most = min(most, self._under_way[0].before + 1 + self._delay - self._played)
        return offer, most

    def hear(self, asked: Asked | None, rounds: int) -> Floats:
        """Return the wins (D, K, K) that are heard by the end of these ``rounds``."""
        if asked is not None:
            before = self._played
            for counts in asked.counts:
                self._under_way.append(_Batch(before, asked.pairs, counts, asked.in_order))
                before += int(counts.sum())
        self._played += rounds
        answered = self._played - self._delay  # the last round whose answers are there
        wins = Tally.empty(self._users, self._arms).wins
        while self._under_way and self._under_way[0].before < answered:
            batch = self._under_way.popleft()
            counts = self._first(batch, answered - batch.before)
            later = batch.counts - counts
            if later.any():
                self._under_way.appendleft(replace(batch, before=answered, counts=later))
            left, right = self._responses.some_answers(batch.pairs, counts)
            add_some_answers(wins, batch.pairs, left, right)
        return wins

    def _first(self, batch: _Batch, rounds: int) -> Ints:
        """Return how often each pair was played in the first rounds of a batch."""
        if rounds >= batch.counts.sum():
            return batch.counts
        if batch.in_order:
            ends = batch.counts.cumsum()
            return np.clip(rounds - (ends - batch.counts), 0, batch.counts)
        return self._responses.earliest(batch.counts, rounds)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Duels whose answers are under way, ``counts`` (n,) of each pair, after ``before`` rounds."""

    before: int
    pairs: Ints
    counts: Ints
    in_order: bool


def add_answers(wins: Floats, pairs: Ints, counts: Ints, left: Floats) -> None:
    """Add the answers of everybody to ``counts`` duels: (n, D) those for the left arm."""
    from fairduel.kernels import sampling

    sampling.count_answers(wins, np.ascontiguousarray(pairs), counts, np.ascontiguousarray(left))


def add_some_answers(wins: Floats, pairs: Ints, left: Floats, right: Floats) -> None:
    """Add answers (n, D) for the left and for the right arm; one against itself tells nothing."""
    telling = pairs[:, 0] != pairs[:, 1]
    i, j = pairs[telling].T
    by_pair = wins.transpose(1, 2, 0)
    np.add.at(by_pair, (i, j), left[telling])
    np.add.at(by_pair, (j, i), right[telling])
