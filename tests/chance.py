"""How surprising counts are. Seeds are fixed, so that a test passes always or never.

A right program gave p-values above ``SURPRISING`` for the seeds in use; a wrong law gives numbers
far below it, because the samples are large.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from fairduel._arrays import Floats, Ints

SURPRISING = 1e-3
LEAST_EXPECTED = 10.0  # cells that expect fewer are put together


def fits(observed: ArrayLike, chances: ArrayLike) -> bool:
    """Whether counts look like draws from these chances (chi-square)."""
    counts, expected = np.asarray(observed, np.float64).ravel(), np.asarray(chances).ravel()
    expected = expected / expected.sum() * counts.sum()
    assert np.all(counts[expected == 0.0] == 0.0), "something impossible was drawn"
    counts, expected = _merged(counts[expected > 0.0], expected[expected > 0.0])
    return bool(stats.chisquare(counts, expected).pvalue > SURPRISING)


def binomial_fits(draws: Ints, rounds: int, chance: float) -> bool:
    """Whether whole numbers look like draws from Binomial(rounds, chance)."""
    counts = np.bincount(draws, minlength=rounds + 1)
    return fits(counts, stats.binom.pmf(np.arange(rounds + 1), rounds, chance))


def alike(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether two samples look like draws from one law (Kolmogorov-Smirnov)."""
    # Sums of the same numbers in another order are to be equal.
    return bool(stats.ks_2samp(np.round(first, 6), np.round(second, 6)).pvalue > SURPRISING)


def _merged(counts: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Neighbouring cells put together until each expects enough."""
    cell = np.zeros(len(expected), np.int64)
    number, total = 0, 0.0
    for index, size in enumerate(expected):
        cell[index] = number
        total += size
        if total >= LEAST_EXPECTED:
            number, total = number + 1, 0.0
    cell[cell == number] = max(0, number - 1)  # what is left over at the end
    return np.bincount(cell, counts).astype(float), np.bincount(cell, expected).astype(float)
