"""What features of arms are worth: many arms, few features, few rounds.

    python benchmarks/features.py [--arms N] [--rounds N] [--runs N] [--workers N]

Each user's strengths are linear in the features of the arms, or linear with a part of every arm's
own, or have nothing to do with them. Prints the share of the best welfare that is lost by the end,
mean ± 1 standard error: Fair-VOI with the features, without them, and random play.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from _families import shown

from fairduel import FairVOI, Instance, Nash, simulate
from fairduel._arrays import Floats

SEED = 5_000_000
KINDS = {"linear": 0.0, "linear, and a fifth of its own": 0.2, "useless features": 1.0}


def instance(own: float, users: int, arms: int, features: int, run: int) -> tuple[Instance, Floats]:
    rng = np.random.default_rng([SEED, run])
    table = rng.standard_normal((arms, features))
    weights = rng.standard_normal((users, features))
    linear = weights @ table.T / np.sqrt(features)
    theta = 2.0 * (np.sqrt(1.0 - own) * linear + np.sqrt(own) * rng.standard_normal((users, arms)))
    return Instance(1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))), table


def lost(own: float, arms: int, rounds: int, run: int) -> tuple[float, float, float]:
    made, table = instance(own, 4, arms, 5, run)
    best = Nash().maximize(made.scores).value
    chance = 1.0 - float(Nash().value(made.scores.mean(axis=1))) / best
    shares = []
    for learner in (FairVOI(features=tuple(map(tuple, table.tolist()))), FairVOI()):
        played = simulate(made, rounds, learner, seed=run, checkpoints=1)
        shares.append(float(played.regret[-1] / (rounds * best)))
    return shares[0], shares[1], chance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--arms", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    print(f"{'':34}{'features':>16}{'without':>16}{'random':>16}")
    with ProcessPoolExecutor(options.workers) as pool:
        for label, own in KINDS.items():
            n = options.runs
            given = [own] * n, [options.arms] * n, [options.rounds] * n, range(n)
            found = np.array(list(pool.map(lost, *given)))
            print(f"{label:34}" + "".join(f"{shown(row):>16}" for row in found.T), flush=True)


if __name__ == "__main__":
    main()
