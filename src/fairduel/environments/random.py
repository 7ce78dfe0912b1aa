"""Random preferences with a Condorcet winner for every user (Section 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import Seed, number_within, random_generator, whole_number
from fairduel.environments.environment import Environment, generator
from fairduel.instance import Instance

JUST_ABOVE_HALF = float(np.nextafter(0.5, 1.0))


@dataclass(frozen=True)
class Random(Environment):
    """A new ``random_instance`` for every run."""

    users: int = 10
    arms: int = 10
    gap: float = 0.1

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        return random_instance(self.users, self.arms, self.gap, generator(run, seed))


def random_instance(users: int, arms: int, gap: float = 0.1, seed: Seed = 0) -> Instance:
    """Draw preferences in which every user has a Condorcet winner (Section 5.1).

    Each user's winner is drawn uniformly; it beats each other arm with probability uniform on
    [1/2 + gap, 1]. Two arms that are not the winner have a probability uniform on [0, 1], moved
    out to 1/2 - gap or 1/2 + gap where it is nearer to 1/2 than that.
    """
    users, arms, gap = whole_number("users", users), whole_number("arms", arms), check_gap(gap)
    rng = random_generator(seed)
    tensor = np.empty((users, arms, arms))
    for d in range(users):
        winner = int(rng.integers(0, arms))
        tensor[d] = random_user(rng, arms, winner, gap)
    return Instance(tensor)


def random_user(rng: np.random.Generator, arms: int, winner: int, gap: float) -> Floats:
    """Draw a user, one number per pair i < j, row by row: the paper's order, to the bit."""
    first, second = np.triu_indices(arms, 1)
    draw = rng.random(len(first))
    upper = _keep_gap(draw, gap)
    won, lost = first == winner, second == winner
    upper[won] = winning(0.5 + gap + (0.5 - gap) * draw[won])
    upper[lost] = np.minimum((0.5 - gap) * draw[lost], 1.0 - JUST_ABOVE_HALF)
    matrix = np.full((arms, arms), 0.5)
    matrix[first, second] = upper
    matrix[second, first] = 1.0 - upper
    return matrix


def _keep_gap(probability: Floats, gap: float) -> Floats:
    """Move probabilities within the gap of 1/2 out to its edge; 1/2 itself goes down."""
    high, low = 0.5 + gap, 0.5 - gap
    moved = np.where((probability > 0.5) & (probability < high), high, probability)
    return np.where((probability <= 0.5) & (probability > low), low, moved)


def winning(probability: float | Floats) -> Floats:
    """Keep a probability above 1/2, even if the gap is too small for floating point."""
    return np.maximum(probability, JUST_ABOVE_HALF)


def set_row(matrix: Floats, arm: int, against: int | Ints, row: float | Floats) -> None:
    """Set P[arm, against], and the reverse with it."""
    matrix[arm, against] = row
    matrix[against, arm] = 1.0 - np.asarray(row)


def check_gap(value: float) -> float:
    return number_within("gap", value, "from 0 to below 0.5", 0.0, math.nextafter(0.5, 0.0))
