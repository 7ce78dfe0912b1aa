"""Fair-VOI plans by whatever posterior it is given, and plans without knowing it."""

import ast
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.environments import random_instance
from fairduel.inference import Posterior, infer
from fairduel.learners import FairVOI
from fairduel.learners.voi import plan
from fairduel.learners.voi.plan import InformationValue, Planner, Schedule
from fairduel.simulation import simulate
from fairduel.tally import Tally
from fairduel.testing import learners as laws
from fairduel.welfare import Nash


@dataclass(frozen=True)
class Sceptic(FairVOI):
    """Begins surer that all arms are alike."""

    prior: float = 5.0

    def posterior(self, tally: Tally) -> Posterior:
        return infer(tally.wins, self.winners, self.prior)


@pytest.mark.parametrize(
    "law",
    [laws.the_budget_is_kept, laws.answers_may_be_late, laws.it_explains_itself_if_it_says_so],
)
def test_another_prior_obeys_the_laws(law: Any) -> None:
    law(Sceptic())


def test_another_prior_decides_otherwise() -> None:
    instance = random_instance(3, 4, seed=1)
    runs = [
        simulate(instance, 500, FairVOI(), seed=1, checkpoints=1),
        simulate(instance, 500, Sceptic(prior=0.5), seed=1, checkpoints=1),
    ]
    assert runs[0].earned.tolist() == runs[1].earned.tolist()
    assert (
        simulate(instance, 500, Sceptic(), seed=1, checkpoints=1).earned.tolist()
        != runs[0].earned.tolist()
    )


@dataclass(frozen=True)
class Omniscient(FairVOI):
    """Knows the users' scores: a posterior that no answer changes."""

    scores: tuple[tuple[float, ...], ...] = ()

    def posterior(self, tally: Tally) -> Posterior:
        scores = np.array(self.scores)
        users, arms = scores.shape
        winners = scores.argmax(axis=1)
        cube = np.zeros((users, arms, arms))
        log_beats = cube.copy()
        log_beats[np.arange(users), winners] = -50.0  # nothing beats a winner ...
        log_beats[np.arange(users), :, winners] = 0.0  # ... and it beats everything
        return Posterior(
            probabilities=np.eye(arms)[winners],
            log_beats=log_beats,
            means=np.repeat(scores[:, :, None], arms, axis=2),
            stds=cube,
            scores=scores,
            variances=np.full((users, arms), 1e-12),
            counts=cube + 1e12,
        )


def test_who_knows_everything_asks_nothing() -> None:
    instance = random_instance(3, 4, seed=1)
    learner = Omniscient(scores=tuple(map(tuple, instance.scores.tolist())))
    run = simulate(instance, 10_000, learner, seed=1, checkpoints=1)
    assert set(run.phases) == {"exploit"}
    assert run.regret[-1] < 1e-6 * run.best * 10_000
    assert learner.outlook(learner.init(3, 4, 10_000, 1)).duels_worth_asking == 0


# Planning, with made-up values and no posterior at all

SCORES: Floats = np.array([[1.0, 0.2, 0.7], [0.1, 1.0, 0.7]])


def _planner(slope: float, horizon: int = 1000, anytime: bool = False) -> Planner:
    """Answers about arms 0 and 1 are worth something, and these arms cost something."""
    slopes, limits = np.zeros((3, 3)), np.zeros((3, 3))
    slopes[0, 1], limits[0, 1] = slope, 0.1
    value = InformationValue(slopes, limits, np.zeros((3, 3)))
    policy = Nash().maximize(SCORES).policy
    return Planner(Schedule(horizon, anytime), Nash(), SCORES, policy, _always(value))


def _always(value: InformationValue) -> Callable[[float], InformationValue]:
    """The same value, however many rounds are left."""
    return lambda left: value


def test_what_is_worth_it_is_asked() -> None:
    offer = _planner(slope=0.05).offer(played=0)
    assert offer.asked is not None
    assert offer.asked.pairs.tolist() == [[0, 1]]
    assert offer.asked.shares.tolist() == [1.0]
    assert not offer.asked.about_winner.any()
    assert offer.asked.gain > offer.asked.cost > 0.0


@pytest.mark.parametrize(("slope", "played"), [(0.0, 0), (1e-7, 0), (0.05, 999)])
def test_what_is_not_worth_it_is_not_asked(slope: float, played: int) -> None:
    """Nothing to learn, too little, or no time to use it."""
    planner = _planner(slope)
    offer = planner.offer(played)
    assert offer.asked is None
    assert offer.left.tolist() == offer.right.tolist() == planner.policy.tolist()


def test_duels_worth_asking_come_to_an_end() -> None:
    """The more there is to learn at first the fewer duels it takes, once it is worth any."""
    counts = [_planner(slope).duels_worth_asking(0, None) for slope in (0.0, 0.001, 0.1)]
    assert counts[0] == 0
    assert counts[1] > counts[2] > 0


@pytest.mark.parametrize(("slope", "horizon"), [(0.001, 1000), (0.05, 1000), (0.01, 20_000)])
def test_duels_worth_asking_are_those_that_will_be_asked(slope: float, horizon: int) -> None:
    """Where answers come as expected, what is said at first is what is then played."""
    planner, played, duels = _planner(slope, horizon), 0, np.zeros((3, 3))
    value = planner.value(1.0)
    said = planner.duels_worth_asking(0, None)
    while played < horizon:
        offer = replace(planner, value=_always(value.after(duels))).offer(played)
        if offer.asked is not None:
            once = np.outer(offer.left, offer.right)
            duels = duels + offer.rounds * np.triu(once + once.T, 1)
        played += offer.rounds
    assert said == math.ceil(duels.sum()) > 1


def test_an_offer_under_way_counts() -> None:
    planner = _planner(slope=0.05)
    offer = planner.offer(played=400)
    assert offer.rounds > 1
    assert offer.asked is not None
    rest = _planner(slope=0.0).duels_worth_asking(401, offer)  # nothing but what is under way
    once = np.outer(offer.left, offer.right)
    assert rest == math.ceil((offer.rounds - 1) * (1.0 - once.trace()))
    assert planner.duels_worth_asking(401, offer) >= rest > 0
    assert offer.rest(401) == offer.rounds - 1


def test_a_schedule_without_a_horizon_plans_for_what_was_played() -> None:
    known, unknown = Schedule(1000, anytime=False), Schedule(1000, anytime=True)
    assert (known.block(0), known.block(500), known.block(990)) == (1, 50, 10)
    assert (unknown.block(500), unknown.block(5000)) == (50, 500)
    assert (known.end(100), unknown.end(100)) == (1000.0, 300.0)


def test_answers_resolve_what_is_unknown() -> None:
    """n answers known and m more: m / (m + n) of the limit is gained, and the rest is left."""
    one = np.ones((1, 1))
    value = InformationValue(slope=0.5 * one / 20.0, limit=0.5 * one, winner_slope=0.0 * one)
    assert np.isclose(value.gain(60.0 * one), 0.5 * 60.0 / 80.0)
    after = value.after(60.0 * one)
    assert np.isclose(after.limit, 0.5 * 20.0 / 80.0)
    assert np.isclose(after.slope, after.limit / 80.0)
    twice = value.gain(10.0 * one) + value.after(10.0 * one).gain(50.0 * one)
    assert np.isclose(twice, value.gain(60.0 * one))


def test_the_plan_knows_no_posterior() -> None:
    names = [
        node.module or ""
        for node in ast.walk(ast.parse(inspect.getsource(plan)))
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [name for name in names if "inference" in name or name.endswith("value")]
