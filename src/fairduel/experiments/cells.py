"""One simulation of a sweep, as data; its name by content; and how to run it."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

import fairduel
from fairduel._arrays import Floats, Ints
from fairduel._files import read_whole
from fairduel.cli import specs as named
from fairduel.errors import InputError
from fairduel.report.metrics import METRICS
from fairduel.simulation.loop import MOST_ROUNDS, simulate
from fairduel.simulation.trajectory import linear_checkpoints, logarithmic_checkpoints

CHECKPOINTS = {"linear": linear_checkpoints, "log": logarithmic_checkpoints}
PHASES = ("identify", "explore", "exploit")


@dataclass(frozen=True)
class Cell:
    """A learner, what it plays, and for how long.

    environment: as ``fairduel.cli.specs.environment`` reads it, like "random:users=5,arms=10".
    learner: as ``fairduel.cli.specs.learner`` reads it, like "fair-etc:preset=as_run", or
    "package.module:Name" for your own. rounds: the horizon. run: with the seed, picks the
    instance and the luck; run r of every learner meets the same ones. checkpoints: when to read
    off, "linear:100" or "log:60".
    """

    environment: str
    learner: str
    rounds: int
    run: int
    seed: int = 0
    checkpoints: str = "linear:100"


@dataclass(frozen=True, eq=False)
class Record:
    """What came of a cell: its key when it ran, curves by metric, and figures of the whole run."""

    key: str
    rounds: Ints
    curves: dict[str, Floats]
    best: float
    phases: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Failure:
    """A cell without a result, and why. trace: where in the code it happened, if that is known."""

    cell: Cell
    reason: str
    trace: str = ""


def run_cell(cell: Cell) -> Record | Failure:
    """Simulate; whatever goes wrong in it is its own affair and becomes a failure."""
    began = time.perf_counter()
    try:
        key = key_of(cell)
        instance = named.environment(cell.environment)(cell.run, cell.rounds, cell.seed)
        # As in compare(): the same luck for every learner, whoever came before.
        rng = np.random.default_rng(np.random.SeedSequence(cell.seed, spawn_key=(cell.run, 1)))
        marks = checkpoints(cell.checkpoints, cell.rounds)
        path = simulate(named.learner(cell.learner), instance, cell.rounds, rng, marks)
        curves = {metric: getattr(path, metric) for metric in METRICS}
    except BaseException as error:  # a learner may even call sys.exit()
        said = str(error) if isinstance(error, InputError) else _described(error)
        return Failure(cell, said, traceback.format_exc())
    phases = {phase: path.phases.get(phase, 0) for phase in PHASES}
    seconds = time.perf_counter() - began
    return Record(key, path.rounds, curves, float(path.best), phases, seconds)


def check_cells(cells: Iterable[Cell]) -> None:
    """Find out before the work what would make cells fail that can be known by then."""
    last: dict[str, Cell] = {}
    texts: set[str] = set()
    for cell in cells:
        for name, value, least, most in (
            ("rounds", cell.rounds, 1, MOST_ROUNDS),
            ("run", cell.run, 0, 2**63 - 1),
            ("seed", cell.seed, 0, 2**63 - 1),
        ):
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not least <= value <= most:
                raise InputError(
                    f"{name} is {value!r}: give a whole number from {least} to {most:,}."
                )
        if cell.learner not in texts:
            named.learner(cell.learner)
        if cell.checkpoints not in texts:
            checkpoints(cell.checkpoints, 1)
        texts |= {cell.learner, cell.checkpoints}
        known = last.get(cell.environment)
        if known is None or cell.run > known.run:
            last[cell.environment] = cell
    for cell in last.values():
        named.environment(cell.environment)(cell.run, cell.rounds, cell.seed)


def checkpoints(text: str, rounds: int) -> Ints:
    """The rounds that "linear:100" or "log:60" stands for."""
    spacing, _, count = text.partition(":")
    if spacing not in CHECKPOINTS or not count.isdecimal() or int(count) < 1:
        raise InputError(
            f"the checkpoints are {text!r}: write linear or log, a colon and how many, "
            "like linear:100."
        )
    return CHECKPOINTS[spacing](rounds, int(count))


def key_of(cell: Cell) -> str:
    """A name for the result of a cell: another one when the cell or any code behind it changes.

    That is the source of fairduel, but for what only shows results, and of the module or whole
    package that the learner is from; the versions of the libraries that compute; and the content
    of an environment's file, wherever it lies.
    """
    kind, _, path = cell.environment.partition(":")
    settings = dict(vars(cell))
    if kind == "file":
        settings["environment"] = hashlib.sha256(read_whole(path)).hexdigest()
    sources = [digest(module) for module in ("fairduel", named.module_of(cell.learner)) if module]
    parts = [settings, fairduel.__version__, _versions(), sources]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@functools.cache
def _versions() -> list[str]:
    return [version(library) for library in ("numpy", "scipy", "numba")]


# What shows results cannot change them.
_SHOWS_ONLY = {"cli", "paper", "report", "testing"}


# Code that was loaded stays as it is while the process lasts, and so does what is said about it.
@functools.cache
def digest(module: str) -> str:
    """The digest of a module's source, or of all modules in its outermost package."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    found = hashlib.sha256()
    if spec is None:
        return ""
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = [
        (file.relative_to(folder), file)
        for folder in folders
        for file in folder.rglob("*.py")
        if module != "fairduel" or file.relative_to(folder).parts[0] not in _SHOWS_ONLY
    ]
    if not folders and spec.origin is not None and Path(spec.origin).is_file():
        files = [(Path(module), Path(spec.origin))]
    for name, file in sorted(files):
        found.update(f"{name.as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _described(error: BaseException) -> str:
    # Not str(), which for somebody's own exception may fail as well.
    return "".join(traceback.format_exception_only(error)).strip()
