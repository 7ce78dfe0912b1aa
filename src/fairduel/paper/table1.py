"""Table 1: five learners by five metrics, next to what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairduel.environments import Paper
from fairduel.experiments import Cell, Results
from fairduel.paper.claims import table1_claims
from fairduel.paper.comparisons import Finals
from fairduel.paper.experiment import LEARNERS, UTILITARIAN, Players, all_of, finals, players
from fairduel.paper.printed import DECIMALS, TABLE1
from fairduel.report.document import Block, Section, Table, Text, Verdict
from fairduel.report.metrics import METRICS, MORE_IS_BETTER
from fairduel.report.numbers import interval, number
from fairduel.report.statistics import Repeated, average, repeated

ENVIRONMENT = Paper()
ROUNDS = 200_000
PRESETS = ("as_run", "as_written")
PRINTED = [(metric, column) for metric, columns in TABLE1.items() for column in columns]
BETTER = "Utilitarian (better of the two)"
PHASES = {"identify": "identifying", "explore": "exploring"}
SEEDS = 4  # with which every instance is played, to measure what the luck of the runs does


@dataclass(frozen=True)
class Table1:
    """The five learners on ``runs`` of the paper's instances, as run and as written.

    Each is played with several seeds. What is shown are means over the runs with the first.
    """

    runs: int

    @cached_property
    def groups(self) -> dict[str, Players]:
        return {preset: groups[0] for preset, groups in self.seeds.items()}

    @cached_property
    def seeds(self) -> dict[str, list[Players]]:
        """By preset: the cells of every seed."""
        return {
            preset: [
                players(ENVIRONMENT, ROUNDS, self.runs, preset, seed=seed) for seed in range(SEEDS)
            ]
            for preset in PRESETS
        }

    @property
    def cells(self) -> Sequence[Cell]:
        return all_of([group for groups in self.seeds.values() for group in groups])

    def section(self, results: Results) -> Section:
        blocks: tuple[Block, ...] = (
            Text(
                f"K = D = 10, gap 0.1, the paper's own instances, {self.runs} runs, mean ± 1.96 "
                f"standard errors. The paper does not print its horizon; T = {ROUNDS:,} is what "
                "its numbers fit. Its utilitarian column has the better of the two utilitarian "
                "learners for each metric, and so has ours. There are two verdicts. The first is "
                "easy: a cell agrees where our mean is within the paper's own interval, which "
                "has the spread over instances in it. But the instances are the same here, so "
                "that only the luck of the runs can make a difference. The second asks for that. "
                f"In the claims each instance counts with its mean over {SEEDS} seeds."
            ),
            self._comparison(results),
            self._noise(results),
            self._phases(results),
            Text(self._reason(results)),
        )
        claims = table1_claims(self._finals(results))
        title = "Table 1: final performance on random preferences"
        return Section("table1", title, blocks, claims)

    def agreeing(self, results: Results, preset: str = "as_run") -> int:
        """Return how many of the 20 printed cells are within the paper's intervals."""
        return _count(self._verdict(results, preset, *cell) for cell in PRINTED)

    def agreeing_runs(self, results: Results, preset: str = "as_run") -> int:
        """Return how many of the 20 printed cells are as far off as the luck of runs brings."""
        return _count(judged(self._repeated(results, preset, *cell), *cell) for cell in PRINTED)

    def _finals(self, results: Results) -> Finals:
        """Return what the learners have as run: means over the seeds, a value for each instance."""
        by_seed = [finals(results, group) for group in self.seeds["as_run"]]
        return {
            name: {
                metric: np.mean([each[name][metric] for each in by_seed], axis=0) for metric in of
            }
            for name, of in by_seed[0].items()
        }

    def _comparison(self, results: Results) -> Table:
        rows = []
        for metric, columns in TABLE1.items():
            for column, (mean, half_width) in columns.items():
                row: list[str | Verdict] = [METRICS[metric].label, LEARNERS.get(column, BETTER)]
                row.append(f"{mean:,.10g} ± {half_width:,.10g}")  # as printed
                for preset in PRESETS:
                    row.append(self._value(results, preset, metric, column))
                    row.append(self._verdict(results, preset, metric, column))
                rows.append(tuple(row))
        head = ["Metric", "Learner", "Paper"]
        for preset in PRESETS:
            head += [f"Ours, {preset.replace('_', ' ')}", f"{preset.replace('_', ' ')}: verdict"]
        found = {preset: self.agreeing(results, preset) for preset in PRESETS}
        return Table(
            tuple(head),
            tuple(rows),
            f"The 20 printed cells, by the paper's intervals: {found['as_run']} agree as run, "
            f"{found['as_written']} as written.",
            names=2,
        )

    def _noise(self, results: Results) -> Table:
        """Return the table of the second verdict."""
        rows = []
        for metric, column in PRINTED:
            row: list[str | Verdict] = [METRICS[metric].label, LEARNERS.get(column, BETTER)]
            row.append(f"{TABLE1[metric][column][0]:,.10g}")
            for preset in PRESETS:
                ours = self._repeated(results, preset, metric, column)
                row += [*_described(ours, metric, column), judged(ours, metric, column)]
            rows.append(tuple(row))
        head = ["Metric", "Learner", "Paper"]
        for preset in PRESETS:
            words = preset.replace("_", " ")
            head += [f"Ours, {words} (noise)", "paper off by", f"{words}: verdict"]
        found = {preset: self.agreeing_runs(results, preset) for preset in PRESETS}
        return Table(
            tuple(head),
            tuple(rows),
            f"The same by the noise of the runs: {found['as_run']} agree as run, "
            f"{found['as_written']} as written. Ours are means over {SEEDS} seeds. In brackets, "
            f"measured over the seeds: the standard deviation of a mean over {self.runs} runs with "
            "one seed, such as the paper's. Off by: the paper's mean less ours, over the standard "
            "deviation of this difference, in which both have their noise. A cell agrees within "
            "the 95 % of Student's distribution (about ± 2) and the rounding of what is printed. "
            "So one of 20 cells differs by chance.",
            names=2,
        )

    def _repeated(self, results: Results, preset: str, metric: str, column: str) -> Repeated | None:
        name = self._chosen(results, preset, metric, column)
        return repeated(
            np.array([results.final(group[name], metric) for group in self.seeds[preset]])
        )

    def _value(self, results: Results, preset: str, metric: str, column: str) -> str:
        """Return the value of a column's learner; which of the two it is depends on the preset."""
        name = self._chosen(results, preset, metric, column)
        text = interval(results.final(self.groups[preset][name], metric))
        kind = LEARNERS[name].removeprefix("Utilitarian-")
        return f"{text} ({kind})" if column == "utilitarian" else text

    def _chosen(self, results: Results, preset: str, metric: str, column: str) -> str:
        """Return the learner behind a column of the paper's."""
        if column != "utilitarian":
            return column
        sign = 1 if MORE_IS_BETTER[metric] else -1
        group = self.groups[preset]
        means = {name: average(results.final(group[name], metric)) for name in UTILITARIAN}
        return max(
            means, key=lambda name: -math.inf if math.isnan(means[name]) else sign * means[name]
        )

    def _verdict(self, results: Results, preset: str, metric: str, column: str) -> Verdict:
        printed, half_width = TABLE1[metric][column]
        name = self._chosen(results, preset, metric, column)
        ours = average(results.final(self.groups[preset][name], metric))
        if math.isnan(ours):
            return Verdict.UNKNOWN
        return Verdict.AGREES if abs(ours - printed) <= half_width else Verdict.DIFFERS

    def _phases(self, results: Results) -> Table:
        rows = []
        for name, label in LEARNERS.items():
            row = [label]
            for preset in PRESETS:
                cells = self.groups[preset][name]
                row += [interval(results.final(cells, phase)) for phase in PHASES]
            rows.append(tuple(row))
        head = ["Learner"]
        for preset in PRESETS:
            head += [f"{phase}, {preset.replace('_', ' ')}" for phase in PHASES.values()]
        return Table(tuple(head), tuple(rows), "Rounds spent identifying winners, and exploring.")

    def _reason(self, results: Results) -> str:
        cells = {preset: self.groups[preset]["fair-etc"] for preset in PRESETS}
        spent = {
            (preset, phase): average(results.final(cells[preset], phase))
            for preset in PRESETS
            for phase in PHASES
        }
        best = average(results.final(cells["as_run"], "best"))
        rounds, regret = results.curve(cells["as_run"], "regret")
        cost = average(regret[:, 0]) / (best * int(rounds[0]))
        if math.isnan(sum(spent.values()) + cost):
            return "Why the two presets differ cannot be said: Fair-ETC has no results for both."
        return (
            "Why the two presets differ: as written, identification takes "
            f"{spent['as_written', 'identify']:,.0f} rounds instead of "
            f"{spent['as_run', 'identify']:,.0f}. The pseudo-code asks for an error 2D times as "
            "small, and a loser is out only for users who still compare both arms. Fair-ETC also "
            f"explores for {spent['as_written', 'explore']:,.0f} rounds instead of "
            f"{spent['as_run', 'explore']:,.0f}. A round of identification loses {cost:.0%} of "
            f"f*, the best Nash welfare, which is {best:.6f} on average; and for the "
            "other metrics it shows arms without regard to anybody, which serves equality."
        )


def judged(ours: Repeated | None, metric: str, column: str) -> Verdict:
    """Judge whether a printed mean is as far off ours as the luck of the runs may bring it."""
    if ours is None:
        return Verdict.UNKNOWN
    printed = TABLE1[metric][column][0]
    rounding = 0.5 * 10.0 ** -DECIMALS[metric]
    nearest = min(max(ours.mean, printed - rounding), printed + rounding)
    far = abs(ours.deviations(nearest)) if nearest != ours.mean else 0.0
    return Verdict.AGREES if far <= ours.limit() else Verdict.DIFFERS


def _described(ours: Repeated | None, metric: str, column: str) -> tuple[str, str]:
    """Return our mean with its noise, and by how many deviations the paper's is off."""
    if ours is None:
        return "–", "–"
    off = ours.deviations(TABLE1[metric][column][0])
    return f"{number(ours.mean)} ({number(ours.noise, ours.mean)})", f"{off:+.1f}".replace("-", "−")


def _count(verdicts: Iterable[Verdict]) -> int:
    return sum(verdict is Verdict.AGREES for verdict in verdicts)
