"""Beyond the paper: Fair-VOI in its settings, and at horizons that real groups have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments import Random
from fairduel.experiments import Cell, Checkpoints, Results
from fairduel.instance import Instance
from fairduel.learners import BradleyTerryThompson, FairVOI, Learner
from fairduel.learners.catalogue import by_name
from fairduel.paper import lower_bound
from fairduel.paper.experiment import (
    LEARNERS,
    TABLE_METRICS,
    Cells,
    Players,
    all_of,
    cells_of,
    lost_by_chance,
    shares_lost,
)
from fairduel.paper.figure1 import Figure1
from fairduel.paper.figure2 import Figure2
from fairduel.paper.figure3 import Figure3
from fairduel.paper.groups import Groups
from fairduel.report import figures
from fairduel.report.document import Block, Picture, Section, Table, Text
from fairduel.report.metrics import METRICS
from fairduel.report.numbers import interval, number
from fairduel.report.statistics import average
from fairduel.simulation import metrics
from fairduel.welfare import Nash

VOI, ANYTIME, PLAIN = lower_bound.VOI, "fair-voi-anytime", "bt-thompson"
SIX = lower_bound.LABELS  # the order is that of the styles
SEVEN = SIX | {PLAIN: "BT-Thompson"}  # where winners are not known: it cannot be told them
SHORT = SEVEN | {ANYTIME: "Fair-VOI, T unknown"}
# In tables Fair-VOI comes first: they are wider than many pages.
HARD_COLUMNS = {VOI: SIX[VOI]} | LEARNERS
COLUMNS = {name: SEVEN[name] for name in (VOI, PLAIN)} | LEARNERS
SHORT_COLUMNS = {name: SHORT[name] for name in (VOI, ANYTIME, PLAIN)} | LEARNERS
_BEYOND: dict[str, Learner[Any]] = {
    VOI: FairVOI(),
    ANYTIME: FairVOI(anytime=True),
    PLAIN: BradleyTerryThompson(),
}
RANDOM = "Random"
BEST = "Best policy"  # for Nash welfare, from the first round on

SIZES = ((3, 5), (5, 10), (10, 10))  # D, K
HORIZONS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
HARD_HORIZONS = (10**4, 10**5, 10**6, 10**7)
TABLE1 = "Random, D = 10, K = 10"
FAIRNESS = tuple(metric for metric in TABLE_METRICS if metric != "regret")
SHOWN = ("regret", "minimum_welfare", "gini")
HALF = 0.5

Shares = dict[str, Floats]  # by learner: (horizons, runs)


@dataclass(frozen=True)
class Beyond:
    """Fair-VOI beside the paper's five learners and a plain one, on ``runs`` runs of everything."""

    runs: int
    sushi: Groups

    @cached_property
    def random(self) -> dict[str, Players]:
        """The settings of Figure 1, one of which is that of Table 1."""
        groups = Figure1(self.runs).groups
        return {f"Random, {setting}": _with_ours(group) for setting, group in groups.items()}

    @cached_property
    def fairness(self) -> dict[str, Players]:
        """The settings of Figures 2 and 3, which are about more than regret."""
        kind = "Synthetic stand-in for Sushi" if self.sushi.missing else "Sushi"
        people = Figure3(self.runs, self.sushi).players
        groups = {
            **{f"Clustered, ρ = {share}": g for share, g in Figure2(self.runs).groups.items()},
            **{f"{kind}, D = {users}": g for users, g in people.items()},
        }
        return {setting: _with_ours(group) for setting, group in groups.items()}

    @cached_property
    def hard(self) -> dict[lower_bound.Setting, Players]:
        """The instances of the lower bound, winners known."""
        settings = [
            lower_bound.Setting(side, side, rounds)
            for side in lower_bound.SQUARES
            for rounds in HARD_HORIZONS
        ]
        return {
            setting: {learner: setting.cells(learner, self.runs) for learner in SIX}
            for setting in settings
        }

    @cached_property
    def short(self) -> dict[tuple[int, int], dict[str, tuple[Cells, ...]]]:
        """By size and learner, cells for each horizon."""
        return {
            size: {
                learner: tuple(self._short_cells(size, learner, rounds) for rounds in HORIZONS)
                for learner in SHORT
            }
            for size in SIZES
        }

    @property
    def cells(self) -> Sequence[Cell]:
        groups = [*self.random.values(), *self.fairness.values(), *self.hard.values()]
        short = [
            cell
            for by_learner in self.short.values()
            for by_horizon in by_learner.values()
            for cells in by_horizon
            for cell in cells
        ]
        return [*all_of(groups), *short]

    def section(self, results: Results) -> Section:
        blocks = (
            Text(
                "Fair-VOI is not in the paper. It weighs at every decision what the answers would "
                "be worth over the rounds that remain against what asking costs, and keeps every "
                "answer. Here it plays what the paper's five learners play, with the same "
                "instances and seeds. So does BT-Thompson, plain Thompson sampling that takes "
                "people to be transitive, but where all know the winners: it cannot be told them."
            ),
            *self._regret_blocks(results),
            *self._fairness_blocks(results),
            *self._hard_blocks(results),
            *self._short_blocks(results),
        )
        return Section("beyond", "Beyond the paper: Fair-VOI", blocks)

    # Figures 1 to 3 and Table 1

    def _regret_blocks(self, results: Results) -> tuple[Block, ...]:
        groups = {**self.random, **self.fairness}
        finals = [_finals(results, group, "regret") for group in groups.values()]
        rows = tuple(
            (setting, f"{group[VOI][0].rounds:,}", *(interval(final[name]) for name in COLUMNS))
            for (setting, group), final in zip(groups.items(), finals, strict=True)
        )
        head = ("Setting", "T", *COLUMNS.values())
        return (
            Text(
                "In the settings of Table 1 and of Figures 1 to 3, the paper's learners as run. "
                + _times_less(finals)
            ),
            Table(head, rows, "Regret after T rounds."),
        )

    def _fairness_blocks(self, results: Results) -> tuple[Block, ...]:
        settings = {TABLE1: self.random[TABLE1], **self.fairness}
        best = {setting: _best_utilities(group[VOI]) for setting, group in settings.items()}
        panels = [
            figures.Panel(
                f"{METRICS[metric].label}: {setting}", _lines(results, group, metric, best[setting])
            )
            for setting, group in self.fairness.items()
            for metric in SHOWN
        ]
        rows = tuple(
            (
                setting,
                METRICS[metric].label,
                interval(getattr(metrics, metric)(group[VOI][0].rounds * best[setting])),
                *(interval(results.final(group[name], metric)) for name in COLUMNS),
            )
            for setting, group in settings.items()
            for metric in FAIRNESS
        )
        head = ("Setting", "Metric", BEST, *COLUMNS.values())
        return (
            Text(
                "What the users get, in the settings of Table 1 and of Figures 2 and 3. Less is "
                "better of the Gini coefficient, and more of the rest. Like Fair-ETC and "
                "Fair-ε-Greedy, Fair-VOI aims at the policy of highest Nash welfare and at none "
                "of the other metrics. What that policy gives from the first round on is drawn "
                "in, and exact. A learner can be better than it in minimum welfare or equality, "
                "for instance while it shows all arms alike, but it pays in Nash welfare."
            ),
            Picture(
                "beyond-fairness",
                f"Regret and fairness over time, mean of {self.runs} runs; shaded: 95 % interval.",
                lambda: figures.grid(panels, columns=len(SHOWN)),
            ),
            Table(head, rows, "After T rounds.", names=2),
        )

    # Theorem 4.1

    def _hard_blocks(self, results: Results) -> tuple[Block, ...]:
        finals = {
            setting: _finals(results, group, "regret") for setting, group in self.hard.items()
        }
        panels = [self._hard_panel(finals, side) for side in lower_bound.SQUARES]
        rows = tuple(
            (
                f"D = K = {setting.users}",
                f"{setting.rounds:,}",
                number(setting.bound / _rate(setting)),
                *(interval(final[name] / _rate(setting)) for name in HARD_COLUMNS),
            )
            for setting, final in finals.items()
        )
        head = ("Setting", "T", "Lower bound", *HARD_COLUMNS.values())
        return (
            Text(
                "On the hard instances of Theorem 4.1, every user's winner known to all learners, "
                "the paper's as written. The proof's ε falls with T, so no learner can have "
                "regret that grows more slowly than T^(2/3). " + _times_less(list(finals.values()))
            ),
            Picture(
                "beyond-hard",
                f"Regret on the hard instances, mean of {self.runs} runs; shaded: 95 % interval. "
                "Uniform-Over-Users plays the winners that are worth nothing to the others.",
                lambda: figures.grid(panels, columns=2),
            ),
            Table(head, rows, "Regret after T rounds, divided by T^(2/3)."),
        )

    def _hard_panel(
        self, finals: dict[lower_bound.Setting, dict[str, Floats]], side: int
    ) -> figures.Panel:
        settings = [setting for setting in finals if setting.users == side]
        rounds = np.array([setting.rounds for setting in settings])
        lines = [
            figures.line_of_runs(
                name, rounds, np.stack([finals[each][learner] for each in settings], axis=1), style
            )
            for style, (learner, name) in enumerate(SIX.items())
        ]
        bounds = np.array([setting.bound for setting in settings])
        lines.append(figures.Line("Lower bound", rounds, bounds, bound=True))
        title = f"D = K = {side}, winners known"
        return figures.Panel(title, tuple(lines), "T", "regret", logarithmic=True)

    # Short horizons

    def _short_blocks(self, results: Results) -> tuple[Block, ...]:
        shares = {
            size: {
                learner: np.stack([shares_lost(results, cells) for cells in by_horizon])
                for learner, by_horizon in by_learner.items()
            }
            for size, by_learner in self.short.items()
        }
        chance = {size: lost_by_chance(Random(*size), HORIZONS[0], self.runs) for size in SIZES}
        panels = [_short_panel(size, shares[size], chance[size]) for size in SIZES]
        return (
            Text(
                "At horizons that real groups have, on random instances with gap 0.1, the paper's "
                "learners as written: regret as a share of the best welfare times T. 1 is to get "
                "nothing at all. Random is the uniform policy for ever. The paper's learners "
                "identify all winners first, and lose about as much as Random for as long as that "
                "takes. " + _half_way(shares)
            ),
            Picture(
                "beyond",
                f"Regret as a share of what could be had, mean of {self.runs} runs for each T; "
                "shaded: 95 % interval.",
                lambda: figures.grid(panels, columns=3),
            ),
            *(_short_table(size, shares[size], chance[size]) for size in SIZES),
        )

    def _short_cells(self, size: tuple[int, int], name: str, rounds: int) -> Cells:
        environment = Random(*size)
        if name in _BEYOND:
            played, label = _BEYOND[name], SHORT[name]
        else:
            played, label = by_name(name, "as_written"), f"{SHORT[name]}, as written"
        return cells_of(played, label, environment, rounds, range(self.runs), Checkpoints(1))


