"""What Fair-VOI takes answers to be worth, against plain sums and definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel.inference import IndependentPairs, infer_pairs, infer_preferences
from fairduel.kernels import voi
from fairduel.learners.voi.value import (
    Situation,
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
    posterior = infer_preferences(wins, "borda")
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
