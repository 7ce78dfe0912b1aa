"""Which model of preferences wins when: people with strengths, or independent pairs.

    python benchmarks/priors.py [--runs N] [--only TEXT ...]

Everybody answers duels that are drawn at random. Prints for every family of
``environments.people``, after 20, 40, 160 and 640 of them, the probability of strengths given the
answers, in the mean of instances; the rest is that of independent pairs.
"""

from __future__ import annotations

import argparse

import numpy as np
from _families import SEED, STOPS, answers, instances

from fairduel.inference import Mixed, Strengths, infer
from fairduel.instance import Instance


def of_strengths(instance: Instance, duels: int, run: int) -> float:
    """Return the probability of strengths after so many duels."""
    found = infer(answers(instance, duels, np.random.default_rng([SEED, duels, run])))
    parts = found.parts if isinstance(found, Mixed) else ((1.0, found),)
    return sum(weight for weight, part in parts if isinstance(part, Strengths))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    print(f"{'':40}" + "".join(f"{f'{duels} duels':>12}" for duels in STOPS))
    for name, made in instances(options.only, options.runs):
        means = [
            np.mean([of_strengths(instance, duels, run) for run, instance in enumerate(made)])
            for duels in STOPS
        ]
        print(f"{name:40}" + "".join(f"{mean:>12.3f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
