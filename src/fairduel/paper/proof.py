"""The steps of Theorem 4.1's proof (Appendix A.1), computed on the instances that it is about.

Nothing here is simulated. Every step says that one quantity is at least another for all policies,
sizes and epsilons; computed is the worst case over a grid of sizes and epsilons and many policies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from scipy.special import rel_entr

from fairduel._arrays import Floats
from fairduel.environments import hard_instance
from fairduel.report.criterion import fact
from fairduel.report.document import Claim, Finding, Verdict
from fairduel.report.numbers import number, signed
from fairduel.welfare import Nash

SIZES = ((4, 4), (4, 8), (8, 4), (6, 6), (10, 10))  # D, K
EPSILONS = (0.001, 0.01, 0.1, 0.199)
SHORT = (1, 10)  # horizons, which epsilon' depends on; with one round it is largest, 0.025
POLICIES = 300  # drawn for each instance
ROUNDING = 1e-9  # by which a quantity may miss another
KL_FACTOR = 6  # the divergence of an answer is at most this times epsilon squared
TOO_LARGE = 0.4  # an epsilon outside of the proof's (0, 0.2), as a control

# Learners that know all about the instances but which one it is ask this often.
HORIZONS = (10**3, 10**6)
QUESTIONS = (0, 1, 3, 10, 30, 100, 300, 1000)
SQUARES = (4, 6, 10, 16)


@dataclass(frozen=True)
class Hardness:
    """Instance I^m with arms in the proof's order: the good winners, b, the other bad ones."""

    users: int
    arms: int
    epsilon: float
    rounds: int
    wanted: int  # m; 0 for I^0

    @property
    def good(self) -> int:
        return min(self.users, self.arms) // 2

    @property
    def bad(self) -> range:
        return range(self.good, min(self.users, self.arms))

    @cached_property
    def preferences(self) -> Floats:
        made = hard_instance(self.users, self.arms, self.rounds, self.epsilon, self.wanted)
        return made.preferences

    @cached_property
    def epsilon_prime(self) -> float:
        return float(self.preferences[0, 0, 1]) - 0.5  # of a good winner against another

    @cached_property
    def scores(self) -> Floats:
        made = hard_instance(self.users, self.arms, self.rounds, self.epsilon, self.wanted)
        return made.scores

    @cached_property
    def best(self) -> float:
        return Nash().maximize(self.scores).value


def table_2(case: Hardness, epsilon: float | None = None) -> Floats:
    """Return the scores as the appendix tabulates them; another ``epsilon`` may be any."""
    epsilon = case.epsilon if epsilon is None else epsilon
    winners = min(case.users, case.arms)
    scores = np.zeros((case.users, case.arms))
    scores[:, : case.good] = 1 - 2 * case.epsilon_prime
    others = np.arange(case.good) != case.wanted - 1
    scores[case.good, : case.good][others] -= 2 * epsilon  # user r
    own = np.where(np.arange(case.users) < winners, np.arange(case.users), 0)
    scores[np.arange(case.users), own] = 1.0
    return scores


def cases(perturbed: bool) -> Iterator[Hardness]:
    """Return the I^m of the grid, or the I^0."""
    for (users, arms), epsilon, rounds in product(SIZES, EPSILONS, SHORT):
        last = min(users, arms) // 2
        for wanted in sorted({1, last}) if perturbed else (0,):
            yield Hardness(users, arms, epsilon, rounds, wanted)


@cache
def policies(arms: int) -> Floats:
    """Return policies of all kinds: spread out, nearly pure, and pure."""
    rng = np.random.default_rng(arms)
    third = POLICIES // 3
    spread, sparse = (rng.dirichlet(np.full(arms, size), third) for size in (1.0, 0.1))
    nearly = 0.99 * np.eye(arms)[rng.integers(0, arms, third)]
    return np.concatenate([spread, sparse, nearly + 0.01 * spread, np.eye(arms)])


