"""Rankings and scores from files, and people who rank alike grouped into users.

>>> from fairduel.data import group, sushi_stand_in
>>> clusters = group(sushi_stand_in().sample(500), users=3)
>>> clusters.instance()
Instance(3 users, 10 arms)

``load_sushi()`` and ``read_rankings(path)`` read real rankings.
"""

from fairduel.data.cluster import Clusters, Stability, Tree, group, stability, tree
from fairduel.data.files import read_rankings
from fairduel.data.kamishima import read_kamishima
from fairduel.data.mallows import mallows_mixture, sushi_stand_in
from fairduel.data.preflib import read_preflib
from fairduel.data.rankings import Rankings
from fairduel.data.scores import ScoreTable, read_scores, solve
from fairduel.data.sushi import DataMissing, find_sushi, load_sushi

__all__ = [
    "Clusters",
    "DataMissing",
    "Rankings",
    "ScoreTable",
    "Stability",
    "Tree",
    "find_sushi",
    "group",
    "load_sushi",
    "mallows_mixture",
    "read_kamishima",
    "read_preflib",
    "read_rankings",
    "read_scores",
    "solve",
    "stability",
    "sushi_stand_in",
    "tree",
]
