"""A comparison as people see it: summaries, pictures, and a report."""

from __future__ import annotations

import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import fairduel
from fairduel._files import write_whole
from fairduel.errors import InputError
from fairduel.experiments.keys import code_digest
from fairduel.experiments.results import Players, Results, Setting
from fairduel.report import figures
from fairduel.report.document import Block, Caution, Document, Picture, Section, Table
from fairduel.report.html import table_html
from fairduel.report.learners_figure import RunsOf, learners_figure
from fairduel.report.made import digest, is_made, note_made
from fairduel.report.metrics import METRICS
from fairduel.report.numbers import plus_minus
from fairduel.report.provenance import machine
from fairduel.report.statistics import estimate, known
from fairduel.report.style import image
from fairduel.report.summary import IDENTIFYING, Summary, rounds_to_identify
from fairduel.report.write import write_report

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure

COLUMNS = 3  # panels beside each other


def summaries(results: Results, players: Players) -> dict[str, Summary]:
    """Return how each learner did after the last round, without those that have no results."""
    found = {}
    for label, cells in players.items():
        seconds = known(results.final(cells, "seconds"))
        if seconds:
            found[label] = Summary(
                runs=len(seconds),
                metrics={metric: estimate(results.final(cells, metric)) for metric in METRICS},
                identifying=estimate(results.final(cells, "identify")),
                seconds=float(np.median(seconds)),
                identified=not (results.final(cells, "identify") >= cells[0].rounds).any(),
            )
    return found


def picture(results: Results) -> Figure:
    """Draw regret and utilities of one setting, or the regret in a panel for each of several."""
    settings = _with_results(results)
    if not settings:
        raise InputError("no simulation has succeeded, so there is nothing to draw.")
    if len(settings) == 1:
        (players,) = settings.values()
        welfare = results.cells[0].welfare.title
        return learners_figure(_runs_of(results, players), _is_logarithmic(players), welfare)
    panels = [
        # What is long for a panel goes on in a second line.
        _panel(results, players, "regret", _title(results, setting).replace(":", ":\n", 1))
        for setting, players in settings.items()
    ]
    return figures.grid(panels, COLUMNS)


def _runs_of(results: Results, players: Players) -> list[RunsOf]:
    found = []
    for label, cells in players.items():
        rounds, regret = results.curve(cells, "regret")
        good = ~np.isnan(regret).any(axis=1)
        utilities = results.utilities(cells)[good] / cells[0].rounds
        found.append(RunsOf(label, rounds, regret[good], utilities))
    return found


def text_tables(results: Results) -> str:
    """Return the table of every setting, as the command line prints it."""
    from rich.console import Console

    from fairduel.report import terminal

    text = io.StringIO()
    console = Console(file=text, width=100, markup=False, emoji=False, highlight=False)
    for (environment, rounds), found in results.summary().items():
        terminal.print_summaries(console, found, {"environment": environment, "rounds": rounds})
        console.print()
    return text.getvalue().rstrip()


def html_tables(results: Results) -> str:
    """Return the tables of the report as HTML, for notebooks."""
    return "".join(
        f"<h4>{html.escape(_title(results, setting))}</h4>"
        + table_html(_table(results, players, setting[1]))
        for setting, players in _with_results(results).items()
    )


def write(results: Results, folder: Path, command: str = "") -> Path:
    """Write the report and the picture of the regret; return the path of the page.

    What is there already, and would be the same, is left alone.
    """
    wanted = document(results, command)
    stamp = digest(wanted, [Path(__file__).read_text(), *results.keys])
    if is_made(folder, stamp):
        return folder / "report.html"
    page, text = write_report(wanted, folder)
    names = [page.name, text.name, *(f"figures/{each.name}.png" for each in wanted.pictures)]
    if _with_results(results):
        write_whole(folder / "regret.png", image(picture(results), ".png"))
        names.append("regret.png")
    note_made(folder, stamp, names)
    return page


