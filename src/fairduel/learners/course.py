"""The best policy after each of many answered duels, most of which change little or nothing."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.welfare import Welfare

_SCORES = 30_000  # held at once: what a processor keeps near
_PATIENCE = 16  # policies to solve for, before one is expected to last again


class AgainstWinners:
    """Counts of duels with each user's winner, for the paper's scores.

    winners: (D,); won, heard: (D, K) duels of each arm with each user's winner that came before,
    those the arm won and all of them.
    """

    def __init__(self, winners: Ints, won: Floats, heard: Floats) -> None:
        self._winners, self._won, self._heard = winners, won.copy(), heard.copy()
        self.size = won.size

    def scores(self, pairs: Ints, answers: Floats) -> Floats:
        """Return scores (n + 1, D, K) before and after each of n answered duels; count them."""
        from fairduel.kernels import course

        return course.running_scores(self._won, self._heard, self._winners, pairs, answers)

    def lasting(self, welfare: Welfare, policy: Floats, pairs: Ints, answers: Floats) -> int | None:
        """Return for how many answered duels the policy stays best, and count these; if known."""
        return welfare.stays_best(policy, self._won, self._heard, self._winners, pairs, answers)


class AllPairs:
    """Counts of all duels, for Borda scores.

    wins: (D, K, K).
    """

    def __init__(self, wins: Floats) -> None:
        self._wins = wins.copy()
        self.size = wins.shape[0] * wins.shape[1]

    def scores(self, pairs: Ints, answers: Floats) -> Floats:
        """Return scores (n + 1, D, K) before and after each of n answered duels; count them."""
        from fairduel.kernels import course

        return course.running_borda(self._wins, pairs, answers)

    def lasting(self, welfare: Welfare, policy: Floats, pairs: Ints, answers: Floats) -> int | None:
        """Return None: each duel changes all of a user's scores, so there is no shortcut."""
        return None


Counts: TypeAlias = AgainstWinners | AllPairs


class Course:
    """Step b comes after b answered duels. It has the policy of the last solution by then.

    counts: what came before; pairs: (n, 2) and answers: (n, D) as in ``Script``; policy: that of
    step 0; due: the first step to solve for, at least 1; every: how many steps lie between
    solutions from there.

    Solving begins from the previous policy and returns it where it is still best to the
    solver's tolerance. Some welfares find that out more cheaply than by solving, from what a duel
    changes (``Welfare.stays_best``), so where a policy lasts nothing is solved.
    """

    def __init__(
        self,
        welfare: Welfare,
        counts: Counts,
        pairs: Ints,
        answers: Floats,
        policy: Floats,
        due: int,
        every: int,
    ) -> None:
        self._welfare = welfare
        self._counts = counts
        self._pairs = np.ascontiguousarray(pairs)
        self._answers = np.ascontiguousarray(answers)
        self._policies = np.empty((len(pairs) + 1, len(policy)))
        self._policies[0] = policy
        self._known = 1  # steps whose policies are there
        self._at = 0  # the step that the counts are of
        self._due, self._every = due, every

    def policies(self) -> Floats:
        """Return the policy of every step, (n + 1, K)."""
        steps, at_once = len(self._policies), max(1, _SCORES // self._counts.size)
        patience = _PATIENCE
        while self._known < steps:
            lasted = self._keep()
            if lasted is None:
                patience = steps
            else:
                patience = _PATIENCE if lasted >= patience else 2 * patience
            end = min(self._known + patience, steps)
            while self._known < end:
                self._solve(min(self._known + at_once, end))
        return self._policies

    def _keep(self) -> int | None:
        """Keep to the last policy while it is best; return for how many steps, if that is known."""
        if self._every != 1 or self._due != self._known:
            return None
        policy = self._policies[self._at]
        lasted = self._counts.lasting(
            self._welfare, policy, self._pairs[self._at :], self._answers[self._at :]
        )
        if lasted is not None:
            self._policies[self._known : self._at + lasted] = policy
            self._known = self._due = self._at + lasted
            self._at = min(self._known, len(self._pairs))
        return lasted

    def _solve(self, end: int) -> None:
        """Maximise where it is due, for the steps before ``end``."""
        scores = self._counts.scores(
            self._pairs[self._at : end - 1], self._answers[self._at : end - 1]
        )
        last = self._policies[self._known - 1]
        found = self._welfare.follow(scores[self._due - self._at :: self._every], last)
        self._policies[self._known : self._due] = last
        self._policies[self._due : end] = np.repeat(found, self._every, axis=0)[: end - self._due]
        self._due += self._every * len(found)
        self._known, self._at = end, end - 1
