"""What commands write: files that are checked before the work, JSON, one line for an error."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairduel.errors import InputError

if TYPE_CHECKING:  # slow to import
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
