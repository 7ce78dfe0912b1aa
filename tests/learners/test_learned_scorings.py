"""Learners under scorings other than the paper's: what they ask, find and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairduel import InputError, Instance, Session, random_instance, simulate
from fairduel._arrays import Floats
from fairduel.data import load_sushi
from fairduel.environments import Environment, Random, RankedGroups, Scored
from fairduel.inference.estimates import empirical_borda
from fairduel.kernels import bradley_terry, course
from fairduel.learners import BradleyTerryThompson, FairEpsilonGreedy, FairETC, FairVOI
from fairduel.learners.phases import all_pairs
from fairduel.live import advise
from fairduel.offers import Duels
from fairduel.scorings import borda
from fairduel.tally import Tally
from fairduel.testing.learners import LEARNER_LAWS
from fairduel.welfare import Nash, Utilitarian
from sushi_file import sushi_file

KINDS: list[Any] = [FairVOI, FairETC, FairEpsilonGreedy, BradleyTerryThompson]


# Only the second user has a Condorcet winner.
CIRCLES = Instance(
    [
        [[0.5, 0.9, 0.2, 0.9], [0.1, 0.5, 0.7, 0.8], [0.8, 0.3, 0.5, 0.6], [0.1, 0.2, 0.4, 0.5]],
        [[0.5, 0.3, 0.6, 0.1], [0.7, 0.5, 0.2, 0.3], [0.4, 0.8, 0.5, 0.2], [0.9, 0.7, 0.8, 0.5]],
        [[0.5, 0.4, 0.7, 0.6], [0.6, 0.5, 0.1, 0.9], [0.3, 0.9, 0.5, 0.8], [0.4, 0.1, 0.2, 0.5]],
    ],
    scoring="borda",
)


LAWFUL = [FairVOI(scoring="maximin"), *(kind(scoring="borda") for kind in KINDS)]


@pytest.mark.parametrize(
    "learner", LAWFUL, ids=lambda each: f"{type(each).__name__} {each.scoring}"
)
@pytest.mark.parametrize("law", LEARNER_LAWS, ids=lambda law: law.__name__)
def test_laws(law: Any, learner: Any) -> None:
    law(learner)


@pytest.mark.parametrize("kind", KINDS)
def test_copeland_is_refused_in_a_sentence(kind: Any) -> None:
    with pytest.raises(InputError, match=r"^no learner learns copeland scores, .*maximin or borda"):
        kind(scoring="copeland")
    with pytest.raises(InputError, match="the scoring is 'brda': use condorcet"):
        kind(scoring="brda")
    with pytest.raises(InputError, match="no learner learns copeland"):
        simulate(CIRCLES.scored_by("copeland"), 100)


def test_other_learners_can_be_measured_by_copeland() -> None:
    run = simulate(CIRCLES.scored_by("copeland"), 100, FairVOI(scoring="borda"))
    assert run.best == Nash().maximize(CIRCLES.scored_by("copeland").scores).value


@pytest.mark.parametrize("kind", [FairVOI, FairETC, FairEpsilonGreedy])
def test_winners_are_of_no_use_under_borda(kind: Any) -> None:
    with pytest.raises(InputError, match="winners are given, which the scoring borda has no use"):
        kind(scoring="borda", winners=(0, 1))


def test_unless_told_the_learner_has_the_scoring_of_the_instance() -> None:
    for scoring in ("maximin", "borda"):
        instance = random_instance(2, 3, seed=1).scored_by(scoring)
        run, same = simulate(instance, 200), simulate(instance, 200, FairVOI(scoring=scoring))
        assert run.earned.tolist() == same.earned.tolist()


# Exploring all pairs


def test_etc_explores_all_pairs_and_identifies_nobody() -> None:
    learner = FairETC(scoring="borda")
    play, _ = learner.ask(learner.init(3, 4, 10_000, seed=1))
    assert isinstance(play, Duels)
    assert play.pairs.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    length = learner.exploration_length(3, 4, 1, 10_000)
    assert play.counts.tolist() == [length] * 6
    run = simulate(CIRCLES, 10_000, learner, seed=1)
    assert run.phases["explore"] == 6 * length
    assert "identify" not in run.phases


def test_epsilon_explores_all_pairs_in_turn() -> None:
    run = simulate(CIRCLES, 2_000, FairEpsilonGreedy(scoring="borda"), seed=1)
    assert "identify" not in run.phases
    learner = FairEpsilonGreedy(scoring="borda")
    play, _ = learner.ask(learner.init(3, 4, 2_000, seed=1))
    assert isinstance(play, Duels)
    assert play.pairs.tolist() == all_pairs(4).tolist()
    assert play.counts.tolist() == [1] * 6


def test_lengths_grow_as_the_theorems_say() -> None:
    """With the number of pairs in place of K |A*|, and scores that are means of K - 1."""
    etc, eps = FairETC(scoring="borda", exploration=100.0), FairEpsilonGreedy(scoring="borda")
    for arms in (3, 10):
        expected = (5 * 10_000 / (arms * (arms - 1) / 2)) ** 2 * np.log(5 * arms * 10_000)
        found = etc.exploration_length(5, arms, 3, 10_000) / 100.0
        np.testing.assert_allclose(found, np.cbrt(expected / (arms - 1)), atol=0.01)
        np.testing.assert_allclose(eps.rate(5, arms, 3), 0.1 * np.cbrt(25 * arms / 2))


@settings(max_examples=30)
@given(st.integers(1, 3), st.integers(2, 5), st.integers(0, 40), st.integers(0, 999))
def test_running_scores_are_those_of_the_answers_so_far(
    users: int, arms: int, steps: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 3, (users, arms, arms)).astype(float)
    turn = all_pairs(arms)
    pairs = np.ascontiguousarray(turn[rng.integers(0, len(turn), steps)])
    answers = rng.integers(0, 2, (steps, users)).astype(float)
    before = wins.copy()
    found = course.running_borda(wins, pairs, answers)
    for step in range(steps + 1):
        np.testing.assert_allclose(found[step], empirical_borda(before), atol=1e-12)
        if step < steps:
            i, j = pairs[step]
            before[:, i, j] += answers[step]
            before[:, j, i] += 1.0 - answers[step]
    np.testing.assert_array_equal(wins, before)


def test_empirical_scores_take_what_was_not_heard_for_even() -> None:
    wins = np.zeros((1, 3, 3))
    wins[0, 0, 1], wins[0, 1, 0] = 3.0, 1.0
    np.testing.assert_allclose(empirical_borda(wins), [[1.0, 0.75, 0.875]])


def test_strengths_are_scored_by_borda() -> None:
    rng = np.random.default_rng(3)
    modes, normals = rng.standard_normal((2, 4)), rng.standard_normal((5, 2, 4))
    factors = np.tile(np.eye(4), (2, 1, 1))
    found = bradley_terry.sample_scores(modes, factors, normals, True)
    theta = modes + normals
    expected = borda(1.0 / (1.0 + np.exp(theta[..., None, :] - theta[..., None])))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Learning


@pytest.mark.parametrize("kind", [FairVOI, FairETC, FairEpsilonGreedy, BradleyTerryThompson])
def test_they_learn_borda_scores(kind: Any) -> None:
    """In the mean of eight runs: one in twenty of Fair-VOI's keeps 80 %, and stays with it."""
    instance = CIRCLES if kind is not BradleyTerryThompson else ordered()
    rounds = 20_000 if kind in (FairETC, FairEpsilonGreedy) else 2_000
    runs = [simulate(instance, rounds, kind(scoring="borda"), seed=s) for s in range(1, 9)]
    assert np.mean([kept(run.policy, instance.scores) for run in runs]) > 0.97
    assert runs[0].best == Nash().maximize(instance.scores).value


