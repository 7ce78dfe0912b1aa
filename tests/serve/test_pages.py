"""The pages without scripts: what people can do, what is refused, and how large they are."""

import ast
import json
import re
import string
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.routing import APIRoute

from fairduel.serve import draws, messages
from fairduel.serve.access import Limits
from fairduel.serve.pages import FOLDER, pages
from fake_advice import advise
from html_elements import Elements
from web import KEY, Made, Web, serving

LARGEST = 15_000  # bytes on the line, of a page with all it fetches


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with serving(str(tmp_path_factory.mktemp("pages") / "polls.db")) as made:
        yield made


class Person(httpx.Client):
    """Somebody with a browser that knows no scripts."""

    def __init__(self, web: Web, **headers: str) -> None:
        headers = {"Sec-Fetch-Site": "same-origin", **headers}
        super().__init__(base_url=web.url, headers=headers, follow_redirects=True, timeout=30)

    def see(self, path: str, status: int = 200) -> str:
        answer = self.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    def fill(self, path: str, status: int = 200, **fields: Any) -> str:
        answer = self.post(path, data=fields)
        assert answer.status_code == status, answer.text
        return answer.text


class Closed(Elements):
    EMPTY = Elements.EMPTY | {"input", "link"}


def local(link: str) -> str:
    return urlsplit(link).path


@pytest.fixture
def ann(web: Web, made: Made) -> Iterator[Person]:
    with Person(web) as person:
        person.see(local(made.data["voters"][0]["link"]))
        yield person


@pytest.fixture
def boss(web: Web, made: Made) -> Iterator[Person]:
    with Person(web) as person:
        person.see(local(made.data["organiser"]["link"]))
        yield person


@pytest.fixture
def made(web: Web) -> Made:
    return web.poll(join=True)


def test_quick_answers_are_flagged_and_one_voter_s_can_be_cleared(
    web: Web, made: Made, boss: Person
) -> None:
    made.vote(0, 4)  # as fast as a program can
    base = f"/p/{made.slug}"
    page = boss.see(f"{base}/setup")
    assert "3 very quick" in page
    assert "0.7 seconds" in page
    assert "very quick" not in boss.fill(f"{base}/setup", act="clear", voter=0)
    sheet = web.service.room(made.slug).ledger.sheets[0]
    assert sheet.counted == 0
    assert sheet.open == {1, 2, 3, 4, 5}
    secret = web.poll(secret=True)
    secret.vote(0, 4)
    with secret.organiser() as organiser:
        voters = organiser.get(f"{secret.path}/voters").json()
        assert [voter["hasty"] for voter in voters] == [None, None, None]
        assert organiser.delete(f"{secret.path}/voters/0/votes").status_code == 204
        assert organiser.delete(f"{secret.path}/voters/9/votes").status_code == 404
    with secret.voter() as voter:
        assert voter.delete(f"{secret.path}/voters/0/votes").status_code == 403


def test_a_live_poll_serves_two_options_and_asks_about_them(web: Web) -> None:
    made = web.poll(mode="live", options=["curry & rice", "soup"], voters=["ann"])
    base = f"/p/{made.slug}"
    with Person(web) as boss, Person(web) as ann:
        boss.see(local(made.data["organiser"]["link"]))
        page = ann.see(local(made.data["voters"][0]["link"]))
        assert "the next question comes with the next decision" in page
        assert f'data-stream="{base}/news"' in page
        number = 0
        while 'name="answer"' not in page:  # both sides may be the same at first
            number += 1
            board = boss.fill(f"{base}/decide", number=number)
            page = ann.see(base)
        assert "asks everybody" in board
        assert "curry &amp; rice" in page
        assert "amp;amp;" not in page + board
        assert f"About decision {number}" in page
        assert "0 answered, 1 to answer" in page
        page = ann.fill(f"{base}/vote", n=1, answer="left")
        assert "1 answered" in page
        assert f"Decision {number}:" in page
        assert "the next question comes with the next decision" in page
        boss.fill(f"{base}/cancel", number=number, reason="sold out")
        assert "sold out" in ann.see(base)
        while 'name="answer"' not in page:
            number += 1
            boss.fill(f"{base}/decide", number=number)
            page = ann.see(base)
        boss.fill(f"{base}/cancel", number=number, reason="sold out")
        page = ann.fill(f"{base}/vote", 409, n=2, answer="left")
        assert "The decision has been cancelled: there is nothing to answer about it." in page
        assert "the next question comes with the next decision" in page
        boss.fill(f"{base}/setup", act="closed")
        assert "Cancel it" not in boss.see(f"{base}/board")
        boss.fill(f"{base}/cancel", 409, number=1, reason="late")


