"""Live polls: a decision is two options, and everybody is asked about them."""

from collections.abc import Iterator

import numpy as np
import pytest

from fairduel.live import Session, advise_duel
from fairduel.offers import Mix
from fairduel.serve import acts, draws, views
from fairduel.serve.records import Event, Question, Settings
from fairduel.serve.run import learner
from fairduel.serve.service import Service
from fairduel.serve.storage import Database
from fairduel.welfare import Nash
from fake_advice import advise
from poll_tables import Table, frame
from web import Web, serving

LIVE = Settings(mode="live")
EQUAL = dict.fromkeys(range(4), 0.25)
ONE, TWO = {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}, {0: 0.0, 1: 1.0, 2: 0.0, 3: 0.0}


def decided(table: Table, *policies: dict[int, float]) -> None:
    number = len(table.ledger.frame.decisions) + 1
    table.write(acts.decide(table.ledger, number, policies, 0))


# Acts


def test_a_decision_asks_everybody_about_its_two_options() -> None:
    table = Table(frame(settings=LIVE))
    decided(table, ONE, TWO)
    assert table.ledger.frame.decisions[0].options == (0, 1)
    for voter in range(3):
        question = table.ledger.current(voter)
        assert question is not None
        assert {question.left, question.right} == {0, 1}
    kinds = [type(entry) for _, entry in table.log]
    assert kinds == [Event, Question, Question, Question]


def test_sides_are_shown_by_chance() -> None:
    table = Table(frame(people=[f"p{n}" for n in range(60)], settings=LIVE, id=1))
    decided(table, ONE, TWO)
    first = sum(table.ledger.sheets[voter].questions[0].left == 0 for voter in range(60))
    assert 15 < first < 45


def test_nobody_is_asked_about_one_option_or_without_a_decision() -> None:
    table = Table(frame(settings=LIVE))
    decided(table, ONE, ONE)
    assert table.ledger.current(0) is None
    assert acts.ask(table.ledger, 0).entries == ()
    decided(table, ONE, TWO)
    assert len(acts.answer(table.ledger, 0, 1, "left").entries) == 1  # no question comes with it


def test_who_comes_late_is_asked_from_then_on() -> None:
    table = Table(frame(settings=LIVE))
    decided(table, ONE, TWO)
    table.write(acts.add_voter(table.ledger, "dan", "token"))
    assert table.ledger.current(3) is None
    decided(table, TWO, ONE)
    question = table.ledger.current(3)
    assert question is not None
    assert question.n == 1


def test_answers_wait_and_can_be_taken_back() -> None:
    table = Table(frame(settings=LIVE))
    for _ in range(3):
        decided(table, ONE, TWO)
    assert views.progress(table.ledger, 0) == views.Progress(0, 3)
    table.write(acts.answer(table.ledger, 0, 2, "tie"))
    assert views.progress(table.ledger, 0) == views.Progress(1, 3)
    assert [question.n for question in table.ledger.waiting(0)] == [1, 3]
    table.write(acts.undo(table.ledger, 0, 2))
    assert [question.n for question in table.ledger.waiting(0)] == [1, 2, 3]


def test_nobody_is_asked_about_a_decision_that_was_cancelled() -> None:
    table = Table(frame(settings=LIVE))
    for _ in range(2):
        decided(table, ONE, TWO)
    table.write(acts.answer(table.ledger, 0, 1, "left"))
    table.write(acts.cancel(table.ledger, 1, "it rained"))
    for ledger in (table.ledger, table.replayed()):
        assert [question.n for question in ledger.waiting(1)] == [2]
        assert views.progress(ledger, 0) == views.Progress(1, 2)
        assert views.progress(ledger, 1) == views.Progress(0, 1)
        assert ledger.view().plays[0].tolist() == [1, 1, 0, 0]  # it has asked nothing
        assert ledger.wins.sum() == 1.0
        assert ledger.view().plays.sum() == 2
        assert ledger.last_answered(0) is None  # what is taken back could not be given again
        with pytest.raises(acts.Refused, match="has been cancelled"):
            acts.answer(ledger, 1, 1, "left")
        with pytest.raises(acts.Refused, match="has been cancelled"):
            acts.undo(ledger, 0, 1)
        assert acts.answer(ledger, 0, 1, "right").entries


# Sums