def test_fair_voi_learns_maximin_scores() -> None:
    """In the median: now and then two arms have about the same worst duel, and scores jump."""
    instance = CIRCLES.scored_by("maximin")
    runs = [simulate(instance, 4_000, FairVOI(scoring="maximin"), seed=s) for s in range(5)]
    assert np.median([kept(run.policy, instance.scores) for run in runs]) > 0.97


@pytest.mark.parametrize(("rounds", "runs"), [(500, 12), (5_000, 4)])
@pytest.mark.parametrize("place", ["random", "sushi"])
def test_fair_voi_beats_explore_then_commit_at_its_best_length(
    place: str, rounds: int, runs: int
) -> None:
    """Its best length in hindsight, for these very instances; see benchmarks/scorings.py."""
    family: Environment = Random(5, 10)
    if place == "sushi":
        family = RankedGroups(load_sushi(sushi_file()), 5)
    instances = [Scored(family, "borda").draw(run, rounds, 0) for run in range(runs)]

    def regret(learner: Any) -> float:
        found = [
            simulate(instance, rounds, learner, seed=seed, checkpoints=1).regret[-1]
            for seed, instance in enumerate(instances)
        ]
        return float(np.mean(found))

    size = 1e6 / FairETC(scoring="borda", exploration=1e6).exploration_length(5, 10, 5, rounds)
    lengths = [length for length in (1, 2, 3, 4, 6, 8, 12, 16, 24) if 45 * length <= rounds]
    etc = [FairETC(scoring="borda", exploration=(length - 0.5) * size) for length in lengths]
    assert etc[1].exploration_length(5, 10, 5, rounds) == 2
    assert regret(FairVOI(scoring="borda")) < min(map(regret, etc))


