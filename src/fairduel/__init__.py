"""fairduel: fair decisions from pairwise votes.

A team decides: ``Session(people, options)``, then ``ask`` and ``tell``.
A researcher simulates, ``simulate(random_instance(10, 10), 200_000)``, and compares:
``compare([FairVOI(), Mine()], environments.Random(), 10_000)``.
The default learner is ``FairVOI()``.
"""

from fairduel import environments
from fairduel.environments import (
    clustered_instance,
    hard_instance,
    paper_instances,
    random_instance,
)
from fairduel.errors import InputError
from fairduel.experiments import Results, compare
from fairduel.instance import Instance
from fairduel.learners import FairEpsilonGreedy, FairETC, FairVOI, Learner, UniformOverUsers
from fairduel.learners.tournament import Tournament, identify
from fairduel.live import SKIP, TIE, Duel, Recommendation, Session
from fairduel.offers import Duels, Mix, Play, Script
from fairduel.paper import reproduce
from fairduel.simulation import (
    Trajectory,
    linear_checkpoints,
    logarithmic_checkpoints,
    simulate,
)
from fairduel.tally import Tally
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Solution, Utilitarian, Welfare

__version__ = "0.1.0"

__all__ = [
    "SKIP",
    "TIE",
    "Duel",
    "Duels",
    "Egalitarian",
    "FairETC",
    "FairEpsilonGreedy",
    "FairVOI",
    "FrankWolfe",
    "InputError",
    "Instance",
    "Learner",
    "Mix",
    "Nash",
    "Play",
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
    "clustered_instance",
    "compare",
    "environments",
    "hard_instance",
    "identify",
    "linear_checkpoints",
    "logarithmic_checkpoints",
    "paper_instances",
    "random_instance",
    "reproduce",
    "simulate",
]
