"""Users who may be alike: against brute force, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.inference import infer_strengths
from fairduel.inference.alike import LARGEST, SPREADS, _fit, infer_alike
from fairduel.inference.correlated import Correlated, infer_kinds, laplace
from fairduel.inference.posterior import DRAWS


def votes(theta: Floats, each: int, rng: np.random.Generator) -> Floats:
    """Each user's answers to a few pairs of their own."""
    users, arms = theta.shape
    wins = np.zeros((users, arms, arms))
    for d in range(users):
        for _ in range(each):
            i, j = rng.choice(arms, 2, replace=False)
            first = rng.random() < 1.0 / (1.0 + np.exp(theta[d, j] - theta[d, i]))
            wins[d, i, j] += first
            wins[d, j, i] += not first
    return wins


def weighted_draws(wins: Floats, covariance: Floats, n: int) -> tuple[Floats, Floats]:
    """Brute force: draws from the prior, each with its likelihood."""
    users, arms, _ = wins.shape
    rng = np.random.default_rng(1)
    theta = np.linalg.cholesky(covariance) @ rng.standard_normal((n, users, arms))
    ahead = theta[:, :, :, None] - theta[:, :, None, :]
    return theta, np.exp(-(wins * np.logaddexp(0.0, -ahead)).sum(axis=(1, 2, 3)))


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_given_a_covariance_it_agrees_with_brute_force(correlation: float) -> None:
    covariance = (1.0 - correlation) * np.eye(2) + correlation
    wins = votes(np.array([[1.0, 0.0, -1.0], [0.5, 0.5, -1.0]]), 4, np.random.default_rng(3))
    theta, weights = weighted_draws(wins, covariance, 400_000)
    fit = laplace(wins, covariance, np.zeros((2, 3)))
    mean = np.tensordot(weights / weights.sum(), theta, 1)
    np.testing.assert_allclose(fit.mode, mean, atol=0.12)  # a mode, and not a mean
    # The evidence, less its constants: Laplace leaves (2 pi)^(DK / 2) of prior and posterior out.
    assert fit.log_evidence == pytest.approx(float(np.log(weights.mean())), abs=0.15)


def test_the_mode_is_one() -> None:
    """No small step from it is better, and the last step of Newton's was small."""
    wins = votes(np.random.default_rng(1).standard_normal((3, 4)), 6, np.random.default_rng(2))
    fit = laplace(wins, np.eye(3), np.zeros((3, 4)))
    again = laplace(wins, np.eye(3), fit.mode)
    np.testing.assert_allclose(again.mode, fit.mode, atol=1e-6)


def test_correlations_are_learned() -> None:
    """Three users who agree, and one who wants the opposite."""
    rng = np.random.default_rng(5)
    taste = 2.0 * rng.standard_normal(8)
    wins = votes(np.array([taste, taste, taste, -taste]), 12, rng)
    together, apart = (
        np.asarray(np.corrcoef(_fit(wins, 1.0, learned).mode)) for learned in (True, False)
    )
    assert together[:3, :3].min() > apart[:3, :3].min()
    assert together[:3, :3].min() > 0.4
    assert together[3, :3].max() < -0.1


def test_who_agrees_is_believed_to_agree_on_the_rest() -> None:
    """Four users agree on much; three prefer 5 to 6, and the last was not asked."""
    theta = np.array([[3.0, 2.0, 1.0, 0.0, -1.0]] * 4)
    wins = np.pad(votes(theta, 30, np.random.default_rng(2)), ((0, 0), (0, 2), (0, 2)))
    wins[:3, 5, 6] = 6.0
    alike, alone = infer_alike(wins), infer_strengths(wins[3:])
    assert isinstance(alike, Correlated)

    def prefers(strengths: Floats) -> float:
        return float((strengths[:, -1, 5] > strengths[:, -1, 6]).mean())

    assert prefers(alone.strengths) == pytest.approx(0.5, abs=0.12)
    assert prefers(alike.strengths) > 0.8


def predicted(strengths: Floats, theta: Floats) -> float:
    """Return how well answers about all pairs are predicted: the mean log probability."""
    i, j = np.triu_indices(theta.shape[1], 1)

    def chances(x: Floats) -> Floats:
        return np.asarray(1.0 / (1.0 + np.exp(x[..., j] - x[..., i])))

    truth, said = chances(theta), chances(strengths).mean(axis=0)
    return float((truth * np.log(said) + (1.0 - truth) * np.log(1.0 - said)).mean())


@pytest.mark.parametrize(("shared", "gains"), [(0.0, -0.01), (0.8, 0.01)])
def test_it_predicts_better_where_users_are_alike_and_as_well_where_not(
    shared: float, gains: float
) -> None:
    """Than people with the same spreads who are taken to be unrelated."""
    gained = []
    for run in range(12):
        rng = np.random.default_rng([run, 7])
        camps = rng.standard_normal((2, 8))[np.arange(6) % 2]
        apart = rng.standard_normal((6, 8))
        theta = 1.5 * (np.sqrt(shared) * camps + np.sqrt(1.0 - shared) * apart)
        wins = votes(theta, 7, rng)
        unrelated = [[laplace(wins, s**2 * np.eye(6), np.zeros((6, 8)))] for s in SPREADS]
        alone = predicted(infer_kinds(wins, None, unrelated, DRAWS).strengths, theta)
        gained.append(predicted(infer_alike(wins).strengths, theta) - alone)
    assert np.mean(gained) > gains


def test_a_known_winner_wins() -> None:
    wins = votes(np.zeros((3, 4)), 5, np.random.default_rng(1))
    found = infer_alike(wins, (2, None, None))
    assert found.probabilities[0].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert (found.drawn[:, 0, 2] == 1.0).all()


def test_the_same_votes_give_the_same_draws() -> None:
    wins = votes(np.zeros((3, 4)), 5, np.random.default_rng(1))
    np.testing.assert_array_equal(infer_alike(wins).drawn, infer_alike(wins.copy()).drawn)


@pytest.mark.parametrize("users", [1, LARGEST // 4 + 1])
def test_one_user_and_very_many_are_taken_one_by_one(users: int) -> None:
    assert not isinstance(infer_alike(np.zeros((users, 4, 4))), Correlated)


def test_intervals_hold_the_truth() -> None:
    """Utilities of the uniform policy: 95 % intervals of two camps with seven answers each."""
    inside = []
    for run in range(25):
        rng = np.random.default_rng([run, 3])
        camps = rng.standard_normal((2, 6))
        theta = 1.5 * camps[np.arange(6) % 2] + 0.5 * rng.standard_normal((6, 6))
        found = infer_alike(votes(theta, 7, rng))
        ahead = theta - theta.max(axis=1, keepdims=True)
        truth = (2.0 / (1.0 + np.exp(-ahead))).mean(axis=1)
        low, high = np.quantile(found.drawn.mean(axis=2), [0.025, 0.975], axis=0)
        inside += ((low <= truth) & (truth <= high)).tolist()
    assert 0.88 <= np.mean(inside) <= 0.99
