"""Votes, rankings and scores from files, and people who are alike grouped into users.

>>> from fairduel.data import group, sushi_stand_in
>>> clusters = group(sushi_stand_in().sample(500), users=3)
>>> clusters.instance()
Instance(3 users, 10 arms)

``read_votes(path)`` reads votes and rankings of any kind for a fair choice from them;
``load_sushi()`` and ``read_rankings(path)`` read real rankings.
"""

from fairduel.data.ballots import Ballots
from fairduel.data.cluster import Clusters, Stability, Tree, group, stability, tree
from fairduel.data.files import read_rankings
from fairduel.data.kamishima import read_kamishima
from fairduel.data.mallows import mallows_mixture, sushi_stand_in
from fairduel.data.preflib import read_preflib
from fairduel.data.rankings import Rankings
from fairduel.data.scores import ScoreTable, read_scores, solve
from fairduel.data.shipped import example_file
from fairduel.data.sushi import DataMissing, find_sushi, load_sushi
from fairduel.data.votes import read_votes

__all__ = [
    "Ballots",
    "Clusters",
    "DataMissing",
    "Rankings",
    "ScoreTable",
    "Stability",
    "Tree",
    "example_file",
    "find_sushi",
    "group",
    "load_sushi",
    "mallows_mixture",
    "read_kamishima",
    "read_preflib",
    "read_rankings",
    "read_scores",
    "read_votes",
    "solve",
    "stability",
    "sushi_stand_in",
    "tree",
]
