"""What the users of an instance answer, drawn many rounds at once and exact in law."""

from __future__ import annotations

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.instance import Instance


class Responses:
    """A source of answers by the users of an instance, and of arms drawn from policies.

    rates: (D,) how likely each user is to answer a duel; default: certain to.
    """

    def __init__(
        self, instance: Instance, rng: np.random.Generator, rates: Floats | None = None
    ) -> None:
        self._preferences = instance.preferences
        self._rates = np.ones(len(instance.users)) if rates is None else rates
        self._rng = rng

    def answers(self, pairs: Ints, counts: Ints) -> Floats:
        """Draw how often each user prefers the left arm: (n, D) ~ Binomial(count, P[d, i, j]).

        Here everybody answers, whatever the rates.
        """
        from fairduel.kernels import sampling

        if (counts == 1).all():  # single tosses are faster than binomials
            return sampling.toss(self._rng, self._preferences, np.ascontiguousarray(pairs))
        chances = self._preferences[:, pairs[:, 0], pairs[:, 1]].T
        return self._rng.binomial(counts[:, None], chances).astype(np.float64)

    def some_answers(self, pairs: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Draw how often each user says to prefer the left and the right arm, both (n, D)."""
        chances = self._preferences[:, pairs[:, 0], pairs[:, 1]].T
        heard = self._rng.binomial(counts[:, None], self._rates)
        left = self._rng.binomial(heard, chances)
        return left.astype(np.float64), (heard - left).astype(np.float64)

    def earliest(self, counts: Ints, rounds: int) -> Ints:
        """Draw how many of ``counts`` (n,), played in an order not known, came in the first rounds.

        All orders are equally likely.
        """
        return np.asarray(self._rng.multivariate_hypergeometric(counts, rounds), np.int64)

    def pairs(self, left: Floats, right: Floats, lengths: Ints) -> Ints:
        """Draw the count of each pair in each stretch: (C, K, K) ~ Multinomial(left x right)."""
        chances = np.outer(left, right).ravel()
        support = np.flatnonzero(chances)
        chances = chances[support] / chances[support].sum()
        counts = np.zeros((len(lengths), left.size * right.size), np.int64)
        counts[:, support] = self._rng.multinomial(lengths, chances)
        return counts.reshape(-1, left.size, right.size)

    def walk(self, policies: Floats, gaps: Ints, duels: Ints, lengths: Ints) -> tuple[Ints, Ints]:
        """Play policy b on both sides for ``gaps[b]`` rounds, then duel ``duels[b]``, and so on.

        Returns how often each arm was shown in each stretch, (C, K), and all plays, (K, K).
        """
        from fairduel.kernels import sampling

        return sampling.walk(self._rng, policies, gaps, duels, lengths)
