"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from fairduel.errors import InputError

AnyPath = str | os.PathLike[str]

ABANDONED = 3600.0  # seconds after which a temporary file has no writer left


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        in_the_way = isinstance(error, FileExistsError | NotADirectoryError)
        reason = "a file has that name, or that of a folder above" if in_the_way else error.strerror
        raise InputError(
            f"cannot make the folder {str(folder)!r}: {reason}: give another one."
        ) from error


def write_whole(path: AnyPath, data: bytes) -> None:
    """Write all of ``data`` to the file ``path``, or leave the file as it was.

    The bytes go to a temporary file beside it, which takes the name once they are on disk. An
    existing file keeps its permissions, a new one gets those of the umask; a symbolic link keeps
    pointing to the file that is written. The directory must exist; what killed writers have left
    in it is removed.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = _mode_of(target)
        _tidy(target.parent)
        temporary = target.parent / f".fairduel-{secrets.token_hex(8)}.tmp"
        try:
            _write_new(temporary, data, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"cannot write {_named(path)}: {_reason(error)}: {_advice(error)}"
        ) from error
    _settle(target.parent)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of writers that were killed."""
    for file in folder.glob(".fairduel-*.tmp"):
        with contextlib.suppress(OSError):  # its writer has just finished, or it is not ours
            if time.time() - file.stat().st_mtime > ABANDONED:
                file.unlink()


_tidy = functools.cache(remove_abandoned)  # once, since a folder may have many files


def read_whole(path: AnyPath) -> bytes:
    """Return the bytes of the file ``path``."""
    with open_to_read(path) as file:
        return file.read()


def open_to_read(path: AnyPath) -> io.BufferedReader:
    """Open the file ``path`` for its bytes."""
    try:
        if path == "":  # for Path, the present directory
            raise ValueError("the name is empty")
        return Path(path).open("rb")
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"cannot read {_named(path)}: {_reason(error)}: "
            "give the name of a file that exists and can be read."
        ) from error


def _mode_of(target: Path) -> int | None:
    """Return the permissions of the file to be replaced, or None if there is none yet."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    # Taking over the name of a device or a pipe would destroy it.
    if not stat.S_ISREG(mode):
        raise OSError("it exists and is not a regular file")
    # Only the directory's permissions stop a replacement; honour the file's own as well.
    if not os.access(target, os.W_OK):
        raise OSError("the file is write-protected")
    return stat.S_IMODE(mode)


def _write_new(temporary: Path, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, 0o666 if mode is None else mode), "wb") as file:
        if mode is not None:
            os.chmod(temporary, mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _settle(directory: Path) -> None:
    """Sync the directory too, where the system allows it, so that the new name is on disk."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _named(path: object) -> str:
    return repr(os.fspath(path) if isinstance(path, str | os.PathLike) else path)


def _advice(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or give a file name on another disk."
    return "give a file name in a directory that exists and can be written to."


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


@contextlib.contextmanager
def alone(path: AnyPath) -> Iterator[None]:
    """Let nobody else who asks for a file be at it meanwhile, where there is one and locks work.

    Whoever has waited finds another file in its place, and has to look again.
    """
    try:
        import fcntl

        file = open(path, "rb")  # noqa: SIM115  (it is closed below)
    except (ImportError, OSError, TypeError, ValueError):
        yield
        return
    with file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
