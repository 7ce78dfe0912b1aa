"""Made-up rankings follow the law that they claim."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from fairduel._arrays import Ints
from fairduel.data import mallows_mixture, sushi_stand_in, tree
from fairduel.data.mallows import mallows_orders
from fairduel.errors import InputError


def kendall(ranks: Ints, centre: Ints) -> Ints:
    """How many pairs each row of ranks orders otherwise than the ranks of the centre."""
    pairs = itertools.combinations(range(ranks.shape[1]), 2)
    disagree = [(ranks[:, i] < ranks[:, j]) != (centre[i] < centre[j]) for i, j in pairs]
    total: Ints = np.asarray(disagree).sum(axis=0)
    return total


def mean_and_variance(items: int, phi: float) -> tuple[float, float]:
    """Of the Kendall distance from the centre: a sum of independent truncated geometrics."""
    if phi == 1:
        pairs = items * (items - 1)
        return pairs / 4, pairs * (2 * items + 5) / 72
    sizes = range(1, items + 1)
    mean = sum(phi / (1 - phi) - n * phi**n / (1 - phi**n) for n in sizes)
    variance = sum(phi / (1 - phi) ** 2 - n**2 * phi**n / (1 - phi**n) ** 2 for n in sizes)
    return mean, variance


@pytest.mark.parametrize("phi", [0.1, 0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("items", [2, 5, 10])
def test_the_distance_from_the_centre(items: int, phi: float) -> None:
    centre = np.random.default_rng(items).permutation(items)
    people = 20_000
    rankings = mallows_mixture([centre], [phi], [1], people, seed=3)
    distance = kendall(rankings.ranks, np.argsort(centre))
    mean, variance = mean_and_variance(items, phi)
    # Four standard errors, with a fixed seed.
    assert distance.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / people))
    assert distance.var() == pytest.approx(variance, rel=0.08)


def test_every_order_has_its_probability() -> None:
    phi, people = 0.6, 60_000
    orders = mallows_orders(4, np.full(people, phi), np.random.default_rng(0))
    every = list(itertools.permutations(range(4)))
    weight = np.array([phi ** kendall(np.argsort([order]), np.arange(4))[0] for order in every])
    expected = people * weight / weight.sum()
    found = np.array([(orders == order).all(axis=1).sum() for order in every])
    assert found.sum() == people
    chi_square = ((found - expected) ** 2 / expected).sum()
    assert chi_square < 49.7  # 23 degrees of freedom: 0.1 % lie above


def test_no_dispersion_repeats_the_centre_and_items_keep_their_names() -> None:
    rankings = mallows_mixture([[2, 0, 1]], [0.0], [5], 3, items="xyz")
    assert rankings.ranks.tolist() == [[1, 2, 0]] * 3
    assert rankings.items == ("x", "y", "z")
    assert mallows_mixture([[0]], [0.5], [1], 2).ranks.tolist() == [[0], [0]]


def test_components_have_their_weights_and_dispersions() -> None:
    centres = [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 1, 0, 4, 3]]
    rankings = mallows_mixture(centres, [0, 0, 0], [6, 3, 1], 20_000, seed=1)
    shares = [(rankings.ranks == np.argsort(centre)).all(axis=1).mean() for centre in centres]
    assert shares == pytest.approx([0.6, 0.3, 0.1], abs=0.014)
    mixed = mallows_mixture(centres[:2], [0.0, 1.0], [1, 1], 20_000, seed=1)
    still = (mixed.ranks == np.arange(5)).all(axis=1).mean()
    assert still == pytest.approx(0.5 + 0.5 / 120, abs=0.014)


def test_seeds() -> None:
    first = mallows_mixture([[0, 1, 2]], [0.9], [1], 50, seed=7)
    assert first == mallows_mixture([[0, 1, 2]], [0.9], [1], 50, seed=np.random.default_rng(7))
    assert first != mallows_mixture([[0, 1, 2]], [0.9], [1], 50, seed=8)
    assert sushi_stand_in(3) == sushi_stand_in(3)
    assert sushi_stand_in(3) != sushi_stand_in(4)


def test_the_stand_in_has_the_shape_of_sushi() -> None:
    rankings = sushi_stand_in()
    assert rankings.ranks.shape == (5000, 10)
    assert all(name.startswith("synthetic") for name in rankings.items)
    whole = tree(rankings)
    for users in (5, 10):
        instance = whole.cut(users).instance()
        assert instance.preferences.shape == (users, 10, 10)
        # People want different things, or there would be nothing to be fair about.
        assert len(set(instance.winners.tolist())) >= 3


WRONG: list[tuple[str, Callable[[], object]]] = [
    ("centres has to be a complete order", lambda: mallows_mixture([[0, 0]], [0.5], [1], 2)),
    ("centres has to be a complete order", lambda: mallows_mixture([[1, 2]], [0.5], [1], 2)),
    ("centres has to be a complete order", lambda: mallows_mixture([0, 1], [0.5], [1], 2)),
    ("dispersions have to be 1 numbers", lambda: mallows_mixture([[0, 1]], [1.5], [1], 2)),
    ("dispersions have to be 1 numbers", lambda: mallows_mixture([[0, 1]], [0.5, 0.5], [1], 2)),
    ("dispersions have to be 1 numbers", lambda: mallows_mixture([[0, 1]], [math.nan], [1], 2)),
    ("weights have to be 1 numbers", lambda: mallows_mixture([[0, 1]], [0.5], [0], 2)),
    ("weights have to be 1 numbers", lambda: mallows_mixture([[0, 1]], [0.5], [-1], 2)),
    ("weights have to be 1 numbers", lambda: mallows_mixture([[0, 1]], [0.5], [math.inf], 2)),
    ("people is 0: give a whole number", lambda: mallows_mixture([[0, 1]], [0.5], [1], 0)),
    ("item", lambda: mallows_mixture([[0, 1]], [0.5], [1], 2, items="xx")),
]


@pytest.mark.parametrize(("message", "make"), WRONG)
def test_wrong_mixtures(message: str, make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=message):
        make()
