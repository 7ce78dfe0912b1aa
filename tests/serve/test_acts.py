"""The rules of a poll: any order of acts replays to the same, and what is refused."""

import itertools
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel.serve import acts
from fairduel.serve.ledger import LEAST_NEWS, LEAST_NEWS_PEOPLE, LEAST_PEOPLE, Ledger
from fairduel.serve.records import Change, Question, Settings, Vote
from poll_tables import Table, frame

# Any order of acts

voters = st.integers(0, 2)
places = st.integers(1, 8)
ACTS = st.one_of(
    st.tuples(st.just("ask"), voters),
    st.tuples(st.just("answer"), voters, places, st.sampled_from(["left", "right", "tie", "skip"])),
    st.tuples(st.just("undo"), voters, places),
    st.tuples(st.just("set_option"), st.integers(0, 3), st.sampled_from(["active", "retired"])),
    st.tuples(st.just("set_state"), st.sampled_from(["open", "paused", "closed"])),
    st.tuples(st.just("add_options"), st.just(["stew"])),
    st.tuples(st.just("add_voter"), st.just("dov"), st.just("token")),
    st.tuples(st.just("forget"), voters),
    st.tuples(st.just("remove"), voters),
    st.tuples(st.just("clear"), voters),
    st.tuples(st.just("decide"), st.integers(0, 2**40)),
    st.tuples(st.just("cancel"), st.integers(1, 3), st.just("it rained")),
)
MOSTLY_VOTES = st.lists(st.one_of(ACTS, *[st.tuples(st.just("ask"), voters)] * 2), max_size=40)


def decision(ledger: Ledger, seed: int) -> list[Any]:
    """The number and the policies of the next decision."""
    rng, options = np.random.default_rng(seed), ledger.options
    sides = 2 if ledger.frame.poll.settings.live else 1
    shares = rng.dirichlet(np.ones(len(options)), sides).tolist()
    policies = [dict(zip(options, row, strict=True)) for row in shares]
    return [len(ledger.frame.decisions) + 1, policies, ledger.seq]


def perform(table: Table, steps: list[tuple[Any, ...]]) -> int:
    """Do what is allowed of some steps; return how many were refused."""
    refused = 0
    for name, *words in steps:
        next_one = name == "decide"  # from policies on what is there
        arguments = decision(table.ledger, *words) if next_one else words
        try:
            table.write(getattr(acts, name)(table.ledger, *arguments))
        except acts.Refused:
            refused += 1
    return refused


def plain_sums(ledger: Ledger, log: list[tuple[int, Any]]) -> np.ndarray[Any, Any]:
    """The sums by the rule alone: the last answer to each question counts, a tie is half each."""
    D, K = len(ledger.frame.voters), len(ledger.frame.options)
    asked = {(e.voter, e.n): e for _, e in log if isinstance(e, Question)}
    last = {(e.voter, e.n): e.answer for _, e in log if isinstance(e, Vote)}
    wins = np.zeros((D, K, K))
    for key, answer in last.items():
        left, right = asked[key].left, asked[key].right
        wins[key[0], left, right] += {"left": 1.0, "tie": 0.5}.get(answer, 0.0)
        wins[key[0], right, left] += {"right": 1.0, "tie": 0.5}.get(answer, 0.0)
    return wins


@given(MOSTLY_VOTES, st.booleans(), st.sampled_from(["poll", "live"]))
def test_any_order_of_acts_replays_to_the_same(
    steps: list[tuple[Any, ...]], secret: bool, mode: Literal["poll", "live"]
) -> None:
    table = Table(frame(secret=secret, settings=Settings(mode=mode), id=7))
    perform(table, steps)
    again = table.replayed()
    for one, other in ((table.ledger, again),):
        assert (one.wins == other.wins).all()
        assert (one.asked == other.asked).all()
        assert one.sheets == other.sheets
        assert one.seeds == other.seeds
        views = one.shown(), other.shown()
        assert (views[0] is None) == (views[1] is None)
        if views[0] is not None and views[1] is not None:
            assert views[0].seq == views[1].seq
            assert (views[0].wins == views[1].wins).all()
            assert (views[0].plays == views[1].plays).all()
    assert (again.wins == plain_sums(again, table.log)).all()
    for voter in again.voters:  # the next question is the same too
        following = [acts.ask(ledger, voter) for ledger in (table.ledger, again)]
        assert following[0] == following[1]