def document(results: Results, command: str = "") -> Document:
    """Return the report: curves and a table for each environment and horizon."""
    sections = [
        Section(
            f"problem{number}",
            _title(results, setting),
            (_curves(results, players, number), _table(results, players, setting[1])),
        )
        for number, (setting, players) in enumerate(_with_results(results).items(), 1)
    ]
    welfares = sorted({cell.welfare.title for cell in results.cells})
    answers = sorted({str(cell.answering) for cell in results.cells if not cell.answering.prompt})
    seeds = sorted({cell.seed for cell in results.cells})
    facts = (
        *((("Command", f"`{command}`"),) if command else ()),
        ("Version", f"fairduel {fairduel.__version__}, source {source_digest(results)[:12]}"),
        ("Regret", f"in {', '.join(welfares)}"),
        *((("Answers", f"with probability {'; '.join(answers)}"),) if answers else ()),
        ("Seed", f"{', '.join(map(str, seeds))}, with the number of the run"),
        ("Simulations", f"{results.runs.num_rows:,} runs, {results.rows.num_rows:,} rows"),
        ("Machine", machine()),
    )
    return Document("Learners compared", tuple(_failures(results)), tuple(sections), facts)


def source_digest(results: Results) -> str:
    """Return a digest of the code behind all cells."""
    from fairduel.experiments.keys import modules_of

    parts = {id(part): part for cell in results.cells for part in (cell.learner, cell.environment)}
    return code_digest(frozenset[str]().union(*map(modules_of, parts.values())))


def _with_results(results: Results) -> dict[Setting, Players]:
    """Return the settings and learners of which at least one run has succeeded."""
    found = {}
    for setting, players in results.settings.items():
        there = {
            label: cells
            for label, cells in players.items()
            if not np.isnan(results.final(cells, "best")).all()
        }
        if there:
            found[setting] = there
    return found


def _title(results: Results, setting: Setting) -> str:
    environment, rounds = setting
    horizons = {rounds for _, rounds in results.settings}
    return f"{environment}, {rounds:,} rounds" if len(horizons) > 1 else environment


def _curves(results: Results, players: Players, number: int) -> Picture:
    panels = [
        _panel(results, players, metric, about.short, ylabel=False)
        for metric, about in METRICS.items()
    ]
    runs = max(map(len, players.values()))
    caption = f"Mean of {runs} runs; shaded: 95 % interval." if runs > 1 else "One run."
    return Picture(
        f"curves{number}",
        caption + _succeeded(results, players),
        lambda: figures.grid(panels, COLUMNS),
    )


def _succeeded(results: Results, players: Players) -> str:
    """Say how many runs there are of the learners that have failed in some."""
    fewer = [
        f"{label} {count} of {len(cells)}"
        for label, cells in players.items()
        if (count := len(known(results.final(cells, "best")))) < len(cells)
    ]
    return f" Some runs failed; those that succeeded: {', '.join(fewer)}." if fewer else ""


def _panel(
    results: Results, players: Players, metric: str, title: str, ylabel: bool = True
) -> figures.Panel:
    lines = tuple(
        figures.line_of_runs(label, *results.curve(cells, metric), style)
        for style, (label, cells) in enumerate(players.items())
    )
    logarithmic = metric == "regret" and _is_logarithmic(players)
    return figures.Panel(title, lines, ylabel=metric if ylabel else "", logarithmic=logarithmic)


def _is_logarithmic(players: Players) -> bool:
    return all(cell.checkpoints.spacing == "log" for cells in players.values() for cell in cells)


def _table(results: Results, players: Players, rounds: int) -> Table:
    head = ("Learner", *(about.short for about in METRICS.values()), "Rounds to identify")
    rows = tuple(
        (label, *map(plus_minus, each.metrics.values()), rounds_to_identify(each))
        for label, each in summaries(results, players).items()
    )
    return Table(head, rows, f"After {rounds:,} rounds; mean ± 1.96 standard errors. {IDENTIFYING}")


def _failures(results: Results) -> list[Block]:
    if not results.failures:
        return []
    rows = tuple((str(failure.cell), failure.reason) for failure in results.failures)
    return [
        Caution(f"Simulations that failed and are left out of everything: {len(rows)}."),
        Table(("Cell", "Reason"), rows, names=2),
    ]
