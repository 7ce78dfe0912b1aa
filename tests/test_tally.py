"""Tallies add up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairduel.tally import Tally


def random_tally(seed: int, users: int = 2, arms: int = 3) -> Tally:
    rng = np.random.default_rng(seed)
    plays = rng.integers(0, 5, (arms, arms))
    return Tally(plays, rng.integers(0, 9, (users, arms, arms)) / 2)


def assert_same(first: Tally, second: Tally) -> None:
    np.testing.assert_array_equal(first.plays, second.plays)
    np.testing.assert_array_equal(first.wins, second.wins)


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_tallies_are_added_like_numbers(a: int, b: int, c: int) -> None:
    x, y, z = map(random_tally, (a, b, c))
    assert_same(x + y, y + x)
    assert_same((x + y) + z, x + (y + z))
    assert_same(x + Tally.empty(2, 3), x)
    assert (x + y).rounds == x.rounds + y.rounds


def test_adding_leaves_both_alone() -> None:
    x, y = random_tally(1), random_tally(2)
    x + y
    assert_same(x, random_tally(1))
    assert_same(y, random_tally(2))


def test_answers_count_either_way_round() -> None:
    tally = Tally.empty(1, 2)
    tally.wins[0, 0, 1] = 2.5  # two wins and a tie
    tally.wins[0, 1, 0] = 1.5
    assert tally.answers[0, 0, 1] == tally.answers[0, 1, 0] == 4.0
    assert tally.rounds == 0
