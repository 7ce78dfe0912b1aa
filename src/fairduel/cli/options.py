"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from fairduel.cli import complete
from fairduel.scorings import SCORINGS
from fairduel.welfare.registry import by_name


def _in_sentence(summary: str) -> str:
    first, _, rest = summary.rstrip(".").partition(" ")
    return f"{first.lower() if first in ('The', 'How') else first} {rest}"


Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Worker processes; default: one per core.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use the Dask cluster with this scheduler instead."),
]
Answers = Annotated[
    list[float] | None,
    typer.Option(
        metavar="NUMBER",
        help="How likely users are to answer a duel; repeated, one for each. Default: 1.",
    ),
]
Delay = Annotated[
    int | None,
    typer.Option(metavar="N", help="How many rounds later answers come; default: 0."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only the result.")]
WELFARE = "NAME[:SETTING=VALUE,...]"
WELFARES = "; ".join(f"{name} ({_in_sentence(kind.summary)})" for name, kind in by_name().items())
Welfare = Annotated[
    str,
    typer.Option(
        metavar=WELFARE,
        help=f"What regret is measured in: {WELFARES}.",
        autocompletion=complete.welfares,
    ),
]
SCORES = "; ".join(f"{name} ({_in_sentence(each.summary)})" for name, each in SCORINGS.items())
Scoring = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"What an arm is worth to a user: {SCORES}. Learners learn it too, unless a setting "
        "scoring=NAME of theirs says otherwise. Default: condorcet, or for instances what their "
        "file says.",
        autocompletion=complete.scorings,
    ),
]
Maximised = Annotated[
    str,
    typer.Option(
        "--welfare",
        metavar=WELFARE,
        help=f"What to maximise: {WELFARES}.",
        autocompletion=complete.welfares,
    ),
]
