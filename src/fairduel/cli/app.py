"""The application: its commands, its errors as one line each, and Ctrl-C."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import fairduel
from fairduel.cli import stopping
from fairduel.cli.compare import compare
from fairduel.cli.fit import fit
from fairduel.cli.help import Command
from fairduel.cli.output import fail
from fairduel.cli.poll import poll
from fairduel.cli.reproduce import reproduce
from fairduel.cli.serve import serve
from fairduel.cli.simulate import simulate
from fairduel.cli.solve import solve
from fairduel.errors import InputError


class _Commands(TyperGroup):
    """The commands; at Ctrl-C they say that they stopped, and what is kept, if anything."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BaseException as error:
            if not stopping.is_stop(error):
                raise
            stopping.say(error)
            raise KeyboardInterrupt from error


app = typer.Typer(
    cls=_Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help can be piped, and its examples copied
)
for command in (fit, simulate, compare, solve, reproduce, serve):
    app.command(cls=Command)(command)
app.add_typer(poll, name="poll")


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code. An error of its input becomes one line."""
    stopping.begin()
    if isinstance(sys.stdout, io.TextIOWrapper):  # names may have characters that a terminal lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = app(arguments or ["--help"], prog_name="fairduel", standalone_mode=False)
        sys.stdout.flush()
        return code or 0
    except (KeyboardInterrupt, typer.Abort) as error:
        return stopping.say(error)
    except BrokenPipeError:  # the reader of the output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (InputError, OSError) as error:
        return fail(str(error))
    except MemoryError:
        return fail("there is not enough memory: ask for fewer users, arms or checkpoints.")
    except Exception as error:
        # A wrong option or argument; where typer keeps the class of it depends on the version.
        if not hasattr(error, "format_message"):
            raise
        return fail(_plain(error.format_message()))


def _plain(message: str) -> str:
    """Say what to give in place of what is not a number."""
    whole = "give a whole number, like 1000."
    message = re.sub(r"Input should be a valid integer.*", whole, message)
    return re.sub(r"Input should be a valid number.*", "give a number, like 0.1.", message)


def _show_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"fairduel {fairduel.__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Fair decisions from pairwise votes.

    \b
    Example:
      fairduel simulate --users 4 --arms 4 --rounds 50000 --runs 3
    """
