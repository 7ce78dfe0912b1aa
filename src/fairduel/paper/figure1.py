"""Figure 1: cumulative regret over time in six settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments import Paper
from fairduel.experiments import Cell, Results
from fairduel.paper.claims import LONGER, Rates, figure1_claims
from fairduel.paper.experiment import LEARNERS, Cells, Players, all_of, lines, players
from fairduel.report import figures
from fairduel.report.document import Picture, Section, Table, Text
from fairduel.report.numbers import interval, number
from fairduel.report.statistics import average

# (D, K) in the order of the paper's panels, and horizons that leave room for identification.
SIZES = ((5, 5), (5, 10), (5, 20), (10, 5), (10, 10), (20, 10))
HORIZONS = {5: 100_000, 10: 200_000, 20: 500_000}  # by K

# These explore for a time that depends on the horizon and then keep to one policy, so that their
# curves end as straight lines: how their regret grows shows at longer horizons only.
COMMITTING = ("fair-etc", "utilitarian-etc")


@dataclass(frozen=True)
class Figure1:
    runs: int

    @cached_property
    def groups(self) -> dict[str, Players]:
        return {
            f"D = {users}, K = {arms}": players(Paper(users, arms), HORIZONS[arms], self.runs)
            for users, arms in SIZES
        }

    @cached_property
    def longer(self) -> dict[str, Players]:
        """The runs of longer horizons, which cost next to nothing."""
        return {
            setting: {
                name: tuple(replace(cell, rounds=LONGER * cell.rounds) for cell in group[name])
                for name in COMMITTING
            }
            for setting, group in self.groups.items()
        }

    @property
    def cells(self) -> Sequence[Cell]:
        return all_of([*self.groups.values(), *self.longer.values()])

    def section(self, results: Results) -> Section:
        rates = {setting: self._rates(results, setting) for setting in self.groups}
        panels = [
            figures.Panel(f"({letter}) {setting}", lines(results, group, "regret"))
            for letter, (setting, group) in zip("abcdef", self.groups.items(), strict=True)
        ]
        blocks = (
            Text(
                "Settings as run, on instances made like the paper's (its own 30 seeds, gap 0.1). "
                "The paper does not print its horizons. Ours leave room for identification: "
                "T = 100,000 for K = 5, 200,000 for K = 10 and 500,000 for K = 20. The kink in "
                "each line is the end of identification, but for the ETC learners: there it is "
                "the end of exploration."
            ),
            Picture(
                "figure1",
                f"Cumulative regret in Nash welfare, mean of {self.runs} runs; shaded: 95 % "
                "interval.",
                lambda: figures.grid(panels, columns=3),
            ),
            self._table(results),
            _rate_table(rates),
        )
        regrets = {
            setting: {name: results.final(cells, "regret") for name, cells in group.items()}
            for setting, group in self.groups.items()
        }
        claims = figure1_claims(regrets, rates)
        return Section("figure1", "Figure 1: regret on random preferences", blocks, claims)

    def _rates(self, results: Results, setting: str) -> Rates:
        """What a round after identification costs, with fewer rounds and with more."""
        longer = self.longer[setting]
        return {
            name: (_rate(results, cells), _rate(results, longer[name]))
            if name in longer
            else (_rate(results, cells, 1 / LONGER), _rate(results, cells))
            for name, cells in self.groups[setting].items()
        }

    def _table(self, results: Results) -> Table:
        rows = tuple(
            (
                setting,
                f"{group['fair-etc'][0].rounds:,}",
                interval(results.final(group["fair-etc"], "identify")),
                *(interval(results.final(cells, "regret")) for cells in group.values()),
            )
            for setting, group in self.groups.items()
        )
        head = ("Setting", "T", "Rounds identifying", *LEARNERS.values())
        return Table(head, rows, "Regret after T rounds.")


def _rate(results: Results, cells: Cells, part: float = 1.0) -> Floats:
    """(runs,) mean regret of a round in this part of those after identification, of f*."""
    rounds, regret = results.curve(cells, "regret")
    begin = results.final(cells, "identify")
    count = part * (rounds[-1] - begin)
    count[count <= 0] = np.nan  # identification took all rounds
    x = np.append(0, rounds)
    lost = [
        np.diff(np.interp((first, last), x, np.append(0, row)))[0]
        for first, last, row in zip(begin, begin + count, regret, strict=True)
    ]
    return np.asarray(lost / count / results.final(cells, "best"))


def _rate_table(rates: dict[str, Rates]) -> Table:
    rows = tuple(
        (setting, *(_fall(*by_learner[name]) for name in LEARNERS))
        for setting, by_learner in rates.items()
    )
    caption = (
        f"Mean regret of a round after identification, as a share of f*: with fewer rounds → with "
        f"{LONGER} times as many, and the second over the first. Regret as T^(2/3) would give "
        "× 0.5, linear regret × 1. The ETC learners played other horizons for it, T and "
        f"{LONGER} T; what the others do does not depend on T once they have identified the "
        f"winners, so theirs are the first 1/{LONGER} of the rounds after that, and all of them."
    )
    return Table(("Setting", *LEARNERS.values()), rows, caption)


def _fall(fewer: Floats, more: Floats) -> str:
    first, last = average(fewer), average(more)
    ratio = last / first
    fall = "–" if math.isnan(ratio) else f"{ratio:.2f}"
    return f"{number(first)} → {number(last)} (× {fall})"
