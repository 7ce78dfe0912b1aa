"""Made-up instances are what they say: winners, gaps, seeds, and the paper's own numbers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats
from fairduel.data import sushi_stand_in
from fairduel.environments import (
    Random,
    Scored,
    bradley_terry_instance,
    clustered_instance,
    groups_instance,
    hard_instance,
    mallows_instance,
    paper_instances,
    people_instance,
    random_instance,
)
from fairduel.errors import InputError
from fairduel.instance import Instance

ROUNDING = 1e-15
seeds = st.integers(0, 2**32)
gaps = st.floats(0, 0.499)


def assert_reciprocal_to_the_bit(instance: Instance) -> None:
    """P[j, i] is 1 - P[i, j] to the last bit for one of the two directions."""
    tensor = instance.preferences
    mirror = tensor.transpose(0, 2, 1)
    assert np.all((tensor == 1 - mirror) | (mirror == 1 - tensor))


# Random


@given(st.integers(1, 6), st.integers(1, 7), gaps, seeds)
def test_random_instances(users: int, arms: int, gap: float, seed: int) -> None:
    instance = random_instance(users, arms, gap, seed)
    assert instance.preferences.shape == (users, arms, arms)
    assert instance.has_winner.all()
    assert instance.gap >= gap - ROUNDING
    assert_reciprocal_to_the_bit(instance)
    others = np.ones((users, arms), bool)
    others[np.arange(users), instance.winners] = False
    won = instance.preferences[np.arange(users), instance.winners][others]
    assert np.all(won >= 0.5 + gap - ROUNDING)


def plain_transcription(users: int, arms: int, gap: float, seed: int) -> Floats:
    """The recipe word for word, one draw at a time."""
    rng = np.random.default_rng(seed)
    tensor = np.full((users, arms, arms), 0.5)
    for d in range(users):
        winner = rng.integers(0, arms)
        for i in range(arms):
            for j in range(i + 1, arms):
                x = rng.random()
                if i == winner:
                    p = 0.5 + gap + (0.5 - gap) * x
                elif j == winner:
                    p = (0.5 - gap) * x
                elif 0.5 < x < 0.5 + gap:
                    p = 0.5 + gap
                elif 0.5 - gap < x <= 0.5:
                    p = 0.5 - gap
                else:
                    p = x
                tensor[d, i, j] = p
                tensor[d, j, i] = 1 - p
    return tensor


def test_the_papers_instances_are_the_recipe_to_the_bit() -> None:
    drawn = np.random.default_rng(42).integers(0, 100000, size=30)
    instances = paper_instances()
    assert len(instances) == 30
    for instance, seed in zip(instances, drawn, strict=True):
        assert instance == Instance(plain_transcription(10, 10, 0.1, seed))
    for instance, seed in zip(paper_instances(5, 20, 0.2), drawn, strict=True):
        assert instance == Instance(plain_transcription(5, 20, 0.2, seed))


def test_the_first_paper_instance_stays_what_it_is() -> None:
    first, *_, last = paper_instances()
    assert first.winners.tolist() == [4, 9, 6, 7, 5, 3, 1, 5, 2, 1]
    numbers = [0.6815503002199601, 0.7194144511522443, 0.11589958945762513]
    assert first.preferences[0, 0, 1:4].tolist() == numbers
    numbers = [0.6, 0.07060190542822531, 0.6750837898429903]
    assert last.preferences[9, 9, :3].tolist() == numbers


def test_the_mean_optimum_of_the_papers_instances() -> None:
    from fairduel.welfare import Nash

    best = [Nash().maximize(instance.scores).utilities.prod() for instance in paper_instances()]
    assert np.mean(best) == pytest.approx(0.003937, abs=5e-7)


# Clustered


@pytest.mark.parametrize(
    ("users", "share", "members"),
    [
        (10, 0.5, 5),
        (10, 0.7, 7),
        (10, 0.75, 8),
        (10, 0.61, 7),
        (7, 0.5, 4),
        (100, 0.07, 7),  # 0.07 * 100 is above 7 in floating point
        (100, 0.29, 29),  # 0.29 * 100 is below 29
        (10, 0, 0),
        (10, 1, 10),
        (1, 0.001, 1),
    ],
)
def test_as_many_users_share_a_winner_as_asked(users: int, share: float, members: int) -> None:
    for seed in range(10):
        winners = clustered_instance(users, 6, share, seed=seed).winners
        assert np.all(winners[:members] == winners[0])
        if members:
            assert np.all(winners[members:] != winners[0])


@given(st.integers(1, 8), st.integers(2, 7), st.floats(0, 1), gaps, seeds)
def test_clustered_instances(users: int, arms: int, share: float, gap: float, seed: int) -> None:
    instance = clustered_instance(users, arms, share, gap, seed)
    assert instance.has_winner.all()
    assert instance.gap >= gap - ROUNDING
    assert_reciprocal_to_the_bit(instance)
    members = math.ceil(share * users - 1e-9)
    common = instance.winners[0]
    for d in range(members, users) if members else ():
        assert 0.9 <= instance.preferences[d, instance.winners[d], common] <= 1


def test_the_cluster_agrees_up_to_noise() -> None:
    # 40,000 deviations from the first member, the clipped ones left out.
    instance = clustered_instance(2001, 21, 1.0, 0.1, seed=3)
    common = instance.winners[0]
    rows = np.delete(instance.preferences[:, common], common, axis=1)
    middle = np.abs(rows[0] - 0.8) < 0.02
    assert middle.sum() >= 1
    noise = (rows[1:] - rows[0])[:, middle]
    inside = noise[np.abs(noise) < 0.15]
    # A normal with deviation 0.1 cut at 1.5 deviations has deviation 0.1 * 0.7426.
    assert abs(inside.mean()) < 4 * 0.0743 / math.sqrt(inside.size)
    assert inside.std() == pytest.approx(0.07426, rel=0.05)
    assert rows[1:].min() == pytest.approx(0.6)
    assert rows[1:].max() == 1.0


def test_outsiders_winners_are_any_other_arm() -> None:
    winners = clustered_instance(2000, 4, 0.25, seed=1).winners
    common, outside = winners[0], winners[500:]
    counts = np.bincount(outside, minlength=4)
    assert counts[common] == 0
    assert np.all(np.abs(np.delete(counts, common) - 500) < 4 * math.sqrt(1500 * 2 / 9))


# Hard


def table_of_scores(users: int, arms: int, m: int, epsilon: float, epsilon_prime: float) -> Floats:
    """Table "Scores s_d under instance I_m", cell by cell; I^0 has no arm a_m."""
    winners = min(users, arms)
    good = set(range(winners // 2))
    own = [d if d < winners else 0 for d in range(users)]
    r, a_m = winners // 2, m - 1
    scores = np.zeros((users, arms))
    for d in range(users):
        for a in range(arms):
            if a == own[d]:
                scores[d, a] = 1
            elif a in good and own[d] in good:
                scores[d, a] = 1 - 2 * epsilon_prime
            elif a in good:
                lower = d == r and a != a_m
                scores[d, a] = 1 - 2 * (epsilon_prime + (epsilon if lower else 0))
    return scores


SIZES = pytest.mark.parametrize(
    ("users", "arms"), [(4, 4), (10, 10), (4, 9), (9, 4), (5, 5), (7, 12), (12, 7)]
)


@SIZES
@pytest.mark.parametrize("rounds", [1, 10, 10**8])
def test_hard_instances_have_the_papers_scores(users: int, arms: int, rounds: int) -> None:
    epsilon_prime = max(min(1 / (2 * rounds**3 * users), 0.05) / 2, 2**-52)
    for m in range(min(users, arms) // 2 + 1):
        instance = hard_instance(users, arms, rounds, epsilon=0.15, instance=m)
        table = table_of_scores(users, arms, m, 0.15, epsilon_prime)
        np.testing.assert_allclose(instance.scores, table, rtol=0, atol=3e-16)
        assert instance.winners.tolist() == [d if d < arms else 0 for d in range(users)]
        assert 0 < instance.gap == pytest.approx(epsilon_prime, rel=1e-6, abs=2**-53)
        assert_reciprocal_to_the_bit(instance)


@SIZES
def test_the_hard_instances_differ_in_one_pair_of_one_user(users: int, arms: int) -> None:
    base = hard_instance(users, arms, 1000)
    r = min(users, arms) // 2
    for m in range(1, r + 1):
        differs = hard_instance(users, arms, 1000, instance=m).preferences != base.preferences
        assert {tuple(place) for place in np.argwhere(differs).tolist()} == {
            (r, m - 1, r),
            (r, r, m - 1),
        }


def test_the_m_th_good_winner_is_nearly_optimal_in_its_instance() -> None:
    for m in range(1, 6):
        scores = hard_instance(10, 10, 10**5, instance=m).scores
        best = scores.prod(axis=0)
        assert best.argmax() == m - 1
        assert best[m - 1] == pytest.approx(1, abs=1e-12)


def test_the_default_epsilon_is_the_proofs_and_below_its_limit() -> None:
    def epsilon(users: int, arms: int, rounds: int) -> float:
        instance = hard_instance(users, arms, rounds)
        r = min(users, arms) // 2
        prime = instance.preferences[0, 0, 1] - 0.5
        return float(instance.preferences[r, r, 0] - 0.5 - prime)

    assert epsilon(10, 12, 200_000) == pytest.approx(0.9 * (10 / (2304 * 200_000)) ** (1 / 3))
    assert epsilon(4, 4, 10**12) == pytest.approx(0.9 * (4 / 2304e12) ** (1 / 3), rel=1e-6)
    assert epsilon(200, 200, 1) == pytest.approx(0.199)


@pytest.mark.parametrize("rounds", [10**9, 10**30, np.int64(10**9)])
def test_every_user_has_a_winner_at_any_horizon(rounds: int) -> None:
    instance = hard_instance(6, 5, rounds)
    assert instance.has_winner.all()
    assert instance.gap == 2**-52


def test_a_seed_chooses_the_arms_of_the_hard_instances() -> None:
    plain, shuffled = hard_instance(6, 8, 100), hard_instance(6, 8, 100, seed=5)
    assert sorted(set(shuffled.winners.tolist())) != list(range(6))
    assert len(set(shuffled.winners.tolist())) == 6
    assert shuffled.gap == plain.gap
    w = shuffled.winners
    np.testing.assert_array_equal(shuffled.scores[:, w], plain.scores[:, :6])
    assert np.array_equal(w, hard_instance(6, 8, 100, instance=2, seed=5).winners)


# Seeds

Make = Callable[[Any], Instance]
MAKERS: list[Make] = [
    lambda seed: random_instance(3, 4, seed=seed),
    lambda seed: clustered_instance(5, 4, 0.5, seed=seed),
    lambda seed: hard_instance(4, 5, 10, seed=seed),
    lambda seed: bradley_terry_instance(3, 4, seed=seed),
    lambda seed: mallows_instance(3, 4, seed=seed),
    lambda seed: groups_instance(sushi_stand_in(), 3, 50, seed=seed),
    lambda seed: people_instance(sushi_stand_in(), 3, seed=seed),
]


@pytest.mark.parametrize("make", MAKERS)
def test_seeds(make: Make) -> None:
    assert make(7) == make(7) == make(np.int64(7)) == make(np.random.default_rng(7))
    assert make(7) != make(8)
    rng = np.random.default_rng(7)
    assert make(rng) != make(rng)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_bad_seeds(make: Make, seed: object) -> None:
    with pytest.raises(InputError, match=f"seed is {seed!r}: give a whole number from 0 up"):
        make(seed)


# Bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: random_instance(0, 3), "users is 0: give a whole number from 1 up"),
        (lambda: random_instance(3, 0), "arms is 0: give a whole number from 1 up"),
        (lambda: random_instance(3, 2.0), "arms is 2.0: give a whole number"),  # type: ignore[arg-type]
        (lambda: random_instance(3, 3, 0.5), "gap is 0.5: give a number from 0 to below 0.5"),
        (lambda: random_instance(3, 3, -0.1), "gap is -0.1: give a number from 0"),
        (lambda: random_instance(3, 3, math.nan), "gap is nan: give a number from 0"),
        (lambda: random_instance(3, 3, "a"), "gap is 'a': give a number from 0"),  # type: ignore[arg-type]
        (lambda: clustered_instance(3, 3, 1.1), "share is 1.1: give a number from 0 to 1"),
        (lambda: clustered_instance(3, 3, -0.1), "share is -0.1: give a number from 0 to 1"),
        (lambda: clustered_instance(0, 3, 0.5), "users is 0: "),
        (lambda: clustered_instance(3, 1, 0.5), "give at least 2 arms or share 1"),
        (lambda: hard_instance(3, 4, 10), "users is 3: give a whole number from 4 up"),
        (lambda: hard_instance(4, 3, 10), "arms is 3: give a whole number from 4 up"),
        (lambda: hard_instance(4, 4, 0), "rounds is 0: give a whole number from 1 up"),
        (lambda: hard_instance(4, 4, 9, 0.2), "epsilon is 0.2: give a number above 0 and below"),
        (lambda: hard_instance(4, 4, 9, 0.0), "epsilon is 0.0: give a number above 0 and below"),
        (
            lambda: hard_instance(4, 4, 9, instance=3),
            "instance is 3, .*: give a number from 0 to 2",
        ),
        (lambda: hard_instance(4, 4, 9, instance=-1), "instance is -1: give a whole number"),
        (lambda: paper_instances(gap=0.7), "gap is 0.7: "),
    ],
)
def test_bad_settings(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()


def test_scored_are_the_same_preferences() -> None:
    plain, scored = Random(3, 4).draw(2, 10, 5), Scored(Random(3, 4), "borda").draw(2, 10, 5)
    assert scored == plain.scored_by("borda")
    assert scored.scoring == "borda"
    with pytest.raises(InputError, match="the scoring is 'brda': use"):
        Scored(Random(3, 4), "brda")


def test_one_arm() -> None:
    assert random_instance(3, 1).winners.tolist() == [0, 0, 0]
    assert clustered_instance(3, 1, 1.0).winners.tolist() == [0, 0, 0]


class Lowest(np.random.Generator):
    """Draws the least favourable number there is for an arm that should win."""

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.zeros(size)


class Highest(np.random.Generator):
    """Draws the least favourable number there is for an arm that should lose."""

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.full(size, 1 - 2**-53)


@pytest.mark.parametrize("kind", [Lowest, Highest])
@pytest.mark.parametrize("gap", [0.0, 1e-20])
def test_the_winner_wins_whatever_is_drawn(kind: type[np.random.Generator], gap: float) -> None:
    for seed in range(5):
        instance = random_instance(4, 5, gap, kind(np.random.PCG64(seed)))
        assert instance.has_winner.all()


class Half(np.random.Generator):
    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.full(size, 0.5)


def test_a_draw_of_one_half_keeps_the_gap_too() -> None:
    instance = random_instance(4, 5, 0.1, Half(np.random.PCG64(1)))
    assert instance.gap == pytest.approx(0.1)
