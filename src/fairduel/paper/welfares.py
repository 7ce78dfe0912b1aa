"""Other welfares than Nash: the paper's conjecture about its lower bound, and what each one gives.

The paper's Section 4 conjectures that the lower bound holds for other welfares. What can be
computed is how fast the best of a family of learners must lose: explore-then-commit that plays
every pair L times, with the best L for every horizon, on the worst epsilon for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._files import AnyPath
from fairduel.data import DataMissing, Rankings, load_sushi, sushi_stand_in
from fairduel.environments import (
    Clustered,
    Environment,
    Random,
    RankedGroups,
    hard_instance,
)
from fairduel.environments.random import set_row
from fairduel.experiments import Cell, Results
from fairduel.instance import Instance
from fairduel.report import figures
from fairduel.report.criterion import more
from fairduel.report.document import Block, Claim, Finding, Picture, Section, Table, Text
from fairduel.report.numbers import interval
from fairduel.scorings import SCORINGS
from fairduel.simulation.metrics import gini, price_of_fairness
from fairduel.welfare import Egalitarian, GeneralizedGini, Nash, PowerMean, Utilitarian, Welfare

# From the one that looks at the sum alone to the one that looks at the worst off alone.
WELFARES: dict[str, Welfare] = {
    "Utilitarian": Utilitarian(),
    "Gini, δ = 2": GeneralizedGini(delta=2.0),
    "p = 0.5": PowerMean(0.5),
    "Nash, product": Nash(),
    "Nash, geometric mean": PowerMean(0.0),
    "p = −1": PowerMean(-1.0),
    "p = −10": PowerMean(-10.0),
    "Egalitarian": Egalitarian(),
}
GEOMETRIC = "Nash, geometric mean"  # has the same best policies as the product
# Of lines; there are seven colours, and the two of Nash are never far apart.
STYLES = {name: number for number, name in enumerate(sorted(WELFARES, key=GEOMETRIC.__eq__))}
P_MEANS = ("Utilitarian", "p = 0.5", GEOMETRIC, "p = −1", "p = −10", "Egalitarian")
CONJECTURED = tuple(name for name in WELFARES if name != "Utilitarian")

SIDE = 8  # D = K
HORIZONS = tuple(10**power for power in range(5, 9))
MOST_EPSILON = 0.19
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of 0.19 (T / 10^4)^(-1/3), the epsilons
LENGTHS = 0.05 * 4.0 ** np.arange(-9, 5)  # of T^(2/3), the duels of a pair; at least one
BETTER = 0.8  # how surely good arms beat bad ones where Borda is hard
MIDWAY = 7 / 12  # between 1/2, as T^(1/2) has it, and 2/3
REPEATS = 4  # with other answers, in a run
SEED = 12


@dataclass(frozen=True)
class Hardness:
    """A family of hard instances, and by what arms are scored."""

    label: str
    scoring: str
    borda_hard: bool = False

    def instance(self, rounds: int, epsilon: float, run: int) -> Instance:
        wanted = 1 + run % (SIDE // 2)
        if self.borda_hard:
            return borda_hard_instance(SIDE, SIDE, epsilon, wanted, self.scoring)
        made = hard_instance(SIDE, SIDE, rounds, epsilon, wanted, seed=run)
        return made.scored_by(self.scoring)


PAPER = Hardness("the paper's, Condorcet scores", "condorcet")
BORDA = Hardness("Borda-hard, Borda scores", "borda", borda_hard=True)
CONTROL = Hardness("the paper's, Borda scores", "borda")


def borda_hard_instance(
    users: int, arms: int, epsilon: float, instance: int, scoring: str = "borda"
) -> Instance:
    """Return an instance on which Borda scores are hard to learn, after Saha, Koren and Mansour.

    The first half of the arms are good: they tie each other and beat each of the others at 0.8,
    arm number ``instance`` (from 1) at 0.8 + epsilon. So which is best is only to be seen in duels
    with bad arms, which cost welfare.
    """
    good, bad = np.arange(arms // 2), np.arange(arms // 2, arms)
    matrix = np.full((arms, arms), 0.5)
    for arm in good.tolist():
        set_row(matrix, arm, bad, BETTER + (epsilon if arm == instance - 1 else 0.0))
    return Instance(np.tile(matrix, (users, 1, 1)), scoring=scoring)


@dataclass(frozen=True)
class Welfares:
    """The conjecture and the price of each welfare, on ``runs`` instances of every kind.

    data: the Sushi file or its folder, as in ``fairduel.data.find_sushi``.
    """

    runs: int
    data: AnyPath | None = None

    @property
    def cells(self) -> Sequence[Cell]:
        return ()

    @cached_property
    def _people(self) -> tuple[Rankings, str]:
        """The rankings, and why they are synthetic, if they are."""
        try:
            return load_sushi(self.data), ""
        except DataMissing as error:
            return sushi_stand_in(), str(error)

    @property
    def missing(self) -> str:
        return self._people[1]

    def section(self, results: Results) -> Section:
        losses = {kind: least_regrets(kind, self.runs) for kind in (PAPER, BORDA, CONTROL)}
        given = {place: self._given(kind) for place, kind in self._places().items()}
        claims = (*_conjecture(losses), _price_of_equality(given))
        blocks = (*self._slope_blocks(losses), *self._price_blocks(given))
        return Section(
            "welfares", "Other welfares: the conjecture, and what each gives", blocks, claims
        )

    # The conjecture

    def _slope_blocks(self, losses: dict[Hardness, dict[str, Floats]]) -> tuple[Block, ...]:
        panels = [
            figures.Panel(kind.label, _lines(each), "T", "regret / T^(2/3)", logarithmic=True)
            for kind, each in losses.items()
        ]
        rows = tuple(
            (name, *(interval(slopes(losses[kind][name])) for kind in losses)) for name in WELFARES
        )
        head = ("Welfare", *(kind.label for kind in losses))
        return (
            Text(
                f"D = K = {SIDE}. Explore-then-commit plays every pair of arms L times, and then "
                "the best policy by the shares of duels won; under Condorcet scores it is told "
                "the winners. Shown is the regret in each welfare with the best L in hindsight "
                "against the worst ε for it, of "
                f"{len(LENGTHS)} L in proportion to T^(2/3) and {len(FACTORS)} ε in proportion to "
                "T^(−1/3), both over wide ranges. “Borda-hard”: half of the arms are good, tie "
                f"each other and beat the others at {BETTER:g}, one of them at {BETTER:g} + ε. All "
                "welfares hear the same answers."
            ),
            Picture(
                "welfares-regret",
                "Least regret of explore-then-commit, divided by T^(2/3): flat lines grow as the "
                f"lower bound does. Mean of {self.runs} runs; shaded: 95 % interval. The scales of "
                "welfares differ, and only slopes compare.",
                lambda: figures.grid(panels, columns=3),
            ),
            Table(
                head,
                rows,
                f"Slopes of the regret over T from {HORIZONS[0]:,} to {HORIZONS[-1]:,}, on "
                "log-log axes. The last column is for comparison: the paper's instances are "
                "made to be hard with Condorcet scores.",
            ),
        )

    # What each gives

    def _places(self) -> dict[str, Environment]:
        people, missing = self._people
        kind = "Synthetic stand-in for Sushi" if missing else "Sushi"
        return {
            "Random, D = K = 10": Random(),
            "Clustered, ρ = 0.7": Clustered(share=0.7),
            f"{kind}, 10 groups": RankedGroups(people, users=10),
        }

    def _given(self, place: Environment) -> dict[str, tuple[Floats, Floats]]:
        """Return, by welfare, utilities (runs, D) under its best policy, sorted, and prices."""
        instances = [place.draw(run, 1, 0) for run in range(self.runs)]
        given = {}
        for name, welfare in WELFARES.items():
            policies = [welfare.maximize(each.scores).policy for each in instances]
            utilities = [each.scores @ x for each, x in zip(instances, policies, strict=True)]
            prices = [
                float(price_of_fairness(each.scores, x))
                for each, x in zip(instances, policies, strict=True)
            ]
            given[name] = np.sort(np.array(utilities), axis=1), np.array(prices)
        return given

    def _price_blocks(
        self, given: dict[str, dict[str, tuple[Floats, Floats]]]
    ) -> tuple[Block, ...]:
        shown = [name for name in WELFARES if name != GEOMETRIC]
        panels = [
            _ranks(place, {name: got[name][0] for name in shown}) for place, got in given.items()
        ]
        rows = tuple(
            (
                place,
                name,
                interval(utilities.mean(axis=1)),
                interval(utilities[:, 0]),
                interval(utilities[:, -1]),
                interval(gini(utilities)),
                interval(prices),
            )
            for place, got in given.items()
            for name, (utilities, prices) in got.items()
            if name in shown
        )
        head = ("Setting", "Welfare", "Mean", "Worst off", "Best off", "Gini", "Price of fairness")
        return (
            Text(
                "What the best policy for each welfare gives, when all preferences are known: "
                "computed, not learned. 1 is one's own favourite all the time. The price of "
                "fairness is the share of the highest mean utility that is given up."
            ),
            Picture(
                "welfares-price",
                f"Who gets what under which notion of fairness, mean of {self.runs} instances; "
                "shaded: 95 % interval.",
                lambda: figures.grid(panels, columns=3),
            ),
            Table(head, rows, "Utilities under the best policy for each welfare.", names=2),
        )


def least_regrets(kind: Hardness, runs: int) -> dict[str, Floats]:
    """Return, by welfare, regrets (runs, horizons) with the best L against the worst epsilon."""
    by_horizon = [_regrets(kind, rounds, runs) for rounds in HORIZONS]
    return {
        name: np.stack([_least(tables[name]) for tables in by_horizon], axis=1) for name in WELFARES
    }


def _least(table: Floats) -> Floats:
    """Return (runs,) of a table (epsilons, lengths, runs): the least of means in the worst case."""
    means = table.mean(axis=2)
    length = int(means.max(axis=0).argmin())
    return np.asarray(table[int(means[:, length].argmax()), length])


def _regrets(kind: Hardness, rounds: int, runs: int) -> dict[str, Floats]:
    """Return tables (epsilons, lengths, runs) of regrets by welfare."""
    pairs = SIDE * (SIDE - 1) // 2
    lengths = np.unique(np.maximum(np.rint(LENGTHS * rounds ** (2 / 3)), 1)).astype(np.int64)
    lengths = lengths[lengths * pairs < 0.9 * rounds]
    scale = MOST_EPSILON * (rounds / 1e4) ** (-1 / 3)
    epsilons = np.unique(np.minimum(scale * np.array(FACTORS), MOST_EPSILON))
    tables = {name: np.empty((len(epsilons), len(lengths), runs)) for name in WELFARES}
    for place, epsilon in enumerate(epsilons.tolist()):
        for run in range(runs):
            instance = kind.instance(rounds, epsilon, run)
            rng = np.random.default_rng([SEED, rounds, place, run])
            estimates = _estimates(instance, np.repeat(lengths, REPEATS), rng)
            for name, welfare in WELFARES.items():
                lost = _lost(instance.scores, welfare, estimates, lengths, rounds)
                tables[name][place, :, run] = lost
    return tables


def _estimates(instance: Instance, lengths: Ints, rng: np.random.Generator) -> Floats:
    """Return scores (n, D, K) by the shares that are won of ``lengths`` duels of each pair."""
    i, j = np.triu_indices(SIDE, 1)
    seen = np.full((len(lengths), *instance.preferences.shape), 0.5)
    duels = lengths[:, None, None]
    seen[:, :, i, j] = rng.binomial(duels, instance.preferences[:, i, j]) / duels
    seen[:, :, j, i] = 1.0 - seen[:, :, i, j]
    if instance.scoring == "condorcet":
        scores = np.minimum(2.0 * seen[:, np.arange(SIDE), :, instance.winners], 1.0)
        scores = scores.transpose(1, 0, 2)
    else:
        scores = SCORINGS[instance.scoring].score(seen)
    return np.ascontiguousarray(np.maximum(scores, 1e-12))


def _lost(
    scores: Floats, welfare: Welfare, estimates: Floats, lengths: Ints, rounds: int
) -> Floats:
    """Return the regrets (lengths,): while every pair is played, and by the policy committed to."""
    best = welfare.maximize(scores).value
    alone = welfare.value(scores.T)
    i, j = np.triu_indices(SIDE, 1)
    a_turn = float((best - (alone[i] + alone[j]) / 2).sum())
    committed = welfare.value(welfare.follow(estimates) @ scores.T).reshape(-1, REPEATS)
    left = rounds - lengths * len(i)
    return np.asarray(lengths * a_turn + left * np.maximum(best - committed, 0.0).mean(axis=1))


def slopes(regrets: Floats) -> Floats:
    """Return the slope of the mean of regrets (runs, horizons), on log-log axes, as (runs,) values.

    Their mean is the slope, and their spread that of its error, by the jackknife: the slope of a
    mean has less noise than the mean of slopes.
    """
    runs, total = len(regrets), regrets.sum(axis=0)
    without = np.polyfit(np.log(HORIZONS), np.log(total - regrets).T, 1)[0]
    of_all = np.polyfit(np.log(HORIZONS), np.log(total), 1)[0]
    return np.asarray(runs * of_all - (runs - 1) * without)


def _lines(losses: dict[str, Floats]) -> tuple[figures.Line, ...]:
    """Return the regrets by welfare, divided by T^(2/3)."""
    horizons = np.array(HORIZONS, np.float64)
    return tuple(
        figures.line_of_runs(name, horizons, regrets / horizons ** (2 / 3), STYLES[name])
        for name, regrets in losses.items()
    )


def _ranks(place: str, given: dict[str, Floats]) -> figures.Panel:
    """Return a panel of what users get, from the worst off to the best off."""
    lines = tuple(
        figures.line_of_runs(name, np.arange(1, utilities.shape[1] + 1), utilities, STYLES[name])
        for name, utilities in given.items()
    )
    return figures.Panel(place, lines, "users, the worst off first", "utility")


def _conjecture(losses: dict[Hardness, dict[str, Floats]]) -> tuple[Claim, ...]:
    """Judge the slopes; where exploring tells all and costs little they must be lower."""
    easy = MIDWAY - slopes(losses[CONTROL]["Nash, product"])
    controls = (more(f"Nash, product, {CONTROL.label}: 7/12 − slope", easy, 0.0),)
    note = (
        f"Taken as: the slope over T from {HORIZONS[0]:,} to {HORIZONS[-1]:,} is above 7/12, "
        "midway between 1/2 and 2/3. That is no proof: it is about the best of one kind of "
        "learner, and about finite horizons. Control: the paper's instances with Borda scores, in "
        "the paper's welfare."
    )
    return (
        Claim(
            "conjecture-other-welfares",
            "4.1",
            "“We conjecture our lower bound method could be extended to any welfare function "
            "sensitive to a zeroed-out coordinate (e.g., Generalized Gini Index, p-means with "
            "p ≤ 1)”: regret grows as T^(2/3).",
            tuple(_steep(name, PAPER, losses) for name in CONJECTURED),
            note,
            controls,
        ),
        Claim(
            "conjecture-utilitarian",
            "4.1",
            "Not in the paper: regret grows as T^(2/3) in the utilitarian welfare too, which is "
            "not sensitive to a zeroed-out coordinate.",
            (_steep("Utilitarian", PAPER, losses), _steep("Utilitarian", BORDA, losses)),
            "What seems to matter is that the arm that tells something costs a constant. " + note,
            controls,
        ),
        Claim(
            "conjecture-borda",
            "4.1",
            "Not in the paper: regret grows as T^(2/3) with Borda scores too, on instances that "
            "are made for them.",
            tuple(_steep(name, BORDA, losses) for name in CONJECTURED),
            note,
            controls,
        ),
    )


def _steep(name: str, kind: Hardness, losses: dict[Hardness, dict[str, Floats]]) -> Finding:
    return more(f"{name}, {kind.label}: slope − 7/12", slopes(losses[kind][name]), MIDWAY)


def _price_of_equality(given: dict[str, dict[str, tuple[Floats, Floats]]]) -> Claim:
    """Judge whether, as p falls, the mean falls and the worst off get more."""
    findings = []
    for place, got in given.items():
        for higher, lower in pairwise(P_MEANS):
            findings.append(
                more(
                    f"{place}: mean, {higher} − {lower}",
                    got[higher][0].mean(axis=1),
                    got[lower][0].mean(axis=1),
                )
            )
            findings.append(
                more(
                    f"{place}: worst off, {lower} − {higher}",
                    got[lower][0][:, 0],
                    got[higher][0][:, 0],
                )
            )
    return Claim(
        "price-of-equality",
        "5.2",
        "“We observe a clear trade-off between aggregate efficiency and fairness.” Of the welfares "
        "themselves: as p falls, the mean utility falls and the worst off get more.",
        tuple(findings),
        "From one p-mean to the next, on the same instances. This is about the best policy of "
        "each, which no learner has to find.",
    )