def test_other_welfares_and_scorings_go_together() -> None:
    learner = FairVOI(welfare=Utilitarian(), scoring="borda")
    run = simulate(CIRCLES, 2_000, learner, seed=1, welfare=Utilitarian())
    assert run.policy @ CIRCLES.scores.mean(axis=0) > 0.98 * CIRCLES.scores.mean(axis=0).max()


def test_sessions_keep_it_in_their_files(tmp_path: Path) -> None:
    for scoring in ("maximin", "borda"):
        learner = FairVOI(scoring=scoring)
        session = Session(["ann", "bob"], ["x", "y", "z"], 300, learner=learner, seed=3)
        for _ in range(6):
            duel = session.ask()
            session.tell(duel, {"ann": duel.left, "bob": duel.right})
        session.save(tmp_path / "session.json")
        loaded = Session.load(tmp_path / "session.json")
        assert loaded.learner == learner
        assert loaded.recommend().policy == session.recommend().policy
        assert [loaded.ask() for _ in range(3)] == [session.ask() for _ in range(3)]


def test_votes_outside_of_duels_are_scored_too() -> None:
    """Everybody's second choice is worth nothing by the paper's scores, and is best by Borda."""
    wins = np.zeros((3, 4, 4))
    for user, order in enumerate(([0, 3, 2, 1], [1, 3, 2, 0], [2, 3, 0, 1])):
        for place, arm in enumerate(order):
            wins[user, arm, order[place + 1 :]] = 20.0
    by_borda, by_winners = advise(wins, scoring="borda"), advise(wins)
    assert by_borda.policy.argmax() == 3
    assert by_borda.policy[3] > 0.9
    assert by_winners.policy[3] < 0.5
    assert by_borda.worth.shape == (3, 4, 4)
    assert (by_borda.worth >= 0.0).all()
    assert by_borda.favourites.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="no learner learns copeland"):
        advise(wins, scoring="copeland")


def test_under_borda_everybody_has_a_favourite() -> None:
    """Who goes round in a circle has no clear favourite by the paper, and by Borda has one."""
    wins = np.zeros((1, 4, 4))
    for i, j, share in ((0, 1, 90.0), (1, 2, 90.0), (2, 0, 60.0), (0, 3, 99.0), (1, 3, 60.0)):
        wins[0, i, j], wins[0, j, i] = share, 100.0 - share
    wins[0, 2, 3] = wins[0, 3, 2] = 50.0
    tally = Tally(np.full((4, 4), 100), wins)
    found = FairVOI(scoring="borda").posterior(tally)
    assert found.probabilities[0].argmax() == 0
    assert found.without_winner() == ()
    assert FairVOI().posterior(tally).without_winner() == (0,)
    assert FairVOI(scoring="maximin").posterior(tally).without_winner() == (0,)


def ordered() -> Instance:
    """Three users whose preferences are transitive."""
    strengths = np.array([[2.0, 1.0, 0.0, -1.0], [-1.0, 1.5, 0.5, 0.0], [0.0, -0.5, 1.0, 2.0]])
    tensor = 1.0 / (1.0 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
    return Instance(tensor, scoring="borda")


def kept(policy: Floats, scores: Floats) -> float:
    """The share of the best welfare that a policy keeps."""
    return float(Nash().value(scores @ policy) / Nash().maximize(scores).value)
