"""Syncs that fail for real: strace lets them return EIO in a process that runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

SYNCS = "fsync,fdatasync"


class CannotTraceError(Exception):
    """Strace is missing, or it may not look into another process."""


@contextmanager
def failing_syncs(process: int, *, every: int = 1) -> Iterator[None]:
    """Let every sync of a process fail inside the block, or only every third and so on."""
    program = shutil.which("strace")
    if program is None:
        raise CannotTraceError("no strace is installed: apt-get install strace")
    failing = f"inject={SYNCS}:error=EIO:when={every}+{every}"
    where = ("-f", "-o", os.devnull, "-p", str(process))
    command = [program, "-e", f"trace={SYNCS}", "-e", failing, *where]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
        assert tracer.stderr is not None
        try:
            said = tracer.stderr.readline()  # when it has hold of all threads
            if " attached" not in said:
                raise CannotTraceError(said.strip())
            yield
        finally:
            tracer.send_signal(signal.SIGINT)  # it lets go
