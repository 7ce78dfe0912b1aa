"""A learner for tests of the service: quick, and a pure function of the sums."""

from typing import Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.serve.advisor import Advice
from fairduel.welfare import Nash
from fairduel.welfare.welfare import Welfare


def advise(wins: Floats, *, welfare: Welfare | None = None, plays: Ints | None = None) -> Advice:
    """Shares in proportion to wins; a pair is worth the more the less a voter has said of it."""
    assert isinstance(welfare or Nash(), Welfare)
    answers = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=(0, 2)) + 1.0
    policy = won / won.sum()
    own = (wins.sum(axis=2) + 1.0) / (answers.sum(axis=2) + 2.0)
    utilities = own @ policy
    silent = ~answers.any(axis=(1, 2))
    favourites: Any = np.where(silent, -1, own.argmax(axis=1))
    return Advice(
        policy=policy,
        worth=1.0 / (1.0 + answers) + policy[:, None] * policy[None, :],
        utilities=utilities,
        low=utilities - 0.1,
        high=utilities + 0.1,
        favourites=favourites,
        share=0.9,
        share_low=0.8,
        share_high=0.95,
        ten_more=0.02,
        sides=(policy,) if plays is None else (policy, np.full(len(policy), 1.0 / len(policy))),
    )
