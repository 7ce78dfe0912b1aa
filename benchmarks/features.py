"""What features of arms are worth: many arms, few features, few rounds.

    python benchmarks/features.py [--arms N] [--rounds N] [--runs N] [--workers N]
                                  [--only TEXT ...] [--tuning]

Each user's strengths are linear in the features of the arms, or linear with a part of every arm's
own, or have nothing to do with them. Prints the share of the best welfare that is lost by the end,
mean ± 1 standard error: Fair-VOI with the features, without them, BT-Thompson, which knows of no
features, and random play; and the ratio of the first two. ``--tuning`` takes instances to tune on,
which no report uses. The exit code is 1 if a bar is missed: what is lost where strengths are linear
in the features, and the ratio where they are useless.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from _families import SEED, TUNING_SEED, shown

from fairduel import BradleyTerryThompson, FairVOI, Instance, Nash, simulate
from fairduel._arrays import Floats

MUST, HARM = 0.2, 1.1  # share lost at most; of what is lost without features
KINDS = {"linear": 0.0, "linear, and a fifth of its own": 0.2, "useless features": 1.0}


def instance(
    own: float, users: int, arms: int, features: int, seed: Sequence[int]
) -> tuple[Instance, Floats]:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((arms, features))
    weights = rng.standard_normal((users, features))
    linear = weights @ table.T / np.sqrt(features)
    theta = 2.0 * (np.sqrt(1.0 - own) * linear + np.sqrt(own) * rng.standard_normal((users, arms)))
    return Instance(1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))), table


def lost(own: float, arms: int, rounds: int, first: int, run: int) -> tuple[float, ...]:
    made, table = instance(own, 4, arms, 5, (first, run))
    best = Nash().maximize(made.scores).value
    chance = 1.0 - float(Nash().value(made.scores.mean(axis=1))) / best
    shares = []
    described = FairVOI(features=tuple(map(tuple, table.tolist())))
    for learner in (described, FairVOI(), BradleyTerryThompson()):
        played = simulate(made, rounds, learner, seed=run, checkpoints=1)
        shares.append(float(played.regret[-1] / (rounds * best)))
    return *shares, chance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--arms", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--tuning", action="store_true")
    options = parser.parse_args()
    n, met = options.runs, True
    common = options.arms, options.rounds, TUNING_SEED if options.tuning else SEED
    labels = ("features", "without", "BT-Thompson", "random", "features / without")
    print(f"{'':34}" + "".join(f"{label:>20}" for label in labels), flush=True)
    with ProcessPoolExecutor(options.workers) as pool:
        for label, own in KINDS.items():
            if not any(text in label for text in options.only):
                continue
            given = [[x] * n for x in (own, *common)]
            found = np.array(list(pool.map(lost, *given, range(n))))
            ratio = found[:, 0].mean() / found[:, 1].mean()
            figures = [*map(shown, found.T), f"{ratio:.3f}"]
            print(f"{label:34}" + "".join(f"{figure:>20}" for figure in figures), flush=True)
            met = met and (own > 0.0 or found[:, 0].mean() <= MUST)
            met = met and (own < 1.0 or ratio <= HARM)
    sys.exit(not met)


if __name__ == "__main__":
    main()
