"""The steps of the proofs, computed: they hold, and what is broken is found out."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import entropy

from fairduel._arrays import Floats
from fairduel.environments import hard_instance
from fairduel.paper import lemmas, proof
from fairduel.paper.lemmas import Lemmas, concentration, nash_lipschitz, off_by, proportionality
from fairduel.paper.proof import Hardness, insider, table_2
from fairduel.report.document import Claim, Verdict
from fairduel.welfare import Nash, Utilitarian
from fake_sweep import fake_sweep

CASE = Hardness(users=6, arms=8, epsilon=0.1, rounds=10, wanted=2)
SQUARE = Hardness(users=6, arms=6, epsilon=0.1, rounds=100, wanted=1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute on few sizes."""
    monkeypatch.setattr(proof, "SIZES", ((4, 4), (4, 6)))
    monkeypatch.setattr(proof, "SQUARES", (4, 6))
    monkeypatch.setattr(proof, "HORIZONS", (10**3, 10**4))


def named(claims: tuple[Claim, ...]) -> dict[str, Claim]:
    return {claim.name: claim for claim in claims}


def test_all_steps_hold_and_all_controls_are_found_out() -> None:
    section = Lemmas(2).section(fake_sweep([]))
    assert len(section.claims) == 10
    for claim in section.claims:
        assert claim.verdict is Verdict.HOLDS, claim.name
        assert {control.verdict for control in claim.controls} <= {Verdict.HOLDS}, claim.name
    assert [claim.name for claim in section.claims if not claim.controls] == ["hard-scores"]


# Theorem 4.1


def test_hardness_is_the_instance_of_the_proof() -> None:
    made = hard_instance(6, 8, 10, 0.1, 2)
    np.testing.assert_array_equal(CASE.scores, made.scores)
    assert math.isclose(CASE.epsilon_prime, 1 / (4 * 10**3 * 6), rel_tol=1e-9)
    assert (CASE.good, list(CASE.bad)) == (3, [3, 4, 5])
    # User r = 4 scores the good winners lower by 2 epsilon, but not the second.
    lower = made.scores[3, :3] - made.scores[4, :3]
    np.testing.assert_allclose(lower, [-0.2, 0.0, -0.2], atol=1e-12)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("broken", "name"),
    [
        ("epsilon", "hard-scores"),
        ("bad winners are good", "remark-1"),
        ("b is good", "remark-2"),
        ("nothing to find", "regret-of-not-knowing"),
        ("others answer too", "kl-step"),
    ],
)
def test_instances_that_are_not_the_proofs_are_found_out(
    monkeypatch: pytest.MonkeyPatch, broken: str, name: str
) -> None:
    def scores(case: Hardness) -> Floats:
        made = table_2(case).copy()
        if broken == "epsilon":
            made[case.good, 0] -= 1e-6
        if broken == "bad winners are good":
            made[:, case.good :] = 1.0
        if broken == "b is good":
            made[:, case.good] = 1.0
        if broken == "nothing to find":
            made[:, : case.good] = 1.0
        return made

    def preferences(case: Hardness) -> Floats:
        made = hard_instance(case.users, case.arms, case.rounds, case.epsilon, case.wanted)
        answers = made.preferences.copy()
        if case.wanted and broken == "others answer too":
            answers[0, 1, 2] -= 1e-3
        return answers

    monkeypatch.setattr(Hardness, "scores", property(scores))
    monkeypatch.setattr(Hardness, "preferences", property(preferences))
    assert named(proof.claims())[name].verdict is Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_smaller_factor_of_the_divergence_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named(proof.claims())["kl-step"].verdict is Verdict.HOLDS
    monkeypatch.setattr(proof, "KL_FACTOR", 5)
    assert named(proof.claims())["kl-step"].verdict is Verdict.FAILS


@pytest.mark.usefixtures("few")
def test_a_bound_that_is_a_little_too_large_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = proof.bound_from_answers
    monkeypatch.setattr(proof, "bound_from_answers", lambda *given: 1.001 * bound(*given))
    assert named(proof.claims())["bound-from-answers"].verdict is Verdict.FAILS


def test_divergence_is_that_of_two_coins() -> None:
    expected = entropy([0.3, 0.7], [0.6, 0.4])
    assert math.isclose(float(proof.divergence(0.3, 0.6)), expected)
    assert float(proof.divergence(1.0, 1.0)) == 0.0
    apart, alone = proof.answers_apart(CASE)
    low, high = 0.5 + CASE.epsilon_prime, 0.6 + CASE.epsilon_prime
    ways = (entropy([low, 1 - low], [high, 1 - high]), entropy([high, 1 - high], [low, 1 - low]))
    assert math.isclose(apart, max(ways), rel_tol=1e-9)
    assert alone


