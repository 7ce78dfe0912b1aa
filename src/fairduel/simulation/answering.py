"""How surely and how soon users answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel._checks import number_within, whole_number
from fairduel.errors import InputError

MOST_DELAY = 10**15  # as many as there can be rounds


@dataclass(frozen=True)
class Answering:
    """Settings of who answers when.

    answers: how likely a user is to answer a duel, independently of everything else; one number
    for all users, or one for each. delay: how many rounds later answers come: those of round t are
    heard after round t + delay.
    """

    answers: float | Sequence[float] = 1.0
    delay: int = 0

    def __post_init__(self) -> None:
        rule = "from 0 to 1"
        if np.ndim(self.answers) == 1:
            several = np.asarray(self.answers).tolist()
            each = [number_within(f"answers[{d}]", p, rule, 0, 1) for d, p in enumerate(several)]
            object.__setattr__(self, "answers", tuple(each))
        else:
            object.__setattr__(self, "answers", number_within("answers", self.answers, rule, 0, 1))
        object.__setattr__(self, "delay", whole_number("delay", self.delay, 0, MOST_DELAY))

    def __str__(self) -> str:
        several = isinstance(self.answers, tuple)
        likely = "/".join(f"{p:g}" for p in np.atleast_1d(self.answers).tolist())
        return f"{likely}{' by user' if several else ''}, {self.delay} rounds later"

    def rates(self, users: int) -> Floats:
        """Return how likely each of the users is to answer, (D,)."""
        if isinstance(self.answers, tuple) and len(self.answers) != users:
            raise InputError(
                f"answers has {len(self.answers)} probabilities for {users} users: give one for "
                "each, or one number for all."
            )
        return np.broadcast_to(np.asarray(self.answers, np.float64), users)

    @property
    def prompt(self) -> bool:
        """Whether everybody answers every duel at once."""
        return self.delay == 0 and bool(np.all(np.asarray(self.answers) == 1.0))


EVERYBODY_AT_ONCE = Answering()
