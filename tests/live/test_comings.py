"""Who and what comes and goes is as before when a session goes on from a file or a journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairduel import (
    BradleyTerryThompson,
    Egalitarian,
    FairVOI,
    GeneralizedGini,
    InputError,
    Learner,
    Nash,
    Session,
)
from fairduel.live.storage import document_checksum
from voters import ARMS, USERS, Same, fingerprint, saved

FEATURES = ((1.0, 0.2), (1.0, 0.3), (0.0, 0.8), (0.0, 0.9))
WINNERS = FairVOI(winners=(3, None, 1), anytime=True)
BOTH = FairVOI(winners=(3, None, 1), anytime=True, features=FEATURES)


def new(learner: Learner[Any] | None = None) -> Session:
    return Session(USERS, ARMS, learner=learner, seed=1)


def loaded(session: Session, folder: Path) -> Session:
    return Session.load(saved(session, folder / "s.json"))


def kept_now(session: Session, folder: Path) -> Session:
    """The session from a journal that begins where it stands."""
    path = folder / "s.jsonl"
    path.unlink(missing_ok=True)
    session.keep(path)
    session._storage = None  # both go on from here, and only one may write
    resumed = Session.resume(path)
    resumed._storage = None
    return resumed


AGAIN: list[Callable[[Session, Path], Session]] = [loaded, kept_now]
either_way = pytest.mark.parametrize("again", AGAIN)


def everybody(session: Session) -> tuple[str, ...]:
    return session._votes.roster.users


def alike(one: Session, other: Session) -> None:
    """Both are the same to the bit, and say the same."""
    assert fingerprint(one) == fingerprint(other)
    assert one._player == other._player
    assert one.recommend() == other.recommend()
    assert [one.question(user) for user in one.users] == [other.question(u) for u in other.users]
    for user in everybody(one):
        assert one.unanswered(user) == other.unanswered(user)


# What the learner was told of users and arms


@either_way
def test_known_winners_are_those_of_the_same_arms(
    again: Callable[[Session, Path], Session], tmp_path: Path
) -> None:
    session = new(WINNERS)
    session.remove_arm("fish")
    other = again(session, tmp_path)
    assert other.recommend().favourites == {"ann": "rice", "bob": None, "cat": "soup"}
    alike(session, other)
    assert session.ask() == other.ask()


@either_way
def test_known_winners_are_those_of_the_same_users(
    again: Callable[[Session, Path], Session], tmp_path: Path
) -> None:
    session = new(WINNERS)
    session.remove_user("ann")
    alike(session, other := again(session, tmp_path))
    assert other.recommend().favourites == {"bob": None, "cat": "soup"}
    for each in (session, other):
        each.add_user("dan")
    alike(session, other := again(session, tmp_path))
    assert other.recommend().favourites == {"bob": None, "cat": "soup", "dan": None}
    for each in (session, other):
        each.add_user("ann")
    assert other.recommend().favourites["ann"] == "rice"
    alike(session, again(other, tmp_path))


@either_way
def test_features_are_those_of_the_same_arms(
    again: Callable[[Session, Path], Session], tmp_path: Path
) -> None:
    session = new(FairVOI(features=FEATURES, anytime=True))
    session.remove_arm("soup")
    session.vote("ann", "pizza", "rice", "rice")
    other = again(session, tmp_path)
    assert other.ask() == session.ask()
    alike(session, other)
    for each in (session, other):
        each.add_arm("soup")
    alike(session, other)
    with pytest.raises(InputError, match="'tacos' has no features"):
        other.add_arm("tacos")


@either_way
def test_who_joins_after_votes_from_before_is_still_there(
    again: Callable[[Session, Path], Session], tmp_path: Path
) -> None:
    wins = np.random.default_rng(4).random((3, 4, 4))  # which are no halves, and round
    session = Session.from_votes(USERS, ARMS, wins, seed=1)
    session.add_user("dan")
    session.add_arm("tacos")
    for answer in ("tacos", "pizza", None, "tacos"):
        session.vote("dan", "pizza", "tacos", answer)
        session.vote("ann", "pizza", "soup", answer and "soup")
    alike(session, other := again(session, tmp_path))
    assert session.ask() == other.ask()


# Which duels wait for whom


def waiting(session: Session) -> dict[str, list[int]]:
    return {user: [duel.id for duel in session.unanswered(user)] for user in everybody(session)}


class Sums(Same):
    """The same learner, where users and arms may come and go."""

    from_sums = True


def test_only_those_who_were_there_are_waited_for(tmp_path: Path) -> None:
    session = Session(USERS, ARMS, learner=Sums(), seed=1)

    def step(change: Callable[[], None], ask: int) -> None:
        nonlocal session
        change()
        for _ in range(ask):
            session.ask()
        before = waiting(session)
        path = saved(session, tmp_path / "s.json")
        other = Session.load(path, Sums())
        assert waiting(other) == before
        other.keep(tmp_path / f"{session.rounds}.jsonl")
        session = Session.resume(tmp_path / f"{session.rounds}.jsonl", Sums())
        assert waiting(session) == before
        assert saved(other, tmp_path / "t.json").read_text() == path.read_text()

    step(lambda: None, 2)
    step(lambda: session.add_user("dan"), 1)
    step(lambda: session.remove_user("bob"), 2)
    assert waiting(session) == {
        "ann": [1, 2, 3, 4, 5],
        "bob": [1, 2, 3],  # what is told of these still counts, once bob is back
        "cat": [1, 2, 3, 4, 5],
        "dan": [3, 4, 5],
    }
    session.tell(4, {"dan": "tie", "bob": "tie"})
    step(lambda: session.add_user("bob"), 1)
    step(lambda: session.remove_user("dan"), 1)
    assert waiting(session)["bob"] == [1, 2, 3, 6, 7]
    assert waiting(session)["dan"] == [3, 5, 6]
    session.remove_user("cat")
    session.add_user("cat")  # between two duels, which leaves no trace
    step(lambda: session.remove_arm("pizza"), 1)
    assert waiting(session) == {"ann": [8], "bob": [8], "cat": [8], "dan": []}


def test_a_file_that_does_not_say_when_somebody_went_still_loads(tmp_path: Path) -> None:
    """As files were: who is gone waits for nothing that came after the last coming or going."""
    session = new()
    while len(session.unanswered("bob")) < 3:
        session.ask()
    session.remove_user("bob")
    before = waiting(session)
    for _ in range(5):
        session.ask()
    path = saved(session, tmp_path / "s.json")
    data = json.loads(path.read_text())
    del data["moves"], data["checksum"]
    data["checksum"] = document_checksum(data)
    path.write_text(json.dumps(data))
    other = Session.load(path)
    assert waiting(other)["bob"] == before["bob"]
    alike(session, other)


@pytest.mark.parametrize("moves", [["bob"], {"bob": 3}, {"eve": [1]}, {"bob": ["x"]}])
def test_damaged_comings_and_goings_are_one_sentence(moves: Any, tmp_path: Path) -> None:
    session = new()
    session.ask()
    session.remove_user("bob")
    path = saved(session, tmp_path / "s.json")
    data = json.loads(path.read_text())
    del data["checksum"]
    data["moves"] = moves
    data["checksum"] = document_checksum(data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"cannot load .* is damaged"):
        Session.load(path)


# A welfare for these users


@pytest.mark.parametrize(
    "learner",
    [
        FairVOI(welfare=Nash(weights=(1, 2)), anytime=True),
        FairVOI(welfare=GeneralizedGini(delta=2, sizes=(1, 2)), anytime=True),
        BradleyTerryThompson(welfare=Nash(weights=(1, 2))),
    ],
    ids=["nash", "gini", "thompson"],
)
def test_users_that_the_welfare_weighs_stay(learner: Learner[Any]) -> None:
    session = Session(["ann", "bob"], ARMS, 100, learner, seed=1)
    session.vote("ann", "pizza", "soup", "soup")
    before = fingerprint(session)
    for change, name in ((session.add_user, "cat"), (session.remove_user, "bob")):
        with pytest.raises(InputError, match=r"weighs 2 users.*Session\.from_votes"):
            change(name)
        assert fingerprint(session) == before
        assert session.users == ("ann", "bob")
    session.remove_arm("rice")  # arms have no weights
    session.add_arm("tea")
    assert set(session.recommend().policy) == {"pizza", "soup", "fish", "tea"}


@pytest.mark.parametrize("welfare", [Egalitarian(), GeneralizedGini(weights=(3, 2))])
def test_users_that_the_welfare_does_not_weigh_come_and_go(welfare: Any) -> None:
    session = new(FairVOI(welfare=welfare, anytime=True))
    session.remove_user("bob")
    session.add_user("dan")
    assert set(session.recommend().utilities) == {"ann", "cat", "dan"}


# All of it together


def anything(session: Session, rng: np.random.Generator) -> None:
    """Somebody comes, goes, is asked or answers; what is not allowed is refused and no more."""
    some = everybody(session)
    user, arm = str(rng.choice([*some, "dan", "eve"])), str(rng.choice([*ARMS, "tacos"]))
    what = rng.choice(["ask", "ask", "tell", "vote", "user", "user", "arm"])
    if what == "ask":
        session.ask()
    elif what == "tell" and session.rounds:
        duel = session.duel(int(rng.integers(session.rounds)) + 1)
        said = str(rng.choice([duel.left, duel.right, "tie", "skip"]))
        session.tell(duel, {str(rng.choice(some)): said}, change=True)
    elif what == "vote":
        one, two = rng.choice(session._votes.roster.arms, 2, replace=False).tolist()
        session.vote(str(rng.choice(some)), one, two, [one, two, "tie", None][rng.integers(4)])
    else:
        with suppress(InputError):  # of the last one, and of an arm without features
            if what == "user":
                (session.remove_user if user in session.users else session.add_user)(user)
            elif what == "arm":
                (session.remove_arm if arm in session.arms else session.add_arm)(arm)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("learner", [WINNERS, BOTH, None], ids=["winners", "features", "plain"])
def test_any_order_of_coming_going_and_loading(
    learner: Learner[Any] | None, seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng([seed, 9])
    session, free = new(learner), new(learner)
    session.keep(tmp_path / "kept.jsonl")
    for stop in range(6):
        for _ in range(6):
            state = rng.bit_generator.state
            anything(session, rng)
            rng.bit_generator.state = state
            anything(free, rng)
        alike(free, Session.resume(tmp_path / "kept.jsonl"))
        session = loaded(session, tmp_path)
        alike(free, session)
        session.keep(tmp_path / f"{stop}.jsonl")
        alike(free, Session.resume(tmp_path / f"{stop}.jsonl"))
        session = Session.resume(tmp_path / f"{stop}.jsonl")
        (tmp_path / "kept.jsonl").unlink()
        session.keep(tmp_path / "kept.jsonl")
