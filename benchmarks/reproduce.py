"""How long `fairduel reproduce` takes, and how much memory, beside the bars that it has to meet."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fairduel.report.provenance import machine

BARS = {"table1": 20.0, "all": 240.0}  # seconds on 2 cores
MOST_MEMORY = 1024.0  # MiB
EVERY = 0.2  # seconds between looks at the memory
PROC = Path("/proc")
FAIRDUEL = [sys.executable, "-c", "from fairduel.cli import main; main()"]


def measure(name: str) -> tuple[float, float | None]:
    """Seconds, and the most MiB that the command and all its workers had at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*FAIRDUEL, "reproduce", name, "--out", folder, "--quiet"]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            peak = _peak(process)
        took = time.perf_counter() - began
    if process.returncode not in (0, 3):  # 3: with a stand-in for the Sushi data
        sys.exit(f"fairduel reproduce {name} ended with exit code {process.returncode}")
    if process.returncode == 3:
        print("the Sushi data are missing; a stand-in took their place")
    return took, peak


def _peak(process: "subprocess.Popen[bytes]") -> float | None:
    """The most memory that was seen until it ended; None where the system does not tell."""
    peak = None
    while process.poll() is None:
        now = _memory(process.pid)
        if now is not None:
            peak = max(peak or 0.0, now)
        time.sleep(EVERY)
    return peak


def _memory(root: int) -> float | None:
    """MiB of a process and all that come from it; what several share counts once.

    That is the proportional set size: forked workers have most of their pages in common.
    """
    if not (PROC / str(root) / "smaps_rollup").exists():
        return None
    return sum(map(_proportional, _family(root))) / 1024


def _family(root: int) -> set[int]:
    parents = {int(entry.name): _parent(entry) for entry in PROC.iterdir() if entry.name.isdigit()}
    family = {root}
    while True:
        more = {process for process, parent in parents.items() if parent in family} - family
        if not more:
            return family
        family |= more


def _parent(entry: Path) -> int | None:
    try:
        # The name of the program is in brackets, and may have any characters.
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):  # it has just ended
        return None


def _proportional(process: int) -> float:
    try:
        lines = (PROC / str(process) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(float(line.split()[1]) for line in lines if line.startswith("Pss:"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=BARS, help="measure one of them")
    only = parser.parse_args().only
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}")
    # Compiles the kernels, if this has not been done on this machine.
    subprocess.run([sys.executable, "-c", "import fairduel.experiments.warm"], check=True)
    for name in [only] if only else BARS:
        seconds, peak = measure(name)
        met = "met" if seconds <= BARS[name] else "missed"
        print(f"reproduce {name}, 30 runs: {seconds:.1f} s (bar {BARS[name]:.0f} s: {met})")
        if peak is None:
            print("memory: not measured, since this system has no /proc/*/smaps_rollup")
        else:
            met = "met" if peak <= MOST_MEMORY else "missed"
            print(f"memory at its peak: {peak:.0f} MiB (bar {MOST_MEMORY:.0f} MiB: {met})")


if __name__ == "__main__":
    main()