def test_a_poll_is_made_shared_and_voted_in_without_scripts(web: Web) -> None:
    with Person(web) as boss:
        assert "fairduel serve" in boss.see("/")
        boss.see("/new", 401)
        assert "<form" in boss.see(f"/start/{KEY}")
        page = boss.fill(
            "/new",
            title="Lunch",
            options="curry\n pizza \n\nsoup",
            voters="ann\nbob",
            welfare="nash",
        )
        assert "Lunch" in page
        links = re.findall(r"<code>(http\S+/v/\S+?)</code>", page)
        assert len(links) == 2
        assert page.count('aria-label="QR"') == 2
        base = str(boss.get("/new").url).replace("/new", "")
        slug = re.search(r'action="/p/([^/"]+)/setup"', page)
        assert slug is not None
        boss.fill(f"/p/{slug[1]}/setup", act="open")
        with Person(web) as ann:
            page = ann.see(local(links[0]))
            for n in (1, 2, 3):
                assert f'name="n" value="{n}"' in page
                page = ann.fill(f"/p/{slug[1]}/vote", n=n, answer="left")
            assert "You have answered everything" in page
            page = ann.fill(f"/p/{slug[1]}/undo", n=3)
            assert 'name="n" value="3"' in page
            ann.fill(f"/p/{slug[1]}/vote", n=3, answer="tie")
            assert page.count(base) == 0
        boss.fill(f"/p/{slug[1]}/decide", number=1)
        page = boss.fill(f"/p/{slug[1]}/decide", number=1)  # again, as by a double click
        assert page.count("<li value=") == 1
        page = boss.fill(f"/p/{slug[1]}/cancel", number=1, reason="it rained")
        assert "it rained" in page
        boss.fill(f"/p/{slug[1]}/setup", act="closed")
        assert "seed" in boss.see(f"/p/{slug[1]}/board")


def test_a_wrong_form_comes_back_as_it_was(web: Web) -> None:
    with Person(web) as boss:
        boss.see(f"/start/{KEY}")
        page = boss.fill("/new", 422, title="Lunch", options="soup\nsoup", secret="on")
        assert "is taken" in page
        assert 'value="Lunch"' in page
        assert "soup\nsoup" in page
        assert re.search(r'name="secret" checked', page)
        page = boss.fill("/new", 422, title="Lunch", options="soup")
        assert "A poll needs two options at least: give more." in page


def test_people_join_by_one_link(web: Web, made: Made) -> None:
    with Person(web) as dov:
        page = dov.see(local(made.data["join"]["link"]))
        assert "Lunch" in page
        base = f"/p/{made.slug}"
        page = dov.fill(f"{base}/join", 422, name="ann")
        assert "The name &#39;ann&#39; is taken: if it is yours, ask the organiser" in page
        assert 'value="ann"' in page
        page = dov.fill(f"{base}/join?lang=de", 422, name="ann")
        assert "Den Namen &#39;ann&#39; gibt es schon: ist es deiner, dann frag" in page
        page = dov.fill(f"{base}/join?lang=en", 422, name=" ")
        assert "The name is empty" in page  # and not how many there are
        page = dov.fill(f"{base}/join", name=" dov ")
        own = re.search(r"<code>(http\S+/v/\S+?)</code>", page)
        assert own is not None
        again = dov.see(local(made.data["join"]["link"]))  # who comes back is asked
        assert f'href="{base}">Go on as dov</a>' in again
        assert 'name="name"' in again
        assert 'name="n" value="1"' in dov.see(base)
        assert own[1] in dov.see(f"{base}/mine")
        with Person(web) as elsewhere:
            assert 'name="n" value="1"' in elsewhere.see(local(own[1]))


