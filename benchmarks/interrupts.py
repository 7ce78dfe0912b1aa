"""Ctrl-C at random moments: how it comes out, of the command line and of Python.

    python benchmarks/interrupts.py [PROCESSES] [CALLS]

PROCESSES of each kind are interrupted from their first import on, at moments spread evenly over
some seconds: commands, which must say one line and exit with 130, with kernels that are there and
with kernels that have to be compiled; and Python that imports fairduel and simulates, which must
end with KeyboardInterrupt. So must CALLS calls of the library in this process. Exits with 1 if any
comes out otherwise.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable

from fairduel import FairEpsilonGreedy, FairVOI, Session, random_instance, simulate
from fairduel.kernels.compiler import NOTICE

COMMAND = "import os; os.write(1, b'.'); from fairduel.cli import main; main()"
IMPORT = """
import os; os.write(1, b'.')
from fairduel import random_instance, simulate
while True:
    simulate(random_instance(3, 3), 1_000)
"""
SIZES = ["--users", "10", "--arms", "10", "--rounds", "1000000000", "--runs", "50"]
COMMANDS = {
    "simulate fair-eps": ["simulate", "--learner", "fair-eps", *SIZES, "--workers", "1"],
    "simulate fair-voi": ["simulate", "--learner", "fair-voi", *SIZES, "--workers", "1"],
    "simulate, all cores": ["simulate", *SIZES],
}
SECONDS = 6.0  # of a process, over which interrupts are spread


def outcome_of_command(arguments: list[str], seconds: float, cache: str = "") -> str:
    """Interrupt a command so many seconds after its first import; say how it ended.

    ``cache``: an empty folder, where nothing is compiled yet.
    """
    environment = {"NUMBA_CACHE_DIR": cache} if cache else {}
    code, said = _interrupt([sys.executable, "-c", COMMAND, *arguments], seconds, environment)
    said = said.removeprefix(NOTICE)
    if code == 130 and re.fullmatch(r"stopped: [^\n]*\n", said):
        return "one line and 130"
    return f"exit code {code}: {said[-300:]!r}"


def outcome_of_import(seconds: float) -> str:
    """Interrupt a process that imports fairduel and simulates; say how it ended."""
    code, said = _interrupt([sys.executable, "-c", IMPORT], seconds, {})
    if said.rstrip().endswith("KeyboardInterrupt") and "ignored" not in said:
        return "KeyboardInterrupt"
    return f"exit code {code}: {said[-300:]!r}"


def _interrupt(command: list[str], seconds: float, environment: dict[str, str]) -> tuple[int, str]:
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | environment,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)  # it is about to import
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[1].decode()
    return process.returncode, said


def outcomes_of_calls(work: Callable[[], object], count: int, rng: random.Random) -> Counter[str]:
    """Interrupt this process ``count`` times, within 20 ms each, while it works."""
    outcomes: Counter[str] = Counter()
    work()
    for _ in range(count):
        sender = threading.Timer(0.02 * rng.random(), os.kill, (os.getpid(), signal.SIGINT))
        try:
            sender.start()
            while True:
                work()
        except KeyboardInterrupt:
            outcomes["KeyboardInterrupt"] += 1
        except BaseException as error:
            outcomes[repr(error)[:300]] += 1
        sender.join()
    return outcomes


def decide() -> None:
    """Hold a short session."""
    people = ["ann", "bob", "cid"]
    session = Session(people, ["tea", "coffee", "juice"], seed=0)
    for _ in range(10):
        duel = session.ask()
        session.tell(duel, dict.fromkeys(people, duel.left))
    session.recommend()


def main(processes: int = 12, calls: int = 300) -> int:
    """Print how all interrupts came out; return 1 if any was wrong."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored
    rng, instance = random.Random(0), random_instance(5, 5, seed=0)
    found: dict[str, Counter[str]] = {}
    moments = [SECONDS * (k + rng.random()) / processes for k in range(processes)]
    for name, arguments in COMMANDS.items():
        found[name] = Counter(outcome_of_command(arguments, moment) for moment in moments)
    with tempfile.TemporaryDirectory() as folder:
        found["simulate, compiling"] = Counter(
            outcome_of_command(COMMANDS["simulate fair-voi"], 2 * moment, f"{folder}/{number}")
            for number, moment in enumerate(moments)
        )
    found["import and simulate"] = Counter(map(outcome_of_import, moments))
    works: dict[str, Callable[[], object]] = {
        "calls of simulate, Fair-ε-Greedy": lambda: simulate(instance, 20_000, FairEpsilonGreedy()),
        "calls of simulate, Fair-VOI": lambda: simulate(instance, 500, FairVOI()),
        "calls of Session": decide,
    }
    for name, work in works.items():
        found[name] = outcomes_of_calls(work, calls, rng)
    wrong = 0
    for name, outcomes in found.items():
        for outcome, count in outcomes.most_common():
            print(f"{name}: {count} × {outcome}", flush=True)
            wrong += count * (outcome not in ("one line and 130", "KeyboardInterrupt"))
    print(f"{wrong} of {sum(map(Counter.total, found.values()))} came out wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
