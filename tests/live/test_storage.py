"""Storage: a session goes on to the bit from one JSON file and from a journal, whatever happens."""

import dataclasses
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel import SKIP, TIE, FairETC, FairVOI, InputError, Learner, Session, UniformOverUsers
from fairduel.live.storage import (
    Document,
    Journal,
    Storage,
    _line,
    document_checksum,
    write_document,
)
from fairduel.live.votes import Asked, Event, Told
from voters import ARMS, LEARNERS, USERS, Same, fingerprint, new_session, saved, vote

FILES = Path(__file__).parents[1] / "files"

# One JSON file


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_resumed_session_is_identical_to_the_bit(learner: Learner[Any], tmp_path: Path) -> None:
    path, rng = tmp_path / "s.json", np.random.default_rng(1)
    session = new_session(learner)
    for stop in (0, 1, 30, 80, 200, 120):  # the last stretch is beyond the horizon
        vote(session, stop, rng)
        resumed = Session.load(saved(session, path))
        assert saved(resumed, tmp_path / "t.json").read_text() == path.read_text()
        state = rng.bit_generator.state
        vote(session, 25, rng)
        rng.bit_generator.state = state
        vote(resumed, 25, rng)
        assert fingerprint(resumed) == fingerprint(session)
        assert resumed.recommend() == session.recommend()


@pytest.mark.parametrize("file", sorted(FILES.glob("session-*.json")), ids=lambda file: file.stem)
def test_a_file_of_version_1_is_saved_again_as_it_was(file: Path, tmp_path: Path) -> None:
    assert saved(Session.load(file), tmp_path / "s.json").read_text() == file.read_text()


def test_the_file_is_readable_json(tmp_path: Path) -> None:
    session = Session(["Åsa", "bob"], ["ramen", "sushi"], 50, seed=1)
    duel = session.ask()
    session.tell(duel.id, {"Åsa": TIE})
    session.ask()
    text = saved(session, tmp_path / "s.json").read_text()
    data = json.loads(text)
    assert data["users"] == ["Åsa", "bob"]
    assert data["duels"][0]["answers"] == {"Åsa": "tie"}
    assert '    {"left": "' in text  # a line for each duel
    assert "Åsa" in text


def test_a_learner_of_ones_own_is_given_again(tmp_path: Path) -> None:
    @dataclasses.dataclass(frozen=True)
    class Mine(UniformOverUsers):
        """The same under another name."""

    session = new_session(Mine(winners=(0, 1, 2)))
    session.ask()
    path = saved(session, tmp_path / "s.json")
    with pytest.raises(InputError, match="'Mine' is not known here: give the learner"):
        Session.load(path)
    with pytest.raises(InputError, match="another learner or other settings"):
        Session.load(path, Mine(winners=(0, 1, 1)))
    resumed = Session.load(path, Mine(winners=(0, 1, 2)))
    assert resumed.ask() == session.ask()


