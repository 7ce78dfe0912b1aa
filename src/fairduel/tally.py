"""What has been played and answered so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of duels and answers. Tallies can be added, in any order.

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
        """The number of duels played."""
        return int(self.plays.sum())

    @property
    def answers(self) -> Floats:
        """``answers[d, i, j]``: the number of duels of i and j that user d answered."""
        return self.wins + self.wins.transpose(0, 2, 1)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.plays + other.plays, self.wins + other.wins)
