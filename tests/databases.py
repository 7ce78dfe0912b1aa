"""Both databases, for real: SQLite in a file, and a PostgreSQL of the tests' own."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from fairduel.serve.storage import Database, open_database


def _programs() -> Path | None:
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


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    programs = _programs()
    if programs is None:
        reason = "no PostgreSQL is installed: apt-get install postgresql"
        if os.environ.get("FAIRDUEL_REQUIRE_POSTGRES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="fairduel-postgres-"))
    account = _account()
    if account is not None:
        shutil.chown(folder, account)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(*command: str) -> None:
        done = subprocess.run(
            [str(programs / command[0]), *command[1:]],
            user=account,
            cwd=folder,
            stdout=subprocess.DEVNULL,  # the server inherits it: a pipe would never end
            stderr=subprocess.DEVNULL,
            check=False,
        )
        log = folder / "log"
        assert done.returncode == 0, log.read_text() if log.exists() else command

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "fairduel", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-h 127.0.0.1 -p {port} -k {folder} -F"  # -F: nothing here has to survive
    run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-w", "-o", options, "start")
    try:
        yield f"postgresql://fairduel@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def postgres(postgres_address: str, tmp_path: Path) -> str:
    """The address of an empty database: a schema of this test's own."""
    import psycopg

    name = f"t{os.urandom(6).hex()}"
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres_address}?options={quote(f'-csearch_path={name}')}"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database is, of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "polls.db")
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def database(place: str) -> Database:
    """An empty database with its tables, of either kind."""
    made = open_database(place)
    made.migrate()
    return made
