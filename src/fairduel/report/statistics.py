"""Means over runs and their 95 % intervals. A run that failed is NaN and does not count."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairduel.simulation.metrics import mean_interval

if TYPE_CHECKING:
    from fairduel._arrays import Floats

LEVEL = 0.95

# scipy.stats takes more than a second to import: each function that needs it imports it.


@dataclass(frozen=True)
class Estimate:
    """A mean over runs and the half-width of its 95 % interval, which is NaN for a single run."""

    mean: float
    half_width: float


def estimate(values: Floats | Sequence[float]) -> Estimate:
    """Return the mean and 1.96 standard errors, as in the paper's tables."""
    good = known(values)
    if not good:
        return Estimate(math.nan, math.nan)
    mean, half_width = mean_interval(good)
    return Estimate(float(mean), float(half_width))


def average(values: Floats | Sequence[float]) -> float:
    """Return the mean over the runs that succeeded, NaN if none did."""
    good = known(values)
    return float(np.mean(good)) if good else math.nan


def known(values: Floats | Sequence[float]) -> list[float]:
    """Return the values of the runs that succeeded."""
    return [float(value) for value in values if not math.isnan(value)]


def student_interval(values: Floats) -> tuple[float, float]:
    """Return Student's interval of a mean of at least two values."""
    from scipy.stats import ttest_1samp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal values have an interval of width 0
        low, high = ttest_1samp(values, 0.0).confidence_interval(LEVEL)
    return float(low), float(high)


def welch_interval(first: Floats, second: Floats) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means, of at least two values each."""
    from scipy.stats import ttest_ind

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # as above
        low, high = ttest_ind(first, second, equal_var=False).confidence_interval(LEVEL)
    return float(low), float(high)


@dataclass(frozen=True)
class Repeated:
    """A mean over fixed instances, measured with several seeds.

    noise: the standard deviation that such a mean has with one seed, from run to run. freedom:
    the degrees of freedom of that estimate. seeds: over how many the mean is taken.
    """

    mean: float
    noise: float
    freedom: int
    seeds: int

    def deviations(self, value: float) -> float:
        """Return by how many standard deviations a mean with one seed, ``value``, is off ours.

        Both have noise: theirs that of one seed, ours that of a mean over ``seeds``.
        """
        off = value - self.mean
        if self.noise == 0.0:
            return math.copysign(math.inf, off) if off else 0.0
        return off / (self.noise * math.sqrt(1.0 + 1.0 / self.seeds))

    def limit(self) -> float:
        """Return the number of deviations within which 95 % of such means are."""
        from scipy.stats import t

        return float(t.ppf(0.5 + LEVEL / 2, self.freedom))


def repeated(values: Floats) -> Repeated | None:
    """Measure the noise of the runs from values (seeds, instances); None where too few are known.

    The instances are given, so their spread is no noise. Each contributes the variance over its
    seeds, and the mean of n of them has 1/n^2 of the sum.
    """
    known_here = values[:, ~np.isnan(values).any(axis=0)]
    seeds, count = known_here.shape
    if seeds < 2 or count < 1:
        return None
    noise = math.sqrt(float(known_here.var(axis=0, ddof=1).sum())) / count
    return Repeated(float(known_here.mean()), noise, count * (seeds - 1), seeds)


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Return Wilson's interval of a share, which makes sense even where ``count`` is 0."""
    from scipy.stats import binomtest

    low, high = binomtest(count, total).proportion_ci(LEVEL, method="wilson")
    return float(low), float(high)


def exact_interval(count: int, total: int) -> tuple[float, float]:
    """Return the interval of a share by Clopper and Pearson, which holds at every sample size."""
    from scipy.stats import binomtest

    low, high = binomtest(count, total).proportion_ci(LEVEL, method="exact")
    return float(low), float(high)
