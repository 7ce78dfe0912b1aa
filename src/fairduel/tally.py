"""What has been played and answered so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of duels and answers; tallies add up, and it does not matter in which order.

    ``plays[i, j]`` is how often arm i was shown on the left of arm j; ``wins[d, i, j]`` how often
    user d preferred i to j, whichever side it was on. A tie is half a win each; a missing answer
    is nothing. A duel counts in ``plays`` when it is issued and in ``wins`` when it is answered,
    so answers may come late, in part, or never.
    """

    plays: Ints
    wins: Floats

    @classmethod
    def empty(cls, users: int, arms: int) -> Tally:
        return cls(np.zeros((arms, arms), np.int64), np.zeros((users, arms, arms)))

    @property
    def rounds(self) -> int:
        """How many duels were played."""
        return int(self.plays.sum())

    @property
    def answers(self) -> Floats:
        """``answers[d, i, j]``: how many duels of i and j user d has answered, either way round."""
        return self.wins + self.wins.transpose(0, 2, 1)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.plays + other.plays, self.wins + other.wins)