def test_two_people_share_a_browser(web: Web, made: Made, ann: Person) -> None:
    """What is done on Ann's page, after Bob has opened his link in another tab."""
    base, room = f"/p/{made.slug}", web.service.room(made.slug)
    made.vote(0, 2)
    made.vote(1, 2)
    pages = {page: ann.see(f"{base}{page}") for page in ("", "/mine")}
    assert "You vote as ann." in pages[""]
    ann.see(local(made.data["voters"][1]["link"]))
    before = room.ledger.seq
    sent = set()
    for page in pages.values():
        for action, fields in re.findall(
            r'<form method="post" action="([^"]+)"(.*?)</form>', page, re.S
        ):
            hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', fields))
            said = ann.fill(action, 403, **hidden, answer="tie")
            assert "This page is ann&#39;s, but this browser is now used by bob" in said
            assert "Open your own link again" in said
            sent.add(action.removeprefix(f"{base}/"))
    assert sent == {"vote", "undo", "forget"}
    assert room.ledger.seq == before
    assert "You vote as bob." in ann.see(base)
    ann.fill(f"{base}/vote", n=1, answer="tie", voter="bob")
    assert room.ledger.sheets[1].answers[0] == "tie"


def test_somebody_else_joins_in_the_same_browser(web: Web, made: Made) -> None:
    link, base = local(made.data["join"]["link"]), f"/p/{made.slug}"
    with Person(web) as phone:
        assert "Go on as" not in phone.see(link)
        phone.see(link)
        phone.fill(f"{base}/join", name="dov")
        page = phone.fill(f"{base}/join", 422, name="ann")
        assert "Go on as dov" in page
        assert "dov then needs the own link" in page
        assert "You vote as eve." in phone.fill(f"{base}/join", name="eve")
    names = [voter.name for voter in web.service.room(made.slug).ledger.frame.voters]
    assert names[-2:] == ["dov", "eve"]


def test_own_answers_are_seen_changed_and_forgotten(web: Web, made: Made, ann: Person) -> None:
    base = f"/p/{made.slug}"
    made.vote(0, 6)
    made.settled()
    assert "Too early to say" in ann.see(f"{base}/mine")
    made.vote(1, 6)
    made.settled()
    page = ann.see(f"{base}/mine")
    assert page.count("<select") == 6
    assert "of what your favourite every time would give you" in page
    assert "That is not sure yet" in page  # the range is wide
    page = ann.fill(f"{base}/vote", n=2, answer="tie", back="mine")
    assert page.count('value="tie" selected') == 1
    assert f'href="{base}/mine.json"' in page
    kept = json.loads(ann.see(f"{base}/mine.json"))
    assert kept["name"] == "ann"
    assert [one["answer"] for one in kept["answers"]] == ["left", "tie", *["left"] * 4]
    assert [(one["n"], one["answer"]) for one in kept["log"]][5:] == [(6, "left"), (2, "tie")]
    assert time.time() - 600 < kept["log"][0]["at"] <= kept["log"][-1]["at"]
    assert "Nothing is kept about you" in ann.fill(f"{base}/forget")
    ann.see("/done/nothing", 404)
    ann.see(base, 401)
    room = web.service.room(made.slug)
    assert room.ledger.frame.voters[0].name == ""
    assert not room.ledger.wins[0].any()


