"""Where sessions are kept: whole in one JSON file, or event by event in a journal.

A *document* is a session as it stands: names, settings, duels, answers and the learner's state. A
storage keeps one document and every event since, in order; going through these events again leads
to the same session, to the bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from fairduel._files import AnyPath, read_whole, write_whole
from fairduel.errors import InputError
from fairduel.live.votes import Asked, Event, Moved, Told, Voted

Document = dict[str, Any]

_SESSION = "fairduel session"
_JOURNAL = "fairduel journal"
_VERSION = 1  # of either


class Storage(ABC):
    """A place for one session: a document, and the events since.

    A session appends an event before it takes effect. So ``append`` either returns when it is
    safe, or raises. After it has raised, either the event is not kept, or nothing more is until the
    storage is read again.
    """

    @abstractmethod
    def begin(self, document: Document) -> None:
        """Begin to store a session; raise an error if there is one already."""

    @abstractmethod
    def append(self, event: Event) -> None:
        """Store one more event."""

    @abstractmethod
    def read(self) -> tuple[Document, list[Event]]:
        """Return the document and the events since, oldest first."""


# One JSON file


def write_document(path: AnyPath, document: Document) -> None:
    """Write a session to one JSON file, whole or not at all."""
    data = {"format": _SESSION, "version": _VERSION, **document}
    data["checksum"] = document_checksum(data)
    write_whole(path, _readable(data).encode())


def read_document(path: AnyPath) -> Document:
    """Read what ``write_document`` wrote."""
    text = read_whole(path)
    if text.startswith(_start_of_journal()):
        raise InputError(f"cannot load {os.fspath(path)!r}: it is a journal: use Session.resume.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it is not whole JSON ({error}): "
            "use a file that Session.save wrote."
        ) from error
    if not isinstance(data, dict) or data.pop("format", None) != _SESSION:
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it is not a session: "
            "use a file that Session.save wrote."
        )
    version, checksum = data.pop("version", None), data.pop("checksum", None)
    _check_version(f"cannot load {os.fspath(path)!r}", version)
    if checksum != document_checksum({"format": _SESSION, "version": version, **data}):
        raise InputError(
            f"cannot load {os.fspath(path)!r}: it was changed or damaged after it was saved: "
            "use an earlier copy."
        )
    return data


def fingerprint(path: AnyPath) -> str | None:
    """Return a digest of a file, or None if there is none that can be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, TypeError):  # read_document says what is wrong with the name
        return None


