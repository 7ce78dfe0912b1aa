"""A file or standard input as text: plain or gzip, in UTF-8 or as spreadsheets save it."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from fairduel._files import AnyPath, open_to_read
from fairduel.errors import InputError

STANDARD_INPUT = "-"
PIECE = 1 << 20  # bytes read at a time

Advance = Callable[[int], object]
"""What is told, now and then, how many more bytes have been read."""


class Source:
    """Text that is read once, from its start; ``head`` can be seen before that.

    ``ending`` is that of the file's name, in lower case and without ``.gz``.
    """

    def __init__(self, name: str, file: io.BufferedReader, advance: Advance | None = None) -> None:
        self.ending = PurePath(name.lower().removesuffix(".gz")).suffix.removeprefix(".")
        self._file, self._advance, self._told = file, advance, 0
        self._pieces = self._decoded()
        self.head = next(self._pieces, "")

    def pieces(self) -> Iterator[str]:
        """Return all text in pieces that end anywhere, with line feeds as the only line ends."""
        yield self.head
        yield from self._pieces

    def blocks(self) -> Iterator[str]:
        """Return all text in blocks of whole lines; the last one gets a line feed too."""
        rest = ""
        for piece in self.pieces():
            whole, end, rest = (rest + piece).rpartition("\n")
            if end:
                yield whole + end
        if rest:
            yield rest + "\n"

    def _decoded(self) -> Iterator[str]:
        data = self._read()
        marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        codec = codecs.getincrementaldecoder("utf-16" if marked else "utf-8-sig")()
        decoder = io.IncrementalNewlineDecoder(codec, translate=True)
        line = 1
        while data:
            yield (text := self._text(decoder, data, line))
            line += text.count("\n")
            data = self._read()
        yield self._text(decoder, b"", line)

    def _text(self, decoder: io.IncrementalNewlineDecoder, data: bytes, line: int) -> str:
        """Return the text of more bytes, the first of which are in this line; b"" ends it."""
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            raise InputError(
                f"line {line} is not text in UTF-8: save the file as text in UTF-8, or as "
                "CSV UTF-8 in a spreadsheet."
            ) from error
        if "\0" in text:
            line += text[: text.index("\0")].count("\n")
            raise InputError(f"line {line} has a NUL byte, so it is not text: get it again.")
        return text

    def _read(self) -> bytes:
        try:
            data = self._file.read(PIECE)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                "it is gzip that was cut off or damaged: get it again, whole."
            ) from error
        if self._advance is not None:
            told = self._told + len(data)
            if isinstance(self._file.raw, _Gzip) and self._file.raw.compressed.seekable():
                told = self._file.raw.compressed.tell()
            self._advance(told - self._told)
            self._told = told
        return data


class _Gzip(gzip.GzipFile):
    """Gzip that knows the file it is read from."""

    def __init__(self, compressed: io.BufferedReader) -> None:
        super().__init__(fileobj=compressed, mode="rb")
        self.compressed = compressed


@contextmanager
def open_source(path: AnyPath, advance: Advance | None = None) -> Iterator[Source]:
    """Open a file to be read, or standard input for "-", and name it in errors raised inside."""
    standard = path == STANDARD_INPUT
    stdin: Any = sys.stdin.buffer
    file = io.BufferedReader(stdin) if standard else open_to_read(path)
    name = "standard input" if standard else os.fspath(path)
    with about(name):
        try:
            start = file.peek(4)[:4]
            if start == b"PK\x03\x04":
                raise InputError("it is a zip archive, as .xlsx and .ods are: save it as CSV.")
            packed = start.startswith(b"\x1f\x8b")
            text: Any = io.BufferedReader(_Gzip(file)) if packed else file
            yield Source(name, text, advance)
        finally:
            # Standard input is not ours to close.
            file.detach() if standard else file.close()


@contextmanager
def about(name: AnyPath) -> Iterator[None]:
    """Name a file in errors raised inside."""
    try:
        yield
    except InputError as error:
        raise unusable(name, error) from error


def unusable(name: AnyPath, problem: object) -> InputError:
    """Return the error to raise about a file."""
    return InputError(f"cannot use {os.fspath(name)!r}: {problem}")
