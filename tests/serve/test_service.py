"""Polls in memory and on disk: batches, several servers, restarts, faults."""

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fairduel.serve import acts, views
from fairduel.serve.ledger import Ledger
from fairduel.serve.records import Change, Frame, Question, Vote
from fairduel.serve.service import Room, Service
from fairduel.serve.storage import Connection, Database, StorageError, open_database
from fake_advice import advise
from poll_tables import frame


@pytest.fixture
def start(database: Database) -> Iterator[Callable[..., Service]]:
    """Start as many servers on one database as a test wants."""
    with ExitStack() as stack:

        def started(learner: Any = advise, on: Database = database) -> Service:
            service = Service(on, learner)
            service.start()
            stack.callback(service.stop)
            return service

        yield started


def new_room(service: Service, made: Frame) -> Room:
    service.create(made)
    return service.room(made.poll.slug)


def until(true: Callable[[], object]) -> None:
    """Wait for something that is certain to come."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def vote(service: Service, room: Room, voter: int, count: int, said: str = "left") -> None:
    for _ in range(count):
        service.ask(room, voter).result()
        question = room.ledger.current(voter)
        assert question is not None
        service.answer(room, voter, question.n, said).result()


def on_disk(database: Database, room: Room) -> list[Vote]:
    connection = database.connect()
    news = connection.news(room.ledger.frame.poll.id, 0)
    connection.close()
    assert news is not None
    assert [seq for seq, _ in news.entries] == list(range(1, news.last_seq + 1))
    return [entry for _, entry in news.entries if isinstance(entry, Vote)]


def test_a_vote_is_on_disk_with_the_next_question(
    start: Callable[..., Service], database: Database
) -> None:
    service = start()
    room = new_room(service, frame())
    service.ask(room, 0).result()
    service.answer(room, 0, 1, "tie").result()
    assert on_disk(database, room) == [Vote(0, 1, "tie")]
    loaded = database.connect()
    found = loaded.load(room.ledger.frame.poll.slug)
    loaded.close()
    assert found is not None
    asked = [entry for _, entry in found[1].entries if isinstance(entry, Question)]
    assert [question.n for question in asked] == [1, 2]


def test_one_vote_sent_twenty_times_is_one_row(
    start: Callable[..., Service], database: Database
) -> None:
    service = start()
    room = new_room(service, frame())
    service.ask(room, 0).result()
    with ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(service.answer, room, 0, 1, "left") for _ in range(20)]:
            done.result().result()
    assert on_disk(database, room) == [Vote(0, 1, "left")]


def test_votes_of_many_are_committed_together(
    start: Callable[..., Service], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    service = start()
    room = new_room(service, frame(people=[f"p{d}" for d in range(50)]))
    commit = service._commit

    def slow(connection: Connection, batch: Any) -> None:
        sizes.append(len(batch))
        time.sleep(0.02)
        commit(connection, batch)

    monkeypatch.setattr(service, "_commit", slow)
    for done in [service.ask(room, voter) for voter in range(50)]:
        done.result()
    for done in [service.answer(room, voter, 1, "left") for voter in range(50)]:
        done.result()
    assert len(on_disk(database, room)) == 50
    assert max(sizes) > 20


def test_a_batch_has_votes_of_several_polls(
    start: Callable[..., Service], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = start()
    rooms = [new_room(service, frame()) for _ in range(4)]
    polls: list[int] = []
    commit = service._commit

    def slow(connection: Connection, batch: Any) -> None:
        polls.append(len({request.poll for request in batch}))
        time.sleep(0.05)
        commit(connection, batch)

    monkeypatch.setattr(service, "_commit", slow)
    for act in (service.ask, lambda room, voter: service.answer(room, voter, 1, "left")):
        for done in [act(room, voter) for voter in range(3) for room in rooms]:
            done.result()
    assert max(polls) == 4
    for room in rooms:
        assert len(on_disk(database, room)) == 3
        assert room.ledger.wins.sum() == 3


def test_refusals_do_not_stop_the_others(start: Callable[..., Service]) -> None:
    service = start()
    room = new_room(service, frame())
    asked = [service.ask(room, voter) for voter in range(3)]
    for done in asked:
        done.result()

    def broken(ledger: object) -> Change:
        raise ZeroDivisionError

    results = [
        service.answer(room, 0, 1, "left"),
        service.answer(room, 1, 9, "left"),
        service.submit(room, broken, 2),
    ]
    results[0].result()
    with pytest.raises(acts.Refused, match="no question 9"):
        results[1].result()
    with pytest.raises(ZeroDivisionError):
        results[2].result()
    assert room.ledger.sheets[0].counted == 1


def test_a_restart_gives_the_same_to_the_bit(start: Callable[..., Service]) -> None:
    first = start()
    room = new_room(first, frame(id=11))
    for voter in (0, 1):
        vote(first, room, voter, 4, "left" if voter else "tie")
    first.undo(room, 0, 2).result()
    second = start()
    again = second.room(room.ledger.frame.poll.slug)
    assert again is not room
    assert (again.ledger.wins == room.ledger.wins).all()
    for voter in range(3):
        assert again.ledger.current(voter) == room.ledger.current(voter)
    policies = first.policy(room).policy, second.policy(again).policy
    assert policies[0] == policies[1]
    changes = [acts.ask(each.ledger, 2, each.worth(2)) for each in (room, again)]
    assert changes[0] == changes[1]


def test_clocks_decide_nothing(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same happens on a machine whose clock runs backwards."""
    ticks = itertools.count(2_000_000_000, -1000)
    backwards = SimpleNamespace(time=lambda: float(next(ticks)), monotonic=time.monotonic)
    ledgers: list[Ledger] = []
    for _ in range(2):
        service = start()
        room = new_room(service, frame(id=11 + len(ledgers)))
        vote(service, room, 0, 3)
        service.answer(room, 0, 2, "tie").result()
        service.undo(room, 0, 1).result()
        service.answer(room, 0, 1, "right").result()
        for number in (1, 2):
            act = partial(acts.decide, number=number, policies=[dict.fromkeys(range(4), 0.25)])
            service.submit(room, partial(act, after_seq=0)).result()
        ledgers += [room.ledger, start().room(room.ledger.frame.poll.slug).ledger]
        monkeypatch.setattr("fairduel.serve.service.time", backwards)
        monkeypatch.setattr("fairduel.serve.acts.time", backwards)
    said = [(vote.n, vote.answer) for _, vote, _ in service.votes(room, 0, 99)]
    assert said[-3:] == [(2, "tie"), (1, "undo"), (1, "right")]
    times = [at for _, _, at in service.votes(room, 0, 99)]
    assert times == sorted(times, reverse=True)
    for ledger in ledgers:
        assert ledger.sheets[0].answers[:3] == ["right", "tie", "left"]
        assert [decision.number for decision in ledger.frame.decisions] == [1, 2]