def nash(played: Floats, scores: Floats) -> Floats:
    return np.asarray((played @ scores.T).prod(axis=-1))


# The steps. Each returns by how much it is met at the worst policy: at least 0 if it is true.


def remark_1(case: Hardness, scores: Floats) -> float:
    """Move the share of each bad winner to each good one but the wanted; return the least gain."""
    gains = []
    for bad, good in product(case.bad, range(case.good)):
        if good == case.wanted - 1:
            continue
        played = policies(case.arms)
        # A small share as well: what is lost and won is linear in it, and the rest quadratic.
        played = np.concatenate([played, 0.99 * played + 0.01 * np.eye(case.arms)[bad]])
        moved = played.copy()
        moved[:, good] += moved[:, bad]
        moved[:, bad] = 0.0
        gains.append((nash(moved, scores) - nash(played, scores)).min())
    return float(min(gains))


def remark_2(case: Hardness, part: float = 0.5) -> float:
    """Return the least of regret − (π(b)/2 − ε − Dε'), where one of the two policies is best."""
    played = policies(case.arms)
    regret = (case.best - nash(played, case.scores)) / 2
    promised = part * played[:, case.good] - case.epsilon - case.users * case.epsilon_prime
    return float((regret - promised).min())


def gap(case: Hardness, times: float = 2.0) -> float:
    """Return the least of regret − (2ε(1 − π(m)) − 2ε'D), where both policies are the same."""
    played = policies(case.arms)
    missed = 1.0 - played[:, case.wanted - 1]
    promised = times * case.epsilon * missed - 2 * case.epsilon_prime * case.users
    return float((case.best - nash(played, case.scores) - promised).min())


