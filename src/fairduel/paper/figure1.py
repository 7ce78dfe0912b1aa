"""Figure 1: cumulative regret over time in six settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairduel.arrays import Floats
from fairduel.paper import figures
from fairduel.paper.claims import figure1_claims
from fairduel.paper.document import Picture, Section, Table, Text, interval
from fairduel.paper.experiment import LEARNERS, Outcomes, Players, all_of, lines, players
from fairduel.sweep import Cell

# (D, K) in the order of the paper's panels, and horizons that leave room for identification.
SIZES = ((5, 5), (5, 10), (5, 20), (10, 5), (10, 10), (20, 10))
HORIZONS = {5: 100_000, 10: 200_000, 20: 500_000}  # by K


@dataclass(frozen=True)
class Figure1:
    runs: int

    @cached_property
    def groups(self) -> dict[str, Players]:
        return {
            f"D = {users}, K = {arms}": players(
                f"paper:users={users},arms={arms},gap=0.1", HORIZONS[arms], self.runs
            )
            for users, arms in SIZES
        }

    @property
    def cells(self) -> Sequence[Cell]:
        return all_of(list(self.groups.values()))

    def section(self, outcomes: Outcomes) -> Section:
        panels = [
            figures.Panel(f"({letter}) {setting}", lines(outcomes, group, "regret"))
            for letter, (setting, group) in zip("abcdef", self.groups.items(), strict=True)
        ]
        blocks = (
            Text(
                "Settings as run, on instances made like the paper's (its own 30 seeds, gap 0.1). "
                "The paper does not print its horizons. Ours leave room for identification: "
                "T = 100,000 for K = 5, 200,000 for K = 10 and 500,000 for K = 20. The kink in "
                "each line is the end of identification."
            ),
            Picture(
                "figure1",
                f"Cumulative regret in Nash welfare, mean of {self.runs} runs; shaded: 95 % "
                "interval.",
                lambda: figures.grid(panels, columns=3),
            ),
            self._table(outcomes),
        )
        claims = figure1_claims(
            {
                setting: {name: _half_and_end(outcomes, cells) for name, cells in group.items()}
                for setting, group in self.groups.items()
            }
        )
        return Section("figure1", "Figure 1: regret on random preferences", blocks, claims)

    def _table(self, outcomes: Outcomes) -> Table:
        rows = tuple(
            (
                setting,
                f"{group['fair-etc'][0].rounds:,}",
                interval(outcomes.about(group["fair-etc"], "identify")),
                *(interval(outcomes.final(cells, "regret")) for cells in group.values()),
            )
            for setting, group in self.groups.items()
        )
        head = ("Setting", "T", "Rounds identifying", *LEARNERS.values())
        return Table(head, rows, "Regret after T rounds.")


def _half_and_end(outcomes: Outcomes, cells: tuple[Cell, ...]) -> tuple[Floats, Floats]:
    rounds, regret = outcomes.curve(cells, "regret")
    half = int(np.searchsorted(rounds, rounds[-1] / 2))
    return regret[:, half], regret[:, -1]
