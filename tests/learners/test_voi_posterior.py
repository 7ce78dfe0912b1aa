"""Fair-VOI plans by whatever posterior it is given, and plans without knowing it."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.environments import random_instance
from fairduel.inference import IndependentPairs, Posterior, infer_pairs
from fairduel.learners import FairVOI
from fairduel.learners.voi import plan
from fairduel.learners.voi.plan import InformationValue, Planner, Schedule
from fairduel.simulation import simulate
from fairduel.tally import Tally
from fairduel.testing import learners as laws


@dataclass(frozen=True)
class Sceptic(FairVOI):
    """Begins surer that all arms are alike."""

    prior: float = 5.0

    def posterior(self, tally: Tally) -> Posterior:
        return infer_pairs(tally.wins, self.winners, self.prior)


@pytest.mark.parametrize(
    "law",
    [laws.the_budget_is_kept, laws.answers_may_be_late, laws.it_explains_itself_if_it_says_so],
)
def test_another_prior_obeys_the_laws(law: Any) -> None:
    law(Sceptic())


def test_another_prior_decides_otherwise() -> None:
    instance = random_instance(3, 4, seed=1)
    learners = (FairVOI(), Sceptic(prior=0.5), Sceptic())
    earned = {
        simulate(instance, 500, learner, seed=1, checkpoints=1).earned[0] for learner in learners
    }
    assert len(earned) == 3


def _scores_as_wins(scores: Floats) -> Floats:
    """Answers that agree with scores s_k = 2 P[k, w], and take other pairs to be alike."""
    chances = np.full((len(scores), len(scores)), 0.5)
    winner = int(scores.argmax())
    chances[:, winner], chances[winner] = scores / 2.0, 1.0 - scores / 2.0
    chances[winner, winner] = 0.5
    return chances


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
        return IndependentPairs(
            probabilities=np.eye(arms)[winners],
            log_beats=log_beats,
            means=np.repeat(scores[:, :, None], arms, axis=2),
            stds=cube,
            scores=scores,
            variances=np.full((users, arms), 1e-12),
            counts=cube + 1e12,
            wins=1e12 * np.stack([_scores_as_wins(row) for row in scores]),
        )


def test_who_knows_everything_asks_nothing() -> None:
    instance = random_instance(3, 4, seed=1)
    learner = Omniscient(scores=tuple(map(tuple, instance.scores.tolist())))
    run = simulate(instance, 10_000, learner, seed=1, checkpoints=1)
    assert set(run.phases) == {"exploit"}
    assert run.regret[-1] < 1e-6 * run.best * 10_000
    assert learner.outlook(learner.init(3, 4, 10_000, 1)).enough


# Planning, with made-up values and no posterior at all


def _planner(slope: float, horizon: int = 1000, anytime: bool = False) -> Planner:
    """Answers about arms 0 and 1 are worth something, and these arms cost something."""
    slopes, limits = np.zeros((3, 3)), np.zeros((3, 3))
    slopes[0, 1], limits[0, 1] = slope, 0.1
    value = InformationValue(slopes, limits, np.zeros((3, 3)))
    policies = np.array([[0.0, 0.0, 1.0], [0.4, 0.4, 0.2]])
    return Planner(Schedule(horizon, anytime), policies, _loss, _always(value))


def _loss(policies: Floats) -> Floats:
    """A fifth is lost for want of knowledge, and arms 0 and 1 lose as much as they can."""
    return np.asarray(0.2 + 0.8 * policies[..., :2].sum(axis=-1))


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
    assert offer.left.tolist() == offer.right.tolist() == planner.policies[0].tolist()


def test_what_is_worth_a_look_but_not_a_whole_part_of_a_block_is_not_asked() -> None:
    """Ten rounds would be worth it; but late, decisions are few, and a hundred would not be."""
    planner = _planner(slope=5.0, horizon=8850)
    value = planner.value(850.0)
    assert planner._plan(value, 850.0, least=10.0) is not None
    assert planner._plan(value, 850.0, least=100.0) is None
    assert planner.schedule.block(8000) == 100 * plan.PARTS
    assert planner.offer(8000).asked is None


def test_who_does_not_ask_plays_what_may_be_best() -> None:
    """With features only the policies that are given are played."""
    planner = replace(_planner(slope=0.05), asks=False)
    offer = planner.offer(played=400)
    assert offer.asked is not None
    for side in (offer.left, offer.right):
        assert side.tolist() in planner.policies.tolist()


def test_the_plan_is_the_one_with_the_least_loss() -> None:
    """Against every length of exploring with every two policies, by the definition."""
    planner, rounds = _planner(slope=0.02), 900.0
    plan = planner._plan(planner.value(rounds), rounds, 1.0)
    assert plan is not None
    value, best = planner.value(rounds), rounds * 0.2

    def lost(a: Floats, b: Floats, n: float) -> float:
        once = np.outer(a, b)
        gain = float(value.gain(n * np.triu(once + once.T, 1)).sum())
        cost = 0.5 * float(_loss(a) + _loss(b))
        return n * cost + (rounds - n) * (0.2 - 0.2 * gain / (0.2 + gain))

    sides = [*planner.policies, *np.eye(3)]
    for a in sides:
        for b in sides:
            best = min(best, *(lost(a, b, n) for n in range(1, 900, 7)))
    found = lost(plan.sides[0], plan.sides[1], plan.rounds)
    assert found <= 1.02 * best  # lengths are evenly spaced in their logarithm
    assert found >= best - 1e-9 or plan.rounds % 7 != 1


def test_gains_too_small_for_a_number_are_none() -> None:
    slopes = np.zeros((3, 3))
    slopes[0, 1] = 5e-324
    value = InformationValue(slopes, np.zeros((3, 3)), np.zeros((3, 3)))
    assert replace(_planner(slope=0.05), value=_always(value)).offer(400).asked is None


def test_an_offer_has_a_rest() -> None:
    offer = _planner(slope=0.05).offer(played=400)
    assert offer.asked is not None
    assert offer.rounds > 1
    assert offer.rest(401) == offer.rounds - 1


def test_a_schedule_without_a_horizon_plans_for_what_was_played() -> None:
    known, unknown = Schedule(4000, anytime=False), Schedule(4000, anytime=True)
    assert (known.block(0), known.block(500), known.block(3990)) == (1, 50, 10)
    assert (unknown.block(500), unknown.block(5000)) == (50, 500)
    assert [known.end(n) for n in (0, 100, 500)] == [100.0, 1100.0, 4000.0]
    assert Schedule(10**6, anytime=False).block(0) == 50
    assert Schedule(10**6, anytime=True).block(0) == 1
    assert unknown.end(100) == 200.0


def test_answers_resolve_what_is_unknown() -> None:
    """n answers known and m more: m / (m + n) of the limit is gained."""
    one = np.ones((1, 1))
    value = InformationValue(slope=0.5 * one / 20.0, limit=0.5 * one, winner_slope=0.0 * one)
    assert np.isclose(value.gain(60.0 * one), 0.5 * 60.0 / 80.0)
    both = value.times(0.5).plus(value.times(0.5))
    assert np.isclose(both.gain(60.0 * one), value.gain(60.0 * one))


def test_the_plan_knows_no_posterior() -> None:
    names = [
        node.module or ""
        for node in ast.walk(ast.parse(inspect.getsource(plan)))
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [name for name in names if "inference" in name or name.endswith("value")]
