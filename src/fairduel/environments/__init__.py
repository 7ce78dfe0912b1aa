"""Where instances come from: one family per file, as a function and as an environment."""

from fairduel.environments.clustered import Clustered, clustered_instance
from fairduel.environments.environment import Environment
from fairduel.environments.fixed import Fixed
from fairduel.environments.hard import Hard, hard_instance
from fairduel.environments.paper import Paper, paper_instances
from fairduel.environments.random import Random, random_instance

__all__ = [
    "Clustered",
    "Environment",
    "Fixed",
    "Hard",
    "Paper",
    "Random",
    "clustered_instance",
    "hard_instance",
    "paper_instances",
    "random_instance",
]
