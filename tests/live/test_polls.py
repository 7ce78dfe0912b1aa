"""Votes outside duels: questions for one user, changes, comings and goings, files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairduel import BradleyTerryThompson, FairETC, FairVOI, Nash, Session
from fairduel.errors import InputError
from fairduel.live import SKIP, TIE, Question

USERS, ARMS = ["ann", "bob", "cat"], ["pizza", "soup", "fish", "rice"]


def new(**settings: object) -> Session:
    return Session(USERS, ARMS, seed=1, **settings)  # type: ignore[arg-type]


def asked(session: Session, user: str) -> Question:
    question = session.question(user)
    assert question is not None
    return question


def answer(session: Session, rng: np.random.Generator, count: int) -> None:
    for _ in range(count):
        for user in session.users:
            question = session.question(user)
            if question is not None:
                chosen = (question.left, question.right, TIE, SKIP)[
                    rng.choice(4, p=(0.4, 0.4, 0.1, 0.1))
                ]
                session.vote(user, question.left, question.right, chosen)


def wins_of(session: Session) -> np.ndarray:
    return session._votes.roster.restrict(session._votes.tally).wins


def test_each_pair_is_asked_once_and_then_nothing_is_left() -> None:
    session, seen = new(), set()
    for _ in range(6):
        question = asked(session, "ann")
        assert question == session.question("ann")
        seen.add(frozenset((question.left, question.right)))
        session.vote("ann", question.left, question.right, question.left)
    assert len(seen) == 6
    assert session.question("ann") is None
    assert session.question("bob") is not None


def test_either_option_may_be_on_the_left_and_the_seed_decides() -> None:
    lefts = []
    for seed in range(40):
        question = Session(["ann"], ["pizza", "soup"], seed=seed).question("ann")
        assert question is not None
        lefts.append(question.left)
    assert 10 <= lefts.count("pizza") <= 30


def test_votes_count_and_the_last_one_counts() -> None:
    session = new()
    session.vote("ann", "pizza", "soup", "pizza")
    session.vote("ann", "soup", "pizza", "pizza")  # the same again
    assert wins_of(session)[0, 0, 1] == 1.0
    session.vote("ann", "soup", "pizza", TIE)
    assert wins_of(session)[0, :2, :2].tolist() == [[0.0, 0.5], [0.5, 0.0]]
    session.vote("ann", "pizza", "soup", None)
    assert not wins_of(session).any()
    assert session.recommend().favourites["ann"] is None


def test_skipping_teaches_nothing_and_is_not_asked_again() -> None:
    session = new()
    first = asked(session, "ann")
    session.vote("ann", first.left, first.right, SKIP)
    again = asked(session, "ann")
    assert {again.left, again.right} != {first.left, first.right}
    assert not wins_of(session).any()
    session.vote("ann", first.left, first.right, None)
    back = asked(session, "ann")
    assert {back.left, back.right} == {first.left, first.right}


def test_taking_everything_back_leaves_the_same_session() -> None:
    session, rng = new(), np.random.default_rng(3)
    answer(session, rng, 3)
    before, question = session.recommend(), session.question("cat")
    for arm in ("soup", "fish"):
        session.vote("bob", "pizza", arm, None)
    kept = dict(session._votes.voted)
    session.vote("bob", "pizza", "soup", "pizza")
    session.vote("bob", "pizza", "soup", None)
    assert session._votes.voted == kept
    other = new()
    for (user, left, right), said in kept.items():
        other.vote(user, left, right, said)
    assert other.recommend() == session.recommend()
    assert other.question("cat") == session.question("cat")
    assert (before, question) is not None


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(USERS),
            st.sampled_from([(a, b) for a in ARMS for b in ARMS if a != b]),
            st.sampled_from(["left", "right", TIE, SKIP, None]),
        ),
        max_size=20,
    )
)
def test_any_order_of_votes_changes_and_retractions_adds_up(
    votes: list[tuple[str, tuple[str, str], str | None]],
) -> None:
    session = new(learner=BradleyTerryThompson())
    last: dict[tuple[str, frozenset[str]], str | None] = {}
    for user, (left, right), said in votes:
        chosen = {"left": left, "right": right}.get(said or "", said)
        session.vote(user, left, right, chosen)
        last[user, frozenset((left, right))] = chosen
    expected = np.zeros((3, 4, 4))
    for (user, pair), chosen in last.items():
        i, j = (ARMS.index(arm) for arm in sorted(pair))
        d = USERS.index(user)
        if chosen == TIE:
            expected[d, i, j] += 0.5
            expected[d, j, i] += 0.5
        elif chosen in pair:
            winner = ARMS.index(chosen or "")
            expected[d, winner, i + j - winner] += 1.0
    np.testing.assert_array_equal(wins_of(session), expected)
    np.testing.assert_array_equal(session._state.tally.wins, expected)


def test_an_answer_to_a_duel_can_be_changed_and_taken_back() -> None:
    session = new()
    duel = next(d for d in iter(session.ask, None) if d.vote)
    session.tell(duel, {"ann": duel.left, "bob": duel.left})
    with pytest.raises(InputError, match="change=True"):
        session.tell(duel, {"ann": duel.right})
    session.tell(duel, {"ann": duel.right, "bob": SKIP}, change=True)
    i, j = ARMS.index(duel.left), ARMS.index(duel.right)
    assert wins_of(session)[0, i, j] == 0.0
    assert wins_of(session)[0, j, i] == 1.0
    assert not wins_of(session)[1].any()
    assert session._state.tally.rounds == session.rounds
    np.testing.assert_array_equal(session._state.tally.wins, wins_of(session))


def test_learners_that_go_through_phases_say_that_answers_stand() -> None:
    session = new(horizon=500, learner=FairETC())
    duel = next(d for d in iter(session.ask, None) if d.vote)
    session.tell(duel, {"ann": duel.left})
    with pytest.raises(InputError, match=r"FairETC learns in phases.*use FairVOI"):
        session.tell(duel, {"ann": duel.right}, change=True)
    with pytest.raises(InputError, match="FairETC learns in phases"):
        session.add_user("dan")
    assert wins_of(session)[0].sum() == 1.0
    assert session.users == tuple(USERS)


def test_known_winners_stay_those_of_the_same_users_when_others_come_and_go() -> None:
    """They are given by number, of those who were there first."""
    session = new(learner=FairVOI(winners=(3, None, 1), anytime=True))
    session.remove_arm("pizza")
    assert session.recommend().favourites == {"ann": "rice", "bob": None, "cat": "soup"}
    session.remove_user("ann")
    session.add_user("dan")
    session.remove_arm("soup")
    assert session.recommend().favourites == {"bob": None, "cat": None, "dan": None}
    session.add_user("ann")
    session.add_arm("pizza")
    session.add_arm("soup")
    assert session.recommend().favourites["ann"] == "rice"
    assert session.recommend().favourites["cat"] == "soup"
    assert session.ask().id == 1


def test_users_and_arms_come_and_go() -> None:
    session, rng = new(), np.random.default_rng(1)
    answer(session, rng, 4)
    session.add_user("dan")
    session.add_arm("tacos")
    assert session.users == (*USERS, "dan")
    assert session.arms == (*ARMS, "tacos")
    answer(session, rng, 3)
    told = session.recommend()
    assert set(told.policy) == {*ARMS, "tacos"}
    assert set(told.utilities) == {*USERS, "dan"}
    session.remove_arm("pizza")
    session.remove_user("ann")
    assert "pizza" not in session.recommend().policy
    assert "ann" not in session.recommend().utilities
    for _ in range(20):
        duel = session.ask()
        assert "pizza" not in (duel.left, duel.right)
        session.tell(duel, {"dan": duel.left})
    assert all("pizza" not in (q.left, q.right) for q in [asked(session, "dan")])
    with pytest.raises(InputError, match="'ann' has left"):
        session.question("ann")
    session.add_arm("pizza")
    session.add_user("ann")
    assert set(session.arms) == {*ARMS, "tacos"}
    assert wins_of(session)[session.users.index("ann")].any()  # what she said is still there


def test_late_answers_about_what_is_gone_are_kept() -> None:
    session = new()
    duel = next(d for d in iter(session.ask, None) if d.vote)
    session.remove_arm(duel.left)
    assert duel not in session.unanswered("ann")
    session.tell(duel, {"ann": duel.left})
    assert not wins_of(session).any()
    session.add_arm(duel.left)
    assert wins_of(session)[0].sum() == 1.0


def test_who_joins_late_is_not_taken_for_silent() -> None:
    """Duels from before somebody came are rounds that asked nothing."""
    session = new(horizon=1000)
    for _ in range(60):
        duel = session.ask()
        session.tell(duel, dict.fromkeys(USERS, duel.left))
    session.add_user("dan")
    tally = session._state.tally
    assert tally.rounds == 60
    assert tally.plays[0, 0] == 60
    assert tally.wins[:3].any()


def test_those_who_never_were_or_are_the_last_cannot_go() -> None:
    session = Session(["ann"], ["pizza", "soup"], seed=1)
    with pytest.raises(InputError, match="'ann' is the last user"):
        session.remove_user("ann")
    with pytest.raises(InputError, match="'tea' is not an arm here"):
        session.remove_arm("tea")
    with pytest.raises(InputError, match="'tie' is an answer of its own"):
        session.add_arm("tie")
    session.remove_arm("soup")
    assert session.question("ann") is None


@pytest.mark.parametrize(
    ("vote", "words"),
    [
        (("ann", "pizza", "pizza", "pizza"), "with itself"),
        (("ann", "pizza", "tea", "tea"), "'tea' is not an arm here"),
        (("eve", "pizza", "soup", "pizza"), "'eve' is not a user here"),
        (("ann", "pizza", "soup", "fish"), "the answers are 'pizza', 'soup', 'tie', 'skip'"),
    ],
)
def test_votes_that_cannot_be_are_refused(vote: tuple[str, str, str, str], words: str) -> None:
    session = new()
    with pytest.raises(InputError, match=words):
        session.vote(*vote)
    assert not session._votes.voted


def _busy(session: Session) -> Session:
    rng = np.random.default_rng(5)
    answer(session, rng, 2)
    duel = session.ask()
    session.tell(duel, {"ann": duel.left, "bob": duel.right})
    session.tell(duel, {"ann": duel.right}, change=True)
    session.add_arm("tacos")
    session.remove_user("cat")
    answer(session, rng, 2)
    session.vote("ann", "pizza", "tacos", None)
    return session


def _alike(one: Session, other: Session) -> None:
    assert one.users == other.users
    assert one.arms == other.arms
    assert one.recommend() == other.recommend()
    assert [one.question(u) for u in one.users] == [other.question(u) for u in other.users]
    assert [one.ask() for _ in range(5)] == [other.ask() for _ in range(5)]
    one.add_user("dan")
    other.add_user("dan")
    assert [one.ask() for _ in range(5)] == [other.ask() for _ in range(5)]


def test_a_file_holds_all_of_it(tmp_path: Path) -> None:
    session = _busy(new())
    session.save(tmp_path / "s.json")
    _alike(Session.load(tmp_path / "s.json"), session)


def test_a_journal_holds_all_of_it(tmp_path: Path) -> None:
    session = new()
    session.keep(tmp_path / "s.jsonl")
    _busy(session)
    shutil.copy(tmp_path / "s.jsonl", tmp_path / "copy.jsonl")
    _alike(Session.resume(tmp_path / "copy.jsonl"), session)


def test_sessions_without_votes_of_their_own_look_as_before(tmp_path: Path) -> None:
    session = new()
    session.ask()
    session.save(tmp_path / "s.json")
    data = json.loads((tmp_path / "s.json").read_text())
    assert {"gone", "moves", "before", "votes"}.isdisjoint(data)


def test_a_session_goes_on_from_votes(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    wins = rng.integers(0, 3, (3, 4, 4)).astype(float)
    session = Session.from_votes(USERS, ARMS, wins, seed=1)
    wins[:, range(4), range(4)] = 0.0
    np.testing.assert_array_equal(wins_of(session), wins)
    np.testing.assert_array_equal(session._state.tally.wins, wins)
    answer(session, rng, 1)
    session.save(tmp_path / "s.json")
    _alike(Session.load(tmp_path / "s.json"), session)


@pytest.mark.parametrize(
    ("wins", "words"),
    [
        (np.zeros((2, 4, 4)), "shape"),
        (np.full((3, 4, 4), -1.0), "negative"),
        (np.full((3, 4, 4), np.nan), "no number"),
        ("no", "no array of numbers"),
        (None, "shape"),
        ({}, "no array of numbers"),
        ([[[0, 1], [0]]], "no array of numbers"),
        ([[[10**400]]], "no array of numbers"),
        (np.zeros((3, 4)), "shape"),
        (np.zeros((3, 4, 5)), "shape"),
    ],
)
def test_votes_that_are_no_counts_are_refused(wins: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        Session.from_votes(USERS, ARMS, wins)
    assert "\n" not in str(error.value)


def test_questions_are_worth_more_than_random_pairs() -> None:
    """Two camps, as many answers from pairs at random: what is asked for gets further."""

    def kept(run: int, own: bool) -> float:
        rng = np.random.default_rng([run, 11])
        camps = rng.standard_normal((2, 8))
        theta = 2.0 * camps[np.arange(6) % 2] + 0.5 * rng.standard_normal((6, 8))
        beats = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
        users, arms = [f"u{d}" for d in range(6)], [f"a{k}" for k in range(8)]
        session = Session(users, arms, seed=run)
        for _ in range(7):
            for d, user in enumerate(users):
                pair = asked(session, user) if own else None
                left, right = (
                    (pair.left, pair.right) if pair else rng.choice(arms, 2, replace=False)
                )
                i, j = arms.index(left), arms.index(right)
                session.vote(user, left, right, left if rng.random() < beats[d, i, j] else right)
        best = theta.argmax(axis=1)
        scores = 2.0 * beats[np.arange(6), :, best]
        scores[np.arange(6), best] = 1.0
        policy = np.array(list(session.recommend().policy.values()))
        ratio = Nash().value(scores @ policy) / Nash().maximize(scores).value
        return float(ratio ** (1 / 6))

    ours = np.array([kept(run, True) for run in range(3)])
    chance = np.array([kept(run, False) for run in range(3)])
    assert ours.mean() > 0.8
    assert ours.mean() > chance.mean()


def test_fair_voi_begins_again_from_sums() -> None:
    assert FairVOI.from_sums
    assert not FairETC.from_sums
