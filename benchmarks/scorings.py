"""Learners under Borda scores: Fair-VOI against explore-then-commit at its best length.

    python benchmarks/scorings.py [--scoring NAME] [--rounds N ...] [--runs N] [--workers N]

Prints the mean regret ± 1 standard error on random instances and on groups of the Sushi data (10
arms, 5 users; Sushi where its data are found). Explore-then-commit plays every pair L times, for
many L, and of these the one with the lowest mean regret is shown, which nobody knows beforehand.
All learners play the same instances. The exit code is 1 where Fair-VOI does not beat it.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from _families import SEED

from fairduel import (
    BradleyTerryThompson,
    FairEpsilonGreedy,
    FairETC,
    FairVOI,
    Learner,
    compare,
)
from fairduel._arrays import Floats
from fairduel.environments import Scored
from fairduel.environments.people import families

PLACES = ("the paper's random (10, 5)", "Sushi groups (10, 5)")
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
USERS, ARMS = 5, 10


def explorers(scoring: str, rounds: int) -> dict[str, Learner[Any]]:
    """Return explore-then-commit of every length that fits."""
    size = 1e6 / FairETC(scoring=scoring, exploration=1e6).exploration_length(
        USERS, ARMS, USERS, rounds
    )
    return {
        f"L = {length}": FairETC(scoring=scoring, exploration=(length - 0.5) * size)
        for length in LENGTHS
        if length * ARMS * (ARMS - 1) // 2 <= rounds
    }


def others(scoring: str) -> dict[str, Learner[Any]]:
    return {
        "Fair-VOI": FairVOI(scoring=scoring),
        "Fair-VOI, T unknown": FairVOI(scoring=scoring, anytime=True),
        "BT-Thompson": BradleyTerryThompson(scoring=scoring),
        "Fair-epsilon-Greedy": FairEpsilonGreedy(scoring=scoring),
        "Fair-ETC as it is": FairETC(scoring=scoring),
    }


def shown(values: Floats) -> str:
    return f"{values.mean():9.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--scoring", default="borda")
    parser.add_argument("--rounds", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    beaten = True
    known = families()
    for name in (place for place in PLACES if place in known):
        for rounds in options.rounds:
            lengths = explorers(options.scoring, rounds)
            found = compare(
                others(options.scoring) | lengths,
                Scored(known[name], options.scoring),
                rounds,
                runs=options.runs,
                seed=SEED,
                checkpoints=1,
                workers=options.workers,
            )
            assert not found.failures, found.failures[0]
            ((_, players),) = found.settings.items()
            regrets = {label: found.final(cells, "regret") for label, cells in players.items()}
            best = min(lengths, key=lambda label: float(regrets[label].mean()))
            print(f"\n{name}, {options.scoring}, T = {rounds:,}, {options.runs} instances")
            for label in [*others(options.scoring), best]:
                print(f"  {label:<22}{shown(regrets[label])}", flush=True)
            beaten &= bool(regrets["Fair-VOI"].mean() < regrets[best].mean())
    return 0 if beaten else 1


if __name__ == "__main__":
    sys.exit(main())
