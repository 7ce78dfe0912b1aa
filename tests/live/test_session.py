"""Live sessions: names, late and partial answers, errors that change nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel import (
    SKIP,
    TIE,
    Duel,
    FairEpsilonGreedy,
    FairETC,
    FairVOI,
    InputError,
    Learner,
    Session,
    UniformOverUsers,
    Utilitarian,
)
from fairduel.inference import estimate_utilities, infer
from fairduel.live import Interval
from voters import ARMS, LEARNERS, QUICK, USERS, Same, fingerprint, new_session, saved, vote


def test_duels_have_names_and_ids_in_order() -> None:
    session = new_session()
    duels = [session.ask() for _ in range(5)]
    assert [duel.id for duel in duels] == [1, 2, 3, 4, 5]
    assert {duel.left for duel in duels} | {duel.right for duel in duels} <= set(ARMS)
    assert session.rounds == 5
    assert session.duel(3) == duels[2]


def test_the_seed_decides_what_is_drawn() -> None:
    """The same duels and intervals again with the same seed, and others with another.

    The winners are known, so that the learner itself draws nothing.
    """

    def drawn(seed: int) -> tuple[list[str], list[float], dict[str, float]]:
        session = Session(USERS, ARMS, 400, UniformOverUsers(winners=(0, 1, 2)), seed=seed)
        told = session.recommend()
        lows = [interval.low for interval in told.utilities.values()]
        return [session.ask().left for _ in range(20)], lows, told.policy

    one, again, other = drawn(1), drawn(1), drawn(2)
    assert one == again
    assert one[0] != other[0]
    assert set(one[1]).isdisjoint(other[1])
    assert one[2] == other[2]


def _first_with_votes(session: Session) -> Duel:
    """The first duel of two different arms: while nothing is known, two alike may be drawn."""
    while not (duel := session.ask()).vote:
        pass
    return duel


def test_answers_reach_the_learner() -> None:
    session = new_session(FairVOI())
    duel = _first_with_votes(session)
    session.tell(duel.id, {"ann": duel.left, "bob": duel.right, "cat": TIE})
    i, j = ARMS.index(duel.left), ARMS.index(duel.right)
    wins = session._state.tally.wins
    assert wins[:, i, j].tolist() == [1.0, 0.0, 0.5]
    assert wins[:, j, i].tolist() == [0.0, 1.0, 0.5]
    assert wins.sum() == 3.0


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_order_and_pieces_do_not_matter(learner: Learner[Any]) -> None:
    together, apart = new_session(learner), new_session(learner)
    duels = [together.ask() for _ in range(6)]
    assert [apart.ask() for _ in range(6)] == duels
    for duel in duels:
        together.tell(duel.id, {"ann": duel.left, "bob": TIE, "cat": duel.right})
    for duel in reversed(duels):
        apart.tell(duel.id, {"cat": duel.right})
    for duel in duels:
        apart.tell(duel.id, {"bob": TIE})
        apart.tell(duel.id, {"ann": duel.left})
    assert [together.ask() for _ in range(30)] == [apart.ask() for _ in range(30)]
    assert together.recommend() == apart.recommend()


def test_a_duel_or_its_id_may_be_told() -> None:
    one, other = new_session(), new_session()
    duel = one.ask()
    one.tell(duel, {"ann": duel.left})
    other.tell(other.ask().id, {"ann": duel.left})
    assert one.recommend() == other.recommend()
    assert one.unanswered("ann") == other.unanswered("ann") == []


def test_a_duel_of_another_session_is_an_error() -> None:
    session = new_session()
    duel = session.ask()
    before = fingerprint(session)
    swapped = Duel(duel.id, duel.right, duel.left, duel.vote)
    with pytest.raises(InputError, match="is not of this session, where duel 1 is"):
        session.tell(swapped, {"ann": duel.left})
    with pytest.raises(InputError, match="there is no duel 2"):
        session.tell(Duel(2, duel.left, duel.right, True), {"ann": duel.left})
    assert fingerprint(session) == before


@pytest.mark.parametrize(
    ("duel", "sentence"),
    [
        ("1", "the duel is '1': give what ask.. returned, or its id, like 1"),
        (True, "the duel is True: give what ask"),
        (1.0, "the duel is 1.0: give what ask"),
        (None, "the duel is None: give what ask"),
        ((1,), r"the duel is \(1,\): give what ask"),
        (0, "there is no duel 0: the duels so far are 1 to 1: give one that ask"),
        (-1, "there is no duel -1"),
        (2, "there is no duel 2"),
    ],
)
def test_what_is_not_a_duel_is_one_sentence_and_changes_nothing(duel: Any, sentence: str) -> None:
    session = new_session()
    with pytest.raises(InputError, match=r"the duel is|none was issued yet: give one that ask"):
        session.tell(duel, {})
    asked = session.ask()
    before = fingerprint(session)
    with pytest.raises(InputError, match=sentence):
        session.tell(duel, {"ann": asked.left})
    with pytest.raises(InputError, match=sentence):
        session.duel(duel)
    assert fingerprint(session) == before


@pytest.mark.parametrize("answers", ["pizza", ["pizza"], None, {"ann"}, [("ann", "pizza")]])
def test_answers_that_are_no_dict(answers: Any) -> None:
    session = new_session()
    asked = session.ask()
    with pytest.raises(InputError, match=f"give a dict .*, like {{'ann': '{asked.left}'}}"):
        session.tell(asked, answers)


def test_names_are_understood_in_any_form() -> None:
    """Keyboards and systems differ in how they write the same letters."""
    session = Session(["Zo\u00e9", "bob"], ["th\u00e9", "lait"], seed=1)
    duel = next(duel for duel in iter(session.ask, None) if duel.vote)
    session.tell(duel, {"Zoe\u0301": "the\u0301 ", "bob ": " tie"})
    assert session._votes.records()[-1]["answers"] == {"Zo\u00e9": "th\u00e9", "bob": "tie"}
    assert session.unanswered("Zoe\u0301") == []
    with pytest.raises(InputError, match="'Zo\u00e9' answers twice to duel"):
        session.tell(session.ask(), {"Zoe\u0301": "tie", "Zo\u00e9": "skip"})


def test_only_a_few_of_many_users_are_listed() -> None:
    session = Session([f"user {number}" for number in range(100)], ["x", "y"])
    with pytest.raises(InputError, match=r"'user 9' and 90 more\.$"):
        session.unanswered("nobody")


def test_a_session_is_shown_in_short() -> None:
    session = new_session(FairETC())
    session.ask()
    assert repr(session) == "Session(3 users, 4 arms, 1 of 400 duels, FairETC)"
    assert repr(Session(USERS, ARMS)) == "Session(3 users, 4 arms, 0 duels, FairVOI)"


def test_the_same_answer_twice_changes_nothing() -> None:
    session = new_session()
    duel = session.ask()
    session.tell(duel.id, {"ann": duel.left, "bob": SKIP})
    before = fingerprint(session)
    session.tell(duel.id, {"ann": duel.left})
    session.tell(duel.id, {"ann": duel.left, "bob": None})
    assert fingerprint(session) == before


def test_whoever_skipped_may_answer_after_all() -> None:
    session = new_session()
    duel = session.ask()
    session.tell(duel.id, {"bob": SKIP})
    assert session._votes.tally.wins.sum() == 0.0
    session.tell(duel.id, {"bob": duel.left})
    assert session._votes.tally.wins.sum() == 1.0


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"ann": "RIGHT"}, "'ann' answers .* to duel 1 but has answered .* before"),
        ({"ann": SKIP}, "has answered"),
        ({"dan": "LEFT"}, "'dan' is not a user here: the users are 'ann', 'bob', 'cat'"),
        ({"bob": "cake"}, "'bob' answers 'cake' to duel 1: the answers are"),
        ({"bob": 3}, "'bob' answers 3 to duel 1"),
        ({"bob": True}, "'bob' answers True to duel 1"),
        ({"bob": "Tie"}, "'bob' answers 'Tie' to duel 1: the answers are .*, 'tie', 'skip'"),
        ({"bob": ["LEFT"]}, "'bob' answers .*'LEFT'.* to duel 1"),
        ({"bob": np.array(["a", "b"])}, "'bob' answers array.* to duel 1"),
        ({3: "LEFT"}, "3 is not a user here"),
    ],
)
def test_a_wrong_answer_is_one_sentence_and_changes_nothing(
    answers: dict[str, Any], sentence: str
) -> None:
    session = new_session()
    duel = session.ask()
    session.tell(duel.id, {"ann": duel.left})
    before = fingerprint(session)
    names = {"LEFT": duel.left, "RIGHT": duel.right}
    wrong = {
        user: names.get(answer, answer) if isinstance(answer, str) else answer
        for user, answer in answers.items()
    }
    with pytest.raises(InputError, match=sentence):
        session.tell(duel.id, {"cat": duel.left, **wrong})
    assert fingerprint(session) == before


def test_unanswered_duels_wait_for_each_user() -> None:
    session = new_session()
    first, second = session.ask(), session.ask()
    session.tell(first.id, {"ann": TIE, "bob": SKIP})
    assert session.unanswered("ann") == [second]
    assert session.unanswered("bob") == [second]
    assert session.unanswered("cat") == [first, second]
    for wrong in ("dan", None, ["ann"]):
        with pytest.raises(InputError, match="is not a user"):
            session.unanswered(wrong)  # type: ignore[arg-type]
    session.tell(second, {"bob": TIE})
    session.tell(first, {"bob": first.left})  # after all; it waited for nothing
    assert session.unanswered("bob") == []


def test_nobody_needs_to_vote_on_what_teaches_nothing() -> None:
    session = new_session(UniformOverUsers(winners=(0, 1, 2)))
    duels = [session.ask() for _ in range(20)]
    assert not any(duel.vote for duel in duels)
    assert session.unanswered("ann") == []
    before = session._state
    session.tell(1, {"ann": duels[0].left})  # told all the same, it counts in the estimates only
    assert session._state is before


def test_an_option_does_not_win_against_itself() -> None:
    session = new_session(UniformOverUsers(winners=(0, 1, 2)))
    duel = next(duel for duel in iter(session.ask, None) if duel.left == duel.right)
    session.tell(duel, {"ann": duel.left, "bob": TIE})
    assert not session._votes.tally.wins.any()


@pytest.mark.parametrize(
    ("users", "arms", "horizon", "sentence"),
    [
        ([], ARMS, 10, "no users are given"),
        (USERS, [], 10, "no arms are given"),
        (["ann", "ann"], ARMS, 10, "user 1 and user 2 are both called 'ann'"),
        (USERS, ["a", "tie"], 10, "an arm is called 'tie', but 'tie' is an answer"),
        ("ann", ARMS, 10, "the users are 'ann'"),
        (None, ARMS, 10, "the users are None"),
        (["a", "\ud800"], ARMS, 10, "user 2 is .* cannot be seen"),
        (USERS, ARMS, 1.5, "the horizon is 1.5"),
        (["ann", " "], ARMS, 10, "the name of user 2 is ' ', which is empty"),
        (USERS, ARMS, 0, "the horizon is 0"),
    ],
)
def test_a_session_that_makes_no_sense(users: Any, arms: Any, horizon: int, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Session(users, arms, horizon)


@pytest.mark.parametrize("settings", [{"seed": -1}, {"seed": "x"}, {"learner": FairETC}])
def test_settings_that_make_no_sense(settings: Any) -> None:
    with pytest.raises(InputError, match=r"the (seed|learner) is"):
        Session(USERS, ARMS, 10, **settings)


def test_beyond_the_horizon_nothing_is_forgotten() -> None:
    """An identification that took the whole horizon is still what the policy rests on."""
    for learner in (FairETC(), FairEpsilonGreedy()):
        session = Session(["ann", "bob"], ["x", "y", "z"], 60, learner, seed=3)
        for _ in range(60):
            duel = session.ask()
            session.tell(duel.id, {"ann": duel.left, "bob": duel.right})
        before = session.recommend().policy
        session.ask()
        assert session.recommend().policy == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize(("users", "arms"), [(1, 1), (1, 4), (3, 1), (2, 2)])
def test_the_smallest_groups_work(users: int, arms: int) -> None:
    session = Session(USERS[:users], ARMS[:arms], horizon=5, seed=1)
    for _ in range(12):
        duel = session.ask()
        session.tell(duel.id, {"ann": duel.left})
    told = session.recommend()
    assert sum(told.policy.values()) == pytest.approx(1.0)
    assert arms > 1 or set(told.favourites.values()) == {"pizza"}


def test_estimates_close_in_on_the_truth() -> None:
    """With one sure favourite each, half the time it is chosen, the utilities are near 1/2."""
    session = Session(["ann", "bob"], ["a", "b"], 4000, FairETC(winners=(0, 1)), seed=5)
    wide = session.recommend().utilities["ann"]
    for _ in range(600):
        duel = session.ask()
        session.tell(duel.id, {"ann": "a", "bob": "b"} if duel.left != duel.right else {})
    recommendation = session.recommend()
    assert recommendation.policy["a"] == pytest.approx(0.5, abs=1e-6)
    narrow = recommendation.utilities["ann"]
    assert narrow.low <= narrow.mean <= narrow.high
    assert narrow.low == pytest.approx(0.5, abs=0.02)
    assert narrow.high - narrow.low < 0.2 * (wide.high - wide.low)


def test_unless_told_the_learner_weighs_what_answers_are_worth(tmp_path: Path) -> None:
    session = Session(USERS, ARMS, 200, seed=4)
    assert session.learner == FairVOI()
    for _ in range(150):
        duel = session.ask()
        favourites = dict(zip(USERS, ("pizza", "soup", "soup"), strict=True))
        session.tell(duel.id, {u: f for u, f in favourites.items() if f in (duel.left, duel.right)})
    standing = session.outlook()
    assert standing.favourites == {"ann": "pizza", "bob": "soup", "cat": "soup"}
    assert standing.without_winner == ()
    assert set(standing.utilities) == set(USERS)
    assert all(u.low <= u.mean <= u.high for u in standing.utilities.values())
    assert 0.0 <= standing.share.low <= standing.share.mean <= standing.share.high <= 1.0
    assert standing.enough == (standing.ten_more < 0.01)
    assert standing == Session.load(saved(session, tmp_path / "s.json")).outlook()


def test_the_last_pair_is_explained_with_its_names() -> None:
    session = new_session(FairVOI())
    assert session.outlook().why == "Nothing has been asked yet."
    session.vote("ann", ARMS[0], ARMS[1], ARMS[0])
    assert session.outlook().why == ""
    duel = _first_with_votes(session)
    pair = [arm for arm in ARMS if arm in (duel.left, duel.right)]
    assert session.outlook().why.startswith(f"We ask about {pair[0]} and {pair[1]} to learn ")


def test_only_a_learner_that_knows_tells_where_people_stand() -> None:
    with pytest.raises(InputError, match="FairETC cannot tell"):
        new_session(FairETC()).outlook()


# What the recommendation says of everybody


def test_policy_and_outlook_say_the_same() -> None:
    for learner in (FairVOI(), FairVOI(anytime=True, winners=(2, 3, 1))):
        session = new_session(learner)
        vote(session, 40, np.random.default_rng(1))
        policy, outlook = session.recommend(), session.outlook()
        for name in ("policy", "utilities", "favourites", "without_winner", "remarks"):
            assert getattr(policy, name) == getattr(outlook, name)


@pytest.mark.parametrize(
    "learner",
    [FairVOI(winners=(0, 1)), FairETC(winners=(0, 1)), UniformOverUsers(winners=(0, 1))],
    ids=lambda learner: type(learner).__name__,
)
def test_known_winners_are_what_utilities_are_relative_to(learner: Learner[Any]) -> None:
    """Ann's is known to be pizza, whatever was answered; bob's is soup, and nothing is answered."""
    session = Session(["ann", "bob"], ARMS, 400, learner, seed=7)
    for _ in range(60):
        duel = session.ask()
        session.tell(duel.id, {"ann": max(duel.left, duel.right)})
    wins, only_pizza = session._votes.tally.wins, np.array([1.0, 0.0, 0.0, 0.0])
    told = session.recommend()
    assert told.favourites == {"ann": "pizza", "bob": "soup"}
    assert not any("Nothing is known" in remark for remark in told.remarks)
    posterior = infer(wins, (0, 1))
    found = estimate_utilities(posterior, only_pizza, posterior.sample(np.random.default_rng(1)))
    np.testing.assert_allclose((found.low[0], found.utilities[0], found.high[0]), 1.0, rtol=1e-12)
    assert found.utilities[1] < 0.9
    share = told.policy["soup"]  # what bob gets from his own favourite alone
    assert told.utilities["bob"].low >= share - 1e-9


def test_the_learner_and_the_session_say_the_same() -> None:
    session = new_session(FairVOI())
    for rounds in (0, 5, 60):
        vote(session, rounds, np.random.default_rng(rounds))
        said, seen = FairVOI().outlook(session._state), session.outlook()
        assert seen.share == Interval(said.share, said.low, said.high)
        assert seen.ten_more == said.ten_more
        posterior = infer(session._state.tally.wins)
        means = [interval.mean for interval in session.recommend().utilities.values()]
        np.testing.assert_allclose(means, posterior.scores @ FairVOI().policy(session._state))


def test_estimates_survive_any_number_of_answers() -> None:
    """Many answers, all one way: probabilities beyond what a float can hold."""
    for many in (1e3, 1e5, 1e7):
        wins = many * np.array(
            [[[0, 1, 1], [0, 0, 1], [0, 0, 0]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]]]
        )
        for policy in np.eye(3):
            posterior = infer(wins)
            found = estimate_utilities(
                posterior, policy, posterior.sample(np.random.default_rng(1))
            )
            assert found.references[0] == 0
            assert found.utilities[0] == pytest.approx(policy[0], abs=0.01)
            assert found.without_winner == (1,)
            assert np.isfinite([found.utilities, found.low, found.high]).all()


ROUND = {
    frozenset(("rock", "scissors")): "rock",
    frozenset(("scissors", "paper")): "scissors",
    frozenset(("paper", "rock")): "paper",
}


@pytest.mark.parametrize(
    ("learner", "horizon"),
    [(None, 300), (None, None), (FairEpsilonGreedy(winners=(0, 1)), 600)],
    ids=["known horizon", "unknown horizon", "paper's learner"],
)
def test_likes_that_go_round_in_a_circle(
    learner: Learner[Any] | None, horizon: int | None, tmp_path: Path
) -> None:
    """Rock beats scissors beats paper beats rock, for ann: it goes on, and it is said.

    That takes some hundred duels: beforehand people are expected to have strengths.
    """
    hands = ["rock", "paper", "scissors"]
    session = Session(["ann", "bob"], hands, horizon, learner, seed=1)
    for _ in range(horizon or 300):
        duel = session.ask()
        if duel.vote:
            answer = ROUND[frozenset((duel.left, duel.right))]
            session.tell(duel.id, {"ann": answer, "bob": min(duel.left, duel.right)})
    told = session.recommend()
    assert told.without_winner == ("ann",)
    assert told.favourites["ann"] in hands
    assert told.remarks == (
        "ann has no clear favourite, since none beats all others: "
        f"{told.favourites['ann']} is taken for it.",
    )
    assert told.favourites["bob"] == "paper"
    assert sum(told.policy.values()) == pytest.approx(1.0)
    assert all(0.0 <= u.low <= u.high <= 1.0 for u in told.utilities.values())
    resumed = Session.load(saved(session, tmp_path / "s.json"))
    assert resumed.recommend() == told
    assert resumed.ask() == session.ask()


@pytest.mark.parametrize("learner", [FairVOI(), FairETC(tournament=QUICK)], ids=["voi", "etc"])
def test_somebody_who_never_says_anything(learner: Learner[Any]) -> None:
    """Bob skips and cat is undecided: no favourite is claimed, and ann is served."""
    session = new_session(learner)
    for _ in range(120):
        duel = session.ask()
        if duel.vote:
            session.tell(duel.id, {"ann": min(duel.left, duel.right), "bob": SKIP, "cat": TIE})
    told = session.recommend()
    assert told.favourites == {"ann": "fish", "bob": None, "cat": None}
    assert told.without_winner == ()
    assert told.remarks == (
        "Nothing is known yet about what bob likes.",
        "Nothing is known yet about what cat likes.",
    )
    bob = told.utilities["bob"]
    assert bob.high - bob.low > 0.3
    assert told.policy["fish"] > 0.2


# Nobody knows for how long


def test_without_a_horizon_none_is_planned_for(tmp_path: Path) -> None:
    session = Session(USERS, ARMS, seed=4)
    assert session.horizon is None
    assert session.learner == FairVOI(anytime=True)
    vote(session, 60, np.random.default_rng(1))
    data = json.loads(saved(session, tmp_path / "s.json").read_text())
    assert data["horizon"] is None
    resumed = Session.load(tmp_path / "s.json")
    assert resumed.horizon is None
    assert resumed.outlook() == session.outlook()
    assert [resumed.ask() for _ in range(20)] == [session.ask() for _ in range(20)]


def test_a_learner_that_needs_no_horizon_may_be_given() -> None:
    learner = FairVOI(anytime=True, winners=(0, 1, 2), welfare=Utilitarian())
    session = Session(USERS, ARMS, learner=learner, seed=4)
    duels = [session.ask() for _ in range(30)]
    known = Session(USERS, ARMS, 10**6, learner, seed=4)
    assert [known.ask() for _ in range(30)] == duels


def test_a_learner_of_ones_own_declares_that_it_needs_no_horizon() -> None:
    assert Session(USERS, ARMS, learner=Same()).ask().vote
    with pytest.raises(InputError, match=r"^Same plans for a number of duels"):
        Session(USERS, ARMS, learner=Same(anytime=False))


@pytest.mark.parametrize("learner", [FairVOI(), FairETC(), FairEpsilonGreedy(), UniformOverUsers()])
def test_a_learner_that_plans_needs_a_horizon(learner: Learner[Any]) -> None:
    name = type(learner).__name__
    with pytest.raises(InputError, match=f"^{name} plans for a number of duels, but no horizon is"):
        Session(USERS, ARMS, learner=learner)


def test_looking_at_the_policy_changes_nothing() -> None:
    session = new_session()
    vote(session, 10, np.random.default_rng(3))
    before = fingerprint(session)
    assert session.recommend() == session.recommend()
    assert fingerprint(session) == before


@given(st.lists(st.sampled_from(["ask", "ann", "bob", "cat"]), max_size=60))
def test_any_order_of_asking_and_answering_is_taken(steps: list[str]) -> None:
    session = new_session(FairEpsilonGreedy(winners=(0, 1, 2)), horizon=20)
    for step in steps:
        if step == "ask":
            session.ask()
        else:
            for duel in session.unanswered(step)[:1]:
                session.tell(duel.id, {step: duel.left})
    policy = session.recommend().policy
    assert sum(policy.values()) == pytest.approx(1.0)
    assert min(policy.values()) >= 0.0
