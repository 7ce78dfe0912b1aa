"""What the commands print: tables for people, and the same as plain data for programs."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairduel import _tables
from fairduel.report.metrics import METRICS
from fairduel.report.numbers import plus_minus
from fairduel.report.statistics import Estimate
from fairduel.report.summary import IDENTIFYING, NOBODY, Summary, rounds_to_identify
from fairduel.welfare import Solution, Welfare

LEAST_NAME_WIDTH = 8  # where the numbers need the room
# Names of learners are broken after signs, but not within numbers.
BREAKS = re.compile(r"(?<=[:,;/=\s-])|(?<=\.)(?!\d)")

LEARNER = "Learner"
HEADINGS = {name: "\n".join(metric.short.rsplit(" ", 1)) for name, metric in METRICS.items()}


def summaries_data(summaries: Mapping[str, Summary]) -> list[dict[str, Any]]:
    """Return the summaries as plain data; the interval that a single run lacks is None."""
    data = []
    for label, summary in summaries.items():
        estimates = summary.metrics | {"identifying_rounds": summary.identifying}
        plain = {
            name: {"mean": estimate.mean, "half_width": _finite(estimate.half_width)}
            for name, estimate in estimates.items()
        }
        data.append({"learner": label, **plain, "seconds": summary.seconds})
    return data


def print_summaries(
    console: Console, summaries: Mapping[str, Summary], settings: Mapping[str, Any]
) -> None:
    """Print how each learner did, a cell on one line if the terminal is wide enough.

    ``settings`` says what was played, and its "rounds" for how long.
    """
    shown = {**settings, "rounds": f"{settings['rounds']:,}"}
    console.print(", ".join(f"{key} {value}" for key, value in shown.items()), end="\n\n")
    # Not every terminal has the sign.
    sign = "±" if console.encoding.startswith("utf") else "+-"
    table, names = _summaries_table(summaries, {}, f" {sign} "), {}
    if _width(console, table) > console.width:
        names = _short_names(console, summaries, f"\n{sign}")
        table = _summaries_table(summaries, names, f"\n{sign}")
        table.padding = 0
        table.width = _width(console, table)  # nothing is left out where even that is too wide
    console.print(table, crop=False)
    console.print()
    for label, name in names.items():
        if name.replace("\n", "") != label:
            console.print(f"{name} {label}")
    runs = _runs(summaries)
    spread = f"mean {sign} 1.96 standard errors of {runs}; seconds: median"
    console.print(f"* best of its column; {runs if runs == 'one run' else spread}")
    if any(rounds_to_identify(each)[0] in (NOBODY, ">") for each in summaries.values()):
        console.print(IDENTIFYING.replace(NOBODY, _nobody(sign)))


def _short_names(console: Console, summaries: Mapping[str, Summary], sign: str) -> dict[str, str]:
    """Return the names in as many lines as the numbers leave room for, or numbers instead."""
    table = _summaries_table(summaries, dict.fromkeys(summaries, ""), sign)
    table.padding = 0
    room = console.width - _width(console, table) + cell_len(LEARNER)
    broken = {label: _broken(label, max(LEAST_NAME_WIDTH, room)) for label in summaries}
    if all(broken.values()):
        return broken
    return {label: f"({number})" for number, label in enumerate(summaries, 1)}


def _broken(label: str, room: int) -> str:
    """Return a name with line breaks where they do not hurt; "" if a part does not fit."""
    lines = [""]
    for part in BREAKS.split(label):
        if cell_len(part.rstrip()) > room:
            return ""
        if cell_len((lines[-1] + part).rstrip()) > room:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _nobody(sign: str) -> str:
    return NOBODY if "±" in sign else "-"


def _runs(summaries: Mapping[str, Summary]) -> str:
    """Say how many runs the means are over, by learner where some failed."""
    counts = {label: summary.runs for label, summary in summaries.items()}
    most = max(counts.values())
    fewer = [f"{label} {count}" for label, count in counts.items() if count < most]
    words = f"{most} runs" if most > 1 else "one run"
    return f"{words} (where fewer succeeded: {', '.join(fewer)})" if fewer else words


def _summaries_table(
    summaries: Mapping[str, Summary], names: Mapping[str, str], sign: str
) -> Table:
    """Return learners in rows, so that there may be many; the best mean of a column has a star.

    names: what to show instead of a label.
    """
    best = {
        name: (max if metric.more_is_better else min)(
            each.metrics[name].mean for each in summaries.values()
        )
        for name, metric in METRICS.items()
    }
    table = _table(LEARNER, *HEADINGS.values(), "Rounds to\nidentify", "Seconds\na run")
    for label, summary in summaries.items():
        cells = [
            _cell(
                summary.metrics[name],
                sign,
                starred=len(summaries) > 1 and summary.metrics[name].mean == best[name],
            )
            for name in METRICS
        ]
        identifying = rounds_to_identify(summary, sign).replace(NOBODY, _nobody(sign))
        table.add_row(names.get(label, label), *cells, identifying, f"{summary.seconds:.3f}")
    return table


def _width(console: Console, table: Table) -> int:
    """Return how wide a table is where nothing has to be folded."""
    return console.measure(table, options=console.options.update(max_width=10_000)).maximum


def _cell(estimate: Estimate, sign: str, starred: bool) -> Text:
    return Text(("*" if starred else "") + plus_minus(estimate, sign), "bold" if starred else "")


def solution_data(solution: Solution, welfare: Welfare) -> dict[str, Any]:
    """Return a solution as plain data, with names; a gap that is not finite is None."""
    policy, utilities = solution.policy.tolist(), solution.utilities.tolist()
    return {
        "welfare": welfare.text,
        "value": _finite(solution.value),
        "gap": _finite(solution.gap),
        "certificate": certificate(solution, welfare),
        "arms": [
            {"arm": arm, "probability": p} for arm, p in zip(solution.arms, policy, strict=True)
        ],
        "users": [
            {"user": user, "utility": u} for user, u in zip(solution.users, utilities, strict=True)
        ],
        "unserved": [solution.users[user] for user in solution.unserved],
    }


def print_solution(console: Console, solution: Solution, welfare: Welfare) -> None:
    """Print the arms to play, what every user gets, and the proof that it is the best."""
    arms = zip(solution.arms, solution.policy.tolist(), strict=True)
    played = sorted((pair for pair in arms if pair[1] > 0), key=lambda pair: -pair[1])
    others = len(solution.arms) - len(played)
    rest = [(f"{others} {'other' if others == 1 else 'others'}", 0.0)] if others else []
    users = zip(solution.users, solution.utilities.tolist(), strict=True)
    tables = [_figures("Arm", "Probability", [*played, *rest]), _figures("User", "Utility", users)]
    proof = [
        f"{welfare.title}: {solution.value:.6g}",
        f"certificate: {certificate(solution, welfare)}",
    ]
    if solution.unserved:
        names = ", ".join(solution.users[user] for user in solution.unserved)
        proof.append(f"left out, since no policy gives them anything: {names}")
    print_result(console, [], tables, proof)


def print_result(
    console: Console,
    before: Iterable[str],
    tables: Iterable[_tables.Table],
    after: Iterable[str],
) -> None:
    """Print sentences, tables and sentences, with an empty line between."""
    shown: list[list[Any]] = [list(before), *([_shown(table)] for table in tables), list(after)]
    for number, part in enumerate(filter(None, shown)):
        if number:
            console.print()
        for each in part:
            text = isinstance(each, str)
            console.print(textwrap.fill(each, console.width) if text else each, soft_wrap=text)


def certificate(solution: Solution, welfare: Welfare) -> str:
    """Say how much better any policy can be, at most."""
    if solution.gap == 0.0:
        return f"no policy has a higher {welfare.title}"
    if math.isinf(solution.gap):
        return "none: a user gets nothing here whom another policy would serve"
    percent = f"{100 * math.expm1(solution.gap):.2g} %"
    more = percent if welfare.relative else f"{solution.gap:.2g}"
    return f"no policy has a {welfare.title} more than {more} higher"


def _figures(name: str, value: str, rows: Iterable[tuple[str, float]]) -> _tables.Table:
    """Return names with numbers of any size."""
    return _tables.Table((name, value), [(label, _figure(each)) for label, each in rows], (1,))


def _figure(number: float) -> str:
    plain = number == 0.0 or 1e-4 <= number < 1e7
    return f"{number:.6f}" if plain else f"{number:.6g}"


def _shown(table: _tables.Table) -> Table:
    """Return a table for the console, which folds long names."""
    shown = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for at, heading in enumerate(table.headings):
        shown.add_column(heading, justify="right" if at in table.right else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    return shown


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    return table


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