@given(st.lists(st.tuples(voters, places, st.sampled_from(["left", "right", "tie", "skip"]))))
def test_the_last_answers_make_the_sums_whatever_came_before(
    steps: list[tuple[int, int, str]],
) -> None:
    table, direct = Table(frame(id=7)), Table(frame(id=7))
    for each in (table, direct):  # the same questions for both
        for voter in range(3):
            for n in range(1, 4):
                each.write(acts.ask(each.ledger, voter))
                each.write(acts.answer(each.ledger, voter, n, "skip"))
    final: dict[tuple[int, int], str] = {}
    for voter, n, said in steps:
        if n <= 3:
            table.write(acts.undo(table.ledger, voter, n))
            table.write(acts.answer(table.ledger, voter, n, said))
            final[voter, n] = said
    for (voter, n), said in sorted(final.items()):
        direct.write(acts.answer(direct.ledger, voter, n, said))
    assert (table.ledger.wins == direct.ledger.wins).all()


# Questions


def vote_all(table: Table, voter: int, said: str = "left") -> list[Question]:
    table.write(acts.ask(table.ledger, voter))
    while (question := table.ledger.current(voter)) is not None:
        table.write(acts.answer(table.ledger, voter, question.n, said))
    return table.ledger.sheets[voter].questions


def test_every_pair_comes_once() -> None:
    table = Table(frame())
    asked = vote_all(table, 0)
    pairs = {frozenset((question.left, question.right)) for question in asked}
    assert len(asked) == len(pairs) == 6
    assert acts.ask(table.ledger, 0) == Change()


def test_pairs_may_be_allowed_again_but_not_at_once() -> None:
    table = Table(frame(settings=Settings(repeats=True)))
    table.write(acts.ask(table.ledger, 0))
    for n in range(1, 30):
        table.write(acts.answer(table.ledger, 0, n, "tie"))
    asked = table.ledger.sheets[0].questions
    assert len(asked) == 30
    assert all({a.left, a.right} != {b.left, b.right} for a, b in itertools.pairwise(asked))


def test_the_pair_worth_most_is_asked() -> None:
    worth = np.zeros((4, 4))
    worth[1, 3] = worth[3, 1] = 2.0
    worth[0, 2] = worth[2, 0] = 1.0
    table = Table(frame())
    table.write(acts.ask(table.ledger, 0, worth))
    table.write(acts.answer(table.ledger, 0, 1, "left", worth))
    first, second = table.ledger.sheets[0].questions
    assert ({first.left, first.right}, {second.left, second.right}) == ({1, 3}, {0, 2})


def test_without_a_learner_the_least_shown_pair_is_asked() -> None:
    table = Table(frame(people=[f"p{d}" for d in range(12)]))
    for voter in range(12):
        table.write(acts.ask(table.ledger, voter))
    assert set(table.ledger.asked[np.triu_indices(4, 1)].tolist()) == {2}


def test_sides_are_fair() -> None:
    table = Table(frame(people=[f"p{d}" for d in range(200)], id=5))
    for voter in range(200):
        table.write(acts.ask(table.ledger, voter))
    swapped = sum(
        sheet.questions[0].left > sheet.questions[0].right for sheet in table.ledger.sheets
    )
    assert 70 < swapped < 130


def test_an_undone_question_comes_back_and_then_the_one_that_waited() -> None:
    table = Table(frame())
    table.write(acts.ask(table.ledger, 0))
    table.write(acts.answer(table.ledger, 0, 1, "left"))
    table.write(acts.undo(table.ledger, 0, 1))
    current = table.ledger.current(0)
    assert current is not None
    assert current.n == 1
    assert not table.ledger.wins.any()
    table.write(acts.answer(table.ledger, 0, 1, "right"))
    current = table.ledger.current(0)
    assert current is not None
    assert current.n == 2
    assert len(table.ledger.sheets[0].questions) == 2


