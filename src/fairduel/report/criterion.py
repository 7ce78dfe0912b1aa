"""When a claim holds: one criterion for all of them, and the words for its verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import numpy as np

from fairduel._arrays import Floats
from fairduel.report.document import Claim, Finding, Table, Verdict
from fairduel.report.numbers import PLUS_MINUS, number, signed
from fairduel.report.statistics import exact_interval, student_interval, welch_interval

CRITERION = (
    "A claim consists of comparisons of the kind “this is more than that”. The difference is "
    "taken run by run where both sides played the same instances with the same luck, and between "
    "two independent samples otherwise; its 95 % interval is Student's t, for two samples Welch's "
    "(the tables have the paper's 1.96 standard errors). Holds: the whole interval is on the "
    "claimed side of zero. Cannot be told from noise: zero is in the interval, and the estimate "
    "may be on either side of it. Does not hold here: the whole interval is on the other side. No "
    "result: fewer than two runs are left to compare. A claim of several comparisons has the "
    "verdict of the worst of them, and no result is the worst. The intervals are not widened for "
    "the number of comparisons. Controls, where a claim has them, are comparisons for those that "
    "must not pass the same test. They hold where these do not, and count like the others: a test "
    "that everybody passes says nothing."
)

CONTROLS = "Controls (✓ where they do not pass, as they must not):"

ENOUGH = 2  # runs, to say anything about their spread

_NUMBERS = {  # one, several
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.NOISE: ("cannot be told from noise", "cannot be told from noise"),
    Verdict.FAILS: ("does not hold here", "do not hold here"),
    Verdict.UNKNOWN: ("without a result", "without a result"),
}


def more(what: str, larger: Floats, smaller: Floats | float) -> Finding:
    """Judge whether ``larger`` is more than ``smaller``, run by run."""
    difference = larger - smaller
    difference = difference[~np.isnan(difference)]
    if len(difference) < ENOUGH:
        return no_result(what)
    mean = float(difference.mean())
    return _finding(what, mean, student_interval(difference), len(difference))


def more_between(what: str, larger: Floats, smaller: Floats) -> Finding:
    """Judge whether the mean of ``larger`` is more than that of ``smaller``, independent samples.

    Runs that failed are NaN and do not count.
    """
    larger, smaller = larger[~np.isnan(larger)], smaller[~np.isnan(smaller)]
    runs = min(len(larger), len(smaller))
    if runs < ENOUGH:
        return no_result(what)
    difference = float(larger.mean() - smaller.mean())
    return _finding(what, difference, welch_interval(larger, smaller), runs)


def rarer(what: str, count: int, total: int, limit: float) -> Finding:
    """Judge whether what happened ``count`` times in ``total`` has a chance below the limit."""
    if total < ENOUGH:
        return no_result(what)
    low, high = exact_interval(count, total)
    verdict = Verdict.HOLDS if high < limit else Verdict.FAILS if low > limit else Verdict.NOISE
    shown = f"{what}: {count:,} of {total:,}, from {low:.2%} to {high:.2%}"
    return Finding(shown, math.nan, math.nan, verdict, total)


def fact(what: str, true: bool) -> Finding:
    """Judge what involves no randomness: it is true or it is not."""
    return Finding(what, math.nan, math.nan, Verdict.HOLDS if true else Verdict.FAILS)


def no_result(what: str) -> Finding:
    """Return the finding that nothing is known."""
    return Finding(what, math.nan, math.nan, Verdict.UNKNOWN)


def described(finding: Finding) -> str:
    """Describe a comparison with its figures."""
    if finding.verdict is Verdict.UNKNOWN:
        return f"{finding.what}: {finding.verdict}"
    if math.isnan(finding.difference):
        return finding.what
    half_width = number(finding.half_width, finding.difference)
    return f"{finding.what}: {signed(finding.difference)}{PLUS_MINUS}{half_width}"


def noted(claim: Claim) -> str:
    """Return the note of a claim, with the number of runs that its comparisons rest on."""
    counts = [each.runs for each in (*claim.findings, *claim.controls) if each.runs]
    if not counts:
        return claim.note
    fewest, most = min(counts), max(counts)
    runs = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{claim.note} Each comparison rests on {runs} runs.".strip()


def counted(claims: Iterable[Claim]) -> str:
    """Say how many claims have which verdict."""
    counts = Counter(claim.verdict for claim in claims)
    kinds = [kind for kind in _NUMBERS if kind is not Verdict.UNKNOWN or counts[kind]]
    return ", ".join(f"{counts[kind]} {_NUMBERS[kind][counts[kind] != 1]}" for kind in kinds)


def overview(claims: Iterable[Claim], name: str) -> Table:
    """Return the table of all verdicts; ``name`` formats the name of a claim, given as {0}."""
    rows = tuple(
        (name.format(claim.name), claim.section, claim.quote, claim.verdict) for claim in claims
    )
    return Table(("Claim", "Section", "In the paper", "Verdict"), rows, names=4)


def few_runs(claims: Iterable[Claim], wanted: int) -> str:
    """Warn of verdicts from fewer runs than the paper's ``wanted``, or return ""."""
    counts = [each.runs for claim in claims for each in claim.findings if each.runs]
    fewest = min(counts, default=wanted)
    if fewest >= wanted:
        return ""
    return (
        f"The paper's figures are means of {wanted} runs; here there are comparisons of "
        f"{fewest}. Verdicts from fewer runs are weak: more comes out as noise, and a mean may "
        "be far off."
    )


def _finding(what: str, difference: float, interval: tuple[float, float], runs: int) -> Finding:
    low, high = interval
    if low > 0:
        verdict = Verdict.HOLDS
    elif high < 0:
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.NOISE
    return Finding(what, difference, (high - low) / 2, verdict, runs)
