"""Redo the paper's experiments and report on them."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import fairduel
from fairduel._checks import one_of
from fairduel._files import AnyPath, make_folder
from fairduel.data import find_sushi
from fairduel.environments.paper import PAPER_RUNS, PAPER_SEED
from fairduel.errors import InputError
from fairduel.experiments import Results, sweep
from fairduel.experiments.comparison import source_digest
from fairduel.experiments.pool import check_not_a_worker
from fairduel.experiments.progress import can_go_on
from fairduel.paper.algorithms import Algorithms
from fairduel.paper.beyond import Beyond
from fairduel.paper.experiment import Experiment
from fairduel.paper.figure1 import Figure1
from fairduel.paper.figure2 import Figure2
from fairduel.paper.figure3 import Figure3
from fairduel.paper.groups import Groups, prepare
from fairduel.paper.lemmas import Lemmas
from fairduel.paper.lower_bound import LowerBound
from fairduel.paper.people import SEED as PEOPLE_SEED
from fairduel.paper.people import People
from fairduel.paper.table1 import SEEDS, Table1
from fairduel.paper.upper_bound import UpperBound
from fairduel.paper.welfares import Welfares
from fairduel.report.criterion import few_runs
from fairduel.report.document import Block, Caution, Document, Section, Table, Text
from fairduel.report.provenance import machine
from fairduel.report.write import write_report

PAPER = (
    "table1",
    "figure1",
    "figure2",
    "figure3",
    "lower-bound",
    "upper-bound",
    "algorithms",
    "lemmas",
)
WELFARES = "welfares"
BEYOND = "beyond"
PEOPLE = "people"
NAMES = (*PAPER, WELFARES, BEYOND, PEOPLE)
ALL = "all"  # of the paper's
NEED_GROUPS = ("figure3", BEYOND)
STAND_IN = (*NEED_GROUPS, WELFARES)  # have one where the Sushi data are missing
FOLDER = "reproduction"

_SYNTHETIC: dict[str, Callable[[int], Experiment]] = {
    "table1": Table1,
    "figure1": Figure1,
    "figure2": Figure2,
    "lower-bound": LowerBound,
    "upper-bound": UpperBound,
    "algorithms": Algorithms,
    "lemmas": Lemmas,
}


@dataclass(frozen=True)
class Reproduction:
    """The result of ``reproduce``: the report as data and as files.

    missing: if the Sushi data were not found, where to get them; a stand-in took their place, but
    among families of people, where they were left out.
    failures: a sentence for each cell that failed.
    """

    document: Document
    page: Path
    text: Path
    missing: str
    failures: tuple[str, ...]


def reproduce(
    names: str | Sequence[str] = (ALL,),
    folder: AnyPath = FOLDER,
    runs: int = PAPER_RUNS,
    workers: int | None = None,
    scheduler: str | None = None,
    data: AnyPath | None = None,
    progress: bool = True,
) -> Reproduction:
    """Redo some of ``NAMES``, or "all" of the paper's, and write a report to the folder.

    The report is report.html, and report.md with its pictures; all rows are in rows.parquet.
    Cells with results in the folder are not run again. ``data`` is the Sushi file or
    its folder; without it see ``fairduel.data.find_sushi``. Where it is missing, "figure3" by
    name raises ``DataMissing``, and "all" plays an openly synthetic stand-in. ``workers`` and
    ``scheduler`` are as in ``sweep``.
    """
    check_not_a_worker()
    began = time.perf_counter()
    names = [names] if isinstance(names, str) else names
    chosen = _chosen(names)
    if not 2 <= runs <= PAPER_RUNS:
        raise InputError(
            f"runs is {runs}: give a number from 2 to {PAPER_RUNS}, the number of "
            "the paper's own instances."
        )
    if "figure3" in names:
        find_sushi(data)
    place = Path(folder)
    with can_go_on(place):
        make_folder(place)
        experiments, missing = _experiments(chosen, place, runs, workers, data, progress)
        cells = [cell for each in experiments.values() for cell in each.cells]
        results = sweep(cells, place, workers=workers, scheduler=scheduler, progress=progress)
        failures = tuple(f"{failed.cell}: {failed.reason}" for failed in results.failures)
        sections = tuple(each.section(results) for each in experiments.values())
        command = _command(names, place, runs, data, scheduler)
        facts = _facts(command, chosen, results, time.perf_counter() - began)
        document = Document(
            "Multi-User Dueling Bandits, reproduced",
            (*_summary(experiments, results, missing, failures), *_weak(sections)),
            sections,
            facts,
        )
        page, text = write_report(document, place)
    return Reproduction(document, page, text, missing, failures)


def _experiments(
    chosen: list[str],
    place: Path,
    runs: int,
    workers: int | None,
    data: AnyPath | None,
    progress: bool,
) -> tuple[dict[str, Experiment], str]:
    """Return the chosen experiments by name, and why data are missing, if they are."""
    experiments: dict[str, Experiment] = {}
    groups: Groups | None = None
    missing = ""
    for name in chosen:
        if name in NEED_GROUPS:
            groups = groups or _prepare(place.resolve(), data, workers, progress)
            kind = Figure3 if name == "figure3" else Beyond
            experiments[name] = kind(runs, groups)
            missing = groups.missing
        elif name == WELFARES:
            welfares = experiments[name] = Welfares(runs, data)
            missing = welfares.missing
        elif name == PEOPLE:
            people = experiments[name] = People(runs, data)
            missing = people.missing
        else:
            experiments[name] = _SYNTHETIC[name](runs)
    return experiments, missing


def _prepare(place: Path, data: AnyPath | None, workers: int | None, progress: bool) -> Groups:
    if progress:
        sys.stderr.write("grouping people who ranked sushi, about 20 seconds\n")
    return prepare(place, data, workers)


def _chosen(names: Sequence[str]) -> list[str]:
    """Return the experiments in the paper's order, each once."""
    if not names:
        raise InputError(f"there is nothing to reproduce: name some of {', '.join(NAMES)}, or all.")
    for name in names:
        one_of("experiment", name, (*NAMES, ALL))
    return [name for name in NAMES if name in names or (ALL in names and name in PAPER)]


