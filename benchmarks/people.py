"""How much learners lose on families of people, over the number of rounds.

    python benchmarks/people.py [--rounds N ...] [--runs N] [--workers N] [--only TEXT ...]

Prints the share of the best welfare that is lost by the end, mean ± 1 standard error, for every
family of ``environments.people`` (those whose name has one of the texts of ``--only`` in it), and
the geometric mean over families and rounds of Fair-VOI's share over BT-Thompson's. "Uniform, then
commit" plays at random for so long as is best in hindsight, and then one policy. All learners play
the same instances. Sushi is among them where its data are found.
"""

from __future__ import annotations

import argparse

import numpy as np
from _families import LEARNERS, of_chance, of_uniform, shares, shown

from fairduel.environments.people import families


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, nargs="+", default=[50, 100, 200, 500, 1000, 2000])
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    logs: dict[str, list[float]] = {label: [] for label in LEARNERS}
    for name, place in families().items():
        if not any(text in name for text in options.only):
            continue
        print(f"\n{name}, {options.runs} instances")
        print(
            f"  {'T':>7}"
            + "".join(f"{label:>22}" for label in [*LEARNERS, "uniform, then commit", "random"])
        )
        for rounds in options.rounds:
            found = shares(place, rounds, options.runs, options.workers, {})
            chance = of_chance(place, rounds, options.runs)
            figures = [*found.values(), of_uniform(place, rounds, options.runs), chance]
            print(f"  {rounds:>7,}" + "".join(f"{shown(row):>22}" for row in figures), flush=True)
            for label, row in found.items():
                logs[label].append(float(np.log(row.mean() / found["BT-Thompson"].mean())))
    print()
    for label, values in logs.items():
        print(f"{label}: {np.exp(np.mean(values)):.3f} times BT-Thompson's share")


if __name__ == "__main__":
    main()