def damage(text: str, kind: str) -> str:
    data = json.loads(text)
    if kind == "truncated":
        return text[: len(text) // 2]
    if kind == "empty":
        return ""
    if kind == "another format":
        return json.dumps({"format": "something else"})
    if kind == "a list":
        return "[1, 2]"
    if kind == "nested":
        return "[" * 100_000
    if kind == "newer":
        data["version"] = 2
    elif kind == "no state":
        del data["state"]
    elif kind == "strange state":
        data["state"] = {"is": "Tally", "plays": 1, "wins": 2}
    elif kind == "missing field":
        del data["state"]["horizon"]
    elif kind == "unknown class":
        data["learner"]["is"] = "os.system"
    elif kind == "wrong answer":
        data["duels"][0]["answers"] = {"ann": "cake"}
    elif kind == "wrong arm":
        data["duels"][0]["left"] = "cake"
    elif kind == "wrong shape":
        data["state"]["tournament"]["tally"]["plays"]["shape"] = [3, 3]
    elif kind == "fewer users":
        data["users"] = data["users"][:-1]
    elif kind == "other horizon":
        data["horizon"] = "soon"
    elif kind == "huge number":
        data["state"]["tournament"]["tally"]["plays"]["values"][0] = 10**40
    if kind != "edited":
        del data["checksum"]
        data["checksum"] = document_checksum(data)
    elif kind == "edited":
        data["duels"].pop()
    return json.dumps(data)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("truncated", "is not whole JSON"),
        ("empty", "is not whole JSON"),
        ("another format", "is not a session"),
        ("a list", "is not a session"),
        ("newer", "version 2 of the format and this fairduel reads version 1: update fairduel"),
        ("no state", "is damaged"),
        ("strange state", "cannot load"),
        ("missing field", "is damaged"),
        ("unknown class", "'os.system' is not known here"),
        ("wrong answer", "'ann' answers 'cake'"),
        ("wrong arm", "is damaged"),
        ("wrong shape", "is damaged"),
        ("fewer users", "cannot load"),
        ("other horizon", "the horizon is 'soon'"),
        ("huge number", "is damaged"),
        ("edited", "changed or damaged after it was saved"),
        ("nested", "is not whole JSON"),
    ],
)
def test_a_bad_file_is_one_sentence(kind: str, sentence: str, tmp_path: Path) -> None:
    session = new_session()
    vote(session, 3, np.random.default_rng(0))
    path = tmp_path / "s.json"
    path.write_text(damage(saved(session, path).read_text(), kind))
    with pytest.raises(InputError, match=sentence) as error:
        Session.load(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        Session.load(tmp_path / "nowhere.json")


def test_a_file_that_cannot_be_written_keeps_the_old_one(tmp_path: Path) -> None:
    session = new_session()
    with pytest.raises(InputError, match="cannot write"):
        session.save(tmp_path / "nowhere" / "s.json")
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_numpy_can_be_saved(tmp_path: Path) -> None:
    learner = FairETC(winners=tuple(np.array([0, 1, 2])))
    session = Session(USERS, ARMS, np.int64(10), learner, seed=np.int64(3))  # type: ignore[arg-type]
    session.ask()
    session.save(tmp_path / "s.json")
    assert Session.load(tmp_path / "s.json").ask() == session.ask()


# A storage, event by event


class Memory(Storage):
    """The shortest storage, as somebody might write for a database."""

    def __init__(self) -> None:
        self.document: Document | None = None
        self.events: list[Event] = []
        self.broken = False

    def begin(self, document: Document) -> None:
        self.document = json.loads(json.dumps(document))

    def append(self, event: Event) -> None:
        if self.broken:
            raise InputError("the database is away: come back later.")
        self.events.append(event)

    def read(self) -> tuple[Document, list[Event]]:
        assert self.document is not None
        return self.document, self.events


STORAGES: list[Callable[[Path], Storage]] = [Journal, lambda path: Memory()]
either_storage = pytest.mark.parametrize("storage_at", STORAGES, ids=["journal", "memory"])


@either_storage
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_a_kept_session_goes_on_to_the_bit(
    learner: Learner[Any], storage_at: Callable[[Path], Storage], tmp_path: Path
) -> None:
    storage, rng = storage_at(tmp_path / "s.jsonl"), np.random.default_rng(1)
    session = new_session(learner)
    vote(session, 3, rng)
    session.keep(storage)
    for stop in (0, 1, 30, 80):
        vote(session, stop, rng)
        resumed = Session.resume(storage)
        assert fingerprint(resumed) == fingerprint(session)
        assert resumed.recommend() == session.recommend()
        assert [resumed.unanswered(u) for u in USERS] == [session.unanswered(u) for u in USERS]
        session = resumed  # which goes on keeping


@either_storage
@given(steps=st.lists(st.sampled_from(["ask", "resume", *USERS, "skip"]), max_size=40))
def test_any_order_of_asking_answering_and_resuming(
    storage_at: Callable[[Path], Storage],
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[str],
) -> None:
    folder = tmp_path_factory.mktemp("any")
    storage = storage_at(folder / "s.jsonl")
    kept, free = new_session(FairVOI()), new_session(FairVOI())
    kept.keep(storage)
    for step in steps:
        if step == "resume":
            kept = Session.resume(storage)
        elif step == "ask":
            assert kept.ask() == free.ask()
        else:
            user = "ann" if step == "skip" else step
            for session in (kept, free):
                for duel in session.unanswered(user)[:1]:
                    session.tell(duel, {user: SKIP if step == "skip" else duel.right})
    assert fingerprint(kept) == fingerprint(free)


def test_what_a_storage_cannot_take_did_not_happen(tmp_path: Path) -> None:
    session, storage = new_session(FairETC()), Memory()
    session.keep(storage)
    duel = session.ask()
    before = fingerprint(session)
    storage.broken = True
    with pytest.raises(InputError, match="the database is away"):
        session.tell(duel, {"ann": duel.left})
    with pytest.raises(InputError, match="the database is away"):
        session.ask()
    assert fingerprint(session) == before
    assert session.unanswered("ann") == [duel]
    storage.broken = False
    session.tell(duel, {"ann": duel.left})
    assert storage.events == [
        Asked(1, duel.left, duel.right, True),
        Told(1, {"ann": duel.left}),
    ]


def test_nothing_new_is_not_stored() -> None:
    session, storage = new_session(Same()), Memory()
    session.keep(storage)
    duel = session.ask()
    session.tell(duel, {"ann": TIE, "bob": SKIP})
    session.tell(duel, {"ann": TIE})
    session.tell(duel, {"bob": None, "ann": TIE})
    session.tell(duel, {})
    assert len(storage.events) == 2
    session.tell(duel, {"ann": TIE, "cat": TIE})
    assert storage.events[2] == Told(1, {"cat": TIE})


def test_what_was_shown_is_not_drawn_again(tmp_path: Path) -> None:
    """Another processor may round otherwise; the log is what people have seen."""
    session, storage = new_session(FairVOI()), Memory()
    session.keep(storage)
    first = session.ask()
    other = next(arm for arm in ARMS if arm not in (first.left, first.right))
    storage.events[0] = Asked(1, first.left, other, True)
    resumed = Session.resume(storage)
    assert resumed.duel(1).right == other
    resumed.tell(1, {"ann": other})
    assert resumed.ask().id == 2


# A journal


def journal(path: Path, duels: int = 3, learner: Learner[Any] | None = None) -> Session:
    """A session kept in a journal, with two events for each duel."""
    session = Session(["ann", "bøb"], ["x", "y"], learner=learner or FairVOI(anytime=True), seed=1)
    session.keep(path)
    for _ in range(duels):
        duel = session.ask()
        session.tell(duel, {"ann": duel.left, "bøb": TIE})
    return session


def test_a_journal_is_readable_json_lines(tmp_path: Path) -> None:
    session = journal(tmp_path / "s.jsonl", duels=1)
    first, asked, told = map(json.loads, (tmp_path / "s.jsonl").read_text().splitlines())
    duel = session.duel(1)
    assert (first["format"], first["version"]) == ("fairduel journal", 1)
    assert first["session"]["users"] == ["ann", "bøb"]
    del asked["checksum"], told["checksum"]
    assert asked == {"asked": 1, "left": duel.left, "right": duel.right, "listen": True}
    assert told == {"told": 1, "answers": {"ann": duel.left, "bøb": TIE}}
    assert "bøb" in (tmp_path / "s.jsonl").read_text()


def test_a_journal_cut_off_anywhere_is_whole_up_to_there(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.jsonl", tmp_path / "t.jsonl"
    session = Session(["ann", "bøb"], ["x", "y"], learner=Same(), seed=1)
    session.keep(path)
    stood = {path.stat().st_size: fingerprint(session)}
    for _ in range(3):
        duel = session.ask()
        stood[path.stat().st_size] = fingerprint(session)
        session.tell(duel, {"ann": "x", "bøb": TIE})
        stood[path.stat().st_size] = fingerprint(session)
    whole, ends = path.read_bytes(), sorted(stood)
    for cut in range(ends[0], len(whole) + 1):
        copy.write_bytes(whole[:cut])
        resumed = Session.resume(copy, Same())
        here = max(end for end in ends if end <= cut)
        assert fingerprint(resumed) == stood[here]
        resumed.ask()  # goes where the rest was
        again = Session.resume(copy, Same())
        assert fingerprint(again) == fingerprint(resumed)


def test_rubbish_behind_the_last_line_goes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal(path)
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(4096))
    resumed = Session.resume(path)
    assert path.read_bytes() == whole + bytes(4096)  # to look does not change it
    resumed.ask()
    assert path.read_bytes().startswith(whole + b'{"asked": 4, ')
    assert path.read_bytes().count(b"\n") == whole.count(b"\n") + 1
    assert path.read_bytes().endswith(b"\n")


def test_no_byte_can_be_changed_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal(path, duels=2, learner=Same())
    whole = path.read_bytes()
    for at in range(len(whole) - 1):  # without its last byte the last line is cut off
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"^cannot resume from"):
            Session.resume(path, Same())


