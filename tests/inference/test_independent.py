"""What the answers say is what Bayes' rule says."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from chance import SURPRISING, alike
from fairduel._arrays import Floats, Ints
from fairduel.inference import IndependentPairs, estimate_utilities, infer_pairs
from fairduel.inference.independent import draw_below_half


def _pair(won: float, lost: float) -> tuple[float, float, float]:
    """log P(X < 1/2), mean and std below 1/2 as inferred, for X ~ Beta(won + 1/2, ...)."""
    said = infer_pairs(np.array([[[0.0, won], [lost, 0.0]]]))
    return (
        said.log_beats[0, 0, 1],
        0.5 * float(said.means[0, 0, 1]),
        0.5 * float(said.stds[0, 0, 1]),
    )


def _integrated(won: float, lost: float) -> tuple[float, float, float]:
    """The same by the trapezoidal rule, with points that crowd towards both ends."""
    a, b = won + 0.5, lost + 0.5
    angle = np.linspace(0.0, math.pi, 200_001)[1:-1]
    x = 0.25 * (1.0 - np.cos(angle))
    log_weight = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) + np.log(0.25 * np.sin(angle))
    weight = np.exp(log_weight - log_weight.max())
    whole = weight.sum() * (angle[1] - angle[0])
    mean = float(weight @ x / weight.sum())
    spread = math.sqrt(weight @ (x - mean) ** 2 / weight.sum())
    return math.log(whole) + log_weight.max() - special.betaln(a, b), mean, spread


@settings(max_examples=60)
@given(st.integers(0, 3000), st.integers(0, 3000))
def test_a_pair_is_that_of_a_beta_distribution(won: int, lost: int) -> None:
    """Also far out in the tails; where a normal is taken for it, to what the kernel promises."""
    (log_chance, mean, spread), truth = _pair(won, lost), _integrated(won, lost)
    assert math.isclose(log_chance, truth[0], abs_tol=0.005)
    assert math.isclose(mean, truth[1], abs_tol=0.02 * truth[2])
    assert math.isclose(spread, truth[2], rel_tol=0.02)


@pytest.mark.parametrize("won", [1, 30, 59, 60, 199, 200, 201, 1000])
def test_one_more_loss_makes_winning_less_likely(won: int) -> None:
    for lost in (0, 1, 59, 60, 199, 200, 1000):
        assert _pair(won + 1, lost)[0] <= _pair(won, lost)[0]
        assert _pair(won, lost + 1)[0] >= _pair(won, lost)[0]
    assert _pair(won + 1, 0)[0] < _pair(won, 0)[0]


def _with_a_winner(wins: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Preferences drawn from the Beta law of each pair, where some arm beats all; and that arm."""
    arms = len(wins)
    upper = np.triu_indices(arms, 1)
    preferences = np.full((draws, arms, arms), 0.5)
    drawn = rng.beta(wins[upper] + 0.5, wins.T[upper] + 0.5, (draws, len(upper[0])))
    preferences[:, upper[0], upper[1]] = drawn
    preferences[:, upper[1], upper[0]] = 1.0 - drawn
    beats_all = (preferences > 0.5).sum(axis=2) == arms - 1
    has_winner = beats_all.any(axis=1)
    return preferences[has_winner], beats_all[has_winner].argmax(axis=1)


def _scores(preferences: Floats, winners: Ints) -> Floats:
    return np.asarray(2.0 * preferences[np.arange(len(winners)), :, winners])


def _some_wins(rng: np.random.Generator) -> Floats:
    wins = rng.integers(0, 5, (4, 4)).astype(np.float64)
    np.fill_diagonal(wins, 0.0)
    return wins


def test_chances_of_winners_are_those_of_draws_that_have_one() -> None:
    rng = np.random.default_rng(1)
    wins = _some_wins(rng)
    posterior = infer_pairs(wins[None])
    preferences, winners = _with_a_winner(wins, 400_000, rng)
    shares = np.bincount(winners, minlength=4) / len(winners)
    assert np.allclose(posterior.probabilities[0], shares, atol=0.01)
    scores = _scores(preferences, winners)
    assert np.allclose(posterior.scores[0], scores.mean(axis=0), atol=0.01)
    assert np.allclose(posterior.variances[0], scores.var(axis=0), atol=0.005)


def test_known_winners_are_believed() -> None:
    posterior = infer_pairs(np.array([[[0.0, 9.0], [0.0, 0.0]]]), (1,))
    assert posterior.probabilities.tolist() == [[0.0, 1.0]]
    assert posterior.scores[0, 1] == 1.0
    assert posterior.scores[0, 0] < 1.0


