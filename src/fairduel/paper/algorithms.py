"""What Section 4 says of the two algorithms: their tournament, recovery, and solves.

The tournament errs with probability at most delta (Section 4.2, proof of Theorem 4.2).
Fair-epsilon-Greedy recovers from poor early estimates and Fair-ETC cannot; it pays with more
computations of the best policy (both Section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.environments import Fixed, Random
from fairduel.environments.random import set_row
from fairduel.experiments import Cell, Checkpoints, Results
from fairduel.instance import Instance
from fairduel.learners import FairEpsilonGreedy, FairETC, Learner
from fairduel.learners.tournament import Tournament
from fairduel.paper.controls import RASHNESS, RIGHT, WRONG, Examined, Rash
from fairduel.paper.experiment import LEARNERS, Cells, cells_of
from fairduel.report.criterion import fact, more, no_result, rarer
from fairduel.report.document import Claim, Finding, Section, Table, Text, Verdict
from fairduel.report.numbers import interval, number
from fairduel.simulation import simulate
from fairduel.welfare import Nash
from fairduel.welfare.solution import Solution

# The tournament
USERS, ARMS = 3, 4
GAPS = (0.02, 0.05)  # of every pair: instances are the harder the smaller it is
DELTA = 0.05
TOURNAMENTS = 10  # for each run
LONG_ENOUGH = 10**7  # rounds

AS_WRITTEN = "as written"
_TOURNAMENTS = {AS_WRITTEN: Tournament, "too rash": Rash}

# Recovery
POOR = 1e-9  # a constant in front of L with which Fair-ETC asks about every pair once
NEVER = 10**9  # explorations between two solutions, for the control
PLACE = Random(4, 6)
ROUNDS = 10**6
TENTHS = Checkpoints(10)
RECOVERED = 0.5  # a policy has recovered if it loses less than this share of what it lost

# Solves
SOLVE_ROUNDS = (10**3, 10**4, 10**5)
SOLVE_RUNS = 3
EPS = "fair-eps"
ETC = "fair-etc"


@dataclass(frozen=True)
class Algorithms:
    """Tournaments, learners with poor early estimates, and counts of solves."""

    runs: int

    @cached_property
    def tournaments(self) -> dict[tuple[float, str], Cells]:
        """By gap, and who plays: the tournament or the control."""
        return {
            (gap, who): cells_of(
                examined(gap, kind),
                f"Tournament, {who}",
                Fixed(close_instance(gap)),
                LONG_ENOUGH,
                range(TOURNAMENTS * self.runs),
                Checkpoints(1),
                f"Every pair at 1/2 ± {gap}",
            )
            for gap in GAPS
            for who, kind in _TOURNAMENTS.items()
        }

    @cached_property
    def recovery(self) -> dict[str, Cells]:
        """By learner: a cell for each run, every pair asked about once at first."""
        return {label: _recovering(label, self.runs) for label in _RECOVERING}

    @property
    def cells(self) -> Sequence[Cell]:
        groups = [*self.tournaments.values(), *self.recovery.values()]
        return [cell for cells in groups for cell in cells]

    def section(self, results: Results) -> Section:
        counts = count_solves()
        rates = {label: regret_of_a_round(results, cells) for label, cells in self.recovery.items()}
        blocks = (
            Text(
                "What Section 4 says of the algorithms besides their bounds. Tournaments: "
                f"D = {USERS}, K = {ARMS}, every pair at 1/2 ± a gap, δ = {DELTA}. Recovery: "
                f"random instances, D = {PLACE.users}, K = {PLACE.arms}, T = {ROUNDS:,}, winners "
                "known, and every pair asked about once before the first policy, so that early "
                "estimates are as poor as they can be."
            ),
            _recovery_table(rates),
            _solve_table(counts),
        )
        claims = (self._tournament(results), recovery_claim(rates), solves_claim(counts))
        return Section("algorithms", "The algorithms: what Section 4 says of them", blocks, claims)

    def _tournament(self, results: Results) -> Claim:
        findings = {
            key: mistakes(f"gap {key[0]}, {key[1]}", results, cells)
            for key, cells in self.tournaments.items()
        }
        return Claim(
            "tournament-error",
            "A.2",
            "“P(∃ d: â*_d ≠ a*_d) ≤ δ”: all winners are found but with probability δ.",
            tuple(each for (_, who), each in findings.items() if who == AS_WRITTEN),
            f"Mistaken tournaments, with Clopper and Pearson's 95 % interval; δ = {DELTA:.0%}. "
            "Tournaments that the horizon ends make no statement and don't count. Control: the "
            f"same with a δ of {RASHNESS} for each comparison, which is no probability.",
            tuple(
                fact(each.what, each.verdict is Verdict.FAILS) if each.runs else each
                for (_, who), each in findings.items()
                if who != AS_WRITTEN
            ),
        )


# The tournament


def close_instance(gap: float) -> Instance:
    """Return an instance in which every pair is at 1/2 ± gap, and users have their own winners."""
    tensor = np.full((USERS, ARMS, ARMS), 0.5)
    for user in range(USERS):
        order = np.roll(np.arange(ARMS), -user)  # best first
        for place, arm in enumerate(order[:-1].tolist()):
            set_row(tensor[user], arm, order[place + 1 :], 0.5 + gap)
    return Instance(tensor)


def examined(gap: float, kind: type[Tournament] = Tournament) -> Examined:
    """Return a tournament with the right answers, and Theorem 4.2's delta set to DELTA."""
    gap_guess = ARMS * math.log(ARMS / 2) / (2 * DELTA * LONG_ENOUGH)
    truth = tuple(close_instance(gap).winners.tolist())
    return Examined(truth, kind(gap_guess=gap_guess))


