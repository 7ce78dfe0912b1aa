"""How much faster the simulator is than playing round by round: ratios in one run.

    python benchmarks/simulate.py [--quick]

Two references, both in tests/reference.py. The oracle drives the very same learner one round at a
time. The transcription is the paper's pseudo-code in plain numpy without the package's learners:
about the fastest that round by round gets without a compiler; it solves again wherever the oracle
would, with the same solver. K = D = 10, gap 0.1, T = 200,000, as written.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import reference

from fairduel import FairEpsilonGreedy, FairETC, Learner, Nash, paper_instances, simulate
from fairduel.arrays import Floats
from fairduel.nature import Nature

ROUNDS = 200_000


def seconds(task: Callable[[], object]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def solve(scores: Floats, start: Floats | None) -> Floats:
    return Nash().maximize(scores, start).policy


def compare(name: str, learner: Learner[Any], plain: Any, oracle_rounds: int, bar: int) -> None:
    """Medians over instances; the oracle is timed on fewer rounds and scaled up."""
    instances = paper_instances()[:3]
    simulate(learner, instances[0], ROUNDS, 0)  # compiles
    runs = range(30)
    ours = np.median(
        [seconds(lambda r=r: simulate(learner, instances[r % 3], ROUNDS, r)) for r in runs]
    )
    transcribed = np.median(
        [
            seconds(lambda i=i: plain(instance, ROUNDS, np.random.default_rng(i), solve))
            for i, instance in enumerate(instances)
        ]
    )
    dice = np.random.default_rng(0)
    instance = instances[0]
    one = seconds(
        lambda: reference.simulate_round_by_round(
            learner, instance, oracle_rounds, 1, Nature(instance, dice), dice
        )
    )
    oracle = one * ROUNDS / oracle_rounds
    print(f"{name}: {1e3 * ours:.1f} ms a run")
    verdict = "met" if oracle / ours >= bar else "missed"
    print(f"  {oracle / ours:8,.0f} x the oracle ({oracle:.1f} s)         bar {bar}: {verdict}")
    print(f"  {transcribed / ours:8,.0f} x the transcription ({transcribed:.2f} s)")


def long_runs() -> None:
    """T = 10^9 against 10^6, and the memory it takes."""
    instance = paper_instances()[0]
    learner = FairETC()
    times = {
        rounds: min(seconds(lambda r=r: simulate(learner, instance, rounds, r)) for r in range(20))
        for rounds in (10**6, 10**9)
    }
    print(f"FairETC, T = 10^9 against 10^6: {times[10**9] / times[10**6]:.2f} x the time")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = seconds(lambda: simulate(FairEpsilonGreedy(), instance, 10**8, 1))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"FairEpsilonGreedy, T = 10^8: {took:.1f} s, {(after - before) / 1024:.1f} MiB more memory"
    )


def import_time() -> None:
    """What ``import fairduel`` costs beyond numpy's own import, the best of ten."""

    def best(code: str) -> float:
        program = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        command = [sys.executable, "-c", program]
        return min(float(subprocess.check_output(command)) for _ in range(10))

    extra = best("import numpy; t = time.perf_counter(); import fairduel")
    print(
        f"import fairduel: {extra:.3f} s beyond numpy    bar 0.3: {'met' if extra < 0.3 else 'missed'}"
    )


def main() -> None:
    quick = "--quick" in sys.argv
    oracle_rounds = 2_000 if quick else 20_000
    compare("FairETC", FairETC(), reference.fair_etc, oracle_rounds, 500)
    compare(
        "FairEpsilonGreedy", FairEpsilonGreedy(), reference.fair_epsilon_greedy, oracle_rounds, 50
    )
    if not quick:
        long_runs()
    import_time()


if __name__ == "__main__":
    main()
