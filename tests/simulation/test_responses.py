"""The samplers obey their laws: large samples, fixed seeds, exact expectations."""

import inspect
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chance import binomial_fits, fits
from fairduel._arrays import Floats, Ints
from fairduel.environments import random_instance
from fairduel.instance import Instance
from fairduel.kernels import course as _script
from fairduel.kernels import sampling as _walk
from fairduel.simulation.responses import Responses
from reference import TapeResponses

POLICY = np.array([0.15, 0.0, 0.6, 0.25, 0.0])
SCRIPT: Any = _script
BOTH_SIDES = [1, _walk._SINGLY, _walk._SINGLY + 1, 300]  # rounds drawn singly, or counts at once


def nature(instance: Instance | None = None, seed: int = 1) -> Responses:
    return Responses(instance or random_instance(2, 5), np.random.default_rng(seed))


# Answers


def test_answers_are_binomial() -> None:
    instance = random_instance(2, 3, seed=4)
    pairs = np.tile([[0, 1], [2, 0]], (5000, 1))
    counts = np.tile([12, 30], 5000)
    answers = nature(instance).answers(pairs, counts)
    assert answers.shape == (10_000, 2)
    for row, user in itertools.product(range(2), range(2)):
        chance = instance.preferences[user, pairs[row, 0], pairs[row, 1]]
        assert binomial_fits(answers[row::2, user].astype(int), counts[row], chance)


def test_answers_to_single_duels_are_coins() -> None:
    instance = random_instance(2, 3, seed=4)
    pairs = np.tile([[0, 1], [2, 0]], (10_000, 1))
    answers = nature(instance).answers(pairs, np.ones(20_000, np.int64))
    assert answers.shape == (20_000, 2)
    for row, user in itertools.product(range(2), range(2)):
        chance = instance.preferences[user, pairs[row, 0], pairs[row, 1]]
        assert binomial_fits(answers[row::2, user].astype(int), 1, chance)


@pytest.mark.parametrize("count", [1, 10])
def test_users_and_duels_answer_independently(count: int) -> None:
    answers = nature(random_instance(2, 3, seed=4)).answers(
        np.tile([[0, 1]], (20_000, 1)), np.full(20_000, count)
    )
    users = np.asarray(np.corrcoef(answers.T))[0, 1]
    in_turn = np.asarray(np.corrcoef(answers[1:, 0], answers[:-1, 0]))[0, 1]
    assert abs(users) < 4 / math.sqrt(20_000)
    assert abs(in_turn) < 4 / math.sqrt(20_000)


def test_sure_answers_are_sure() -> None:
    sure = Instance([[[0.5, 1.0], [0.0, 0.5]]])
    answers = nature(sure).answers(np.array([[0, 1], [1, 0]]), np.array([10**9, 10**9]))
    assert answers.tolist() == [[1e9], [0.0]]


# Policies that stay


@pytest.mark.parametrize("rounds", [1, 40])
def test_pairs_of_a_mix_are_multinomial(rounds: int) -> None:
    left, right = POLICY, POLICY[::-1].copy()
    counts = nature().pairs(left, right, np.full(10_000, rounds))
    assert (counts.sum(axis=(1, 2)) == rounds).all()
    assert fits(counts.sum(axis=0), np.outer(left, right))
    for i, j in ((2, 2), (2, 1), (0, 4)):
        assert binomial_fits(counts[:, i, j], rounds, left[i] * right[j])


# Policies that change


def stretches(rounds: int, count: int) -> tuple[Ints, Ints]:
    """``count`` steps of a policy for so many rounds and a duel of arms 1 and 4, cut in between."""
    shown, plays = nature().walk(
        np.tile(POLICY, (count, 1)),
        np.full(count, rounds),
        np.tile([1, 4], (count, 1)),
        np.tile([rounds, 1], count),
    )
    assert (shown[1::2] == [0, 1, 0, 0, 1]).all()
    assert plays[1, 4] == count
    plays[1, 4] = 0
    return shown[::2], plays


@pytest.mark.parametrize("rounds", BOTH_SIDES)
def test_pairs_of_a_walk_are_multinomial(rounds: int) -> None:
    shown, plays = stretches(rounds, 20_000)
    assert fits(plays, np.outer(POLICY, POLICY))
    for arm in np.flatnonzero(POLICY):
        assert binomial_fits(shown[:, arm], 2 * rounds, POLICY[arm])
    for i, j in ((0, 2), (2, 3)):
        covariance = -2 * rounds * POLICY[i] * POLICY[j]
        assert np.cov(shown[:, i], shown[:, j])[0, 1] == pytest.approx(covariance, rel=0.1)


def test_rounds_of_one_policy_are_drawn_together_across_duels() -> None:
    """Two policies without a common arm, so that the counts of each show by themselves."""
    other = np.array([0.0, 0.7, 0.0, 0.0, 0.3])
    steps = [POLICY, POLICY, other, other, POLICY, other]
    gaps, count = [3, 0, 2, 40, 90, 1], 10_000
    rounds = {0: 93, 1: 43}  # of either policy, in all
    shown, plays = nature().walk(
        np.tile(steps, (count, 1)),
        np.tile(gaps, count),
        np.tile([2, 2], (6 * count, 1)),
        np.full(count, sum(gaps) + 6),
    )
    plays[2, 2] -= 6 * count
    shown[:, 2] -= 12
    for number, policy in enumerate((POLICY, other)):
        support = np.flatnonzero(policy)
        among = np.ix_(support, support)
        assert (shown[:, support].sum(axis=1) == 2 * rounds[number]).all()
        assert fits(plays[among], np.outer(policy, policy)[among])
        for arm in support:
            assert binomial_fits(shown[:, arm], 2 * rounds[number], policy[arm])
    assert plays.sum() == count * sum(gaps)