def mistakes(what: str, results: Results, cells: Cells) -> Finding:
    """Judge whether tournaments that ended are mistaken with probability below DELTA."""
    right, wrong = (results.final(cells, phase) > 0 for phase in (RIGHT, WRONG))
    return rarer(what, int(wrong.sum()), int((right | wrong).sum()), DELTA)


# Recovery

FROZEN = "Fair-ε-Greedy that never solves again"
_RECOVERING: dict[str, FairETC | FairEpsilonGreedy] = {
    LEARNERS[ETC]: FairETC(exploration=POOR),
    LEARNERS[EPS]: FairEpsilonGreedy(),
    FROZEN: FairEpsilonGreedy(solve_every=NEVER),
}
Rates = Mapping[str, Floats]  # by learner: (runs, 2) regret of a round, early and late


@cache
def _recovering(label: str, runs: int) -> Cells:
    cells: list[Cell] = []
    for run in range(runs):
        winners = tuple(PLACE.draw(run, ROUNDS, 0).winners.tolist())
        told = replace(_RECOVERING[label], winners=winners)
        name = f"{label}, every pair once, winners known"
        cells += cells_of(told, name, PLACE, ROUNDS, [run], TENTHS)
    return tuple(cells)


def regret_of_a_round(results: Results, cells: Cells) -> Floats:
    """Return (runs, 2) the mean regret of a round in the second and the last tenth, over f*."""
    rounds, regret = results.curve(cells, "regret")
    tenths = np.diff(regret, axis=1) / np.diff(rounds)
    return np.asarray(tenths[:, [0, -1]] / results.final(cells, "best")[:, None])


def recovery_claim(rates: Rates) -> Claim:
    """Judge who recovers from poor early estimates."""
    late = {label: by_time[:, 1] for label, by_time in rates.items()}
    etc, eps = LEARNERS[ETC], LEARNERS[EPS]
    what = f"regret of a round in the last tenth, {RECOVERED:g} × {etc} − "
    return Claim(
        "recovery",
        "4.3",
        "“[ETC] cannot recover from poor estimation once the exploitation phase starts. On the "
        "other hand, ... ε-greedy[...] can still recover from poor early estimates.”",
        (_stays(etc, rates[etc]), more(what + eps, RECOVERED * late[etc], late[eps])),
        "Both know the winners and have one answer for each pair before their first policy: "
        "Fair-ETC with L = 1, which is not the paper's L, and Fair-ε-Greedy as written. Recovered "
        f"is taken as: it loses less than {RECOVERED:g} times what that first policy does, its "
        "explorations included. Control: the same explorations, but the first policy for ever.",
        (
            more(
                f"regret of a round in the last tenth, {FROZEN} − {RECOVERED:g} × {etc}",
                late[FROZEN],
                RECOVERED * late[etc],
            ),
        ),
    )