def test_the_learner_hears_what_was_played_since_anybody_came_or_went() -> None:
    table = Table(frame(settings=LIVE))
    decided(table, ONE, TWO)
    decided(table, ONE, ONE)
    assert table.ledger.view().plays[0].tolist() == [1, 1, 0, 0]
    table.write(acts.add_voter(table.ledger, "dan", "token"))
    decided(table, TWO, ONE)
    plays = table.ledger.view().plays
    assert plays.tolist() == [[2, 0, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]
    assert (table.replayed().view().plays == plays).all()
    table.write(acts.set_option(table.ledger, 0, "retired"))
    assert table.ledger.view().plays.tolist() == [[3, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_a_live_poll_may_begin_without_options() -> None:
    table = Table(frame([], settings=LIVE, state="draft"))
    assert table.ledger.view().plays.shape == (0, 0)


def test_a_poll_of_its_own_pairs_has_played_nothing() -> None:
    table = Table(frame())
    decided(table, ONE)
    assert not table.ledger.view().plays.any()


# Draws


def test_each_side_is_drawn_evenly_and_can_be_checked() -> None:
    table = Table(frame(settings=LIVE))
    for _ in range(8):
        decided(table, EQUAL, TWO)
    made = table.ledger.frame.decisions
    assert sorted(d.options[0] for d in made) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert {d.options[1] for d in made} == {1}
    table.write(acts.set_state(table.ledger, "closed"))
    seeds = table.ledger.seeds
    assert not draws.problems(made, seeds, "even")
    side = made[3].sides[1]._replace(option=0)
    wrong = [*made]
    wrong[3] = type(made[3])(4, (made[3].sides[0], side), made[3].commitment, 0, 0.0)
    assert "option of decision 4" in draws.problems(wrong, seeds, "even")[0]


def test_the_two_sides_have_chances_of_their_own() -> None:
    seed = "ab" * 32
    assert len({draws.chance(seed, n, side) for n in range(1, 20) for side in (0, 1)}) == 38


# The learner


def test_the_duel_is_the_one_that_a_session_asks() -> None:
    rng = np.random.default_rng(5)
    wins = rng.integers(0, 3, (3, 4, 4)).astype(float)
    wins[:, range(4), range(4)] = 0.0
    session = Session.from_votes(["a", "b", "c"], list("wxyz"), wins, seed=7)
    play, _ = session.learner.ask(session._state)
    left, right = advise_duel(wins, np.zeros((4, 4), np.int64), seed=7)
    assert isinstance(play, Mix)
    assert (left == play.left).all()
    assert (right == play.right).all()


def test_the_package_s_learner_plans_decisions() -> None:
    wins, plays = np.zeros((3, 4, 4)), np.zeros((4, 4), np.int64)
    assert len(learner(wins, welfare=Nash()).sides) == 1
    sides = learner(wins, welfare=Nash(), plays=plays).sides
    assert len(sides) == 2
    for side in sides:
        assert side.sum() == pytest.approx(1.0)
        assert side.min() > 0.1  # knowing nothing, it hedges


# The service


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    made = Service(database, advise)
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize("secret", [False, True])
def test_the_first_decision_comes_before_any_answer(service: Service, secret: bool) -> None:
    made = frame(settings=LIVE, secret=secret)
    service.create(made)
    room = service.room(made.poll.slug)
    sides = service.policy(room).sides
    assert len(sides) == 2
    service.submit(room, lambda ledger: acts.decide(ledger, 1, sides, 0)).result()
    loaded = service.database.connect()
    found = loaded.load(made.poll.slug)
    loaded.close()
    assert found is not None
    assert found[0].decisions == room.ledger.frame.decisions
    assert len(found[0].decisions[0].sides) == 2


@pytest.fixture
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with serving(str(tmp_path_factory.mktemp("live") / "polls.db")) as made:
        yield made


def test_programs_run_a_live_poll(web: Web) -> None:
    made = web.poll(mode="live")
    with made.voter() as voter, made.organiser() as boss:
        assert voter.get(f"{made.path}/question").json()["question"] is None
        for number in range(1, 9):
            decision = boss.put(f"{made.path}/decisions/{number}").json()
            assert len(decision["drawn"]) == 2
        asked = voter.get(f"{made.path}/question").json()
        count = asked["target"]
        assert count > 0
        made.vote(0, count, "tie")
        asked = voter.get(f"{made.path}/question").json()
        assert asked["question"] is None
        assert asked["answered"] == count
        shares = boss.get(f"{made.path}/policy").json()["shares"]
    assert sum(share["served"] for share in shares) == 16
    assert sum(share["due"] for share in shares) == pytest.approx(16)
