"""A progress bar for long jobs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

EVERY = 30.0  # seconds from line to line


@contextmanager
def bar(
    total: int, done: int, shown: bool, what: str = "simulations"
) -> Iterator[Callable[[int], None]]:
    """Show a bar with the time left on stderr; call it to advance it.

    Where that is no terminal, a line now and then says how many of ``what`` are done.
    """
    if shown and not sys.stderr.isatty():
        yield _lines(total, done, what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
        speed_estimate_period=300,  # the cells that take long come first
    ) as progress:
        task = progress.add_task("", total=total, completed=done)
        yield lambda count: progress.update(task, advance=count)


def _lines(total: int, done: int, what: str) -> Callable[[int], None]:
    """Return what says how far it has come, once in ``EVERY`` seconds."""
    said = time.monotonic()

    def advance(count: int) -> None:
        nonlocal said, done
        done += count
        if time.monotonic() - said >= EVERY and done < total:
            said = time.monotonic()
            sys.stderr.write(f"{done:,} of {total:,} {what} are done\n")
            sys.stderr.flush()

    return advance


@contextmanager
def can_go_on(
    folder: Path | None, what: Callable[[], str] = lambda: "what is done is"
) -> Iterator[None]:
    """Make Ctrl-C say that nothing is lost, and ``what`` kept in the folder, if there is one."""
    try:
        yield
    except KeyboardInterrupt as error:
        if error.args or folder is None:  # explained already, in more detail
            raise
        raise KeyboardInterrupt(
            f"{what()} kept in {str(folder)!r}; running it again goes on from there"
        ) from error
