"""Advice on an array of votes: what it refuses, in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairduel import InputError, Nash, Session
from fairduel.live import advise, advise_duel

WINS = np.zeros((2, 3, 3))
FEATURES = [[1.0, 0.2], [0.0, 0.8], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("wins", "words"),
    [
        ("no", "the votes are no array of numbers"),
        (None, r"the votes have shape \(\)"),
        ({}, "the votes are no array of numbers"),
        ([[[0, 1], [0]]], "the votes are no array of numbers"),
        ([[[10**400]]], "the votes are no array of numbers"),
        (np.zeros((3, 3)), r"the votes have shape \(3, 3\): give one like \(2, 3, 3\)"),
        (np.zeros((2, 3, 4)), "the votes have shape"),
        (np.zeros((0, 3, 3)), "the votes have shape"),
        (WINS - 1.0, "negative or no number"),
        (WINS + np.nan, "negative or no number"),
    ],
)
def test_votes_that_are_none_are_one_sentence(wins: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        advise(wins)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=words):
        advise_duel(wins, np.zeros((3, 3), np.int64))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"features": "no"}, "the features are no table of numbers"),
        ({"features": [[1.0], [1.0, 2.0], [1.0]]}, "the features are no table of numbers"),
        ({"features": [1.0, 2.0, 3.0]}, "the features are no table of numbers"),
        ({"features": [[10**400], [1], [2]]}, "the features are no table of numbers"),
        ({"features": FEATURES[:2]}, "features of 2 arms, but 3 arms"),
        ({"features": FEATURES, "scoring": "borda"}, "features are for the scoring condorcet"),
        ({"winners": (1,)}, "1 winners are given for 2 users"),
        ({"winners": (3, 1)}, r"winners\[0\] is 3"),
        ({"winners": ("x", 1)}, r"winners\[0\] is x"),
        ({"winners": 3}, "the winners are 3: give the number of an arm for each user"),
        ({"welfare": "nash"}, "the welfare is 'nash'"),
        ({"welfare": Nash(weights=(1, 2, 3))}, "weights has 3 entries"),
        ({"seed": -1}, "the seed is -1"),
    ],
)
def test_settings_that_make_no_sense_are_one_sentence(settings: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        advise(WINS, **settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("features", ["no", [[1], [1, 2], [1]], [[10**400], [1], [2]], [[1], [2]]])
def test_sessions_refuse_features_that_are_none(features: Any) -> None:
    words, users, arms = r"are no table|of 2 arms, but 3 arms", ["ann", "bob"], ["x", "y", "z"]
    with pytest.raises(InputError, match=words):
        Session(users, arms, features=features)
    with pytest.raises(InputError, match=words):
        Session.from_votes(users, arms, WINS, features=features)


def test_lists_of_whole_numbers_are_votes_and_features() -> None:
    wins: Any = [[[0, 2, 1], [0, 0, 1], [0, 0, 0]], [[0, 0, 0], [1, 0, 0], [1, 1, 0]]]
    features: Any = FEATURES
    told = advise(wins, features=features)
    asked = advise(np.array(wins, np.float64), features=np.array(features))
    np.testing.assert_array_equal(told.policy, asked.policy)
    np.testing.assert_array_equal(told.worth, asked.worth)
    np.testing.assert_array_equal(advise(wins).policy, advise(np.array(wins, np.float64)).policy)
