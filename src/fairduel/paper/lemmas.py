"""What the paper's proofs rest on, computed: its lemmas, the steps of Theorem 4.1, and fairness.

Nothing is simulated. The lemmas hold for all scores and policies; computed is the worst of many,
with a control each: the same for a bound that is too small, which must be found out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.data import sushi_stand_in, tree
from fairduel.environments import (
    clustered_instance,
    hard_instance,
    paper_instances,
    random_instance,
)
from fairduel.experiments import Cell, Results
from fairduel.paper import proof
from fairduel.paper.proof import must_fail, never_above, never_below
from fairduel.report.document import Claim, Section, Text
from fairduel.welfare import Nash, Utilitarian, Welfare

SIZES = ((1, 2), (2, 2), (5, 3), (10, 10), (20, 5))  # D, K
DRAWS = 2000  # score matrices of each size, for Lemma A.1
STEPS = (1.0, 0.1, 1e-3)  # how far apart two score matrices are

HOEFFDING_SIZES = ((1, 2), (2, 2), (4, 6), (10, 10))  # D, K
TIMES = (1, 3, 10, 30, 100, 300)  # t
MEANS = 12  # random scores for each of them

PEOPLE = 500  # of the stand-in for Sushi
INSTANCES = 30  # of each kind
DISAGREE = ("the paper's", "clustered")  # kinds in which the utilitarian policy leaves users out


@dataclass(frozen=True)
class Lemmas:
    """The claims that are computed; ``runs`` changes nothing."""

    runs: int

    @property
    def cells(self) -> Sequence[Cell]:
        return ()

    def section(self, results: Results) -> Section:
        blocks = (
            Text(
                "Computed, not simulated: each step of a proof says that something is never more "
                "than something else, and these are the worst of many cases. One case on the "
                "wrong side refutes the step; none, over grids and random draws, is no proof. A "
                "control puts a bound in the step that is too small, and has to be found out."
            ),
        )
        claims = (*proof.claims(), nash_lipschitz(), *concentration(), proportionality())
        return Section("lemmas", "The steps of the proofs, computed", blocks, claims)


# Lemma A.1


def nash_lipschitz(welfare: Welfare | None = None) -> Claim:
    """Judge Lemma A.1, of the Nash welfare or another."""
    shares = np.concatenate([_moved(users, arms, welfare or Nash()) for users, arms in SIZES])
    of_one = np.concatenate(
        [users * _moved(users, arms, welfare or Nash()) for users, arms in SIZES]
    )
    return Claim(
        "nash-lipschitz",
        "Lemma A.1",
        "“|NSW(π, s¹) − NSW(π, s²)| ≤ Σ_d Σ_i π(i) |s¹_d,i − s²_d,i|”",
        (never_above(f"change of welfare / bound, {len(shares):,} pairs of scores", shares),),
        "Scores uniform on [0, 1], or near 1, where the bound is nearly attained; the second "
        "differ from the first by up to 1, 0.1 and 0.001. Control: the mean over users in place "
        "of the sum.",
        (must_fail(never_above("change of welfare / (bound / D)", of_one)),),
    )


def _moved(users: int, arms: int, welfare: Welfare) -> Floats:
    """Return how much the welfare of random policies changes, over the lemma's bound."""
    rng = np.random.default_rng([users, arms])
    shares = []
    for step, floor in product(STEPS, (0.0, 0.99)):
        first = rng.uniform(floor, 1.0, (DRAWS, users, arms))
        second = np.clip(first + step * rng.uniform(-1.0, 1.0, first.shape), 0.0, 1.0)
        played = rng.dirichlet(np.full(arms, 0.5), DRAWS)[:, None, :]
        change = welfare.value((played * first).sum(-1)) - welfare.value((played * second).sum(-1))
        shares.append(abs(change) / (played * abs(first - second)).sum(axis=(1, 2)))
    return np.concatenate(shares)


# Lemma A.2, and the same step in the proof of Theorem 4.2


def concentration(narrower: float = 1.0) -> tuple[Claim, ...]:
    """Judge Lemma A.2 and the step of Theorem 4.2, with widths that many times as narrow."""
    note = (
        "The probability is that of a binomial, computed exactly, for scores of random instances, "
        "0, 1/2 and 1; D and K to 10, up to {} = {}. Control: a width half as wide."
    )
    sampled = "estimated scores of L answers each"
    return (
        Claim(
            "scores-concentrate",
            "Lemma A.2",
            "“P(∃ d, a: |s_d(a) − ŝ_d(a)| > 2 √(2 log(DKt) / n)) < 2 / (DKt)³”",
            (never_above("chance for some n ≤ t, d and a, at most / bound", _later(narrower)),),
            note.format("t", TIMES[-1]) + " The chances for all n are added up, as in the proof.",
            (must_fail(never_above("half as wide, chance / bound", _later(2 * narrower))),),
        ),
        Claim(
            "scores-concentrate-after-exploration",
            "4.2",
            "“P(∃ d, a: |ŝ_d(a) − s_d(a)| > 2 √(log(DKT) / L)) ≤ 2 / (DK T²)”",
            (never_above(f"{sampled}, chance / bound", _explored(narrower)),),
            note.format("L", TIMES[-1]) + " T is 10 L.",
            (must_fail(never_above("half as wide, chance / bound", _explored(2 * narrower))),),
        ),
    )