def test_a_walk_of_a_billion_rounds() -> None:
    rounds = 10**9
    shown, plays = stretches(rounds, 1)
    assert plays.sum() == rounds
    spread = np.sqrt(2 * rounds * POLICY * (1 - POLICY))
    assert (abs(shown[0] - 2 * rounds * POLICY) <= 4 * spread).all()
    chances = np.outer(POLICY, POLICY)
    assert (abs(plays - rounds * chances) <= 4.5 * np.sqrt(rounds * chances)).all()


@given(st.data())
def test_a_walk_keeps_the_books(data: st.DataObject) -> None:
    """With one arm for sure at each step nothing is random, and the plain walk says the same."""
    steps = data.draw(st.integers(1, 6))
    many = st.lists(st.integers(0, 150), min_size=steps, max_size=steps)
    gaps = np.array(data.draw(many))
    arms = np.array(data.draw(st.lists(st.integers(0, 2), min_size=3 * steps, max_size=3 * steps)))
    policies, duels = np.eye(3)[arms[:steps]], arms[steps:].reshape(-1, 2)
    total = int((gaps + 1).sum())
    cuts = sorted(data.draw(st.sets(st.integers(1, total), min_size=1, max_size=5)))
    lengths = np.diff(cuts, prepend=0)
    instance = random_instance(1, 3)
    shown, plays = nature(instance).walk(policies, gaps, duels, lengths)
    plain_shown, plain_plays = TapeResponses(instance, 0).walk(policies, gaps, duels, lengths)
    np.testing.assert_array_equal(shown, plain_shown)
    np.testing.assert_array_equal(plays, plain_plays)
    assert (shown.sum(axis=1) == 2 * lengths).all()
    assert plays.sum() == lengths.sum()


# Exploration times


def epsilons(rate: float, size: int, horizon: int) -> Floats:
    """Theorem 4.3, written down again."""
    t = np.arange(1, horizon + 1)
    return np.minimum(1.0, rate * np.cbrt(np.log(size * t) / t))


def explorations(
    rate: float, size: int, horizon: int, runs: int, steps: int, before: int = 0
) -> Ints:
    """Which of the rounds before + 1 to the horizon explore, in scripts of so many steps."""
    rng = np.random.default_rng(3)
    explored = np.zeros((runs, horizon - before), np.int64)
    for run in range(runs):
        for t in _times(rng, rate, size, horizon, steps, before):
            explored[run, t - before - 1] = 1
    return explored


def _times(
    rng: np.random.Generator, rate: float, size: int, horizon: int, steps: int, before: int = 0
) -> Iterator[int]:
    while True:
        gaps = SCRIPT.exploration_gaps(rng, rate, size, before, horizon, steps)
        yield from (before + np.cumsum(gaps + 1)).tolist()
        if len(gaps) < steps:
            return
        before += int((gaps + 1).sum())


def count_law(chances: Floats) -> Floats:
    """The exact law of a sum of independent events."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1.0 - chance, chance])
    return law


@pytest.mark.parametrize(
    ("rate", "size", "steps", "runs", "before"),
    [
        (0.3, 2, 1000, 20_000, 0),
        (0.9, 6, 1000, 20_000, 0),
        (1.2, 9, 1000, 20_000, 0),
        (0.9, 6, 3, 5000, 0),
        (1.5, 6, 1000, 20_000, 40 * _script._SPAN),  # a span of 41 rounds and part of the next
    ],
)
def test_each_round_explores_with_its_own_chance(
    rate: float, size: int, steps: int, runs: int, before: int
) -> None:
    horizon = before + 50
    chances = epsilons(rate, size, horizon)[before:]
    explored = explorations(rate, size, horizon, runs, steps, before)
    sure = chances == 1.0
    assert (explored[:, sure] == 1).all()
    surprise = (explored.mean(axis=0) - chances)[~sure]
    surprise /= np.sqrt(chances * (1 - chances) / runs)[~sure]
    # Sums of squares of independent standard normals: mean n, standard deviation sqrt(2 n).
    assert (surprise**2).sum() < len(surprise) + 4 * math.sqrt(2 * len(surprise))
    assert fits(np.bincount(explored.sum(axis=1), minlength=51), count_law(chances))


def test_chances_within_a_span_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans twice as long as all before, in which epsilon_t falls by a fifth; not compiled."""
    for name in ("_epsilon", "exploration_gaps"):
        monkeypatch.setattr(SCRIPT, name, inspect.unwrap(getattr(SCRIPT, name)))
    monkeypatch.setattr(SCRIPT, "_SPAN", 1)
    test_each_round_explores_with_its_own_chance(0.9, 6, 1000, 10_000, 20)


def test_rounds_explore_independently() -> None:
    runs = 5000
    explored = explorations(0.7, 6, 30, runs, 4)
    correlations = np.asarray(np.corrcoef(explored.T))[np.triu_indices(30, 1)]
    assert abs(correlations).max() < 4.5 / math.sqrt(runs)


def test_explorations_far_out() -> None:
    rate, size, horizon = 2.2, 100, 10**6
    chances = epsilons(rate, size, horizon)
    counts = [
        sum(1 for _ in _times(np.random.default_rng(seed), rate, size, horizon, 1000))
        for seed in range(10)
    ]
    spread = math.sqrt((chances * (1 - chances)).sum() / 10)
    assert abs(np.mean(counts) - chances.sum()) < 4 * spread


def test_no_later_round_explores_more_surely() -> None:
    """What the thinning rests on, down to the smallest problem that explores at all."""
    for size in (2, 3, 4, 10, 100):
        assert (np.diff(epsilons(0.01, size, 10_000)) <= 1e-18).all()
