"""The posterior of people with strengths, and its mixture with independent pairs."""

import math

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.environments import bradley_terry_instance, random_instance
from fairduel.inference import (
    Mixed,
    Strengths,
    estimate_utilities,
    infer,
    infer_pairs,
    infer_strengths,
)
from fairduel.inference.strengths import HYPOTHESES
from fairduel.instance import Instance
from fairduel.kernels import strengths as kernels


def _answers(instance: Instance, votes: int, seed: int) -> Floats:
    """Answers of everybody to duels chosen at random."""
    rng = np.random.default_rng(seed)
    users, arms, _ = instance.preferences.shape
    wins = np.zeros((users, arms, arms))
    for _ in range(votes):
        i, j = rng.choice(arms, 2, replace=False)
        left = rng.random(users) < instance.preferences[:, i, j]
        wins[left, i, j] += 1.0
        wins[~left, j, i] += 1.0
    return wins


def _by_force(wins: Floats, spread: float, residual: float, n: int) -> tuple[float, Floats, Floats]:
    """The log evidence, winner probabilities and scores of one user, by drawing from the prior."""
    rng = np.random.default_rng(1)
    arms = wins.shape[0]
    theta = spread * rng.standard_normal((n, arms))
    deviations = residual * np.triu(rng.standard_normal((n, arms, arms)), 1)
    odds = theta[:, :, None] - theta[:, None] + deviations - deviations.transpose(0, 2, 1)
    likelihood = np.exp(-(wins * np.logaddexp(0.0, -odds)).sum(axis=(1, 2)))
    beats_all = np.asarray(((odds > 0.0) | np.eye(arms, dtype=bool)).all(axis=2))
    has_winner, winners = beats_all.any(axis=1), beats_all.argmax(axis=1)
    scores = 2.0 / (1.0 + np.exp(-odds[np.arange(n), :, winners]))
    weights = likelihood * has_winner
    weights /= weights.sum()
    chances = np.array([weights[winners == w].sum() for w in range(arms)])
    return math.log(likelihood.mean()), chances, weights @ scores


CASES = {
    "nothing": np.zeros((3, 3)),
    "few": np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]),
    "a cycle": np.array([[0.0, 4.0, 1.0], [1.0, 0.0, 4.0], [4.0, 1.0, 0.0]]),
    "one-sided": np.array([[0.0, 6.0, 6.0], [0.0, 0.0, 6.0], [0.0, 0.0, 0.0]]),
    "many": np.array([[0.0, 30.0, 45.0], [20.0, 0.0, 35.0], [5.0, 15.0, 0.0]]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("spread", "residual"), [(0.5, 0.0), (2.0, 0.0), (1.0, 0.5)])
def test_laplace_is_near_brute_force(case: str, spread: float, residual: float) -> None:
    """Evidence to 0.15, probabilities and scores to 0.06 (draws of both among it)."""
    wins, n = CASES[case][None], 4000
    evidence, chances, scores = _by_force(wins[0], spread, residual, 200_000)
    found = kernels.evidence(wins, np.array([spread]), np.array([residual]))
    assert abs(float(found[0, 0]) - evidence) < 0.15
    rng = np.random.default_rng(2)
    drawn = kernels.draw(
        wins, np.array([-1]), spread, residual,
        rng.standard_normal((n, 1, 3)), rng.random((n, 1)), rng.random((n, 1, 3)),
    )  # fmt: skip
    assert np.abs(np.bincount(drawn[3][:, 0], minlength=3) / n - chances).max() < 0.06
    assert np.abs(drawn[2][:, 0].mean(axis=0) - scores).max() < 0.06


def test_the_evidence_says_how_people_are() -> None:
    """Transitive answers speak for strengths and the right spread, others for single pairs."""
    like = infer(_answers(bradley_terry_instance(5, 8, seed=1), 300, seed=1))
    assert isinstance(like, Strengths)
    spreads = HYPOTHESES[:, 0]
    assert like.weights[spreads == 1.0].sum() > 0.9
    wins = _answers(random_instance(5, 8, seed=1), 300, seed=1)
    assert not isinstance(infer(wins), Strengths)
    assert infer_pairs(wins).log_evidence() > infer_strengths(wins).log_evidence + 10.0


def test_a_mixture_is_between_its_parts() -> None:
    found = infer(np.zeros((2, 3, 3)))
    assert isinstance(found, Mixed)
    assert math.isclose(sum(weight for weight, _ in found.parts), 1.0)
    assert np.allclose(found.probabilities.sum(axis=1), 1.0)
    assert np.allclose(found.scores, sum(weight * part.scores for weight, part in found.parts))
    sample = found.sample(np.random.default_rng(1), 2001)
    assert sample.shape == (2001, 2, 3)
    assert np.abs(sample.mean(axis=0) - found.scores).max() < 0.06
    assert (sample.max(axis=2) == 1.0).all()


def test_the_same_answers_give_the_same_posterior() -> None:
    wins = _answers(bradley_terry_instance(3, 4, seed=2), 40, seed=2)
    assert np.array_equal(infer(wins).scores, infer(wins.copy()).scores)


def test_known_winners_are_known() -> None:
    wins = _answers(bradley_terry_instance(2, 4, seed=3), 60, seed=3)
    found = infer_strengths(wins, (3, None))
    assert found.probabilities[0].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert (found.drawn[:, 0, 3] == 1.0).all()
    assert found.drawn.max() <= 1.0
    assert (found.probabilities[1] < 1.0).any()


@pytest.mark.parametrize("votes", [40, 160])
def test_intervals_hold_for_people_with_strengths(votes: int) -> None:
    """Of the uniform policy, where independent pairs held 80 to 86 %."""
    inside: list[bool] = []
    for seed in range(40):
        instance = bradley_terry_instance(5, 8, seed=100 + seed)
        found = infer(_answers(instance, votes, seed))
        policy = np.full(8, 1.0 / 8.0)
        seen = estimate_utilities(found, policy, found.sample(np.random.default_rng(seed)))
        truth = instance.scores @ policy
        inside += ((seen.low <= truth) & (truth <= seen.high)).tolist()
    assert 0.9 <= np.mean(inside) <= 0.985