def test_the_board_and_the_result(made: Made, ann: Person, boss: Person) -> None:
    base = f"/p/{made.slug}"
    made.vote(0, 2)
    made.settled()
    page = boss.see(f"{base}/board")
    assert "Too early to say" in page
    assert "%</td>" not in page
    assert "Answers still worth asking for: about 16" in page  # six of each
    assert "%</td>" in boss.see(f"{base}/board?anyway=1")
    assert "Too early to say" in ann.see(f"{base}/result")
    made.vote(1, 6)
    made.vote(0, 4)
    made.settled()
    page = boss.see(f"{base}/board")
    assert "Answers: 12 · People: 2 of 3" in page
    assert "Answers still worth asking for: about 6" in page
    assert "no answer yet" in page  # cem
    assert page.count('class="bar"') == 4 + 2
    assert "These shares keep about 90 % of the best possible (80–95 %)." in page
    assert "Ten more answers from everybody would add about 2 points." in page
    assert re.search(r"<td>\d+ % \(\d+–\d+ %\)<svg", page)  # what ann gets
    assert "%</td>" in ann.see(f"{base}/result")
    files = re.findall(rf'href="{base}/([a-z.]+(?:csv|json))"', page)
    assert files == ["votes.csv", "votes.json", "session.json"]
    assert "user,left,right,winner" in boss.see(f"{base}/votes.csv")
    assert len(json.loads(boss.see(f"{base}/votes.json"))) == 12
    assert json.loads(boss.see(f"{base}/session.json"))["users"]


def test_the_board_tells_who_could_not_say_from_who_is_silent(made: Made, boss: Person) -> None:
    base = f"/p/{made.slug}"
    made.vote(0, 6)
    made.vote(1, 3, "skip")
    made.settled()
    rows = re.findall(
        r'<tr><th scope="row">(\w+)</th>(.*?)</tr>', boss.see(f"{base}/board?anyway=1")
    )
    people = {name: re.sub(r"<.*?>", " ", cells).split() for name, cells in rows}
    assert re.match(r"6 \d+ % \(\d+–\d+ %\) likes", " ".join(people["ann"]))
    assert people["bob"][0] == "0"
    assert people["bob"][-2:] == ["say”:", "3"]
    assert " ".join(people["cem"]) == "0 no answer yet"


def test_the_largest_share_comes_first(made: Made, boss: Person) -> None:
    for voter in range(3):
        made.vote(voter, 6)
    made.settled()
    page = boss.see(f"/p/{made.slug}/board")
    shares = [int(share) for share in re.findall(r'class="number">(\d+) %</td>', page)]
    assert len(shares) == 4
    assert shares == sorted(shares, reverse=True)


def test_the_hash_of_every_seed_is_shown(web: Web, made: Made, boss: Person) -> None:
    base, room = f"/p/{made.slug}", web.service.room(made.slug)
    first = draws.commitment(room.ledger.frame.poll.seed)
    assert first in boss.see(f"{base}/board")
    for number in (1, 2):
        boss.fill(f"{base}/decide", number=number)
        boss.fill(f"{base}/setup", act="closed")
        boss.fill(f"{base}/setup", act="open")
    page = boss.see(f"{base}/board")
    seeds = room.ledger.seeds
    assert len(seeds) == 2
    assert first == draws.commitment(seeds[0])
    for seed in seeds:
        assert f"{seed}; its SHA-256: {draws.commitment(seed)}" in page
    assert room.ledger.frame.poll.seed not in page
    assert draws.commitment(room.ledger.frame.poll.seed) in page


def test_shares_that_are_still_computed_are_said_to_be(tmp_path: Path) -> None:
    ready = threading.Event()

    def slow(*args: Any, **settings: Any) -> Any:
        ready.wait(60)
        return advise(*args, **settings)

    with serving(str(tmp_path / "polls.db"), advise=slow) as web, Person(web) as boss:
        made = web.poll(voters=["ann"])
        made.vote(0, 6)
        boss.see(local(made.data["organiser"]["link"]))
        assert "are being computed" in boss.see(f"/p/{made.slug}/board")
        ready.set()
        made.settled()
        assert "are being computed" not in boss.see(f"/p/{made.slug}/board")
        ready.clear()
        with made.organiser() as program:
            program.post(f"{made.path}/options", json={"names": ["rice"]}).raise_for_status()
        assert "are being computed" in boss.see(f"/p/{made.slug}/board")
        ready.set()