def test_two_servers_agree_and_leave_no_gap(
    start: Callable[..., Service], database: Database
) -> None:
    services = start(), start()
    made = frame(people=[f"p{d}" for d in range(6)])
    services[0].create(made)
    rooms = [service.room(made.poll.slug) for service in services]

    def storm(which: int) -> None:
        for voter in range(which, 6, 2):
            vote(services[which], rooms[which], voter, 6)

    threads = [threading.Thread(target=storm, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(on_disk(database, rooms[0])) == 36
    for service, room in zip(services, rooms, strict=True):
        service.submit(room, None).result()
    assert (rooms[0].ledger.wins == rooms[1].ledger.wins).all()
    assert rooms[0].ledger.wins.sum() == 36
    policies = [service.policy(room).policy for service, room in zip(services, rooms, strict=True)]
    assert policies[0] == policies[1]


def test_what_another_server_writes_is_seen_without_asking(start: Callable[..., Service]) -> None:
    first, second = start(), start()
    room = new_room(first, frame())
    other = second.room(room.ledger.frame.poll.slug)
    heard = threading.Event()
    stop = second.listen(room.ledger.frame.poll.slug, heard.set, None)
    vote(first, room, 0, 2)
    first.submit(room, lambda ledger: acts.add_voter(ledger, "dov", "t")).result()
    until(lambda: other.ledger.seq == room.ledger.seq)
    assert heard.is_set()
    assert other.ledger.frame == room.ledger.frame
    stop()
    second.delete(room.ledger.frame.poll.slug)
    until(lambda: not first.in_memory(room.ledger.frame.poll.slug))
    with pytest.raises(acts.Refused, match="deleted"):
        first.ask(room, 0).result()
    with pytest.raises(acts.Refused, match="no poll"):
        first.room(room.ledger.frame.poll.slug)


def test_forgetting_reaches_the_other_server(start: Callable[..., Service]) -> None:
    first, second = start(), start()
    room = new_room(first, frame())
    other = second.room(room.ledger.frame.poll.slug)
    vote(first, room, 0, 3)
    vote(second, other, 1, 3)
    first.submit(room, lambda ledger: acts.forget(ledger, 1)).result()
    vote(second, other, 0, 1)
    first.submit(room, None).result()
    assert (room.ledger.wins == other.ledger.wins).all()
    assert other.ledger.sheets[1].questions == []
    assert (start().room(room.ledger.frame.poll.slug).ledger.wins == room.ledger.wins).all()


def test_nothing_of_who_was_forgotten_stays_in_the_file(tmp_path: Any) -> None:
    database = open_database(str(tmp_path / "polls.db"))
    database.migrate()
    service = Service(database, advise)
    service.start()
    try:
        room = new_room(service, frame(people=["Rumpelstiltskin", "bob"]))
        vote(service, room, 0, 3)
        other = new_room(service, frame(people=["Bluebeard"]))

        def stored() -> bytes:
            return b"".join(file.read_bytes() for file in tmp_path.iterdir())

        assert b"Rumpelstiltskin" in stored()
        service.submit(room, lambda ledger: acts.forget(ledger, 0)).result()
        until(lambda: b"Rumpelstiltskin" not in stored())
        assert b"Bluebeard" in stored()
        service.delete(other.ledger.frame.poll.slug)
        assert b"Bluebeard" not in stored()
    finally:
        service.stop()


def test_a_poll_that_takes_long_to_load_keeps_no_other_waiting(
    start: Callable[..., Service], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = start()
    slow, quick = frame(), frame()
    for made in (slow, quick):
        service.create(made)
    go, load = threading.Event(), service._load

    def waiting(slug: str) -> Any:
        if slug == slow.poll.slug:
            go.wait(30)
        return load(slug)

    monkeypatch.setattr(service, "_load", waiting)
    with ThreadPoolExecutor(2) as pool:
        rooms = [pool.submit(service.room, slow.poll.slug) for _ in range(2)]
        service.ask(service.room(quick.poll.slug), 0).result()
        assert service.slugs() == sorted([slow.poll.slug, quick.poll.slug])
        assert not any(room.done() for room in rooms)
        go.set()
        assert rooms[0].result() is rooms[1].result()


# The learner


def test_votes_do_not_wait_for_the_learner(start: Callable[..., Service]) -> None:
    go = threading.Event()

    def slow(wins: Any, **settings: Any) -> Any:
        go.wait(30)
        return advise(wins, **settings)

    service = start(slow)
    room = new_room(service, frame())
    vote(service, room, 0, 6)
    assert room.desk.current is None
    go.set()
    until(lambda: room.desk.current is not None)
    until(lambda: room.desk.current and room.desk.current.view.seq == room.ledger.seq)


def test_one_slow_poll_does_not_slow_another(start: Callable[..., Service]) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(wins: Any, **settings: Any) -> Any:
        if wins.shape[1] == 5:
            begun.set()
            go.wait(30)
        return advise(wins, **settings)

    service = start(slow)
    large, small = (new_room(service, frame([f"o{k}" for k in range(K)])) for K in (5, 3))
    vote(service, large, 0, 2)
    assert begun.wait(30)
    decisions = [service.policy_soon(large) for _ in range(3)]
    vote(service, small, 0, 3)
    until(lambda: small.desk.seq == small.ledger.seq and not small.desk.busy)
    assert service.policy_soon(small).result(20).view.seq == small.ledger.seq
    assert large.desk.current is None
    assert not any(decision.done() for decision in decisions)
    go.set()


def test_the_same_votes_are_computed_once_and_none_overtakes_another(
    start: Callable[..., Service],
) -> None:
    running, calls, go = 0, 0, threading.Event()

    def slow(wins: Any, **settings: Any) -> Any:
        nonlocal running, calls
        running, calls = running + 1, calls + 1
        assert running == 1
        go.wait(30)
        running -= 1
        return advise(wins, **settings)

    service = start(slow)
    room = new_room(service, frame())
    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(service.policy, room) for _ in range(3)]
        until(lambda: calls)
        time.sleep(0.1)
        go.set()
        assert len({id(known.result()) for known in found}) == 1
    assert calls == 1


def test_questions_follow_the_learner(start: Callable[..., Service]) -> None:
    def fond(wins: Any, **settings: Any) -> Any:
        made = advise(wins, **settings)
        made.worth[:] = 0.0
        made.worth[:, 1, 2] = made.worth[:, 2, 1] = 1.0
        return made

    service = start(fond)
    room = new_room(service, frame())
    until(lambda: room.desk.current is not None)
    for voter in range(3):
        service.ask(room, voter).result()
        question = room.ledger.current(voter)
        assert question is not None
        assert {question.left, question.right} == {1, 2}


def test_advice_is_by_position_when_options_are_retired(start: Callable[..., Service]) -> None:
    service = start()
    room = new_room(service, frame())
    service.submit(room, lambda ledger: acts.set_option(ledger, 1, "retired")).result()
    service.submit(room, lambda ledger: acts.remove(ledger, 0)).result()
    known = service.policy(room)
    assert set(known.policy) == {0, 2, 3}
    worth = known.worth(2, 4)
    assert worth is not None
    assert not worth[1].any()
    assert worth[0, 2] > 0
    assert known.worth(0, 4) is None


def test_a_learner_that_fails_stops_nobody(
    start: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(wins: Any, **settings: Any) -> Any:
        raise ZeroDivisionError

    service = start(broken)
    room = new_room(service, frame())
    until(lambda: "no advice" in caplog.text)
    vote(service, room, 0, 3)
    assert room.ledger.sheets[0].counted == 3


def test_a_secret_poll_is_advised_by_what_it_may_show(start: Callable[..., Service]) -> None:
    service = start()
    room = new_room(service, frame(people=[f"p{d}" for d in range(6)], secret=True))
    with pytest.raises(acts.Refused, match="too early"):
        service.policy(room)
    for voter in range(5):
        vote(service, room, voter, 1)
    with pytest.raises(acts.Refused, match="pause the poll to count all answers"):
        service.policy(room)
    for state in ("paused", "open"):
        service.submit(room, partial(acts.set_state, state=state)).result()
    shown = service.policy(room)
    vote(service, room, 5, 3)
    assert service.policy(room).policy == shown.policy
    assert room.desk.current is not None
    assert room.desk.current.view.seq > shown.view.seq


# Faults


class Faulty(Database):
    """A database whose statements fail while ``broken`` says so."""

    def __init__(self, inner: Database) -> None:
        self.inner = inner
        self.broken: Callable[[str], bool] = lambda sql: False

    def connect(self) -> Connection:
        if self.broken("CONNECT"):
            raise StorageError("nobody is there")
        connection = self.inner.connect()
        rows = connection.rows

        def checked(sql: str, values: Any = ()) -> Any:
            if self.broken(sql):
                raise StorageError("it failed")
            return rows(sql, values)

        connection.rows = checked  # type: ignore[method-assign]
        return connection

    def back_up(self, version: int, confirmed: bool) -> None:
        self.inner.back_up(version, confirmed)

    def _lock_all(self, connection: Connection) -> None:
        self.inner._lock_all(connection)

    def _has_meta(self, connection: Connection) -> bool:
        return self.inner._has_meta(connection)


@pytest.mark.parametrize("statement", ["COMMIT", "BEGIN", "UPDATE poll", "CONNECT"])
def test_what_fails_is_not_acknowledged_and_then_goes_on(
    start: Callable[..., Service], database: Database, statement: str
) -> None:
    faulty = Faulty(database)
    service = start(on=faulty)
    room = new_room(service, frame())
    vote(service, room, 0, 1)
    before = room.ledger.wins.copy(), room.ledger.seq
    faulty.broken = lambda sql: sql.startswith(statement) or sql == "CONNECT"
    if statement == "CONNECT":
        service = start(on=faulty)
        service._rooms[room.ledger.frame.poll.slug] = room
    for _ in range(3):
        with pytest.raises(StorageError):
            service.answer(room, 0, 2, "left").result()
    assert (room.ledger.wins == before[0]).all()
    assert room.ledger.seq == before[1]
    faulty.broken = lambda sql: False
    service.answer(room, 0, 2, "left").result()
    assert on_disk(database, room) == [Vote(0, 1, "left"), Vote(0, 2, "left")]


def test_a_commit_whose_end_is_unknown_is_found_on_disk(
    start: Callable[..., Service], database: Database
) -> None:
    """The database has committed, but its answer was lost: a retry is no second vote."""
    faulty = Faulty(database)
    service = start(on=faulty)
    room = new_room(service, frame())
    service.ask(room, 0).result()
    inner = database.connect

    def connect() -> Connection:
        connection = inner()
        rows = connection.rows

        def committed(sql: str, values: Any = ()) -> Any:
            answer = rows(sql, values)
            if sql == "COMMIT":
                raise StorageError("the line broke")
            return answer

        connection.rows = committed  # type: ignore[method-assign]
        return connection

    other = Faulty(database)
    other.connect = connect  # type: ignore[method-assign]
    unlucky = start(on=other)
    twin = Room(room.ledger, room.desk, room.lock)
    with pytest.raises(StorageError):
        unlucky.answer(twin, 0, 1, "right").result()
    assert room.ledger.sheets[0].counted == 0
    service.answer(room, 0, 1, "right").result()
    assert on_disk(database, room) == [Vote(0, 1, "right")]
    assert room.ledger.sheets[0].counted == 1


def test_a_full_disk_is_refused_and_then_goes_on(tmp_path: Any) -> None:
    database = open_database(str(tmp_path / "polls.db"))
    database.migrate()
    limits: list[Connection] = []

    class Small(Faulty):
        def connect(self) -> Connection:
            connection = super().connect()
            limits.append(connection)
            return connection

    small = Small(database)
    service = Service(small, advise)
    service.start()
    people = [f"p{d}" for d in range(400)]
    room = new_room(service, frame(people=people))
    service.ask(room, 0).result()
    for connection in limits:
        with suppress(StorageError):  # one that has been closed
            connection.rows("PRAGMA max_page_count = 1")  # as many as there are
    small.broken = lambda sql: sql == "CONNECT"
    failures = [service.ask(room, voter).exception() for voter in range(1, 400)]
    assert "full" in str(next(filter(None, failures)))
    assert {type(failure) for failure in failures} == {type(None), StorageError}
    asked = sum(bool(sheet.questions) for sheet in room.ledger.sheets)
    assert 0 < asked < 400
    small.broken = lambda sql: False
    for voter in range(400):
        service.ask(room, voter).result()
    service.stop()
    assert on_disk(database, room) == []  # and the log has no gap
    assert all(len(sheet.questions) == 1 for sheet in room.ledger.sheets)


def test_stopping_finishes_what_waits(database: Database) -> None:
    service = Service(database, advise)
    service.start()
    room = new_room(service, frame(people=[f"p{d}" for d in range(40)]))
    results = [service.ask(room, voter) for voter in range(40)]
    service.stop()
    for done in results:
        done.result(timeout=0)
    with pytest.raises(StorageError, match="stopping"):
        service.ask(room, 0).result()


def test_a_cancelled_request_harms_nobody(start: Callable[..., Service]) -> None:
    service = start()
    room = new_room(service, frame(people=[f"p{d}" for d in range(20)]))
    results = [service.ask(room, voter) for voter in range(20)]
    for done in results[::2]:
        done.cancel()
    for done in results[1::2]:
        done.result()
    vote(service, room, 0, 1)


def test_long_logs_are_replayed_quickly(tmp_path: Any) -> None:
    """200,000 votes take under 3 s on an idle machine (benchmarks/serve_load.py); a tenth here."""
    database = open_database(str(tmp_path / "long.db"))
    database.migrate()
    made = frame([f"o{k}" for k in range(20)], [f"p{d}" for d in range(500)])
    connection = database.connect()
    rng = np.random.default_rng(1)
    entries: list[Any] = []
    for n in range(1, 21):
        for voter in range(500):
            left, right = rng.choice(20, 2, replace=False).tolist()
            entries += [Question(voter, n, left, right), Vote(voter, n, "left")]
    with connection.transaction():
        connection.create(made)
        connection.append(made.poll.id, 0, [Change(tuple(entries))], 0.0)
    connection.close()
    service = Service(database, advise)
    began = time.process_time()
    room = service.room(made.poll.slug)
    assert time.process_time() - began < 3.0
    assert room.ledger.wins.sum() == 10_000


def test_a_poll_that_nobody_uses_leaves_the_memory(
    start: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairduel.serve.service.FOLLOW", 0.01)
    service = start()
    room = new_room(service, frame())
    vote(service, room, 0, 2)
    slug = room.ledger.frame.poll.slug
    ignore = service.listen(slug, lambda: None, None)
    monkeypatch.setattr("fairduel.serve.service.IDLE", 0.0)
    time.sleep(0.1)
    assert service.in_memory(slug)  # somebody looks at it
    ignore()
    until(lambda: not service.in_memory(slug))
    monkeypatch.setattr("fairduel.serve.service.IDLE", 1e9)
    again = service.room(slug)
    assert again is not room
    assert (again.ledger.wins == room.ledger.wins).all()


def test_what_is_worth_asking_for_is_what_everybody_has_left(
    start: Callable[..., Service],
) -> None:
    def content(wins: Any, **settings: Any) -> Any:
        return dataclasses.replace(advise(wins, **settings), ten_more=0.004)

    for learner, missing in ((advise, 12), (content, 0)):
        service = start(learner)
        room = new_room(service, frame())
        vote(service, room, 0, 3)
        vote(service, room, 1, 2)
        vote(service, room, 1, 1, "skip")  # nobody is asked again what they cannot say
        service.policy(room)
        assert views.standing(room, anyway=True).missing == missing
