"""Which questions would teach most next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairduel.data import Ballots
from fairduel.live.advice import advise
from fairduel.welfare import Welfare

MOST_USERS = 250  # the product of more utilities may be too small for a number
LARGEST = 5_000  # users times options: what takes two seconds
MOST = 10  # questions


@dataclass(frozen=True)
class Question:
    """Whom to ask about which two options; ``worth``: of the best welfare, what it should add."""

    user: str
    left: str
    right: str
    worth: float


def next_questions(ballots: Ballots, welfare: Welfare, scoring: str) -> tuple[Question, ...]:
    """Return each user's most telling question, and of these the best first.

    None for stated orders, which leave nothing to ask, and for very many users.
    """
    users, options = ballots.users, ballots.options
    many = len(users) > MOST_USERS or len(users) * len(options) > LARGEST
    if ballots.kind == "orders" or many:
        return ()
    worth = advise(ballots.wins(), welfare=welfare, scoring=scoring).worth
    best = worth.reshape(len(users), -1).argmax(axis=1)
    gains = worth.reshape(len(users), -1).max(axis=1)
    found = []
    for d in np.argsort(-gains, kind="stable")[:MOST].tolist():
        left, right = divmod(int(best[d]), len(options))
        found.append(Question(users[d], options[left], options[right], float(gains[d])))
    return tuple(question for question in found if question.worth > 0.0)
