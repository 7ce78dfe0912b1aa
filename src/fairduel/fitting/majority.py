"""The majority's single choice, which a fair choice is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats

WORSE = 1e-9  # utilities that differ by less are the same


@dataclass(frozen=True, eq=False)
class Majority:
    """The option that a majority chooses, and what every user gets if it is all there is.

    option: its name. beats_all: whether more than half of the users, by weight, prefer it to every
    other option; otherwise it is the one that the largest share prefers in its worst comparison.
    utilities: (D,).
    """

    option: str
    beats_all: bool
    utilities: Floats


def majority_choice(
    options: tuple[str, ...], prefer: Floats, scores: Floats, weights: Floats
) -> Majority:
    """Return the option that most prefer to every other, ``prefer[i, j]`` preferring i to j.

    Where two are alike in that, it is the one of the higher mean score.
    """
    rivals = prefer + np.diag(np.full(len(options), np.inf))
    worst = rivals.min(axis=1).round(12)  # sums of the same shares may differ in the last digit
    best = int(np.lexsort((-(weights @ scores), -worst))[0])
    return Majority(options[best], bool(worst[best] > 0.5), scores[:, best].copy())
