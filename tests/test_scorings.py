"""What arms are worth: each scoring against its definition, written out arm by arm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel import InputError
from fairduel._arrays import Floats
from fairduel.scorings import SCORINGS, borda, condorcet, copeland, maximin

CIRCLE = [[0.5, 0.9, 0.4], [0.1, 0.5, 0.8], [0.6, 0.2, 0.5]]
EVEN_CIRCLE = [[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]
ORDERED = [[0.5, 0.8, 0.6], [0.2, 0.5, 0.3], [0.4, 0.7, 0.5]]


def some_tensor(users: int, arms: int, seed: int, ties: bool = False) -> Floats:
    drawn = np.random.default_rng(seed).random((users, arms, arms))
    upper = np.triu(np.rint(4 * drawn) / 4 if ties else drawn, 1)
    return upper + np.tril(1 - upper.transpose(0, 2, 1), -1) + 0.5 * np.eye(arms)


def order(places: list[int]) -> Floats:
    """One user's stated order: each arm at its place, 0 the best."""
    at = np.array(places)
    return np.where(at[:, None] < at, 1.0, np.where(at[:, None] == at, 0.5, 0.0))[None]


tensors = st.builds(
    some_tensor, st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**32), st.booleans()
)


@given(tensors)
def test_scores_are_between_0_and_1_which_the_best_arm_has(tensor: Floats) -> None:
    for name in ("maximin", "borda", "copeland"):
        scores = SCORINGS[name].score(tensor)
        assert scores.shape == tensor.shape[:2]
        assert (scores >= 0).all()
        assert (scores.max(axis=1) == 1).all()


@given(tensors)
def test_borda_and_copeland_by_their_definitions(tensor: Floats) -> None:
    _, arms, _ = tensor.shape
    for matrix, by_borda, by_copeland in zip(tensor, borda(tensor), copeland(tensor), strict=True):
        others = [[j for j in range(arms) if j != k] for k in range(arms)]
        mean = [sum(matrix[k, j] for j in others[k]) / max(arms - 1, 1) for k in range(arms)]
        won = [sum(matrix[k, j] > 0.5 for j in others[k]) for k in range(arms)]
        even = [sum(matrix[k, j] == 0.5 for j in others[k]) for k in range(arms)]
        beaten = [(w + e / 2) / max(arms - 1, 1) for w, e in zip(won, even, strict=True)]
        np.testing.assert_allclose(by_borda, [1 - max(mean) + each for each in mean], atol=1e-12)
        np.testing.assert_allclose(by_copeland, [1 - max(beaten) + each for each in beaten])


@given(tensors)
def test_maximin_is_the_papers_score_for_who_has_a_winner(tensor: Floats) -> None:
    for matrix, scores in zip(tensor, maximin(tensor), strict=True):
        arms = range(len(matrix))
        winners = [w for w in arms if all(matrix[w, j] > 0.5 for j in arms if j != w)]
        worst = matrix.min(axis=1)
        best = winners[0] if winners else int(np.argmax(worst))
        assert worst[best] == worst.max()
        np.testing.assert_array_equal(scores, np.minimum(1, 2 * matrix[:, best]))
        if winners:
            np.testing.assert_array_equal(condorcet(matrix), scores)
        else:
            with pytest.raises(InputError, match="some user has no Condorcet winner"):
                condorcet(matrix)


def test_examples() -> None:
    """Bob's duels are all as bad: the first arm is what he is scored against."""
    found = maximin(np.array([ORDERED, CIRCLE, EVEN_CIRCLE]))
    np.testing.assert_allclose(found, [[1, 0.4, 0.8], [1, 0.2, 1], [1, 0.2, 1]])
    np.testing.assert_allclose(copeland(np.array(ORDERED)), [1, 0, 0.5])
    np.testing.assert_allclose(borda(np.array(ORDERED)), [1, 0.55, 0.85])


@pytest.mark.parametrize("places", list(itertools.permutations(range(4))))
def test_a_stated_order_is_worth_its_places(places: tuple[int, ...]) -> None:
    expected = 1 - np.array([places]) / 3
    np.testing.assert_allclose(borda(order(list(places))), expected, rtol=1e-15)
    np.testing.assert_allclose(copeland(order(list(places))), expected, rtol=1e-15)
    favourite = (np.array([places]) == 0).astype(float)
    np.testing.assert_array_equal(condorcet(order(list(places))), favourite)


def test_ties_in_an_order_share_their_places() -> None:
    np.testing.assert_allclose(borda(order([0, 1, 1, 3])), [[1, 0.5, 0.5, 0]])
    np.testing.assert_allclose(copeland(order([0, 1, 1, 3])), [[1, 0.5, 0.5, 0]])


@given(st.floats(0, 1))
def test_for_two_arms_borda_is_the_papers_score(chance: float) -> None:
    matrix = np.array([[0.5, chance], [1 - chance, 0.5]])
    np.testing.assert_allclose(borda(matrix), maximin(matrix), atol=1e-15)


def test_each_says_what_it_is_for() -> None:
    assert list(SCORINGS) == ["condorcet", "maximin", "borda", "copeland"]
    for scoring in SCORINGS.values():
        assert scoring.summary.endswith(".")
