"""Let the Fair-VOI of an earlier tree play, in a process of its own that imports that tree.

    PYTHONPATH=TREE/src python benchmarks/_earlier.py INSTANCES.npz ROUNDS

Prints the share of the best welfare that it loses on each of the instances, as JSON. It uses only
what every tree has.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from fairduel import FairVOI, Instance, simulate


def main() -> None:
    file, rounds = sys.argv[1], int(sys.argv[2])
    lost = []
    for seed, preferences in enumerate(np.load(file)["preferences"]):
        played = simulate(Instance(preferences), rounds, FairVOI(), seed=seed, checkpoints=1)
        lost.append(float(played.regret[-1]) / (rounds * played.best))
    print(json.dumps(lost))


if __name__ == "__main__":
    main()
