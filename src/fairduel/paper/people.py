"""Beyond the paper: learners on people, at the few rounds that groups of people have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel._files import AnyPath
from fairduel.data.sushi import DataMissing, find_sushi
from fairduel.environments import Environment
from fairduel.environments.people import families
from fairduel.experiments import Cell, Checkpoints, Results
from fairduel.learners import BradleyTerryThompson, FairETC, FairVOI, Learner
from fairduel.paper.experiment import Cells, cells_of, lost_by_chance, shares_lost
from fairduel.report import figures
from fairduel.report.criterion import more
from fairduel.report.document import Block, Picture, Section, Table, Text, Verdict
from fairduel.report.numbers import interval
from fairduel.report.statistics import average

HORIZONS = (20, 50, 100, 200, 500, 1_000, 2_000)
SEED = 5_000_000  # of instances that nothing was tuned on
VOI, ANYTIME, PLAIN, PAPERS = "Fair-VOI", "Fair-VOI, T unknown", "BT-Thompson", "Fair-ETC"
PLAYERS: dict[str, Learner[Any]] = {
    VOI: FairVOI(),
    ANYTIME: FairVOI(anytime=True),
    PLAIN: BradleyTerryThompson(),
    PAPERS: FairETC(),
}
RANDOM = "Random"

Shares = dict[str, Floats]  # by learner: (horizons, runs)


@dataclass(frozen=True)
class People:
    """Learners on families of people, ``runs`` instances of each, over the number of rounds."""

    runs: int
    data: AnyPath | None = None

    @cached_property
    def places(self) -> dict[str, Environment]:
        return families(self.data)

    @cached_property
    def missing(self) -> str:
        """Why there is no Sushi among them; "" if there is."""
        try:
            find_sushi(self.data)
        except DataMissing as error:
            return str(error)
        return ""

    @cached_property
    def groups(self) -> dict[str, dict[str, tuple[Cells, ...]]]:
        """By family and learner, cells for each horizon."""
        return {
            family: {
                label: tuple(self._cells(family, label, rounds) for rounds in HORIZONS)
                for label in PLAYERS
            }
            for family in self.places
        }

    def _cells(self, family: str, label: str, rounds: int) -> Cells:
        place, runs = self.places[family], range(self.runs)
        return cells_of(
            PLAYERS[label], label, place, rounds, runs, Checkpoints(1), family, seed=SEED
        )

    @property
    def cells(self) -> Sequence[Cell]:
        return [
            cell
            for by_learner in self.groups.values()
            for by_horizon in by_learner.values()
            for cells in by_horizon
            for cell in cells
        ]

    def section(self, results: Results) -> Section:
        shares = {family: _shares(results, group) for family, group in self.groups.items()}
        chance = {
            family: lost_by_chance(place, HORIZONS[0], self.runs, SEED)
            for family, place in self.places.items()
        }
        return Section("people", "Beyond the paper: people", self._blocks(shares, chance))

    def _blocks(self, shares: dict[str, Shares], chance: dict[str, Floats]) -> tuple[Block, ...]:
        panels = [_panel(family, shares[family], chance[family]) for family in shares]
        return (
            Text(
                "Real rankings, models of people, and the paper's random instances, with (arms, "
                "users) behind their names, at numbers of rounds that groups of people have. What "
                "is lost is a share of the best welfare times T; Random is the uniform policy for "
                "ever. BT-Thompson is plain Thompson sampling that takes people to be transitive: "
                "what does not beat it is not worth its lines. " + _summed_up(shares)
            ),
            Picture(
                "people",
                f"Share lost over T, mean of {self.runs} instances; shaded: 95 % interval.",
                lambda: figures.grid(panels, columns=3),
            ),
            Table(
                ("Family", "T", RANDOM, *PLAYERS),
                tuple(_rows(shares, chance)),
                "Share lost.",
                names=2,
            ),
            Table(
                (
                    "Family",
                    "T",
                    f"{VOI} / {PLAIN}",
                    "Is it less?",
                    f"{ANYTIME} / {PLAIN}",
                    "Is it?",
                ),
                tuple(_ratios(shares)),
                "Ratios of means, with the verdict on the differences, instance by instance.",
                names=2,
            ),
        )


def _shares(results: Results, group: dict[str, tuple[Cells, ...]]) -> Shares:
    return {
        label: np.stack([shares_lost(results, cells) for cells in by_horizon])
        for label, by_horizon in group.items()
    }


def _panel(family: str, shares: Shares, chance: Floats) -> figures.Panel:
    horizons = np.array(HORIZONS)
    lines = [
        figures.line_of_runs(label, horizons, values.T, style)
        for style, (label, values) in enumerate(shares.items())
    ]
    flat = np.full(len(HORIZONS), average(chance))
    lines.append(figures.Line(RANDOM, horizons, flat, bound=True))
    return figures.Panel(family, tuple(lines), "T", "share lost", logarithmic=True)


def _rows(shares: dict[str, Shares], chance: dict[str, Floats]) -> list[tuple[str, ...]]:
    return [
        (
            family,
            f"{rounds:,}",
            interval(chance[family]),
            *(interval(by_learner[label][place]) for label in PLAYERS),
        )
        for family, by_learner in shares.items()
        for place, rounds in enumerate(HORIZONS)
    ]


def _ratios(shares: dict[str, Shares]) -> list[tuple[str | Verdict, ...]]:
    """Return how much is lost as a multiple of what the plain baseline loses."""
    rows: list[tuple[str | Verdict, ...]] = []
    for family, by_learner in shares.items():
        for place, rounds in enumerate(HORIZONS):
            plain = by_learner[PLAIN][place]
            judged: list[str | Verdict] = []
            for label in (VOI, ANYTIME):
                own = by_learner[label][place]
                judged += [f"{average(own) / average(plain):.2f}", more("", plain, own).verdict]
            rows.append((family, f"{rounds:,}", *judged))
    return rows


def _summed_up(shares: dict[str, Shares]) -> str:
    """Say what the ratios are on the average."""
    said = []
    for label in (VOI, ANYTIME):
        logs = [
            np.log(average(by_learner[label][place]) / average(by_learner[PLAIN][place]))
            for by_learner in shares.values()
            for place in range(len(HORIZONS))
        ]
        said.append(f"{label} loses {np.exp(np.mean(logs)):.2f} times")
    return (
        f"Over all families and T, {' and '.join(said)} what BT-Thompson loses (geometric means)."
    )
