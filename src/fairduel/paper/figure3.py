"""Figure 3: groups of people who ranked ten kinds of sushi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairduel.environments import Fixed
from fairduel.experiments import Cell, Results
from fairduel.paper.comparisons import Finals
from fairduel.paper.experiment import (
    LEARNERS,
    TABLE_METRICS,
    Players,
    all_of,
    finals,
    lines,
    players,
)
from fairduel.paper.groups import Grouping, Groups
from fairduel.paper.sushi_claims import data_claims, figure3_claims, unanswered
from fairduel.report import figures
from fairduel.report.document import Block, Caution, Claim, Picture, Section, Table, Text
from fairduel.report.metrics import METRICS
from fairduel.report.numbers import interval
from fairduel.report.statistics import wilson_interval

ROUNDS = 200_000
MISSING = "the Sushi data are missing, and synthetic ones say nothing about it"


@dataclass(frozen=True)
class Figure3:
    """The five learners on ``runs`` runs of each grouping of people who rank alike."""

    runs: int
    groups: Groups

    @cached_property
    def players(self) -> dict[int, Players]:
        kind = "synthetic" if self.groups.missing else "Sushi"
        return {
            grouping.users: players(
                Fixed(grouping.instance), ROUNDS, self.runs, place=f"{kind}, D = {grouping.users}"
            )
            for grouping in self.groups.groupings
            if not grouping.without
        }

    @property
    def cells(self) -> Sequence[Cell]:
        return all_of(list(self.players.values()))

    def section(self, results: Results) -> Section:
        kind = "synthetic stand-in" if self.groups.missing else "Sushi"
        blocks: list[Block] = [Caution(_synthetic(self.groups.missing))] if kind != "Sushi" else []
        blocks += [
            Caution(_unplayable(grouping)) for grouping in self.groups.groupings if grouping.without
        ]
        blocks += [
            Text(
                f"K = 10, T = {ROUNDS:,} (the paper does not print it), settings as run. 5000 "
                "people are grouped by Spearman correlation of their rankings, average linkage; "
                "each group is a user. All runs play the same instance with other luck."
            ),
            *(self._picture(results, users, kind) for users in self.players),
            self._results(results),
            self._groupings(),
        ]
        claims = self._claims(results)
        if self.groups.missing:  # other data cannot decide what the paper says of its own
            claims = tuple(unanswered(claim, MISSING) for claim in claims)
        return Section("figure3", f"Figure 3: {kind}", tuple(blocks), claims)

    def _claims(self, results: Results) -> tuple[Claim, ...]:
        by_users: dict[int, Finals] = {
            grouping.users: _nothing(self.runs) for grouping in self.groups.groupings
        }
        by_users |= {users: finals(results, group) for users, group in self.players.items()}
        groupings = self.groups.groupings
        instability = "; ".join(_unstable(grouping) for grouping in groupings)
        return (
            *figure3_claims(by_users),
            *data_claims(
                {grouping.users: grouping.without for grouping in groupings},
                {grouping.users: _smallest_gap(grouping) for grouping in groupings},
                {grouping.users: (grouping.tied, grouping.clear) for grouping in groupings},
                f"Rows in other orders: {instability}.",
            ),
        )

    def _picture(self, results: Results, users: int, kind: str) -> Picture:
        order = ("regret", "minimum_welfare", "nash_welfare", "gini", "utilitarian_welfare")
        synthetic = bool(self.groups.missing)
        panels = [
            figures.Panel(
                f"({letter}) {METRICS[metric].label}, D = {users}" + ", synthetic" * synthetic,
                lines(results, self.players[users], metric),
            )
            for letter, metric in zip("abcde", order, strict=True)
        ]
        what = f"{kind[0].upper()}{kind[1:]}, D = {users}"
        caption = f"{what}: mean of {self.runs} runs; shaded: 95 % interval."
        name = f"figure3-{users}" + "-synthetic" * synthetic
        return Picture(name, caption, lambda: figures.grid(panels, columns=3))

    def _results(self, results: Results) -> Table:
        rows = tuple(
            (
                f"D = {users}",
                METRICS[metric].label,
                *(interval(results.final(cells, metric)) for cells in group.values()),
            )
            for users, group in self.players.items()
            for metric in TABLE_METRICS
        )
        return Table(("Groups", "Metric", *LEARNERS.values()), rows, "After T rounds.", names=2)

    def _groupings(self) -> Table:
        rows = tuple(
            (
                f"D = {grouping.users}",
                ", ".join(map(str, grouping.sizes)),
                f"`{grouping.digest[:16]}`{_same(grouping.as_paper)}",
                _share(grouping.all_winners, grouping.orders),
                _share(grouping.all_clear, grouping.orders),
                f"{grouping.agreement:.2f}",
            )
            for grouping in self.groups.groupings
        )
        head = (
            "Groups",
            "Sizes",
            "sha256 of the labels",
            "Every group has a winner",
            "Also before the projection",
            "Agreement (adjusted Rand)",
        )
        caption = (
            "The groups are not stable: only 166 different distances occur among 12.5 million "
            "pairs of people, so ties decide. The last three columns are from random orders of "
            "the rows, which ought to change nothing, with the 95 % interval (Wilson's) of the "
            "share of all orders. Before the projection, a share of exactly 1/2 is nobody's win."
        )
        return Table(head, rows, caption, names=3)


def _synthetic(missing: str) -> str:
    return (
        "These are synthetic data and not Sushi: rankings drawn from a mixture of Mallows models "
        "with the same shape (5000 people, ten items, tastes of very different sizes). What "
        f"comes out says nothing about the paper's Figure 3. The reason: {missing}"
    )


def _unplayable(grouping: Grouping) -> str:
    return (
        f"With D = {grouping.users} there is no Condorcet winner in "
        f"{' and in '.join(grouping.without)}, which Assumption 3.1 asks for, so nothing was "
        "played there and nothing can be said about it."
    )


def _nothing(runs: int) -> Finals:
    """Return the finals of runs that all failed."""
    return {name: dict.fromkeys(METRICS, np.full(runs, np.nan)) for name in LEARNERS}


def _same(as_paper: bool | None) -> str:
    return {None: "", True: " (the pinned ones)", False: " (NOT the pinned ones)"}[as_paper]


def _unstable(grouping: Grouping) -> str:
    return (
        f"with D = {grouping.users} every cluster has a winner in "
        f"{_share(grouping.all_winners, grouping.orders)} random orders, and in "
        f"{_share(grouping.all_clear, grouping.orders)} also before the projection"
    )


def _share(count: int, total: int) -> str:
    low, high = wilson_interval(count, total)
    return f"{count} of {total} ({low:.0%} to {high:.0%})"


def _smallest_gap(grouping: Grouping) -> float | None:
    """Return the smallest gap of the instance that is played, if there is one."""
    if grouping.without:
        return None
    preferences = grouping.instance.preferences
    pairs = np.triu_indices(preferences.shape[1], 1)
    return float(np.abs(preferences[:, *pairs] - 0.5).min())