def divergence(first: Floats | float, second: Floats | float) -> Floats:
    """Return the Kullback-Leibler divergence of Bernoulli variables with these means."""
    p, q = np.asarray(first, np.float64), np.asarray(second, np.float64)
    return np.asarray(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def answers_apart(case: Hardness) -> tuple[float, bool]:
    """Return the divergence of an answer in I^0 and I^m, the larger of both ways round.

    And whether it is that of user r on the pair of b and a_m, and of no other user or pair.
    """
    plain = Hardness(case.users, case.arms, case.epsilon, case.rounds, 0).preferences
    apart = np.maximum(divergence(plain, case.preferences), divergence(case.preferences, plain))
    places = {tuple(place) for place in np.argwhere(apart > 0).tolist()}
    reference, wanted = case.good, case.wanted - 1
    return float(apart.max()), places == {
        (reference, reference, wanted),
        (reference, wanted, reference),
    }


def bound_from_answers(epsilon: float, rounds: int, good: int, learned: float) -> float:
    """Return the proof's bound on the mean regret over I^1, I^2, ..., without its term in ε'.

    ``learned`` is the sum over m of the divergences of all answers in I^0 and I^m. The proof goes
    on with 36 ε³T for it, which is the most a learner can afford.
    """
    return epsilon * rounds * (2 - 2 / good - 4 * math.sqrt(learned / (2 * good)))


def insider(case: Hardness, questions: int, told: bool = False) -> tuple[float, float]:
    """Return the exact regret of a learner that knows all but m, and what the proof says of it.

    It plays each good winner ``questions`` times against b, and commits to the one that user r
    chose most often, or to a_m if it was ``told``. Case: any I^m; they are alike if D = K.
    """
    from scipy.stats import binom

    good, rounds = case.good, case.rounds
    losing = 0.5 - case.epsilon_prime - case.epsilon
    counts = np.arange(questions + 1)
    wanted = binom.pmf(counts, questions, 0.5 - case.epsilon_prime)
    other, below = binom.pmf(counts, questions, losing), binom.cdf(counts - 1, questions, losing)
    ties = np.arange(good)[:, None]  # how many others have as many as the wanted one
    ways = np.array([math.comb(good - 1, tied) for tied in range(good)])[:, None]
    first = (ways * other**ties * below ** (good - 1 - ties) / (ties + 1)).sum(axis=0)
    found = 1.0 if told else float((wanted * first).sum())
    value = nash(np.eye(case.arms), case.scores)
    right, wrong = value[case.wanted - 1], value[case.wanted % good]
    asked = questions * good
    asking = asked * case.best - questions * (right + (good - 1) * wrong) / 2
    regret = asking + (rounds - asked) * (case.best - found * right - (1 - found) * wrong)
    learned = asked * answers_apart(case)[0]
    slack = 2 * case.epsilon_prime * case.users * rounds
    return float(regret), bound_from_answers(case.epsilon, rounds, good, learned) - slack


def _insiders() -> Iterator[tuple[Hardness, int]]:
    """Return who asks how often in the proof's own instances, as far as the bound says anything."""
    from fairduel.environments.hard import HARD_C

    for side, rounds, questions in product(SQUARES, HORIZONS, QUESTIONS):
        epsilon = HARD_C * math.cbrt(side / (2304 * rounds))
        if questions * (side // 2) <= rounds // 10:
            yield Hardness(side, side, epsilon, rounds, 1), questions


# The claims


def claims() -> tuple[Claim, ...]:
    """Judge the steps of the proof."""
    perturbed, plain = tuple(cases(perturbed=True)), tuple(cases(perturbed=False))
    return (
        _table(perturbed),
        _remark_1(perturbed),
        _remark_2(plain),
        _gap(perturbed),
        _divergence(perturbed),
        _information(tuple(_insiders())),
    )


def never_below(what: str, differences: Sequence[float] | Floats) -> Finding:
    """Judge whether one thing is never less than another."""
    worst = round(min(differences), 12)  # what is left of an equality is 0
    return fact(f"{what}: {signed(worst)} at the least", worst >= -ROUNDING)


def never_above(what: str, shares: Sequence[float] | Floats) -> Finding:
    """Judge whether nothing is more than the whole of what is allowed."""
    worst = max(shares)
    return fact(f"{what}: {number(worst)} at the most", worst <= 1 + ROUNDING)


def must_fail(finding: Finding) -> Finding:
    """Turn the check of something untrue into a control: it holds where the check fails."""
    return fact(finding.what, finding.verdict is Verdict.FAILS)


def _table(grid: Sequence[Hardness]) -> Claim:
    apart = [float(abs(case.scores - table_2(case)).max()) for case in grid]
    return Claim(
        "hard-scores",
        "A.1",
        "The scores under instance I^m, as the appendix tabulates them.",
        (
            fact(
                f"{len(grid)} instances, {_span()}: differ by {number(max(apart))} at the most",
                max(apart) <= ROUNDING,
            ),
        ),
    )


def _remark_1(grid: Sequence[Hardness]) -> Claim:
    too_large = [remark_1(case, table_2(case, TOO_LARGE)) for case in grid]
    what = "welfare with the share moved − before"
    return Claim(
        "remark-1",
        "A.1",
        "“NSW(π', s) ≥ NSW(π, s)”: what a policy gives to a bad winner is better given to a good "
        "one, even one that is not the best.",
        (never_below(what, [remark_1(case, case.scores) for case in grid]),),
        f"{POLICY_NOTE} Control: the same scores with an ε that the proof leaves out.",
        (must_fail(never_below(f"ε = {TOO_LARGE}, {what}", too_large)),),
    )


def _remark_2(grid: Sequence[Hardness]) -> Claim:
    what = "regret of a round − ({}π(b) − ε − Dε')"
    return Claim(
        "remark-2",
        "A.1",
        "“r_t ≥ ½ π^t(b) − ε − Dε'”: whoever plays b pays for it.",
        (never_below(what.format("½ "), [remark_2(case) for case in grid]),),
        "On I^0, where the remark is needed; the other policy of the round is taken as the best, "
        f"so that this is the least that b costs. {POLICY_NOTE} Control: π(b) without the half.",
        (must_fail(never_below(what.format(""), [remark_2(case, part=1.0) for case in grid])),),
    )


def _gap(grid: Sequence[Hardness]) -> Claim:
    what = "regret of a round − ({}ε(1 − π(m)) − 2ε'D)"
    return Claim(
        "regret-of-not-knowing",
        "A.1",
        "“r_t ≥ −2ε'D + ε(2 − π^t(m) − π'^t(m))”: whoever does not play a_m pays for it.",
        (never_below(what.format("2"), [gap(case) for case in grid]),),
        f"For π = π', and with it for any two. {POLICY_NOTE} Control: 3ε in place of 2ε.",
        (must_fail(never_below(what.format("3"), [gap(case, times=3.0) for case in grid])),),
    )


def _divergence(grid: Sequence[Hardness]) -> Claim:
    apart = [(case, *answers_apart(case)) for case in grid]
    squares = [value / case.epsilon**2 for case, value, _ in apart]
    limits = [1 / (0.25 - (case.epsilon + case.epsilon_prime) ** 2) for case in grid]
    shares = [square / limit for square, limit in zip(squares, limits, strict=True)]
    alone = sum(placed for _, _, placed in apart)
    return Claim(
        "kl-step",
        "A.1",
        "“D_KL(Ber(0.5+ε'), Ber(0.5+ε+ε')) ≤ ε² / (0.25 − (ε+ε')²) ≤ 6ε²”, and 0 unless b meets "
        "a_m: an answer says little about m.",
        (
            fact(
                f"answers in I^0 and I^m differ for user r on b and a_m, and nowhere else: in "
                f"{alone} of {len(grid)} instances",
                alone == len(grid),
            ),
            never_above("divergence / (ε² / (0.25 − (ε+ε')²))", shares),
            never_above("(ε² / (0.25 − (ε+ε')²)) / 6ε²", [limit / KL_FACTOR for limit in limits]),
        ),
        f"{_span()}. The proof needs the divergence of I^0 from I^m and prints that of I^m from "
        "I^0; taken is the larger of the two, so that it covers both. Control: ε² in place of 6ε².",
        (must_fail(never_above("divergence / ε²", squares)),),
    )


def _information(players: Sequence[tuple[Hardness, int]]) -> Claim:
    found = [insider(case, questions) for case, questions in players]
    cheats = [insider(case, questions, told=True) for case, questions in players]
    ratios, told = ([regret / bound for regret, bound in each] for each in (found, cheats))
    return Claim(
        "bound-from-answers",
        "A.1",
        "The proof's bound on mean regret, 2εT − 4εT √(Σ D_KL / 2|Ā|) − 2εT / |Ā| − 2ε'DT, holds "
        "for any learner, by what its own answers can tell of m.",
        (_at_least_once(f"{len(players)} learners", ratios),),
        f"D = K from {SQUARES[0]} to {SQUARES[-1]}, T = {HORIZONS[0]:,} and {HORIZONS[1]:,}, the "
        "proof's ε. The learners know everything but m: each good winner meets b from "
        f"{QUESTIONS[0]} to {QUESTIONS[-1]} times, and the best of them is played from then on. "
        "Their regret is computed exactly. Who asks nothing has just the regret of the bound, so "
        "any larger one would be found out. Control: they ask in the same way, and are told m.",
        (must_fail(_at_least_once("told m", told)),),
    )


POLICY_NOTE = (
    f"About {POLICIES} policies on each instance, random, sparse, nearly pure and pure; "
    "D and K from 4 to 10, ε from "
    f"{EPSILONS[0]} to {EPSILONS[-1]}."
)


def _span() -> str:
    return f"D and K from 4 to 10, ε from {EPSILONS[0]} to {EPSILONS[-1]}"


def _at_least_once(who: str, ratios: list[float]) -> Finding:
    return never_below(f"{who}, regret / bound − 1", [ratio - 1 for ratio in ratios])
