"""The command line: each command calls one library function and shows what it gives."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import fairduel
from fairduel.errors import InputError

if TYPE_CHECKING:  # what takes long to import waits until it is needed
    from rich.console import Console

    from fairduel.instance import Instance
    from fairduel.learners import Learner

DATA_MISSING = 3  # exit code where data have to be fetched first

# What a welfare calls its value, and whether its gap is one of the logarithm.
WELFARES = {
    "nash": ("Nash welfare", True),
    "frank-wolfe": ("Nash welfare", True),
    "utilitarian": ("mean utility", True),
    "egalitarian": ("smallest utility", False),
}

# Options that several commands have.
Workers = Annotated[
    int | None, typer.Option(help="How many processes; one for each core unless told.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use the Dask cluster with this scheduler instead."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but the result.")]


class _Commands(TyperGroup):
    """Says at Ctrl-C that it has stopped, and what is kept where something is."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            sys.stderr.write(f"stopped: {error if error.args else 'there is no result'}\n")
            raise


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help can be piped, and its examples copied
)


def main() -> None:
    """The console script."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name may have letters that a terminal lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and give its exit code. What is wrong with its input becomes one line."""
    try:
        code = app(arguments or ["--help"], prog_name="fairduel", standalone_mode=False)
        sys.stdout.flush()
        return code or 0
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:  # whoever reads the output has had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        return _fail(str(error))
    except MemoryError:
        return _fail("there is not enough memory: ask for fewer users, arms or checkpoints.")
    except Exception as error:
        # A wrong option or argument; where typer keeps the class of it depends on the version.
        if not hasattr(error, "format_message"):
            raise
        return _fail(error.format_message())


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"fairduel {fairduel.__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Fair decisions from pairwise votes.

    \b
    Example:
      fairduel simulate --users 4 --arms 4 --rounds 50000 --runs 3
    """


@app.command()
def simulate(
    learner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SETTING=VALUE,...]",
            help="A learner: fair-voi, fair-etc, fair-eps, utilitarian-etc, utilitarian-eps or "
            "uniform; give the option again for another. All six unless told.",
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(help="The settings to start from: as_written or as_run in the paper.")
    ] = "as_written",
    environment: Annotated[
        str | None,
        typer.Option(help="What to play: random, clustered, hard or paper; random unless told."),
    ] = None,
    instance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Play the instance of this .npz or .json file instead."),
    ] = None,
    users: Annotated[int | None, typer.Option(help="How many users; 10 unless told.")] = None,
    arms: Annotated[int | None, typer.Option(help="How many arms; 10 unless told.")] = None,
    gap: Annotated[
        float | None, typer.Option(help="How far preferences are from 1/2; 0.1 unless told.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="clustered: the share of users with one winner; 0.5 unless told."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="How many rounds to play.")] = 200_000,
    runs: Annotated[int, typer.Option(help="How many runs, each with its own instance.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same results.")] = 0,
    checkpoints: Annotated[
        int, typer.Option(help="How many times to read off during a run, for plot and rows.")
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
    quiet: Quiet = False,
) -> None:
    """Compare learners by simulation.

    Every learner plays the same instances with the same luck. The table shows regret (Eq. 5 of
    the paper), the welfare of the users by three measures, and how unequal they are (Gini).

    \b
    Examples:
      fairduel simulate --users 4 --arms 4 --rounds 50000 --runs 3
      fairduel simulate --environment paper --preset as_run --runs 2 --plot paper.png
      fairduel simulate --learner fair-etc --learner fair-etc:exploration=0.5 --runs 2
      fairduel simulate --learner fair-eps:tournament.gap_guess=0.01 --runs 2 --json

    Settings of a learner are the fields of its class, those of its tournament with a dot. A
    welfare is given by name (welfare=egalitarian) and winners by number (winners=3/0/1).
    """
    from fairduel.experiments.comparison import compare
    from fairduel.report import rows as tables
    from fairduel.report import style, terminal
    from fairduel.report.learners_figure import learners_figure

    _check_output(plot, style.FORMATS)
    _check_output(rows, tables.FORMATS)
    learners = _learners(learner, preset)
    sizes = {"users": users, "arms": arms, "gap": gap, "share": share}
    if instance is None:
        problem, instances = _made(environment or "random", sizes, rounds, runs, seed)
    else:
        problem, instances = _loaded(instance, {"environment": environment} | sizes, runs)
    with _progress(runs * len(learners), quiet) as before_run:
        marks = _marks(rounds, checkpoints, log)
        comparison = compare(learners, instances, rounds, seed, marks, before_run)
    settings = problem | {"rounds": rounds, "runs": runs, "seed": seed}
    summaries = comparison.summaries()
    if as_json:
        _print_json({"settings": settings, "learners": terminal.summaries_data(summaries)})
    else:
        terminal.print_summaries(_console(), summaries, settings)
    if rows is not None:
        _write(rows, tables.FORMATS[rows.suffix.lower()](comparison.rows()), quiet)
    if plot is not None:
        figure = learners_figure(comparison.runs_of(), log)
        _write(plot, style.image(figure, plot.suffix.lower()), quiet)


@app.command()
def compare(
    grid: Annotated[
        Path | None,
        typer.Argument(metavar="[GRID.toml]", help="A file with what the options say."),
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SETTING=VALUE,...]",
            help="A learner as in simulate, or package.module:Name for your own; give the option "
            "again for another.",
        ),
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SIZE=VALUE,...]",
            help="What to play, like random:users=5,arms=10 or file:PATH; may be given again.",
        ),
    ] = None,
    rounds: Annotated[
        list[int] | None, typer.Option(help="A horizon; may be given again. 200000 unless told.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="How many runs of each combination; 10 unless told.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same results.")] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(metavar="SPACING:COUNT", help="When to read off: linear:100 or log:60."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the results go.")] = Path(
        "comparison"
    ),
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Compare learners on a grid, on all cores or a cluster.

    Each learner plays in each environment for each horizon. The folder gets a report
    (report.html, report.md), a picture of the regret (regret.png), and all figures in
    rows.parquet and runs.parquet. What has been run before is not run again, so a comparison
    that was interrupted goes on with the same command.

    \b
    Examples:
      fairduel compare --environment random:users=4,arms=4 --rounds 20000 --runs 3
      fairduel compare --learner fair-etc --learner fair-etc:exploration=1 --rounds 1000 --runs 3

    The file has learners, environments and rounds (lists), runs, seed and checkpoints; options
    come before it. Your own learner is found in the directory that you are in. Exit code 1 means
    that some simulations failed.
    """
    from fairduel.cli.grid import read_grid
    from fairduel.experiments import sweep
    from fairduel.experiments.progress import can_go_on
    from fairduel.report import comparison as grid_report
    from fairduel.report import figures, style, terminal
    from fairduel.report.write import write_report

    sys.path.insert(0, os.getcwd())
    given = {"learners": learner, "environments": environment, "rounds": rounds}
    asked = read_grid(grid, given | {"runs": runs, "seed": seed, "checkpoints": checkpoints})
    with can_go_on(out):
        results = sweep(asked.cells, out, workers=workers, scheduler=scheduler, progress=not quiet)
        for place, horizon in asked.problems:
            found = grid_report.summaries(asked, results, place, horizon)
            settings = {
                "environment": place,
                "rounds": horizon,
                "runs": asked.runs,
                "seed": asked.seed,
            }
            if found:
                terminal.print_summaries(_console(), found, settings)
                sys.stdout.write("\n")
        panels = grid_report.regret_panels(asked, results)
        if panels:
            picture = figures.grid(panels, min(len(panels), grid_report.COLUMNS))
            _write(out / "regret.png", style.image(picture, ".png"), quiet)
        page, _ = write_report(grid_report.document(asked, results), out)
        sys.stdout.write(f"report: {page}\n")
    if results.failures:
        first = results.failures[0]
        raise typer.Exit(
            _fail(
                f"{len(results.failures)} simulations failed, see {out / 'failures.json'}; the "
                f"first was {first.cell}: {first.reason}.",
                1,
            )
        )


