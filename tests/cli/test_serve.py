"""fairduel serve as its users meet it: a process, its link, its end."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from fairduel import cli


@contextmanager
def server(folder: Path, *arguments: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A server in a process of its own, and the link that it prints."""
    command = [sys.executable, "-c", "from fairduel.cli import main; main()", "serve"]
    process = subprocess.Popen(
        [*command, "--port", "0", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        link = re.search(r"open (\S+) to make a poll", said)
        assert link is not None, said
        yield link[1], process
    finally:
        process.kill()
        process.communicate()


def ready(url: str) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.02)
    raise AssertionError("the server does not answer")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_one_command_one_link_and_a_clean_end(tmp_path: Path, end: int) -> None:
    with server(tmp_path) as (link, process):
        url, _, key = link.partition("/start/")
        ready(url)
        page = httpx.get(link, follow_redirects=True, headers={"Accept-Language": "en"})
        assert "New poll" in page.text
        made = httpx.post(
            f"{url}/api/v1/polls",
            json={"title": "Lunch", "options": ["a", "b"]},
            headers={"Authorization": f"Bearer {key}"},
        ).json()
        mine = {"Authorization": f"Bearer {made['organiser']['token']}"}
        events = f"{url}/api/v1/polls/{made['poll']['slug']}/events"
        with httpx.stream("GET", events, headers=mine) as stream:  # a board is open
            next(stream.iter_lines())
            for _ in range(3):
                process.send_signal(end)
                time.sleep(0.02)
            out, err = process.communicate(timeout=120)
    assert process.returncode == (0 if end == signal.SIGINT else -signal.SIGTERM)
    assert err == ""
    assert (tmp_path / "fairduel.db").exists()
    if end == signal.SIGINT:
        assert out.splitlines()[-1] == "stopped"


def test_it_ends_at_once_while_kernels_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "nothing"))
    with server(tmp_path) as (link, process):
        url, _, key = link.partition("/start/")
        ready(url)
        made = httpx.post(
            f"{url}/api/v1/polls",
            json={"title": "Lunch", "options": ["a", "b"], "voters": ["ann"], "open": True},
            headers={"Authorization": f"Bearer {key}"},
        ).json()
        mine = {"Authorization": f"Bearer {made['organiser']['token']}"}
        drawing = HTTPConnection(urlsplit(url).netloc)
        drawing.request("PUT", f"/api/v1/polls/{made['poll']['slug']}/decisions/1", headers=mine)
        httpx.get(f"{url}/healthz", timeout=60)  # what came before it was heard before it
        process.send_signal(signal.SIGINT)
        assert drawing.getresponse().status == 503  # and not a decision, a minute later
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.splitlines()[-1] == "stopped"
    assert "Traceback" not in err


def test_polls_outlive_a_kill_and_old_links_still_work(tmp_path: Path) -> None:
    with server(tmp_path, "--db", "lunch.db") as (link, process):
        url, _, key = link.partition("/start/")
        ready(url)
        made = httpx.post(
            f"{url}/api/v1/polls",
            json={"title": "Lunch", "options": ["a", "b"], "voters": ["ann"], "open": True},
            headers={"Authorization": f"Bearer {key}"},
        ).json()
        mine = {"Authorization": f"Bearer {made['voters'][0]['token']}"}
        path = f"/api/v1/polls/{made['poll']['slug']}"
        asked = httpx.get(f"{url}{path}/question", headers=mine).json()
        process.kill()
    with server(tmp_path, "--db", "lunch.db") as (link, _):
        url, _, _ = link.partition("/start/")
        ready(url)
        again = httpx.get(f"{url}{path}/question", headers=mine).json()
        assert again == asked
        assert httpx.get(f"{url}/start/{key}", follow_redirects=True).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--db", "no/such/folder/polls.db"], "cannot open"),
        (["--db", "mysql://x/y"], "postgresql://"),
        (["--db", "postgresql://127.0.0.1:1/x"], "does not answer"),
        (["--port", "70000"], "port"),
        (["--base-url", "polls.example"], "https://polls.example"),
        (["--vote-rate", "0"], "vote rate"),
        (["--host", "256.1.1.1"], "cannot listen"),
    ],
)
def test_bad_settings_are_one_sentence_and_exit_code_2(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--port" not in arguments:
        arguments = [*arguments, "--port", "0"]
    assert cli.run(["serve", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert said in error


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert cli.run(["serve", "--db", str(tmp_path / "x.db"), "--port", port]) == 2
    assert f"port {port}" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
