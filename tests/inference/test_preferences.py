"""The posterior without winners: its draws have the right law, and it covers the truth."""

from __future__ import annotations

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.inference import Preferences, infer, infer_preferences
from fairduel.inference.preferences import _draw, _tensors
from fairduel.inference.strengths import HYPOTHESES
from fairduel.kernels import strengths
from fairduel.scorings import SCORINGS, borda


def some_wins(users: int, arms: int, answers: int, seed: int) -> tuple[Floats, Floats]:
    """Preferences without any order, and as many answers about every pair."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(arms, 1)
    chances = rng.beta(0.5, 0.5, (users, len(i)))
    truth, wins = _tensors(chances, arms), np.zeros((users, arms, arms))
    wins[:, i, j] = rng.binomial(answers, chances)
    wins[:, j, i] = answers - wins[:, i, j]
    return truth, wins


def only(kind: int) -> Floats:
    weights = np.zeros(1 + len(HYPOTHESES))
    weights[kind] = 1.0
    return weights


def test_independent_pairs_have_beta_draws() -> None:
    _, wins = some_wins(2, 3, 5, seed=1)
    drawn = _draw(wins, only(0), 100_000, np.random.default_rng(2))
    i, j = np.triu_indices(3, 1)
    a, b = wins[:, i, j] + 0.5, wins[:, j, i] + 0.5
    np.testing.assert_allclose(drawn.mean(axis=0), a / (a + b), atol=5e-3)
    variance = a * b / (a + b) ** 2 / (a + b + 1.0)
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.03)


def test_borda_scores_have_the_mean_and_the_covariance_of_independent_pairs() -> None:
    """E b is the mean of means, and Cov b = (diag(sum_j v_kj) - v) / (K - 1)^2."""
    arms = 4
    _, wins = some_wins(1, arms, 20, seed=3)
    drawn = _tensors(_draw(wins, only(0), 100_000, np.random.default_rng(4))[:, 0], arms)
    means = (drawn.sum(axis=2) - 0.5) / (arms - 1)
    a = wins[0] + 0.5
    n = a + a.T
    mean, v = a / n, a * a.T / n**2 / (n + 1.0)
    v[np.eye(arms, dtype=bool)] = 0.0
    np.testing.assert_allclose(means.mean(axis=0), (mean.sum(axis=1) - 0.5) / 3, atol=2e-3)
    covariance = (np.diag(v.sum(axis=1)) - v) / (arms - 1) ** 2
    np.testing.assert_allclose(np.cov(means.T), covariance, atol=6e-5)  # four errors


def test_strengths_have_draws_around_their_mode() -> None:
    """With very many answers there is nothing left but the truth, deviations of pairs and all."""
    theta = np.array([1.0, 0.3, -0.5, 0.0])
    chances = 1.0 / (1.0 + np.exp(theta[None] - theta[:, None]))
    chances[0, 2], chances[2, 0] = 0.7, 0.3  # a pair of its own
    wins = np.ascontiguousarray(1e6 * chances * (1.0 - np.eye(4)))[None]
    rng = np.random.default_rng(5)
    normals, deviations = rng.standard_normal((50, 2, 4)), rng.standard_normal((50, 1, 6))
    drawn = _tensors(
        strengths.draw_chances(wins, np.array([1.0, 0.5, 0.0]), normals, deviations.copy())[:, 0], 4
    )
    np.testing.assert_allclose(drawn.mean(axis=0), chances, atol=2e-3)
    plain = _tensors(
        strengths.draw_chances(wins, np.array([1.0, 0.0, 0.0]), normals, deviations.copy())[:, 0], 4
    )
    odds = np.log(plain / (1.0 - plain))
    np.testing.assert_allclose(odds[:, 0, 2], odds[:, 0, 1] + odds[:, 1, 2], atol=1e-9)


def test_without_answers_strengths_have_their_prior() -> None:
    rng = np.random.default_rng(6)
    normals, deviations = rng.standard_normal((100_000, 3, 2)), rng.standard_normal((100_000, 2, 1))
    hypothesis = np.array([1.0, 0.5, 0.8])
    drawn = strengths.draw_chances(np.zeros((2, 2, 2)), hypothesis, normals, deviations)
    odds = np.log(drawn / (1.0 - drawn))[:, :, 0]
    assert abs(odds.mean()) < 0.02
    assert odds.var(axis=0) == pytest.approx(2.0 + 0.25, rel=0.02)
    assert np.cov(odds.T)[0, 1] == pytest.approx(2.0 * 0.8, rel=0.02)


@pytest.mark.parametrize("scoring", ["maximin", "borda"])
def test_scores_are_those_of_the_drawn_preferences(scoring: str) -> None:
    _, wins = some_wins(2, 4, 3, seed=7)
    found = infer(wins, scoring=scoring)
    assert isinstance(found, Preferences)
    for draw in (0, 17):
        tensor = _tensors(found.chances[draw], 4)
        np.testing.assert_array_equal(found.drawn[draw], SCORINGS[scoring].score(tensor))
    np.testing.assert_allclose(found.scores, found.drawn.mean(axis=0))
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    again = infer(wins, scoring=scoring)
    assert isinstance(again, Preferences)
    np.testing.assert_array_equal(found.drawn, again.drawn)  # the same answers, the same draws
    np.testing.assert_array_equal(
        found.sample(np.random.default_rng(1)), again.sample(np.random.default_rng(1))
    )


def test_answers_decide_between_strengths_and_independent_pairs() -> None:
    _, unordered = some_wins(5, 8, 30, seed=8)
    found = infer_preferences(unordered, "borda")
    assert found.weights[0] > 0.99
    assert found.weights.sum() == pytest.approx(1.0)
    theta = np.random.default_rng(9).standard_normal((5, 8))
    chances = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
    ordered = np.ascontiguousarray(np.rint(30 * chances) * (1 - np.eye(8)))
    assert infer_preferences(ordered, "borda").weights[0] < 0.01


@pytest.mark.parametrize("answers", [1, 5, 30])
def test_intervals_cover_what_users_get(answers: int) -> None:
    """95 % of the true utilities of a policy are in the intervals, whatever the answers."""
    policy, inside = np.array([0.4, 0.3, 0.2, 0.1, 0.0]), []
    for seed in range(8):
        truth, wins = some_wins(60, 5, answers, seed=100 + seed)
        sample = infer_preferences(wins, "borda").sample(np.random.default_rng(1)) @ policy
        low, high = np.quantile(sample, [0.025, 0.975], axis=0, method="weibull")
        true = borda(truth) @ policy
        inside.append(((low <= true) & (true <= high)).mean())
    assert 0.92 < np.mean(inside) < 0.985


def test_many_users_and_arms_keep_fewer_draws() -> None:
    assert len(infer_preferences(np.zeros((5, 10, 10)), "borda").drawn) == 256
    assert len(infer_preferences(np.zeros((40, 40, 40)), "borda").drawn) == 32
