"""The learners: one per file."""

from fairduel.learners.bradley_terry_thompson import BradleyTerryThompson
from fairduel.learners.epsilon_greedy import FairEpsilonGreedy
from fairduel.learners.explore_then_commit import FairETC
from fairduel.learners.learner import Learner
from fairduel.learners.uniform import UniformOverUsers
from fairduel.learners.voi.learner import FairVOI

__all__ = [
    "BradleyTerryThompson",
    "FairETC",
    "FairEpsilonGreedy",
    "FairVOI",
    "Learner",
    "UniformOverUsers",
]
