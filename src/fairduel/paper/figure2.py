"""Figure 2: a majority that agrees, and a minority that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fairduel.environments import Clustered
from fairduel.experiments import Cell, Results
from fairduel.paper.claims import figure2_claims
from fairduel.paper.experiment import (
    LEARNERS,
    TABLE_METRICS,
    Players,
    all_of,
    finals,
    lines,
    players,
)
from fairduel.report import figures
from fairduel.report.document import Picture, Section, Table, Text
from fairduel.report.metrics import METRICS
from fairduel.report.numbers import interval

SHARES = (0.5, 0.7)  # the paper's rho
ROUNDS = 200_000
SHOWN = ("minimum_welfare", "gini")
MORE = 20  # times as many instances are played for the claims


@dataclass(frozen=True)
class Figure2:
    """The five learners on clustered instances, for each share of the majority.

    runs: the number of instances that are shown; the claims are judged on ``MORE`` times as many.
    """

    runs: int

    @cached_property
    def groups(self) -> dict[float, Players]:
        return {
            share: {name: cells[: self.runs] for name, cells in group.items()}
            for share, group in self.judged.items()
        }

    @cached_property
    def judged(self) -> dict[float, Players]:
        return {
            share: players(Clustered(share=share), ROUNDS, MORE * self.runs) for share in SHARES
        }

    @property
    def cells(self) -> Sequence[Cell]:
        return all_of(list(self.judged.values()))

    def section(self, results: Results) -> Section:
        shown = [(share, metric) for share in SHARES for metric in SHOWN]
        panels = [
            figures.Panel(
                f"({letter}) {METRICS[metric].label}, ρ = {share}",
                lines(results, self.groups[share], metric),
            )
            for letter, (share, metric) in zip("abcd", shown, strict=True)
        ]
        rows = tuple(
            (
                f"ρ = {share}",
                METRICS[metric].label,
                *(interval(results.final(cells, metric)) for cells in self.groups[share].values()),
            )
            for share in SHARES
            for metric in TABLE_METRICS
        )
        blocks = (
            Text(
                f"D = K = 10, gap 0.1, T = {ROUNDS:,}, settings as run. A share ρ of the users "
                "has one common winner; the others have winners among the other arms and dislike "
                "it. The cluster has ⌈ρD⌉ users; the paper's instances, which it does not "
                f"publish, were other ones. Shown are {self.runs} instances for each ρ, as many as "
                f"in the paper's figures. The claims are judged on {MORE * self.runs}: with 30, "
                "what changes with ρ depends on which instances are drawn."
            ),
            Picture(
                "figure2",
                f"Fairness with a majority, mean of {self.runs} runs; shaded: 95 % interval.",
                lambda: figures.grid(panels, columns=2),
            ),
            Table(("Majority", "Metric", *LEARNERS.values()), rows, "After T rounds.", names=2),
        )
        by_share = {share: finals(results, group) for share, group in self.judged.items()}
        return Section(
            "figure2", "Figure 2: clustered preferences", blocks, figure2_claims(by_share)
        )
