"""What Fair-VOI takes answers to be worth, against plain sums and definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats
from fairduel.inference import (
    IndependentPairs,
    infer_pairs,
    infer_preferences,
    infer_strengths,
)
from fairduel.kernels import voi
from fairduel.learners.voi.plan import InformationValue, Overlap
from fairduel.learners.voi.value import (
    Situation,
    _overlap,
    information_value,
    left_derivatives,
    policy_values,
    value_arms,
)
from fairduel.tally import Tally
from fairduel.welfare import Egalitarian, Nash


def _posterior() -> IndependentPairs:
    """Three users with favourites of their own, from 60 answers to each pair."""
    likes = np.array([[1.0, 0.4, -0.2, 0.0], [-0.6, 0.7, 0.1, 0.2], [-0.3, 0.1, 0.9, 0.3]])
    chances = 1.0 / (1.0 + np.exp(likes[:, None, :] - likes[:, :, None]))
    wins = 60.0 * chances
    wins[:, np.arange(4), np.arange(4)] = 0.0
    return infer_pairs(wins)


def test_what_pairs_and_winners_are_worth_adds_up_to_the_gain_of_knowing_everything() -> None:
    """The split by the envelope theorem loses nothing: its sum is the mean gain, drawn anew."""
    posterior = _posterior()
    welfare = Nash()
    policy = welfare.maximize(posterior.scores).policy
    nodes = 16
    shares = (np.arange(8_000) % nodes + 0.5) / nodes
    drawn, winners, shifts = posterior.draw(shares, np.random.default_rng(1))
    slope, limit, winner_gains = welfare.compiled(3).run(
        voi.value_scores, posterior.scores, policy, drawn, welfare.follow(drawn, policy),
        np.tile(shares, 2), winners, shifts, posterior.means, posterior.counts,
    )  # fmt: skip
    known = posterior.draw(np.ones(20_000), np.random.default_rng(2))[0]
    best = welfare.value(np.einsum("bdk,bk->bd", known, welfare.follow(known, policy)))
    gain = float((best - welfare.value(known @ policy)).mean())
    assert gain > 0.001
    assert math.isclose(limit.sum() + winner_gains.sum(), gain, rel_tol=0.05)
    # Every pair rests on 61 answers here, with the prior's.
    assert np.allclose(slope * 61.0, limit)


@given(st.floats(0.0, 1.0), st.floats(1e-12, 0.25), st.sampled_from([1.0, 2.0, 4.0]), st.booleans())
def test_a_surprise_is_measured_by_likelihood(
    score: float, variance: float, size: float, better: bool
) -> None:
    scores, variances = np.array([[score, 0.5]]), np.array([[variance, 0.01]])
    parts, signs = np.ones((1, 2)), np.array([1.0, 1.0]) if better else np.array([-1.0, 1.0])
    supposed = voi.suppose(scores, variances, parts, signs, np.array([size]))
    assert np.array_equal(supposed[0, :, 1], scores[:, 1])
    assert np.array_equal(supposed[1, :, 0], scores[:, 0])
    p = min(max(score / 2.0, 1e-6), 0.5 - 1e-6)
    q = supposed[0, 0, 0] / 2.0
    assert 0.0 < q <= 0.5
    assert (q >= p) if better else (q <= p)
    answers = max(4.0 * p * (1.0 - p) / variance - 1.0, 1.0)
    divergence = p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    ends = 1e-11 < q < 0.5 - 1e-11  # else the score is cut off at 0 or 1
    # Where the two are within rounding of each other there is nothing to compare.
    if ends and abs(q - p) > 1e-6 * p:
        assert math.isclose(answers * divergence, size**2 / 2.0, rel_tol=1e-3)


def test_what_is_sure_is_not_worth_asking() -> None:
    which, losses = np.array([[0, 1]]), np.array([0.01])
    log_beats = np.zeros((1, 3, 3))
    log_beats[0, 2, 1] = -1e-9  # 1 beats 2 for sure ...
    log_beats[0, 1, 2] = -40.0
    log_beats[0, 0, 1] = log_beats[0, 1, 0] = math.log(0.5)  # ... and may or may not beat 0
    counts = np.full((1, 3, 3), 10.0)
    slope, limit = voi.value_winners(which, losses, log_beats, counts)
    assert math.isclose(limit[0, 1], 0.01)
    assert math.isclose(slope[0, 1], 0.001)
    assert limit[1, 2] < 1e-15
    assert limit[0, 2] == 0.0


def test_an_arm_in_use_may_prove_worse() -> None:
    """A pure policy learns nothing about its own arm, so that has to be asked for."""
    scores = np.array([[1.0, 0.1, 0.62], [0.1, 1.0, 0.62]])
    wins = np.zeros((2, 3, 3))
    for d in range(2):
        for k in range(3):
            if k != d:
                wins[d, k, d], wins[d, d, k] = 100 * scores[d, k], 200 - 100 * scores[d, k]
        wins[d, 1 - d, 2], wins[d, 2, 1 - d] = 40.0, 160.0
    posterior = infer_pairs(wins)
    policy = Nash().maximize(posterior.scores).policy
    assert np.allclose(policy, [0.0, 0.0, 1.0], atol=1e-6)
    slope, limit = value_arms(
        Nash(), policy, posterior.scores, posterior.variances, posterior.probabilities,
        posterior.counts,
    )  # fmt: skip
    assert limit[0, 2] > 0.0
    assert limit[1, 2] > 0.0
    assert slope[0, 2] > 5 * slope[0, 1]


def test_all_who_have_least_count_for_the_egalitarian() -> None:
    """At its best policy utilities are equal, and less for any one of them is less in all."""
    slopes = left_derivatives(Egalitarian(), np.array([0.5, 0.5, 0.7]))
    assert np.allclose(slopes, [1.0, 1.0, 0.0])


def test_the_slopes_of_the_product() -> None:
    slopes = left_derivatives(Nash(), np.array([0.5, 0.4]))
    assert np.allclose(slopes, [0.4, 0.5])


@pytest.mark.parametrize(("answers", "first", "second"), [(20, 14, 9), (40, 26, 17), (100, 65, 42)])
def test_under_borda_a_pair_is_worth_what_knowing_it_gains(
    answers: int, first: int, second: int
) -> None:
    """With two arms there is one pair, and what is lost without knowing it is its limit."""
    wins = np.zeros((2, 2, 2))
    for user, won in enumerate((first, second)):
        wins[user, 0, 1], wins[user, 1, 0] = won, answers - won
    posterior = infer_preferences(wins, "borda", draws=2000)
    policy = Nash().maximize(posterior.scores).policy
    plays = np.array([[0, answers], [0, 0]])
    value = information_value(
        posterior,
        Situation(Nash(), policy, Tally(plays, wins), 100.0, np.random.default_rng(1)),
    )
    best = Nash().follow(posterior.drawn)
    kept = Nash().value(posterior.drawn @ policy) / policy_values(Nash(), posterior.drawn, best)
    assert math.isclose(value.limit[0, 1], 1.0 - kept.mean(), rel_tol=0.15)
    assert math.isclose(value.limit[0, 1] / value.slope[0, 1], answers, rel_tol=0.15)


def test_under_borda_all_pairs_of_an_arm_tell_of_it_and_no_others() -> None:
    """Arm 2 may be better than it seems; how arms 0 and 1 do, both hopeless, is no matter."""
    wins = np.zeros((1, 4, 4))
    for i, j, won in ((3, 0, 990), (3, 1, 990), (2, 0, 990), (2, 1, 990), (3, 2, 5), (0, 1, 5)):
        wins[0, i, j], wins[0, j, i] = won, (10 if won < 10 else 1000) - won
    posterior = infer_preferences(wins, "borda")
    policy = Nash().maximize(posterior.scores).policy
    value = information_value(
        posterior,
        Situation(Nash(), policy, Tally.empty(1, 4), 100.0, np.random.default_rng(1)),
    )
    assert value.slope.argmax() == np.ravel_multi_index((2, 3), (4, 4))
    assert value.slope[0, 1] < 0.05 * value.slope[2, 3]


# Strengths: what answers about several pairs teach overlaps


def _made_up(seed: int, users: int = 2, arms: int = 5) -> Overlap:
    """Made-up covariances and worths, positive as they are but for what draws have of chance."""
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((2, users, arms, arms))
    worth, covariance = roots @ roots.transpose(0, 1, 3, 2)
    information = rng.uniform(0.0, 0.25, (users, arms, arms))
    return Overlap(worth, covariance, information + information.transpose(0, 2, 1))


def _laplacian(first: Floats, second: Floats, information: Floats) -> Floats:
    """What a round of two policies adds to the precision of one user's strengths."""
    found = np.zeros_like(information)
    for i, j in zip(*np.triu_indices(len(first), 1), strict=True):
        x = np.eye(len(first))[i] - np.eye(len(first))[j]
        often = first[i] * second[j] + first[j] * second[i]
        found += often * information[i, j] * np.outer(x, x)
    return found