@app.command()
def solve(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A .csv or .json file, or - for standard input.")
    ],
    welfare: Annotated[
        str, typer.Option(help="What to maximise: nash, utilitarian, egalitarian or frank-wolfe.")
    ] = "nash",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Find the fairest policy for given scores.

    CSV has a line for each user, with a score for each arm; arm names may come first, and user
    names in the first column. JSON is a list of lists, or an object with "scores" and, if wanted,
    "users", "arms" (names) and "weights" of the users.

    \b
    Examples:
      printf ',tea,coffee\\nAda,1,0.2\\nBob,0.3,0.9\\n' | fairduel solve -
      echo '[[1, 0.2], [0.3, 0.9]]' | fairduel solve - --welfare egalitarian --json
    """
    from fairduel._files import read_whole
    from fairduel.cli import specs as named
    from fairduel.data.scores import read_scores
    from fairduel.report import terminal

    source = "standard input" if file == "-" else file
    table = read_scores(sys.stdin.buffer.read() if file == "-" else read_whole(file), source)
    solution = named.welfare(welfare, table.weights).maximize(table.scores)
    if as_json:
        _print_json(terminal.solution_data(table, solution, welfare, *WELFARES[welfare]))
    else:
        terminal.print_solution(_console(), table, solution, *WELFARES[welfare])


@app.command()
def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="table1, figure1, figure2, figure3, lower-bound, upper-bound, or all of these; "
            "and beyond.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the report goes.")] = Path(
        "reproduction"
    ),
    runs: Annotated[int, typer.Option(help="How many runs of everything; the paper has 30.")] = 30,
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
    has been run before is not run again. `all` stands for everything in the paper and takes some
    minutes; `beyond` is Fair-VOI in the same settings and at short horizons. The Sushi data have
    to be fetched by everybody for themselves; where they are missing, `all` uses synthetic data
    in their place and says so. Exit code 3 means that they were missing, 1 that some simulations
    failed.

    \b
    Examples:
      fairduel reproduce table1 --runs 5
      fairduel reproduce figure2 --runs 2 --out clustered
    """
    from fairduel.data import DataMissing
    from fairduel.paper.reproduce import reproduce
    from fairduel.report.criterion import counted

    try:
        made = reproduce(names, out, runs, workers, scheduler, data, progress=not quiet)
    except DataMissing as error:
        raise typer.Exit(_fail(str(error), DATA_MISSING)) from error
    for claim in made.document.claims:
        sys.stdout.write(f"{claim.verdict.sign} {claim.name}: {claim.verdict}\n")
    if made.document.claims:
        sys.stdout.write(f"{len(made.document.claims)} claims: {counted(made.document.claims)}\n")
    sys.stdout.write(f"report: {made.page}\n")
    if made.failures:
        raise typer.Exit(
            _fail(f"{len(made.failures)} simulations failed; the report lists them.", 1)
        )
    if made.missing:
        raise typer.Exit(_fail(made.missing, DATA_MISSING))


