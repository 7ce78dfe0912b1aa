"""fairduel poll: a whole poll from the command line, beside a server or without."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import fake_advice
from fairduel import Session, cli
from fairduel.cli.poll import poll
from fairduel.serve import run as server
from web import serving

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in an empty folder, and return what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "learner", fake_advice.advise)

    def run_it(*arguments: str, code: int = 0) -> str:
        done = cli.run(["poll", *arguments])
        out, err = capsys.readouterr()
        assert done == code, out + err
        if code == 2:
            assert err.startswith("error: ")
            assert err.count("\n") == 1
        return out if code == 0 else err

    return run_it


def made(run: Run, *more: str) -> tuple[str, dict[str, str]]:
    out = run("new", "Lunch", *options(), "--voter", "Ann", "--voter", "Bob", *more)
    first, *lines = out.splitlines()
    return first.removeprefix("made "), dict(line.split(": ", 1) for line in lines)


def options() -> list[str]:
    return ["--option", "curry", "--option", "pizza", "--option", "soup"]


def test_a_poll_from_the_command_line(run: Run, tmp_path: Path) -> None:
    slug, links = made(run, "--join")
    assert list(links) == ["organiser", "everybody", "Ann", "Bob"]
    with serving(str(tmp_path / "fairduel.db")) as web:
        client = web.client(links["Ann"].rpartition("/")[2])
        client.get(f"/polls/{slug}/question")
        for n in (1, 2, 3):
            vote = client.put(f"/polls/{slug}/questions/{n}/vote", json={"answer": "left"})
            assert vote.status_code == 200
        assert "paused" in run("pause", slug)
        refused = client.put(f"/polls/{slug}/questions/1/vote", json={"answer": "tie"})
        assert refused.status_code == 409  # the server has noticed
        client.close()
    assert "open" in run("open", slug)
    assert re.fullmatch(r"decision 1: (curry|pizza|soup)\n", run("decide", slug))
    assert "1 decisions is not among those published: close the poll" in run("check", slug, code=1)
    run("decide", slug)
    run("close", slug)
    assert run("list").split() == [slug, "closed", "2", "Lunch"]
    assert run("check", slug) == "2 decisions, all as drawn\n"
    run("export", slug)
    lines = (tmp_path / "votes.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["user", "Ann", "Ann", "Ann"]
    assert "there is a file 'votes.csv' already" in run("export", slug, code=2)
    run("export", slug, "--out", "votes.json")
    assert [vote["user"] for vote in json.loads((tmp_path / "votes.json").read_text())] == [
        "Ann"
    ] * 3
    run("export", slug, "--session")
    assert Session.load(tmp_path / "session.json").users == ("Ann", "Bob")
    assert "end its name with .json" in run("export", slug, "--session", "--out", "x.csv", code=2)
    assert run("forget", slug, "Ann") == "Ann is forgotten\n"
    run("export", slug, "--out", "later.csv")
    assert (tmp_path / "later.csv").read_text() == "user,left,right,winner\n"


def test_a_poll_has_all_that_the_page_offers(run: Run, tmp_path: Path) -> None:
    wishes = ["--prompt", "What now?", "--welfare", "egalitarian", "--live", "--repeats"]
    slug, links = made(run, *wishes, "--hide-result", "--secret")
    with (
        serving(str(tmp_path / "fairduel.db")) as web,
        web.client(links["Ann"].rpartition("/")[2]) as ann,
    ):
        poll = ann.get(f"/polls/{slug}").json()
    assert (poll["prompt"], poll["welfare"], poll["mode"]) == ("What now?", "egalitarian", "live")
    assert (poll["repeats"], poll["show_result"], poll["secret"]) == (True, False, True)


def test_fairduel_fit_reads_what_is_exported(run: Run, tmp_path: Path) -> None:
    slug, links = made(run)
    with serving(str(tmp_path / "fairduel.db")) as web:
        for name in ("Ann", "Bob"):
            with web.client(links[name].rpartition("/")[2]) as client:
                client.get(f"/polls/{slug}/question")
                client.put(f"/polls/{slug}/questions/1/vote", json={"answer": "left"})
    for file in ("votes.csv", "votes.json"):
        run("export", slug, "--out", file)
        assert cli.run(["fit", file, "--quiet"]) == 0


def test_new_links_replace_the_old(run: Run, tmp_path: Path) -> None:
    slug, old = made(run)
    assert "--renew" in run("links", slug, code=2)
    lines = run("links", slug, "--renew", "--base-url", "https://polls.example/").splitlines()
    new = dict(line.split(": ", 1) for line in lines)
    assert list(new) == list(old)
    assert new["Ann"].startswith("https://polls.example/v/")
    alone = run("links", slug, "--renew", "--voter", "Bob", "--qr")
    bob = alone.split()[1]
    assert "█" in alone or "▄" in alone
    with serving(str(tmp_path / "fairduel.db")) as web:
        for link, status in ((old["Ann"], 401), (new["Ann"], 200), (new["Bob"], 401), (bob, 200)):
            with web.client(link.rpartition("/")[2]) as client:
                assert client.get(f"/polls/{slug}/question").status_code == status
        with web.client(new["organiser"].rpartition("/")[2]) as boss:
            assert boss.get(f"/polls/{slug}/voters").status_code == 200


def test_a_new_link_shows_no_answers_of_a_secret_poll(run: Run, tmp_path: Path) -> None:
    slug, links = made(run, "--secret")
    with serving(str(tmp_path / "fairduel.db")) as web:
        with web.client(links["Ann"].rpartition("/")[2]) as client:
            client.get(f"/polls/{slug}/question")
            client.put(f"/polls/{slug}/questions/1/vote", json={"answer": "left"})
        link = run("links", slug, "--renew", "--voter", "Ann").split()[1]
        with web.client(link.rpartition("/")[2]) as client:
            mine = client.get(f"/polls/{slug}/mine").json()
        assert [one["answer"] for one in mine["answers"]] == [None]
        assert mine["log"] == []
        with httpx.Client(base_url=web.url, follow_redirects=True) as boss:
            page = boss.get(f"/o/{links['organiser'].rpartition('/')[2]}").text
        assert "has a new link from the command line" in page
        assert "came by the link for everybody" not in page


def test_a_decision_without_answers_says_so(run: Run) -> None:
    slug, _ = made(run)
    first, second = run("decide", slug).splitlines()
    assert first.startswith("decision 1: ")
    assert second == "nobody has answered yet, so all options had the same share"


def test_what_is_wrong_is_said(run: Run, tmp_path: Path) -> None:
    assert "no file 'fairduel.db'" in run("open", "lunch", code=2)
    assert "two options at least" in run("new", "Lunch", "--option", "soup", code=2)
    assert "is taken" in run("new", "Lunch", "--option", "a", "--option", "a", code=2)
    assert not (tmp_path / "fairduel.db").exists()
    slug, _ = made(run)
    assert f"did you mean '{slug}'" in run("open", slug[:-1], code=2)
    assert "did you mean 'Ann'" in run("forget", slug, "An", code=2)
    run("close", slug)
    assert "cannot become paused" in run("pause", slug, code=2)
    assert "the poll is closed" in run("decide", slug, code=2)
    assert "cannot write" in run("export", slug, "--out", "votes.txt", code=2)
    secret, _ = made(run, "--secret")
    assert "secret" in run("export", secret, code=2)
    assert "invite at least five" in run("decide", secret, code=2)


def test_the_poll_of_make_serve_can_be_made(run: Run) -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    found = re.search(r"^POLL = (.*\\\n.*)$", makefile, re.MULTILINE)
    assert found is not None
    out = run("new", *shlex.split(found[1].replace("\\\n", " ")), "--db", "lunch.db")
    assert out.startswith("made team-lunch-")
    assert [out.count(f"/{kind}/") for kind in "ojv"] == [1, 1, 4]


def test_libraries_that_are_missing_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None if name == "segno" else object())
    said = run("open", "lunch", code=2)
    assert "polls need segno" in said
    assert "pip install 'fairduel[serve]', or in a checkout '.[serve]'" in said
    assert cli.run(["serve", "--port", "0"]) == 2


def test_every_command_has_help_and_every_option_too() -> None:
    names = [
        command.name or command.callback.__name__
        for command in poll.registered_commands
        if command.callback
    ]
    assert names == [
        *("new", "list", "open", "pause", "close", "links", "decide", "export", "forget", "check")
    ]
    for command in poll.registered_commands:
        assert command.callback is not None
        assert command.callback.__doc__
