"""Policies along answered duels: each is best by then, and a lasting one is not solved for."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats, Ints
from fairduel.kernels import course as _script
from fairduel.learners import course
from fairduel.learners.course import AgainstWinners, Course
from fairduel.learners.phases import winner_pairs
from fairduel.welfare import FrankWolfe, Nash, Utilitarian, Welfare

LIKES_OWN = 0.1  # how surely an arm that is not the winner loses to it


class Duels:
    """Duels with the winners in turn, how they were answered, and what was known before."""

    def __init__(self, users: int, arms: int, count: int, seed: int, sure: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.winners: Ints = rng.integers(0, 1 if sure else arms, users)
        turn = winner_pairs(self.winners, arms, repeat=True)
        self.pairs = np.ascontiguousarray(np.resize(turn, (count, 2)))
        chances = rng.random((users, arms, arms))
        if sure:  # everybody likes arm 0
            chances = np.full((users, arms, arms), LIKES_OWN)
        likes = chances[:, self.pairs[:, 0], self.pairs[:, 1]].T
        self.answers: Floats = (rng.random((count, users)) < likes).astype(float)
        self.heard: Floats = rng.integers(0, 30, (users, arms)).astype(float)
        self.won: Floats = np.floor(self.heard * rng.random((users, arms)))

    def scores(self) -> Floats:
        """(n + 1, D, K) from the definition."""
        won, heard = self.won.copy(), self.heard.copy()
        found = [self._scores(won, heard)]
        for (left, right), answers in zip(self.pairs.tolist(), self.answers, strict=True):
            for user, winner in enumerate(self.winners.tolist()):
                if winner in (left, right):
                    arm = left + right - winner
                    won[user, arm] += answers[user] if arm == left else 1.0 - answers[user]
                    heard[user, arm] += 1.0
            found.append(self._scores(won, heard))
        return np.array(found)

    def _scores(self, won: Floats, heard: Floats) -> Floats:
        scores = 2.0 * won / np.maximum(heard, 1.0)
        scores[np.arange(len(self.winners)), self.winners] = 1.0
        return scores

    def course(self, welfare: Welfare, policy: Floats, due: int = 1, every: int = 1) -> Floats:
        known = AgainstWinners(self.winners, self.won, self.heard)
        return Course(welfare, known, self.pairs, self.answers, policy, due, every).policies()


def gaps(scores: Floats, policies: Floats, weights: Floats | None = None) -> Floats:
    """How far each policy is from the highest Nash welfare, in log units: the certificate."""
    utilities = np.einsum("ndk,nk->nd", scores, policies)
    weights = np.ones(scores.shape[1]) if weights is None else weights
    gradients = np.einsum("nd,ndk->nk", weights / utilities, scores)
    return np.asarray(gradients.max(axis=1) - weights.sum())


@given(st.integers(1, 5), st.integers(2, 6), st.integers(0, 150), st.integers(0, 999))
def test_every_policy_is_best(users: int, arms: int, count: int, seed: int) -> None:
    duels = Duels(users, arms, count, seed)
    scores = duels.scores()
    policies = duels.course(Nash(), Nash().maximize(scores[0]).policy)
    assert gaps(scores, policies).max() < 1.1e-9


def test_users_may_weigh_differently() -> None:
    duels = Duels(4, 5, 500, 1)
    welfare = Nash(weights=(1.0, 2.0, 3.0, 4.0))
    scores = duels.scores()
    policies = duels.course(welfare, welfare.maximize(scores[0]).policy)
    assert gaps(scores, policies, np.arange(1.0, 5.0) / 2.5).max() < 1.1e-9


def test_where_one_arm_is_best_nothing_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> Any:
        raise AssertionError("it was solved for")

    duels = Duels(4, 5, 2000, 1, sure=True)
    duels.won[:] = 0.0
    monkeypatch.setattr(Nash, "follow", refuse)
    policies = duels.course(Nash(), np.eye(5)[0])
    assert policies.tolist() == [[1.0, 0.0, 0.0, 0.0, 0.0]] * 2001


@pytest.mark.parametrize("seed", range(5))
def test_a_policy_stays_until_it_is_not_best(seed: int) -> None:
    """To the very duel, and the counts are those after it; a loose tolerance lasts longer."""
    duels = Duels(3, 4, 300, seed)
    scores = duels.scores()
    policy = Nash().maximize(scores[0]).policy
    found = gaps(scores, np.tile(policy, (301, 1)))
    for tolerance in (1e-9, 1e-3, 0.03, 0.3, 100.0):
        counts = duels.won.copy(), duels.heard.copy()
        lasted = _script.stays_best(
            *counts, duels.winners, duels.pairs, duels.answers, policy, np.ones(3), tolerance
        )
        beyond = np.flatnonzero(found[1:] > tolerance)
        assert lasted == (beyond[0] + 1 if len(beyond) else 301)
        rest = _script.running_scores(
            *counts, duels.winners, duels.pairs[lasted:], duels.answers[lasted:]
        )
        np.testing.assert_array_equal(rest, scores[min(lasted, 300) :])


def test_a_user_who_gets_nothing_ends_a_policy() -> None:
    """Arm 1 lost its only duel with the winner of user 0, so that user has nothing of it."""
    counts = np.zeros((2, 2)), np.array([[0.0, 1.0], [1.0, 0.0]])
    lasted = _script.stays_best(
        *counts,
        np.array([0, 1]),
        np.array([[1, 0]]),
        np.zeros((1, 2)),
        np.array([0.0, 1.0]),
        np.ones(2),
        1e-9,
    )
    assert lasted == 1


@pytest.mark.parametrize("welfare", [Nash(), Utilitarian(), FrankWolfe()])
@pytest.mark.parametrize(("due", "every"), [(1, 1), (3, 1), (2, 5), (1, 50), (500, 2)])
@pytest.mark.parametrize("at_once", [1, 30_000])
def test_solved_where_it_is_due(
    welfare: Any, due: int, every: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if all were solved at once, whatever memory there is."""
    monkeypatch.setattr(course, "_SCORES", at_once)
    duels = Duels(3, 4, 120, 2)
    scores = duels.scores()
    first = welfare.maximize(scores[0]).policy
    found = duels.course(welfare, first, due, every)
    solved = welfare.follow(scores[due::every], first)
    expected = np.vstack([first, solved])[[max(0, (b - due) // every + 1) for b in range(121)]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_what_was_known_is_left_alone() -> None:
    duels = Duels(3, 4, 50, 1)
    before = duels.won.copy(), duels.heard.copy()
    duels.course(Nash(), np.full(4, 0.25))
    np.testing.assert_array_equal(before, (duels.won, duels.heard))
