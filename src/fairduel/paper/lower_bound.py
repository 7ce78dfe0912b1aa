"""Theorem 4.1: regret on the hard instances of its proof, where all winners are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments import Hard
from fairduel.environments.hard import HARD_C, HARD_EPSILON_MOST
from fairduel.experiments import Cell, Checkpoints, Results
from fairduel.learners.catalogue import by_name
from fairduel.paper.experiment import FAIR, LEARNERS, Cells, cells_of
from fairduel.report import figures
from fairduel.report.criterion import more
from fairduel.report.document import Claim, Picture, Section, Table, Text
from fairduel.report.numbers import interval, number
from fairduel.report.statistics import average, known

VOI = "fair-voi"  # plays there too, beyond the paper
LABELS = LEARNERS | {VOI: "Fair-VOI"}
SQUARES = (4, 8)  # D = K, for the slope in T
HORIZONS = tuple(10**power for power in range(3, 9))
EPSILONS = (0.01, 0.001)  # besides the proof's, which falls with T
SIDES = (4, 6, 10, 16)  # min(K, D), for the slope in it
SIDE_ROUNDS = 10**6
# Three ways to let M = min(K, D) grow; by name, D and K for each M.
WAYS: dict[str, Callable[[int], tuple[int, int]]] = {
    "D = K = M": lambda side: (side, side),
    f"D = M, K = {SIDES[-1]}": lambda side: (side, SIDES[-1]),
    f"K = M, D = {SIDES[-1]}": lambda side: (SIDES[-1], side),
}
CHECKPOINTS = Checkpoints(10, "log")


@dataclass(frozen=True)
class Setting:
    """Hard instances for a horizon; epsilon None is the proof's."""

    users: int
    arms: int
    rounds: int
    epsilon: float | None = None

    @property
    def winners(self) -> int:
        return min(self.users, self.arms)

    def cells(self, learner: str, runs: int) -> Cells:
        """Return runs on I^1, I^2, ..., which the bound is a mean over.

        The learner knows the winners.
        """
        return _cells(self, learner, runs)

    @property
    def bound(self) -> float:
        """The proof's: epsilon T / 2 - T^-2 up to T0 = M / (2304 epsilon^3), and no less later."""
        worst = HARD_C * math.cbrt(self.winners / (2304 * self.rounds))
        epsilon = self.epsilon or min(worst, HARD_EPSILON_MOST)
        rounds = min(self.rounds, self.winners / (2304 * epsilon**3))
        return epsilon * rounds / 2 - float(self.rounds) ** -2

    @property
    def upper_rate(self) -> float:
        """The part of Theorems 4.2 and 4.3 that is not about identification."""
        size = self.users**2 * self.arms * self.winners * self.rounds**2
        return math.cbrt(size * math.log(self.users * self.arms * self.rounds))


@dataclass(frozen=True)
class Series:
    """Settings that differ in one thing, ``x``, and a learner that plays them."""

    learner: str
    x: tuple[int, ...]
    settings: tuple[Setting, ...]

    def regrets(self, results: Results, runs: int) -> Floats:
        """Return the (runs, settings) regrets after the last round."""
        return np.stack(
            [results.final(each.cells(self.learner, runs), "regret") for each in self.settings],
            axis=1,
        )

    def slope(self, values: Sequence[float] | Floats) -> float:
        """Return the slope of the values over x, on log-log axes, by least squares."""
        return float(np.polyfit(np.log(self.x), np.log(values), 1)[0])

    def slopes(self, results: Results, runs: int) -> Floats:
        """Return (runs,) slopes, NaN for runs that failed."""
        rows = self.regrets(results, runs)
        return np.array([math.nan if np.isnan(row).any() else self.slope(row) for row in rows])


