"""fairduel fit: a fair choice from a file of votes or orders."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairduel.cli import complete
from fairduel.cli.options import SCORES, Maximised, Quiet
from fairduel.cli.output import (
    check_folder,
    check_new,
    check_output,
    console,
    given_command,
    print_json,
    write,
)
from fairduel.errors import InputError

if TYPE_CHECKING:  # what takes long to import waits until it is needed
    from fairduel.data import Ballots
    from fairduel.fitting import Fit

LONG = 30_000_000  # bytes, of a file that takes a second to read
MANY = 2_000  # users, for whom it takes a second to learn what they want
MEGABYTE = 1_000_000
EXAMPLE = "example:"


def fit(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Votes or orders, plain or gzip; - for standard input, example:NAME for an "
            "example.",
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column of groups, which are the users then."),
    ] = None,
    users: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Join people who say alike into N users. Default: each is a user."
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            metavar="person|group",
            help="Weigh users by their people, or all the same. Default: group with --by, and "
            "else person.",
        ),
    ] = None,
    welfare: Maximised = "nash",
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"What an option (arm) is worth to a user: {SCORES}. Default: borda for stated "
            "orders, since by favourites alone (condorcet) second choices would be worth nothing; "
            "condorcet for votes.",
            autocompletion=complete.scorings,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the file is, if that is not sure: pairwise, ranks, places, preflib, blt, "
            "kamishima or session.",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME",
            help="A column by its name: user, left, right, winner, loser, count or weight; may be "
            "repeated.",
        ),
    ] = None,
    options: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="The columns of a table that are options, or places in their order; or a "
            "question of a form.",
        ),
    ] = None,
    outcomes: Annotated[
        str | None,
        typer.Option(
            metavar="WORD=MEANING,...",
            help="What words in the column of winners mean (left, right, tie, both bad or skip), "
            "like 0=left,1=right; or names.",
        ),
    ] = None,
    once: Annotated[
        bool,
        typer.Option(
            "--once", help="Count only the last of several votes of a user on the same pair."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a picture: .png or .svg.")
    ] = None,
    csv_file: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write what each user gets to a .csv file."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a report: report.html and report.md."),
    ] = None,
    session: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Make a live session that goes on from these votes: a new .json file, for "
            "fairduel.Session.load.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    quiet: Quiet = False,
) -> None:
    """Find a fair choice from a file of votes or orders.

    Reads pairwise votes (CSV, TSV, JSON, JSON lines), tables with a row for each person (ranks in
    a column for each option, or names in a column for each place), PrefLib files, BLT ballots and
    fairduel's own sessions, says what it took the file for, and refuses what is not sure. Stated
    orders are taken as they are; what votes leave open comes with an interval.

    \b
    Examples:
      fairduel fit example:team-lunch.csv
      fairduel fit example:offsite-form.csv --by Team --plot offsite.png
      fairduel fit example:book-club.blt --users 2 --welfare egalitarian --json
      printf 'user,winner,loser\\nann,tea,milk\\nbob,milk,tea\\n' | fairduel fit -

    Three examples come with fairduel: team-lunch.csv has votes on pairs, offsite-form.csv is a
    form in which people ranked places, book-club.blt has ballots.
    """
    from fairduel.cli import specs
    from fairduel.fitting import words
    from fairduel.fitting.rows import data, user_rows
    from fairduel.report.rows import to_csv
    from fairduel.report.style import FORMATS, image
    from fairduel.report.terminal import print_result

    check_output(plot, FORMATS)
    check_output(csv_file, (".csv",))
    check_folder(report)
    check_new(session, (".json",))
    objective = specs.welfare(welfare)
    reading = {
        "format": format,
        "columns": _pairs("--column", column or []) or None,
        "options": None if options is None else next(csv.reader([options]), []),
        "by": by,
        "once": once,
        "outcomes": _outcomes(outcomes),
    }
    ballots = _read(file, reading, quiet)
    found = _fitted(ballots, users, per, objective, scoring, quiet)
    going_on = None if session is None else found.session()
    if not quiet:
        for warning in found.warnings:
            sys.stderr.write(f"warning: {warning}\n")
    if as_json:
        print_json(data(found))
    else:
        print_result(
            console(), words.introduction(found), words.tables(found), words.conclusion(found)
        )
    if csv_file is not None:
        write(csv_file, to_csv(user_rows(found)), quiet)
    if plot is not None:
        write(plot, image(found.plot(), plot.suffix.lower()), quiet)
    if session is not None and going_on is not None:
        going_on.save(session)
        if not quiet:
            sys.stderr.write(f"wrote {session}\n")
    if report is not None:
        page = found.report(report, given_command(context))
        if not quiet:
            sys.stderr.write(f"wrote {page}\n")


def _read(file: str, reading: dict[str, Any], quiet: bool) -> Ballots:
    """Read the file, with a bar where that takes long."""
    from fairduel.data import example_file, read_votes

    if file.startswith(EXAMPLE):
        file = str(example_file(file.removeprefix(EXAMPLE)))
    length = os.path.getsize(file) if os.path.isfile(file) else 0
    with _progress(length // MEGABYTE, not quiet and length > LONG, "MB") as advance:
        read = 0

        def more(count: int) -> None:
            nonlocal read
            advance((read + count) // MEGABYTE - read // MEGABYTE)
            read += count

        return read_votes(file, progress=more, **reading)


def _fitted(
    ballots: Ballots, users: int | None, per: str | None, welfare: Any, scoring: Any, quiet: bool
) -> Fit:
    """Fit, with a bar where users are many."""
    from fairduel.fitting import fit

    count = len(ballots.users) if users is None else users
    long = not quiet and count > MANY and ballots.kind == "votes"
    with _progress(count, long, "users") as advance:
        return fit(
            ballots, users=users, per=per, welfare=welfare, scoring=scoring, progress=advance
        )


@contextmanager
def _progress(total: int, shown: bool, what: str) -> Iterator[Any]:
    """Show a bar where it is wanted; it takes a moment to import."""
    if not shown:
        yield lambda count: None
        return
    from fairduel.experiments.progress import bar

    with bar(total, 0, True, what) as advance:
        yield advance


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    """Return what texts like user=judge say."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise InputError(f"{option} is {text!r}: write it as NAME=NAME.")
        if name in found:
            raise InputError(f"{option} has {name!r} twice: give it once.")
        found[name] = value
    return found


def _outcomes(text: str | None) -> Any:
    if text is None or text == "names":
        return text
    return _pairs("--outcomes", text.split(","))
