"""How fast votes are read and fitted, beside a bare loop over the same file, pandas and choix.

python benchmarks/fit.py [--quick]

A million votes on 20 options, as CSV and JSON; then 100,000 users with 10 votes each on 10 options,
and as many who rank ten. Each is timed in turn with a loop that only takes the file apart, and the
shortest of a few times counts: that of the processors, over all threads, so that a busy machine
does not decide. "Fit" is all of `fairduel.fit`: reading, the posterior, the policy and what it is
compared with. Memory is the peak of a process that does nothing else; that of a fit of four groups
is counted above the fit of two votes, since the compiled kernels are there once whatever is read.
pandas and choix take part where they are installed; they are there to compare, and no bar.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import importlib.util
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from fairduel import fit
from fairduel.data import Ballots, read_votes

VOTES, USERS, OPTIONS = 1_000_000, 100_000, 10
TEAMS = [f"team {d}" for d in range(4)]
ARMS = [f"option {k}" for k in range(20)]

PEAK = """\
import sys
from fairduel.data import read_votes
ballots = read_votes(sys.argv[1])
for part, wins in ballots.blocks():
    wins.sum()
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
PEAK_OF_FIT = """\
import sys
from fairduel import fit
fit(sys.argv[1])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
TWO_VOTES = "user,winner,loser\nann,x,y\nbob,y,x\n"

Row = dict[str, object]


def team_votes(count: int, dated: bool = False) -> Iterator[Row]:
    rng = random.Random(1)
    for n in range(count):
        left, right = rng.sample(ARMS, 2)
        winner = rng.choice((left, right, "tie"))
        row: Row = {"user": rng.choice(TEAMS), "left": left, "right": right, "winner": winner}
        yield row | {"time": f"{n:012}"} if dated else row


def many_votes(users: int) -> Iterator[Row]:
    rng = random.Random(2)
    for _ in range(10 * users):
        left, right = rng.sample(ARMS[:OPTIONS], 2)
        yield {
            "user": f"user {rng.randrange(users)}",
            "left": left,
            "right": right,
            "winner": rng.choice((left, right)),
        }


def many_ranks(users: int) -> Iterator[Row]:
    rng = random.Random(3)
    for d in range(users):
        ranks = rng.sample(range(1, OPTIONS + 1), OPTIONS)
        yield {"user": f"user {d}", **dict(zip(ARMS, ranks, strict=False))}


def write_csv(path: Path, rows: Iterator[Row]) -> Path:
    first = next(rows)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(first)
        writer.writerow(first.values())
        writer.writerows(row.values() for row in rows)
    return path


def write_lines(path: Path, rows: Iterable[Row]) -> Path:
    with path.open("w") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return path


def write_list(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text(json.dumps(list(rows)))
    return path


def loop_csv(path: Path) -> None:
    with path.open(newline="") as file:
        for _ in csv.reader(file):
            pass


def loop_lines(path: Path) -> None:
    with path.open() as file:
        for line in file:
            json.loads(line)


def loop_list(path: Path) -> None:
    with path.open() as file:
        json.load(file)


def seconds(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The time of each call, at the best of so many repeats in turn."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - began)
    return best


def peak(path: Path, script: str = PEAK) -> float | None:
    """The most memory, in MB, that reading a file and going through it takes; None if unknown."""
    if not Path("/proc/self/status").exists():
        return None
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], check=True, capture_output=True, text=True
    )
    return int(done.stdout) / 1024


def report(what: str, measured: str, bar: str, met: bool) -> bool:
    print(f"{what:<44}  {measured:<36}  {bar:<16}  {'met' if met else 'MISSED'}", flush=True)
    return met


def against_loop(
    what: str,
    path: Path,
    loop: Callable[[Path], None],
    repeats: int,
    bar: float = 2.0,
    call: Callable[[Path], object] = read_votes,
) -> bool:
    took = seconds({"loop": lambda: loop(path), "read": lambda: call(path)}, repeats)
    ratio = took["read"] / took["loop"]
    measured = f"{took['loop']:.2f} s, {took['read']:.2f} s: {ratio:.2f} times"
    return report(f"{what}, to a bare loop", measured, f"at most {bar:g}", ratio <= bar)


def memory(what: str, path: Path, most: float) -> bool:
    found = peak(path)
    if found is None:
        print(f"{what}: skipped, this system does not tell the peak of memory")
        return True
    return report(f"{what}, memory", f"{found:.0f} MB", f"below {most:g} MB", found < most)


def memory_of_fit(what: str, path: Path, most: float, above: Path | None = None) -> bool:
    """The peak of a fit, above that of another file if one is given."""
    found, base = peak(path, PEAK_OF_FIT), 0.0 if above is None else peak(above, PEAK_OF_FIT)
    if found is None or base is None:
        print(f"{what}: skipped, this system does not tell the peak of memory")
        return True
    measured = f"{found:.0f} MB" + (f", {found - base:.0f} above two votes" if base else "")
    return report(f"{what}, memory", measured, f"below {most:g} MB", found - base < most)


def many_users(what: str, path: Path) -> None:
    """How long it takes to learn what very many users want: a second for some thousand."""
    took = seconds({"read": lambda: read_votes(path), "fit": lambda: fit(path)}, 1)
    print(f"{what}: {took['fit']:.1f} s, of which reading {took['read']:.1f} s", flush=True)


def against_pandas(path: Path, repeats: int) -> None:
    """A plain pivot: read everything, and count the winners of all pairs for each user."""
    if importlib.util.find_spec("pandas") is None:
        print("pandas is not installed: its pivot is skipped (pip install pandas)")
        return
    pd: Any = importlib.import_module("pandas")

    def pivot() -> None:
        keys = ["user", "left", "right", "winner"]
        pd.read_csv(path).groupby(keys).size().unstack("winner", fill_value=0)

    took = seconds({"pandas": pivot, "fit": lambda: fit(path)}, repeats)
    ratio = took["pandas"] / took["fit"]
    print(
        f"pandas reads and pivots in {took['pandas']:.2f} s, fit takes {took['fit']:.2f} s: "
        f"{ratio:.1f} times (without names checked, outcomes understood, or anything fitted)"
    )


def against_choix(path: Path) -> None:
    """One Bradley-Terry model for each user, from a list of pairs; ties go to either in turn."""
    if importlib.util.find_spec("choix") is None:
        print("choix is not installed: its fit is skipped (pip install choix)")
        return
    choix: Any = importlib.import_module("choix")

    def strengths() -> None:
        number = {name: k for k, name in enumerate(ARMS)}
        pairs: dict[str, list[tuple[int, int]]] = {team: [] for team in TEAMS}
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                left, right = number[row["left"]], number[row["right"]]
                ahead = row["winner"] == row["left"] or (row["winner"] == "tie" and left < right)
                pairs[row["user"]].append((left, right) if ahead else (right, left))
        for one in pairs.values():
            choix.ilsr_pairwise(len(ARMS), one)

    took = seconds({"choix": strengths, "fit": lambda: fit(path)}, 1)
    ratio = took["choix"] / took["fit"]
    print(
        f"choix takes {took['choix']:.2f} s for pairs and strengths, fit {took['fit']:.2f} s: "
        f"{ratio:.1f} times (without intervals or a policy)"
    )


def same(first: Ballots, second: Ballots) -> bool:
    return first.users == second.users and bool((first.wins() == second.wins()).all())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the votes, once")
    quick = parser.parse_args().quick
    fewer, repeats = (10, 1) if quick else (1, 4)
    votes, users = VOTES // fewer, USERS // fewer
    print(f"{'what':<44}  {'measured':<36}  {'should be':<16}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        teams = write_csv(folder / "teams.csv", team_votes(votes))
        dated = write_csv(folder / "dated.csv", team_votes(votes, dated=True))
        lines = write_lines(folder / "teams.jsonl", team_votes(votes))
        listed = write_list(folder / "teams.json", team_votes(votes))
        many = write_csv(folder / "many.csv", many_votes(users))
        ranks = write_csv(folder / "ranks.csv", many_ranks(users))
        two = folder / "two.csv"
        two.write_text(TWO_VOTES)
        fit(two)  # compiles
        met = [
            against_loop("fit of 4 groups, CSV", teams, loop_csv, repeats, call=fit),
            against_loop("fit of 4 groups, JSON lines", lines, loop_lines, repeats, call=fit),
            memory_of_fit("fit of 4 groups, CSV", teams, 150, above=two),
            memory_of_fit(f"fit of {users:,} users with votes", many, 1000),
            memory_of_fit(f"fit of {users:,} users with ranks", ranks, 1000),
            against_loop("CSV", teams, loop_csv, repeats),
            memory("CSV", teams, 150),
            against_loop("CSV, every line different", dated, loop_csv, repeats),
            memory("CSV, every line different", dated, 150),
            against_loop("JSON lines", lines, loop_lines, repeats),
            memory("JSON lines", lines, 150),
            against_loop("a JSON list", listed, loop_list, repeats),
            memory("a JSON list", listed, 150),
            against_loop(f"votes of {users:,} users", many, loop_csv, repeats, bar=6.0),
            memory(f"votes of {users:,} users", many, 1000),
            against_loop(f"ranks of {users:,} users", ranks, loop_csv, repeats, bar=20.0),
            memory(f"ranks of {users:,} users", ranks, 1000),
            report(
                "CSV and JSON give the same",
                "",
                "",
                same(read_votes(teams), read_votes(lines))
                and same(read_votes(teams), read_votes(listed)),
            ),
        ]
        many_users(f"fit of {users:,} users with votes", many)
        many_users(f"fit of {users:,} users with ranks", ranks)
        against_pandas(teams, repeats)
        against_choix(teams)
    raise SystemExit(not all(met))


if __name__ == "__main__":
    main()
