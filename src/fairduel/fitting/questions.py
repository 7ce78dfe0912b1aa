"""Which questions would teach most next."""

from __future__ import annotations

from dataclasses import dataclass

from fairduel.data import Ballots
from fairduel.welfare import Welfare


@dataclass(frozen=True)
class Question:
    """Whom to ask about which two options, and what the answer is worth."""

    user: str
    left: str
    right: str
    worth: float


def next_questions(ballots: Ballots, welfare: Welfare) -> tuple[Question, ...]:
    """Return the questions whose answers are worth most, the best first."""
    return ()
