"""A new welfare is one class in one file: learners, laws and the registry take it as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.optimize import minimize

import fairduel.welfare
from fairduel._arrays import Floats
from fairduel.environments import random_instance
from fairduel.learners import FairEpsilonGreedy, FairETC, FairVOI
from fairduel.simulation import simulate
from fairduel.testing import WELFARE_LAWS
from fairduel.welfare import (
    Egalitarian,
    GeneralizedGini,
    Nash,
    PowerMean,
    Solution,
    Utilitarian,
    Welfare,
)
from fairduel.welfare.registry import by_name


@dataclass(frozen=True)
class SoftMinimum(Welfare):
    """Almost the smallest utility, but smooth: -t log of the mean of exp(-u / t)."""

    name = "soft-minimum"
    label = "soft minimum"
    summary = "Almost the smallest of the users' utilities."
    slow = True

    softness: float = 0.1

    def value(self, utilities: ArrayLike) -> Floats:
        powers = np.exp(-np.asarray(utilities) / self.softness)
        return np.asarray(-self.softness * np.log(powers.mean(axis=-1)))

    def gradient(self, utilities: ArrayLike) -> Floats:
        powers = np.exp(-np.asarray(utilities) / self.softness)
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        scores = np.asarray(scores, np.float64)
        found = minimize(
            lambda policy: -float(self.value(scores @ policy)),
            np.full(scores.shape[1], 1.0 / scores.shape[1]) if start is None else start,
            jac=lambda policy: -self.gradient(scores @ policy) @ scores,
            bounds=[(0.0, 1.0)] * scores.shape[1],
            constraints={"type": "eq", "fun": lambda policy: policy.sum() - 1.0},
            options={"ftol": 1e-12},
        )
        policy = np.maximum(found.x, 0.0) / np.maximum(found.x, 0.0).sum()
        utilities, gap = scores @ policy, self.certificate(scores, policy)
        return Solution(policy, utilities, float(self.value(utilities)), gap, label=self.label)


@pytest.mark.parametrize("law", WELFARE_LAWS, ids=lambda law: law.__name__)
def test_it_obeys_the_laws(law: Any) -> None:
    law(SoftMinimum())


@pytest.mark.parametrize("learner", [FairETC, FairEpsilonGreedy])
def test_the_papers_learners_maximise_it(learner: Any) -> None:
    """Their policy is better than a uniform one, and about the best."""
    instance, welfare = random_instance(2, 3, seed=2), SoftMinimum()
    winners = tuple(instance.winners.tolist())
    run = simulate(instance, 3000, learner(welfare=welfare, winners=winners), seed=1, checkpoints=1)
    _assert_good(welfare, instance.scores, run.policy)


def test_fair_voi_maximises_it() -> None:
    """Though its kernels have to call back to Python."""
    instance, welfare = random_instance(2, 3, seed=2), SoftMinimum()
    winners = tuple(instance.winners.tolist())
    run = simulate(instance, 60, FairVOI(welfare=welfare, winners=winners), seed=1, checkpoints=1)
    assert run.phases["explore"] > 0
    _assert_good(welfare, instance.scores, run.policy)


def _assert_good(welfare: Welfare, scores: Floats, policy: Floats) -> None:
    best, uniform = welfare.maximize(scores).value, float(welfare.value(scores.mean(axis=1)))
    assert float(welfare.value(scores @ policy)) > uniform + 0.7 * (best - uniform)


# What kernels call


class PlainNash(Nash):
    """The Nash welfare, without its compiled objective."""

    def compiled(self, users: int) -> Any:
        return Welfare.compiled(self, users)


def _kernel(address: int, weights: Floats, *arguments: Any) -> Any:
    """What a compiled kernel does with an objective, by hand."""
    import ctypes

    row = ctypes.POINTER(ctypes.c_double)
    function = ctypes.CFUNCTYPE(ctypes.c_double, row, row, row, ctypes.c_int64)(address)
    utilities, gradient = arguments[0].copy(), np.empty(len(arguments[0]))
    arrays = [array.ctypes.data_as(row) for array in (weights, utilities, gradient)]
    return function(*arrays, len(utilities)), gradient


@pytest.mark.parametrize(
    "welfare",
    [Nash(), Nash((1.0, 2.0, 5.0)), Utilitarian(), Utilitarian((1.0, 2.0, 5.0)), Egalitarian(),
     PowerMean(1.0), PowerMean(0.5, (1.0, 2.0, 5.0)), PowerMean(0.0), PowerMean(-2.0),
     PowerMean(-300.0, (1.0, 2.0, 5.0)), GeneralizedGini(), GeneralizedGini((3.0, 2.0, 1.0)),
     GeneralizedGini((1.0, 0.0), sizes=(1.0, 2.0, 5.0)), GeneralizedGini(delta=9.0),
     PlainNash(), PlainNash((1.0, 2.0, 5.0)), SoftMinimum()],
)  # fmt: skip
def test_a_compiled_objective_is_the_value_and_the_gradient(welfare: Welfare) -> None:
    rng = np.random.default_rng(1)
    for utilities in (*rng.random((20, 3)), np.array([0.5, 0.5, 0.7]), np.array([0.0, 0.5, 1.0])):
        with np.errstate(divide="ignore"):
            value, gradient = welfare.compiled(3).run(_kernel, utilities)
            assert value == pytest.approx(float(welfare.value(utilities)), rel=1e-12)
            np.testing.assert_allclose(
                gradient, welfare.gradient(utilities), rtol=1e-11, atol=1e-300
            )


def test_called_back_or_compiled_the_run_is_the_same() -> None:
    instance = random_instance(3, 4, seed=4)
    runs = [
        simulate(instance, 200, FairVOI(welfare=kind()), seed=1, checkpoints=5)
        for kind in (Nash, PlainNash)
    ]
    np.testing.assert_allclose(runs[0].earned, runs[1].earned, rtol=1e-9)


def test_an_error_in_it_is_not_lost_in_a_kernel() -> None:
    class Failing(PlainNash):
        def gradient(self, utilities: ArrayLike) -> Floats:
            raise ArithmeticError("nothing adds up")

    learner = FairVOI(welfare=Failing())
    with pytest.raises(ArithmeticError, match="nothing adds up"):
        learner.ask(learner.init(2, 3, 100, seed=1))


# Declarations


def test_what_is_not_declared_is_missed_at_once() -> None:
    with pytest.raises(TypeError, match="the welfare Nameless has no name: declare a string"):

        class Nameless(Welfare):
            label = "something"
            summary = "Something."


def test_what_has_no_value_cannot_be_made() -> None:
    class Empty(Welfare):
        name = label = summary = "empty"

    with pytest.raises(TypeError, match="abstract"):
        Empty()  # type: ignore[abstract]


# The registry

MINE = """
from fairduel.welfare.nash import Nash
from fairduel.welfare.welfare import Welfare


