"""Other welfares: hard instances, the least regret on them, its slopes, and what each gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairduel import FairETC, Nash, simulate
from fairduel._arrays import Floats
from fairduel.paper import Reproduction, reproduction, welfares
from fairduel.paper.welfares import (
    BORDA,
    CONTROL,
    HORIZONS,
    PAPER,
    REPEATS,
    SIDE,
    STYLES,
    WELFARES,
    _conjecture,
    _estimates,
    _least,
    _lost,
    borda_hard_instance,
    slopes,
)
from fairduel.report.document import Picture, Table, Verdict


def test_borda_hard_instances_differ_in_duels_with_bad_arms_only() -> None:
    plain, hard = (borda_hard_instance(3, 8, epsilon, 2) for epsilon in (0.0, 0.1))
    changed = np.argwhere(plain.preferences[0] != hard.preferences[0])
    assert {tuple(sorted(each)) for each in changed.tolist()} == {(1, bad) for bad in range(4, 8)}
    assert (hard.preferences[:, :4, :4] == 0.5).all()
    assert hard.scores[0].argmax() == 1
    np.testing.assert_allclose(hard.scores[0, 0], 1.0 - 0.1 * 4 / 7)
    np.testing.assert_allclose(plain.scores[:, :4], 1.0)


@pytest.mark.parametrize("kind", [PAPER, BORDA, CONTROL], ids=lambda kind: kind.label)
def test_instances_are_of_the_size_and_scoring_they_say(kind: welfares.Hardness) -> None:
    for run in range(5):
        instance = kind.instance(10**5, 0.05, run)
        assert instance.scores.shape == (SIDE, SIDE)
        assert instance.scoring == kind.scoring


def test_estimates_tend_to_the_scores() -> None:
    for kind in (PAPER, BORDA):
        instance = kind.instance(10**5, 0.05, 1)
        many = np.array([10**9, 10**9])
        found = _estimates(instance, many, np.random.default_rng(1))
        np.testing.assert_allclose(found, np.tile(instance.scores, (2, 1, 1)), atol=2e-4)


def test_regret_is_that_of_explore_then_commit() -> None:
    """Where so many duels leave no doubt, it is what exploring costs, as a learner plays it."""
    instance = BORDA.instance(10**5, 0.19, 0)
    rounds, length = 10**6, 20_000
    estimates = np.tile(instance.scores, (REPEATS, 1, 1))
    found = _lost(instance.scores, Nash(), estimates, np.array([length]), rounds)
    size = FairETC(scoring="borda", exploration=1e6).exploration_length(SIDE, SIDE, SIDE, rounds)
    learner = FairETC(scoring="borda", exploration=(length - 0.5) * 1e6 / size)
    run = simulate(instance, rounds, learner, seed=1, checkpoints=1)
    assert run.phases["explore"] == 28 * length
    np.testing.assert_allclose(found[0], run.regret[-1], rtol=1e-6)


def test_a_wrong_policy_costs_in_all_rounds_that_are_left() -> None:
    instance = BORDA.instance(10**5, 0.19, 0)
    bad = np.full((REPEATS, SIDE, SIDE), 0.1)
    bad[:, :, -1] = 1.0
    found = _lost(instance.scores, Nash(), bad, np.array([1]), 1000)
    right = _lost(
        instance.scores, Nash(), np.tile(instance.scores, (REPEATS, 1, 1)), np.array([1]), 1000
    )
    lost = 1.0 - instance.scores[:, -1].prod()
    np.testing.assert_allclose(found - right, (1000 - 28) * lost, rtol=1e-6)


def test_the_best_length_against_the_worst_epsilon() -> None:
    means = np.array([[5.0, 3.0, 4.0], [1.0, 2.0, 4.5]])  # the worst of each length: 5, 3, 4.5
    table = means[:, :, None] + np.array([-0.5, 0.5])
    assert _least(table).tolist() == [2.5, 3.5]


def test_slopes_are_those_of_the_mean() -> None:
    horizons = np.array(HORIZONS, float)
    exact = np.outer([1.0, 2.0, 5.0], horizons**0.7)
    np.testing.assert_allclose(slopes(exact), 0.7)
    rng = np.random.default_rng(1)
    noisy = horizons ** (2 / 3) * rng.gamma(4.0, 0.25, (400, len(HORIZONS)))
    found = slopes(noisy)
    of_mean = np.polyfit(np.log(horizons), np.log(noisy.mean(axis=0)), 1)[0]
    assert found.mean() == pytest.approx(of_mean, abs=1e-3)
    error = (
        0.5 / math.sqrt(400) / np.sqrt(((np.log(horizons) - np.log(horizons).mean()) ** 2).sum())
    )
    assert found.std() / math.sqrt(400) == pytest.approx(error, rel=0.15)


def losing(slope: float, control: float) -> dict[welfares.Hardness, dict[str, Floats]]:
    """Regrets that grow with these slopes, with a little noise."""
    rng = np.random.default_rng(3)
    horizons = np.array(HORIZONS, float)

    def regrets(power: float) -> dict[str, Floats]:
        noise = rng.uniform(0.95, 1.05, (10, len(HORIZONS)))
        return dict.fromkeys(WELFARES, horizons**power * noise)

    return {PAPER: regrets(slope), BORDA: regrets(slope), CONTROL: regrets(control)}


@pytest.mark.parametrize(
    ("slope", "control", "verdict"),
    [
        (0.67, 0.4, Verdict.HOLDS),
        (0.5, 0.4, Verdict.FAILS),
        (7 / 12, 0.4, Verdict.NOISE),
        (0.67, 0.67, Verdict.FAILS),
    ],
)
def test_the_conjecture_can_fail(slope: float, control: float, verdict: Verdict) -> None:
    for claim in _conjecture(losing(slope, control)):
        assert claim.verdict is verdict


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    place = tmp_path_factory.mktemp("welfares")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(welfares, "HORIZONS", (10**3, 10**4))
        patch.setattr(welfares, "FACTORS", (0.3, 1.0))
        patch.setattr(welfares, "LENGTHS", np.array([0.01, 0.05]))
        return reproduction.reproduce(["welfares"], place, runs=3, workers=1, data=place)


def test_the_report_has_pictures_slopes_and_prices(made: Reproduction) -> None:
    (section,) = made.document.sections
    names = [block.name for block in section.blocks if isinstance(block, Picture)]
    assert names == ["welfares-regret", "welfares-price"]
    slopes_table, prices = [block for block in section.blocks if isinstance(block, Table)]
    assert [row[0] for row in slopes_table.rows] == list(WELFARES)
    assert len(prices.rows) == 3 * (len(WELFARES) - 1)
    assert made.page.exists()
    assert "Synthetic stand-in for Sushi, 10 groups" in made.text.read_text()
    assert "the Sushi data are not in" in made.missing


def test_as_p_falls_the_worst_off_get_more_and_all_in_all_there_is_less(made: Reproduction) -> None:
    claim = made.document.claims[-1]
    assert claim.name == "price-of-equality"
    assert all(finding.difference >= -1e-9 for finding in claim.findings)
    assert len(claim.findings) == 3 * 2 * 5


def test_it_is_not_among_all() -> None:
    assert "welfares" not in reproduction._chosen(["all"])
    assert reproduction._chosen(["beyond", "welfares"]) == ["welfares", "beyond"]


def test_no_two_lines_look_alike() -> None:
    assert sorted(STYLES.values()) == list(range(len(WELFARES)))