def test_the_same_answer_again_changes_nothing() -> None:
    table = Table(frame())
    table.write(acts.ask(table.ledger, 0))
    table.write(acts.answer(table.ledger, 0, 1, "left"))
    assert acts.answer(table.ledger, 0, 1, "left") == Change()
    assert acts.answer(table.ledger, 0, 1, "tie").entries == (Vote(0, 1, "tie"),)
    assert acts.undo(table.ledger, 0, 2) == Change()


def test_a_question_with_a_retired_option_is_passed_over() -> None:
    table = Table(frame())
    table.write(acts.ask(table.ledger, 0))
    question = table.ledger.current(0)
    assert question is not None
    table.write(acts.set_option(table.ledger, question.left, "retired"))
    assert table.ledger.current(0) is None
    with pytest.raises(acts.Refused, match="taken out"):
        acts.answer(table.ledger, 0, 1, "left")
    table.write(acts.ask(table.ledger, 0))
    following = table.ledger.current(0)
    assert following is not None
    assert question.left not in (following.left, following.right)
    table.write(acts.set_option(table.ledger, question.left, "active"))
    assert table.ledger.current(0) == question


def test_sums_leave_out_what_is_retired_and_who_is_removed() -> None:
    table = Table(frame())
    for voter in range(3):
        vote_all(table, voter)
    table.write(acts.set_option(table.ledger, 1, "retired"))
    table.write(acts.remove(table.ledger, 0))
    view = table.ledger.view()
    assert (view.voters, view.options) == ((1, 2), (0, 2, 3))
    assert view.wins.shape == (2, 3, 3)
    assert view.answers.tolist() == [3.0, 3.0]


# Secret polls


def people(count: int) -> Table:
    table = Table(frame(people=[f"p{d}" for d in range(count)], secret=True))
    for voter in range(count):
        table.write(acts.ask(table.ledger, voter))
    return table


def pause(table: Table) -> None:
    """Pause a poll, which counts all that can be counted, and go on."""
    for state in ("paused", "open"):
        table.write(acts.set_state(table.ledger, state))


def test_a_secret_poll_shows_nothing_below_five_voters() -> None:
    table = people(LEAST_PEOPLE)
    for voter in range(LEAST_PEOPLE - 1):
        vote_all(table, voter)
    pause(table)
    assert table.ledger.shown() is None
    table.write(acts.answer(table.ledger, LEAST_PEOPLE - 1, 1, "left"))
    pause(table)  # the fifth alone cannot be told apart from nobody
    assert table.ledger.shown() is None


def test_a_secret_poll_changes_by_several_answers_of_several_people() -> None:
    table = people(8)
    for voter in range(5):
        table.write(acts.answer(table.ledger, voter, 1, "left"))
    pause(table)
    before = table.ledger.shown()
    assert before is not None
    for n in range(1, 7):  # one person alone shows nothing, however much they say
        table.write(acts.answer(table.ledger, 5, n, "left"))
    for n in range(1, 7):
        table.write(acts.answer(table.ledger, 6, n, "left"))
    pause(table)
    after = table.ledger.shown()
    assert after is not None
    assert (after.seq, after.wins.tolist()) == (before.seq, before.wins.tolist())
    table.write(acts.answer(table.ledger, 7, 1, "left"))
    assert table.ledger.shown() is not None
    assert (table.ledger.shown() or after).seq == before.seq  # until others follow, or a pause
    pause(table)
    shown = table.ledger.shown()
    assert shown is not None
    assert (shown.wins == table.ledger.view().wins).all()


def test_everybody_counts_when_a_secret_poll_is_closed() -> None:
    table = people(LEAST_PEOPLE)
    for voter in range(LEAST_PEOPLE):  # one after the other
        vote_all(table, voter)
    table.write(acts.set_state(table.ledger, "closed"))
    for ledger in (table.ledger, table.replayed()):
        shown = ledger.shown()
        assert shown is not None
        assert (shown.wins == table.ledger.view().wins).all()


