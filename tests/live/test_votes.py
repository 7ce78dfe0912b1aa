"""The work of a session does not grow with the duels so far: counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from fairduel import Duel, FairVOI, Learner, Session
from fairduel.live import storage, votes
from voters import ARMS, USERS, Same

LIVE = str(Path(votes.__file__).parent)


def steps(call: Callable[[], object]) -> int:
    """How many steps the interpreter makes in the modules of live use while it runs ``call``."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            if not frame.f_code.co_filename.startswith(LIVE):
                return None
            frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def play(session: Session, duels: int) -> None:
    """Everybody votes, but for ann in the last duel and cat, who skips."""
    for _ in range(duels):
        duel = session.ask()
        session.tell(duel, {"ann": duel.left, "bob": duel.right, "cat": None})
    session.ask()


def work(session: Session) -> dict[str, int]:
    duel: list[Duel] = []
    return {
        "ask": steps(lambda: duel.append(session.ask())),
        "tell": steps(lambda: session.tell(duel[0], {"ann": duel[0].left, "bob": "tie"})),
        "tell late": steps(lambda: session.tell(1, {"cat": session.duel(1).left})),
        "duel": steps(lambda: session.duel(2)),
        "unanswered": steps(lambda: session.unanswered("ann")),
    }


@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "journal"])
def test_work_does_not_grow(kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda descriptor: None)  # the disk's own time is not ours
    found = []
    for duels in (10, 1000):
        session = Session(USERS, ARMS, learner=Same(), seed=1)
        if kept:
            session.keep(tmp_path / f"{duels}.jsonl")
        play(session, duels)
        assert len(session.unanswered("ann")) == 1
        found.append(work(session))
    few, many = found
    assert min(few.values()) > 10
    for what in few:  # which interpreter counts what as a step may change as it warms up
        assert many[what] < 1.3 * few[what], what


def test_the_counter_of_steps_counts() -> None:
    """What walks the log is seen to do so."""
    session = Session(USERS, ARMS, learner=Same(), seed=1)
    play(session, 10)
    few = steps(session._votes.records)
    play(session, 990)
    assert steps(session._votes.records) > 50 * few


class Counting:
    """A file that counts the bytes that go through it."""

    def __init__(self, path: Path, mode: str) -> None:
        self.file: Any = path.open(mode)

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        if "read" in name:
            raise AssertionError("nothing has to be read to store one more vote")
        return getattr(self.file, name)

    def write(self, data: bytes) -> None:
        self.file.write(data)
        written.append(len(data))


written: list[int] = []


@pytest.mark.parametrize("learner", [Same(), FairVOI(anytime=True)], ids=["same", "voi"])
def test_storing_one_more_vote_does_not_grow(
    learner: Learner[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise AssertionError("the whole file is touched")

    written.clear()
    session = Session(USERS, ARMS, learner=learner, seed=1)
    session.keep(tmp_path / "s.jsonl")
    began = (tmp_path / "s.jsonl").stat().st_size
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    monkeypatch.setattr(storage, "open", Counting, raising=False)
    monkeypatch.setattr(storage, "write_whole", forbidden)
    monkeypatch.setattr(storage, "read_whole", forbidden)
    play(session, 1000)
    size = (tmp_path / "s.jsonl").stat().st_size
    assert len(written) == 2001
    assert sum(written) == size - began  # every byte once
    assert max(written) < 200