def document_checksum(data: Document) -> str:
    """Return the checksum of everything in a session file, however it is laid out."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _readable(data: Document) -> str:
    """Return JSON with a line for each top-level item and for each duel."""
    lines = []
    for key, value in data.items():
        if key in ("duels", "votes") and value:
            rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
            text = f"[\n{rows}\n  ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


# A journal


@dataclass(frozen=True)
class _End:
    """Where a journal ends: its last checksum, the end of its last whole line, its size."""

    checksum: str
    offset: int
    size: int


class Journal(Storage):
    """JSON Lines: the document first, then a line for each event, on disk when it is taken.

    Each line ends with a checksum of itself and all before it, so that nothing can be changed or
    go missing unnoticed. A last line without its end was cut off by a crash before it was
    reported as stored: it is ignored, and removed when the next line is written.

    Only one process at a time may write to a journal; if another has, that is noticed.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self._end: _End | None = None  # unknown until it is read

    def __repr__(self) -> str:
        return f"Journal({self})"

    def __str__(self) -> str:
        """Return the file's name, as errors give it."""
        return repr(os.fspath(self.path))

    def begin(self, document: Document) -> None:
        if os.path.lexists(self.path):
            raise InputError(
                f"cannot begin a journal in {self}: it exists already: "
                "go on from it with Session.resume, or give another name."
            )
        data = {"format": _JOURNAL, "version": _VERSION, "session": document}
        line, checksum = _line(data, "")
        write_whole(self.path, line)
        self._end = _End(checksum, len(line), len(line))

    def append(self, event: Event) -> None:
        end = self._end
        if end is None:
            raise self._error("it was not read: go on from it with Session.resume")
        line, checksum = _line(_event_data(event), end.checksum)
        try:
            self._write(line, end)
        except (OSError, ValueError) as error:
            raise self._error(f"{error}: go on from it with Session.resume") from error
        offset = end.offset + len(line)
        self._end = _End(checksum, offset, offset)

    def read(self) -> tuple[Document, list[Event]]:
        text = read_whole(self.path)
        *lines, rest = text.split(b"\n")
        self._check_format(text)
        items, checksum = [], ""
        for number, line in enumerate(lines, 1):
            item, checksum = self._parse(number, line, checksum)
            items.append(item)
        if not items:
            raise self._damaged(1)
        document: Document = items[0].get("session", {})
        events = [self._event(number, item) for number, item in enumerate(items[1:], 2)]
        self._end = _End(checksum, len(text) - len(rest), len(text))
        return document, events

    def _check_format(self, text: bytes) -> None:
        found = re.match(_start_of_journal() + rb', "version": (\d+)', text)
        if found is None:
            raise InputError(
                f"cannot resume from {self}: it is not a journal: "
                "give one that Session.keep began, or use Session.load."
            )
        _check_version(f"cannot resume from {self}", int(found[1]))

    def _write(self, line: bytes, end: _End) -> None:
        with open(self.path, "r+b") as file:
            # Another process has written to it, or a line of ours got there only in part.
            if os.fstat(file.fileno()).st_size != end.size:
                raise OSError("it is not as this session left it")
            file.truncate(end.offset)
            file.seek(end.offset)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _parse(self, number: int, line: bytes, before: str) -> tuple[dict[str, Any], str]:
        """Return what a line holds, and its checksum."""
        try:
            item = json.loads(line)
            del item["checksum"]
            again, checksum = _line(item, before)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._damaged(number) from error
        if again != line + b"\n":
            raise self._damaged(number)
        return item, checksum

    def _event(self, number: int, item: dict[str, Any]) -> Event:
        try:
            if "asked" in item:
                return Asked(item["asked"], item["left"], item["right"], item["listen"])
            if "voted" in item:
                return Voted(item["voted"], item["left"], item["right"], item["answer"])
            if "moved" in item:
                return Moved(item["moved"], item["name"], item["present"])
            return Told(item["told"], item["answers"])
        except KeyError as error:
            raise InputError(
                f"cannot resume from {self}: line {number} holds an event that this fairduel "
                "does not know: update fairduel."
            ) from error

    def _damaged(self, number: int) -> InputError:
        return InputError(
            f"cannot resume from {self}: line {number} was changed or damaged: use an earlier copy."
        )

    def _error(self, reason: str) -> InputError:
        return InputError(f"cannot write to {self}: {reason}.")


def _line(data: dict[str, Any], before: str) -> tuple[bytes, str]:
    """Return a line with its checksum, which covers the one before."""
    text = json.dumps(data, ensure_ascii=False)
    checksum = hashlib.sha256((before + text).encode()).hexdigest()[:16]
    return f'{text[:-1]}, "checksum": "{checksum}"}}\n'.encode(), checksum


def _event_data(event: Event) -> dict[str, Any]:
    if isinstance(event, Asked):
        return {
            "asked": event.id,
            "left": event.left,
            "right": event.right,
            "listen": event.listen,
        }
    if isinstance(event, Voted):
        return {
            "voted": event.user,
            "left": event.left,
            "right": event.right,
            "answer": event.answer,
        }
    if isinstance(event, Moved):
        return {"moved": event.kind, "name": event.name, "present": event.present}
    return {"told": event.id, "answers": event.answers}


def _start_of_journal() -> bytes:
    return json.dumps({"format": _JOURNAL})[:-1].encode()


def _check_version(what: str, version: object) -> None:
    if version != _VERSION:
        raise InputError(
            f"{what}: it has version {version!r} of the format and this fairduel reads "
            f"version {_VERSION}: update fairduel."
        )