def test_the_organiser_sets_up(web: Web, made: Made, boss: Person) -> None:
    base = f"/p/{made.slug}"
    assert "stew" in boss.fill(f"{base}/setup", act="add-option", name="stew")
    assert "taken out" in boss.fill(f"{base}/setup", act="retire", option=4)
    assert "taken out" not in boss.fill(f"{base}/setup", act="restore", option=4)
    page = boss.fill(f"{base}/setup", act="add-voter", name="dov")
    links = re.findall(r"<code>(http\S+/v/\S+?)</code>", page)
    assert len(links) == 4
    page = boss.fill(f"{base}/setup", act="reissue", voter=3)
    again = re.findall(r"<code>(http\S+/v/\S+?)</code>", page)
    assert again[:3] == links[:3]
    assert again[3] != links[3]
    with Person(web) as dov:
        dov.see(local(links[3]), 401)
        dov.see(local(again[3]))
    assert "dov" not in boss.fill(f"{base}/setup", act="remove", voter=3)
    assert "/j/" not in boss.fill(f"{base}/setup", act="join-off")
    assert "/j/" in boss.fill(f"{base}/setup", act="join-on")
    assert "paused" in boss.fill(f"{base}/setup", act="paused")
    page = boss.fill(f"{base}/setup", 422, act="add-option", name="soup")
    assert "is taken" in page
    assert page.count('value="soup"') == 1  # where it was typed
    assert made.data["organiser"]["link"] in page
    assert "Only this machine" in page
    boss.fill(f"{base}/setup", 422, act="explode")
    boss.fill(f"{base}/setup", 422, act="retire", option="x")
    boss.fill(f"{base}/setup", act="delete")
    boss.see(f"{base}/board", 401)


def test_a_poll_that_is_not_open_says_so(web: Web, made: Made, ann: Person, boss: Person) -> None:
    base = f"/p/{made.slug}"
    boss.fill(f"{base}/setup", act="paused")
    assert "paused" in ann.see(base)
    ann.fill(f"{base}/vote", 409, n=1, answer="left")
    boss.fill(f"{base}/setup", act="closed")
    assert "closed" in ann.see(base)


# Who may do what


def test_voters_do_not_get_to_the_organisers_pages(made: Made, ann: Person) -> None:
    base = f"/p/{made.slug}"
    for page in ("board", "setup", "votes.csv", "votes.json", "session.json"):
        ann.see(f"{base}/{page}", 401)
    ann.fill(f"{base}/setup", 401, act="closed")
    ann.fill(f"{base}/decide", 401, number=1)
    ann.fill(f"{base}/cancel", 401, number=1, reason="x")


def test_links_of_other_polls_open_nothing_here(web: Web, made: Made) -> None:
    other = web.poll()
    with Person(web) as person:
        person.see(local(other.data["voters"][0]["link"]))
        token = other.data["voters"][0]["token"]
        person.cookies.set("fairduel_v", token, path=f"/p/{made.slug}")
        person.see(f"/p/{made.slug}", 403)
        person.cookies.set("fairduel_o", token, path=f"/p/{made.slug}")
        person.see(f"/p/{made.slug}/board", 403)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
    ],
)
def test_forms_from_elsewhere_are_refused(web: Web, made: Made, headers: dict[str, str]) -> None:
    with Person(web) as ann:
        ann.see(local(made.data["voters"][0]["link"]))
        del ann.headers["Sec-Fetch-Site"]
        before = web.service.room(made.slug).ledger.seq
        for path in ("vote", "undo", "forget"):
            answer = ann.post(
                f"/p/{made.slug}/{path}", data={"n": 1, "answer": "left"}, headers=headers
            )
            assert answer.status_code == 403
        assert web.service.room(made.slug).ledger.seq == before
        ours = {"Origin": web.url}
        answer = ann.post(f"/p/{made.slug}/vote", data={"n": 1, "answer": "left"}, headers=ours)
        assert answer.status_code == 200