def _with_ours(group: Players) -> Players:
    """Return the players with Fair-VOI and BT-Thompson added, on the same instances."""
    cells = next(iter(group.values()))
    ours = {
        name: tuple(
            replace(cell, learner=_BEYOND[name], learner_label=SEVEN[name]) for cell in cells
        )
        for name in (VOI, PLAIN)
    }
    return {**group, **ours}


def _finals(results: Results, group: Players, metric: str) -> dict[str, Floats]:
    return {learner: results.final(cells, metric) for learner, cells in group.items()}


def _rate(setting: lower_bound.Setting) -> float:
    return float(setting.rounds ** (2 / 3))


def _best_utilities(cells: Cells) -> Floats:
    """Return (runs, D) what each user gets in a round of the best policy."""
    return np.stack([_best_of(_instance(cell)) for cell in cells])


def _best_of(instance: Instance) -> Floats:
    return np.asarray(instance.scores @ Nash().maximize(instance.scores).policy)


def _instance(cell: Cell) -> Instance:
    return cell.environment.draw(cell.run, cell.rounds, cell.seed)


def _lines(results: Results, group: Players, metric: str, best: Floats) -> tuple[figures.Line, ...]:
    """Return the learners' means over time, and those of the best policy, which has no regret."""
    lines = tuple(
        figures.line_of_runs(SEVEN[learner], *results.curve(cells, metric), style)
        for style, (learner, cells) in enumerate(group.items())
    )
    if metric == "regret":
        return lines
    rounds = lines[0].x
    means = np.array([getattr(metrics, metric)(count * best).mean() for count in rounds])
    return (*lines, figures.Line(BEST, rounds, means, bound=True))


