"""fairduel serve as its users meet it: a process, its link, its end."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
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


def new_poll(link: str) -> tuple[str, Any]:
    """Return a server's address, and a poll that is made there by its link."""
    url, _, key = link.partition("/start/")
    ready(url)
    made = httpx.post(
        f"{url}/api/v1/polls",
        json={"title": "Lunch", "options": ["a", "b"], "voters": ["ann"], "open": True},
        headers={"Authorization": f"Bearer {key}"},
    )
    return url, made.json()


def test_it_ends_at_once_while_kernels_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "nothing"))
    with server(tmp_path) as (link, process):
        url, made = new_poll(link)
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


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_links_of_a_server_for_all_work_and_are_handed_out(tmp_path: Path, host: str) -> None:
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with server(tmp_path, "--host", host) as (link, _):
        url, _, key = link.partition("/start/")
        ready(url)
        here = f"http://127.0.0.1:{urlsplit(url).port}"
        with httpx.Client(base_url=here, follow_redirects=True) as boss:
            boss.headers["Sec-Fetch-Site"] = "same-origin"
            boss.get(f"/start/{key}")
            page = boss.post("/new", data={"title": "Lunch", "options": "a\nb"}).text
    assert f"<code>{url}/j/" in page
    assert here not in page
    assert "Only this machine" not in page


def test_polls_outlive_a_kill_and_old_links_still_work(tmp_path: Path) -> None:
    with server(tmp_path, "--db", "lunch.db") as (first, process):
        url, made = new_poll(first)
        mine = {"Authorization": f"Bearer {made['voters'][0]['token']}"}
        path = f"/api/v1/polls/{made['poll']['slug']}"
        asked = httpx.get(f"{url}{path}/question", headers=mine).json()
        process.kill()
    with server(tmp_path, "--db", "lunch.db") as (link, _):
        url, _, _ = link.partition("/start/")
        ready(url)
        again = httpx.get(f"{url}{path}/question", headers=mine).json()
        assert again == asked
        assert (
            httpx.get(f"{url}/start/{first.rpartition('/')[2]}", follow_redirects=True).status_code
            == 200
        )


def test_heads_without_an_end_are_refused(tmp_path: Path) -> None:
    chunked = b"POST /new HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with server(tmp_path) as (link, _):
        url = link.partition("/start/")[0]
        ready(url)
        host, port = url.removeprefix("http://").split(":")
        for start in (b"GET /", b"GET / HTTP/1.1\r\nX: ", chunked + b"0\r\nX: ", chunked + b"1;"):
            with socket.create_connection((host, int(port)), 30) as line:
                line.sendall(start)
                with pytest.raises(OSError, match=r"reset|[Bb]roken|aborted"):
                    line.sendall(b"x" * 30_000_000)
        assert httpx.get(f"{url}/healthz", headers={"X": "x" * 20_000}).status_code == 200


def test_several_processes_say_the_same_to_the_bit(tmp_path: Path, postgres: str) -> None:
    """With the package's own learner: two at a time, and one that is started later."""
    arguments = ("--db", postgres, "--vote-rate", "1000")
    with server(tmp_path, *arguments) as (link, _), server(tmp_path, *arguments) as (other, _):
        urls = [each.partition("/start/")[0] for each in (link, other)]
        for url in urls:
            ready(url)
        key = {"Authorization": f"Bearer {link.rpartition('/')[2]}"}
        wished = {"title": "Lunch", "options": ["a", "b", "c", "d"], "open": True}
        wished["voters"] = ["ann", "bob", "cem"]
        made = httpx.post(f"{urls[0]}/api/v1/polls", json=wished, headers=key).json()
        path = f"/api/v1/polls/{made['poll']['slug']}"
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(vote_by_turns, urls, path, v) for v in made["voters"]]:
                done.result()
        boss = {"Authorization": f"Bearer {made['organiser']['token']}"}
        for url in urls:
            seen = httpx.get(f"{url}{path}", headers=boss).json()
            assert seen["last_seq"] == 3 * (6 + 6)  # questions and votes, without a gap
        policies = [decide(url, path, number, boss) for number, url in enumerate(urls, 1)]
    with server(tmp_path, *arguments) as (link, _):
        url = link.partition("/start/")[0]
        ready(url)
        policies.append(decide(url, path, 3, boss))
    assert policies[0] == policies[1] == policies[2]


def vote_by_turns(urls: list[str], path: str, voter: dict[str, str]) -> None:
    """Answer all questions about four options, each at another server than the one before."""
    mine = {"Authorization": f"Bearer {voter['token']}"}
    said = ("left", "right") if voter["name"] == "ann" else ("right", "tie")
    httpx.get(f"{urls[0]}{path}/question", headers=mine).raise_for_status()
    for n in range(1, 7):
        place = f"{urls[n % 2]}{path}/questions/{n}/vote"
        httpx.put(place, json={"answer": said[n % 2]}, headers=mine).raise_for_status()


def decide(url: str, path: str, number: int, boss: dict[str, str]) -> dict[str, float]:
    """Draw a decision; return the policy that it was drawn from."""
    answer = httpx.put(f"{url}{path}/decisions/{number}", headers=boss, timeout=120)
    policy: dict[str, float] = answer.raise_for_status().json()["drawn"][0]["policy"]
    return policy


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--db", "no/such/folder/polls.db"], "cannot open"),
        (["--db", "mysql://x/y"], "postgresql://"),
        (["--db", "postgresql://127.0.0.1:1/x"], "does not answer"),
        (["--port", "70000"], "port"),
        (["--base-url", "polls.example"], "https://polls.example"),
        (["--base-url", "https://polls.example:99999"], "https://polls.example."),
        (["--base-url", "https://polls.example:0"], "https://polls.example."),
        (["--base-url", "https://example/polls"], "leave '/polls' out"),
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
    error = capsys.readouterr().err
    assert f"port {port}: Address already in use: give" in error
    assert os.listdir(tmp_path) == []
