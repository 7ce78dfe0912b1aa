"""Every metric has its labels."""

from fairduel.report.metrics import METRICS, MORE_IS_BETTER
from fairduel.simulation.trajectory import Trajectory


def test_metrics_are_curves_of_a_trajectory() -> None:
    assert all(hasattr(Trajectory, name) for name in METRICS)
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)
    assert len({metric.short for metric in METRICS.values()}) == len(METRICS)


def test_welfare_is_good_and_regret_and_inequality_are_bad() -> None:
    bad = {name for name, more in MORE_IS_BETTER.items() if not more}
    assert bad == {"regret", "gini"}
