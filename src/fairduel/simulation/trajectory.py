"""What happened in a simulation, read off at checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError
from fairduel.simulation import metrics

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure


MOST_CHECKPOINTS = 10**6


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Cumulative results after ``checkpoints[c]`` rounds.

    earned: (C,) welfare of the policies played, the average of both sides, summed.
    utilities: (C, D) scores of the arms actually drawn, the average of both sides, summed
    (Section 5.1). best: the highest welfare of any policy. phases: the number of rounds in
    each phase ("identify", "explore", "exploit"). policy: what the learner recommends at the end.
    without_winner: users who have no Condorcet winner, if the instance allows them; their scores
    are relative to the arm that ``Instance`` documents.
    """

    checkpoints: Ints
    earned: Floats
    utilities: Floats
    best: float
    phases: dict[str, int]
    policy: Floats
    without_winner: tuple[str, ...] = ()

    @property
    def rounds(self) -> int:
        """The number of rounds played."""
        return int(self.checkpoints[-1])

    @property
    def regret(self) -> Floats:
        """Cumulative regret (Eq. 5)."""
        return self.best * self.checkpoints - self.earned

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

    def plot(self) -> Figure:
        """Draw the regret over time, and each user's mean utility per round; for notebooks."""
        from matplotlib import pyplot
        from matplotlib.ticker import MaxNLocator

        figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        pyplot.close(figure)  # a notebook shows what a cell returns, and would show it twice
        left.plot(np.append(0, self.checkpoints), np.append(0.0, self.regret))
        left.set(title="Cumulative regret", xlabel="rounds", xlim=(0, self.rounds))
        left.set_ylim(bottom=0)
        left.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        left.xaxis.set_major_formatter("{x:,.10g}")
        right.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
        shares = self.utilities[-1] / self.rounds
        right.bar(np.arange(1, len(shares) + 1), shares)
        right.set(title="What each user gets: mean utility a round", xlabel="user", ylim=(0, 1))
        return figure

    def __repr__(self) -> str:
        return (
            f"Trajectory({self.rounds:,} rounds, regret {self.regret[-1]:,.4g}, "
            f"Nash welfare {self.nash_welfare[-1]:,.6g})"
        )


def linear_checkpoints(rounds: int, count: int = 100) -> Ints:
    """Return at most ``count`` rounds, evenly spaced, ending with the last."""
    _check_counts(rounds, count)
    return _distinct(np.linspace(rounds / count, rounds, count))


def logarithmic_checkpoints(rounds: int, count: int = 100) -> Ints:
    """Return at most ``count`` rounds, evenly spaced on a log axis from the first to the last."""
    _check_counts(rounds, count)
    return _distinct(np.geomspace(rounds if count == 1 else 1, rounds, count))


def check_checkpoints(checkpoints: Ints | int, rounds: int) -> Ints:
    """Return the rounds to read off at, evenly spaced if a number; the last is always one."""
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
    if count > MOST_CHECKPOINTS:
        raise InputError(
            f"{count} checkpoints are asked for: ask for {MOST_CHECKPOINTS:,} at most."
        )
    if rounds < 1 or count < 1:
        raise InputError(f"{count} checkpoints of {rounds} rounds are asked for: use 1 or more.")


def _distinct(rounds: Floats) -> Ints:
    return np.unique(np.maximum(1, np.rint(rounds).astype(np.int64)))
