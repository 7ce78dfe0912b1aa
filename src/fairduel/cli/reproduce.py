"""fairduel reproduce: the paper's experiments, redone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fairduel.cli import complete
from fairduel.cli.options import Quiet, Scheduler, Workers
from fairduel.cli.output import counted_failures, fail

DATA_MISSING = 3  # exit code if data have to be downloaded first


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="table1, figure1, figure2, figure3, lower-bound, upper-bound, algorithms, "
            "lemmas, or all of these; and welfares, beyond, people.",
            autocompletion=complete.experiments,
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder for the report.")] = Path(
        "reproduction"
    ),
    runs: Annotated[
        int, typer.Option(metavar="N", help="Runs of everything; the paper has 30.")
    ] = 30,
    workers: Workers = None,
    scheduler: Scheduler = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The Sushi file or its folder, for figure3."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Redo the paper's experiments and write a report.

    The folder gets report.html, report.md with its figures, and all rows in rows.parquet. What
    has been run before is not run again. `all` stands for everything in the paper and takes a
    few minutes; `welfares` is the paper's conjecture about other welfares, and what each gives to
    whom; `beyond` is Fair-VOI in the same settings and at short horizons, and `people` is learners
    on families of people. You have to download the Sushi data yourself; if they are missing, `all`
    uses synthetic data in their place and says so.
    Exit code 3 means that they were missing, 1 that some simulations failed.

    \b
    Examples:
      fairduel reproduce table1 --runs 5
      fairduel reproduce figure2 --runs 2 --out clustered
    """
    from fairduel.data import DataMissing
    from fairduel.paper import reproduce
    from fairduel.report.criterion import counted

    try:
        made = reproduce(names, out, runs, workers, scheduler, data, progress=not quiet)
    except DataMissing as error:
        raise typer.Exit(fail(str(error), DATA_MISSING)) from error
    for claim in made.document.claims:
        sys.stdout.write(f"{claim.verdict.sign} {claim.name}: {claim.verdict}\n")
    if made.document.claims:
        sys.stdout.write(f"{len(made.document.claims)} claims: {counted(made.document.claims)}\n")
    sys.stdout.write(f"report: {made.page}\n")
    if made.failures:
        raise typer.Exit(fail(f"{counted_failures(made.failures)}: the report lists them.", 1))
    if made.missing:
        raise typer.Exit(fail(made.missing, DATA_MISSING))
