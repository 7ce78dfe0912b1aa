"""Theorem 4.1: regret on the hard instances of its proof, where all winners are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments import Hard
from fairduel.environments.hard import HARD_C, HARD_EPSILON_MOST
from fairduel.experiments import Cell, Checkpoints, Results
from fairduel.learners import Learner
from fairduel.learners.catalogue import by_name
from fairduel.paper.controls import Told
from fairduel.paper.experiment import FAIR, LEARNERS, Cells, cells_of
from fairduel.paper.proof import bound_from_answers, divergence
from fairduel.report import figures
from fairduel.report.criterion import more
from fairduel.report.document import Claim, Picture, Section, Table, Text
from fairduel.report.numbers import interval, number
from fairduel.report.statistics import average, known

VOI = "fair-voi"  # not in the paper, but the best learner there is here
LABELS = LEARNERS | {VOI: "Fair-VOI"}
TOLD = "told"  # a control that no bound for learners covers: it plays a_m from the first round on
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
VOI_HORIZONS = (10**4, 10**6)  # with D = K = 4; each decision of Fair-VOI takes its time


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

    def cells(self, learner: str, runs: int, perturbed: bool = True) -> Cells:
        """Return runs on I^1, I^2, ..., which the bound is a mean over; or all on I^0.

        The learner knows the winners.
        """
        return _cells(self, learner, runs, perturbed)

    @property
    def hardness(self) -> float:
        """The epsilon of these instances."""
        worst = HARD_C * math.cbrt(self.winners / (2304 * self.rounds))
        return self.epsilon or min(worst, HARD_EPSILON_MOST)

    @property
    def bound(self) -> float:
        """The proof's: epsilon T / 2 - T^-2 up to T0 = M / (2304 epsilon^3), and no less later."""
        rounds = min(self.rounds, self.winners / (2304 * self.hardness**3))
        return self.hardness * rounds / 2 - float(self.rounds) ** -2

    def own_bound(self, asked: float) -> float:
        """Return the proof's bound for a learner that plays b ``asked`` times in I^0."""
        apart = float(divergence(0.5 + self.hardness, 0.5))  # epsilon' is nothing beside it
        good = self.winners // 2
        bound = bound_from_answers(self.hardness, self.rounds, good, asked * apart)
        return bound - float(self.rounds) ** -2

    def asked(self, utilities: Floats) -> Floats:
        """Return (runs,) how often b was played on I^0, on either side, from (runs, D) utilities.

        Half the score of either arm is what a user gets. Good arms give all users 1, but user r
        only 1 - 2 epsilon; b gives 1 to r; no other arm gives r or the first user anything.
        """
        first, reference = utilities[:, 0], utilities[:, self.winners // 2]
        return np.rint(2 * (reference - (1 - 2 * self.hardness) * first))

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

    @cached_property
    def best_learner(self) -> Series:
        settings = tuple(Setting(SQUARES[0], SQUARES[0], rounds) for rounds in VOI_HORIZONS)
        return Series(VOI, VOI_HORIZONS, settings)

    @property
    def cells(self) -> Sequence[Cell]:
        return [*self._series_cells(), *self._check_cells()]

    def _check_cells(self) -> Iterator[Cell]:
        """Return the control, and what tells how often b is played when there is no a_m."""
        for series in (*self.over_time.values(), self.best_learner):
            for setting in series.settings:
                yield from setting.cells(TOLD, self.runs)
        for setting in self.best_learner.settings:
            for learner in (*FAIR, VOI):
                yield from setting.cells(learner, self.runs)
                yield from setting.cells(learner, self.runs, perturbed=False)

    def _series_cells(self) -> list[Cell]:
        groups = (self.over_time, self.over_epsilon, self.over_side, {VOI: self.best_learner})
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
        over_time = [*self.over_time.items(), ((VOI, SQUARES[0]), self.best_learner)]
        for (learner, side), series in over_time:
            name = f"T from {series.x[0]:,} to {series.x[-1]:,}, D = K = {side}"
            rows.append((name, LABELS[learner], *self._slope(results, series), "0.6667"))
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
        return (self._above(results), self._own(results), *self._slope_claims(results))

    def _above(self, results: Results) -> Claim:
        """Judge regrets against the bound; what is told the answer must be found out."""
        by_learner = [*self.over_time.items(), ((VOI, SQUARES[0]), self.best_learner)]
        above = [
            more(
                f"{LABELS[learner]}, {_named(setting)}: regret − bound",
                results.final(setting.cells(learner, self.runs), "regret"),
                setting.bound,
            )
            for (learner, _), series in by_learner
            for setting in series.settings
        ]
        below = [
            more(
                f"Told a_m, {_named(setting)}: bound − regret",
                setting.bound - results.final(setting.cells(TOLD, self.runs), "regret"),
                0.0,
            )
            for side in SQUARES
            for setting in self.over_time["fair-etc", side].settings
        ]
        return Claim(
            "regret-above-lower-bound",
            "4.1",
            f"{THEOREM}no learner is below the bound.",
            tuple(above),
            "The theorem says this of every learner, and three that are not below cannot show it. "
            "The paper's two explore as often as their settings say, and lose many times the "
            "bound by that; Fair-VOI, which explores where it pays, is the nearest to it that "
            "plays here. What comes nearest of all, a learner that knows everything but m, is "
            "computed in the section on the steps of the proofs. Control: a learner that is told "
            "the arm a_m, which is against the rules, and is below.",
            tuple(below),
        )

    def _own(self, results: Results) -> Claim:
        """Judge regrets against what the learner's own questions leave open."""
        findings, ratios = [], {}
        for setting in self.best_learner.settings:
            for learner in (*FAIR, VOI):
                asked = self._asked(results, setting, learner)
                who = f"{LABELS[learner]}, {_named(setting)}"
                regrets = results.final(setting.cells(learner, self.runs), "regret")
                bound = setting.own_bound(asked)
                what = f"{who}: regret − bound for {number(asked)} plays of b"
                findings.append(more(what, regrets, bound))
                ratios[who] = average(regrets) / bound
        controls = [
            more(
                f"Told a_m, {_named(setting)}: bound for no play of b − regret",
                setting.own_bound(0.0) - results.final(setting.cells(TOLD, self.runs), "regret"),
                0.0,
            )
            for setting in self.best_learner.settings
        ]
        return Claim(
            "regret-above-own-bound",
            "A.1",
            "The proof's bound on mean regret, 2εT − 4εT √(Σ D_KL / 2|Ā|) − 2εT / |Ā|, holds for "
            "a learner by how often it plays b in I^0.",
            tuple(findings),
            "That is the step before the proof puts in the most that any learner can afford. It "
            "has a bound for each learner: the fewer its questions, the more it must lose. "
            f"{_nearest(ratios)}"
            "Control: a learner that is told a_m plays b never, and loses nothing.",
            tuple(controls),
        )

    def _asked(self, results: Results, setting: Setting, learner: str) -> float:
        """Return how often a learner plays b on I^0, in the mean."""
        utilities = results.utilities(setting.cells(learner, self.runs, perturbed=False))
        if np.isnan(utilities).all():
            return math.nan
        return average(setting.asked(utilities))

    def _slope_claims(self, results: Results) -> tuple[Claim, ...]:
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
        return (
            Claim(
                "lower-bound-in-time",
                "4.1",
                f"{THEOREM}regret grows at least as T^(2/3).",
                tuple(in_time),
                BY_DESIGN,
            ),
            Claim(
                "lower-bound-in-winners",
                "4.1",
                f"{THEOREM}regret grows at least as min(K, D)^(1/3).",
                tuple(in_side),
                BY_DESIGN,
            ),
        )


THEOREM = "“E[R_T] = Ω(T^(2/3) min(K, D)^(1/3))”: "
# What the slopes show, and what they do not.
BY_DESIGN = (
    "This shows that the simulations agree with the theorem, and does not test it: the paper's "
    "learners explore as often as the upper bounds say, whatever they hear, so their regret grows "
    "at least as fast on any instance where exploring costs."
)


def _nearest(ratios: Mapping[str, float]) -> str:
    """Say who comes nearest to a bound, if anything is known."""
    there = {who: ratio for who, ratio in ratios.items() if not math.isnan(ratio)}
    if not there:
        return ""
    who = min(there, key=lambda each: there[each])
    return f"The nearest to its bound is {who}, with {there[who]:.1f} times as much. "


def _named(setting: Setting) -> str:
    return f"D = K = {setting.users}, T = {setting.rounds:,}"


@cache
def _cells(setting: Setting, name: str, runs: int, perturbed: bool) -> Cells:
    period = setting.winners // 2 + 1  # the environment takes I^0, I^1, ... in turn
    numbers = [run for run in range(period * runs) if bool(run % period) is perturbed][:runs]
    environment = Hard(setting.users, setting.arms, setting.epsilon)
    cells: list[Cell] = []
    for run in numbers:
        learner, label = _player(setting, environment, name, run)
        cells += cells_of(learner, label, environment, setting.rounds, [run], CHECKPOINTS)
    return tuple(cells)


def _player(setting: Setting, environment: Hard, name: str, run: int) -> tuple[Learner[Any], str]:
    """Return a learner that knows the winners, or one that was told the best arm, and its label."""
    if name == TOLD:
        scores = environment.draw(run, setting.rounds, 0).scores
        return Told(int(scores.prod(axis=0).argmax()), setting.arms), "Told the best arm"
    winners = _winners(setting.users, setting.arms, run)
    return by_name(name, winners=winners), f"{LABELS[name]}, winners known"


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
