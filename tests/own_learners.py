"""Learners as a user might write them, in a module of their own; most are up to no good.

What has to be remembered between processes is in a folder.
"""

import os
import secrets
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fairduel import UniformOverUsers
from fairduel.environments import Random
from fairduel.experiments import Cell
from fairduel.learners.uniform import UniformState


@dataclass(frozen=True)
class Counted(UniformOverUsers):
    """Leaves a file in the folder for every run, after ``seconds``.

    With ``most`` files there, a run waits until there is a file FOLDER.open as well.
    """

    folder: str = ""
    seconds: float = 0.0
    most: int = 1_000_000

    def init(self, users: int, arms: int, horizon: int, seed: int) -> UniformState:
        time.sleep(self.seconds)
        gate = Path(f"{self.folder}.open")
        while len(os.listdir(self.folder)) >= self.most and not gate.exists():
            time.sleep(0.02)
        (Path(self.folder) / secrets.token_hex(8)).touch()
        return super().init(users, arms, horizon, seed)


def counted(folder: Path, runs: int, seconds: float = 0.0, most: int = 1_000_000) -> list[Cell]:
    """Return cells that leave a file in the folder whenever one runs."""
    folder.mkdir(exist_ok=True)
    learner = Counted(folder=str(folder), seconds=seconds, most=most)
    place = Random(users=2, arms=2)
    return [
        Cell(learner, place, 100, run, learner_label="counted", environment_label="random")
        for run in range(runs)
    ]


@dataclass(frozen=True)
class Fatal(UniformOverUsers):
    """Ends its process in the first so many runs of all."""

    folder: str = ""
    deaths: int = 1_000_000

    def init(self, users: int, arms: int, horizon: int, seed: int) -> UniformState:
        died = len(list(Path(self.folder).iterdir()))
        if died < self.deaths:
            (Path(self.folder) / str(died)).touch()
            os._exit(1)
        return super().init(users, arms, horizon, seed)


class Failing(UniformOverUsers):
    def init(self, users: int, arms: int, horizon: int, seed: int) -> UniformState:
        raise ArithmeticError("nothing adds up")


class Leaving(UniformOverUsers):
    def init(self, users: int, arms: int, horizon: int, seed: int) -> UniformState:
        sys.exit("had enough")


ready_made = UniformOverUsers()


class NotALearner:
    pass


class NeedsArguments(UniformOverUsers):
    def __init__(self, needed: int) -> None:
        raise AssertionError


broken = 3
