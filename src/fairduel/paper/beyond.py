"""Beyond the paper: Fair-VOI in all of its settings, and at horizons that real groups have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairduel.arrays import Floats
from fairduel.paper import figures
from fairduel.paper.document import Block, Picture, Section, Table, Text, interval
from fairduel.paper.experiment import LEARNERS, Cells, Outcomes, Players, all_of
from fairduel.paper.figure1 import Figure1
from fairduel.paper.figure2 import Figure2
from fairduel.paper.figure3 import Figure3
from fairduel.paper.groups import Groups
from fairduel.sweep import Cell

VOI = "fair-voi"
SIZES = ((3, 5), (5, 10), (10, 10))  # D, K
HORIZONS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)

# At short horizons, the fair learners and the paper's simplest. The order is that of the styles.
SHORT = {
    "fair-etc": "Fair-ETC",
    "fair-eps": "Fair-ε-Greedy",
    "uniform": "Uniform-Over-Users",
    VOI: "Fair-VOI",
    f"{VOI}:anytime=true": "Fair-VOI, anytime",
}
STYLES = (0, 1, 4, 5, 6)


@dataclass(frozen=True)
class Beyond:
    runs: int
    sushi: Groups

    @cached_property
    def groups(self) -> dict[str, Players]:
        """The paper's five learners, as run, and Fair-VOI on the same instances."""
        sushi = Figure3(self.runs, self.sushi).players
        named = "Synthetic stand-in for Sushi" if self.sushi.missing else "Sushi"
        five = {
            **{f"Random, {setting}": g for setting, g in Figure1(self.runs).groups.items()},
            **{f"Clustered, ρ = {share}": g for share, g in Figure2(self.runs).groups.items()},
            **{f"{named}, D = {users}": g for users, g in sushi.items()},
        }
        return {setting: {**group, VOI: _same(group)} for setting, group in five.items()}

    @cached_property
    def short(self) -> dict[tuple[int, int], dict[str, dict[int, Cells]]]:
        """By size, learner and horizon."""
        return {
            size: {
                learner: {rounds: self._cells(size, learner, rounds) for rounds in HORIZONS}
                for learner in SHORT
            }
            for size in SIZES
        }

    @property
    def cells(self) -> Sequence[Cell]:
        short = [
            cell
            for by_learner in self.short.values()
            for by_horizon in by_learner.values()
            for cells in by_horizon.values()
            for cell in cells
        ]
        return [*all_of(list(self.groups.values())), *short]

    def section(self, outcomes: Outcomes) -> Section:
        shares = {
            size: {
                learner: np.stack([_shares(outcomes, cells) for cells in by_horizon.values()])
                for learner, by_horizon in by_learner.items()
            }
            for size, by_learner in self.short.items()
        }
        panels = [_panel(size, by_learner) for size, by_learner in shares.items()]
        blocks: tuple[Block, ...] = (
            Text(
                "Fair-VOI is not in the paper. It weighs at every decision what the answers would "
                "be worth over the rounds that remain against what asking costs, and keeps every "
                "answer. Here it plays the same instances as the paper's five learners, which are "
                "as run."
            ),
            self._settings_table(outcomes),
            Text(
                "At short horizons on random instances, gap 0.1, the paper's learners as written: "
                "regret as a share of the best welfare times T. 1 is to get nothing; what lies "
                "below is learned. The anytime form does not know T."
            ),
            Picture(
                "beyond",
                f"Regret as a share of what could be had, mean of {self.runs} runs for each T; "
                "shaded: 95 % interval.",
                lambda: figures.grid(panels, columns=3),
            ),
            *(self._short_table(size, by_learner) for size, by_learner in shares.items()),
        )
        return Section("beyond", "Beyond the paper: Fair-VOI", blocks)

    def _cells(self, size: tuple[int, int], learner: str, rounds: int) -> Cells:
        users, arms = size
        environment = f"random:users={users},arms={arms},gap=0.1"
        return tuple(
            Cell(environment, learner, rounds, run, checkpoints="linear:1")
            for run in range(self.runs)
        )

    def _settings_table(self, outcomes: Outcomes) -> Table:
        rows = tuple(
            (
                setting,
                f"{group[VOI][0].rounds:,}",
                *(interval(outcomes.final(cells, "regret")) for cells in group.values()),
            )
            for setting, group in self.groups.items()
        )
        head = ("Setting", "T", *LEARNERS.values(), "Fair-VOI")
        return Table(head, rows, "Regret after T rounds.")

    def _short_table(self, size: tuple[int, int], shares: dict[str, Floats]) -> Table:
        users, arms = size
        rows = tuple(
            (f"{rounds:,}", *(interval(shares[learner][place]) for learner in SHORT))
            for place, rounds in enumerate(HORIZONS)
        )
        return Table(("T", *SHORT.values()), rows, f"D = {users}, K = {arms}: share lost.")


def _same(group: Players) -> Cells:
    """Fair-VOI on the instances of the others."""
    return tuple(
        Cell(cell.environment, VOI, cell.rounds, cell.run, cell.seed)
        for cell in next(iter(group.values()))
    )


def _shares(outcomes: Outcomes, cells: Cells) -> Floats:
    """(runs,) what was lost of what could be had."""
    best = outcomes.about(cells, "best") * cells[0].rounds
    return np.asarray(outcomes.final(cells, "regret") / best)


def _panel(size: tuple[int, int], shares: dict[str, Floats]) -> figures.Panel:
    users, arms = size
    lines = tuple(
        figures.line_of_runs(SHORT[learner], np.array(HORIZONS), values.T, style)
        for style, (learner, values) in zip(STYLES, shares.items(), strict=True)
    )
    return figures.Panel(f"D = {users}, K = {arms}", lines, "T", "share lost", logarithmic=True)
