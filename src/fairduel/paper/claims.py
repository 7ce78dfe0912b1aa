"""The claims that the paper makes in words in Sections 5.2 and 5.3, as named checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from fairduel._arrays import Floats
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
from fairduel.report.criterion import more, more_between
from fairduel.report.document import Claim, Finding
from fairduel.report.metrics import METRICS, MORE_IS_BETTER

LITTLE = 0.5  # "maintain": a change is at most this multiple of another

# "Sublinear": with LONGER times as many rounds after identification, the mean regret of one of
# them falls below FALL times what it was. Regret as T^(2/3) halves it, linear regret keeps it;
# FALL is midway.
LONGER = 8
FALL = 0.75


def table1_claims(finals: Finals) -> tuple[Claim, ...]:
    """Judge what Section 5.2 says of Table 1."""
    return (
        *_best_in_the_table(finals),
        *_efficiency_and_fairness(finals),
        *_fair_learners(finals),
    )


def _best_in_the_table(finals: Finals) -> tuple[Claim, ...]:
    """Judge what is bold there, and the order of the regrets."""
    return (
        Claim(
            "fair-lowest-regret",
            "Table 1",
            "Both fair learners have a lower cumulative regret than every baseline.",
            tuple(compare(finals, "regret", BASELINES, FAIR)),
        ),
        Claim(
            "fair-etc-lowest-regret",
            "Table 1",
            "Fair-ETC has the lowest cumulative regret of all (bold in the table).",
            tuple(compare(finals, "regret", ("fair-eps", *BASELINES), ("fair-etc",))),
        ),
        Claim(
            "fair-etc-highest-nash-welfare",
            "Table 1",
            "Fair-ETC has the highest Nash Social Welfare of all (bold in the table).",
            tuple(compare(finals, "nash_welfare", ("fair-etc",), ("fair-eps", *BASELINES))),
        ),
        Claim(
            "uniform-fairest",
            "Table 1",
            "Uniform-Over-Users has the highest minimum welfare and the lowest Gini coefficient "
            "of all (bold in the table).",
            tuple(fairer(finals, ("uniform",), (*FAIR, *UTILITARIAN))),
        ),
    )


def _efficiency_and_fairness(finals: Finals) -> tuple[Claim, ...]:
    """Judge what the utilitarian learners gain, and what they pay for it."""
    return (
        Claim(
            "efficiency-against-fairness",
            "5.2",
            "“We observe a clear trade-off between aggregate efficiency and fairness.”",
            (
                *compare(finals, "utilitarian_welfare", UTILITARIAN, FAIR),
                *compare(finals, "utilitarian_welfare", FAIR, ("uniform",)),
                *fairer(finals, FAIR, UTILITARIAN),
                *fairer(finals, ("uniform",), FAIR),
            ),
            "Taken as: from the utilitarian learners over the fair ones to Uniform-Over-Users, "
            "utilitarian welfare falls, minimum welfare rises and the Gini coefficient falls.",
        ),
        Claim(
            "utilitarian-highest-utilitarian-welfare",
            "5.2",
            "“The Utilitarian algorithms achieve high utilitarian welfare, as expected, ...”",
            tuple(compare(finals, "utilitarian_welfare", UTILITARIAN, (*FAIR, "uniform"))),
        ),
        Claim(
            "utilitarian-price",
            "5.2",
            "“... but this comes at the cost of higher inequality, evidenced by high Gini "
            "coefficients, lower minimum user welfare, and lower NSW.”",
            (
                *fairer(finals, (*FAIR, "uniform"), UTILITARIAN),
                *compare(finals, "nash_welfare", FAIR, UTILITARIAN),
            ),
        ),
    )


def _fair_learners(finals: Finals) -> tuple[Claim, ...]:
    """Judge the fair learners against the utilitarian ones and Uniform-Over-Users."""
    return (
        Claim(
            "fair-highest-nash-welfare",
            "5.2",
            "“In contrast, our proposed algorithms, Fair-ETC and Fair-ε-Greedy, achieve the "
            "highest Nash Social Welfare.”",
            tuple(compare(finals, "nash_welfare", FAIR, BASELINES)),
        ),
        Claim(
            "fair-fairer-than-utilitarian",
            "5.2",
            "“In terms of the other fairness metrics, specifically minimum user welfare and the "
            "Gini coefficient, our algorithms perform better than the utilitarian approaches ...”",
            tuple(fairer(finals, FAIR, UTILITARIAN)),
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
            tuple(compare(finals, "utilitarian_welfare", FAIR, ("uniform",))),
            "Efficiency is taken as utilitarian welfare: the fair learners have more of it.",
        ),
        Claim(
            "fair-comparable-to-uniform",
            "5.2",
            "“... while maintaining fairness levels comparable to an unbiased random strategy.”",
            tuple(
                not_much_worse(finals, metric, fair, "uniform", COMPARABLE)
                for metric in FAIRNESS
                for fair in FAIR
            ),
            "The strategy is Uniform-Over-Users. Comparable is taken as: worse by less than "
            f"{COMPARABLE:g} times, since the paper says so of Gini coefficients 1.33 times as "
            f"high.{uniform_to_fair(finals, FAIRNESS)}",
        ),
    )


Rates = Mapping[str, tuple[Floats, Floats]]  # by learner: with fewer rounds, and with LONGER times


def figure1_claims(
    regrets: Mapping[str, Mapping[str, Floats]], rates: Mapping[str, Rates]
) -> tuple[Claim, ...]:
    """Judge what Section 5.2 says of Figure 1.

    By setting: the regret at the end, and the mean regret of a round.
    """
    better = [
        more(f"{setting}, {LEARNERS[other]} − {LEARNERS[fair]}", by[other], by[fair])
        for setting, by in regrets.items()
        for fair in FAIR
        for other in BASELINES
    ]
    return (
        Claim(
            "fair-sublinear",
            "5.2",
            "“Across all settings, Fair-ETC and Fair-ε-Greedy demonstrate sublinear regret, ...”",
            tuple(_falls(setting, fair, by) for setting, by in rates.items() for fair in FAIR),
            "Compared is the mean regret of a round after identification, as a share of f*. "
            f"With {LONGER} times as many rounds, regret as T^(2/3) halves it and linear regret "
            f"keeps it; sublinear is taken as: it falls below {FALL:g} times what it was. The "
            "baselines are controls: they lose with a policy that is not the best one, so theirs "
            "must not fall so.",
            tuple(
                _stays(setting, other, by) for setting, by in rates.items() for other in BASELINES
            ),
        ),
        Claim(
            "fair-outperform-everywhere",
            "5.2",
            "“... consistently outperforming the utilitarian and uniform-over-users baselines.”",
            tuple(better),
        ),
    )


def _falls(setting: str, name: str, rates: Rates) -> Finding:
    fewer, longer = rates[name]
    return more(f"{setting}, {LEARNERS[name]}: {FALL:g} × earlier − later", FALL * fewer, longer)


def _stays(setting: str, name: str, rates: Rates) -> Finding:
    fewer, longer = rates[name]
    return more(f"{setting}, {LEARNERS[name]}: later − {FALL:g} × earlier", longer, FALL * fewer)


def figure2_claims(by_share: Mapping[float, Finals]) -> tuple[Claim, ...]:
    """Judge what Section 5.3 says, for the smaller and the larger share of the majority."""
    return (*_majority_grows(by_share), *_minority_protected(by_share))


def _majority_grows(by_share: Mapping[float, Finals]) -> tuple[Claim, ...]:
    """Judge what changes as the majority grows."""
    (low, smaller), (high, larger) = sorted(by_share.items())
    change = f"from ρ = {low} to {high}"
    return (
        Claim(
            "utilitarian-favours-majority",
            "5.3",
            "“The utilitarian algorithms increasingly favor the majority's preference at the "
            "expense of the minority, leading to lower minimum welfare and higher inequality.”",
            (
                *(_changed("minimum_welfare", n, change, smaller, larger) for n in UTILITARIAN),
                *(_changed("gini", n, change, larger, smaller) for n in UTILITARIAN),
            ),
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
    )


def _minority_protected(by_share: Mapping[float, Finals]) -> tuple[Claim, ...]:
    """Judge which learners are fairer, at each share."""
    shares = {f"ρ = {share}, ": finals for share, finals in sorted(by_share.items())}
    return (
        Claim(
            "fair-protect-minority",
            "5.3",
            "“In contrast, Fair-ETC and Fair-ε-Greedy maintain high minimum welfare and low Gini "
            "coefficients, ...”",
            tuple(
                finding
                for at, finals in shares.items()
                for finding in fairer(finals, FAIR, UTILITARIAN, at)
            ),
        ),
        Claim(
            "fair-fairer-than-uniform",
            "5.3",
            "“... successfully balancing the interests of users and outperforming the "
            "Uniform-Over-Users policy.”",
            tuple(
                finding
                for at, finals in shares.items()
                for finding in fairer(finals, FAIR, ("uniform",), at)
            ),
        ),
    )


def _closer(finals: Finals, metric: str, fair: str) -> Finding:
    to = {name: np.abs(finals[fair][metric] - finals[name][metric]) for name in BASELINES}
    return more(
        f"{METRICS[metric].label}, {LEARNERS[fair]}: distance to utilitarian − to uniform",
        np.minimum(*(to[name] for name in UTILITARIAN)),
        to["uniform"],
    )


def _changed(metric: str, name: str, change: str, larger: Finals, smaller: Finals) -> Finding:
    verb = "lost" if MORE_IS_BETTER[metric] else "gained"
    what = f"{LEARNERS[name]}, {METRICS[metric].label.lower()} {verb} {change}"
    return more_between(what, larger[name][metric], smaller[name][metric])


def _robust(fair: str, change: str, smaller: Finals, larger: Finals) -> Finding:
    """Judge whether the lead over the utilitarian learner of the same kind grows with the majority.

    The lead is paired.
    """
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
    """Judge whether LITTLE x what the utilitarian one gets worse by exceeds the fair one's change.

    The change is a difference of means and may have either sign, so both are compared.
    """
    other = dict(zip(FAIR, UTILITARIAN, strict=True))[fair]
    high, low = (smaller, larger) if MORE_IS_BETTER[metric] else (larger, smaller)
    for sign, word in ((-1, "loss" if MORE_IS_BETTER[metric] else "gain"), (1, "opposite")):
        what = (
            f"{METRICS[metric].label} {change}, {LITTLE:g} × that of {LEARNERS[other]} − the "
            f"{word} of {LEARNERS[fair]}"
        )
        sides = (
            LITTLE * finals[other][metric] + sign * finals[fair][metric] for finals in (high, low)
        )
        yield more_between(what, *sides)