def test_counts_are_answers_with_those_of_the_prior() -> None:
    wins = np.array([[[0.0, 9.0], [2.0, 0.0]]])
    assert infer_pairs(wins).counts[0].tolist() == [[1.0, 12.0], [12.0, 1.0]]
    assert infer_pairs(wins, prior=3.0).counts[0].tolist() == [[6.0, 17.0], [17.0, 6.0]]


def test_a_stronger_prior_is_surer_that_arms_are_alike() -> None:
    wins = np.array([[[0.0, 2.0], [9.0, 0.0]]])
    loose, strong = infer_pairs(wins), infer_pairs(wins, prior=50.0)
    assert strong.scores[0, 0] > loose.scores[0, 0]
    assert strong.stds[0, 0, 1] < loose.stds[0, 0, 1]


# Draws


def _some_posterior() -> IndependentPairs:
    rng = np.random.default_rng(2)
    wins = rng.integers(0, 30, (3, 4, 4)).astype(np.float64)
    wins[:, np.arange(4), np.arange(4)] = 0.0
    return infer_pairs(wins)


def test_draws_have_the_mean_and_variance_of_the_posterior() -> None:
    posterior = _some_posterior()
    drawn, winners, _ = posterior.draw(np.ones(20_000), np.random.default_rng(3))
    assert np.allclose(drawn.mean(axis=0), posterior.scores, atol=0.01)
    assert np.allclose(drawn.var(axis=0), posterior.variances, atol=0.01)
    for d in range(3):
        shares = np.bincount(winners[:, d], minlength=4) / len(winners)
        assert np.allclose(shares, posterior.probabilities[d], atol=0.001)


def test_a_share_of_the_variance_is_resolved() -> None:
    posterior = _some_posterior()
    drawn, _, _ = posterior.draw(np.full(20_000, 0.25), np.random.default_rng(3))
    assert np.allclose(drawn.var(axis=0), 0.25 * posterior.variances, atol=0.003)


@pytest.mark.parametrize("won", [0.5, 1.0, 2.5, 8.5, 40.5, 900.5])
@pytest.mark.parametrize("lost", [0.5, 3.5, 30.0, 700.5])
def test_a_pair_is_drawn_from_a_beta_below_one_half(won: float, lost: float) -> None:
    """Both where that is likely and where it almost never is."""
    many = np.ones((100, 200))
    drawn = draw_below_half(won * many, lost * many, np.random.default_rng(1))
    assert drawn.shape == many.shape
    whole = special.betainc(won, lost, 0.5)
    found = stats.kstest(drawn.ravel(), lambda x: special.betainc(won, lost, x) / whole)
    assert found.pvalue > SURPRISING


def test_far_out_a_pair_is_drawn_as_well() -> None:
    """P(X < 1/2) is below what a float can hold, and the tail is exponential."""
    won, lost = 1e7 + 0.5, 0.5
    drawn = draw_below_half(np.full(20_000, won), np.full(20_000, lost), np.random.default_rng(1))
    assert drawn.max() <= 0.5
    rate = 0.5 * (won - lost)
    odds = rate * np.log((1.0 - drawn) / drawn)
    assert stats.kstest(odds, "expon").pvalue > SURPRISING


def test_a_sample_is_of_draws_that_have_a_winner() -> None:
    """Arm by arm, and several arms together: what a user gets from policies."""
    rng = np.random.default_rng(1)
    wins = _some_wins(rng)
    sample = infer_pairs(np.repeat(wins[None], 100, axis=0)).sample(rng).reshape(-1, 4)
    scores = _scores(*_with_a_winner(wins, 60_000, rng))
    for policy in (*np.eye(4), np.full(4, 0.25), np.array([0.5, 0.0, 0.5, 0.0])):
        assert alike(sample @ policy, scores @ policy)


def test_a_sample_knows_the_winners_that_are_known() -> None:
    wins = np.repeat(_some_wins(np.random.default_rng(1))[None], 50, axis=0)
    sample = infer_pairs(wins, [2] * 50).sample(np.random.default_rng(2))
    assert (sample[:, :, 2] == 1.0).all()
    assert (sample[:, :, [0, 1, 3]] < 1.0).all()
    won, lost = wins[0, 0, 2] + 0.5, wins[0, 2, 0] + 0.5
    whole = special.betainc(won, lost, 0.5)
    found = stats.kstest(
        sample[:, :, 0].ravel(), lambda s: special.betainc(won, lost, s / 2) / whole
    )
    assert found.pvalue > SURPRISING


