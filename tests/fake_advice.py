"""A learner for tests of the service: quick, and a pure function of the sums."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.welfare import Nash
from fairduel.welfare.welfare import Welfare


@dataclass(frozen=True)
class FakeAdvice:
    policy: Floats
    worth: Floats
    utilities: Floats
    low: Floats
    high: Floats
    favourites: Ints
    share: float = 0.9
    share_low: float = 0.8
    share_high: float = 0.95
    ten_more: float = 0.02


def advise(wins: Floats, *, welfare: Welfare | None = None, seed: int = 0) -> FakeAdvice:
    """Shares in proportion to wins; a pair is worth the more the less a voter has said of it."""
    assert isinstance(welfare or Nash(), Welfare)
    answers = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=(0, 2)) + 1.0
    policy = won / won.sum()
    own = (wins.sum(axis=2) + 1.0) / (answers.sum(axis=2) + 2.0)
    utilities = own @ policy
    silent = ~answers.any(axis=(1, 2))
    favourites: Any = np.where(silent, -1, own.argmax(axis=1))
    return FakeAdvice(
        policy=policy,
        worth=1.0 / (1.0 + answers) + policy[:, None] * policy[None, :],
        utilities=utilities,
        low=utilities - 0.1,
        high=utilities + 0.1,
        favourites=favourites,
    )
