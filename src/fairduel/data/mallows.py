"""Synthetic rankings: mixtures of Mallows models, and a stand-in for the Sushi data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats, Ints
from fairduel._checks import Seed, random_generator
from fairduel.data.rankings import Rankings, checked_count
from fairduel.errors import InputError

# The stand-in has Sushi's shape: its people and items, and tastes of very different sizes.
PEOPLE = 5000
ITEMS = 10
TASTES = 8
SHRINKING = 0.7  # how large each taste's share is, compared with the one before
COMMON = 0.75  # dispersion of the tastes around one common order
WITHIN = (0.6, 0.75)  # dispersion of people around their taste, from the largest to the smallest


def sushi_stand_in(seed: Seed = 0) -> Rankings:
    """Draw synthetic rankings in the shape of Sushi: 5000 people, ten items, eight tastes.

    Nothing in them comes from Sushi or from any person. Their results say nothing about Sushi.

    >>> sushi_stand_in(seed=1)
    Rankings(5000 people, 5000 orders, 10 items)
    """
    rng = random_generator(seed)
    common = rng.permutation(ITEMS)
    centres = common[mallows_orders(ITEMS, np.full(TASTES, COMMON), rng)]
    return mallows_mixture(
        centres,
        np.linspace(*WITHIN, TASTES),
        SHRINKING ** np.arange(TASTES),
        PEOPLE,
        rng,
        [f"synthetic item {item + 1}" for item in range(ITEMS)],
    )


def mallows_mixture(
    centres: ArrayLike,
    dispersions: ArrayLike,
    weights: ArrayLike,
    people: int,
    seed: Seed = 0,
    items: Sequence[str] | None = None,
) -> Rankings:
    """Draw complete rankings of people who scatter around one of several central orders.

    Each person belongs to component c with a probability proportional to ``weights[c]``, and
    gives an order with a probability proportional to ``dispersions[c]`` to the power of its
    Kendall distance from ``centres[c]`` (item numbers from 0, best first). Dispersion 0 repeats
    the centre, 1 makes all orders equally likely.

    >>> mallows_mixture([[0, 1, 2], [2, 1, 0]], [0, 0], [1, 0], people=2).ranks.tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    orders, scatter, chances = _checked(centres, dispersions, weights)
    people = checked_count("people", people)
    names = [f"item {item + 1}" for item in range(orders.shape[1])] if items is None else items
    rng = random_generator(seed)
    component = rng.choice(len(orders), size=people, p=chances)
    places = mallows_orders(orders.shape[1], scatter[component], rng)
    chosen = np.take_along_axis(orders[component], places, axis=1)
    return Rankings(names, np.argsort(chosen, axis=1))


def mallows_orders(items: int, dispersion: Floats, rng: np.random.Generator) -> Ints:
    """Draw an order of 0 .. items-1 for each entry of ``dispersion``, around the order 0, 1, 2, ...

    By repeated insertion (Doignon, Pekec and Regenwetter, 2004), which is exact: item i goes in
    front of v of the i items before it with a probability proportional to dispersion^v.
    """
    orders = np.zeros((len(dispersion), items), np.int64)
    for item in range(1, items):
        weight = dispersion[:, np.newaxis] ** np.arange(item + 1)
        reached = np.cumsum(weight, axis=1)
        draw = rng.random(len(dispersion)) * reached[:, -1]
        overtaken = (reached[:, :-1] <= draw[:, np.newaxis]).sum(axis=1)
        place = (item - overtaken)[:, np.newaxis]
        column = np.arange(item + 1)
        # What stood at the place and behind it moves back by one.
        before = np.take_along_axis(orders, column - (column > place), axis=1)
        orders[:, : item + 1] = np.where(column == place, item, before)
    return orders


def _checked(
    centres: ArrayLike, dispersions: ArrayLike, weights: ArrayLike
) -> tuple[Ints, Floats, Floats]:
    orders = np.asarray(centres)
    if orders.ndim != 2 or not (np.sort(orders, axis=1) == np.arange(orders.shape[1])).all():
        raise InputError("each of the centres has to be a complete order of the items 0, 1, 2, ...")
    scatter, shares = np.asarray(dispersions, np.float64), np.asarray(weights, np.float64)
    if scatter.shape != (len(orders),) or not ((scatter >= 0) & (scatter <= 1)).all():
        raise InputError(f"dispersions have to be {len(orders)} numbers from 0 to 1.")
    good = shares.shape == (len(orders),) and (shares >= 0).all() and 0 < shares.sum() < np.inf
    if not good:
        raise InputError(f"weights have to be {len(orders)} numbers from 0 up, not all 0.")
    return orders, scatter, shares / shares.sum()