def test_no_form_at_all_is_taken_from_elsewhere(web: Web, made: Made) -> None:
    routes = [route for route in pages.routes if isinstance(route, APIRoute)]
    forms = [route.path for route in routes if "POST" in (route.methods or ())]
    assert len(forms) == 8
    room, polls = web.service.room(made.slug), web.service.slugs()
    before = room.ledger.seq
    with Person(web) as somebody:  # who may do everything
        somebody.see(f"/start/{KEY}")
        for kind in ("organiser", "join"):
            somebody.see(local(made.data[kind]["link"]))
        somebody.see(local(made.data["voters"][0]["link"]))
        for form in forms:
            answer = somebody.post(
                form.format(slug=made.slug), headers={"Sec-Fetch-Site": "cross-site"}
            )
            assert answer.status_code == 403, form
            assert "another site" in answer.text
    assert (room.ledger.seq, web.service.slugs()) == (before + 1, polls)  # a question was shown


def test_previews_of_links_vote_nothing(web: Web, made: Made) -> None:
    link = local(made.data["voters"][0]["link"])
    with Person(web) as robot:
        for _ in range(3):
            robot.see(link)
    assert not web.service.room(made.slug).ledger.wins.any()


def test_cookies_are_for_one_poll_and_no_script(web: Web, made: Made) -> None:
    with Person(web) as ann:
        answer = ann.get(local(made.data["voters"][0]["link"]), follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/p/{made.slug}"
    cookie = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=lax", f"Path=/p/{made.slug}"):
        assert part in cookie
    assert "Secure" not in cookie


def test_cookies_are_secure_behind_https(tmp_path: Path) -> None:
    with serving(str(tmp_path / "polls.db"), base_url="https://polls.example") as web:
        made = web.poll()
        with Person(web) as ann:
            link = local(made.data["voters"][0]["link"])
            assert "Secure" in ann.get(link, follow_redirects=False).headers["set-cookie"]


def test_joining_is_limited(tmp_path: Path) -> None:
    with serving(str(tmp_path / "polls.db"), Limits(joins_per_minute=2)) as web:
        made = web.poll(join=True)
        with Person(web) as crowd:
            crowd.see(local(made.data["join"]["link"]))
            crowd.fill(f"/p/{made.slug}/join", name="a")
            crowd.fill(f"/p/{made.slug}/join", name="b")
            crowd.fill(f"/p/{made.slug}/join", 429, name="c")


def test_decisions_and_sessions_are_limited(tmp_path: Path) -> None:
    with serving(str(tmp_path / "polls.db"), Limits(plans_per_minute=3)) as web:
        made, other = web.poll(), web.poll()
        with Person(web) as boss:
            boss.see(local(made.data["organiser"]["link"]))
            boss.fill(f"/p/{made.slug}/decide", number=1)
            boss.see(f"/p/{made.slug}/session.json")
            boss.fill(f"/p/{made.slug}/decide", number=2)
            boss.fill(f"/p/{made.slug}/decide", 429, number=3)
            boss.fill(f"/p/{made.slug}/decide", number=2)  # drawn before: nothing to work for
            boss.see(f"/p/{made.slug}/session.json", 429)
        with made.organiser() as program:
            assert program.get(f"{made.path}/session.json").status_code == 429
        with other.organiser() as program:
            assert program.put(f"{other.path}/decisions/1").status_code == 200


# Words


NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "שלום עולם",
    "🍜 & 🥗",
    "' OR 1=1 --",
    "a" * 120,
]


def test_names_are_shown_as_text(web: Web) -> None:
    made = web.poll(title=NASTY[0], prompt=NASTY[1], options=NASTY, voters=NASTY)
    made.vote(0, 21)
    made.settled()
    with Person(web) as person:
        pages = [person.see(local(made.data["organiser"]["link"]))]
        base = f"/p/{made.slug}"
        pages += [person.see(f"{base}/board?anyway=1")]
        pages += [person.see(local(made.data["voters"][1]["link"]))]
        with Person(web) as first:
            first.see(local(made.data["voters"][0]["link"]))
            pages += [first.see(f"{base}/{page}") for page in ("mine", "result")]
        for page in pages:
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "49" not in re.findall(r"<strong>(.*?)</strong>|<th scope=\"row\">(.*?)<", page)
        assert all(name in pages[0] for name in NASTY[2:5] if "&" not in name)


