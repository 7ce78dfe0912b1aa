"""Votes and orders from a file of any format that is known, told apart by what is in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fairduel._checks import one_of
from fairduel._files import AnyPath
from fairduel.data.ballots import Ballots
from fairduel.data.blt import is_blt, parse_blt
from fairduel.data.columns import Headings
from fairduel.data.kamishima import parse_kamishima
from fairduel.data.lines import read_lines
from fairduel.data.orders import stated_rankings
from fairduel.data.pairwise import Outcomes, count_votes
from fairduel.data.preflib import KINDS, parse_preflib
from fairduel.data.rankings import Rankings
from fairduel.data.recorded import is_session, parse_session
from fairduel.data.records import Delimited, JsonRecords
from fairduel.data.source import Advance, Source, open_source
from fairduel.data.tables import PersonTable
from fairduel.errors import InputError

TABLES = ("pairwise", "ranks", "places")
FORMATS = (*TABLES, "preflib", "blt", "kamishima", "session")
PREFLIB = re.compile(r"# ?(FILE NAME|TITLE|DATA TYPE|NUMBER ALTERNATIVES):", re.IGNORECASE)


def read_votes(
    path: AnyPath,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    options: Sequence[str] | None = None,
    by: str | None = None,
    once: bool = False,
    outcomes: Outcomes | None = None,
    progress: Advance | None = None,
) -> Ballots:
    """Read votes or orders from a file, plain or gzip, or from standard input for "-".

    It reads pairwise votes and tables with a row for each person (CSV, with any separator, and
    JSON), PrefLib's and Kamishima's orders, BLT ballots and fairduel's own sessions, tells them
    apart by their content, and refuses what is not sure. ``said`` of the result has an example.

    format: what it is, if that is not sure: one of pairwise, ranks, places, preflib, blt,
    kamishima, session. columns: which column is the user, left, right, winner, loser, count or
    weight, where the headings do not say it. options: the columns of a table that hold ranks, or
    places in their order, or a question of a form. by: a column of groups, which are the users
    then. once: of several votes of a user on a pair only the last counts; otherwise they add up.
    outcomes: what the words in the column of winners mean, like {"0": "left", "1": "right"}, or
    "names". progress: is called with the number of bytes that have been read since the last call.

    >>> from fairduel.data import example_file, read_votes
    >>> ballots = read_votes(example_file("team-lunch.csv"))
    >>> ballots
    Ballots(votes, 5 users, 4 options)
    >>> ballots.said
    'read as pairwise votes; for example: ann prefers curry to pizza'
    """
    with open_source(path, progress) as source:
        if not source.head.strip():
            raise InputError("it is empty: give a file with votes or rankings.")
        kind = _detected(source) if format is None else one_of("format", format, FORMATS)
        if kind is None or kind in TABLES:
            return _from_table(source, kind, columns or {}, options, by, once, outcomes)
        _refuse_settings(kind, columns=columns, options=options, by=by, outcomes=outcomes)
        _refuse_settings(kind, once=once or None)
        return _from_text(source, kind)


def _detected(source: Source) -> str | None:
    """Return the format of a text that is no table, and None for a table."""
    head = source.head
    if source.ending in KINDS or PREFLIB.match(head):
        return "preflib"
    if source.ending == "order":
        return "kamishima"
    if is_blt(head):
        return "blt"
    return "session" if is_session(head) else None


def _from_text(source: Source, kind: str) -> Ballots:
    if kind == "session":
        return parse_session("".join(source.pieces()))
    lines = read_lines(source)
    if kind == "blt":
        return parse_blt(lines)
    if kind == "kamishima":
        return stated_rankings(parse_kamishima(lines), "Kamishima's orders")
    rankings = parse_preflib(lines, source.ending)
    return stated_rankings(rankings, "PrefLib's orders", _sushi_note(rankings))


def _sushi_note(rankings: Rankings) -> tuple[str, ...]:
    """Return a warning if these are PrefLib's Sushi data, whose names are off by one."""
    first, last = rankings.items[0].lower(), rankings.items[-1].lower()
    if len(rankings.items) != 10 or not (first.startswith("ebi") and last.startswith("kappa")):
        return ()
    return (
        "PrefLib's Sushi data have their names off by one (item k is number k mod 10 of the "
        "original): use the original file, which fairduel.data.load_sushi reads.",
    )


def _from_table(
    source: Source,
    kind: str | None,
    columns: Mapping[str, str],
    options: Sequence[str] | None,
    by: str | None,
    once: bool,
    outcomes: Outcomes | None,
) -> Ballots:
    is_json = source.head.lstrip()[:1] in ("{", "[")
    records = JsonRecords(source) if is_json else Delimited(source)
    headings = Headings(records.heading, columns)
    if headings.is_approval():
        raise InputError(
            "it has approvals (voter-id, comment-id, vote), which are no comparisons: give "
            "pairwise votes or ranks."
        )
    pairs = headings.pairwise() if kind in (None, "pairwise") and options is None else None
    if pairs is not None:
        by = None if by is None else headings.column(by)
        if pairs.user is None and by is None:
            raise InputError(
                "it has pairwise votes and does not say who voted: name the column of users "
                f"(--column user=NAME), or of groups (--by NAME); {headings.columns()}."
            )
        return count_votes(records, pairs, by, once, outcomes)
    if kind == "pairwise":
        raise InputError(
            "it lacks columns of pairwise votes: name them (--column left=NAME, right and winner, "
            f"or winner and loser); {headings.columns()}."
        )
    _refuse_settings("a table with a row for each person", once=once or None, outcomes=outcomes)
    table = PersonTable(records, headings, by, options)
    found = kind or table.kind()
    if found is None:
        raise InputError(
            "it has neither pairwise votes (left, right and winner, or winner and loser) nor two "
            "columns of ranks or of places: name the columns (--column ROLE=NAME, --options "
            f"NAME,NAME); {headings.columns()}."
        )
    return table.ranks(forced=kind == "ranks") if found == "ranks" else table.places()


def _refuse_settings(kind: str, **settings: object) -> None:
    """Refuse what has no meaning for a format."""
    for name, value in settings.items():
        if value is not None:
            raise InputError(f"{name} has no meaning for {kind}: leave it out.")
