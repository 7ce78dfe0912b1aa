"""A PostgreSQL server for tests and benchmarks: on loopback, in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps one for each version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    found = shutil.which("initdb")
    folders += [Path(found).parent] if found else []
    return folders[-1] if folders else None


def _account() -> str | None:
    """Somebody else if we are root, as whom PostgreSQL does not run."""
    if os.geteuid() != 0:
        return None
    names = {account.pw_name for account in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@dataclass(frozen=True)
class Cluster:
    """A server that can be started and stopped."""

    folder: Path
    port: int
    durable: bool

    @property
    def url(self) -> str:
        return f"postgresql://fairduel@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder}"
        options += "" if self.durable else " -F"  # nothing has to survive
        self._run("pg_ctl", *self._data, "-l", str(self._log), "-w", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", *self._data, "-w", "-m", mode, "stop")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let all its processes stand still inside the block, with their connections open."""
        main = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(main, signal.SIGSTOP)  # first, so that no others come
        others = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        processes = [main, *map(int, others)]
        try:
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def make(self) -> None:
        names = ("-U", "fairduel", "-A", "trust", "-E", "UTF8", "--no-sync")
        self._run("initdb", *self._data, *names)

    @property
    def _data(self) -> tuple[str, str]:
        return "-D", str(self.folder / "data")

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _run(self, program: str, *arguments: str) -> None:
        folder = programs()
        assert folder is not None
        done = subprocess.run(
            [str(folder / program), *arguments],
            user=_account(),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would never end
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(self._log.read_text() if self._log.exists() else program)


@contextmanager
def cluster(*, durable: bool) -> Iterator[Cluster]:
    """Run a server; it ends with the block, and leaves nothing."""
    folder = Path(tempfile.mkdtemp(prefix="fairduel-postgres-"))
    account = _account()
    if account is not None:
        shutil.chown(folder, account)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Cluster(folder, port, durable)
    try:
        made.make()
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder)
