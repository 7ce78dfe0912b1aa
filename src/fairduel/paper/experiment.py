"""What the experiments share: cells in, what they gave out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.experiments import Cell
from fairduel.experiments.cells import checkpoints
from fairduel.report import metrics
from fairduel.report.document import Section
from fairduel.report.figures import Line, line_of_runs

if TYPE_CHECKING:
    from fairduel.experiments import Results

LEARNERS = {
    "fair-etc": "Fair-ETC",
    "fair-eps": "Fair-ε-Greedy",
    "utilitarian-etc": "Utilitarian-ETC",
    "utilitarian-eps": "Utilitarian-ε-Greedy",
    "uniform": "Uniform-Over-Users",
}
FAIR = ("fair-etc", "fair-eps")
UTILITARIAN = ("utilitarian-etc", "utilitarian-eps")
BASELINES = (*UTILITARIAN, "uniform")

# In the order of Table 1.
METRICS = {
    name: metrics.METRICS[name].label
    for name in ("regret", "minimum_welfare", "nash_welfare", "gini", "utilitarian_welfare")
}

Cells = tuple[Cell, ...]
Players = dict[str, Cells]  # by learner: a cell for each run

_KEYS = ("environment", "learner", "horizon", "run", "seed")


class Experiment(Protocol):
    """Which cells to run, and what to say about what they gave."""

    @property
    def cells(self) -> Sequence[Cell]: ...

    def section(self, outcomes: Outcomes) -> Section: ...


def players(environment: str, rounds: int, runs: int, preset: str = "as_run") -> Players:
    """All five learners of the paper on the same instances."""
    return {
        name: tuple(
            Cell(environment, f"{name}:preset={preset}", rounds, run) for run in range(runs)
        )
        for name in LEARNERS
    }


def all_of(groups: Sequence[Players]) -> list[Cell]:
    """The cells of several settings."""
    return [cell for group in groups for cells in group.values() for cell in cells]


def lines(outcomes: Outcomes, group: Players, metric: str) -> tuple[Line, ...]:
    """A metric over time, a line for each learner."""
    return tuple(
        line_of_runs(LEARNERS[name], *outcomes.curve(cells, metric), style)
        for style, (name, cells) in enumerate(group.items())
    )


class Outcomes:
    """What every cell gave; NaN for those that failed."""

    def __init__(self, results: Results) -> None:
        self._rows = _columns(results.rows)
        self._runs = _columns(results.runs)
        self._row_spans = _spans(self._rows)
        self._run_spans = _spans(self._runs)

    def curve(self, cells: Cells, metric: str) -> tuple[Ints, Floats]:
        """The checkpoints, and (runs, checkpoints) values of a metric."""
        spans = [self._row_spans.get(_key(cell)) for cell in cells]
        rounds = checkpoints(cells[0].checkpoints, cells[0].rounds)
        values = np.full((len(cells), len(rounds)), np.nan)
        for row, span in zip(values, spans, strict=True):
            if span is not None:
                row[:] = self._rows[metric][span]
        return rounds, values

    def final(self, cells: Cells, metric: str) -> Floats:
        """(runs,) values of a metric after the last round."""
        last: Floats = self.curve(cells, metric)[1][:, -1]
        return last

    def finals(self, group: Players) -> dict[str, dict[str, Floats]]:
        """The same by learner and metric."""
        return {
            name: {metric: self.final(cells, metric) for metric in METRICS}
            for name, cells in group.items()
        }

    def about(self, cells: Cells, column: str) -> Floats:
        """(runs,) a figure of the whole run: best, identify, explore, exploit, seconds."""
        spans = [self._run_spans.get(_key(cell)) for cell in cells]
        values = self._runs[column]
        return np.array([np.nan if span is None else values[span.start] for span in spans])


def _key(cell: Cell) -> tuple[str, str, int, int, int]:
    return cell.environment, cell.learner, cell.rounds, cell.run, cell.seed


def _columns(table: Any) -> dict[str, Any]:
    """A pyarrow table as arrays."""
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def _spans(columns: dict[str, Any]) -> dict[tuple[Any, ...], slice]:
    """Where the rows of each cell are: they stand together."""
    keys = [columns[name] for name in _KEYS]
    total = len(keys[0])
    if total == 0:
        return {}
    changes = np.zeros(total - 1, bool)
    for key in keys:
        changes |= key[1:] != key[:-1]
    starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
    ends = [*starts[1:], total]
    return {
        tuple(_plain(key[start]) for key in keys): slice(start, end)
        for start, end in zip(starts, ends, strict=True)
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
