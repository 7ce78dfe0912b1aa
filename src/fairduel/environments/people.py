"""Families of instances that are like people, to compare learners on.

The names have (arms, users) behind them. Where data cannot be part of the package a stand-in has
its place. Nothing in it comes from people: it is made so that playing at random, and Fair-VOI in
50 rounds, lose about the share of the best welfare that they lose on real data of the kind.
"""

from __future__ import annotations

import numpy as np

from fairduel._files import AnyPath
from fairduel.data.mallows import mallows_mixture, mallows_orders
from fairduel.data.rankings import Rankings
from fairduel.data.sushi import DataMissing, load_sushi
from fairduel.environments.bradley_terry import BradleyTerry
from fairduel.environments.environment import Environment
from fairduel.environments.mallows import Mallows
from fairduel.environments.random import Random
from fairduel.environments.rankings import RankedGroups, RankedPeople

PEOPLE = 4000  # in a stand-in

MODELS: dict[str, Environment] = {
    "Bradley-Terry N(0, 1) (10, 5)": BradleyTerry(users=5, arms=10),
    "Bradley-Terry N(0, 4) (10, 5)": BradleyTerry(users=5, arms=10, spread=2.0),
    "40 users (6, 40)": BradleyTerry(users=40, arms=6),
    "two camps (10, 5)": BradleyTerry(users=5, arms=10, spread=1.5, camps=2),
    "courses, near consensus (9, 5)": Mallows(users=5, arms=9, dispersion=0.05, within=0.2),
    "indifferent pairs (10, 5)": BradleyTerry(users=5, arms=10, indifferent=0.3),
    "the paper's random (10, 5)": Random(users=5, arms=10),
}


def families(data: AnyPath | None = None) -> dict[str, Environment]:
    """Return environments by name: groups, people, models of people, and the paper's own.

    Those made of the Sushi data are among them only where ``fairduel.data.find_sushi(data)``
    finds the file.
    """
    return _sushi(data) | _stand_ins() | MODELS


def _stand_ins() -> dict[str, Environment]:
    # Twelve parties that have little in common and differ little in size; and tastes in films,
    # half of the people having the first one, that differ little.
    voters = _population(items=9, tastes=12, common=1.0, within=0.5, shrinking=0.9)
    viewers = _population(items=4, tastes=3, common=0.3, within=0.3, shrinking=0.5)
    return {
        "voters in groups, stand-in (9, 10)": RankedGroups(voters, users=10),
        "film groups, stand-in (4, 5)": RankedGroups(viewers, users=5),
    }


def _population(
    items: int, tastes: int, common: float, within: float, shrinking: float
) -> Rankings:
    """Draw synthetic people of some tastes, the same at every call.

    The tastes scatter around one common order with dispersion ``common``, and people around their
    taste with dispersion ``within``. Each taste has ``shrinking`` times the people of the last.
    """
    rng = np.random.default_rng(11)
    orders = rng.permutation(items)[mallows_orders(items, np.full(tastes, common), rng)]
    sizes = shrinking ** np.arange(tastes)
    return mallows_mixture(orders, np.full(tastes, within), sizes, PEOPLE, rng)


def _sushi(data: AnyPath | None) -> dict[str, Environment]:
    try:
        sushi = load_sushi(data)
    except DataMissing:
        return {}
    return {
        "Sushi groups (10, 5)": RankedGroups(sushi, users=5),
        "Sushi groups (10, 10)": RankedGroups(sushi, users=10),
        "Sushi people (10, 5)": RankedPeople(sushi, users=5),
    }
