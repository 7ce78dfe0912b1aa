"""fairduel simulate: learners compared on one kind of instance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairduel.cli import complete
from fairduel.cli.options import Answers, Delay, Quiet, Scoring, Welfare, Workers
from fairduel.cli.output import check_output, console, fail, print_json, write
from fairduel.errors import InputError

if TYPE_CHECKING:  # what takes long to import waits until it is needed
    from fairduel.environments import Environment


def simulate(
    learner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SETTING=VALUE,...]",
            help="A learner: fair-voi, bt-thompson, fair-etc, fair-eps, utilitarian-etc, "
            "utilitarian-eps or uniform; may be repeated. Default: all seven.",
            autocompletion=complete.learners,
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The settings to start from: as_written or as_run in the paper.",
            autocompletion=complete.presets,
        ),
    ] = "as_written",
    environment: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[:SIZE=VALUE,...]",
            help="What to play: random, clustered, hard, paper, bradley-terry, mallows or "
            "rankings:FILE; default: random.",
            autocompletion=complete.environments,
        ),
    ] = None,
    instance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Play the instance of this .npz or .json file instead."),
    ] = None,
    users: Annotated[
        int | None, typer.Option(metavar="N", help="Number of users; default: 10.")
    ] = None,
    arms: Annotated[
        int | None, typer.Option(metavar="N", help="Number of arms; default: 10.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="How far preferences are from 1/2; default: 0.1."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="Share of users with one winner, in clustered; default: 0.5."
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(metavar="N", help="Number of rounds, the horizon.")
    ] = 200_000,
    runs: Annotated[
        int, typer.Option(metavar="N", help="Number of runs, each with its own instance.")
    ] = 10,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same results.")
    ] = 0,
    checkpoints: Annotated[
        int, typer.Option(metavar="N", help="Number of checkpoints in a run, for plot and rows.")
    ] = 100,
    log: Annotated[
        bool, typer.Option("--log", help="Space the checkpoints, and the plot, logarithmically.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture: .png or .svg.")
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all checkpoints: .csv, .json or .parquet."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON instead of a table.")
    ] = False,
    welfare: Welfare = "nash",
    scoring: Scoring = None,
    answers: Answers = None,
    delay: Delay = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Compare learners by simulation.

    Every learner plays the same instances with the same randomness. The table shows regret (Eq. 5
    of the paper), the welfare of the users by three measures, and how unequal they are (Gini).

    \b
    Examples:
      fairduel simulate --users 4 --arms 4 --rounds 50000 --runs 3
      fairduel simulate --environment paper --preset as_run --runs 2 --plot it.png
      fairduel simulate --environment bradley-terry:spread=2,camps=2 --runs 3
      fairduel simulate --learner uniform --learner fair-etc --runs 2 --json
      fairduel simulate --learner fair-etc:exploration=0.5 --runs 2
      fairduel simulate --learner fair-eps:tournament.gap_guess=0.01 --runs 2
      fairduel simulate --users 4 --arms 4 --scoring borda --rounds 5000
      fairduel simulate --users 2 --rounds 9000 --answers 1 --answers 0.3

    Settings of a learner are the fields of its class, those of its tournament with a dot. A
    welfare is given as in --welfare, with colons before its settings (welfare=gini:delta=3), and
    winners by number (winners=3/0/1). Sizes of an environment are the fields of its class; after
    rankings:FILE come a colon and as=groups or as=people with the others.
    """
    from fairduel.cli import specs
    from fairduel.experiments import Checkpoints, compare
    from fairduel.report import rows as row_files
    from fairduel.report import terminal
    from fairduel.report.style import FORMATS, image

    check_output(plot, FORMATS)
    check_output(rows, row_files.FORMATS)
    learners = specs.learners(learner, preset, scoring)
    sizes = {"users": users, "arms": arms, "gap": gap, "share": share}
    problem, place = _environment(environment, instance, sizes, scoring)
    likely, later = answers or [1.0], delay or 0
    results = compare(
        learners,
        {problem.get("instance") or problem["environment"]: place},
        rounds,
        runs=runs,
        seed=seed,
        checkpoints=Checkpoints(checkpoints, "log" if log else "linear"),
        welfare=specs.welfare(welfare),
        answers=specs.answers(likely),
        delay=later,
        workers=workers,
        progress=not quiet,
    )
    settings = problem | {"rounds": rounds, "runs": runs, "seed": seed}
    settings |= {} if welfare == "nash" else {"welfare": welfare}
    settings |= {} if scoring is None else {"scoring": scoring}
    settings |= specs.answering_words(likely, later)
    settings |= {} if preset == "as_written" else {"preset": preset}
    summaries = next(iter(results.summary().values()), {})
    if as_json:
        print_json({"settings": settings, "learners": terminal.summaries_data(summaries)})
    elif summaries:
        terminal.print_summaries(console(), summaries, settings)
    if rows is not None and summaries:
        write(rows, row_files.FORMATS[rows.suffix.lower()](results.rows.to_pylist()), quiet)
    if plot is not None and summaries:
        write(plot, image(results.plot(), plot.suffix.lower()), quiet)
    if results.failures:
        first = results.failures[0]
        raise typer.Exit(fail(f"{first.cell}: {first.reason}", 2 if first.bad_input else 1))


def _environment(
    name: str | None, file: Path | None, sizes: dict[str, Any], scoring: str | None
) -> tuple[dict[str, Any], Environment]:
    """Return what is played, in words and as an environment."""
    from fairduel.cli import specs
    from fairduel.environments import Fixed
    from fairduel.instance import Instance

    given = {size: value for size, value in sizes.items() if value is not None}
    if file is None:
        name = "random" if name is None else name
        place = specs.environment(name, given)
        return specs.described(name, place), specs.scored(place, scoring)
    for option in (("environment",) if name is not None else ()) + tuple(given):
        # Other ways to say what to play would contradict the file.
        raise InputError(f"--instance and --{option} do not go together: leave out one.")
    instance = Instance.load(file)
    instance = instance if scoring is None else instance.scored_by(scoring)
    users, arms = instance.scores.shape
    return {"instance": str(file), "users": users, "arms": arms}, Fixed(instance)
