"""Theorem 4.1: what a bound for learners says of them, and of one that cheats."""

import math
from typing import Any

import numpy as np
import pytest

from fairduel.environments import Hard
from fairduel.experiments import Results, sweep
from fairduel.learners import FairETC, Learner
from fairduel.paper import lower_bound
from fairduel.paper.controls import Told
from fairduel.paper.lower_bound import TOLD, LowerBound, Setting
from fairduel.report.document import Claim, Verdict

SETTING = Setting(4, 4, 10_000)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play little enough for a test."""
    monkeypatch.setattr(lower_bound, "SQUARES", (4,))
    monkeypatch.setattr(lower_bound, "HORIZONS", (10**3, 10**4))
    monkeypatch.setattr(lower_bound, "VOI_HORIZONS", (10**2, 10**3))
    monkeypatch.setattr(lower_bound, "SIDES", (4, 6))
    monkeypatch.setattr(lower_bound, "SIDE_ROUNDS", 10**3)


def played(experiment: LowerBound) -> Results:
    results = sweep(experiment.cells, workers=1, progress=False)
    assert not results.failures
    return results


def named(claims: tuple[Claim, ...]) -> dict[str, Claim]:
    return {claim.name: claim for claim in claims}


@pytest.mark.usefixtures("small")
def test_the_experiment_for_real() -> None:
    experiment = LowerBound(8)  # four runs of Fair-VOI differ too much
    found = named(experiment.section(played(experiment)).claims)
    for name in ("regret-above-lower-bound", "regret-above-own-bound"):
        assert found[name].verdict is Verdict.HOLDS
        assert {control.verdict for control in found[name].controls} == {Verdict.HOLDS}
        assert any(each.what.startswith("Fair-VOI") for each in found[name].findings)
    assert found["lower-bound-in-winners"].verdict is Verdict.HOLDS


@pytest.mark.usefixtures("small")
def test_learners_that_cheat_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(setting: Setting, environment: Hard, name: str, run: int) -> tuple[Learner[Any], str]:
        scores = environment.draw(run, setting.rounds, 0).scores
        return Told(int(scores.prod(axis=0).argmax()), setting.arms), name

    lower_bound._cells.cache_clear()
    monkeypatch.setattr(lower_bound, "_player", told)
    try:
        experiment = LowerBound(4)
        results = played(experiment)
        for claim in (experiment._above(results), experiment._own(results)):
            assert {each.verdict for each in claim.findings} == {Verdict.FAILS}
    finally:
        lower_bound._cells.cache_clear()


def test_plays_of_b_are_read_off_the_utilities() -> None:
    """Fair-ETC plays every pair with a winner L times, and b is in six of the twelve."""
    cells = SETTING.cells("fair-etc", 3, perturbed=False)
    results = sweep(cells, workers=1, progress=False)
    expected = 6 * FairETC().exploration_length(4, 4, 4, 10_000)
    np.testing.assert_allclose(SETTING.asked(results.utilities(cells)), expected, atol=1e-6)


@pytest.mark.parametrize("users", [4, 8])
def test_unperturbed_cells_play_the_unperturbed_instance(users: int) -> None:
    setting = Setting(users, users, 1000)
    cells = setting.cells("fair-etc", 4, perturbed=False)
    assert len({cell.run for cell in cells}) == 4
    for cell in cells:
        values = cell.environment.draw(cell.run, cell.rounds, 0).scores.prod(axis=0)
        best = np.sort(values)[::-1][: users // 2]
        np.testing.assert_allclose(best, best[0], rtol=1e-9)  # no good winner is better


def test_the_control_is_told_the_best_arm() -> None:
    for cell in SETTING.cells(TOLD, 4):
        values = cell.environment.draw(cell.run, cell.rounds, 0).scores.prod(axis=0)
        assert isinstance(cell.learner, Told)
        assert values[cell.learner.arm] == values.max()
        assert np.sum(values > values.max() - 1e-3) == 1  # epsilon is 0.05


def test_who_asks_more_has_a_lower_bound_of_its_own() -> None:
    epsilon = 0.9 * math.cbrt(4 / (2304 * 10_000))
    assert math.isclose(SETTING.hardness, epsilon)
    # Who never asks plays the wrong one of two half of the time, and loses 2 epsilon with it.
    assert math.isclose(SETTING.own_bound(0.0), 10_000 * epsilon, rel_tol=1e-6)
    assert SETTING.bound < SETTING.own_bound(500.0) < SETTING.own_bound(100.0)
    p, q = 0.5 + epsilon, 0.5
    apart = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    lost = 1 - 4 * math.sqrt(100 * apart / 4)
    assert math.isclose(SETTING.own_bound(100.0), 10_000 * epsilon * lost, rel_tol=1e-6)
