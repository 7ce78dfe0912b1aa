"""The claims that the paper makes in words in Section 5.4, on Sushi, as named checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fairduel.paper.comparisons import (
    COMPARABLE,
    FAIRNESS,
    Finals,
    compare,
    fairer,
    not_much_worse,
    uniform_to_fair,
)
from fairduel.paper.experiment import BASELINES, FAIR, LEARNERS, UTILITARIAN
from fairduel.report.criterion import fact, more, no_result
from fairduel.report.document import Claim, Finding

VAST = 2.0  # a regret is "vastly inferior" if it is higher by this factor
SLIGHT = 1.1  # "slightly better": by less than this factor
GAP = 0.1  # that the paper enforces
ROUNDING = 1e-12


def figure3_claims(by_users: Mapping[int, Finals]) -> tuple[Claim, ...]:
    """Judge what Section 5.4 says of the results, for 5 and 10 groups."""
    return (*_in_both(by_users), _five_groups(by_users[5]), *_ten_groups(by_users[10]))


def data_claims(
    without: Mapping[int, tuple[str, ...]],
    gaps: Mapping[int, float | None],
    pairs: Mapping[int, tuple[int, bool]],
    instability: str,
) -> tuple[Claim, ...]:
    """Judge what Section 5.4 says of the data, by number of groups.

    without: the names of the groups that have no winner. gaps: the smallest distance of a pair to
    1/2, None where nothing can be played. pairs: how many are at exactly 1/2, and whether every
    group has a winner without them.
    """
    return (_winners(without, instability), _smallest_gap(gaps), _adjustment(pairs))


def unanswered(claim: Claim, reason: str) -> Claim:
    """Return the claim without its figures, which say nothing about it."""
    return replace(claim, findings=(no_result(reason),), note="", controls=())


def _in_both(by_users: Mapping[int, Finals]) -> tuple[Claim, ...]:
    at = {f"D = {users}, ": finals for users, finals in by_users.items()}
    regret = [x for where, f in at.items() for x in compare(f, "regret", BASELINES, FAIR, where)]
    return (
        Claim(
            "sushi-fair-lowest-regret",
            "5.4",
            "“Across both configurations, our proposed methods (Fair-ETC and Fair-ε-Greedy) "
            "achieve the lowest cumulative regret.”",
            tuple(regret),
        ),
        Claim(
            "sushi-fair-competitive",
            "Figure 3",
            "“Our proposed methods achieve the lowest cumulative regret in both settings, while "
            "maintaining highly competitive fairness metrics.”",
            tuple(x for where, finals in at.items() for x in _competitive(finals, where)),
            "Highly competitive is taken as: fairer than both utilitarian learners, and worse "
            f"than Uniform-Over-Users by less than {COMPARABLE:g} times, in minimum welfare and "
            "in the Gini coefficient.",
        ),
        Claim(
            "sushi-better-balance",
            "5.4",
            "“Overall, the proposed algorithms consistently maintain a better balance, "
            "effectively minimizing regret while protecting minority welfare.”",
            tuple(
                _balance(finals, fair, other, where)
                for where, finals in at.items()
                for fair in FAIR
                for other in BASELINES
            ),
            "A better balance is taken as: the share that a fair learner has of a baseline's "
            "minimum welfare is more than the share that it has of its regret.",
        ),
    )


def _competitive(finals: Finals, at: str) -> list[Finding]:
    return [
        *fairer(finals, FAIR, UTILITARIAN, at),
        *(
            not_much_worse(finals, metric, fair, "uniform", COMPARABLE, at)
            for metric in FAIRNESS
            for fair in FAIR
        ),
    ]


def _balance(finals: Finals, fair: str, other: str, at: str) -> Finding:
    kept, lost = (
        finals[fair][metric] / finals[other][metric] for metric in ("minimum_welfare", "regret")
    )
    what = f"{at}{LEARNERS[fair]} of {LEARNERS[other]}: share of minimum welfare − of regret"
    return more(what, kept, lost)


def _five_groups(finals: Finals) -> Claim:
    return Claim(
        "sushi-5-fair-dominate",
        "5.4",
        "“In the D = 5 setting, the proposed methods strongly dominate across all fairness "
        "metrics, achieving the lowest Gini coefficient and highest minimum user welfare.”",
        (*fairer(finals, FAIR, BASELINES), *compare(finals, "nash_welfare", FAIR, BASELINES)),
        "All fairness metrics: the two it names, and Nash welfare, which Section 5.1 calls an "
        "auxiliary one.",
    )


def _ten_groups(finals: Finals) -> tuple[Claim, ...]:
    return (
        Claim(
            "sushi-10-uniform-fairer",
            "5.4",
            "“As the environment becomes more fragmented in the D = 10 setting, the "
            "uniform-over-users baseline achieves slightly better fairness metrics (Min Welfare "
            "and Gini coefficient); ...”",
            tuple(fairer(finals, ("uniform",), FAIR)),
        ),
        Claim(
            "sushi-10-only-slightly",
            "5.4",
            "“... slightly better ... this marginal gain in fairness ...”",
            tuple(
                not_much_worse(finals, metric, fair, "uniform", SLIGHT)
                for metric in FAIRNESS
                for fair in FAIR
            ),
            f"Slightly is taken as: by less than {SLIGHT:g} times, in both metrics."
            f"{uniform_to_fair(finals, FAIRNESS)}",
        ),
        Claim(
            "sushi-10-uniform-regret",
            "5.4",
            "“... comes at the cost of vastly inferior cumulative regret.”",
            tuple(
                more(
                    f"Regret, Uniform-Over-Users − {VAST:g} × {LEARNERS[fair]}",
                    finals["uniform"]["regret"],
                    VAST * finals[fair]["regret"],
                )
                for fair in FAIR
            ),
            f"Vastly inferior is taken as: at least {VAST:g} times as high."
            f"{uniform_to_fair(finals, ('regret',))} The ratio grows with the horizon, which the "
            "paper does not print.",
        ),
    )


def _winners(without: Mapping[int, tuple[str, ...]], instability: str) -> Claim:
    return Claim(
        "sushi-every-cluster-has-a-winner",
        "5.4",
        "“We confirm that this preprocessing step yields a unique Condorcet winner in every "
        "cluster, in both the D = 5 and D = 10 configurations, ...”",
        tuple(
            fact(
                f"D = {users}: no winner in {' and in '.join(names)}"
                if names
                else f"D = {users}: every cluster has a winner",
                not names,
            )
            for users, names in without.items()
        ),
        instability,
    )


def _smallest_gap(gaps: Mapping[int, float | None]) -> Claim:
    return Claim(
        "sushi-gap-throughout",
        "5.4",
        "“... with the enforced minimum preference gap of Δ = 0.1 satisfying Assumption 3.1 "
        "throughout, ...”",
        tuple(
            no_result(f"D = {users}")
            if gap is None
            else fact(
                f"D = {users}: the pair nearest to 1/2 is {gap:.4g} away from it",
                gap >= GAP - ROUNDING,
            )
            for users, gap in gaps.items()
        ),
    )


def _adjustment(pairs: Mapping[int, tuple[int, bool]]) -> Claim:
    nearest = [
        fact(
            f"D = {users}: {tied or 'no'} pairs of items at exactly 1/2, as near to 0.4 as to 0.6",
            tied == 0,
        )
        for users, (tied, _) in pairs.items()
    ]
    winners = [
        fact(
            f"D = {users}: every cluster has a winner whatever is done with pairs at 1/2"
            if clear
            else f"D = {users}: not every cluster has a winner unless pairs at 1/2 are decided",
            clear,
        )
        for users, (_, clear) in pairs.items()
    ]
    return Claim(
        "sushi-no-further-adjustment",
        "5.4",
        "“... and that no cluster required further adjustment beyond the boundary projection "
        "described above.”",
        (*nearest, *winners),
        "A share of exactly 1/2 has no nearest boundary, so that the projection as described "
        "leaves it open; here it goes to the item with the lower number. A score depends on the "
        "pairs with the winner only, so where every winner is clear no score hangs on this.",
    )
