"""fairduel compare: learners compared on a grid, stored and resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from fairduel.cli import complete
from fairduel.cli.options import WELFARE, Answers, Delay, Quiet, Scheduler, Scoring, Workers
from fairduel.cli.output import console, counted_failures, fail


def compare(
    grid: Annotated[
        Path | None,
        typer.Argument(metavar="GRID.toml", help="A file in place of the options."),
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SETTING=VALUE,...]",
            help="A learner as in simulate, or package.module:Name for your own; may be repeated. "
            "Default: all seven.",
            autocompletion=complete.learners,
        ),
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SIZE=VALUE,...]",
            help="What to play, like random:users=5,arms=10, rankings:FILE:as=people or "
            "file:PATH; may be repeated. Default: random.",
            autocompletion=complete.environments,
        ),
    ] = None,
    rounds: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="A horizon; may be repeated. Default: 200000."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(metavar="N", help="Runs of each combination; default: 10.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="The same seed gives the same results; default: 0."),
    ] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            metavar="SPACING:COUNT", help="When to read off, like log:60; default: linear:100."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder for the results.")] = Path(
        "comparison"
    ),
    welfare: Annotated[
        str | None,
        typer.Option(
            metavar=WELFARE,
            help="What regret is measured in, as in simulate; default: nash.",
            autocompletion=complete.welfares,
        ),
    ] = None,
    scoring: Scoring = None,
    answers: Answers = None,
    delay: Delay = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Compare learners on a grid, on all cores or a cluster.

    Each learner plays in each environment for each horizon. The folder gets a report
    (report.html, report.md), a picture of the regret (regret.png), and all figures in
    rows.parquet and runs.parquet. What has been run before is not run again, so a comparison
    that was interrupted continues with the same command.

    \b
    Examples:
      fairduel compare --environment random:users=4,arms=4 --rounds 20000 --runs 3
      fairduel compare --learner uniform --learner fair-etc --rounds 1000 --runs 3
      fairduel compare --learner fair-etc:exploration=1 --rounds 1000 --runs 3

    The file has learners, environments and rounds (lists), runs, seed, checkpoints, welfare,
    scoring, answers (a list) and delay; options take precedence. Your own learner is found in the
    current directory. Exit code 1 means that some simulations failed.
    """
    from fairduel.cli import specs
    from fairduel.cli.grid import read_grid
    from fairduel.experiments import compare
    from fairduel.experiments.progress import can_go_on
    from fairduel.report import terminal

    given: dict[str, Any] = {"learners": learner, "environments": environment, "rounds": rounds}
    given |= {"runs": runs, "seed": seed, "checkpoints": checkpoints, "welfare": welfare}
    given |= {"scoring": scoring, "answers": answers, "delay": delay}
    asked = read_grid(grid, given)
    with can_go_on(out):
        results = compare(
            **asked.arguments(),
            folder=out,
            workers=workers,
            scheduler=scheduler,
            progress=not quiet,
        )
        for (place, horizon), summaries in results.summary().items():
            settings = {"environment": place, "rounds": horizon}
            settings |= {"runs": asked.runs, "seed": asked.seed}
            settings |= {} if asked.welfare == "nash" else {"welfare": asked.welfare}
            settings |= {} if asked.scoring is None else {"scoring": asked.scoring}
            settings |= specs.answering_words(asked.answers, asked.delay)
            terminal.print_summaries(console(), summaries, settings)
            sys.stdout.write("\n")
        page = results.report(out, command=asked.command(out, scheduler))
        sys.stdout.write(f"report: {page}\n")
    if results.failures:
        first = results.failures[0]
        raise typer.Exit(
            fail(
                f"{counted_failures(results.failures)}, the first being {first.cell} "
                f"({first.reason.rstrip('.')}): see {out / 'failures.json'}.",
                1,
            )
        )
