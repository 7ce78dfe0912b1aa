"""What commands write: files that are checked before the work, JSON, one line for an error."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairduel.errors import InputError

if TYPE_CHECKING:  # slow to import
    import typer
    from rich.console import Console


def check_output(path: Path | None, suffixes: Iterable[str]) -> None:
    """Check before the work that its result can be written."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(f"cannot write {str(path)!r}: end its name with {' or '.join(suffixes)}.")
    if not _writable(Path(os.path.realpath(path))):
        raise InputError(
            f"cannot write {str(path)!r}: give a file name in a directory that exists and can be "
            "written to."
        )


def check_new(path: Path | None, suffixes: Iterable[str]) -> None:
    """Check the same of a file that must not be there yet: it may hold what nobody has twice."""
    check_output(path, suffixes)
    if path is not None and path.exists():
        raise InputError(f"cannot write {str(path)!r}: there is such a file: give another name.")


def check_folder(path: Path | None) -> None:
    """Check before the work that a folder can be made, or written to."""
    if path is None:
        return
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(
            f"cannot write to the folder {str(path)!r}: give one that can be made or written to."
        )


def given_command(context: typer.Context) -> str:
    """Return the command that was given, to make the same again: all that is not a default."""
    words = ["fairduel", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if value is None or value == parameter.default:
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
            words += option if each is True else [*option, str(each)]
    return shlex.join(words)


def _writable(target: Path) -> bool:
    """Return whether a file can be created or replaced; only trying tells for sure."""
    try:
        if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
            return False
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError:
        return False
    return True


def write(path: Path, data: bytes, quiet: bool) -> None:
    """Write a file, and say so."""
    from fairduel._files import write_whole

    write_whole(path, data)
    if not quiet:
        sys.stderr.write(f"wrote {path}\n")


def print_json(content: dict[str, Any]) -> None:
    """Print data for programs."""
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def console() -> Console:
    """Return the console that tables are printed on."""
    from rich.console import Console

    # Names are shown as they are, whatever brackets and colons they have.
    return Console(markup=False, emoji=False, highlight=False)


def counted_failures(failures: Sequence[object]) -> str:
    """Say how many simulations failed."""
    return "1 simulation failed" if len(failures) == 1 else f"{len(failures)} simulations failed"


def fail(message: str, code: int = 2) -> int:
    """Print in one line what is wrong; return the exit code."""
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return code