class Rough(Nash):
    name = "rough"
    summary = "Nash, roughly."


class Unfinished(Welfare):
    name = label = summary = "unfinished"
"""


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files count as files of ``fairduel.welfare``."""
    monkeypatch.setattr(fairduel.welfare, "__path__", [*fairduel.welfare.__path__, str(tmp_path)])
    before = set(sys.modules)
    by_name.cache_clear()
    yield tmp_path
    by_name.cache_clear()
    for module in set(sys.modules) - before:
        del sys.modules[module]
        monkeypatch.delattr(fairduel.welfare, module.rpartition(".")[2], raising=False)


def test_the_packages_own_welfares_are_known_by_name() -> None:
    known = {"egalitarian", "frank-wolfe", "gini", "nash", "power-mean", "utilitarian"}
    assert known <= set(by_name())
    for name, kind in by_name().items():
        assert kind.name == name
        assert kind.summary.endswith(".")
        assert kind().maximize([[0.5, 1.0]]).label.startswith(kind.label)


def test_a_file_that_is_dropped_in_is_found(dropped: Path) -> None:
    (dropped / "rough.py").write_text(MINE)
    assert "rough" in by_name()
    assert by_name()["rough"]().maximize(np.eye(2)).value == 0.25


def test_two_of_a_name_are_refused(dropped: Path) -> None:
    (dropped / "rough.py").write_text(MINE.replace('"rough"', '"nash"'))
    with pytest.raises(TypeError, match="two welfares are called 'nash'"):
        by_name()
