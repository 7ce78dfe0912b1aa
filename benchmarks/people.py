"""How much learners lose on families of people, over the number of rounds.

    python benchmarks/people.py [--rounds N ...] [--runs N] [--workers N] [--only TEXT ...]
                                [--earlier TREE] [--tuning]

Prints the share of the best welfare that is lost by the end, mean ± 1 standard error, for every
family of ``environments.people`` (those whose name has one of the texts of ``--only`` in it), and
the geometric mean over families and rounds of Fair-VOI's share over BT-Thompson's. "Uniform, then
commit" plays at random for so long as is best in hindsight, and then one policy. All learners play
the same instances. Sushi is among them where its data are found.

Says where Fair-VOI loses more than random play, beyond noise: it should nowhere, from T = 20 on.

``--earlier`` names a checkout of an earlier tree, whose Fair-VOI plays along. Then the ratios to
the lower of it and BT-Thompson are printed with their bars, which are for T >= 50. The exit code is
1 if a bar is missed. ``--tuning`` takes the instances that the learner was tuned on, which no
report uses.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from _families import LEARNERS, SEED, TUNING_SEED, of_chance, of_uniform, shares, shown

from fairduel._arrays import Floats
from fairduel.environments import Environment
from fairduel.environments.people import families

EARLIER, PLAIN = "Fair-VOI, earlier", "BT-Thompson"
BARS = {"Fair-VOI": (1.05, 1.25), "Fair-VOI, T unknown": (1.1, 1.3)}  # in 9 cells of 10; in all
REALISTIC = 0.6  # times the earlier learner's share, over all families but the paper's
PAPERS = "the paper's"
ROUNDS = [20, 50, 100, 200, 500, 1000, 2000]
FIRST = 50  # rounds from which on the bars of ratios are; that of random play is from 20 on


@dataclass
class Ratios:
    """Ratios of a learner's share to others', cell by cell; lowest: ± 1 standard error.

    Those to other learners are of T from ``FIRST`` on, and what is worse than random of all T.
    """

    cells: int = 0
    plain: list[float] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)  # than random play
    earlier: list[float] = field(default_factory=list)
    lowest: list[tuple[str, float, float]] = field(default_factory=list)

    def add(
        self, family: str, rounds: int, own: Floats, others: dict[str, Floats], chance: Floats
    ) -> None:
        cell, more = f"{family}, T {rounds:,}", own - chance
        self.cells += 1
        if more.mean() > 1.96 * more.std(ddof=1) / np.sqrt(len(more)):
            self.worse.append(cell)
        if rounds < FIRST:
            return
        self.plain.append(float(own.mean() / others[PLAIN].mean()))
        if EARLIER not in others:
            return
        if not cell.startswith(PAPERS):
            self.earlier.append(float(own.mean() / others[EARLIER].mean()))
        lowest = min(others.values(), key=np.mean)
        ratio = float(own.mean() / lowest.mean())
        spread = (own - ratio * lowest).std(ddof=1) / np.sqrt(len(own)) / lowest.mean()
        self.lowest.append((cell, ratio, float(spread)))

    def judge(self, label: str) -> bool:
        """Print the ratios and the bars that they miss; return whether none is missed."""
        print(f"\n{label}: {geometric(self.plain):.3f} times {PLAIN}'s share, T >= {FIRST}")
        worse = "; ".join(self.worse) or "nowhere"
        print(f"  worse than random play, beyond noise: {worse} (of {self.cells} cells)")
        if not self.lowest:
            return not self.worse
        often, always = BARS[label]
        print(
            f"  {geometric(self.earlier):.3f} times the earlier share on families of people "
            f"(bar {REALISTIC}), {geometric([ratio for _, ratio, _ in self.lowest]):.3f} times the "
            "lower of the two on all"
        )
        above = [cell for cell in self.lowest if cell[1] > often]
        for cell, ratio, error in above:
            print(f"  {cell}: {ratio:.2f} ± {error:.2f} times the lower of the two")
        clear = [cell for cell in above if cell[1] - 1.96 * cell[2] > always]
        print(
            f"  {len(above)} of {len(self.lowest)} cells above {often}, "
            f"{sum(cell[1] > always for cell in above)} above {always}, {len(clear)} beyond noise"
        )
        met = geometric(self.earlier) <= REALISTIC and not clear and self._mostly_below(often)
        return met and not self.worse

    def _mostly_below(self, bar: float) -> bool:
        """Return whether nine cells of ten are below a bar, within noise."""
        beyond = [ratio - 1.96 * error > bar for _, ratio, error in self.lowest]
        return sum(beyond) <= len(self.lowest) / 10


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else np.nan


def of_earlier(
    tree: Path, place: Environment, rounds: int, runs: int, workers: int | None, seed: int
) -> Floats:
    """Return the share that an earlier tree's Fair-VOI loses in each run."""
    drawn = np.stack([place.draw(run, rounds, seed).preferences for run in range(runs)])
    parts = np.array_split(drawn, min(workers or os.cpu_count() or 1, runs))
    script = Path(__file__).with_name("_earlier.py")
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    with tempfile.TemporaryDirectory() as folder:
        playing = []
        for n, part in enumerate(parts):
            file = Path(folder, f"{n}.npz")
            np.savez(file, preferences=part)
            playing.append(
                subprocess.Popen(
                    [sys.executable, str(script), str(file), str(rounds)],
                    env=environment,
                    stdout=subprocess.PIPE,
                )
            )
        lost = [json.loads(process.communicate()[0]) for process in playing]
    return np.concatenate(lost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, nargs="+", default=ROUNDS)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--earlier", type=Path)
    parser.add_argument("--tuning", action="store_true")
    options = parser.parse_args()
    seed = TUNING_SEED if options.tuning else SEED
    ratios = {label: Ratios() for label in BARS}
    for name, place in families().items():
        if not any(text in name for text in options.only):
            continue
        labels = [*LEARNERS, *[EARLIER] * bool(options.earlier), "uniform, then commit", "random"]
        print(f"\n{name}, {options.runs} instances")
        print(f"  {'T':>7}" + "".join(f"{label:>22}" for label in labels), flush=True)
        for rounds in options.rounds:
            how = (place, rounds, options.runs)
            found = shares(*how, options.workers, seed)
            others = {PLAIN: found[PLAIN]}
            if options.earlier:
                others[EARLIER] = of_earlier(options.earlier, *how, options.workers, seed)
            chance = of_chance(*how, seed)
            figures = [*(found | others).values(), of_uniform(*how, seed), chance]
            print(f"  {rounds:>7,}" + "".join(f"{shown(row):>22}" for row in figures), flush=True)
            for label, row in ratios.items():
                row.add(name, rounds, found[label], others, chance)
    met = [row.judge(label) for label, row in ratios.items()]
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
