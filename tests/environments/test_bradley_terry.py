"""Users of Bradley-Terry's model have the strengths, camps and equal pairs that are asked for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats
from fairduel.environments import BradleyTerry, bradley_terry_instance
from fairduel.environments.bradley_terry import strengths
from fairduel.errors import InputError

shares = st.floats(0, 1)


@given(
    st.integers(1, 6),
    st.integers(1, 7),
    st.floats(1e-300, 1000),
    shares,
    st.integers(0, 6),
    shares,
    shares,
    st.integers(0, 2**32),
)
def test_everybody_has_a_winner(
    users: int,
    arms: int,
    spread: float,
    correlation: float,
    camps: int,
    agreement: float,
    indifferent: float,
    seed: int,
) -> None:
    most = (arms - 1) * (arms - 2) / max(arms * (arms - 1), 1)
    instance = bradley_terry_instance(
        users, arms, spread, correlation, min(camps, users), agreement, indifferent * most, seed
    )
    tensor = instance.preferences
    assert tensor.shape == (users, arms, arms)
    assert instance.has_winner.all()
    mirror = tensor.transpose(0, 2, 1)
    assert np.all((tensor == 1 - mirror) | (mirror == 1 - tensor))


def test_preferences_are_logistic_in_strengths() -> None:
    theta = strengths(4, 6, 0.2, 2, 0.5, np.random.default_rng(1))
    tensor = bradley_terry_instance(4, 6, 2.0, 0.2, 2, 0.5, seed=1).preferences
    for d, i, j in np.ndindex(tensor.shape):
        expected = 1 / (1 + math.exp(2 * (theta[d, j] - theta[d, i])))
        assert tensor[d, i, j] == pytest.approx(expected, abs=1e-12)


def covariance(correlation: float = 0, camps: int = 0, agreement: float = 0.8) -> Floats:
    """Of four users' strengths, over 4000 arms: its entries have standard errors of 2 %."""
    found: Floats = np.cov(
        strengths(4, 4000, correlation, camps, agreement, np.random.default_rng(3))
    )
    return found


def test_users_correlate_as_asked() -> None:
    np.testing.assert_allclose(covariance(), np.eye(4), atol=0.08)
    np.testing.assert_allclose(covariance(0.3), 0.3 + 0.7 * np.eye(4), atol=0.08)
    np.testing.assert_allclose(covariance(1), np.ones((4, 4)), atol=0.08)


def test_users_of_a_camp_are_alike() -> None:
    same_camp = np.array([[1, 0, 1, 0], [0, 1, 0, 1]] * 2)
    expected = 0.2 * np.eye(4) + 0.8 * same_camp
    np.testing.assert_allclose(covariance(camps=2), expected, atol=0.08)
    expected = 0.5 + 0.5 * (0.4 * np.eye(4) + 0.6 * same_camp)
    np.testing.assert_allclose(covariance(0.5, 2, 0.6), expected, atol=0.08)


def test_a_camp_of_one_mind() -> None:
    tensor = bradley_terry_instance(7, 5, camps=3, agreement=1).preferences
    for d in range(3, 7):
        np.testing.assert_array_equal(tensor[d], tensor[d - 3])
    assert not np.allclose(tensor[0], tensor[1])


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5, 0.8])
def test_the_closest_pairs_without_the_winner_are_equal(share: float) -> None:
    plain = bradley_terry_instance(6, 10, seed=4)
    instance = bradley_terry_instance(6, 10, indifferent=share, seed=4)
    np.testing.assert_array_equal(instance.scores, plain.scores)
    first, second = np.triu_indices(10, 1)
    for d, winner in enumerate(instance.winners):
        before, after = plain.preferences[d, first, second], instance.preferences[d, first, second]
        equal = after == 0.5
        assert equal.sum() == round(45 * share)
        np.testing.assert_array_equal(before[~equal], after[~equal])
        with_winner = (first == winner) | (second == winner)
        assert not equal[with_winner].any()
        apart = np.abs(before - 0.5)
        kept = ~equal & ~with_winner
        assert apart[equal].max() < apart[kept].min(initial=1.0)


def test_the_strongest_wins_where_numbers_end() -> None:
    assert bradley_terry_instance(5, 6, spread=1e-200).has_winner.all()
    certain = bradley_terry_instance(5, 6, spread=1000).preferences
    assert np.isfinite(certain).all()


def test_environments_hand_on_all_their_sizes() -> None:
    sizes = (4, 6, 2.0, 0.3, 2, 0.5, 0.2)
    rng = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(3, 0)))
    assert BradleyTerry(*sizes).draw(3, 100, 9) == bradley_terry_instance(*sizes, seed=rng)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"users": 0}, "users is 0: give a whole number from 1 up."),
        ({"arms": 1.5}, "arms is 1.5: give a whole number from 1 up."),
        ({"spread": 0}, "spread is 0: give a number above 0, and 1000 at most."),
        ({"spread": math.inf}, "spread is inf: give a number above 0, and 1000 at most."),
        ({"spread": math.nan}, "spread is nan: give a number above 0, and 1000 at most."),
        ({"correlation": -0.1}, "correlation is -0.1: give a number from 0 to 1."),
        ({"correlation": 1.1}, "correlation is 1.1: give a number from 0 to 1."),
        ({"camps": 4}, "camps is 4: give a whole number from 0 to 3."),
        ({"camps": -1}, "camps is -1: give a whole number from 0 to 3."),
        ({"camps": 2, "agreement": 2}, "agreement is 2: give a number from 0 to 1."),
        ({"indifferent": -1}, "indifferent is -1: give a number from 0 to 1."),
        (
            {"indifferent": 0.9},
            "indifferent is 0.9, which leaves some users without a favourite among 10 arms: "
            "give 0.8 or less.",
        ),
    ],
)
def test_bad_settings(settings: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        bradley_terry_instance(**{"users": 3, "arms": 10} | settings)  # type: ignore[arg-type]
    assert str(caught.value) == sentence