def test_a_secret_poll_shows_what_others_have_followed() -> None:
    table = people(15)
    for voter in range(5):
        table.write(acts.answer(table.ledger, voter, 1, "left"))
    assert table.ledger.shown() is None
    then = table.ledger.view().wins
    table.write(acts.answer(table.ledger, 0, 1, "right"))  # counts with those who follow
    for voter in range(5, 9):
        assert table.ledger.shown() is None
        table.write(acts.answer(table.ledger, voter, 1, "left"))
    shown = table.ledger.shown()
    assert shown is not None
    assert (shown.wins == then).all()
    table.write(acts.answer(table.ledger, 0, 1, "tie"))
    pause(table)
    after = table.ledger.shown()
    assert after is not None
    assert (after.wins == table.ledger.view().wins).all()


def test_answers_that_were_taken_back_are_no_cover() -> None:
    table = people(15)
    for voter in range(5):
        table.write(acts.answer(table.ledger, voter, 1, "left"))
    pause(table)
    before = table.ledger.shown()
    assert before is not None
    table.write(acts.answer(table.ledger, 5, 1, "left"))  # the answer to be found out
    for voter in range(6, 15):
        table.write(acts.answer(table.ledger, voter, 1, "right"))
        table.write(acts.undo(table.ledger, voter, 1))
        table.write(acts.answer(table.ledger, voter, 1, "skip"))
    pause(table)
    after = table.ledger.shown()
    assert after is not None
    assert after.seq == before.seq


@given(
    st.lists(
        st.tuples(st.integers(0, 7), places, st.sampled_from(["left", "tie", "skip", "pause"]))
    )
)
def test_two_views_of_a_secret_poll_differ_by_enough(steps: list[tuple[int, int, str]]) -> None:
    table = people(8)
    answers: dict[tuple[int, int], str] = {}
    history = [(table.ledger.wins.copy(), dict(answers))]
    shown, lasts = table.ledger.shown(), [dict(answers)]
    for voter, n, said in steps * 3:
        if said == "pause":
            pause(table)
        elif n <= len(table.ledger.sheets[voter].questions):
            table.write(acts.answer(table.ledger, voter, n, said))
            answers[voter, n] = said
            history.append((table.ledger.wins.copy(), dict(answers)))
        now = table.ledger.shown()
        if now is not None and now.seq != (shown and shown.seq):
            # What it shows is what was said by some moment, which may be one of several.
            moments = [said for wins, said in history if (wins == now.wins).all()]
            assert any(_differ_by_enough(new, old) for new in moments for old in lasts)
            shown, lasts = now, moments


def _differ_by_enough(new: dict[tuple[int, int], str], old: dict[tuple[int, int], str]) -> bool:
    keys = new.keys() | old.keys()
    changed = {key for key in keys if _counts(new.get(key)) != _counts(old.get(key))}
    people = {voter for voter, _ in changed}
    return len(changed) >= LEAST_NEWS and len(people) >= LEAST_NEWS_PEOPLE


def _counts(said: str | None) -> str | None:
    return None if said == "skip" else said


@pytest.mark.parametrize("leave", [acts.remove, acts.forget])
def test_a_secret_poll_hides_when_somebody_leaves(leave: Any) -> None:
    table = people(9)
    for voter in range(6):
        vote_all(table, voter)
    pause(table)
    assert table.ledger.shown() is not None
    table.write(leave(table.ledger, 0))
    assert table.ledger.shown() is None
    for voter in (6, 7):
        vote_all(table, voter)
    pause(table)
    assert table.ledger.shown() is None
    table.write(acts.answer(table.ledger, 8, 1, "left"))
    pause(table)
    shown = table.ledger.shown()
    assert shown is not None
    assert (shown.wins == table.ledger.view().wins).all()
    assert (table.replayed().shown() or shown).seq == shown.seq


