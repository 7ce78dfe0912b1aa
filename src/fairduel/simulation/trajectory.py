"""What happened in a simulation, read off at checkpoints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError
from fairduel.simulation import metrics


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Cumulative figures after ``rounds[c]`` rounds.

    earned: (C,) Nash welfare of the policies played, the average of both sides, summed.
    utilities: (C, D) scores of the arms that were really drawn, the average of both sides, summed
    (Section 5.1). best: the highest Nash welfare of any policy. phases: how many rounds went into
    what ("identify", "explore", "exploit"). policy: what the learner recommends at the end.
    without_winner: users who have no Condorcet winner, if the instance allows them; their scores
    are relative to the arm that ``Instance`` documents.
    """

    rounds: Ints
    earned: Floats
    utilities: Floats
    best: float
    phases: dict[str, int]
    policy: Floats
    without_winner: tuple[str, ...] = ()

    @property
    def regret(self) -> Floats:
        """Cumulative regret (Eq. 5)."""
        return self.best * self.rounds - self.earned

    @property
    def nash_welfare(self) -> Floats:
        """Geometric mean of the users' utilities."""
        return metrics.nash_welfare(self.utilities)

    @property
    def minimum_welfare(self) -> Floats:
        """Utility of the worst-off user."""
        return metrics.minimum_welfare(self.utilities)

    @property
    def utilitarian_welfare(self) -> Floats:
        """Mean utility."""
        return metrics.utilitarian_welfare(self.utilities)

    @property
    def gini(self) -> Floats:
        """Inequality of the utilities: 0 is equal."""
        return metrics.gini(self.utilities)


def linear_checkpoints(rounds: int, count: int = 100) -> Ints:
    """At most ``count`` rounds, evenly spaced, ending with the last."""
    _check_counts(rounds, count)
    return _distinct(np.linspace(rounds / count, rounds, count))


def logarithmic_checkpoints(rounds: int, count: int = 100) -> Ints:
    """At most ``count`` rounds, evenly spaced on a log axis from the first to the last."""
    _check_counts(rounds, count)
    return _distinct(np.geomspace(rounds if count == 1 else 1, rounds, count))


def check_checkpoints(checkpoints: Ints | int, rounds: int) -> Ints:
    """Rounds to read off at: given, or so many evenly spaced. The last round is always one."""
    if isinstance(checkpoints, int | np.integer):
        if checkpoints < 1:
            raise InputError(f"{checkpoints} checkpoints are asked for: ask for at least 1.")
        return linear_checkpoints(rounds, int(checkpoints))
    marks = np.unique(np.asarray(checkpoints))
    whole = marks.dtype.kind in "iu"
    if not whole or len(marks) == 0 or marks[0] < 1 or marks[-1] > rounds:
        raise InputError(f"checkpoints must be whole numbers of rounds, from 1 to {rounds}.")
    marks = marks.astype(np.int64)
    return marks if marks[-1] == rounds else np.append(marks, rounds)


def _check_counts(rounds: int, count: int) -> None:
    if rounds < 1 or count < 1:
        raise InputError(f"{count} checkpoints of {rounds} rounds are asked for: use 1 or more.")


def _distinct(rounds: Floats) -> Ints:
    return np.unique(np.maximum(1, np.rint(rounds).astype(np.int64)))
