"""A bar that shows how far a long job is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def bar(total: int, done: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar with the time left, on standard error if that is a terminal; call it to move it on."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not shown or not sys.stderr.isatty(),
        speed_estimate_period=300,  # the cells that take long come first
    ) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda count: progress.update(task, advance=count)


@contextmanager
def can_go_on(folder: Path, shown: bool) -> Iterator[None]:
    """Say at Ctrl-C that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        if shown:
            sys.stderr.write(
                f"stopped: what is finished is in {str(folder)!r}, and the same command goes on "
                "from there\n"
            )
        raise
