"""The metrics of Section 5.1: what they are called, and in which direction they are better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """label: the paper's name. short: for the heads of tables."""

    label: str
    short: str
    more_is_better: bool


# By their names in Trajectory, in the order of columns.
METRICS = {
    "regret": Metric("Cumulative regret", "Regret", more_is_better=False),
    "nash_welfare": Metric("Nash social welfare", "Nash welfare", more_is_better=True),
    "minimum_welfare": Metric("Minimum welfare", "Minimum welfare", more_is_better=True),
    "utilitarian_welfare": Metric("Utilitarian welfare", "Mean welfare", more_is_better=True),
    "gini": Metric("Gini coefficient", "Gini", more_is_better=False),
}
MORE_IS_BETTER = {name: metric.more_is_better for name, metric in METRICS.items()}
