"""Whether a report is there already, as it would be made now: drawing takes seconds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from fairduel._files import write_whole
from fairduel.report.document import Document
from fairduel.report.markdown import to_markdown

STAMP = ".report.json"


def digest(document: Document, data: Iterable[str]) -> str:
    """Return a digest of all that makes a report: its text, the keys of its data, the code."""
    found = hashlib.sha256(to_markdown(document).encode())
    for part in (*data, version("matplotlib")):
        found.update(part.encode())
    for file in sorted(Path(__file__).parent.rglob("*.*")):
        if file.suffix in (".py", ".j2", ".css"):
            found.update(file.read_bytes())
    return found.hexdigest()


def is_made(folder: Path, wanted: str) -> bool:
    """Return whether the folder has the report with this digest, and nobody has changed it."""
    try:
        stamp = json.loads((folder / STAMP).read_bytes())
        files = {name: _digest_of(folder / name) for name in stamp["files"]}
        return bool(stamp["report"] == wanted and files == stamp["files"])
    except (OSError, ValueError, TypeError, KeyError):
        return False  # none yet, or not one of ours


def note_made(folder: Path, wanted: str, names: Iterable[str]) -> None:
    """Note that the files of these names are the report with this digest."""
    files = {name: _digest_of(folder / name) for name in names}
    write_whole(folder / STAMP, json.dumps({"report": wanted, "files": files}).encode())


def _digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