def test_a_link_that_the_organiser_knows_shows_no_answers_of_a_secret_poll(web: Web) -> None:
    made = web.poll(secret=True, voters=["ann"])
    made.vote(0, 3)
    with Person(web) as boss:
        boss.see(local(made.data["voters"][0]["link"]))
        page = boss.see(f"/p/{made.slug}/mine")
        assert page.count("<select") == 3
        assert "selected" not in page
        assert "does not show what you said" in page


def test_secret_polls_name_nobody_on_the_board(web: Web) -> None:
    made = web.poll(voters=[f"person{d}" for d in range(6)], secret=True)
    with Person(web) as boss:
        boss.see(local(made.data["organiser"]["link"]))
        for voter in range(6):
            made.vote(voter, 4)
            if voter < 4:
                page = boss.see(f"/p/{made.slug}/board")
                assert "There is no result yet" in page
                assert "Decide now" not in page
                assert "anyway" not in page
        made.settled()
        page = boss.see(f"/p/{made.slug}/board?anyway=1")
        assert "person" not in page.replace("person-", "")
        assert "votes.csv" not in page
        for file in ("votes.csv", "votes.json", "session.json"):
            boss.see(f"/p/{made.slug}/{file}", 403)


def test_a_secret_poll_counts_everybody_when_it_is_closed(web: Web) -> None:
    made = web.poll(voters=[f"p{d}" for d in range(5)], secret=True)
    base = f"/p/{made.slug}"
    with Person(web) as ann, Person(web) as boss:
        page = ann.see(local(made.data["voters"][0]["link"]))
        assert "What is secret?" in page
        assert "after a pause are not counted" in page
        boss.see(local(made.data["organiser"]["link"]))
        for voter in range(5):
            made.vote(voter, 6)
        board = boss.see(f"{base}/board")
        assert "There is no result yet" in board
        assert "when the poll is paused or closed, it has all of them" in board
        boss.fill(f"{base}/setup", act="closed")
        made.settled()
        board = boss.see(f"{base}/board")
        assert "Answers: 30" in board  # the last six are of one person, and count
        for page in (board, ann.see(f"{base}/result")):
            assert "Answers that came after a pause are not counted if" in page
    with Person(web) as ann:
        open_poll = web.poll()
        assert "secret" not in ann.see(local(open_poll.data["voters"][0]["link"]))


def test_a_secret_poll_of_few_people_says_that_it_shows_nothing(web: Web) -> None:
    made = web.poll(voters=list("abcd"), secret=True)
    base, said = f"/p/{made.slug}", "shows nothing of fewer than five people: invite at least five."
    with Person(web) as boss, made.organiser() as program:
        boss.see(f"/start/{KEY}")
        assert "invite at least five" in boss.see("/new")
        assert said in boss.see(local(made.data["organiser"]["link"]))
        for voter in range(4):
            made.vote(voter, 6)
        page = boss.see(f"{base}/board")
        assert said in page
        assert "There is no result yet" not in page
        refused = program.put(f"{made.path}/decisions/1")
        assert refused.status_code == 409
        assert refused.json()["detail"] == f"a secret poll {said}"
        assert said not in boss.fill(f"{base}/setup", act="add-voter", name="e")
        assert "too early" in program.put(f"{made.path}/decisions/1").json()["detail"]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "de"),
        ("fr,en;q=0.5,de;q=0.4", "en"),
        ("fr", "en"),
        ("", "en"),
        ("en;q=x,de", "de"),
    ],
)
def test_the_browser_chooses_the_language(accepted: str, language: str) -> None:
    assert messages.preferred(accepted) == language


def test_people_choose_the_language_and_it_stays(web: Web, made: Made) -> None:
    with Person(web, **{"Accept-Language": "de"}) as ann:
        page = ann.see(local(made.data["voters"][0]["link"]))
        assert '<html lang="de">' in page
        assert "Was magst du lieber?" in page
        base = f"/p/{made.slug}"
        assert "Which do you like better?" in ann.see(f"{base}?lang=en")
        assert "Which do you like better?" in ann.see(base)
        assert "Dieser Link" not in ann.see(f"{base}/board", 401)
        assert '<html lang="en">' in ann.see(f"{base}?lang=xx")


