"""The learners by name: Fair-VOI, BT-Thompson and the paper's five."""

from __future__ import annotations

from typing import Any

from fairduel.learners.bradley_terry_thompson import BradleyTerryThompson
from fairduel.learners.epsilon_greedy import FairEpsilonGreedy
from fairduel.learners.explore_then_commit import FairETC
from fairduel.learners.learner import Learner
from fairduel.learners.uniform import UniformOverUsers
from fairduel.learners.voi import FairVOI
from fairduel.welfare import Utilitarian

PRESETS = ("as_written", "as_run")  # of the paper's

# The paper's utilitarian baselines are its own learners with another welfare.
PAPER: dict[str, tuple[Any, dict[str, Any]]] = {
    "fair-etc": (FairETC, {}),
    "fair-eps": (FairEpsilonGreedy, {}),
    "utilitarian-etc": (FairETC, {"welfare": Utilitarian()}),
    "utilitarian-eps": (FairEpsilonGreedy, {"welfare": Utilitarian()}),
    "uniform": (UniformOverUsers, {}),
}
OTHERS: dict[str, Any] = {"fair-voi": FairVOI, "bt-thompson": BradleyTerryThompson}
NAMES = (*OTHERS, *PAPER)


def by_name(name: str, preset: str = "as_written", **settings: Any) -> Learner[Any]:
    """Return a learner of ``NAMES``; the paper's start from the settings of a preset."""
    made: Learner[Any]
    if name in OTHERS:
        made = OTHERS[name](**settings)
    else:
        kind, own = PAPER[name]
        made = getattr(kind, preset)(**own, **settings)
    return made
