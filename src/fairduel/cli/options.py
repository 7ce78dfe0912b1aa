"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Workers = Annotated[int | None, typer.Option(help="Worker processes; default: one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use the Dask cluster with this scheduler instead."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only the result.")]
Welfare = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="What regret is measured in: nash (the paper), utilitarian, ..."
    ),
]
