"""The comparisons that claims are made of, of learners that played the same instances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from fairduel._arrays import Floats
from fairduel.paper.experiment import FAIR, LEARNERS
from fairduel.report.criterion import more
from fairduel.report.document import Finding
from fairduel.report.metrics import METRICS, MORE_IS_BETTER
from fairduel.report.statistics import average, known

Finals = Mapping[str, Mapping[str, Floats]]  # by learner and metric: a value for each run

FAIRNESS = ("minimum_welfare", "gini")

# The paper calls fairness levels "comparable" in whose own Table 1 the worse Gini coefficient is
# 1.33 times the better one.
COMPARABLE = 1.5


def compare(
    finals: Finals, metric: str, higher: Iterable[str], lower: Iterable[str], at: str = ""
) -> list[Finding]:
    """Every one of ``higher`` has more of the metric than every one of ``lower``."""
    low = list(lower)
    return [
        more(
            f"{_at(at, metric)}, {LEARNERS[a]} − {LEARNERS[b]}",
            finals[a][metric],
            finals[b][metric],
        )
        for a in higher
        for b in low
    ]


def fairer(
    finals: Finals, these: Iterable[str], those: Iterable[str], at: str = ""
) -> list[Finding]:
    """Every one of ``these`` has more minimum welfare and a lower Gini than every one of them."""
    better, worse = list(these), list(those)
    return [
        *compare(finals, "minimum_welfare", better, worse, at),
        *compare(finals, "gini", worse, better, at),
    ]


def not_much_worse(
    finals: Finals, metric: str, fair: str, other: str, times: float, at: str = ""
) -> Finding:
    """The fair learner is worse than the other one by less than this factor, or better."""
    low, high = (fair, other) if MORE_IS_BETTER[metric] else (other, fair)
    what = f"{_at(at, metric)}, {times:g} × {LEARNERS[low]} − {LEARNERS[high]}"
    return more(what, times * finals[low][metric], finals[high][metric])


def uniform_to_fair(finals: Finals, metrics: Iterable[str]) -> str:
    """A sentence on what Uniform-Over-Users has of each, if there is something to say."""
    ratios = {metric: _ratio(finals, metric) for metric in metrics}
    said = [
        f"{METRICS[metric].label.lower()} {ratio:.2f} times"
        for metric, ratio in ratios.items()
        if not math.isnan(ratio)
    ]
    return f" Uniform-Over-Users over the better fair learner: {', '.join(said)}." if said else ""


def _ratio(finals: Finals, metric: str) -> float:
    fair = known([average(finals[name][metric]) for name in FAIR])
    best = (max if MORE_IS_BETTER[metric] else min)(fair, default=math.nan)
    return average(finals["uniform"][metric]) / best


def _at(at: str, metric: str) -> str:
    return at + (METRICS[metric].label.lower() if at else METRICS[metric].label)
