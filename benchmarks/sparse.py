"""What missing and late answers cost: 30 % of them, one silent user, 20 rounds late.

    python benchmarks/sparse.py [--rounds N] [--runs N] [--workers N] [--only TEXT ...]

Prints the share of the best welfare that is lost by the end, mean ± 1 standard error, for every
family of ``environments.people`` (those whose name has one of the texts of ``--only`` in it). All
learners play the same instances. Sushi is among them where its data are found.
"""

from __future__ import annotations

import argparse
from typing import Any

from _families import LEARNERS, of_chance, shares, shown

from fairduel.environments.people import families


def ways(users: int) -> dict[str, dict[str, Any]]:
    """Return who answers when, by name, as arguments of ``compare``."""
    return {
        "everybody": {},
        "30 %": {"answers": 0.3},
        "one silent": {"answers": [1.0] * (users - 1) + [0.0]},
        "20 late": {"delay": 20},
    }


def report(name: str, place: Any, options: argparse.Namespace) -> None:
    print(f"\n{name}, T {options.rounds:,}, {options.runs} instances")
    by_way = {
        way: shares(place, options.rounds, options.runs, options.workers, **how)
        for way, how in ways(place.users).items()
    }
    print(f"  {'':20}" + "".join(f"{way:>16}" for way in by_way))
    for label in LEARNERS:
        figures = "".join(f"{shown(found[label]):>16}" for found in by_way.values())
        print(f"  {label:20}{figures}")
    chance = shown(of_chance(place, options.rounds, options.runs))
    print(f"  {'random':20}" + "".join(f"{chance:>16}" for _ in by_way), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    for name, place in families().items():
        if any(text in name for text in options.only):
            report(name, place, options)


if __name__ == "__main__":
    main()
