"""Generalised Gini and egalitarian welfare against slow oracles, and what they have to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import welfare_oracle as oracle
from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.testing import WELFARE_LAWS
from fairduel.welfare import Egalitarian, GeneralizedGini, Utilitarian, Welfare
from nasty_scores import nasty_scores, nasty_starts, nasty_weights, with_winners

SIZES = [(1, 1), (1, 6), (6, 1), (2, 3), (7, 5), (10, 10), (3, 40), (40, 3), (30, 30)]


def some_ginis(users: int, sizes: tuple[float, ...] | None) -> list[GeneralizedGini]:
    halves = tuple(0.5**i for i in range(users))
    line = tuple(range(users, 0, -1))
    return [
        *(GeneralizedGini(delta=delta, sizes=sizes) for delta in (1.0, 1.3, 2.0, 10.0, 300.0)),
        *(GeneralizedGini(weights, sizes=sizes) for weights in (halves, line, (1, 0, 0, 0))),
    ]


def rank_weights(welfare: GeneralizedGini, users: int) -> Floats:
    """Of users of the same size, worst off first: what a small drop of each costs."""
    spread = np.linspace(0.1, 0.2, users)
    return welfare.gradient(spread)


@pytest.mark.parametrize("law", WELFARE_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "welfare",
    [
        GeneralizedGini(),
        GeneralizedGini(delta=7.0),
        GeneralizedGini((1.0, 0.5, 0.25)),
        GeneralizedGini((1.0, 0.0, 0.0, 0.0)),
        Egalitarian(),
    ],
    ids=str,
)
def test_laws(law: object, welfare: Welfare) -> None:
    law(welfare)  # type: ignore[operator]


@pytest.mark.parametrize(("users", "arms"), [(7, 5), (4, 9), (10, 10)])
def test_no_oracle_beats_the_gap(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        if name in ("denormal", "huge", "tiny"):  # the same but for scale
            continue
        for welfare in (GeneralizedGini(), GeneralizedGini(tuple(0.5**i for i in range(users)))):
            weights = rank_weights(welfare, users)
            solution = welfare.maximize(scores)
            reached = oracle.gini(scores @ solution.policy, weights)
            best = oracle.gini(scores @ oracle.gini_policy(scores, weights), weights)
            unit = scores.max()
            assert solution.value == pytest.approx(reached, rel=1e-12), name
            assert best <= reached + solution.gap + 1e-12 * unit, name
            assert reached <= best + 1e-4 * unit, name  # or the oracle has not really tried


@pytest.mark.parametrize(("users", "arms"), SIZES)
def test_the_gap_is_below_its_tolerance_everywhere(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        dead = np.vstack([scores, np.zeros((1, arms))])
        for sizes in nasty_weights(rng, users):
            for welfare in some_ginis(users, sizes):
                for start in list(nasty_starts(rng, arms))[:: 3 if users * arms > 100 else 1]:
                    solution = welfare.maximize(scores, start)
                    assert solution.gap <= 1e-9 * scores.max(), (name, welfare)
                    assert solution.policy.min() >= 0.0
                    assert abs(solution.policy.sum() - 1.0) < 1e-12
        gini, egalitarian = GeneralizedGini().maximize(dead), Egalitarian().maximize(dead)
        assert gini.unserved == egalitarian.unserved == (users,)
        assert gini.gap <= 1e-9 * scores.max(), name
        assert egalitarian.gap <= 1e-9 * scores.max(axis=1).min(), name


@pytest.mark.parametrize(
    ("users", "arms"), [(4, 500), (500, 4), (60, 60), (20_000, 5), (5, 20_000)]
)
def test_the_gap_is_below_its_tolerance_where_sizes_are_large(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    scores = with_winners(rng, users, arms)
    sparse = np.where(rng.random((users, arms)) < 0.5, 0.0, scores) + 1e-9
    for matrix in (scores, sparse):
        for welfare in (Egalitarian(), GeneralizedGini(), GeneralizedGini((1, 0, 0, 0))):
            assert welfare.maximize(matrix).gap <= 1e-9


@pytest.mark.parametrize(("users", "arms"), SIZES)
def test_the_gaps_are_what_a_linear_program_finds(users: int, arms: int) -> None:
    """HiGHS, for scores of one scale: the smallest utility is exact to 1e-9."""
    rng = np.random.default_rng([users, arms, 1])
    for _ in range(3):
        scores = with_winners(rng, users, arms)
        found = linprog(
            np.append(np.zeros(arms), -1.0),
            A_ub=np.hstack([-scores, np.ones((users, 1))]),
            b_ub=np.zeros(users),
            A_eq=np.append(np.ones(arms), 0.0)[None],
            b_eq=[1.0],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        solution = Egalitarian().maximize(scores)
        assert solution.value == pytest.approx(-found.fun, abs=2e-9)
        assert np.count_nonzero(solution.policy) <= users


def test_where_the_worst_off_alone_weighs_it_is_egalitarian() -> None:
    rng = np.random.default_rng(2)
    for users, arms in ((4, 6), (9, 5)):
        scores = with_winners(rng, users, arms)
        best = Egalitarian().maximize(scores).value
        only = GeneralizedGini((1.0,) + (0.0,) * (users - 1)).maximize(scores)
        assert only.value == pytest.approx(best, abs=2e-9)
        nearly = GeneralizedGini(delta=2000.0).maximize(scores)
        assert nearly.utilities.min() == pytest.approx(best, abs=1e-6)


def test_with_delta_1_it_is_utilitarian() -> None:
    scores = with_winners(np.random.default_rng(3), 5, 6)
    for sizes in (None, (1.0, 2.0, 3.0, 4.0, 5.0)):
        mean = Utilitarian(sizes).maximize(scores)
        gini = GeneralizedGini(delta=1, sizes=sizes).maximize(scores)
        assert gini.value == pytest.approx(mean.value, abs=2e-9)
        equal = GeneralizedGini((1.0,), sizes=sizes).maximize(scores)
        assert equal.value == pytest.approx(mean.value, abs=2e-9)


def test_delta_2_is_the_mean_times_one_minus_the_gini_coefficient() -> None:
    rng = np.random.default_rng(4)
    for users in (2, 5, 9):
        u = rng.random(users)
        differences = np.abs(u[:, None] - u).mean()
        assert GeneralizedGini().value(u) == pytest.approx(u.mean() - differences / 2.0)
        assert GeneralizedGini() == GeneralizedGini(delta=None)
        assert GeneralizedGini().value(u) == GeneralizedGini(delta=2.0).value(u)


@pytest.mark.parametrize(
    "welfare", [GeneralizedGini(delta=2.5), GeneralizedGini((6, 5, 4, 3, 2, 1))], ids=str
)
def test_size_three_is_the_same_user_three_times(welfare: GeneralizedGini) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        scores = with_winners(rng, 4, 5)
        sized = welfare.weighted((3.0, 1.0, 1.0, 1.0)).maximize(scores)
        copies = welfare.maximize(np.vstack([scores, scores[:1], scores[:1]]))
        assert sized.value == pytest.approx(copies.value, abs=3e-9)


@pytest.mark.parametrize("delta", [1.5, 2.0, 4.0])
def test_a_minority_below_its_threshold_gets_nothing(delta: float) -> None:
    """Two groups with nothing in common: 1 - 2^(-1/delta), which is 29 % for delta 2."""
    threshold = 1.0 - 2.0 ** (-1.0 / delta)
    for share, expected in ((threshold - 0.01, 0.0), (threshold + 0.01, 0.5)):
        gini = GeneralizedGini(delta=delta, sizes=(share, 1.0 - share))
        assert gini.maximize(np.eye(2)).utilities[0] == pytest.approx(expected, abs=1e-8)


def test_the_worst_quarter() -> None:
    welfare = GeneralizedGini((1.0, 0.0, 0.0, 0.0))
    u = np.arange(8.0)
    assert welfare.value(u) == 0.5
    assert welfare.value(u[:2]) == 0.0  # half a user is a quarter of the people
    assert welfare.value(u[:6]) == pytest.approx((0.0 + 0.5 * 1.0) / 1.5)


@pytest.mark.parametrize("sizes", [None, (1.0, 2.0, 3.0)])
def test_gradients_are_weights_of_ranks_and_ties_share(sizes: tuple[float, ...] | None) -> None:
    welfare = GeneralizedGini(delta=3.0, sizes=sizes)
    u = np.array([0.5, 0.2, 0.9])
    steps = 1e-6 * np.eye(3)
    slopes = (welfare.value(u + steps) - welfare.value(u - steps)) / 2e-6
    np.testing.assert_allclose(welfare.gradient(u), slopes, rtol=1e-6)
    tied = welfare.gradient([0.5, 0.5, 0.9])
    share = np.ones(3) if sizes is None else np.array(sizes)
    assert tied[0] / tied[1] == pytest.approx(share[0] / share[1])
    assert tied.sum() == pytest.approx(1.0)


def test_certificates_of_any_policy() -> None:
    assert GeneralizedGini().certificate(np.eye(2), [1.0, 0.0]) == pytest.approx(0.25)
    assert GeneralizedGini().certificate(np.eye(2), [0.5, 0.5]) == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(InputError, match="policy"):
        GeneralizedGini().certificate(np.eye(2), [1.0, 1.0])


def test_it_follows_as_it_maximizes() -> None:
    rng = np.random.default_rng(7)
    scores = np.repeat(with_winners(rng, 5, 6)[None], 60, axis=0)
    scores *= rng.uniform(0.95, 1.0, scores.shape)
    scores[30, 2], scores[40] = 0.0, 0.0
    for welfare in (GeneralizedGini(), GeneralizedGini((4, 1)), Egalitarian()):
        for start in (None, np.eye(6)[2]):
            policies = welfare.follow(scores, start)
            for matrix, policy in zip(scores, policies, strict=True):
                assert welfare.certificate(matrix, policy) <= 2e-9
        assert policies[40].tolist() == [1.0 / 6.0] * 6


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"weights": (1.0, 2.0)}, r"weights\[1\] is 2.0, more than weights\[0\], which is 1.0"),
        ({"weights": (1.0, -1.0)}, r"weights\[1\] is -1.0: give a finite number from 0 up"),
        ({"weights": (math.nan, 1.0)}, r"weights\[0\] is nan"),
        ({"weights": (math.inf,)}, r"weights\[0\] is inf"),
        ({"weights": (0.0, 0.0)}, "all zero"),
        ({"weights": ()}, "empty"),
        ({"weights": ("a",)}, "weights must be numbers, one for each rank"),
        ({"weights": 3.0}, "weights must be numbers"),
        ({"delta": 0.5}, "delta is 0.5: give a finite number from 1 up"),
        ({"delta": math.nan}, "delta is nan"),
        ({"delta": math.inf}, r"for inf there is Egalitarian\(\)"),
        ({"delta": "much"}, "delta is 'much': give a number"),
        ({"delta": 2.0, "weights": (1.0,)}, "weights and delta are both given"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        GeneralizedGini(**settings)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