@dataclass(frozen=True)
class LowerBound:
    """The fair learners on ``runs`` hard instances, over the horizon, epsilon and size."""

    runs: int

    @cached_property
    def over_time(self) -> dict[tuple[str, int], Series]:
        return {(learner, side): _over_time(learner, side) for side in SQUARES for learner in FAIR}

    @cached_property
    def over_epsilon(self) -> dict[tuple[str, float], Series]:
        return {
            (learner, epsilon): _over_time(learner, SQUARES[0], epsilon)
            for epsilon in EPSILONS
            for learner in FAIR
        }

    @cached_property
    def over_side(self) -> dict[tuple[str, str], Series]:
        return {
            (learner, way): Series(
                learner, SIDES, tuple(Setting(*sizes(side), SIDE_ROUNDS) for side in SIDES)
            )
            for way, sizes in WAYS.items()
            for learner in FAIR
        }

    @property
    def cells(self) -> Sequence[Cell]:
        groups = (self.over_time, self.over_epsilon, self.over_side)
        series = [each for group in groups for each in group.values()]
        return [
            cell
            for each in series
            for setting in each.settings
            for cell in setting.cells(each.learner, self.runs)
        ]

    def section(self, results: Results) -> Section:
        panels = self._panels(results)
        blocks = (
            Text(
                "The proof's instances I^1, I^2, ... with the arms in random order, every user's "
                "winner known to the learner, settings as written. The instance depends on the "
                f"horizon by ε = {HARD_C} (M / 2304 T)^(1/3), M = min(K, D), at most "
                f"{HARD_EPSILON_MOST}; each point is a horizon of its own. The lower bound drawn "
                "in has the proof's own constant: εT/2 − T^−2 (Case 1), and for a fixed ε no more "
                "than its value at T = M / 2304 ε³ (Case 2)."
            ),
            Picture(
                "lower-bound",
                f"Regret on the hard instances, mean of {self.runs} runs, and the lower bound; "
                "all axes are logarithmic. (a) the proof's ε; (b) other ε, D = K = 4; (c) "
                f"T = {SIDE_ROUNDS:,}, M growing in three ways.",
                lambda: figures.grid(panels, columns=3),
            ),
            self._slopes(results),
            Text(
                "The upper bounds of Theorems 4.2 and 4.3 have D^(2/3) K^(1/3) M^(1/3) where the "
                "lower bound has M^(1/3), and the paper leaves the gap open. "
                + self._words(results)
            ),
        )
        title = "Lower bound: the hard instances of Theorem 4.1"
        return Section("lower-bound", title, blocks, self._claims(results))

    def _panels(self, results: Results) -> list[figures.Panel]:
        time = [
            self._line(results, series, f"{LEARNERS[learner]}, D = K = {side}", style)
            for style, ((learner, side), series) in enumerate(self.over_time.items())
        ]
        time += [
            _bound(self.over_time["fair-etc", side], f"lower bound, D = K = {side}", style)
            for style, side in enumerate(SQUARES)
        ]
        epsilon = [
            self._line(results, series, f"{LEARNERS[learner]}, ε = {size}", style)
            for style, ((learner, size), series) in enumerate(self.over_epsilon.items())
        ]
        epsilon += [
            _bound(self.over_epsilon["fair-etc", size], f"lower bound, ε = {size}", style)
            for style, size in enumerate(EPSILONS)
        ]
        side = [
            self._line(results, series, f"{LEARNERS[learner]}, {way}", style)
            for style, ((learner, way), series) in enumerate(self.over_side.items())
        ]
        side.append(_bound(self.over_side["fair-etc", next(iter(WAYS))], "lower bound"))
        return [
            _panel("(a) over the horizon T", time, "T"),
            _panel("(b) over T, ε fixed", epsilon, "T"),
            _panel("(c) over M = min(K, D)", side, "M", tuple(map(float, SIDES))),
        ]

    def _line(self, results: Results, series: Series, label: str, style: int) -> figures.Line:
        regrets = series.regrets(results, self.runs)
        return figures.line_of_runs(label, np.array(series.x), regrets, style)

    def _slopes(self, results: Results) -> Table:
        rows = []
        for (learner, side), series in self.over_time.items():
            name = f"T from {series.x[0]:,} to {series.x[-1]:,}, D = K = {side}"
            rows.append((name, LEARNERS[learner], *self._slope(results, series), "0.6667"))
        for (learner, way), series in self.over_side.items():
            name = f"M from {SIDES[0]} to {SIDES[-1]}, {way}"
            rows.append((name, LEARNERS[learner], *self._slope(results, series), "0.3333"))
        head = ("Slope in", "Learner", "Measured", "Upper bound", "Lower bound")
        return Table(
            head,
            tuple(rows),
            "Slopes on log-log axes. That of the upper bound is of its part without "
            "identification, with its logarithm, over the same points.",
            names=2,
        )

    def _slope(self, results: Results, series: Series) -> tuple[str, str]:
        theory = series.slope([setting.upper_rate for setting in series.settings])
        return interval(series.slopes(results, self.runs)), number(theory)

    def _words(self, results: Results) -> str:
        """Say which bound the slopes in M are nearer to, and what other epsilons change."""
        upper = [
            abs(measured - series.slope([each.upper_rate for each in series.settings]))
            < abs(measured - 1 / 3)
            for series in self.over_side.values()
            for measured in [average(series.slopes(results, self.runs))]
            if not math.isnan(measured)
        ]
        said = f"Of the {len(upper)} slopes in M, {sum(upper)} are nearer to the upper bound's."
        if upper and all(upper):
            said += (
                " The learners explore as often as the upper bounds say, whether or not the "
                "instance needs it, and on these instances exploring is what costs."
            )
        ratios = [
            average(large) / average(small)
            for learner in FAIR
            for large, small in zip(
                *(
                    self.over_epsilon[learner, size].regrets(results, self.runs).T
                    for size in EPSILONS
                ),
                strict=True,
            )
        ]
        known_ratios = known(ratios)
        if known_ratios:
            said += (
                f" With ε = {EPSILONS[0]} regret is from {min(known_ratios):.2f} to "
                f"{max(known_ratios):.2f} times what it is with ε = {EPSILONS[1]} at the same T."
            )
        return said

    def _claims(self, results: Results) -> tuple[Claim, ...]:
        above = [
            more(
                f"{LEARNERS[learner]}, D = K = {side}, T = {setting.rounds:,}: regret − bound",
                results.final(setting.cells(learner, self.runs), "regret"),
                setting.bound,
            )
            for (learner, side), series in self.over_time.items()
            for setting in series.settings
        ]
        in_time = [
            more(
                f"{LEARNERS[learner]}, D = K = {side}: slope − 2/3",
                series.slopes(results, self.runs),
                2 / 3,
            )
            for (learner, side), series in self.over_time.items()
        ]
        in_side = [
            more(
                f"{LEARNERS[learner]}, {way}: slope − 1/3",
                series.slopes(results, self.runs),
                1 / 3,
            )
            for (learner, way), series in self.over_side.items()
        ]
        theorem = "“E[R_T] = Ω(T^(2/3) min(K, D)^(1/3))”: "
        return (
            Claim(
                "regret-above-lower-bound",
                "4.1",
                f"{theorem}no learner is below the bound.",
                tuple(above),
            ),
            Claim(
                "lower-bound-in-time",
                "4.1",
                f"{theorem}regret grows at least as T^(2/3).",
                tuple(in_time),
            ),
            Claim(
                "lower-bound-in-winners",
                "4.1",
                f"{theorem}regret grows at least as min(K, D)^(1/3).",
                tuple(in_side),
            ),
        )


