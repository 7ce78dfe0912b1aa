"""The JSON API: what programs can do, and what they are told when they cannot."""

import csv
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from fairduel import Session
from fairduel.data import read_votes
from fairduel.learners import FairVOI
from fairduel.serve import acts
from fairduel.serve.access import Limits
from fairduel.serve.api import outline
from fairduel.serve.draws import chance, commitment
from fairduel.serve.storage import StorageError
from fairduel.welfare import Egalitarian
from fake_advice import advise
from web import KEY, Made, Web, serving


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with serving(str(tmp_path_factory.mktemp("web") / "polls.db")) as made:
        yield made


def check(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        body = answer.json()
        assert body["status"] == status
        assert body["detail"].endswith((".", "?")), body
        return body["detail"]
    return answer.json() if answer.content else None


def test_a_poll_from_the_start_to_the_check(web: Web, place: str) -> None:
    """On both databases, since this is all of it."""
    with serving(place) as web:
        made = web.poll(open=False)
        boss = made.organiser()
        with made.voter() as ann:
            first = check(ann.get(f"{made.path}/question"))
            assert first["question"] is None
            assert first["state"] == "draft"
        check(boss.patch(made.path, json={"state": "open"}))
        for voter in range(3):
            made.vote(voter, 6)
        made.settled()
        policy = check(boss.get(f"{made.path}/policy"))
        assert (policy["answers"], policy["missing"]) == (18, 0)
        assert not policy["early"]
        assert sum(share["share"] for share in policy["shares"]) == pytest.approx(1)
        decision = check(boss.put(f"{made.path}/decisions/1"))
        assert check(boss.put(f"{made.path}/decisions/1")) == decision
        closed = check(boss.patch(made.path, json={"state": "closed"}))
        (seed,) = closed["seeds"]
        assert commitment(seed) == decision["commitment"] == made.data["poll"]["commitment"]
        assert chance(seed, 1) == decision["drawn"][0]["draw"]
        boss.close()


def test_questions_and_answers(web: Web) -> None:
    made = web.poll()
    with made.voter() as ann:
        one = check(ann.get(f"{made.path}/question"))
        assert (one["answered"], one["target"], one["undo"]) == (0, 6, None)
        two = check(ann.put(f"{made.path}/questions/1/vote", json={"answer": "left"}))
        assert (two["question"]["n"], two["answered"], two["undo"]) == (2, 1, 1)
        assert check(ann.put(f"{made.path}/questions/1/vote", json={"answer": "left"})) == two
        back = check(ann.delete(f"{made.path}/questions/1/vote"))
        assert back["question"] == one["question"]
        check(ann.put(f"{made.path}/questions/1/vote", json={"answer": "tie"}))
        check(ann.put(f"{made.path}/questions/2/vote", json={"answer": "skip"}))
        mine = check(ann.get(f"{made.path}/mine"))
        assert [answer["answer"] for answer in mine["answers"]] == ["tie", "skip"]
        assert mine["name"] == "ann"
        for n in range(3, 7):
            last = check(ann.put(f"{made.path}/questions/{n}/vote", json={"answer": "right"}))
        assert last["question"] is None
        assert last["answered"] == 6


def test_one_vote_from_twenty_connections_is_one_row(web: Web) -> None:
    made = web.poll()
    with made.voter() as ann:
        ann.get(f"{made.path}/question")
    gate = threading.Barrier(20)
    codes: list[int] = []

    def send() -> None:
        with made.voter() as client:
            gate.wait()
            answer = client.put(f"{made.path}/questions/1/vote", json={"answer": "left"})
            codes.append(answer.status_code)

    threads = [threading.Thread(target=send) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [200] * 20
    with made.organiser() as boss:
        assert len(check(boss.get(f"{made.path}/votes"))["votes"]) == 1


def test_the_log_is_read_page_by_page(web: Web) -> None:
    made = web.poll()
    made.vote(0, 5)
    made.vote(1, 2, "tie")
    with made.organiser() as boss:
        found: list[int] = []
        after: int | None = 0
        while after is not None:
            page = check(boss.get(f"{made.path}/votes", params={"after": after, "limit": 2}))
            found += [vote["seq"] for vote in page["votes"]]
            after = page["after"]
        assert len(found) == 7
        assert found == sorted(set(found))


def test_the_table_of_votes_is_read_by_fairduel(web: Web, tmp_path: Path) -> None:
    made = web.poll(voters=["ann, the first", "bøb", '"cem"'])
    made.vote(0, 3)
    made.vote(1, 2, "tie")
    made.vote(2, 1, "skip")
    with made.organiser() as boss:
        answer = boss.get(f"{made.path}/votes.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    file = tmp_path / "votes.csv"
    file.write_bytes(answer.content)
    records = tmp_path / "votes.json"
    with made.organiser() as boss:
        records.write_bytes(boss.get(f"{made.path}/votes.json").content)
        saved = tmp_path / "session.json"
        saved.write_bytes(boss.get(f"{made.path}/session.json").content)
    assert (read_votes(records).wins() == read_votes(file).wins()).all()
    session = Session.load(saved)
    assert session.users == ("ann, the first", "bøb", '"cem"')
    assert session.question("bøb") is not None
    ballots = read_votes(file)
    assert ballots.users == ("ann, the first", "bøb")
    assert ballots.wins().sum() == 5


def test_answers_about_what_was_taken_out_are_not_exported(web: Web, tmp_path: Path) -> None:
    made = web.poll()
    for voter in range(2):
        made.vote(voter, 6)
    with made.organiser() as boss:
        check(boss.patch(f"{made.path}/options/1", json={"state": "retired"}))
        for name in ("votes.csv", "votes.json"):
            file = tmp_path / name
            file.write_bytes(boss.get(f"{made.path}/{name}").content)
            ballots = read_votes(file)
            assert set(ballots.options) == {"curry", "soup", "salad"}
            assert ballots.wins().sum() == 6  # as the board counts
        assert check(boss.get(f"{made.path}/policy"))["answers"] == 6


def test_a_session_goes_on_with_the_poll_s_own_welfare(web: Web, tmp_path: Path) -> None:
    made = web.poll(welfare="egalitarian")
    made.vote(0, 2)
    file = tmp_path / "session.json"
    with made.organiser() as boss:
        file.write_bytes(boss.get(f"{made.path}/session.json").content)
    learner = Session.load(file).learner
    assert isinstance(learner, FairVOI)
    assert isinstance(learner.welfare, Egalitarian)


def test_no_name_is_a_formula_in_the_table(web: Web) -> None:
    names = ["=1+1", "'=1+1", "@SUM(A1)", "-2", "+3", "'t Hart", "a=b"]
    made = web.poll(voters=names, options=["=cmd", "soup"])
    for voter in range(len(names)):
        made.vote(voter, 1)
    with made.organiser() as boss:
        rows = list(csv.reader(boss.get(f"{made.path}/votes.csv").text.splitlines()))[1:]
        records = boss.get(f"{made.path}/votes.json").json()
    assert not [cell for row in rows for cell in row if cell[0] in "=+-@"]
    shown = ["'=1+1", "''=1+1", "'@SUM(A1)", "'-2", "'+3", "'t Hart", "a=b"]
    assert [row[0] for row in rows] == shown
    assert [record["user"] for record in records] == names


def test_voters_join_and_leave(web: Web) -> None:
    made = web.poll(join=True)
    with web.client(made.data["join"]["token"]) as everybody, made.organiser() as boss:
        dov = check(everybody.post(f"{made.path}/join", json={"name": "dov"}), 201)
        detail = check(everybody.post(f"{made.path}/join", json={"name": "dov"}), 422)
        assert "'dov' is taken" in detail
        eve = check(boss.post(f"{made.path}/voters", json={"name": "eve"}), 201)
        again = check(boss.post(f"{made.path}/voters/{eve['position']}/link"))
        with web.client(eve["token"]) as old:
            check(old.get(f"{made.path}/question"), 401)
        with web.client(again["token"]) as new:
            check(new.get(f"{made.path}/question"))
            check(new.delete(f"{made.path}/voters/{dov['position']}"), 403)
            check(new.delete(f"{made.path}/voters/{eve['position']}"), 204)
            check(new.get(f"{made.path}/question"), 401)
        check(boss.patch(f"{made.path}/voters/0", json={"state": "removed"}), 204)
        with made.voter(0) as ann:
            check(ann.get(f"{made.path}/question"), 401)
        names = [voter["name"] for voter in check(boss.get(f"{made.path}/voters"))]
        assert names == ["bob", "cem", "dov"]
        check(boss.delete(f"{made.path}/join-link"), 204)
        check(everybody.post(f"{made.path}/join", json={"name": "fay"}), 401)
        link = check(boss.post(f"{made.path}/join-link"))
        assert link["link"].endswith(f"/j/{link['token']}")


def test_options_come_and_go(web: Web) -> None:
    made = web.poll()
    with made.organiser() as boss:
        check(boss.patch(f"{made.path}/options/0", json={"name": "dal"}))
        made.vote(0, 1)
        check(boss.patch(f"{made.path}/options/0", json={"name": "curry"}), 409)
        poll = check(boss.post(f"{made.path}/options", json={"names": ["stew"]}), 201)
        assert [option["name"] for option in poll["options"]][-1] == "stew"
        poll = check(boss.patch(f"{made.path}/options/4", json={"state": "retired"}))
        assert poll["options"][4]["state"] == "retired"
        check(boss.patch(f"{made.path}/options/9", json={"state": "retired"}), 404)
        check(boss.patch(f"{made.path}/options/1", json={}), 422)


def test_decisions_are_cancelled_with_a_reason(web: Web) -> None:
    made = web.poll()
    made.vote(0, 3)
    with made.organiser() as boss:
        check(boss.put(f"{made.path}/decisions/2"), 409)
        check(boss.put(f"{made.path}/decisions/1"))
        cancelled = check(boss.patch(f"{made.path}/decisions/1", json={"reason": "it rained"}))
        assert (cancelled["cancelled_after"], cancelled["note"]) == (1, "it rained")
        assert check(boss.get(f"{made.path}/decisions")) == [cancelled]


def test_an_impatient_organiser_keeps_no_other_poll_waiting(tmp_path: Path) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(wins: Any, **settings: Any) -> Any:
        if wins.shape[1] == 5:
            begun.set()
            go.wait(60)
        return advise(wins, **settings)

    with serving(str(tmp_path / "polls.db"), advise=slow) as web, ThreadPoolExecutor(8) as pool:
        large, small = (web.poll(options=[f"o{k}" for k in range(count)]) for count in (5, 3))

        def decide(made: Made) -> Any:
            with made.organiser() as boss:
                return check(boss.put(f"{made.path}/decisions/1"))

        answers = [pool.submit(decide, large) for _ in range(6)]
        assert begun.wait(30)
        time.sleep(0.5)
        assert decide(small)["number"] == 1
        assert not any(answer.done() for answer in answers)
        go.set()
        assert len({answer.result()["drawn"][0]["draw"] for answer in answers}) == 1


def test_it_is_too_early_until_most_have_said_enough(web: Web) -> None:
    made = web.poll()
    made.vote(0, 2)
    made.settled()
    with made.organiser() as boss, made.voter() as ann:
        early = check(boss.get(f"{made.path}/policy"))
        assert early["early"]
        assert {share["share"] for share in early["shares"]} == {None}
        anyway = check(boss.get(f"{made.path}/policy", params={"anyway": True}))
        assert None not in {share["share"] for share in anyway["shares"]}
        assert check(ann.get(f"{made.path}/policy", params={"anyway": True})) == early
        assert check(ann.get(f"{made.path}/mine"))["gain"] is None
        made.vote(0, 1)
        made.settled()
        assert check(boss.get(f"{made.path}/policy"))["early"]  # one of three has answered
        made.vote(1, 3)
        made.settled()
        assert not check(boss.get(f"{made.path}/policy"))["early"]
        gain = check(ann.get(f"{made.path}/mine"))["gain"]
        assert gain["low"] < gain["value"] < gain["high"]
        voters = check(boss.get(f"{made.path}/voters"))
        assert [voter["answers"] for voter in voters] == [3, 3, 0]
        assert [voter["gain"] is None for voter in voters] == [False, False, True]


def test_a_deleted_poll_is_gone(web: Web) -> None:
    made = web.poll()
    with made.organiser() as boss, made.voter() as ann:
        check(ann.get(f"{made.path}/question"))
        check(boss.delete(made.path), 204)
        check(ann.get(f"{made.path}/question"), 401)
        check(boss.get(made.path), 401)


def test_events_tell_what_changes(web: Web) -> None:
    made = web.poll()
    heard: list[dict[str, Any]] = []

    def listen() -> None:
        with made.organiser() as boss, boss.stream("GET", f"{made.path}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    heard.append(json.loads(line[6:]))
                    if heard[-1]["answers"] == 3:
                        return

    thread = threading.Thread(target=listen)
    thread.start()
    while not heard:
        time.sleep(0.01)
    made.vote(0, 3)
    thread.join(30)
    assert not thread.is_alive()
    assert heard[0]["answers"] == 0
    assert [event["answers"] for event in heard] == sorted(event["answers"] for event in heard)


def test_events_of_a_secret_poll_do_not_tell_when_somebody_votes(web: Web) -> None:
    made = web.poll(secret=True)
    heard: list[str] = []
    ready = threading.Event()

    def listen() -> None:
        with made.organiser() as boss, boss.stream("GET", f"{made.path}/events") as stream:
            for line in stream.iter_lines():
                heard.append(line)
                ready.set()
                if '"paused"' in line:
                    return

    thread = threading.Thread(target=listen)
    thread.start()
    assert ready.wait(30)
    made.settled()
    time.sleep(1.0)
    before = list(heard)
    made.vote(0, 2)
    time.sleep(1.0)
    assert heard == before
    with made.organiser() as boss:
        check(boss.patch(made.path, json={"state": "paused"}))
    thread.join(30)
    assert not thread.is_alive()


def test_signs_of_life_do_not_depend_on_votes(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairduel.serve.api.PULSE", 3.0)
    made = web.poll(secret=True)
    with made.organiser() as boss, boss.stream("GET", f"{made.path}/events") as stream:
        lines = (line for line in stream.iter_lines() if line)
        while not next(lines).startswith("data:"):
            pass
        began = time.monotonic()
        made.vote(0, 1)
        time.sleep(2.0)
        made.vote(0, 1)  # waits for no pulse, and makes none wait
        assert next(lines) == ": still here"
        assert time.monotonic() - began > 2.5


def test_news_for_voters_tell_nothing_that_is_kept_back(web: Web) -> None:
    for mode, told in (("poll", {"options", "state"}), ("live", {"decisions", "cancelled"})):
        made = web.poll(mode=mode, show_result=False)
        news = json.loads(outline(web.service.room(made.slug), 0)[1])
        assert told <= set(news)
        assert ("decisions" in news) == (mode == "live")  # there they are questions


def test_events_end_with_the_link(web: Web) -> None:
    made = web.poll()
    with (
        made.voter() as ann,
        made.organiser() as boss,
        ann.stream("GET", f"{made.path}/events") as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")
        check(boss.patch(f"{made.path}/voters/0", json={"state": "removed"}), 204)
        for line in lines:
            assert '"voters": 2' not in line


def test_too_many_streams_are_refused(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    made, other = web.poll(), web.poll()
    monkeypatch.setattr("fairduel.serve.service.MOST_LISTENERS", 1)
    with made.voter() as ann, ann.stream("GET", f"{made.path}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")
        for poll, status in ((made, 429), (other, 200)):
            with poll.voter() as again, again.stream("GET", f"{poll.path}/events") as another:
                assert another.status_code == status
        with made.organiser() as boss, boss.stream("GET", f"{made.path}/events") as another:
            assert another.status_code == 200  # voters take nothing from others


def test_health(web: Web) -> None:
    with httpx.Client(base_url=web.url) as client:
        assert check(client.get("/healthz")) == {"status": "ok"}
        assert check(client.get("/readyz")) == {"status": "ok"}
        check(client.get("/api/v1/nothing"), 404)
        check(client.put("/api/v1/polls"), 405)


# Secret polls


def test_a_secret_poll_shows_no_individual(web: Web) -> None:
    made = web.poll(voters=[f"p{d}" for d in range(6)], secret=True)
    for voter in range(4):
        made.vote(voter, 4)
    made.settled()
    with made.organiser() as boss:
        policy = check(boss.get(f"{made.path}/policy", params={"anyway": True}))
        assert (policy["answers"], policy["answering"], policy["seq"]) == (0, 0, 0)
        assert {share["share"] for share in policy["shares"]} == {None}
        check(boss.put(f"{made.path}/decisions/1"), 409)
        made.vote(4, 4)
        for state in ("paused", "open"):
            check(boss.patch(made.path, json={"state": state}))
        made.settled()
        shown = check(boss.get(f"{made.path}/policy", params={"anyway": True}))
        assert (shown["answering"], shown["missing"]) == (5, 0)
        assert None not in {share["share"] for share in shown["shares"]}
        made.vote(5, 6)  # one more person changes nothing that can be seen
        made.settled()
        assert check(boss.get(f"{made.path}/policy", params={"anyway": True})) == shown
        poll = check(boss.get(made.path))
        assert poll["last_seq"] == shown["seq"]
        for voter in check(boss.get(f"{made.path}/voters")):
            assert voter["answers"] is None
            assert voter["gain"] is None
        check(boss.get(f"{made.path}/votes"), 403)
        for file in ("votes.csv", "votes.json", "session.json"):
            check(boss.get(f"{made.path}/{file}"), 403)


def test_the_organiser_of_a_secret_poll_learns_nothing_by_the_voters_links(web: Web) -> None:
    made = web.poll(voters=[f"p{d}" for d in range(6)], secret=True, join=True)
    for voter in range(6):
        made.vote(voter, 4)
    with web.client(made.data["join"]["token"]) as everybody, made.organiser() as boss:
        came = check(everybody.post(f"{made.path}/join", json={"name": "guest"}), 201)
        with web.client(came["token"]) as guest:  # whose link is their own
            check(guest.get(f"{made.path}/question"))
            check(guest.put(f"{made.path}/questions/1/vote", json={"answer": "left"}))
            own = check(guest.get(f"{made.path}/mine"))
            assert [answer["answer"] for answer in own["answers"]] == ["left"]
            assert [vote["answer"] for vote in own["log"]] == ["left"]
        made.settled()
        again = check(boss.post(f"{made.path}/voters/{came['position']}/link"))
        for token, count in ((made.data["voters"][5]["token"], 4), (again["token"], 1)):
            with web.client(token) as spy:
                mine = check(spy.get(f"{made.path}/mine"))
                assert [answer["answer"] for answer in mine["answers"]] == [None] * count
                assert mine["log"] == []
                assert mine["gain"] is None
                changed = spy.put(f"{made.path}/questions/1/vote", json={"answer": "tie"})
                check(changed)  # the voter still can


# Who may do what


def test_a_link_that_one_server_replaces_opens_nothing_on_another(place: str) -> None:
    with serving(place) as first, serving(place) as second:
        made = first.poll(join=True)
        elsewhere = Made(second, made.data)
        path = made.path
        with elsewhere.voter() as ann, elsewhere.organiser() as boss, made.organiser() as here:
            check(ann.get(f"{path}/question"))  # so that the second server knows the token
            check(boss.get(path))
            check(here.post(f"{path}/voters/0/link"))
            check(ann.put(f"{path}/questions/1/vote", json={"answer": "left"}), 401)
            check(ann.delete(f"{path}/questions/1/vote"), 401)
            check(ann.get(f"{path}/mine"), 401)
            room = first.service.room(made.slug)
            first.service.submit(room, partial(acts.new_links, organiser="another")).result()
            check(boss.patch(path, json={"state": "paused"}), 401)
            check(boss.get(f"{path}/votes"), 401)
        assert first.service.room(made.slug).ledger.frame.poll.state == "open"


@pytest.mark.parametrize(("method", "what"), [("PUT", "/decisions/1"), ("DELETE", "")])
def test_an_organiser_whose_link_was_replaced_decides_and_deletes_nothing(
    place: str, method: str, what: str
) -> None:
    with serving(place) as first, serving(place) as second:
        made = first.poll()
        made.vote(0, 2)
        room = first.service.room(made.slug)
        with Made(second, made.data).organiser() as boss:
            check(boss.get(made.path))  # so that the second server knows the token
            first.service.submit(room, partial(acts.new_links, organiser="another")).result()
            check(boss.request(method, f"{made.path}{what}"), 401)
        assert first.service.slugs() == [made.slug]
        assert first.service.room(made.slug).ledger.frame.decisions == ()


def test_nobody_without_the_right_token_does_anything(web: Web) -> None:
    made, other = web.poll(join=True), web.poll()
    for voter in range(2):
        made.vote(voter, 1)
    tokens = {
        "none": None,
        "wrong": "nonsense",
        "voter": made.data["voters"][0]["token"],
        "join": made.data["join"]["token"],
        "other": other.data["organiser"]["token"],
        "server": KEY,
    }
    path = made.path
    organisers: list[tuple[str, str, Any]] = [
        ("PATCH", path, {"state": "paused"}),
        ("DELETE", path, None),
        ("POST", f"{path}/options", {"names": ["x"]}),
        ("PATCH", f"{path}/options/0", {"state": "retired"}),
        ("GET", f"{path}/voters", None),
        ("POST", f"{path}/voters", {"name": "x"}),
        ("POST", f"{path}/voters/1/link", None),
        ("PATCH", f"{path}/voters/1", {"state": "removed"}),
        ("DELETE", f"{path}/voters/1", None),
        ("POST", f"{path}/join-link", None),
        ("DELETE", f"{path}/join-link", None),
        ("PUT", f"{path}/decisions/1", None),
        ("PATCH", f"{path}/decisions/1", {"reason": "x"}),
        ("GET", f"{path}/votes", None),
        ("GET", f"{path}/votes.csv", None),
        ("GET", f"{path}/votes.json", None),
        ("GET", f"{path}/session.json", None),
    ]
    voting: list[tuple[str, str, Any]] = [
        ("GET", f"{path}/question", None),
        ("PUT", f"{path}/questions/1/vote", {"answer": "left"}),
        ("DELETE", f"{path}/questions/1/vote", None),
        ("GET", f"{path}/mine", None),
    ]
    room = web.service.room(made.slug)
    before = room.ledger.seq
    for name, token in tokens.items():
        with web.client(token) as client:
            asked = organisers + ([] if name == "voter" else voting)
            for method, address, body in asked:
                answer = client.request(method, address, json=body)
                check(answer, 401 if name in ("none", "wrong", "server") else 403)
                if answer.status_code == 401:
                    assert answer.headers["www-authenticate"] == "Bearer"
    with made.organiser() as boss:
        for method, address, body in voting:
            check(boss.request(method, address, json=body), 403)
        check(boss.post("/polls", json={"title": "x", "options": ["a", "b"]}), 401)
    assert room.ledger.seq == before


def test_results_may_be_kept_back(web: Web) -> None:
    made = web.poll(show_result=False)
    with made.voter() as ann, made.organiser() as boss:
        for what in ("policy", "decisions", "events"):
            check(ann.get(f"{made.path}/{what}"), 403)
        made.vote(0, 6)
        made.vote(1, 6)
        made.settled()
        assert not check(boss.get(f"{made.path}/policy"))["early"]
        assert check(ann.get(f"{made.path}/mine"))["gain"] is None
        check(boss.get(f"{made.path}/policy"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title": ""}, "the title"),
        ({"title": "x" * 200}, "120"),
        ({"options": ["a", "a"]}, "is taken"),
        ({"options": ["a"]}, "two options at least"),
        ({"options": ["a\u202eb", "c"]}, "cannot be seen"),
        ({"voters": ["a", "a "]}, "blank"),
        ({"welfare": "nahs"}, "did you mean 'nash'"),
        ({"colour": "red"}, "colour"),
        ({"secret": "yes"}, "secret"),
    ],
)
def test_polls_that_cannot_be_made(web: Web, fields: dict[str, Any], said: str) -> None:
    given = {"title": "Lunch", "options": ["a", "b"], "open": True, **fields}
    before = web.service.slugs()
    with web.client(KEY) as client:
        assert said in check(client.post("/polls", json=given), 422)
    assert web.service.slugs() == before


def test_a_poll_is_made_and_opened_in_one_step(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or one whose links nobody has would stay when the second step fails."""

    def failing(*arguments: object) -> Future[None]:
        raise StorageError("nobody is there")

    monkeypatch.setattr(web.service, "submit", failing)
    assert web.poll().data["poll"]["state"] == "open"


def test_large_bodies_are_refused(web: Web) -> None:
    made = web.poll()
    with made.organiser() as boss:
        assert "65,536" in check(
            boss.post(f"{made.path}/options", json={"names": ["x" * 70_000]}), 413
        )

        def chunks() -> Iterator[bytes]:
            for _ in range(100):
                yield b" " * 1000

        check(boss.post(f"{made.path}/options", content=chunks()), 413)
        check(boss.post(f"{made.path}/options", content=b"{"), 422)
        check(boss.post(f"{made.path}/options", content=b"\xff\xfe"), 422)


def test_limits_of_rate(tmp_path: Path) -> None:
    limits = Limits(votes_per_second=1, joins_per_minute=1, links_per_minute=1)
    with serving(str(tmp_path / "polls.db"), limits) as web:
        made = web.poll(join=True)
        with made.voter() as ann, made.voter(1) as bob:
            ann.get(f"{made.path}/question")
            bob.get(f"{made.path}/question")
            answers = [
                ann.put(f"{made.path}/questions/1/vote", json={"answer": "left"}) for _ in range(40)
            ]
            slowed = [answer for answer in answers if answer.status_code == 429]
            assert slowed
            assert check(slowed[0], 429) == "that was too often in a short time: wait a moment."
            assert slowed[0].headers["retry-after"] == "1"
            check(bob.put(f"{made.path}/questions/1/vote", json={"answer": "left"}))
        with web.client(made.data["join"]["token"]) as everybody:
            check(everybody.post(f"{made.path}/join", json={"name": "dov"}), 201)
            check(everybody.post(f"{made.path}/join", json={"name": "eve"}), 429)
        with web.client(KEY) as organiser:
            another = {"title": "Dinner", "options": ["a", "b"]}
            assert "too often" in check(organiser.post("/polls", json=another), 429)
        assert web.service.slugs() == [made.slug]


@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("/", 200),
        ("/healthz", 200),
        ("/static/poll.js", 200),
        ("/nothing", 404),
        ("/v/nobody", 401),
        ("/v/failing", 500),
        ("/api/v1/polls/x", 401),
    ],
)
def test_headers_keep_every_answer_safe(
    web: Web, place: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "failing" in place:
        monkeypatch.setattr(web.service, "place", None)
    answer = httpx.get(f"{web.url}{place}")
    assert answer.status_code == status
    policy = [rule.split() for rule in answer.headers["content-security-policy"].split(";")]
    assert ["default-src", "'none'"] in policy
    assert {source for _, *sources in policy for source in sources} == {"'none'", "'self'"}
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    kept = "public, max-age=86400" if "static" in place else "no-store"
    assert answer.headers.get_list("cache-control") == [kept]


def test_the_address_outside_may_be_another(tmp_path: Path) -> None:
    with serving(str(tmp_path / "polls.db"), base_url="https://polls.example/") as web:
        made = web.poll()
        assert made.data["organiser"]["link"].startswith("https://polls.example/o/")


def test_tokens_are_not_stored(web: Web) -> None:
    made: Made = web.poll(join=True)
    tokens = [made.data["organiser"]["token"], made.data["join"]["token"]]
    tokens += [voter["token"] for voter in made.data["voters"]]
    assert len(set(tokens)) == 5
    assert all(len(token) >= 22 for token in tokens)  # 128 bits
    folder = Path(str(web.service.database).strip("'")).parent
    stored = b"".join(file.read_bytes() for file in folder.iterdir())
    assert made.slug.encode() in stored
    assert not [token for token in [*tokens, KEY] if token.encode() in stored]
