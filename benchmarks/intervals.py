"""How often 95 % intervals of users' utilities hold the truth, on families of people.

    python benchmarks/intervals.py [--runs N] [--only TEXT ...]

Everybody answers duels that are drawn at random. Prints for every family of
``environments.people``, after 20, 40, 160 and 640 of them, how many of the intervals hold what
users get: from all arms alike, and from the policy that the answers recommend. Both are taken in
whole per cent, as they are shown: where nobody in a group likes an arm its score is 0 exactly,
which no posterior says.
"""

from __future__ import annotations

import argparse

import numpy as np
from _families import SEED, STOPS, answers, instances

from fairduel import Nash
from fairduel._arrays import Floats
from fairduel.inference import estimate_utilities, infer
from fairduel.instance import Instance
from fairduel.learners.voi.candidates import candidates


def held(instance: Instance, duels: int, run: int) -> Floats:
    """Return the share of users whose interval holds, for all arms alike and as recommended."""
    rng = np.random.default_rng([SEED, duels, run])
    posterior = infer(answers(instance, duels, rng))
    arms = instance.preferences.shape[1]
    found = []
    for policy in (np.full(arms, 1.0 / arms), candidates(posterior, Nash(), rng)[0][0]):
        seen = estimate_utilities(posterior, policy, posterior.sample(rng))
        truth = instance.scores @ policy
        low, high = np.round(seen.low, 2), np.round(seen.high, 2)
        found.append(((low <= np.round(truth, 2)) & (np.round(truth, 2) <= high)).mean())
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    print(f"{'all arms alike / as recommended':<40}" + "".join(f"{n:>16}" for n in STOPS))
    for name, made in instances(options.only, options.runs):
        row = [
            np.mean([held(instance, duels, run) for run, instance in enumerate(made)], axis=0)
            for duels in STOPS
        ]
        print(f"{name:<40}" + "".join(f"{a:>9.1%} /{b:>6.1%}" for a, b in row), flush=True)


if __name__ == "__main__":
    main()
