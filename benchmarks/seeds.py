"""Whether the verdicts on the paper's claims depend on the seed.

    python benchmarks/seeds.py [NAME ...] [--seeds N] [--runs N] [--workers N]

Redoes experiments of ``fairduel reproduce`` (default: all that are simulated) with N other seeds,
and prints for every claim how many seeds give which verdict. Where a learner is told something of
its instance, the instance stays, and the seed changes the luck only. Exits with 1 where fewer than
nine seeds in ten agree. Figure 3 takes the Sushi data, which are found as ``reproduce`` finds them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairduel.environments import Fixed
from fairduel.environments.paper import PAPER_RUNS
from fairduel.experiments import Cell, Results, sweep
from fairduel.experiments.store import Store
from fairduel.paper.algorithms import Algorithms
from fairduel.paper.experiment import Experiment
from fairduel.paper.figure1 import Figure1
from fairduel.paper.figure2 import Figure2
from fairduel.paper.figure3 import Figure3
from fairduel.paper.groups import prepare
from fairduel.paper.lower_bound import LowerBound
from fairduel.paper.table1 import SEEDS, Table1
from fairduel.paper.upper_bound import UpperBound

ENOUGH = 0.9  # of the seeds


def figure3(runs: int) -> Figure3:
    with tempfile.TemporaryDirectory() as folder:
        return Figure3(runs, prepare(Path(folder), None, None))


EXPERIMENTS: dict[str, Callable[[int], Experiment]] = {
    "table1": Table1,
    "figure1": Figure1,
    "figure2": Figure2,
    "figure3": figure3,
    "lower-bound": LowerBound,
    "upper-bound": UpperBound,
    "algorithms": Algorithms,
}
TOLD = ("lower-bound", "algorithms")  # the winners, or even the best arm


class Moved(Results):
    """Results with other seeds, read by the cells of an experiment."""

    def __init__(self, moved: dict[int, Cell], workers: int | None) -> None:
        self._moved = moved
        self._found = sweep(moved.values(), workers=workers, progress=False)
        assert not self._found.failures
        super().__init__({}, (), Store())

    def _read(self, cells: Sequence[Cell]) -> tuple[list[int], Any]:
        return self._found._read([self._moved[id(cell)] for cell in cells])


def moved(cell: Cell, by: int, told: bool) -> Cell:
    """Return the cell with another seed."""
    kept = Fixed(cell.environment.draw(cell.run, cell.rounds, cell.seed)) if told else None
    return replace(cell, seed=cell.seed + by, environment=kept or cell.environment)


def count(name: str, runs: int, seeds: int, workers: int | None) -> dict[str, Counter[str]]:
    """Return by claim how many seeds give which verdict."""
    experiment = EXPERIMENTS[name](runs)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number in range(1, seeds + 1):
        by = number * SEEDS  # Table 1 has that many of its own
        cells = {id(cell): moved(cell, by, name in TOLD) for cell in experiment.cells}
        for claim in experiment.section(Moved(cells, workers)).claims:
            counts[claim.name][str(claim.verdict)] += 1
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--runs", type=int, default=PAPER_RUNS)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    agree = True
    for name in options.names or EXPERIMENTS:
        for claim, verdicts in count(name, options.runs, options.seeds, options.workers).items():
            said = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
            print(f"{name:<12} {claim:<40} {said}", flush=True)
            agree &= max(verdicts.values()) >= ENOUGH * options.seeds
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
