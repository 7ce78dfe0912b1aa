"""Every claim that the paper makes in words in Sections 5.2 to 5.4, as a named check."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from fairduel.arrays import Floats
from fairduel.compare import METRICS as MORE_IS_BETTER
from fairduel.paper.criterion import fact, more, more_between
from fairduel.paper.document import Claim, Finding, average, known
from fairduel.paper.experiment import BASELINES, FAIR, LEARNERS, METRICS, UTILITARIAN

Finals = Mapping[str, Mapping[str, Floats]]  # by learner and metric: a value for each run

VAST = 2.0  # a regret is "vastly inferior" if it is so many times as high
LITTLE = 0.5  # "maintain": a change is so many times as large as another at most
SLIGHT = 0.1  # "slightly better": by less than this share


def table1_claims(finals: Finals) -> tuple[Claim, ...]:
    """Section 5.2 on Table 1."""
    fairer = [
        *_compare(finals, "minimum_welfare", FAIR, UTILITARIAN),
        *_compare(finals, "gini", UTILITARIAN, FAIR),
    ]
    return (
        Claim(
            "fair-lowest-regret",
            "Table 1",
            "Both fair learners have a lower cumulative regret than every baseline.",
            tuple(_compare(finals, "regret", BASELINES, FAIR)),
        ),
        Claim(
            "fair-etc-lowest-regret",
            "Table 1",
            "Fair-ETC has the lowest cumulative regret of all (bold in the table).",
            tuple(_compare(finals, "regret", ("fair-eps", *BASELINES), ("fair-etc",))),
        ),
        Claim(
            "fair-etc-highest-nash-welfare",
            "Table 1",
            "Fair-ETC has the highest Nash Social Welfare of all (bold in the table).",
            tuple(_compare(finals, "nash_welfare", ("fair-etc",), ("fair-eps", *BASELINES))),
        ),
        Claim(
            "uniform-fairest",
            "Table 1",
            "Uniform-Over-Users has the highest minimum welfare and the lowest Gini coefficient "
            "of all (bold in the table).",
            (
                *_compare(finals, "minimum_welfare", ("uniform",), (*FAIR, *UTILITARIAN)),
                *_compare(finals, "gini", (*FAIR, *UTILITARIAN), ("uniform",)),
            ),
        ),
        Claim(
            "fair-highest-nash-welfare",
            "5.2",
            "“In contrast, our proposed algorithms, Fair-ETC and Fair-ε-Greedy, achieve the "
            "highest Nash Social Welfare.”",
            tuple(_compare(finals, "nash_welfare", FAIR, BASELINES)),
        ),
        Claim(
            "utilitarian-highest-utilitarian-welfare",
            "5.2",
            "“The Utilitarian algorithms achieve high utilitarian welfare, as expected, ...”",
            tuple(_compare(finals, "utilitarian_welfare", UTILITARIAN, (*FAIR, "uniform"))),
        ),
        Claim(
            "utilitarian-price",
            "5.2",
            "“... but this comes at the cost of higher inequality, evidenced by high Gini "
            "coefficients, lower minimum user welfare, and lower NSW.”",
            (
                *_compare(finals, "gini", UTILITARIAN, (*FAIR, "uniform")),
                *_compare(finals, "minimum_welfare", (*FAIR, "uniform"), UTILITARIAN),
                *_compare(finals, "nash_welfare", FAIR, UTILITARIAN),
            ),
        ),
        Claim(
            "fair-fairer-than-utilitarian",
            "5.2",
            "“In terms of the other fairness metrics, specifically minimum user welfare and the "
            "Gini coefficient, our algorithms perform better than the utilitarian approaches ...”",
            tuple(fairer),
        ),
        Claim(
            "fair-close-to-uniform",
            "5.2",
            "“... and remain close to the Uniform-Over-Users policy, which is a naturally "
            "balanced (though inefficient) baseline.”",
            tuple(_closer(finals, metric, fair) for metric in FAIRNESS for fair in FAIR),
            "Close is taken as: closer to Uniform-Over-Users than to the nearer utilitarian one.",
        ),
        Claim(
            "uniform-inefficient",
            "5.2",
            "“... (though inefficient) baseline. This demonstrates that the Nash Social Welfare "
            "objective successfully optimizes for efficiency ...”",
            tuple(_compare(finals, "utilitarian_welfare", FAIR, ("uniform",))),
            "Efficiency is taken as utilitarian welfare: the fair learners have more of it.",
        ),
    )


def figure1_claims(regrets: Mapping[str, Mapping[str, tuple[Floats, Floats]]]) -> tuple[Claim, ...]:
    """Section 5.2 on Figure 1. By setting and learner: regret at half time and at the end."""
    sublinear = [
        more(
            f"{setting}, {LEARNERS[fair]}, regret of the first half − of the second",
            half,
            end - half,
        )
        for setting, by_learner in regrets.items()
        for fair in FAIR
        for half, end in [by_learner[fair]]
    ]
    better = [
        more(
            f"{setting}, {LEARNERS[other]} − {LEARNERS[fair]}",
            by_learner[other][1],
            by_learner[fair][1],
        )
        for setting, by_learner in regrets.items()
        for fair in FAIR
        for other in BASELINES
    ]
    return (
        Claim(
            "fair-sublinear",
            "5.2",
            "“Across all settings, Fair-ETC and Fair-ε-Greedy demonstrate sublinear regret, ...”",
            tuple(sublinear),
        ),
        Claim(
            "fair-outperform-everywhere",
            "5.2",
            "“... consistently outperforming the utilitarian and uniform-over-users baselines.”",
            tuple(better),
        ),
    )


def figure2_claims(by_share: Mapping[float, Finals]) -> tuple[Claim, ...]:
    """Section 5.3, for the smaller and the larger share of the majority."""
    (low, smaller), (high, larger) = sorted(by_share.items())
    change = f"from ρ = {low} to {high}"
    worse = [
        _between(f"minimum welfare lost {change}", name, "minimum_welfare", smaller, larger)
        for name in UTILITARIAN
    ] + [_between(f"Gini gained {change}", name, "gini", larger, smaller) for name in UTILITARIAN]
    than_utilitarian, than_uniform = [], []
    for share, finals in sorted(by_share.items()):
        at = f"ρ = {share}, "
        than_utilitarian += [
            *_compare(finals, "minimum_welfare", FAIR, UTILITARIAN, at),
            *_compare(finals, "gini", UTILITARIAN, FAIR, at),
        ]
        than_uniform += [
            *_compare(finals, "minimum_welfare", FAIR, ("uniform",), at),
            *_compare(finals, "gini", ("uniform",), FAIR, at),
        ]
    return (
        Claim(
            "utilitarian-favours-majority",
            "5.3",
            "“The utilitarian algorithms increasingly favor the majority's preference at the "
            "expense of the minority, leading to lower minimum welfare and higher inequality.”",
            tuple(worse),
        ),
        Claim(
            "fair-protect-minority",
            "5.3",
            "“In contrast, Fair-ETC and Fair-ε-Greedy maintain high minimum welfare and low Gini "
            "coefficients, ...”",
            tuple(than_utilitarian),
        ),
        Claim(
            "fair-robust",
            "Figure 2",
            "“... whereas fair algorithms remain robust”: they lose less than the utilitarian "
            "ones as the majority grows.",
            tuple(_robust(fair, change, smaller, larger) for fair in FAIR),
            "Compared is how much minimum welfare either loses, with the utilitarian learner of "
            "the same kind.",
        ),
        Claim(
            "fair-change-little",
            "5.3",
            "“In contrast, Fair-ETC and Fair-ε-Greedy maintain high minimum welfare and low Gini "
            "coefficients ...”: their own change little as the majority grows.",
            tuple(
                finding
                for metric in FAIRNESS
                for fair in FAIR
                for finding in _little(fair, metric, change, smaller, larger)
            ),
            f"Little is taken as: in either direction by less than {LITTLE:g} times what the "
            "utilitarian learner of the same kind gets worse by.",
        ),
        Claim(
            "fair-fairer-than-uniform",
            "5.3",
            "“... successfully balancing the interests of users and outperforming the "
            "Uniform-Over-Users policy.”",
            tuple(than_uniform),
        ),
    )


def figure3_claims(by_users: Mapping[int, Finals]) -> tuple[Claim, ...]:
    """Section 5.4, for 5 and 10 groups."""
    five, ten = by_users[5], by_users[10]
    regret = [
        finding
        for users, finals in by_users.items()
        for finding in _compare(finals, "regret", BASELINES, FAIR, f"D = {users}, ")
    ]
    return (
        Claim(
            "sushi-fair-lowest-regret",
            "5.4",
            "“Across both configurations, our proposed methods (Fair-ETC and Fair-ε-Greedy) "
            "achieve the lowest cumulative regret.”",
            tuple(regret),
        ),
        Claim(
            "sushi-5-fair-dominate",
            "5.4",
            "“In the D = 5 setting, the proposed methods strongly dominate across all fairness "
            "metrics, achieving the lowest Gini coefficient and highest minimum user welfare.”",
            (
                *_compare(five, "minimum_welfare", FAIR, BASELINES),
                *_compare(five, "gini", BASELINES, FAIR),
                *_compare(five, "nash_welfare", FAIR, BASELINES),
            ),
            "All fairness metrics: the two it names, and Nash welfare, which Section 5.1 calls an "
            "auxiliary one.",
        ),
        Claim(
            "sushi-10-uniform-fairer",
            "5.4",
            "“As the environment becomes more fragmented in the D = 10 setting, the "
            "uniform-over-users baseline achieves slightly better fairness metrics (Min Welfare "
            "and Gini coefficient); ...”",
            (
                *_compare(ten, "minimum_welfare", ("uniform",), FAIR),
                *_compare(ten, "gini", FAIR, ("uniform",)),
            ),
        ),
        Claim(
            "sushi-10-only-slightly",
            "5.4",
            "“... slightly better ... this marginal gain in fairness ...”",
            tuple(_slightly(ten, fair) for fair in FAIR),
            f"Slightly is taken as: Uniform-Over-Users has less than {SLIGHT:.0%} more minimum "
            f"welfare.{_more(ten)}",
        ),
        Claim(
            "sushi-10-uniform-regret",
            "5.4",
            "“... comes at the cost of vastly inferior cumulative regret.”",
            tuple(
                more(
                    f"Regret, Uniform-Over-Users − {VAST:g} × {LEARNERS[fair]}",
                    ten["uniform"]["regret"],
                    VAST * ten[fair]["regret"],
                )
                for fair in FAIR
            ),
            f"Vastly inferior is taken as: at least {VAST:g} times as high.{_times(ten)} The ratio "
            "grows with the horizon, which the paper does not print.",
        ),
    )


def sushi_winners_claim(without: Mapping[int, tuple[str, ...]], instability: str) -> Claim:
    """Section 5.4 on the data. By number of groups: the names of those without a winner."""
    return Claim(
        "sushi-every-cluster-has-a-winner",
        "5.4",
        "“We confirm that this preprocessing step yields a unique Condorcet winner in every "
        "cluster, in both the D = 5 and D = 10 configurations.”",
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


def sushi_adjustment_claim(pairs: Mapping[int, tuple[int, bool]]) -> Claim:
    """Section 5.4 on the projection.

    By number of groups: how many pairs are at exactly 1/2, and whether every group has a winner
    without them.
    """
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


FAIRNESS = ("minimum_welfare", "gini")


def _compare(
    finals: Finals, metric: str, higher: Iterable[str], lower: Iterable[str], at: str = ""
) -> list[Finding]:
    """Every one of ``higher`` has more of the metric than every one of ``lower``."""
    name = METRICS[metric] if not at else METRICS[metric].lower()
    low = list(lower)
    return [
        more(f"{at}{name}, {LEARNERS[a]} − {LEARNERS[b]}", finals[a][metric], finals[b][metric])
        for a in higher
        for b in low
    ]


def _closer(finals: Finals, metric: str, fair: str) -> Finding:
    to = {name: np.abs(finals[fair][metric] - finals[name][metric]) for name in BASELINES}
    return more(
        f"{METRICS[metric]}, {LEARNERS[fair]}: distance to utilitarian − to uniform",
        np.minimum(*(to[name] for name in UTILITARIAN)),
        to["uniform"],
    )


def _between(what: str, name: str, metric: str, larger: Finals, smaller: Finals) -> Finding:
    return more_between(f"{LEARNERS[name]}, {what}", larger[name][metric], smaller[name][metric])


def _robust(fair: str, change: str, smaller: Finals, larger: Finals) -> Finding:
    """The paired lead over the utilitarian learner of the same kind grows with the majority."""
    other = dict(zip(FAIR, UTILITARIAN, strict=True))[fair]
    leads = [
        finals[fair]["minimum_welfare"] - finals[other]["minimum_welfare"]
        for finals in (larger, smaller)
    ]
    what = f"Minimum welfare lost {change}, {LEARNERS[other]} − {LEARNERS[fair]}"
    return more_between(what, *leads)


def _little(
    fair: str, metric: str, change: str, smaller: Finals, larger: Finals
) -> Iterable[Finding]:
    """LITTLE x what the utilitarian one gets worse by is more than the fair one's change.

    The change is a difference of means and may have either sign, so both are compared.
    """
    other = dict(zip(FAIR, UTILITARIAN, strict=True))[fair]
    high, low = (smaller, larger) if MORE_IS_BETTER[metric] else (larger, smaller)
    for sign, word in ((-1, "loss" if MORE_IS_BETTER[metric] else "gain"), (1, "opposite")):
        what = (
            f"{METRICS[metric]} {change}, {LITTLE:g} × that of {LEARNERS[other]} − the {word} of "
            f"{LEARNERS[fair]}"
        )
        sides = (
            LITTLE * finals[other][metric] + sign * finals[fair][metric] for finals in (high, low)
        )
        yield more_between(what, *sides)


def _slightly(finals: Finals, fair: str) -> Finding:
    ours, uniform = (finals[name]["minimum_welfare"] for name in (fair, "uniform"))
    what = f"Minimum welfare, {1 + SLIGHT:g} × {LEARNERS[fair]} − Uniform-Over-Users"
    return more(what, (1 + SLIGHT) * ours, uniform)


def _ratio(finals: Finals, metric: str) -> float:
    """Uniform-Over-Users over the better fair learner."""
    fair = known([average(finals[name][metric]) for name in FAIR])
    best = (max if MORE_IS_BETTER[metric] else min)(fair, default=math.nan)
    return average(finals["uniform"][metric]) / best


def _more(finals: Finals) -> str:
    """A sentence, if there is something to say."""
    ratio = _ratio(finals, "minimum_welfare")
    if math.isnan(ratio):
        return ""
    return f" It has {ratio - 1:.1%} more than the better fair learner."


def _times(finals: Finals) -> str:
    ratio = _ratio(finals, "regret")
    return "" if math.isnan(ratio) else f" It is {ratio:.2f} times that of the better fair learner."