@pytest.mark.parametrize("order", [(0, 1, 3, 4), (0, 1, 2, 4), (0, 1, 2, 2, 3, 4), (0, 3, 4, 1, 2)])
def test_no_line_can_go_missing_or_move(order: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal(path, duels=2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in order))
    with pytest.raises(InputError, match=r"line \d was changed or damaged: use an earlier copy"):
        Session.resume(path)


def chained(*items: dict[str, Any]) -> bytes:
    """Lines with the right checksums, whatever they hold."""
    text, checksum = b"", ""
    for item in items:
        line, checksum = _line(item, checksum)
        text += line
    return text


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"asked": 3, "left": "x", "right": "y", "listen": True}, "duel 3 follows duel 1"),
        ({"asked": "2", "left": "x", "right": "y", "listen": True}, "duel '2' follows duel 1"),
        ({"asked": 2, "left": "x", "right": "z", "listen": True}, "it is damaged"),
        ({"told": 2, "answers": {"ann": "x"}}, "there is no duel 2"),
        ({"told": 1, "answers": {"dan": "x"}}, "'dan' is not a user"),
        ({"told": 1, "answers": ["x"]}, "the answers to duel 1 are"),
        ({"withdrawn": 1}, "line 4 holds an event that this fairduel does not know: update"),
    ],
)
def test_an_event_that_cannot_be_is_one_sentence(
    event: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    journal(path, duels=1)
    items = [json.loads(line) for line in path.read_text().splitlines()]
    for item in items:
        del item["checksum"]
    path.write_bytes(chained(*items))
    assert Session.resume(path).rounds == 1
    path.write_bytes(chained(*items, event))
    with pytest.raises(InputError, match=sentence) as error:
        Session.resume(path)
    assert str(error.value).startswith(f"cannot resume from '{path}': ")
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session = journal(path)
    first = path.read_bytes().partition(b"\n")[0]
    with pytest.raises(InputError, match=r"it is a journal: use Session\.resume"):
        Session.load(path)
    with pytest.raises(InputError, match=r"it is not a journal: .* or use Session\.load"):
        Session.resume(saved(session, tmp_path / "s.json"))
    for wrong, sentence in (
        (b"", "it is not a journal"),
        (first, "line 1 was changed or damaged"),  # without its end
        (first.replace(b'"version": 1', b'"version": 2') + b"\n", "version 2 .* update fairduel"),
        (first[:-30] + b"\n", "line 1 was changed or damaged"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=sentence):
            Session.resume(path)
    with pytest.raises(InputError, match="cannot read"):
        Session.resume(tmp_path / "nowhere")


def test_a_journal_takes_the_place_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"it exists already: .*Session\.resume"):
        new_session().keep(path)
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="cannot write"):
        new_session().keep(tmp_path / "nowhere" / "s.jsonl")