def _learners(texts: list[str] | None, preset: str) -> dict[str, Learner[Any]]:
    from fairduel.cli import specs as named
    from fairduel.cli.distinct import check_learners

    chosen = texts or list(named.LEARNERS)
    check_learners(chosen, preset)
    return {text: named.learner(text, preset) for text in chosen}


def _made(
    environment: str, sizes: dict[str, Any], rounds: int, runs: int, seed: int
) -> tuple[dict[str, Any], Iterable[Instance]]:
    """What is played, in words and as an instance for each run."""
    from fairduel.cli import specs as named

    instances = named.instances(environment, runs, rounds, seed, **sizes)
    given = {size: value for size, value in sizes.items() if value is not None}
    return {"environment": environment} | named.ENVIRONMENTS[environment] | given, instances


def _loaded(
    path: Path, others: dict[str, Any], runs: int
) -> tuple[dict[str, Any], Iterable[Instance]]:
    """The same instance for each run; other ways to say what to play would contradict it."""
    from fairduel.instance import Instance

    for option, value in others.items():
        if value is not None:
            raise InputError(f"--instance and --{option} do not go together: leave out one.")
    instance = Instance.load(path)
    users, arms = instance.scores.shape
    return {"instance": str(path), "users": users, "arms": arms}, [instance] * runs


def _marks(rounds: int, count: int, logarithmic: bool) -> Any:
    """Checkpoints for compare(), which is the one to complain about wrong numbers."""
    from fairduel.simulation.loop import MOST_ROUNDS
    from fairduel.simulation.trajectory import logarithmic_checkpoints

    if logarithmic and 1 <= rounds <= MOST_ROUNDS and count >= 1:
        return logarithmic_checkpoints(rounds, count)
    return count


def _check_output(path: Path | None, suffixes: Iterable[str]) -> None:
    """Find out before the work what would keep its result from being written."""
    from fairduel.report.rows import require_pyarrow

    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"cannot write {str(path)!r}: let its name end with {' or '.join(suffixes)}."
        )
    if path.suffix.lower() == ".parquet":
        require_pyarrow()
    if not _writable(Path(os.path.realpath(path))):
        raise InputError(
            f"cannot write {str(path)!r}: give a file name in a directory that exists and can be "
            "written to."
        )


def _writable(target: Path) -> bool:
    """Whether a file can be made, or replaced; to try it is the only way to be sure."""
    if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
        return False
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError:
        return False
    return True


def _write(path: Path, data: bytes, quiet: bool) -> None:
    from fairduel._files import write_whole

    write_whole(path, data)
    if not quiet:
        sys.stderr.write(f"wrote {path}\n")


def _print_json(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def _console() -> Console:
    from rich.console import Console

    # Names are shown as they are, whatever brackets and colons they have.
    return Console(markup=False, emoji=False, highlight=False)


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar on standard error, if that is a terminal; moved on before every run."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        Remaining(),
        TextColumn("{task.description}", markup=False),  # last, since its width changes
        console=Console(stderr=True),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("", total=total)
        begun = iter(range(total))
        yield lambda label, run: progress.update(task, description=label, completed=next(begun))


def _fail(message: str, code: int = 2) -> int:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return code
