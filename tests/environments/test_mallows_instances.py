"""Groups of Mallows' model: shares as in the model, orders around the camps' centres."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats, Ints
from fairduel.data import mallows_mixture
from fairduel.environments import Mallows, mallows_instance
from fairduel.environments.mallows import mallows_shares
from fairduel.errors import InputError


@given(
    st.integers(1, 6),
    st.integers(1, 7),
    st.floats(0, 1),
    st.integers(1, 6),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 2**32),
)
def test_everybody_has_a_winner(
    users: int, arms: int, dispersion: float, camps: int, within: float, seed: int
) -> None:
    instance = mallows_instance(users, arms, dispersion, min(camps, users), within, seed)
    tensor = instance.preferences
    assert tensor.shape == (users, arms, arms)
    assert instance.has_winner.all()
    mirror = tensor.transpose(0, 2, 1)
    assert np.all((tensor == 1 - mirror) | (mirror == 1 - tensor))


def every_order(items: int, phi: float) -> Floats:
    """(items, items) The share who rank i above j around the order 0, 1, ..., by enumeration."""
    shares, total = np.zeros((items, items)), 0.0
    for order in itertools.permutations(range(items)):
        pairs = list(itertools.combinations(order, 2))
        weight = phi ** sum(i > j for i, j in pairs)
        total += weight
        for i, j in pairs:
            shares[i, j] += weight
    return shares / total + 0.5 * np.eye(items)


@pytest.mark.parametrize("phi", [0.0, 0.2, 0.7, 0.999])
def test_shares_are_those_of_the_model(phi: float) -> None:
    instance = mallows_instance(2, 5, within=phi, seed=1)
    for d in range(2):
        order = orders(instance.preferences)[d]
        found = instance.preferences[d][np.ix_(order, order)]
        np.testing.assert_allclose(found, every_order(5, phi), atol=1e-12)


def test_shares_near_even() -> None:
    # The usual formula is off by 1e-4 here.
    np.testing.assert_allclose(mallows_shares(9, 1 - 1e-9), 0.5, atol=1e-8)
    assert mallows_shares(3, math.nextafter(1, 0)).min() > 0.5


def orders(preferences: Floats) -> Ints:
    """(D, K) The users' own orders, best first."""
    found: Ints = np.argsort(-(preferences > 0.5).sum(axis=2), axis=1)
    return found


def distance(first: Ints, second: Ints) -> int:
    """Of Kendall."""
    place = np.argsort(second)
    return sum(place[i] > place[j] for i, j in itertools.combinations(first, 2))


@pytest.mark.parametrize("phi", [0.3, 0.8])
def test_users_scatter_around_their_camps_centre(phi: float) -> None:
    # Distances of two users of one camp, against those of two people around one centre.
    users = 400
    own = orders(mallows_instance(users, 6, phi, camps=2, seed=2).preferences)
    people = np.argsort(mallows_mixture([range(6)], [phi], [1], users, seed=7).ranks, axis=1)
    expected = [distance(people[k], people[k + 1]) for k in range(0, users, 2)]
    for camp in (own[0::2], own[1::2]):
        found = [distance(camp[k], camp[k + 1]) for k in range(0, users // 2, 2)]
        error = math.sqrt(np.var(found) / len(found) + np.var(expected) / len(expected))
        assert np.mean(found) == pytest.approx(np.mean(expected), abs=4 * error)


def test_camps_of_one_mind() -> None:
    tensor = mallows_instance(7, 6, dispersion=0, camps=3, seed=1).preferences
    for d in range(3, 7):
        np.testing.assert_array_equal(tensor[d], tensor[d - 3])
    assert len(set(map(tuple, orders(tensor)))) == 3


def test_centres_are_any_order() -> None:
    winners = [mallows_instance(1, 4, dispersion=0, seed=seed).winners[0] for seed in range(800)]
    assert np.all(np.abs(np.bincount(winners) - 200) < 4 * math.sqrt(150))


def test_environments_hand_on_all_their_sizes() -> None:
    sizes = (4, 6, 0.7, 2, 0.4)
    rng = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(3, 0)))
    assert Mallows(*sizes).draw(3, 100, 9) == mallows_instance(*sizes, seed=rng)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"users": 0}, "users is 0: give a whole number from 1 up."),
        ({"arms": 0}, "arms is 0: give a whole number from 1 up."),
        ({"dispersion": 1.5}, "dispersion is 1.5: give a number from 0 to 1."),
        ({"camps": 0}, "camps is 0: give a whole number from 1 to 3."),
        ({"camps": 4}, "camps is 4: give a whole number from 1 to 3."),
        ({"within": 1.0}, "within is 1.0: give a number from 0 to below 1."),
    ],
)
def test_bad_settings(settings: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        mallows_instance(**{"users": 3, "arms": 4} | settings)  # type: ignore[arg-type]
    assert str(caught.value) == sentence