def test_a_session_moves_to_a_shorter_journal(tmp_path: Path) -> None:
    """One that begins with where the session stands: nothing has to be gone through again."""
    session = journal(tmp_path / "long.jsonl")
    before = (tmp_path / "long.jsonl").read_bytes()
    session.keep(tmp_path / "short.jsonl")
    session.ask()
    assert (tmp_path / "long.jsonl").read_bytes() == before
    assert len((tmp_path / "short.jsonl").read_text().splitlines()) == 2
    resumed = Session.resume(tmp_path / "short.jsonl")
    assert fingerprint(resumed) == fingerprint(session)


def test_a_disk_that_fails_is_told_and_the_journal_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    session = journal(path)
    before = fingerprint(session)

    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(InputError, match=r"cannot write to .*Input/output error"):
            session.ask()
    # Nobody knows whether that line is on disk, so this session does not write another behind it.
    with pytest.raises(InputError, match=r"not as this session left it: go on .* Session\.resume"):
        session.ask()
    assert fingerprint(session) == before
    resumed = Session.resume(path)
    assert resumed.rounds in (3, 4)
    resumed.ask()
    assert Session.resume(path).rounds == resumed.rounds


def test_two_sessions_cannot_write_to_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session = journal(path)
    other = Session.resume(path)
    duel = other.ask()
    whole = path.read_bytes()
    for _ in range(2):
        with pytest.raises(InputError, match=f"cannot write to '{path}': .*Session.resume"):
            session.ask()
    assert session.rounds == 3
    assert path.read_bytes() == whole
    other.tell(duel, {"ann": duel.left})
    assert Session.resume(path).rounds == 4


