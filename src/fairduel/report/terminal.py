"""What the commands print: tables for people, and the same as plain data for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairduel.data.scores import ScoreTable
from fairduel.experiments.comparison import METRICS, Comparison, Estimate, Summary
from fairduel.welfare import Solution

HEADINGS = {
    "regret": "Regret",
    "nash_welfare": "Nash\nwelfare",
    "minimum_welfare": "Minimum\nwelfare",
    "utilitarian_welfare": "Mean\nwelfare",
    "gini": "Gini",
}

NAME_WIDTH = 15  # enough for the paper's learners; longer names fold

VALUES = {
    "nash": "Nash welfare",
    "frank-wolfe": "Nash welfare",
    "utilitarian": "mean utility",
    "egalitarian": "smallest utility",
}


def comparison_data(comparison: Comparison) -> list[dict[str, Any]]:
    """A summary of every learner as plain data; the interval that one run can't have is None."""
    data = []
    for label, summary in comparison.summaries().items():
        estimates = summary.metrics | {"identifying_rounds": summary.identifying}
        plain = {
            name: {"mean": estimate.mean, "half_width": _finite(estimate.half_width)}
            for name, estimate in estimates.items()
        }
        data.append({"learner": label, **plain, "seconds": summary.seconds})
    return data


def print_comparison(console: Console, comparison: Comparison, settings: dict[str, Any]) -> None:
    """The learners in a table."""
    print_summaries(console, comparison.summaries(), settings)


def print_summaries(
    console: Console, summaries: dict[str, Summary], settings: dict[str, Any]
) -> None:
    """The same table, each cell on one line if the terminal is wide enough."""
    shown = settings | {"rounds": f"{settings['rounds']:,}"}
    console.print(", ".join(f"{key} {value}" for key, value in shown.items()), end="\n\n")
    # Not every terminal has the sign.
    sign = "±" if console.encoding.startswith("utf") else "+-"
    table = _comparison_table(summaries, f" {sign} ")
    if _width(console, table) > console.width:
        table = _comparison_table(summaries, f"\n{sign}")
        table.columns[0].max_width = NAME_WIDTH
        table.padding = 0
        table.width = _width(console, table)  # nothing is left out where even that is too wide
    console.print(table, crop=False)
    runs = _runs(summaries)
    spread = f"mean {sign} 1.96 standard errors of {runs}; seconds: median"
    console.print(f"\n* best of its column; {runs if runs == 'one run' else spread}")


def _runs(summaries: dict[str, Summary]) -> str:
    """How many runs the means are over; by learner where some failed."""
    counts = {label: summary.runs for label, summary in summaries.items()}
    most = max(counts.values())
    fewer = [f"{label} {count}" for label, count in counts.items() if count < most]
    words = f"{most} runs" if most > 1 else "one run"
    return f"{words} (where fewer succeeded: {', '.join(fewer)})" if fewer else words


def _comparison_table(summaries: dict[str, Summary], joint: str) -> Table:
    """Learners in rows, so that there may be many; the best mean of a column has a star."""
    best = {
        metric: (max if more else min)(each.metrics[metric].mean for each in summaries.values())
        for metric, more in METRICS.items()
    }
    table = _table("Learner", *HEADINGS.values(), "Rounds to\nidentify", "Seconds\na run")
    for label, summary in summaries.items():
        cells = [
            _cell(estimate, joint, starred=len(summaries) > 1 and estimate.mean == best[metric])
            for metric, estimate in summary.metrics.items()
        ]
        identifying = _cell(summary.identifying, joint, starred=False)
        table.add_row(label, *cells, identifying, f"{summary.seconds:.3f}")
    return table


def _width(console: Console, table: Table) -> int:
    """How wide a table is where nothing has to be folded."""
    return console.measure(table, options=console.options.update(max_width=10_000)).maximum


def _cell(estimate: Estimate, joint: str, starred: bool) -> Text:
    mean, half_width = estimate.mean, estimate.half_width
    text = ("*" if starred else "") + _number(mean, mean)
    if not math.isnan(half_width):
        text += joint + _number(half_width, mean)
    return Text(text, "bold" if starred else "")


def _number(value: float, like: float) -> str:
    """About four digits of a value like another one, with as many places after the point."""
    size = abs(like)
    if 0 < size < 1e-3:
        return f"{value:.2e}"
    for unit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if size >= unit:
            return f"{value / unit:.{_places(size / unit)}f}{letter}"
    return f"{value:,.{_places(size)}f}"


def _places(size: float) -> int:
    return min(4, max(0, 3 - math.floor(math.log10(size)))) if size else 1


def solution_data(table: ScoreTable, solution: Solution, welfare: str) -> dict[str, Any]:
    """A solution as plain data, with names; a gap that is not finite is None."""
    policy, utilities = solution.policy.tolist(), solution.utilities.tolist()
    return {
        "welfare": welfare,
        "value": _finite(solution.value),
        "gap": _finite(solution.gap),
        "certificate": certificate(solution, welfare),
        "arms": [{"arm": arm, "probability": p} for arm, p in zip(table.arms, policy, strict=True)],
        "users": [
            {"user": user, "utility": u} for user, u in zip(table.users, utilities, strict=True)
        ],
        "unserved": [table.users[user] for user in solution.unserved],
    }


def print_solution(console: Console, table: ScoreTable, solution: Solution, welfare: str) -> None:
    """The arms to play, what every user gets, and the proof that it is the best."""
    arms = zip(table.arms, solution.policy.tolist(), strict=True)
    played = sorted((pair for pair in arms if pair[1] > 0), key=lambda pair: -pair[1])
    console.print(_two_columns("Arm", "Probability", played))
    others = len(table.arms) - len(played)
    if others:
        console.print(f"{others} more with probability 0")
    users = zip(table.users, solution.utilities.tolist(), strict=True)
    console.print(Text(), _two_columns("User", "Utility", users))
    console.print(f"\n{VALUES[welfare]}: {solution.value:.6g}")
    console.print(f"certificate: {certificate(solution, welfare)}")
    if solution.unserved:
        names = ", ".join(table.users[user] for user in solution.unserved)
        console.print(f"left out, since no policy gives them anything: {names}")


def certificate(solution: Solution, welfare: str) -> str:
    """How much better any policy could be at most, in words."""
    what = VALUES[welfare]
    if solution.gap == 0.0:
        return f"no policy has a higher {what}"
    if welfare == "egalitarian":
        return f"no policy has a {what} more than {solution.gap:.2g} higher"
    if math.isinf(solution.gap):
        return "none: somebody gets nothing here whom another policy would serve"
    percent = 100 * math.expm1(solution.gap)  # the gap is in the logarithm
    return f"no policy has a {what} more than {percent:.2g} % higher"


def _two_columns(name: str, value: str, rows: Iterable[tuple[str, float]]) -> Table:
    table = _table(name, value)
    for label, number in rows:
        table.add_row(label, f"{number:.6f}")
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
