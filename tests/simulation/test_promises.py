"""Learners that break their promises are caught when they do, and named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fairduel import InputError, Session, UniformOverUsers, compare, random_instance, simulate
from fairduel.environments import Fixed
from fairduel.learners.uniform import UniformState
from fairduel.offers import Duels, Mix, Play, Script

INSTANCE = random_instance(2, 3, seed=1)
NO_POLICIES: dict[str, Any] = {
    "sum": np.array([0.5, 0.5, 0.5]),
    "negative": np.array([1.5, -0.5, 0.0]),
    "nan": np.array([np.nan, 0.5, 0.5]),
    "short": np.array([0.5, 0.5]),
    "list": [0.5, 0.5, 0.0],
    "none": None,
    "many": np.full((2, 3), 1.0 / 3.0),
    "words": np.array(["1", "0", "0"]),
}
NO_DUELS: dict[str, Duels | Script] = {
    "nothing": Duels(np.array([[0, 1]]), np.array([0])),
    "arm 3 of 3": Duels(np.array([[0, 1], [3, 1]]), np.array([1, 1])),
    "arm -1": Duels(np.array([[0, -1]]), np.array([1])),
    "less than nothing": Duels(np.array([[0, 1], [1, 2]]), np.array([5, -1])),
    "a script of arm 3": Script(np.array([2]), np.array([[0, 3]]), lambda _: np.eye(3)[:1]),
    "a script of -1": Script(np.array([-1, 9]), np.eye(2, dtype=int), lambda _: np.eye(3)[:1]),
}


@dataclass(frozen=True)
class Liar(UniformOverUsers):
    """Says one thing or another that is not so."""

    offers: str = ""
    says: str = ""

    def ask(self, state: UniformState) -> tuple[Play, UniformState]:
        if self.offers in NO_DUELS:
            return NO_DUELS[self.offers], state
        if self.offers == "thin air":
            return None, state  # type: ignore[return-value]
        if self.offers:
            fine = np.full(3, 1.0 / 3.0)
            return Mix(fine, NO_POLICIES[self.offers], 5), state
        return super().ask(state)

    def policy(self, state: UniformState) -> Any:
        return NO_POLICIES[self.says] if self.says else super().policy(state)


@pytest.mark.parametrize("offers", [*NO_POLICIES, *NO_DUELS, "thin air"])
def test_offers(offers: str) -> None:
    liar = Liar(offers=offers)
    with pytest.raises(InputError, match=r"^Liar (offers|gives) "):
        simulate(INSTANCE, 50, liar)
    with pytest.raises(InputError, match=r"^Liar (offers|gives) "):
        Session(["ann", "bob"], ["x", "y", "z"], 50, liar, seed=1).ask()
    found = compare(liar, Fixed(INSTANCE), 50, runs=1, workers=1)
    assert found.failures[0].reason.startswith("Liar ")


@pytest.mark.parametrize("says", NO_POLICIES)
def test_policies(says: str) -> None:
    liar = Liar(says=says)
    with pytest.raises(InputError, match=r"^Liar gives .* for a policy: a policy is an array"):
        simulate(INSTANCE, 50, liar)
    with pytest.raises(InputError, match=r"^Liar gives "):
        Session(["ann", "bob"], ["x", "y", "z"], 50, liar, seed=1).recommend()


@dataclass(frozen=True)
class Scripted(UniformOverUsers):
    """Plays a script of the policies that it is given."""

    says: str = ""

    def ask(self, state: UniformState) -> tuple[Play, UniformState]:
        steps = np.array([3, 3]), np.array([[0, 1], [1, 2]])
        return Script(*steps, lambda answers: _rows(NO_POLICIES[self.says], answers)), state


def _rows(policy: Any, answers: Any) -> Any:
    steps = min(len(answers) + 1, 2)
    return np.array([policy] * steps) if isinstance(policy, np.ndarray) else [policy] * steps


@pytest.mark.parametrize("answers", [1.0, 0.5])
@pytest.mark.parametrize("says", NO_POLICIES)
def test_scripts(says: str, answers: float) -> None:
    """Also where somebody does not answer, and a script is played piece by piece."""
    with pytest.raises(InputError, match=r"^Scripted gives .* for a policy"):
        simulate(INSTANCE, 50, Scripted(says=says), answers=answers)


def test_more_checkpoints_than_anyone_reads() -> None:
    with pytest.raises(InputError, match="ask for 1,000,000 at most"):
        simulate(INSTANCE, 500, UniformOverUsers(), checkpoints=10**8)


@pytest.mark.parametrize("says", NO_POLICIES)
def test_scripts_in_a_session(says: str) -> None:
    session = Session(["ann", "bob"], ["x", "y", "z"], 50, Scripted(says=says), seed=1)
    with pytest.raises(InputError, match=r"^Scripted gives .* for a policy"):
        session.ask()
    assert session.rounds == 0
