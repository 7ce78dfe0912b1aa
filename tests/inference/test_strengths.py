"""The posterior of people with strengths, and its mixture with independent pairs."""

import math

import numpy as np
import pytest

from fairduel import Nash
from fairduel._arrays import Floats
from fairduel.environments import bradley_terry_instance, random_instance
from fairduel.environments.people import families
from fairduel.inference import (
    Mixed,
    Strengths,
    estimate_utilities,
    infer,
    infer_pairs,
    infer_strengths,
)
from fairduel.inference.mixed import ODDS
from fairduel.inference.strengths import HYPOTHESES, PRIOR, weigh_strengths
from fairduel.instance import Instance
from fairduel.kernels import strengths as kernels
from fairduel.learners.voi.candidates import candidates


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


def _by_force(wins: Floats, hypothesis: Floats, n: int) -> tuple[float, Floats, Floats]:
    """The log evidence, winner probabilities and scores (D, K), by drawing from the prior.

    That all users have a winner is asked for user by user, as by the model.
    """
    spread, residual, correlation = hypothesis
    rng = np.random.default_rng(1)
    users, arms, _ = wins.shape
    common = math.sqrt(correlation) * rng.standard_normal((n, 1, arms))
    apart = math.sqrt(1.0 - correlation) * rng.standard_normal((n, users, arms))
    theta = spread * (common + apart)
    above = np.triu(rng.standard_normal((n, users, arms, arms)), 1)
    odds = theta[..., None] - theta[:, :, None] + residual * (above - above.transpose(0, 1, 3, 2))
    likelihood = np.exp(-(wins * np.logaddexp(0.0, -odds)).sum(axis=(1, 2, 3)))
    beats_all = ((odds > 0.0) | np.eye(arms, dtype=bool)).all(axis=3)
    winners = beats_all.argmax(axis=2)
    scores = 2.0 / (1.0 + np.exp(-np.take_along_axis(odds, winners[:, :, None, None], axis=3)))
    weights = likelihood[:, None] * beats_all.any(axis=2)
    weights /= weights.sum(axis=0)
    chances = np.stack([(weights * (winners == w)).sum(axis=0) for w in range(arms)], axis=1)
    return math.log(likelihood.mean()), chances, np.einsum("nd,ndk->dk", weights, scores[..., 0])


CASES = {
    "nothing": np.zeros((3, 3)),
    "few": np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]),
    "a cycle": np.array([[0.0, 4.0, 1.0], [1.0, 0.0, 4.0], [4.0, 1.0, 0.0]]),
    "one-sided": np.array([[0.0, 6.0, 6.0], [0.0, 0.0, 6.0], [0.0, 0.0, 0.0]]),
    "many": np.array([[0.0, 30.0, 45.0], [20.0, 0.0, 35.0], [5.0, 15.0, 0.0]]),
}


def _check_laplace(
    wins: Floats, hypothesis: Floats, within: float = 0.06, a_user: float = 0.15
) -> None:
    """Probabilities and scores are to be ``within`` so much, and the evidence of ``a_user``."""
    evidence, chances, scores = _by_force(wins, hypothesis, 200_000)
    found = kernels.evidence(wins, *hypothesis[:, None])
    assert abs(float(found[0]) - evidence) < a_user * len(wins)
    rng, n, users = np.random.default_rng(2), 4000, len(wins)
    drawn = kernels.draw(
        wins, np.full(users, -1), hypothesis,
        rng.standard_normal((n, users + 1, 3)), rng.random((n, users)), rng.random((n, users, 3)),
    )  # fmt: skip
    won = (drawn[3][:, :, None] == np.arange(3)).mean(axis=0)
    assert np.abs(won - chances).max() < within
    assert np.abs(drawn[2].mean(axis=0) - scores).max() < within


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("spread", "residual"), [(0.5, 0.0), (2.0, 0.0), (1.0, 0.5)])
def test_laplace_is_near_brute_force(case: str, spread: float, residual: float) -> None:
    """Evidence to 0.15, probabilities and scores to 0.06 (draws of both among it)."""
    _check_laplace(CASES[case][None], np.array([spread, residual, 0.0]))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("residual", [0.0, 0.5])
def test_laplace_is_rougher_where_tastes_are_strongest(case: str, residual: float) -> None:
    """A normal law does not see how far strengths may be where nobody has ever disagreed."""
    _check_laplace(CASES[case][None], np.array([4.0, residual, 0.0]), within=0.12, a_user=0.2)