def _stays(label: str, by_time: Floats) -> Finding:
    """Judge whether nothing changes between the second and the last tenth."""
    what = f"{label}: the regret of a round is the same in the second and the last tenth"
    known = by_time[~np.isnan(by_time).any(axis=1)]
    if not len(known):
        return no_result(what)
    return fact(what, bool(np.allclose(known[:, 0], known[:, 1], rtol=1e-6, atol=1e-9)))


def _recovery_table(rates: Rates) -> Table:
    rows = tuple((label, *(interval(each) for each in pair.T)) for label, pair in rates.items())
    return Table(
        ("Learner", "Second tenth", "Last tenth"),
        rows,
        "Regret of a round as a share of f*, after one answer for each pair.",
    )


# Solves


@dataclass(frozen=True)
class Counted(Nash):
    """The Nash welfare, and how many policies it was asked for.

    A subclass is not spared solutions that Nash can tell to be unneeded: all that are due count.
    """

    asked: list[int] = field(default_factory=list, compare=False)

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        self.asked.append(1)
        return super().maximize(scores, start)

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        self.asked.append(len(np.asarray(scores)))
        return super().follow(scores, start)


Counts = Mapping[str, Sequence[Sequence[int]]]  # by learner: for each T, a number for each run


@cache
def count_solves() -> Counts:
    """Count how often either algorithm, as written, computes the best policy."""
    kinds = {LEARNERS[ETC]: FairETC, LEARNERS[EPS]: FairEpsilonGreedy}
    return {
        label: [[solves(kind, rounds, run) for run in range(SOLVE_RUNS)] for rounds in SOLVE_ROUNDS]
        for label, kind in kinds.items()
    }


def solves(kind: Callable[..., Learner[Any]], rounds: int, run: int) -> int:
    """Return how many policies a learner with known winners computes over these rounds."""
    instance, welfare = PLACE.draw(run, rounds, 0), Counted()
    learner = kind(welfare=welfare, winners=tuple(instance.winners.tolist()))
    simulate(instance, rounds, learner, seed=run)
    return sum(welfare.asked)


def solves_claim(counts: Counts) -> Claim:
    """Judge who computes how many policies."""
    etc, eps = (counts[LEARNERS[name]] for name in (ETC, EPS))
    fewest = [min(each) for each in eps]
    share = max(max(each) / rounds for each, rounds in zip(eps, SOLVE_ROUNDS, strict=True))
    growth = np.polyfit(np.log(SOLVE_ROUNDS), np.log([np.mean(each) for each in eps]), 1)[0]
    return Claim(
        "solves",
        "4.3",
        "“[ETC] requires a single computation of the optimal policy”, and ε-greedy “requires more "
        "computation as the current estimated optimal policy is recomputed with each exploitation "
        "step ... at the cost of O(T) additional solves.”",
        (
            fact(
                f"Fair-ETC: {_range(etc)} in a run of {SOLVE_ROUNDS[0]:,} to "
                f"{SOLVE_ROUNDS[-1]:,} rounds",
                all(count == 1 for each in etc for count in each),
            ),
            fact(
                "Fair-ε-Greedy: "
                + ", ".join(
                    f"at least {count:,} in {rounds:,}"
                    for count, rounds in zip(fewest, SOLVE_ROUNDS, strict=True)
                ),
                all(a < b for a, b in pairwise([1, *fewest])),
            ),
            fact(f"Fair-ε-Greedy: at most {number(share)} a round", share <= 1),
        ),
        "Counted in simulations with known winners. Only explorations change the estimates, so "
        "between two of them the recomputed policy is the same, and here it is not computed: the "
        f"number grows like T^{growth:.2f}, and O(T) is more than is needed.",
    )


def _range(counts: Sequence[Sequence[int]]) -> str:
    flat = [count for each in counts for count in each]
    return f"{min(flat):,}" if min(flat) == max(flat) else f"{min(flat):,} to {max(flat):,}"


def _solve_table(counts: Counts) -> Table:
    rows = tuple(
        (label, *(f"{np.mean(each):,.0f}" for each in by_rounds))
        for label, by_rounds in counts.items()
    )
    head = ("Learner", *(f"T = {rounds:,}" for rounds in SOLVE_ROUNDS))
    return Table(head, rows, f"Computations of the best policy, mean of {SOLVE_RUNS} runs.")