def _later(narrower: float) -> list[float]:
    """Return the chance that an estimate is off at some n up to t, over Lemma A.2's bound."""
    shares = []
    for (users, arms), t in product(HOEFFDING_SIZES, TIMES):
        size, counts = users * arms * t, np.arange(1, t + 1)
        width = np.sqrt(2 * math.log(size) / counts) / narrower
        off = max(off_by(mean, counts, width).sum() for mean in _means(users, arms))
        shares.append(users * arms * off * size**3 / 2)
    return shares


def _explored(narrower: float) -> list[float]:
    """Return the chance that an estimate is off after L answers, over Theorem 4.2's bound."""
    shares = []
    for (users, arms), length in product(HOEFFDING_SIZES, TIMES):
        rounds, counts = 10 * length, np.array([length])
        width = np.sqrt(math.log(users * arms * rounds) / counts) / narrower
        off = max(off_by(mean, counts, width).sum() for mean in _means(users, arms))
        shares.append(users * arms * off * users * arms * rounds**2 / 2)
    return shares


def off_by(mean: float, counts: Ints, width: Floats) -> Floats:
    """Return the chance that a share of ``counts`` answers is off its mean by more than this.

    The score is twice the share, so its width is twice as wide.
    """
    from scipy.stats import binom

    above = binom.sf(np.floor(counts * (mean + width)), counts, mean)
    below = binom.cdf(np.ceil(counts * (mean - width)) - 1, counts, mean)
    return np.asarray(above + below)


def _means(users: int, arms: int) -> list[float]:
    """Return how often arms beat winners: in a random instance, and at the ends and the middle."""
    scores = random_instance(users, arms).scores.ravel()
    return [0.0, 0.25, 0.5, *(scores[:MEANS] / 2).tolist()]


# Fairness of the Nash policy


def proportionality(welfare: Welfare | None = None) -> Claim:
    """Judge whether the best policy of a welfare, Nash by default, is proportional."""
    kinds = _instances()
    chosen = welfare or Nash()
    return Claim(
        "nash-proportional",
        "3.3",
        "“... the NSW function was shown to satisfy some fairness metrics, such as ... "
        "proportionality”: every user gets at least 1/D of what its best arm gives.",
        tuple(
            never_below(f"{kind}, D × the least share − 1", _shares(chosen, matrices))
            for kind, matrices in kinds.items()
        ),
        f"Of the policy of highest Nash welfare, found exactly; {INSTANCES} instances of a kind. "
        "Where users have nothing in common it is an equality. Control: the policy of highest "
        "mean utility.",
        tuple(
            must_fail(
                never_below(
                    f"utilitarian, {kind}, D × the least share − 1",
                    _shares(Utilitarian(), kinds[kind]),
                )
            )
            for kind in DISAGREE
        ),
    )


def _shares(welfare: Welfare, matrices: Sequence[Floats]) -> list[float]:
    """Return D times the least share of its own best that a user gets, less 1."""
    found = [(scores, welfare.maximize(scores).utilities) for scores in matrices]
    return [
        len(scores) * float((utilities / scores.max(axis=1)).min()) - 1
        for scores, utilities in found
    ]


def _instances() -> dict[str, list[Floats]]:
    """Return score matrices by kind."""
    grown = tree(sushi_stand_in().sample(PEOPLE))
    seeds = range(INSTANCES)
    return {
        "the paper's": [each.scores for each in paper_instances()],
        "random, D = 20, K = 5": [random_instance(20, 5, seed=seed).scores for seed in seeds],
        "clustered": [clustered_instance(10, 10, 0.7, seed=seed).scores for seed in seeds],
        "hard": [hard_instance(10, 10, 1000, instance=m).scores for m in range(6)],
        "synthetic rankings in the shape of Sushi": [
            made.scores
            for users in range(2, 11)
            for made in [grown.cut(users).projected()]
            if not made.without_winner
        ],
        "nothing in common": [np.eye(size) for size in (2, 5, 10)],
    }