@pytest.mark.parametrize("other", ["nothing", "few", "one-sided"])
def test_what_users_have_in_common_with_stronger_tastes(other: str) -> None:
    wins = np.stack([CASES["few"], CASES[other]])
    _check_laplace(wins, np.array([2.0, 0.5, 0.4]), within=0.08)


@pytest.mark.parametrize("other", ["nothing", "few", "one-sided"])
@pytest.mark.parametrize("residual", [0.0, 0.5])
def test_what_users_have_in_common_is_near_brute_force(other: str, residual: float) -> None:
    wins = np.stack([CASES["few"], CASES[other]])
    _check_laplace(wins, np.array([1.0, residual, 0.8]))


def test_users_who_agree_teach_about_one_another() -> None:
    """Who has said nothing is taken to like what the others like, and not where these differ."""
    wins = np.zeros((4, 4, 4))
    for user in range(3):
        wins[user][np.triu_indices(4, 1)] = 3.0
    agreed = infer_strengths(wins)
    assert HYPOTHESES[agreed.weights.argmax(), 2] == 0.8
    assert agreed.probabilities[3, 0] > 0.5
    wins[1], wins[2] = wins[1][::-1, ::-1], wins[2].T[[1, 0, 3, 2]][:, [1, 0, 3, 2]]
    apart = infer_strengths(wins)
    assert HYPOTHESES[apart.weights.argmax(), 2] == 0.0
    assert apart.probabilities[3].max() < 0.4


def test_the_evidence_says_how_people_are() -> None:
    """Transitive answers speak for strengths and the right spread, others for single pairs."""
    like = infer(_answers(bradley_terry_instance(5, 8, seed=1), 300, seed=1))
    assert isinstance(like, Strengths)
    spreads = HYPOTHESES[:, 0]
    assert like.weights[spreads == 1.0].sum() > 0.9
    wins = _answers(random_instance(5, 8, seed=1), 300, seed=1)
    assert not isinstance(infer(wins), Strengths)
    assert infer_pairs(wins).log_evidence > infer_strengths(wins).log_evidence + 10.0


def test_beforehand_people_have_strengths_and_then_the_evidence_decides() -> None:
    assert math.isclose(PRIOR.sum(), 1.0)
    blank = infer(np.zeros((2, 3, 3)))
    assert isinstance(blank, Mixed)
    (of_strengths, strengths), (of_pairs, _) = blank.parts
    assert math.isclose(of_strengths / of_pairs, ODDS, rel_tol=1e-6)
    assert isinstance(strengths, Strengths)
    assert np.allclose(strengths.weights, PRIOR)
    wins = _answers(random_instance(5, 10, seed=3), 100, seed=3)
    found = infer(wins)
    assert isinstance(found, Mixed)
    (of_strengths, _), (of_pairs, _) = found.parts
    ahead = infer_strengths(wins).log_evidence - infer_pairs(wins).log_evidence
    assert math.isclose(of_strengths / of_pairs, ODDS * math.exp(ahead), rel_tol=1e-9)


def test_a_few_duels_do_not_make_it_bold() -> None:
    """Ten groups of voters who have little in common, ten duels: no worse than all arms alike."""
    place, kept = families()["voters in groups, stand-in (9, 10)"], []
    for run in range(40):
        instance = place.draw(run, 1, 7_000_000)
        posterior = infer(_answers(instance, 10, seed=run))
        policy = candidates(posterior, Nash(), np.random.default_rng(run))[0][0]
        values = Nash().value(np.stack([instance.scores @ policy, instance.scores.mean(axis=1)]))
        kept.append(values / Nash().maximize(instance.scores).value)
    ours, alike = np.mean(kept, axis=0)
    assert ours > alike


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


def test_arms_that_nobody_compared_make_no_difference_to_the_evidence() -> None:
    wins = _answers(bradley_terry_instance(3, 5, seed=1), 40, seed=1)
    more = np.pad(wins, ((0, 0), (1, 2), (1, 2)))
    weights, evidence = weigh_strengths(wins)
    padded, same = weigh_strengths(more)
    assert np.allclose(weights, padded)
    assert math.isclose(evidence, same)
    apart = kernels.evidence(more, *HYPOTHESES.T.copy())
    assert np.allclose(apart, kernels.evidence(wins, *HYPOTHESES.T.copy()), atol=0.01)
