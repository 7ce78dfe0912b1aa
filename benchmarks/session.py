"""What one more duel costs after 200 of them and after 20,000: ask, tell, store, look up.

python benchmarks/session.py [--quick]

A session of 10 users and 10 arms, kept in a journal. The time is the thread's own, so that neither
a busy machine nor a slow disk decides, and the disk is not waited for: it takes the same for every
vote. Saving all of the session to one JSON file, which does grow, is there to compare.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from unittest import mock

import numpy as np

from fairduel import Session

BAR = 1.5  # how many times as much one more duel may cost with 100 times as many before
USERS = [f"user {d}" for d in range(10)]
ARMS = [f"arm {k}" for k in range(10)]
SAMPLE = 200  # duels over which the cost is measured

Costs = dict[str, float]


def play(session: Session, duels: int, journal: Path) -> Costs:
    """Play duels; gives microseconds of each call and bytes stored, in the median of the duels.

    In the median since a decision of the learner, every so many duels, takes much longer; how
    long has nothing to do with how many duels there were.
    """
    spent = defaultdict(list)
    for _ in range(duels):
        size, began = journal.stat().st_size, time.thread_time()
        duel = session.ask()
        asked = time.thread_time()
        session.tell(duel, {user: max(duel.left, duel.right) for user in USERS[1:]})
        told = time.thread_time()
        session.tell(duel, {USERS[0]: duel.left})
        late = time.thread_time()
        session.unanswered(USERS[0])
        seen = time.thread_time()
        spent["ask and store"].append(1e6 * (asked - began))
        spent["tell 9 votes and store"].append(1e6 * (told - asked))
        spent["tell 1 vote and store"].append(1e6 * (late - told))
        spent["unanswered"].append(1e6 * (seen - late))
        spent["bytes stored"].append(journal.stat().st_size - size)
    return {what: float(np.median(costs)) for what, costs in spent.items()}


def save(session: Session, path: Path) -> Costs:
    began = time.thread_time()
    session.save(path)
    return {
        "save, all": 1e6 * (time.thread_time() - began),
        "bytes saved, all": path.stat().st_size,
    }


def measure(few: int, many: int) -> tuple[Costs, Costs]:
    with tempfile.TemporaryDirectory() as name, mock.patch("os.fsync"):
        journal, file = Path(name, "session.jsonl"), Path(name, "session.json")
        session = Session(USERS, ARMS, seed=1)
        session.keep(journal)
        play(session, few, journal)
        first = save(session, file) | play(session, SAMPLE, journal)
        play(session, many - session.rounds, journal)
        second = save(session, file) | play(session, SAMPLE, journal)
        began = time.thread_time()
        Session.resume(journal)
        print(f"resuming {session.rounds:,} duels: {time.thread_time() - began:.1f} s")
    return first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the duels")
    few, many = (20, 2_000) if parser.parse_args().quick else (200, 20_000)
    first, second = measure(few, many)
    print(f"{'':24}{f'after {few:,}':>14}{f'after {many:,}':>14}{'ratio':>8}")
    missed = False
    for what, cost in first.items():
        ratio = second[what] / cost
        grows = what.endswith("all")
        missed |= not grows and ratio > BAR
        said = "grows" if grows else "met" if ratio <= BAR else "MISSED"
        print(f"{what:24}{cost:14,.0f}{second[what]:14,.0f}{ratio:8.2f}  {said}")
    raise SystemExit(missed)


if __name__ == "__main__":
    main()
