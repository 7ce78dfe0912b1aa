"""Tables with a row for each person: a column for each option with its rank, or for each place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel._names import comparable
from fairduel.data.ballots import MOST_OPTIONS, Ballots
from fairduel.data.columns import PEOPLE, WEIGHTS, Headings, listed, plain
from fairduel.data.lines import brief
from fairduel.data.orders import closed_up, stated
from fairduel.data.records import Records
from fairduel.errors import InputError

NO_RANK = ("", "-", "\u2013", "\u2014")
WORDS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
RANK_WORD = r"(?:rank|ranked|choice|place|preference|pref)"
RANK = re.compile(
    rf"(?:{RANK_WORD}\s*)?(?:no\.?\s*|#\s*)?"
    rf"(?:(\d{{1,6}}(?:[.,]\d+)?)\s*(?:st|nd|rd|th|[.):])?|({'|'.join(WORDS)}))(?:\s*{RANK_WORD})?",
    re.IGNORECASE,
)
BRACKET = re.compile(r"(?s)(.*)\[(.+)\]")
# What form tools add to the answers.
ASIDE = {"timestamp", "start time", "completion time", "submitted at", "started at", "date", "time"}


@dataclass(frozen=True)
class _People:
    """The rows of a table: where each stands, who it is, its group, its weight, its cells."""

    places: list[str]
    names: list[str]
    groups: list[str] | None
    weights: Floats
    cells: list[list[str]]  # of each column of options


class PersonTable:
    """A table that has been read whole, and what its columns look like."""

    def __init__(
        self,
        records: Records,
        headings: Headings,
        by: str | None = None,
        options: Sequence[str] | None = None,
    ) -> None:
        self._records, self._headings = records, headings
        self._by = None if by is None else headings.column(by)
        self._given = None if options is None else self._named(options)
        self._columns: dict[int, list[str]] = {n: [] for n in range(len(headings.names))}
        self._places: list[str] = []
        self._read()

    def _read(self) -> None:
        names = self._headings.names
        for chunk in self._records.chunks(names, ordered=True):
            for n, cells in enumerate(chunk.columns):
                self._columns[n] += map(_text, cells)
            self._places += map(chunk.place, range(len(chunk.numbers)))
        if not self._places:
            raise InputError("it has a heading and no rows: give a row for each person.")

    def kind(self) -> str | None:
        """Return "ranks" or "places", as the columns look; None if neither is sure."""
        columns = self._option_columns()
        ranked = [n for n in columns if self._holds_ranks(n)]
        placed = [n for n in columns if rank(self._label(n)) is not None]
        if len(ranked) >= 2 and len(placed) < 2:
            return "ranks"
        if len(placed) >= 2 and not [n for n in placed if self._holds_ranks(n)]:
            return "places"
        if len(ranked) >= 2:
            raise InputError(
                f"the columns {listed(self._label(n) for n in placed)} hold numbers, which may be "
                "ranks of options or numbers of options in places: say which (--format ranks, or "
                "--format places)."
            )
        return None

    def ranks(self, forced: bool = False) -> Ballots:
        """Return the orders in a table with a column for each option; ``forced``: on request."""
        at = self._option_columns()
        asked = self._given or self._question(at[0]) is not None
        columns = at if asked else [n for n in at if self._holds_ranks(n)]
        people = self._people(columns)
        options = [self._label(n) for n in columns]
        values = self._values(people, options)
        _refuse_stars(values, people, options, forced)
        what = "a table with a column for each option and ranks in it"
        return _stated(people, options, values, what + self._unused(columns))

    def places(self) -> Ballots:
        """Return the orders in a table with a column for each place and names in it."""
        at = self._option_columns()
        columns = [n for n in at if self._given or rank(self._label(n)) is not None]
        if not self._given:
            columns.sort(key=lambda n: rank(self._label(n)) or 0.0)
        people = self._people(columns)
        options = sorted({name for cells in people.cells for name in cells if name not in NO_RANK})
        if len(options) > MOST_OPTIONS:
            raise InputError(f"there are more than {MOST_OPTIONS:,} options: leave some out.")
        number = {name: k for k, name in enumerate(options)}
        values = np.full((len(people.places), max(len(options), 1)), np.nan)
        for place, cells in enumerate(people.cells, 1):
            for row, name in enumerate(cells):
                if name in NO_RANK:
                    continue
                if not np.isnan(values[row, number[name]]):
                    raise InputError(
                        f"{people.places[row]} has {name!r} in two places: name each option once."
                    )
                values[row, number[name]] = place
        what = "a table with a column for each place and names in it"
        return _stated(people, options, values, what + self._unused(columns))

    # Columns

    def _named(self, options: Sequence[str]) -> list[int]:
        """Return the columns of these names, or of these questions of a form."""
        names = self._headings.names
        at: list[int] = []
        for option in options:
            question = [n for n in range(len(names)) if self._question(n) == option.strip()]
            at += question or [names.index(self._headings.column(option))]
        return at

    def _question(self, column: int) -> str | None:
        found = BRACKET.fullmatch(self._headings.names[column])
        return found[1].strip() if found else None

    def _label(self, column: int) -> str:
        """Return the option, or the place, that a column is for: what stands in brackets."""
        found = BRACKET.fullmatch(self._headings.names[column])
        return " ".join((found[2] if found else self._headings.names[column]).split())

    def _option_columns(self) -> list[int]:
        """Return the columns that may be options or places."""
        if self._given is not None:
            return self._given
        names = self._headings.names
        bracketed = [n for n in range(len(names)) if self._question(n) is not None]
        questions = list(dict.fromkeys(str(self._question(n)) for n in bracketed))
        if len(questions) > 1 and len(bracketed) > len(questions):
            raise InputError(
                f"the columns answer {len(questions)} questions, {listed(questions)}: say which "
                "(--options QUESTION)."
            )
        if len(bracketed) >= 2:
            return bracketed
        aside = {self._user(), self._weight(), self._by}
        others = (n for n, name in enumerate(names) if name not in aside)
        return [n for n in others if plain(names[n]) not in ASIDE and names[n]]

    def _unused(self, columns: list[int]) -> str:
        """Say which columns are neither options nor anything else that is known."""
        known = {
            self._user(),
            self._weight(),
            self._by,
            *(self._headings.names[n] for n in columns),
        }
        names = [name for name in self._headings.names if name not in known]
        others = [name for name in names if plain(name) not in ASIDE and name]
        return f" (not used: {listed(others)})" if others else ""

    def _holds_ranks(self, column: int) -> bool:
        """Return whether most cells that are filled in are ranks."""
        cells = Counter(self._columns[column])
        filled = {cell: times for cell, times in cells.items() if cell not in NO_RANK}
        ranks = sum(times for cell, times in filled.items() if rank(cell) is not None)
        return 2 * ranks > sum(filled.values())

    def _user(self) -> str | None:
        """Return the column of names: of several the first that tells all rows apart."""
        if "user" in self._headings.given:
            return self._headings.given["user"]
        found = self._headings.all(PEOPLE)
        rows = len(self._places)
        cells = {name: self._column(name) for name in found}
        telling = (name for name in found if "" not in cells[name] and len({*cells[name]}) == rows)
        filled = (name for name in found if "" not in cells[name])
        return next(telling, next(filled, None))

    def _weight(self) -> str | None:
        return self._headings.find("weight", WEIGHTS)

    def _column(self, name: str) -> list[str]:
        return self._columns[self._headings.names.index(name)]

    # Rows

    def _people(self, columns: list[int]) -> _People:
        user, weight = self._user(), self._weight()
        for n in columns:
            self._headings.column(self._headings.names[n])  # refuses two of one name
        names = [f"person {n}" for n in range(1, len(self._places) + 1)]
        if user is not None:
            names = self._column(user)
            _refuse_repeats(names, self._places)
        groups = None if self._by is None else self._column(self._by)
        if groups and "" in groups:
            place = self._places[groups.index("")]
            raise InputError(f"{place}: {self._by!r} is empty: fill it in, or leave the row out.")
        weights = np.ones(len(names))
        if weight is not None:
            weights = np.array([*map(self._weighed, self._column(weight), self._places)])
        cells = [self._columns[n] for n in columns]
        return _People(self._places, names, groups, weights, cells)

    def _weighed(self, cell: str, place: str) -> float:
        number = self._records.number(cell)
        if number is None or not 0.0 < number < np.inf:
            raise InputError(f"{place}: the weight is {brief(cell)}: give a number above 0.")
        return number

    def _values(self, people: _People, options: list[str]) -> Floats:
        """Return (rows, options) the ranks as they are written; NaN where there is none."""
        known: dict[str, float] = dict.fromkeys(NO_RANK, np.nan)
        values = np.empty((len(people.places), len(options)))
        for k, cells in enumerate(people.cells):
            for cell in {*cells} - known.keys():
                found = rank(cell)
                if found is None or found < 1:
                    place = people.places[cells.index(cell)]
                    raise InputError(
                        f"{place}: the rank of {options[k]!r} is {brief(cell)}: give a number from "
                        "1 up, or name the columns that hold ranks (--options NAME,NAME)."
                    )
                known[cell] = found
            values[:, k] = [known[cell] for cell in cells]
        return values


def rank(cell: str) -> float | None:
    """Return the rank in a cell such as "2", "2nd choice" or "second"; None if there is none."""
    found = RANK.fullmatch(cell)
    if found is None:
        return None
    return float(found[1].replace(",", ".")) if found[1] else 1.0 + WORDS.index(found[2].lower())


def _stated(people: _People, options: list[str], values: Floats, what: str) -> Ballots:
    owners = people.names if people.groups is None else people.groups
    grouped = people.groups is not None
    return stated(owners, options, closed_up(values), people.weights, what, grouped)


def _text(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _refuse_repeats(names: list[str], places: list[str]) -> None:
    """Refuse two rows of one person: which of them is meant?"""
    first: dict[str, str] = {}
    for name, place in zip(names, places, strict=True):
        if not name:
            raise InputError(f"{place} does not say who it is from: fill it in.")
        before = first.setdefault(comparable(name), place)
        if before != place:
            raise InputError(
                f"{before} and {place} are both from {name!r}: keep one of them, or name the "
                "column that tells people apart (--column user=NAME)."
            )


def _refuse_stars(values: Floats, people: _People, options: list[str], forced: bool) -> None:
    """Refuse what looks like points: ranks beyond the options, and most rows with repeats."""
    if forced:
        return
    advice = (
        "if they are ranks, 1 being the best, say so (--format ranks); if more is better, use "
        "fairduel solve; if a column is no option, name those that are (--options NAME,NAME)."
    )
    row, option = np.unravel_index(np.argmax(np.nan_to_num(values)), values.shape)
    if values[row, option] > len(options):
        raise InputError(
            f"{people.places[row]}: the rank of {options[option]!r} is {values[row, option]:g}, "
            f"and there are {len(options)} options, so these may be no ranks: {advice}"
        )
    full = values[~np.isnan(values).any(axis=1)]
    ordered = np.sort(full, axis=1)
    repeats = int((ordered[:, 1:] == ordered[:, :-1]).any(axis=1).sum())
    if 2 * repeats > len(full):
        raise InputError(
            f"{repeats:,} of {len(full):,} full rows have a number twice, so they may be points "
            f"or stars and no ranks: {advice}"
        )
