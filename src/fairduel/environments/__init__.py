"""Where instances come from: one family per file, as a function and as an environment."""

from fairduel.environments.bradley_terry import BradleyTerry, bradley_terry_instance
from fairduel.environments.clustered import Clustered, clustered_instance
from fairduel.environments.environment import Environment
from fairduel.environments.fixed import Fixed
from fairduel.environments.hard import Hard, hard_instance
from fairduel.environments.mallows import Mallows, mallows_instance
from fairduel.environments.paper import Paper, paper_instances
from fairduel.environments.random import Random, random_instance
from fairduel.environments.rankings import (
    RankedGroups,
    RankedPeople,
    groups_instance,
    people_instance,
)
from fairduel.environments.scored import Scored

__all__ = [
    "BradleyTerry",
    "Clustered",
    "Environment",
    "Fixed",
    "Hard",
    "Mallows",
    "Paper",
    "Random",
    "RankedGroups",
    "RankedPeople",
    "Scored",
    "bradley_terry_instance",
    "clustered_instance",
    "groups_instance",
    "hard_instance",
    "mallows_instance",
    "paper_instances",
    "people_instance",
    "random_instance",
]