# What people get


@pytest.mark.parametrize(("arms", "answers"), [(2, 0), (3, 0), (4, 1), (4, 5)])
def test_intervals_hold_95_percent_of_users_from_the_prior(arms: int, answers: int) -> None:
    """Preferences drawn from the prior, few answers to each pair, and the uniform policy.

    The number of users in their intervals is then binomial, and within 4 of its deviations.
    """
    users, rng = 2000, np.random.default_rng([arms, answers])
    preferences, winners = _with_a_winner(np.zeros((arms, arms)), 3 * users, rng)
    preferences, winners = preferences[:users], winners[:users]
    won = rng.binomial(answers, np.triu(preferences, 1)).astype(np.float64)
    posterior = infer_pairs(won + np.triu(answers - won, 1).transpose(0, 2, 1))
    policy = np.full(arms, 1.0 / arms)
    found = estimate_utilities(posterior, policy, posterior.sample(rng))
    truth = _scores(preferences, winners) @ policy
    inside = np.mean((found.low <= truth) & (truth <= found.high))
    assert abs(inside - 0.95) < 4.0 * math.sqrt(0.95 * 0.05 / users)


def test_an_interval_leaves_out_one_draw_in_40_at_either_end() -> None:
    """399 draws of 1/400 to 399/400, so that the 10th and the 390th are the ends."""
    posterior = infer_pairs(np.zeros((1, 2, 2)))
    sample = np.zeros((399, 1, 2))
    sample[:, 0, 1] = np.random.default_rng(1).permutation(np.arange(1, 400)) / 400
    found = estimate_utilities(posterior, np.array([0.0, 1.0]), sample)
    assert (found.low[0], found.high[0]) == pytest.approx((10 / 400, 390 / 400))


@pytest.mark.parametrize(("chance", "named"), [(0.3, ()), (0.06, ()), (0.04, (1,))])
def test_a_winner_is_doubted_where_it_beats_some_arm_with_less_than_5_percent(
    chance: float, named: tuple[int, ...]
) -> None:
    posterior = infer_pairs(np.array([[[0.0, 9.0], [0.0, 0.0]]] * 2))
    log_beats = posterior.log_beats.copy()
    log_beats[1, 1, 0] = math.log(chance)
    posterior = replace(posterior, log_beats=log_beats)
    sample = posterior.sample(np.random.default_rng(1))
    found = estimate_utilities(posterior, np.array([0.5, 0.5]), sample)
    assert found.references.tolist() == [0, 0]
    assert found.without_winner == named


def test_intervals_narrow_as_answers_come() -> None:
    policy = np.array([0.5, 0.5, 0.0])
    preferences = np.array([[[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]]])

    def width(answers: float) -> float:
        posterior = _sure(preferences, answers)
        found = estimate_utilities(posterior, policy, posterior.sample(np.random.default_rng(1)))
        assert found.low[0] <= found.utilities[0] <= found.high[0]
        return float(found.high[0] - found.low[0])

    assert width(1000.0) < 0.5 * width(100.0) < 0.5 * width(10.0)


def _sure(preferences: Floats, answers: float) -> IndependentPairs:
    wins = answers * preferences
    wins[:, np.arange(3), np.arange(3)] = 0.0
    return infer_pairs(wins)


def test_who_prefers_in_a_circle_is_named() -> None:
    cycle = np.array([[0.5, 0.9, 0.2], [0.1, 0.5, 0.9], [0.8, 0.1, 0.5]])
    clear = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.6], [0.1, 0.4, 0.5]])
    posterior = _sure(np.stack([cycle, clear]), 200.0)
    sample = posterior.sample(np.random.default_rng(1))
    found = estimate_utilities(posterior, np.full(3, 1 / 3), sample)
    assert found.without_winner == (0,)
    assert found.references.tolist() == [0, 0]  # arm 0 loses least badly


def test_an_interval_holds_its_mean() -> None:
    """Even where a far tail takes the mean out of the middle 95 %."""
    wins = np.zeros((1, 2, 2))
    wins[0, 0, 1], wins[0, 1, 0] = 25.0, 10.0
    posterior = infer_pairs(wins)
    for policy in np.eye(2):
        found = estimate_utilities(posterior, policy, posterior.sample(np.random.default_rng(1)))
        assert found.low[0] <= found.utilities[0] <= found.high[0]
