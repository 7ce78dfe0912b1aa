"""How much faster the simulator is than playing round by round: ratios in one run.

    python benchmarks/simulate.py [--quick]

Two references, both in tests/reference.py. The oracle drives the very same learner one round at a
time, over a whole run, and so solves whenever the learner does. The transcription is the paper's
pseudo-code in plain numpy without the package's learners, about the fastest that round by round
gets without a compiler; it solves again after every exploration, with the same solver. The bars are
for the oracle. K = D = 10, gap 0.1, T = 200,000, as written; --quick has T = 20,000 and known
winners.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairduel import FairEpsilonGreedy, FairETC, Nash, paper_instances, simulate
from fairduel._arrays import Floats
from fairduel.simulation.responses import Responses

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import reference

QUICK = "--quick" in sys.argv
ROUNDS = 20_000 if QUICK else 200_000


def seconds(task: Callable[..., object], *arguments: object, **settings: object) -> float:
    """CPU time, which a busy machine changes little."""
    began = time.process_time()
    task(*arguments, **settings)
    return time.process_time() - began


def solve(scores: Floats, start: Floats | None) -> Floats:
    return Nash().maximize(scores, start).policy


def compare(learner: Any, transcription: Any, bar: int) -> None:
    """Medians over the first instances of the paper."""
    instances = paper_instances()[:3]
    learners = [
        replace(learner, winners=tuple(instance.winners.tolist()) if QUICK else None)
        for instance in instances
    ]
    simulate(instances[0], ROUNDS, learners[0], seed=0)  # compiles
    ours = np.median(
        [seconds(simulate, instances[r % 3], ROUNDS, learners[r % 3], seed=r) for r in range(30)]
    )
    dice = np.random.default_rng(0)
    oracle = seconds(
        reference.simulate_round_by_round,
        *(learners[0], instances[0], ROUNDS, 1, Responses(instances[0], dice), dice),
    )
    verdict = "met" if oracle / ours >= bar else "missed"
    print(f"{type(learner).__name__}, T = {ROUNDS:,}: {1e3 * ours:.1f} ms a run")
    print(f"  {oracle / ours:8,.0f} x as fast as the oracle ({oracle:.1f} s); bar {bar}: {verdict}")
    if not QUICK:
        plain = np.median(
            [
                seconds(transcription, instance, ROUNDS, np.random.default_rng(i), solve)
                for i, instance in enumerate(instances)
            ]
        )
        print(f"  {plain / ours:8,.0f} x as fast as the transcription ({plain:.2f} s)")


def long_runs() -> None:
    """T = 10^9, and the memory it takes."""
    instance = paper_instances()[0]
    times = {
        rounds: min(seconds(simulate, instance, rounds, FairETC(), seed=run) for run in range(20))
        for rounds in (10**6, 10**9)
    }
    print(f"FairETC, T = 10^9 against 10^6: {times[10**9] / times[10**6]:.2f} x the time")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = seconds(simulate, instance, 10**9, FairEpsilonGreedy(), seed=1)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"FairEpsilonGreedy, T = 10^9: {took:.1f} s, {more:.1f} MiB more memory than T = 200,000")


def import_time() -> None:
    """What ``import fairduel`` costs beyond numpy's own import, the best of ten."""

    def best(code: str) -> float:
        program = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        command = [sys.executable, "-c", program]
        return min(float(subprocess.check_output(command)) for _ in range(10))

    extra = best("import numpy; t = time.perf_counter(); import fairduel")
    verdict = "met" if extra < 0.3 else "missed"
    print(f"import fairduel: {extra:.3f} s beyond numpy; bar 0.3: {verdict}")


def main() -> None:
    compare(FairETC(), reference.fair_etc, 500)
    compare(FairEpsilonGreedy(), reference.fair_epsilon_greedy, 50)
    if not QUICK:
        long_runs()
    import_time()


if __name__ == "__main__":
    main()