def _summary(
    experiments: dict[str, Experiment],
    results: Results,
    missing: str,
    failures: tuple[str, ...],
) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Text(
            "The experiments of “Multi-User Dueling Bandits: A Fair Approach using Nash Social "
            "Welfare” (Ahmed and Ghasemi, 2026), redone with fairduel."
        )
    ]
    table1 = experiments.get("table1")
    if isinstance(table1, Table1):
        blocks.append(
            Text(
                f"Of the 20 cells that the paper prints in Table 1, {table1.agreeing(results)} are "
                f"within its intervals, and {table1.agreeing_runs(results)} are no further off "
                "than the luck of the runs brings."
            )
        )
    if missing:
        blocks += [Caution(f"{said}: {missing}") for said in _without_sushi(experiments)]
    if failures:
        rows = tuple((failure,) for failure in failures)
        blocks.append(Caution(f"{len(failures)} cells failed and are left out of everything."))
        blocks.append(Table(("Cell and reason",), rows))
    return tuple(blocks)


def _without_sushi(names: Collection[str]) -> list[str]:
    """Say what the experiments do without the Sushi data."""
    said = []
    if set(STAND_IN) & set(names):
        said.append("What is called Sushi is made from synthetic data")
    if PEOPLE in names:
        said.append("Sushi is not among the families of people")
    return said


def _weak(sections: Sequence[Section]) -> list[Block]:
    """Warn of verdicts from fewer runs than the paper's."""
    said = few_runs((claim for section in sections for claim in section.claims), PAPER_RUNS)
    return [Caution(said)] if said else []


def _command(
    names: Sequence[str], folder: Path, runs: int, data: AnyPath | None, scheduler: str | None
) -> str:
    words = ["fairduel", "reproduce", *names]
    if str(folder) != FOLDER:
        words += ["--out", folder.as_posix()]
    if runs != PAPER_RUNS:
        words += ["--runs", str(runs)]
    if data is not None:
        words += ["--data", Path(data).as_posix()]
    if scheduler is not None:
        words += ["--scheduler", scheduler]
    return shlex.join(words)


def _seeds(names: Collection[str]) -> str:
    """Say by which seeds the experiments draw."""
    said = []
    if set(names) - {PEOPLE}:
        said.append(
            f"0, in Table 1 also 1 to {SEEDS - 1}, with the number of the run; the paper's "
            f"instances have its own, drawn from numpy's default_rng({PAPER_SEED})"
        )
    if PEOPLE in names:
        said.append(f"{PEOPLE_SEED:,} for families of people, with the number of the run")
    return "; ".join(said)


def _facts(
    command: str, names: Collection[str], results: Results, seconds: float
) -> tuple[tuple[str, str], ...]:
    return (
        ("Command", f"`{command}`"),
        ("Version", f"fairduel {fairduel.__version__}, source {source_digest(results)[:12]}"),
        ("Seeds", _seeds(names)),
        (
            "Simulations",
            f"{len(results.cells):,} runs, {results.rows.num_rows:,} rows in rows.parquet",
        ),
        ("Took", f"{seconds:.0f} s, less for what had been run before"),
        ("Machine", machine()),
    )
