"""What an experiment has found, read cell by cell or as tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import one_of
from fairduel.errors import InputError
from fairduel.experiments.cells import CURVES, PHASES, Cell, Failure
from fairduel.experiments.store import Store

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure

    from fairduel.report.summary import Summary

FIGURES = ("best", *PHASES, "seconds")  # of a whole run

Setting = tuple[str, int]  # the label of an environment, and a horizon
Players = dict[str, tuple[Cell, ...]]  # by the label of a learner: a cell for each run


class Results:
    """The results of cells, and the cells that have none.

    cells: all that were asked for, each once, in that order; keys: what their results are stored
    under. failures: those that have no result, and why. folder: where everything is stored; None
    for what is in memory only.
    """

    def __init__(
        self,
        cells: dict[str, Cell],
        failures: Sequence[Failure],
        store: Store,
        folder: Path | None = None,
    ) -> None:
        self.cells = tuple(cells.values())
        self.keys = tuple(cells)
        place = {id(cell): number for number, cell in enumerate(self.cells)}
        self.failures = tuple(sorted(failures, key=lambda failure: place[id(failure.cell)]))
        self.folder = folder
        self._keys = {id(cell): key for key, cell in cells.items()}
        self._store = store

    def __repr__(self) -> str:
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        return f"Results({len(self.cells):,} simulations{failed})"

    def __str__(self) -> str:
        """Return the tables of the command line."""
        from fairduel.experiments.comparison import text_tables

        return text_tables(self) or repr(self)

    def _repr_html_(self) -> str:
        """Return the means of the summary as tables, one for each environment and horizon."""
        from fairduel.experiments.comparison import html_tables

        return f"<p>{self!r}</p>{html_tables(self)}"

    # By cell

    def curve(self, cells: Sequence[Cell], metric: str) -> tuple[Ints, Floats]:
        """Return the checkpoints, and (cells, checkpoints) values; NaN for cells that failed."""
        one_of("metric", metric, CURVES)
        first = cells[0]
        rounds = first.checkpoints.of(first.rounds)
        values = np.full((len(cells), len(rounds)), np.nan)
        done, kept = self._read(cells)
        if done:
            lengths, flat = _lists(kept[metric])
            if (lengths != len(rounds)).any():
                raise InputError("these cells have different checkpoints: read them one by one.")
            values[done] = flat.reshape(len(done), -1)
        return rounds, values

    def final(self, cells: Sequence[Cell], metric: str) -> Floats:
        """Return (cells,) values after the last round, or a figure of the run like "identify"."""
        one_of("metric", metric, (*CURVES, *FIGURES))
        values = np.full(len(cells), np.nan)
        done, kept = self._read(cells)
        if done and metric in FIGURES:
            values[done] = kept[metric].to_numpy()
        elif done:
            lengths, flat = _lists(kept[metric])
            values[done] = flat[lengths.cumsum() - 1]
        return values

    def utilities(self, cells: Sequence[Cell]) -> Floats:
        """Return (cells, D) what every user received in total; NaN for cells that failed."""
        done, kept = self._read(cells)
        if not done:
            return np.full((len(cells), 1), np.nan)
        lengths, flat = _lists(kept["utilities"])
        if (lengths != lengths[0]).any():
            raise InputError("these cells have different numbers of users: read them one by one.")
        values = np.full((len(cells), lengths[0]), np.nan)
        values[done] = flat.reshape(len(done), -1)
        return values

    def _read(self, cells: Sequence[Cell]) -> tuple[list[int], Any]:
        """Return which of the cells have results, and those results."""
        keys = [self._key(cell) for cell in cells]
        done = [place for place, key in enumerate(keys) if key in self._store]
        return done, self._store.read([keys[place] for place in done])

    def _key(self, cell: Cell) -> str:
        """Return the key of a cell: of another object with the same content too."""
        if id(cell) not in self._keys:
            from fairduel.experiments.keys import key_of

            return key_of(cell)
        return self._keys[id(cell)]

    # By label

    @cached_property
    def settings(self) -> dict[Setting, Players]:
        """The cells of every environment and horizon, by learner."""
        found: dict[Setting, dict[str, list[Cell]]] = {}
        for cell in self.cells:
            players = found.setdefault((cell.environment_label, cell.rounds), {})
            players.setdefault(cell.learner_label, []).append(cell)
        return {
            setting: {label: tuple(cells) for label, cells in players.items()}
            for setting, players in found.items()
        }

    def summary(self) -> dict[Setting, dict[str, Summary]]:
        """Return how every learner did after the last round, by environment and horizon."""
        from fairduel.experiments.comparison import summaries

        found = {setting: summaries(self, each) for setting, each in self.settings.items()}
        return {setting: by_learner for setting, by_learner in found.items() if by_learner}

    def plot(self) -> Figure:
        """Draw regret and utilities; with several settings, the regret in a panel for each."""
        from fairduel.experiments.comparison import picture

        return picture(self)

    def report(self, folder: str | Path, command: str = "") -> Path:
        """Write report.html, report.md and their pictures; return the path of the page.

        ``command`` says in the report how to reproduce it.
        """
        from fairduel.experiments.comparison import write

        return write(self, Path(folder), command)

    # As tables

    @cached_property
    def rows(self) -> Any:
        """A row for each cell and checkpoint, with all metrics, as a pyarrow Table.

        ``horizon`` is the last round of the cell, ``rounds`` that of the row.
        """
        from fairduel.experiments.tables import rows

        return rows(self)

    @cached_property
    def runs(self) -> Any:
        """A row for each cell: best welfare, rounds by phase, seconds; a pyarrow Table."""
        from fairduel.experiments.tables import runs

        return runs(self)

    def records(self, cells: Sequence[Cell]) -> tuple[list[Cell], Any]:
        """Return those of the cells that have results, and their records as a pyarrow Table."""
        done, kept = self._read(cells)
        return [cells[place] for place in done], kept


def _lists(column: Any) -> tuple[Ints, Floats]:
    """Return the lengths of the lists of a column, and all their values."""
    lists = column.combine_chunks()
    return np.diff(lists.offsets.to_numpy()), np.asarray(lists.flatten().to_numpy())
