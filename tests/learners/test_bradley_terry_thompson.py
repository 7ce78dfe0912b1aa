"""BT-Thompson obeys the laws, fits its model as Laplace would, and looks at no horizon."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from fairduel._arrays import Floats
from fairduel.environments import bradley_terry_instance, random_instance
from fairduel.errors import InputError
from fairduel.kernels import bradley_terry
from fairduel.learners import BradleyTerryThompson, bradley_terry_thompson
from fairduel.learners.bradley_terry_thompson import SCALES, ThompsonState
from fairduel.offers import Mix
from fairduel.simulation import simulate
from fairduel.tally import Tally
from fairduel.testing import LEARNER_LAWS
from fairduel.welfare import (
    Egalitarian,
    FrankWolfe,
    GeneralizedGini,
    Nash,
    PowerMean,
    Utilitarian,
    Welfare,
)

LEARNER = BradleyTerryThompson()


@pytest.mark.parametrize("law", LEARNER_LAWS, ids=lambda law: law.__name__)
def test_laws(law: Any) -> None:
    law(LEARNER)


# The model, against the formulas written down plainly


def some_wins(users: int, arms: int, most: int, seed: int) -> Floats:
    """Answers to some pairs, ties among them."""
    rng = np.random.default_rng(seed)
    wins = 0.5 * rng.integers(0, 2 * most, (users, arms, arms)) * rng.integers(0, 2, (arms, arms))
    wins[:, range(arms), range(arms)] = 0.0
    return np.ascontiguousarray(wins)


def log_density(wins: Floats, scale: float, theta: Floats) -> float:
    """Of one user, with the prior's constant; theta may have axes in front."""
    gaps = theta[..., :, None] - theta[..., None, :]
    prior = -0.5 * (theta / scale) ** 2 - np.log(scale * np.sqrt(2 * np.pi))
    found: float = -(wins * np.logaddexp(0.0, -gaps)).sum(axis=(-1, -2)) + prior.sum(axis=-1)
    return found


def curvature(wins: Floats, scale: float, theta: Floats) -> Floats:
    chances = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
    weights = (wins + wins.T) * chances * (1.0 - chances)
    return np.diag(weights.sum(axis=1) + scale**-2) - weights


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("arms", "most"), [(1, 3), (2, 1), (5, 4), (12, 3), (4, 10**7)])
def test_fit_is_laplace_s_method(scale: float, arms: int, most: int) -> None:
    wins = some_wins(3, arms, most, seed=arms)
    start = np.random.default_rng(1).normal(0.0, 3.0, (3, arms))
    evidence, modes, factors = bradley_terry.fit(wins, scale, start)
    expected = 0.0
    for user in range(3):
        mode, hessian = modes[user], curvature(wins[user], scale, modes[user])
        chances = 1.0 / (1.0 + np.exp(mode[None, :] - mode[:, None]))
        answers = wins[user] + wins[user].T
        slope = (wins[user] - answers * chances).sum(axis=1) - mode / scale**2
        assert slope @ np.linalg.solve(hessian, slope) < 1e-9  # nothing is left to climb
        upper = np.triu(factors[user])
        np.testing.assert_allclose(upper.T @ upper, hessian, rtol=1e-9, atol=1e-9 * hessian.max())
        expected += log_density(wins[user], scale, mode) + 0.5 * arms * np.log(2 * np.pi)
        expected -= 0.5 * np.linalg.slogdet(hessian)[1]
    assert evidence == pytest.approx(expected, rel=1e-9)


def test_evidence_is_near_the_integral() -> None:
    """Two arms: the evidence by summing over a grid; Laplace's error is in the second decimal."""
    wins = np.array([[[0.0, 9.0], [3.0, 0.0]]])
    axis = np.linspace(-12.0, 12.0, 601)
    theta = np.stack(np.meshgrid(axis, axis), axis=-1)
    for scale in (0.5, 1.0, 2.0):
        exact = np.log(np.exp(log_density(wins[0], scale, theta)).sum() * (axis[1] - axis[0]) ** 2)
        assert bradley_terry.fit(wins, scale, np.zeros((1, 2)))[0] == pytest.approx(exact, abs=0.05)


def test_without_answers_no_scale_is_likelier() -> None:
    found = [bradley_terry.fit(np.zeros((2, 4, 4)), s, np.zeros((2, 4)))[0] for s in SCALES]
    np.testing.assert_allclose(found, 0.0, atol=1e-12)


@pytest.mark.parametrize("spread", [0.25, 1.0, 4.0])
def test_the_likeliest_scale_is_the_true_one(spread: float) -> None:
    truth = bradley_terry_instance(20, 10, spread, seed=3).preferences
    wins = np.ascontiguousarray(20.0 * truth * (1.0 - np.eye(10)))
    found = {s: bradley_terry.fit(wins, s, np.zeros((20, 10)))[0] for s in SCALES}
    assert max(found, key=lambda scale: found[scale]) == spread


