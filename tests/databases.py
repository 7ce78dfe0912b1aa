"""Both databases, for real: SQLite in a file, and a PostgreSQL of the tests' own."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from cluster import cluster, programs
from fairduel.serve.storage import Database, open_database


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    if programs() is None:
        reason = "no PostgreSQL is installed: apt-get install postgresql"
        if os.environ.get("FAIRDUEL_REQUIRE_POSTGRES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with cluster(durable=False) as running:
        yield running.url


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