@pytest.mark.parametrize("questions", [0, 1, 2])
def test_the_regret_of_an_insider_is_that_of_all_answers_it_can_get(questions: int) -> None:
    """By enumeration: each of three arms wins so many of its duels; ties are drawn."""
    case = SQUARE
    chances = [0.5 - case.epsilon_prime - case.epsilon * (arm != 0) for arm in range(3)]
    found = 0.0
    for wins in product(range(questions + 1), repeat=3):
        likelihood = math.prod(
            math.comb(questions, won) * p**won * (1 - p) ** (questions - won)
            for won, p in zip(wins, chances, strict=True)
        )
        found += likelihood * (wins[0] == max(wins)) / wins.count(max(wins))
    value = case.scores.prod(axis=0)
    asking = questions * sum(case.best - (value[arm] + value[3]) / 2 for arm in range(3))
    lost = case.best - (found * value[0] + (1 - found) * value[1])
    regret, _ = insider(case, questions)
    assert math.isclose(regret, asking + (100 - 3 * questions) * lost, rel_tol=1e-9)
    told, _ = insider(case, questions, told=True)
    assert math.isclose(told, asking + (100 - 3 * questions) * (case.best - value[0]), abs_tol=1e-9)


def test_the_bound_falls_with_what_answers_tell() -> None:
    """2 T epsilon (1 - 1/|A|) without any, and what the proof subtracts for 36 epsilon^3 T."""
    assert math.isclose(proof.bound_from_answers(0.01, 1000, 2, 0.0), 10.0)
    most = 36 * 0.01**3 * 1000
    expected = 0.01 * (2000 - 4000 * math.sqrt(most / 4) - 1000)
    assert math.isclose(proof.bound_from_answers(0.01, 1000, 2, most), expected)


# The lemmas


class Doubled(Nash):
    """Twice the Nash welfare, which changes twice as fast as the lemma allows."""

    def value(self, utilities: ArrayLike) -> Floats:
        return 2 * super().value(utilities)


def test_a_welfare_that_changes_faster_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemmas, "DRAWS", 100)
    assert nash_lipschitz().verdict is Verdict.HOLDS
    assert nash_lipschitz(Doubled()).verdict is Verdict.FAILS


def test_estimates_off_by_more_are_counted_exactly() -> None:
    mean, counts, width = 0.3, np.array([1, 4, 7]), np.array([0.65, 0.25, 0.2])
    expected = [
        sum(
            math.comb(count, won) * mean**won * (1 - mean) ** (count - won)
            for won in range(count + 1)
            if abs(won / count - mean) > wide
        )
        for count, wide in zip(counts.tolist(), width.tolist(), strict=True)
    ]
    np.testing.assert_allclose(off_by(mean, counts, width), expected, rtol=1e-12)


def test_widths_that_are_too_narrow_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemmas, "TIMES", (3, 30))
    assert {claim.verdict for claim in concentration()} == {Verdict.HOLDS}
    assert {claim.verdict for claim in concentration(narrower=2.0)} == {Verdict.FAILS}


def test_a_policy_that_leaves_users_out_is_not_proportional() -> None:
    assert proportionality().verdict is Verdict.HOLDS
    found = {each.what.partition(",")[0]: each for each in proportionality(Utilitarian()).findings}
    assert found["the paper's"].verdict is Verdict.FAILS
    assert found["nothing in common"].verdict is Verdict.FAILS
    assert found["hard"].verdict is Verdict.HOLDS  # one arm is good for all


def test_instances_alike_but_for_m_cost_an_insider_the_same() -> None:
    third = replace(SQUARE, wanted=3)
    assert math.isclose(insider(SQUARE, 2)[0], insider(third, 2)[0], rel_tol=1e-9)


def test_the_steps_are_as_sharp_as_the_proof_has_them() -> None:
    """What is left over is of the size of epsilon', so a weaker step would not do."""
    for step in (proof.gap(CASE), proof.remark_2(replace(CASE, wanted=0))):
        assert 0 <= step < 10 * CASE.users * CASE.epsilon_prime < CASE.epsilon / 20
    assert proof.gap(CASE, times=2.02) < 0  # where another good winner is played
    assert proof.remark_2(replace(CASE, wanted=0), part=0.51) < 0  # where b is
    np.testing.assert_allclose(lemmas._shares(Nash(), [np.eye(4)]), 0.0, atol=1e-9)


def test_chances_are_added_up_over_users_arms_and_numbers_of_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lemmas, "HOEFFDING_SIZES", ((2, 3),))
    monkeypatch.setattr(lemmas, "TIMES", (5,))
    monkeypatch.setattr(lemmas, "_means", lambda users, arms: [0.3])
    later = sum(
        float(off_by(0.3, np.array([n]), np.array([math.sqrt(2 * math.log(30) / n) / 4]))[0])
        for n in range(1, 6)
    )
    assert later > 0
    assert math.isclose(lemmas._later(4.0)[0], 6 * later / (2 / 30**3))
    width = np.array([math.sqrt(math.log(6 * 50) / 5) / 4])
    once = float(off_by(0.3, np.array([5]), width)[0])
    assert math.isclose(lemmas._explored(4.0)[0], 6 * once / (2 / (6 * 50**2)))