@cache
def _cells(setting: Setting, name: str, runs: int) -> Cells:
    period = setting.winners // 2 + 1  # the environment takes I^0, I^1, ... in turn
    numbers = [run for run in range(2 * runs + 1) if run % period][:runs]
    environment = Hard(setting.users, setting.arms, setting.epsilon)
    cells: list[Cell] = []
    for run in numbers:
        winners = _winners(setting.users, setting.arms, run)
        told = by_name(name, winners=winners)
        label = f"{LABELS[name]}, winners known"
        cells += cells_of(told, label, environment, setting.rounds, [run], CHECKPOINTS)
    return tuple(cells)


@cache
def _winners(users: int, arms: int, run: int) -> tuple[int, ...]:
    """Return the winners of a run's instance: neither horizon nor epsilon changes them."""
    return tuple(Hard(users, arms).draw(run, HORIZONS[0], 0).winners.tolist())


def _over_time(learner: str, side: int, epsilon: float | None = None) -> Series:
    settings = tuple(Setting(side, side, rounds, epsilon) for rounds in HORIZONS)
    return Series(learner, HORIZONS, settings)


def _bound(series: Series, label: str, style: int = 0) -> figures.Line:
    bounds = np.array([setting.bound for setting in series.settings])
    return figures.Line(label, np.array(series.x), bounds, style=style, bound=True)


def _panel(
    title: str, lines: list[figures.Line], over: str, ticks: tuple[float, ...] = ()
) -> figures.Panel:
    return figures.Panel(
        title, tuple(lines), over, "regret", logarithmic=True, legend=True, ticks=ticks
    )
