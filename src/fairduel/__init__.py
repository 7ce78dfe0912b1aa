"""fairduel: fair decisions from pairwise votes.

A team decides: ``Session(people, options)``, then ``ask`` and ``tell``.
A researcher simulates, ``simulate(random_instance(10, 10), 200_000)``, and compares:
``compare([FairVOI(), Mine()], environments.Random(), 10_000)``.
The default learner is ``FairVOI()``.
"""

import importlib
from typing import TYPE_CHECKING

from fairduel import environments
from fairduel.environments import (
    bradley_terry_instance,
    clustered_instance,
    hard_instance,
    mallows_instance,
    paper_instances,
    random_instance,
)
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.learners import (
    BradleyTerryThompson,
    FairEpsilonGreedy,
    FairETC,
    FairVOI,
    Learner,
    UniformOverUsers,
)
from fairduel.learners.tournament import Tournament, identify
from fairduel.live import SKIP, TIE, Duel, Recommendation, Session
from fairduel.offers import Duels, Mix, Play, Script
from fairduel.simulation import (
    Trajectory,
    linear_checkpoints,
    logarithmic_checkpoints,
    simulate,
)
from fairduel.tally import Tally
from fairduel.welfare import (
    Egalitarian,
    FrankWolfe,
    GeneralizedGini,
    Nash,
    PowerMean,
    Solution,
    Utilitarian,
    Welfare,
)

if TYPE_CHECKING:
    from fairduel.data import solve
    from fairduel.experiments import Results, compare
    from fairduel.paper import reproduce

__version__ = "0.1.0"

# What runs many simulations takes a while to import, and a session needs none of it.
_IMPORTED_LATER = {
    "Results": "fairduel.experiments",
    "compare": "fairduel.experiments",
    "reproduce": "fairduel.paper",
    "solve": "fairduel.data",
}


def __getattr__(name: str) -> object:
    if name not in _IMPORTED_LATER:
        raise AttributeError(f"module 'fairduel' has no attribute {name!r}")
    return getattr(importlib.import_module(_IMPORTED_LATER[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_IMPORTED_LATER]


__all__ = [
    "SKIP",
    "TIE",
    "BradleyTerryThompson",
    "Duel",
    "Duels",
    "Egalitarian",
    "FairETC",
    "FairEpsilonGreedy",
    "FairVOI",
    "FrankWolfe",
    "GeneralizedGini",
    "InputError",
    "Instance",
    "Learner",
    "Mix",
    "Nash",
    "Play",
    "PowerMean",
    "Recommendation",
    "Results",
    "Script",
    "Session",
    "Solution",
    "Tally",
    "Tournament",
    "Trajectory",
    "UniformOverUsers",
    "Utilitarian",
    "Welfare",
    "bradley_terry_instance",
    "clustered_instance",
    "compare",
    "environments",
    "hard_instance",
    "identify",
    "linear_checkpoints",
    "logarithmic_checkpoints",
    "mallows_instance",
    "paper_instances",
    "random_instance",
    "reproduce",
    "simulate",
    "solve",
]
