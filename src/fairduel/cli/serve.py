"""fairduel serve: polls that people vote in, on a web server of one's own."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

Database = Annotated[
    str,
    typer.Option(
        "--db", metavar="FILE|URL", help="A file, made if need be, or postgresql://USER@HOST/NAME."
    ),
]
FILE = "fairduel.db"


def serve(
    db: Database = FILE,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen at; 0.0.0.0 is all.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 is any that is free.")] = 8000,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="How others reach it, as in https://polls.example."),
    ] = None,
    vote_rate: Annotated[
        float, typer.Option(metavar="N", help="Votes a second that one voter may send.")
    ] = 5.0,
    migrate: Annotated[
        bool, typer.Option("--migrate", help="Change the tables of an older PostgreSQL database.")
    ] = False,
) -> None:
    """Serve polls that people vote in.

    It prints one link, which makes polls. People then choose between two options at a time on
    their phones; the page of the organiser shows the fair shares, and draws decisions that
    everybody can check. Ctrl-C stops the server; nothing that was answered is lost.

    \b
    Examples:
      fairduel serve
      fairduel serve --db lunch.db --port 8080
      fairduel serve --db postgresql://me@localhost/polls --port 8001
      fairduel serve --base-url https://polls.example
    """
    from fairduel.serve.run import serve

    serve(
        db,
        host,
        port,
        base_url=base_url,
        votes_per_second=vote_rate,
        migrate=migrate,
        say=lambda text: sys.stdout.write(f"{text}\n") and sys.stdout.flush(),
    )
    # All votes are on disk. A computation that still runs, or the compiler, is not waited for.
    sys.stderr.flush()
    os._exit(0)