def test_a_journal_is_read_before_it_is_written_to(tmp_path: Path) -> None:
    journal(tmp_path / "s.jsonl")
    storage = Journal(tmp_path / "s.jsonl")
    with pytest.raises(InputError, match="it was not read"):
        storage.append(Told(1, {"ann": SKIP}))
    assert repr(storage) == f"Journal('{tmp_path / 's.jsonl'}')"


def test_a_learner_of_ones_own_is_given_again_to_a_journal(tmp_path: Path) -> None:
    session = journal(tmp_path / "s.jsonl", learner=Same())
    with pytest.raises(InputError, match="'Same' is not known here: give the learner"):
        Session.resume(tmp_path / "s.jsonl")
    resumed = Session.resume(tmp_path / "s.jsonl", Same())
    assert fingerprint(resumed) == fingerprint(session)


def test_a_file_that_another_process_changed_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "lunch.json"
    first = Session(["ann", "bob"], ["x", "y"], 50, seed=1)
    first.save(file)
    second = Session.load(file)
    second.ask()
    second.save(file)
    first.ask()
    with pytest.raises(InputError, match="another process has changed it since"):
        first.save(file)
    assert Session.load(file).rounds == 1
    second.ask()
    second.save(file)  # whoever is up to date goes on
    first.save(tmp_path / "other.json")
    file.unlink()
    first.save(file)


def test_two_that_save_at_once_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look, and then both would write: here that takes a while."""
    file = tmp_path / "session.json"
    Session(["ann"], ["x", "y"], 50, seed=1).save(file)
    sessions = [Session.load(file) for _ in range(2)]

    def slowly(path: Any, document: Any) -> None:
        time.sleep(0.3)
        write_document(path, document)

    monkeypatch.setattr("fairduel.live.session.write_document", slowly)

    def save(session: Session) -> str:
        session.ask()
        try:
            session.save(file)
        except InputError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(save, sessions))
    assert said[0] == ""
    assert "another process has changed it" in said[1]


def test_a_name_that_is_none() -> None:
    session = Session(["ann"], ["x", "y"], 50, seed=1)
    for name in (None, 3.5, "a\0b"):
        with pytest.raises(InputError, match="cannot write"):
            session.save(name)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="cannot read"):
            Session.load(name)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"storage is|cannot write"):
            session.keep(name)  # type: ignore[arg-type]
