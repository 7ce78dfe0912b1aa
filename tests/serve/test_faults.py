"""Disks and databases that fail while the server runs, as those who vote meet them."""

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from failing_syncs import CannotTraceError, failing_syncs
from fairduel.serve import access
from fairduel.serve.records import Vote
from fairduel.serve.storage import open_database
from web import KEY, Made, serving, serving_elsewhere

STORMS = Path(__file__).parents[2] / "benchmarks" / "serve_faults.py"
ANOTHER = {"title": "Dinner", "options": ["rice", "bread"], "voters": ["ann"]}


def votes_on_disk(place: str, made: Made) -> list[Vote]:
    with closing(open_database(place).connect()) as connection:
        loaded = connection.load(made.slug)
    assert loaded is not None
    assert [seq for seq, _ in loaded[1].entries] == list(range(1, loaded[1].last_seq + 1))
    return [entry for _, entry in loaded[1].entries if isinstance(entry, Vote)]


def is_told(answer: httpx.Response) -> bool:
    """Return whether an answer says in a sentence that the database does not work now."""
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith("the database does not answer now: ")
    assert answer.headers["retry-after"] == "1"
    return answer.status_code == 503


@contextmanager
def files_that_do_not_grow(process: int) -> Iterator[None]:
    """Let every write of a process that makes a file longer fail, as on a full disk."""
    if not hasattr(resource, "prlimit"):
        pytest.skip("this system cannot limit another process")
    limit, most = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (4096, most))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, most))


@pytest.mark.parametrize("broken", [failing_syncs, files_that_do_not_grow])
def test_a_disk_that_fails_for_a_while(
    broken: Callable[[int], AbstractContextManager[None]], tmp_path: Path
) -> None:
    place = str(tmp_path / "polls.db")
    with serving_elsewhere(place) as (web, process):
        made = web.poll()
        made.vote(0, 2)
        vote = f"{made.path}/questions/3/vote"
        with made.voter(0) as voter, web.client(KEY) as organiser:
            try:
                with broken(process):
                    for _ in range(5):
                        assert is_told(voter.put(vote, json={"answer": "right"}))
                        assert is_told(organiser.post("/polls", json=ANOTHER))
            except CannotTraceError as error:
                pytest.skip(str(error))
            assert voter.put(vote, json={"answer": "right"}).status_code == 200
            assert organiser.post("/polls", json=ANOTHER).status_code == 201
        made.vote(1, 1)
    assert votes_on_disk(place, made) == [
        Vote(0, 1, "left"),
        Vote(0, 2, "left"),
        Vote(0, 3, "right"),
        Vote(1, 1, "left"),
    ]


@pytest.mark.parametrize(
    "faults", [{"kills": 5, "cuts": 50}, {"pg-kills": 3, "stops": 2}], ids=["sqlite", "postgres"]
)
def test_a_short_storm(faults: dict[str, int], request: pytest.FixtureRequest) -> None:
    """The script that kills servers and databases while people vote, with few kills."""
    if "stops" in faults:
        request.getfixturevalue("postgres_address")  # or a reason to skip
    every = ("kills", "cuts", "syncs", "full", "pg-kills", "stops", "gone", "frozen")
    wanted = [f"--{name}={faults.get(name, 0)}" for name in every]
    done = subprocess.run(
        [sys.executable, str(STORMS), *wanted], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == len(faults)
    assert done.stdout.count("0 lost  0 double  no gap") == len(faults.keys() - {"cuts"})


def test_a_file_that_cannot_be_opened_for_a_while(tmp_path: Path) -> None:
    folder, away = tmp_path / "polls", tmp_path / "elsewhere"
    folder.mkdir()
    place = str(folder / "polls.db")
    with serving(place) as web:
        made = web.poll()
    with serving(place) as web, Made(web, made.data).voter(0) as client:
        folder.rename(away)
        assert is_told(client.get(f"{made.path}/question"))
        away.rename(folder)
        assert client.get(f"{made.path}/question").status_code == 200


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vote that has not been begun when its voter is told will not be counted."""
    place = str(tmp_path / "polls.db")
    with serving(place) as web:
        made = web.poll()
        for voter in (0, 1):
            made.vote(voter, 1)
        vote = f"{made.path}/questions/2/vote"
        with closing(sqlite3.connect(place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # the writer waits for its end
            monkeypatch.setattr(access, "PATIENCE", 0.1)
            for voter in (0, 1):
                with made.voter(voter) as client:
                    assert is_told(client.put(vote, json={"answer": "tie"}))
            monkeypatch.undo()
            other.execute("ROLLBACK")
        made.vote(2, 1)  # comes after what waited
        assert Vote(1, 2, "tie") not in votes_on_disk(place, made)
        with made.voter(1) as client:
            assert client.put(vote, json={"answer": "tie"}).status_code == 200
    assert votes_on_disk(place, made).count(Vote(1, 2, "tie")) == 1


def test_nobody_waits_for_ever_to_be_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(str(tmp_path / "polls.db")) as web:
        made = web.poll()
        monkeypatch.setattr(access, "PATIENCE", 0.1)
        with web.service._reading, made.voter(0) as client:  # as while a reading stands still
            assert is_told(client.get(f"{made.path}/question"))
            assert is_told(httpx.get(f"{web.url}/readyz"))
            with web.client(KEY) as organiser:
                assert is_told(organiser.post("/polls", json=ANOTHER))
        monkeypatch.undo()
        made.vote(0, 1)