def _times_less(finals: Sequence[dict[str, Floats]]) -> str:
    """Compare Fair-VOI's mean regret with that of the best of the five in each setting."""
    means = [{learner: average(values) for learner, values in each.items()} for each in finals]
    if any(np.isnan(list(each.values())).any() for each in means):
        return "Some runs have no result, so nothing is said about all settings."
    ratios = [min(each[learner] for learner in LEARNERS) / each[VOI] for each in means]
    return (
        "The regret of the best of the five, whichever it is in a setting, is from "
        f"{min(ratios):.2g} to {max(ratios):.2g} times that of Fair-VOI."
    )


def _half_way(shares: dict[tuple[int, int], Shares]) -> str:
    """Say from which horizon on learners get half of the best welfare."""
    said = []
    for (users, arms), by_learner in shares.items():
        lost = {learner: [average(row) for row in by_learner[learner]] for learner in SIX}
        five = [min(each) for each in zip(*(lost[learner] for learner in LEARNERS), strict=True)]
        said.append(
            f"{_first_below(lost[VOI])} and {_first_below(five)} with D = {users}, K = {arms}"
        )
    return (
        "Of the horizons tried, the first from which on Fair-VOI and the best of the five get at "
        f"least half of what could be had are {'; '.join(said)}."
    )


