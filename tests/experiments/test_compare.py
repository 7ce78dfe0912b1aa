"""Several learners on the same instances."""

import math
import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fairduel.cli import specs as named
from fairduel.environments import random_instance
from fairduel.errors import InputError
from fairduel.experiments.comparison import Comparison, compare
from fairduel.instance import Instance
from fairduel.learners import FairETC, Learner, UniformOverUsers
from fairduel.report.metrics import METRICS
from fairduel.simulation.metrics import mean_interval
from fairduel.simulation.trajectory import Trajectory
from fairduel.welfare import Utilitarian

ROUNDS = 20_000
LEARNERS: dict[str, Learner[Any]] = {
    "fair": FairETC(),
    "utilitarian": FairETC(welfare=Utilitarian()),
    "uniform": UniformOverUsers(),
}


def instances(runs: int) -> Iterator[Instance]:
    return (random_instance(3, 4, seed=run) for run in range(runs))


@pytest.fixture(scope="module")
def three_runs() -> Comparison:
    return compare(LEARNERS, instances(3), ROUNDS, seed=5, checkpoints=4)


def same(a: Trajectory, b: Trajectory) -> bool:
    return np.array_equal(a.earned, b.earned) and np.array_equal(a.utilities, b.utilities)


def test_a_learner_does_not_notice_the_others(three_runs: Comparison) -> None:
    for label, learner in LEARNERS.items():
        alone = compare({label: learner}, instances(2), ROUNDS, seed=5, checkpoints=4)
        for mine, among_others in zip(
            alone.trajectories[label], three_runs.trajectories[label], strict=False
        ):
            assert same(mine, among_others)


def test_all_meet_the_same_luck(three_runs: Comparison) -> None:
    # The same draws until the learners' decisions differ: identification is the same for all.
    phases = [[run.phases["identify"] for run in three_runs.trajectories[x]] for x in LEARNERS]
    assert phases[0] == phases[1] == phases[2]


def test_runs_and_seeds_differ(three_runs: Comparison) -> None:
    again = compare({"fair": FairETC()}, instances(1), ROUNDS, seed=6, checkpoints=4)
    assert not same(again.trajectories["fair"][0], three_runs.trajectories["fair"][0])
    one = random_instance(3, 4, seed=0)
    repeated = compare({"fair": FairETC()}, [one, one], ROUNDS, seed=5, checkpoints=4)
    assert not same(*repeated.trajectories["fair"])


def test_rows_hold_every_checkpoint(three_runs: Comparison) -> None:
    rows = three_runs.rows()
    assert [(row["learner"], row["run"], row["rounds"]) for row in rows] == [
        (label, run, rounds)
        for label in LEARNERS
        for run in (1, 2, 3)
        for rounds in (5000, 10000, 15000, 20000)
    ]
    for row in rows:
        run = three_runs.trajectories[str(row["learner"])][int(row["run"]) - 1]
        place = list(run.rounds).index(row["rounds"])
        assert {metric: row[metric] for metric in METRICS} == {
            metric: getattr(run, metric)[place] for metric in METRICS
        }
        assert list(row)[3:] == list(METRICS)


def test_summaries_are_of_the_last_round(three_runs: Comparison) -> None:
    for label, summary in three_runs.summaries().items():
        runs = three_runs.trajectories[label]
        for metric, estimate in summary.metrics.items():
            mean, half_width = mean_interval([getattr(run, metric)[-1] for run in runs])
            assert [estimate.mean, estimate.half_width] == [float(mean), float(half_width)]
        assert summary.identifying.mean == np.mean([run.phases["identify"] for run in runs])
        assert summary.runs == 3
        assert summary.seconds == statistics.median(three_runs.seconds[label])


def test_curves_are_means_over_runs(three_runs: Comparison) -> None:
    rounds, mean, half_width = three_runs.curves("fair", "gini")
    runs = [run.gini for run in three_runs.trajectories["fair"]]
    assert rounds.tolist() == [5000, 10000, 15000, 20000]
    np.testing.assert_array_equal(mean, np.mean(runs, axis=0))
    np.testing.assert_array_equal(half_width, mean_interval(runs)[1])


def test_one_run_has_no_interval() -> None:
    one = compare({"uniform": UniformOverUsers()}, instances(1), 10)
    assert math.isnan(one.summaries()["uniform"].metrics["regret"].half_width)


def test_progress_is_told_before_each_run() -> None:
    told: list[tuple[str, int]] = []
    learners = {"a": UniformOverUsers(), "b": UniformOverUsers()}
    compare(learners, instances(2), 10, before_run=lambda label, run: told.append((label, run)))
    assert told == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_bad_input() -> None:
    uniform = {"uniform": UniformOverUsers()}
    with pytest.raises(InputError, match="no learner"):
        compare({}, instances(1), 10)
    with pytest.raises(InputError, match="at least 1 run"):
        compare(uniform, [], 10)
    with pytest.raises(InputError, match="seed is -1"):
        compare(uniform, instances(1), 10, seed=-1)
    with pytest.raises(InputError, match="0 rounds"):
        compare(uniform, instances(1), 0)
    with pytest.raises(InputError, match="1 to 1,000,000,000,000,000"):
        compare(uniform, instances(1), 10**30)
    with pytest.raises(InputError, match="0 checkpoints"):
        compare(uniform, instances(1), 10, checkpoints=0)


def test_without_learners_all_of_this_package_are_compared() -> None:
    found = compare(None, [random_instance(2, 3, seed=1)], 50)
    assert next(iter(found.trajectories)) == "fair-voi"
    assert set(found.trajectories) == set(named.LEARNERS)
