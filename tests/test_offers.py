"""Rounds drawn from offers one at a time."""

import numpy as np
import pytest

from chance import fits
from fairduel._arrays import Floats
from fairduel.offers import Duels, Mix, Script, Shown, commit, draw_arm, draw_round


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_arms_are_drawn_from_the_policy() -> None:
    policy = np.array([0.0, 0.2, 0.5, 0.0, 0.3, 0.0])
    dice = rng()
    draws = [draw_arm(policy, dice) for _ in range(20_000)]
    assert fits(np.bincount(draws, minlength=6), policy)


@pytest.mark.parametrize("total", [1.0, 1 - 1e-12, 1 + 1e-12, 0.3])
def test_the_highest_dice_still_give_an_arm_with_a_chance(total: float) -> None:
    class Highest:
        def random(self) -> float:
            return float(np.nextafter(1.0, 0.0))

    policy = total * np.array([0.5, 0.5, 0.0])
    assert draw_arm(policy, Highest()) == 1  # type: ignore[arg-type]


def test_duels_come_in_the_order_listed() -> None:
    duels = Duels(np.array([[0, 1], [2, 1], [1, 0]]), np.array([0, 3, 2]), "identify")
    assert duels.rounds == 5
    assert draw_round(duels, 1, rng()) == Shown(2, 1, "identify", True)


def test_a_mix_draws_both_sides_independently() -> None:
    left, right = np.array([0.3, 0.7]), np.array([0.9, 0.1])
    dice, counts = rng(2), np.zeros((2, 2))
    for _ in range(10_000):
        shown = draw_round(Mix(left, right, 7), 1, dice)
        assert (shown.phase, shown.listen) == ("exploit", True)
        counts[shown.left, shown.right] += 1
    assert fits(counts, np.outer(left, right))


def test_nobody_listens_to_a_commitment() -> None:
    play = commit(np.array([0.0, 1.0]), 3)
    assert play.rounds == 3
    assert draw_round(play, 1, rng()) == Shown(1, 1, "exploit", False)


def test_a_script_plays_its_policy_before_its_duel() -> None:
    def follow(answers: Floats) -> Floats:
        assert answers.shape == (0, 4)
        return np.array([[0.0, 0.0, 1.0]])

    pairs = np.array([[0, 1], [1, 0]])
    waiting = Script(np.array([2, 5]), pairs, follow)
    assert waiting.rounds == 9
    assert draw_round(waiting, 4, rng()) == Shown(2, 2, "exploit", False)
    due = Script(np.array([0, 5]), pairs, follow)
    assert draw_round(due, 4, rng()) == Shown(0, 1, "explore", True)
