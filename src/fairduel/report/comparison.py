"""What came of a grid: summaries for a table, and a document like that of the paper."""

from __future__ import annotations

import shlex

import numpy as np

import fairduel
from fairduel.cli.grid import Grid
from fairduel.experiments.cells import digest
from fairduel.experiments.results import Results
from fairduel.report import figures
from fairduel.report.document import Block, Caution, Document, Picture, Section, Table
from fairduel.report.metrics import METRICS
from fairduel.report.numbers import interval
from fairduel.report.provenance import machine
from fairduel.report.statistics import estimate
from fairduel.report.summary import Summary

HEADINGS = {name: metric.short for name, metric in METRICS.items()}
COLUMNS = 3  # panels beside each other


def summaries(grid: Grid, results: Results, environment: str, rounds: int) -> dict[str, Summary]:
    """How each learner did there; without those that have no results."""
    found = {}
    for learner in _with_results(grid, results, environment, rounds):
        values = {
            metric: results.final(environment, learner, metric, rounds)
            for metric in (*METRICS, "identify", "seconds")
        }
        estimates = {name: estimate(values[name]) for name in (*METRICS, "identify")}
        identifying = estimates.pop("identify")
        seconds = float(np.median(values["seconds"]))
        found[learner] = Summary(len(values["seconds"]), estimates, identifying, seconds)
    return found


def document(grid: Grid, results: Results) -> Document:
    """Tables and curves, and how to make them again."""
    sections = [
        Section(
            f"problem{number}",
            _title(grid, environment, rounds),
            (
                _curves(grid, results, environment, rounds, number),
                _table(grid, results, environment, rounds),
            ),
        )
        for number, (environment, rounds) in enumerate(grid.problems, 1)
        if _with_results(grid, results, environment, rounds)
    ]
    facts = (
        ("Command", f"`{_command(grid, results)}`"),
        ("Version", f"fairduel {fairduel.__version__}, source {digest('fairduel')[:12]}"),
        ("Seed", f"{grid.seed}, with the number of the run"),
        ("Simulations", f"{results.runs.num_rows:,} runs, {results.rows.num_rows:,} rows"),
        ("Machine", machine()),
    )
    return Document("Learners compared", tuple(_failures(results)), tuple(sections), facts)


def regret_panels(grid: Grid, results: Results) -> list[figures.Panel]:
    """Regret over time: a panel for each environment and horizon."""
    return [
        _panel(
            grid,
            results,
            environment,
            rounds,
            "regret",
            _title(grid, environment, rounds).replace(":", ":\n", 1),  # long for a panel
        )
        for environment, rounds in grid.problems
        if _with_results(grid, results, environment, rounds)
    ]


def _curves(grid: Grid, results: Results, environment: str, rounds: int, number: int) -> Picture:
    panels = [
        _panel(grid, results, environment, rounds, metric, HEADINGS[metric]) for metric in METRICS
    ]
    caption = f"Mean of {grid.runs} runs; shaded: 95 % interval." if grid.runs > 1 else "One run."
    succeeded = _succeeded(grid, results, environment, rounds)
    return Picture(f"curves{number}", caption + succeeded, lambda: figures.grid(panels, COLUMNS))


def _succeeded(grid: Grid, results: Results, environment: str, rounds: int) -> str:
    """How many runs there are of the learners that have failed in some."""
    there = _with_results(grid, results, environment, rounds)
    counts = {
        learner: len(results.final(environment, learner, "best", rounds)) if learner in there else 0
        for learner in grid.learners
    }
    fewer = [
        f"{learner} {count} of {grid.runs}"
        for learner, count in counts.items()
        if count < grid.runs
    ]
    return f" Some runs failed; those that succeeded: {', '.join(fewer)}." if fewer else ""


def _panel(
    grid: Grid, results: Results, environment: str, rounds: int, metric: str, title: str
) -> figures.Panel:
    there = _with_results(grid, results, environment, rounds)
    lines = tuple(
        figures.line_of_runs(learner, *results.curves(environment, learner, metric, rounds), style)
        for style, learner in enumerate(grid.learners)
        if learner in there
    )
    logarithmic = metric == "regret" and grid.checkpoints.startswith("log")
    ylabel = "" if title == HEADINGS.get(metric) else metric
    return figures.Panel(title, lines, ylabel=ylabel, logarithmic=logarithmic)


def _table(grid: Grid, results: Results, environment: str, rounds: int) -> Table:
    head = ("Learner", *HEADINGS.values(), "Rounds identifying")
    rows = tuple(
        (
            learner,
            *(
                interval(results.final(environment, learner, metric, rounds))
                for metric in (*HEADINGS, "identify")
            ),
        )
        for learner in _with_results(grid, results, environment, rounds)
    )
    return Table(head, rows, f"After {rounds:,} rounds; mean ± 1.96 standard errors.")


def _command(grid: Grid, results: Results) -> str:
    words = ["fairduel", "compare"]
    for option, values in (
        ("--learner", grid.learners),
        ("--environment", grid.environments),
        ("--rounds", grid.rounds),
        ("--runs", (grid.runs,)),
        ("--seed", (grid.seed,)),
        ("--checkpoints", (grid.checkpoints,)),
        ("--out", (results.folder.as_posix(),)),
    ):
        for value in values:
            words += [option, str(value)]
    return shlex.join(words)


def _failures(results: Results) -> list[Block]:
    if not results.failures:
        return []
    rows = tuple((str(failure.cell), failure.reason) for failure in results.failures)
    return [
        Caution(f"{len(rows)} simulations failed and are left out of everything."),
        Table(("Cell", "Reason"), rows, names=2),
    ]


def _with_results(grid: Grid, results: Results, environment: str, rounds: int) -> list[str]:
    there = results.combinations
    return [each for each in grid.learners if (environment, each, rounds) in there]


def _title(grid: Grid, environment: str, rounds: int) -> str:
    return f"{environment}, {rounds:,} rounds" if len(grid.rounds) > 1 else environment