def _first_below(means: Sequence[float]) -> str:
    """Return the first horizon from which on all means are below a half."""
    above = [place for place, mean in enumerate(means) if not mean < HALF]
    first = above[-1] + 1 if above else 0
    return f"{HORIZONS[first]:,}" if first < len(HORIZONS) else "none"


def _short_panel(size: tuple[int, int], shares: Shares, chance: Floats) -> figures.Panel:
    users, arms = size
    horizons = np.array(HORIZONS)
    lines = [
        figures.line_of_runs(SHORT[learner], horizons, values.T, style)
        for style, (learner, values) in enumerate(shares.items())
    ]
    flat = np.full(len(HORIZONS), average(chance))
    lines.append(figures.Line(RANDOM, horizons, flat, bound=True))
    title = f"D = {users}, K = {arms}"
    return figures.Panel(title, tuple(lines), "T", "share lost", logarithmic=True)


def _short_table(size: tuple[int, int], shares: Shares, chance: Floats) -> Table:
    users, arms = size
    rows = tuple(
        (
            f"{rounds:,}",
            interval(chance),
            *(interval(shares[name][place]) for name in SHORT_COLUMNS),
        )
        for place, rounds in enumerate(HORIZONS)
    )
    head = ("T", RANDOM, *SHORT_COLUMNS.values())
    return Table(head, rows, f"D = {users}, K = {arms}: share lost.")