def _exactly(overlap: Overlap, first: Floats, second: Floats, rounds: float) -> float:
    """Return what a normal posterior gains, by (S^-1 + n A)^-1 itself."""
    exact = 0.0
    for worth, covariance, information in zip(
        overlap.worth, overlap.covariance, overlap.information, strict=True
    ):
        told = _laplacian(first, second, information)
        # S - (S^-1 + n A)^-1 = n S A (I + n S A)^-1 S, and W counts S^-1 times that times S^-1.
        step = np.linalg.inv(np.eye(5) + rounds * covariance @ told)
        exact += float(np.trace(worth @ told @ step)) * rounds
    return exact


@given(st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 100.0]))
def test_overlapping_gains_are_no_more_than_a_normal_posterior_gains(
    seed: int, rounds: float
) -> None:
    overlap = _made_up(seed)
    first, second = np.random.default_rng(seed + 1).dirichlet(np.full(5, 0.5), size=2)
    exact = _exactly(overlap, first, second, rounds)
    (gain,) = overlap.gains(first[None], second[None], np.array([rounds]))[0]
    assert gain <= exact * (1.0 + 1e-9)


@given(st.integers(0, 10**6))
def test_slope_and_bend_of_overlapping_gains_are_exact(seed: int) -> None:
    """What is left is of the third order: half the rounds, an eighth of it."""
    overlap = _made_up(seed)
    first, second = np.random.default_rng(seed + 1).dirichlet(np.full(5, 2.0), size=2)
    lengths = np.array([2e-3, 1e-3])
    gains = overlap.gains(first[None], second[None], lengths)[:, 0]
    errors = [
        _exactly(overlap, first, second, n) - gain
        for n, gain in zip(lengths.tolist(), gains.tolist(), strict=True)
    ]
    assert errors[1] <= errors[0] / 7.0 + 1e-12 * gains[0]