@pytest.mark.parametrize("act", ["retire", "restore", "clear"])
def test_a_secret_poll_hides_when_answers_are_taken_from_it(act: str) -> None:
    table = people(9)
    if act == "restore":
        table.write(acts.set_option(table.ledger, 0, "retired"))
        for voter in range(9):
            table.write(acts.ask(table.ledger, voter))
    for voter in range(6):
        vote_all(table, voter)
    pause(table)
    assert table.ledger.shown() is not None
    if act == "clear":
        table.write(acts.clear(table.ledger, 0))
    else:
        state = "retired" if act == "retire" else "active"
        table.write(acts.set_option(table.ledger, 0, state))
    assert table.ledger.shown() is None
    assert table.replayed().shown() is None
    for voter in (6, 7):
        vote_all(table, voter)
    pause(table)
    assert table.ledger.shown() is None
    table.write(acts.ask(table.ledger, 8))
    question = table.ledger.current(8)
    assert question is not None
    table.write(acts.answer(table.ledger, 8, question.n, "left"))
    pause(table)
    shown, again = table.ledger.shown(), table.replayed().shown()
    assert shown is not None
    assert again is not None
    assert (shown.wins == table.ledger.view().wins).all()
    assert (shown.wins == again.wins).all()


def test_retiring_options_does_not_lead_below_five_voters() -> None:
    """Else the last two options would show what the only one said who was asked about them."""
    table = people(12)
    for voter in range(12):
        table.write(acts.answer(table.ledger, voter, 1, "left"))
    for option in (2, 3):
        table.write(acts.set_option(table.ledger, option, "retired"))
    sheets = enumerate(table.ledger.sheets)
    others = [
        d for d, sheet in sheets if {sheet.questions[0].left, sheet.questions[0].right} & {2, 3}
    ]
    for voter in others[:LEAST_NEWS]:
        table.write(acts.undo(table.ledger, voter, 1))
    assert 0 < np.count_nonzero(table.ledger.view().answers) < LEAST_PEOPLE
    table.write(acts.set_state(table.ledger, "paused"))
    assert table.ledger._released_seq == table.ledger.seq  # there are news of enough people
    assert table.ledger.shown() is None


# Organising


def test_polls_go_through_their_states() -> None:
    table = Table(frame(state="draft"))
    with pytest.raises(acts.Refused, match="cannot become closed"):
        acts.set_state(table.ledger, "closed")
    for state in ("open", "paused", "open", "closed", "open"):
        table.write(acts.set_state(table.ledger, state))
        assert table.ledger.frame.poll.state == state
    assert acts.set_state(table.ledger, "open") == Change()


def test_one_option_is_no_poll() -> None:
    table = Table(frame(["soup"], state="draft"))
    with pytest.raises(acts.Refused, match="fewer than two"):
        acts.set_state(table.ledger, "open")
    table.write(acts.add_options(table.ledger, ["stew"]))
    table.write(acts.set_state(table.ledger, "open"))
    with pytest.raises(acts.Refused, match="two options have to stay"):
        acts.set_option(table.ledger, 0, "retired")


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_answers_count_while_the_poll_is_open(state: str) -> None:
    table = Table(frame())
    table.write(acts.ask(table.ledger, 0))
    table.write(acts.set_state(table.ledger, state))
    with pytest.raises(acts.Refused, match=state):
        acts.answer(table.ledger, 0, 1, "left")
    with pytest.raises(acts.Refused, match=state):
        acts.undo(table.ledger, 0, 1)


def test_words_are_frozen_once_people_were_asked() -> None:
    table = Table(frame())
    table.write(acts.rename_option(table.ledger, 0, "dal"))
    table.write(acts.describe(table.ledger, "Dinner", "What shall we eat?"))
    assert table.ledger.frame.options[0].name == "dal"
    assert table.ledger.frame.poll.prompt == "What shall we eat?"
    table.write(acts.ask(table.ledger, 0))
    with pytest.raises(acts.Refused, match="stay as they are"):
        acts.rename_option(table.ledger, 0, "curry")
    with pytest.raises(acts.Refused, match="stay as they are"):
        acts.describe(table.ledger, "Breakfast")


def test_late_options_and_voters_take_part() -> None:
    table = Table(frame())
    vote_all(table, 0)
    table.write(acts.add_options(table.ledger, ["stew"]))
    table.write(acts.add_voter(table.ledger, "dov", "token"))
    assert len(vote_all(table, 0)) == len(vote_all(table, 3)) == 10
    assert table.ledger.view().wins.shape == (4, 5, 5)