def test_samples_are_of_the_fitted_normal() -> None:
    wins = some_wins(2, 4, 5, seed=2)
    _, modes, factors = bradley_terry.fit(wins, 1.0, np.zeros((2, 4)))
    normals = np.random.default_rng(5).standard_normal((200_000, 2, 4))
    scores = bradley_terry.sample_scores(modes, factors, normals, False)
    assert (scores.max(axis=2) == 1.0).all()
    assert (scores > 0.0).all()
    theta = np.log(scores / (2.0 - scores))  # relative to the best: differences of arms are left
    for user in range(2):
        shifts = theta[:, user, 1:] - theta[:, user, :1]
        contrasts = np.eye(4)[1:] - np.eye(4)[0]
        covariance = contrasts @ np.linalg.inv(curvature(wins[user], 1.0, modes[user]))
        expected = covariance @ contrasts.T
        np.testing.assert_allclose(shifts.mean(axis=0), contrasts @ modes[user], atol=0.01)
        np.testing.assert_allclose(np.cov(shifts.T), expected, atol=0.03 * expected.max())


# The learner


def told(wins: Floats, horizon: int = 10_000) -> ThompsonState:
    users, arms, _ = wins.shape
    state = LEARNER.init(users, arms, horizon, seed=1)
    return LEARNER.tell(state, Tally(np.zeros((arms, arms), np.int64), wins))


def test_knowing_nothing_it_hedges() -> None:
    play, _ = LEARNER.ask(LEARNER.init(40, 5, 1000, seed=1))
    assert isinstance(play, Mix)
    np.testing.assert_allclose(play.left, 0.2, atol=0.06)


def test_answers_that_leave_no_doubt_are_followed() -> None:
    """Two of three users are sure of arm 1, the third of arm 2, which the others like least."""
    strengths = np.array([[0.0, 3.0, -3.0], [0.0, 3.0, -3.0], [0.0, -3.0, 3.0]])
    preferences = 1.0 / (1.0 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
    state = told(np.ascontiguousarray(1e5 * preferences * (1.0 - np.eye(3))))
    scores = 2.0 * preferences[[0, 1, 2], :, [1, 1, 2]]
    best = Nash().maximize(scores).policy
    play, _ = LEARNER.ask(state)
    assert isinstance(play, Mix)
    np.testing.assert_allclose(play.left, best, atol=0.01)
    np.testing.assert_allclose(LEARNER.policy(state), best, atol=0.01)


@pytest.mark.parametrize("spread", [0.25, 4.0])
def test_it_samples_with_the_likeliest_scale(
    spread: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offered all scales it does what it does where it has the true one only."""
    truth = bradley_terry_instance(20, 10, spread, seed=3).preferences
    state = told(np.ascontiguousarray(20.0 * truth * (1.0 - np.eye(10))))
    offered = {}
    for scales in (SCALES, (spread,), (1.0,)):
        monkeypatch.setattr(bradley_terry_thompson, "SCALES", scales)
        play, _ = LEARNER.ask(state)
        assert isinstance(play, Mix)
        offered[scales] = play.left
    assert np.array_equal(offered[SCALES], offered[spread,])
    assert not np.array_equal(offered[SCALES], offered[1.0,])


def test_it_decides_anew_every_five_per_cent_and_looks_at_no_horizon() -> None:
    def offers(horizon: int) -> list[tuple[int, bytes]]:
        state, found = LEARNER.init(2, 3, horizon, seed=4), []
        while state.tally.rounds < 500:
            play, state = LEARNER.ask(state)
            assert isinstance(play, Mix)
            assert play.left is play.right
            found.append((play.rounds, play.left.tobytes()))
            plays = np.zeros((3, 3), np.int64)
            plays[0, 1] = play.rounds
            state = LEARNER.tell(state, Tally(plays, np.zeros((2, 3, 3))))
        return found

    found = offers(10_000)
    played = np.cumsum([0] + [rounds for rounds, _ in found])
    assert [rounds for rounds, _ in found] == [max(1, n // 20) for n in played[:-1].tolist()]
    assert offers(10**9) == found
    assert len({policy for _, policy in found}) == len(found)  # each has a sample of its own


@pytest.mark.parametrize(
    "welfare",
    [Nash(), Utilitarian(), Egalitarian(), FrankWolfe(), PowerMean(-2), GeneralizedGini()],
)
def test_every_welfare(welfare: Welfare) -> None:
    instance = bradley_terry_instance(3, 4, 2.0, seed=1)
    learner = BradleyTerryThompson(welfare=welfare)
    found = simulate(instance, 400, learner, seed=1, checkpoints=1, welfare=welfare)
    assert 0.0 < found.regret[-1] < 0.35 * 400 * found.best


def test_it_learns_what_people_like() -> None:
    """At (10, 5), T = 200 it loses 0.34 of what can be had, and playing at random 0.80."""
    own, random = [], []
    for run in range(12):
        instance = bradley_terry_instance(5, 10, seed=run)
        found = simulate(instance, 200, LEARNER, seed=run, checkpoints=1)
        own.append(found.regret[-1] / (200 * found.best))
        random.append(1.0 - float(instance.scores.mean(axis=1).prod()) / found.best)
    assert np.mean(own) < 0.45 < 0.7 < np.mean(random)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="give a welfare itself"):
        BradleyTerryThompson(welfare="nash")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="weights"):
        BradleyTerryThompson(welfare=Nash(weights=(1.0, 2.0))).init(3, 4, 100, seed=1)
    with pytest.raises(TypeError):
        dataclasses.replace(LEARNER, winners=(0, 1))  # type: ignore[call-arg]


def test_many_users_are_no_trouble() -> None:
    """A product of a thousand utilities is too small a number; its maximiser never forms it."""
    instance = random_instance(1000, 3, 0.1, 1)
    found = simulate(instance, 30, LEARNER, seed=1, checkpoints=1)
    assert found.policy.sum() == pytest.approx(1.0)
