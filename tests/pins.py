"""Print hashes of what a handful of runs give, for test_pins to compare with those in pins.json.

Run in a process of its own, with the environment that test_pins sets: numpy and OpenBLAS then
take the same code paths on every processor with AVX2, and so round the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fairduel import (
    BradleyTerryThompson,
    Egalitarian,
    FairVOI,
    Session,
    paper_instances,
    random_instance,
    simulate,
)
from fairduel.cli import run, specs
from fairduel.simulation import Trajectory

FILES = Path(__file__).parent / "files"
LEARNERS = ("fair-voi", "fair-etc", "fair-eps", "utilitarian-etc", "utilitarian-eps", "uniform")


def digest(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def of_run(path: Trajectory) -> str:
    return digest(path.checkpoints, path.earned, path.utilities, path.best, path.policy)


def simulations() -> dict[str, str]:
    """Every learner, as written and as run; and some settings of Fair-VOI."""
    instance = random_instance(4, 5, seed=3)
    pins = {
        f"{name} {preset}": of_run(simulate(instance, 60_000, specs.learner(name, preset), seed=7))
        for name in LEARNERS
        for preset in ("as_written", "as_run")
    }
    paper = paper_instances()[0]
    pins["fair-voi, the paper's first"] = of_run(simulate(paper, 200_000, seed=1))
    pins["fair-voi anytime"] = of_run(simulate(instance, 3_000, FairVOI(anytime=True), seed=2))
    egalitarian = FairVOI(welfare=Egalitarian())
    pins["bt-thompson"] = of_run(simulate(instance, 3_000, BradleyTerryThompson(), seed=2))
    pins["fair-voi egalitarian"] = of_run(simulate(instance, 300, egalitarian, seed=2))
    return pins


def commands() -> dict[str, str]:
    """The figures that ``simulate``, ``compare`` and ``reproduce table1`` write."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = ["--rounds", "30000", "--runs", "2", "--seed", "5", "--quiet"]
        sizes += [word for name in LEARNERS for word in ("--learner", name)]
        for place in ("paper", "clustered", "hard"):
            rows = ["--rows", str(folder / f"{place}.json")]
            _run("simulate", "--environment", place, "--checkpoints", "9", *sizes, *rows)
        out = ["--out", str(folder / "compared"), "--environment", "random:users=3,arms=4"]
        _run("compare", *sizes, *out, "--checkpoints", "log:9")
        _run("reproduce", "table1", "--runs", "2", "--quiet", "--out", str(folder / "table1"))
        return {
            **{
                f"simulate {place}": _of_rows(json.loads((folder / f"{place}.json").read_text()))
                for place in ("paper", "clustered", "hard")
            },
            "compare": _of_table(folder / "compared" / "rows.parquet"),
            "reproduce table1": _of_table(folder / "table1" / "rows.parquet"),
        }


def sessions() -> dict[str, str]:
    """What sessions saved by version 1 of the format do next."""
    pins = {}
    for file in sorted(FILES.glob("session-*.json")):
        pins[file.stem] = _of_session(Session.load(file))
    session = Session(["ann", "bob"], ["x", "y", "z"], 400, seed=3)
    pins["session new"] = _of_session(session)
    return pins


def _of_session(session: Session) -> str:
    said: list[Any] = []
    for number in range(30):
        duel = session.ask()
        said.append([duel.id, duel.left, duel.right, duel.vote])
        # The first prefers by the alphabet, the last the other way round, the rest can't decide.
        arms = sorted([duel.left, duel.right])
        session.tell(duel.id, {session.users[0]: arms[0], session.users[-1]: arms[-1]})
        if len(session.users) > 2 and number >= 3:  # late
            session.tell(duel.id - 3, {session.users[1]: "tie"})
    recommended = session.recommend()
    said.append(recommended.policy)
    said.append({u: [i.mean, i.low, i.high] for u, i in recommended.utilities.items()})
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _run(*words: str) -> None:
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        assert run(list(words)) == 0, words
    finally:
        sys.stdout = out


METRICS = ("rounds", "regret", "nash_welfare", "minimum_welfare", "utilitarian_welfare", "gini")


def _of_rows(rows: list[dict[str, Any]]) -> str:
    return digest(np.array([[row[name] for name in METRICS] for row in rows], np.float64))


def _of_table(file: Path) -> str:
    import pyarrow.parquet as pq

    return _of_rows(pq.read_table(file, columns=list(METRICS)).to_pylist())


def main() -> None:
    versions = {name: version(name) for name in ("numpy", "scipy", "numba")}
    pins = {**simulations(), **commands(), **sessions()}
    json.dump({"versions": versions, "pins": pins}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