def test_what_strengths_are_worth_by_plain_sums() -> None:
    rng = np.random.default_rng(1)
    pulls, strengths, shifts, moves = rng.standard_normal((4, 8, 2, 3))
    scales = rng.random(8)
    worth, covariance, information = voi.value_strengths(pulls, strengths, shifts, moves, scales)
    for d in range(2):
        joint = sum(np.outer(shifts[m, d], moves[m, d]) for m in range(8)) / 8
        pulled = sum(scales[m] * np.outer(pulls[m, d], shifts[m, d]) for m in range(8))
        assert np.allclose(worth[d], 0.5 * (joint @ pulled + (joint @ pulled).T))
        assert np.allclose(covariance[d], shifts[:, d].T @ shifts[:, d] / 8)
        ahead = strengths[::4, d, :, None] - strengths[::4, d, None, :]
        chances = 1.0 / (1.0 + np.exp(-ahead))
        assert np.allclose(information[d], (chances * (1.0 - chances)).mean(axis=0))


def test_knowing_all_strengths_gains_what_is_lost_for_not_knowing_them() -> None:
    """tr(W S^-1) is what knowing everything gains, but for what the scores are not linear in."""
    rng = np.random.default_rng(2)
    likes = rng.normal(0.0, 1.0, (3, 5))
    chances = 1.0 / (1.0 + np.exp(likes[:, None, :] - likes[:, :, None]))
    wins = np.where(np.eye(5, dtype=bool), 0.0, 30.0 * chances)
    posterior = infer_strengths(wins, draws=4_000)
    policy = Nash().maximize(posterior.scores).policy
    best = Nash().value(
        np.einsum("ndk,nk->nd", posterior.drawn, Nash().follow(posterior.drawn, policy))
    )
    lost = float((1.0 - Nash().value(posterior.drawn @ policy) / best).mean())
    found = _overlap(posterior, Nash(), policy)
    gained = sum(
        float(np.trace(worth @ np.linalg.pinv(covariance)))
        for worth, covariance in zip(found.worth, found.covariance, strict=True)
    )
    assert 0.7 * lost < gained < 1.3 * lost