def test_a_forgotten_voter_leaves_a_place_and_nothing_else() -> None:
    table = Table(frame())
    vote_all(table, 1)
    table.write(acts.forget(table.ledger, 1))
    gone = table.ledger.frame.voters[1]
    assert (gone.name, gone.token_hash, gone.state) == ("", None, "forgotten")
    assert not table.ledger.wins.any()
    assert not table.ledger.asked.any()
    assert not [line for line in table.log if isinstance(line[1], Question | Vote)]
    with pytest.raises(acts.Refused, match="no longer a voter"):
        acts.ask(table.ledger, 1)
    table.write(acts.add_voter(table.ledger, "bob", "token"))  # the name is free again


def test_a_lost_link_is_replaced() -> None:
    table = Table(frame())
    old = table.ledger.frame.voters[0]
    table.write(acts.reissue(table.ledger, 0, "new", "nonce"))
    new = table.ledger.frame.voters[0]
    assert new.token_hash == acts.hashed("new") != old.token_hash
    assert new.name == old.name


@pytest.mark.parametrize(
    ("act", "arguments", "said", "status"),
    [
        ("answer", (0, 1, "yes"), "is no answer", 422),
        ("answer", (0, 9, "left"), "no question 9", 404),
        ("answer", (0, 0, "left"), "no question 0", 404),
        ("undo", (0, -1), "no question -1", 404),
        ("set_option", (9, "retired"), "no option 9", 404),
        ("set_option", (0, "gone"), "no state of an option", 422),
        ("rename_option", (-1, "x"), "no option -1", 404),
        ("add_options", (["curry"],), "'curry' is taken", 422),
        ("add_options", ([" x"],), "a blank at its ends", 422),
        ("add_options", ([f"o{k}" for k in range(50)],), "at most 50", 422),
        ("add_options", (["x" * 121],), "at most 120", 422),
        ("add_voter", ("ann", "t"), "'ann' is taken", 422),
        ("add_voter", ("a\u202eb", "t"), "cannot be seen", 422),
        ("reissue", (7, "t", "n"), "no voter 7", 404),
        ("remove", (-1,), "no voter -1", 404),
        ("forget", (3,), "no voter 3", 404),
        ("cancel", (1, "x"), "no decision 1", 404),
        ("describe", ("",), "the title is empty", 422),
        ("describe", ("x" * 121,), "at most 120", 422),
        ("decide", (1, [{0: 1.0}], 0), "options have just changed", 503),
        ("set_state", ("draft",), "cannot become draft", 409),
    ],
)
def test_refusals_are_one_sentence(
    act: str, arguments: tuple[Any, ...], said: str, status: int
) -> None:
    table = Table(frame())
    table.write(acts.ask(table.ledger, 0))
    table.write(acts.undo(table.ledger, 0, 1))
    with pytest.raises(acts.Refused, match=said) as caught:
        getattr(acts, act)(Table(frame()).ledger if act == "describe" else table.ledger, *arguments)
    assert caught.value.status == status
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"title": ""}, "the title"),
        ({"options": ["a", "a"]}, "is taken"),
        ({"settings": Settings(welfare="nahs")}, "did you mean 'nash'"),
        ({"prompt": "x\ny"}, "the question"),
    ],
)
def test_polls_that_cannot_be_made(given_: dict[str, Any], said: str) -> None:
    rest = {"title": "Lunch", "options": ["a", "b"], **given_}
    with pytest.raises(ValueError, match=said):
        acts.new_poll(organiser="o", **rest)


def test_slugs_are_for_addresses_and_differ() -> None:
    slugs = {acts.new_poll("Mittag: Où? 🍜", ["a"], organiser="o").poll.slug for _ in range(9)}
    assert len(slugs) == 9
    assert all(slug.startswith("mittag-o-") and slug.isascii() for slug in slugs)
    assert acts.new_poll("🍜", ["a"], organiser="o").poll.slug.startswith("poll-")