def test_catalogues_have_the_same_messages_with_the_same_gaps() -> None:
    def gaps(text: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(text)} - {None}

    first, *others = messages.catalogues().values()
    assert others
    for other in others:
        assert list(first) == list(other)
        assert {key: gaps(text) for key, text in first.items()} == {
            key: gaps(text) for key, text in other.items()
        }


MADE_UP = ("error_", "state_", "mode_", "welfare_", "done_")


def test_every_message_is_used_and_every_one_used_is_there() -> None:
    sources = [*(FOLDER / "templates").iterdir(), FOLDER / "pages.py"]
    text = "\n".join(file.read_text() for file in sources)
    used = set(re.findall(r"""\bt\(["']([a-z_0-9]+)["']""", text))
    used |= set(re.findall(r'say\([^"]*"([a-z_0-9]+)"', text))
    used |= set(re.findall(r'\("([a-z]+)", (?:base|f")', text))  # the links of a page
    used |= set(re.findall(r"""\bt\("[a-z_]+" if [^"]+ else "([a-z_]+)\"""", text))
    used -= {"state_", "mode_", "welfare_"}  # their ends depend
    known = set(messages.catalogues()["en"])
    assert used <= known
    made_up = {key for key in known if key.startswith(MADE_UP)}
    assert known - used - made_up == set()


def refused_with(file: Path) -> set[str]:
    """The sentences with which a module refuses something."""
    calls = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    first = (c.args[0] for c in calls if isinstance(c.func, ast.Name) and c.func.id == "Refused")
    found = set()
    for sentence in first:
        assert isinstance(sentence, ast.Constant), f"{file.name}, line {sentence.lineno}"
        found.add(str(sentence.value))
    return found


def test_every_refusal_is_there_in_every_language() -> None:
    said = set().union(*(refused_with(file) for file in FOLDER.glob("*.py")))
    assert len(said) > 30
    for language in messages.catalogues():
        if language != messages.FALLBACK:
            known = messages.refusals(language)
            assert set(known) == said
            for english, other in known.items():
                fields = {name for _, name, _, _ in string.Formatter().parse(other) if name}
                assert fields <= {n for _, n, _, _ in string.Formatter().parse(english) if n}


def test_refusals_speak_the_language_of_the_reader(web: Web) -> None:
    made = web.poll(options=["curry", "soup"])
    with Person(web, **{"Accept-Language": "de"}) as somebody:
        assert "Dieser Link gilt nicht" in somebody.see("/v/nonsense", 401)
        somebody.see(local(made.data["organiser"]["link"]))
        page = somebody.fill(f"/p/{made.slug}/setup", 409, act="retire", option=0)
        assert "Zwei Möglichkeiten müssen bleiben" in page
    with made.organiser() as boss:
        answer = boss.patch(f"{made.path}/options/0", json={"state": "retired"})
        assert answer.json()["detail"].startswith("two options have to stay")


# Sizes


@pytest.mark.parametrize("page", ["", "/mine", "/result"])
def test_voters_pages_are_small(web: Web, page: str) -> None:
    made = web.poll(options=[f"Trattoria al Porto {k}" for k in range(8)])
    for voter in range(2):
        made.vote(voter, 12)
    made.settled()
    with Person(web) as ann:
        ann.see(local(made.data["voters"][0]["link"]))
        shown = ann.get(f"/p/{made.slug}{page}")
        fetched = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', shown.text))
        assert len(fetched) == 3
        answers = [shown, *map(ann.get, fetched)]
    assert sum(answer.num_bytes_downloaded for answer in answers) < LARGEST
    assert "content-encoding" not in shown.headers  # it has a token in it


@pytest.mark.parametrize("page", ["", "/mine", "/result"])
def test_pages_are_well_formed_and_fetch_nothing_from_elsewhere(
    made: Made, ann: Person, page: str
) -> None:
    text = ann.get(f"/p/{made.slug}{page}").text
    Closed(text)
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"', text)
    assert addresses
    assert not [to for to in addresses if re.match(r"(?:[a-z]+:)?//", to)]
    assert "style=" not in text
    assert not re.search(r"\son[a-z]+=", text)