def test_a_pair_by_itself_overlaps_with_nothing() -> None:
    """Two arms: the gain is the limit times m v / (1 + m v)."""
    overlap = _made_up(3, users=1)
    i, j, rounds = 1, 4, 7.0
    x = np.eye(5)[i] - np.eye(5)[j]
    variance = x @ overlap.covariance[0] @ x
    limit = x @ overlap.worth[0] @ x / variance
    seen = rounds * variance * overlap.information[0, i, j]
    (gain,) = overlap.gains(np.eye(5)[[i]], np.eye(5)[[j]], np.array([rounds]))[0]
    assert math.isclose(gain, limit * seen / (1.0 + seen))


def test_two_pairs_that_teach_the_same_are_not_counted_twice() -> None:
    """All users' arms 1 and 2 are one thing: comparing 0 with both is comparing it with one."""
    covariance = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]])
    overlap = Overlap(covariance, covariance, np.full((1, 3, 3), 0.25))
    policies = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    one, both = overlap.gains(policies[[0, 0]], policies[[1, 2]], np.array([20.0]))[0]
    assert math.isclose(one, both)
    nothing = np.zeros((3, 3))
    value = InformationValue(nothing, nothing, nothing, overlap)
    assert value.times(0.5).plus(value.times(0.5)).gains(
        policies[[0]], policies[[2]], np.array([20.0])
    ) == pytest.approx(both)


def test_what_strengths_are_worth_is_the_same_pair_by_pair() -> None:
    """Slopes of pairs are those of policies that show the pair and nothing else."""
    wins = np.random.default_rng(5).integers(0, 4, (3, 4, 4)).astype(np.float64)
    wins[:, np.arange(4), np.arange(4)] = 0.0
    posterior = infer_strengths(wins)
    tally = Tally(np.triu(wins.sum(axis=0), 1).astype(np.int64), wins)
    policy = Nash().maximize(posterior.scores).policy
    now = Situation(Nash(), policy, tally, 100.0, np.random.default_rng(1))
    value = information_value(posterior, now)
    i, j = np.triu_indices(4, 1)
    few = 1e-6
    gains = value.gains(np.eye(4)[i], np.eye(4)[j], np.array([few]))[0]
    assert np.allclose(gains / few, value.slope[i, j], rtol=1e-4, atol=1e-12)
    some = value.among(np.array([0, 2]))
    assert np.allclose(some.gains(np.eye(2)[[0]], np.eye(2)[[1]], np.array([few]))[0], gains[1])
