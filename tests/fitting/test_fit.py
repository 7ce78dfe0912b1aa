"""A fair choice from votes: the policy, who gets what, and what the majority would do."""

from pathlib import Path

import numpy as np
import pytest

from fairduel import (
    Egalitarian,
    FairVOI,
    Fit,
    InputError,
    Nash,
    Session,
    Utilitarian,
    Welfare,
    fit,
)
from fairduel._arrays import Floats
from fairduel.data import example_file, read_votes
from fairduel.fitting import questions, scoring
from fairduel.inference import infer, infer_pairs
from fairduel.inference.alike import infer_alike
from fairduel.inference.mixed import weigh
from fairduel.inference.strengths import KEPT
from fairduel.live import Interval
from fairduel.live.advice import advise

ORDERS = "name,a,b,c\nann,1,2,3\nbob,3,2,1\ncat,3,2,1\n"


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    return written(tmp_path, ORDERS)


def written(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# Stated orders


def test_orders_are_taken_as_they_are(orders: Path) -> None:
    found = fit(orders)
    assert found.scoring == "borda"
    assert found.scores.tolist() == [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [0.0, 0.5, 1.0]]
    # One wants a and two want c: they share by their numbers, and b adds nothing.
    assert found.solution.utilities == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert found.interval is None
    assert found.utilities["ann"] == Interval(*found.solution.utilities[:1].tolist() * 3)
    assert found.favourites == {"ann": "a", "bob": "c", "cat": "c"}


def test_what_the_majority_would_do(orders: Path) -> None:
    found = fit(orders)
    assert found.majority.option == "c"
    assert found.majority.beats_all
    assert found.majority.utilities.tolist() == [0.0, 1.0, 1.0]
    assert found.worse_off == {"ann": pytest.approx(1 / 3)}
    # Of 2/3 on the average there are 5/9 left.
    assert found.price_of_fairness == pytest.approx(1 / 6)


def test_nobody_loses_where_the_fair_choice_is_the_majoritys(tmp_path: Path) -> None:
    found = fit(written(tmp_path, "name,a,b,c\nann,1,2,3\nbob,1,3,2\n"))
    assert found.policy == pytest.approx({"a": 1.0, "b": 0.0, "c": 0.0}, abs=1e-9)
    assert not found.worse_off
    assert found.price_of_fairness == pytest.approx(0.0, abs=1e-9)
    assert "Nobody would be worse off" in str(found)


def test_without_a_clear_majority_the_nearest_is_taken(tmp_path: Path) -> None:
    cycle = "name,a,b,c\n1,1,2,3\n2,3,1,2\n3,2,3,1\n4,1,2,3\n"  # a over b 3 : 1, b over c 3 : 1
    found = fit(written(tmp_path, cycle))
    assert found.majority.option == "a"  # even with c
    assert not found.majority.beats_all
    assert "comes nearest" in str(found)


def test_alike_options_go_by_the_mean(tmp_path: Path) -> None:
    """Two against two: b is second where it loses, and a last."""
    even = "name,a,b,c\n1,1,2,3\n2,1,2,3\n3,3,1,2\n4,3,1,2\n"
    assert fit(written(tmp_path, even)).majority.option == "b"


def test_the_majority_is_one_of_people_or_of_groups(tmp_path: Path) -> None:
    """Two groups of one person like a, one of three likes c."""
    rows = "1,red,1,2,3\n2,blue,1,2,3\n" + "".join(f"{k},green,3,2,1\n" for k in (3, 4, 5))
    path = written(tmp_path, "name,team,a,b,c\n" + rows)
    assert fit(path, by="team").majority.option == "a"
    assert fit(path, by="team", per="person").majority.option == "c"


def test_the_majority_of_voters(tmp_path: Path) -> None:
    one = "user,winner,loser\n" + "ann,x,y\n" * 9 + "bob,x,y\n" * 9 + "cat,y,x\n" * 9
    found = fit(written(tmp_path, one))
    assert found.majority.option == "x"
    assert found.majority.beats_all
    assert list(found.worse_off) == ["cat"]


def test_equal_favourites_are_all_named_and_no_favourite_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, "name,a,b,c\nann,1,1,3\nbob,2,2,2\ncat,1,2,3\n")
    found = fit(read_votes(path, format="ranks"))
    assert found.favourites == {"ann": "a = b", "bob": None, "cat": "a"}


def test_the_scoring_can_be_chosen(orders: Path) -> None:
    found = fit(orders, scoring="condorcet")
    assert found.scores.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    with pytest.raises(InputError, match="the scoring is 'plurality'"):
        fit(orders, scoring="plurality")
    with pytest.raises(InputError, match="no Condorcet winner"):
        fit(example_file("book-club.blt"), scoring="condorcet")


# Who is a user


def test_groups_count_the_same_unless_told_otherwise() -> None:
    form = example_file("offsite-form.csv")
    groups, people = fit(form, by="Team"), fit(form, by="Team", per="person")
    assert (groups.per, people.per) == ("group", "person")
    assert groups.welfare == Nash()
    assert people.welfare == Nash(weights=(3.0, 5.0, 4.0))
    weighted = Nash(weights=(3.0, 5.0, 4.0)).maximize(groups.scores)
    assert people.solution.policy == pytest.approx(weighted.policy)
    # Engineering, with most people, likes the castle.
    assert people.policy["Castle"] > groups.policy["Castle"] + 0.05


def test_people_who_say_alike_are_joined() -> None:
    found = fit(example_file("book-club.blt"), users=2)
    assert found.ballots.users == ("cluster 1 (13 people)", "cluster 2 (7 people)")
    assert found.weights.tolist() == [13.0, 7.0]
    with pytest.raises(InputError, match="not both"):
        fit(example_file("offsite-form.csv"), by="Team", users=2)


def test_votes_that_are_read_already(orders: Path) -> None:
    ballots = read_votes(orders)
    assert fit(ballots).solution.policy.tolist() == fit(orders).solution.policy.tolist()
    with pytest.raises(InputError, match=r"give by=\.\.\. to read_votes"):
        fit(ballots, by="team")


@pytest.mark.parametrize("welfare", [Egalitarian(), Utilitarian()])
def test_every_welfare_is_maximised(orders: Path, welfare: Welfare) -> None:
    found = fit(orders, welfare=welfare)
    assert found.solution.gap <= 1e-9
    assert found.solution.value == pytest.approx(welfare.maximize(found.scores).value)
    with pytest.raises(InputError, match="give a welfare itself"):
        fit(orders, welfare="nash")  # type: ignore[arg-type]


# Votes


def test_votes_go_through_the_posterior() -> None:
    """Of few users, that of sessions: with who resembles whom."""
    found = fit(example_file("team-lunch.csv"))
    wins = found.ballots.wins()
    alike, pairs = infer_alike(wins), infer_pairs(wins)
    posterior = weigh(alike, pairs)
    assert found.scoring == "condorcet"
    assert found.scores == pytest.approx(posterior.scores)
    assert found.solution.policy == pytest.approx(Nash().maximize(posterior.scores).policy)
    assert found.interval is not None
    low, high = found.interval
    assert (low < found.solution.utilities).all()
    assert (found.solution.utilities < high).all()
    assert found.solution.gap < 1e-8


def test_of_more_users_each_is_seen_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "LARGEST", 5)
    found = fit(example_file("team-lunch.csv"))
    assert found.scores == pytest.approx(infer(found.ballots.wins(), draws=scoring.DRAWS).scores)
    borda = fit(example_file("team-lunch.csv"), scoring="borda")
    wins = borda.ballots.wins()
    assert borda.scores == pytest.approx(infer(wins, None, "borda", scoring.DRAWS).scores)


def test_the_same_votes_give_the_same(tmp_path: Path) -> None:
    first, second = (fit(example_file("team-lunch.csv")) for _ in range(2))
    assert first.solution.policy.tolist() == second.solution.policy.tolist()
    assert first.utilities == second.utilities


def test_who_votes_evenly_has_no_favourite(tmp_path: Path) -> None:
    votes = "user,left,right,winner\nann,x,y,x\nann,x,y,y\nbob,x,y,y\nbob,x,y,y\ncat,x,y,tie\n"
    assert fit(written(tmp_path, votes)).favourites == {"ann": None, "bob": "y", "cat": None}


def votes_of(strengths: np.ndarray, votes: int, rng: np.random.Generator) -> str:
    """Votes of users with strengths, as Bradley and Terry have it."""
    users, options = strengths.shape
    lines = ["user,winner,loser"]
    for d in range(users):
        for _ in range(votes):
            i, j = rng.choice(options, 2, replace=False)
            ahead = rng.random() < 1 / (1 + np.exp(strengths[d, j] - strengths[d, i]))
            winner, loser = (i, j) if ahead else (j, i)
            lines.append(f"user {d},option {winner},option {loser}")
    return "\n".join(lines)


def test_intervals_hold_what_users_really_get(tmp_path: Path) -> None:
    """By the scores of the paper, 2 P against the favourite, known here; 95 % of 80 users."""
    rng = np.random.default_rng(5)
    strengths = rng.normal(size=(80, 5))
    found = fit(written(tmp_path, votes_of(strengths, 40, rng)))
    columns = [int(name.split()[1]) for name in found.ballots.options]
    own = strengths[:, columns]
    scores = 2 / (1 + np.exp(own.max(axis=1, keepdims=True) - own))
    truth = scores @ found.solution.policy
    assert found.interval is not None
    low, high = found.interval
    assert 70 <= np.count_nonzero((low <= truth) & (truth <= high)) <= 79
    assert np.abs(found.solution.utilities - truth).mean() < 0.1


# Many users


def test_many_users_are_taken_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    ballots = read_votes(written(tmp_path, votes_of(rng.normal(size=(30, 4)), 30, rng)))
    monkeypatch.setattr(scoring, "LARGEST", 100)
    whole = fit(ballots)
    monkeypatch.setattr(scoring, "BLOCK", 4 * KEPT * 12)
    seen: list[int] = []
    blocks = fit(ballots, progress=seen.append)
    assert seen == [12, 12, 6]
    # Each block has draws of its own, and learns by itself how much tastes vary, and how much its
    # users, six in the last one, have in common.
    assert np.abs(blocks.scores - whole.scores).max() < 0.2
    assert np.abs(blocks.scores - whole.scores).mean() < 0.03
    assert blocks.scores != pytest.approx(whole.scores)
    assert blocks.interval is not None


def test_orders_in_blocks_are_the_same(orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit(orders)
    monkeypatch.setattr(scoring, "BLOCK", 1)
    blocks = fit(orders)
    assert blocks.scores.tolist() == whole.scores.tolist()
    assert blocks.majority.option == whole.majority.option


def test_users_too_many_have_no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "MOST_DRAWS", 100)
    found = fit(example_file("team-lunch.csv"))
    assert found.interval is None
    assert "95% interval" not in str(found)


def test_quantiles_go_by_weight(tmp_path: Path) -> None:
    rows = "".join(f"{1 + d},{'1,2,3' if d < 4 else '3,2,1'}\n" for d in range(30))
    found = fit(written(tmp_path, "name,a,b,c\n" + rows))
    assert not found.named
    few, most = sorted(set(found.solution.utilities.round(9).tolist()))
    assert found.quantiles[0.0] == pytest.approx((few, 0.0), abs=1e-6)
    assert found.quantiles[0.1] == pytest.approx((few, 0.0), abs=1e-6)
    assert found.quantiles[0.25] == pytest.approx((most, 1.0), abs=1e-6)
    assert "the worst off" in str(found)
    assert "percentage points at most" in str(found)


def test_quantiles_count_people(tmp_path: Path) -> None:
    rows = "".join(f"{d},{1 if d else 9},1,2,3\n" for d in range(8)) + "8,1,3,2,1\n9,4,3,2,1\n"
    found = fit(written(tmp_path, "name,weight,a,b,c\n" + rows))
    assert found.weights.sum() == 21.0
    # Five of 21 get little: less than a quarter, more than a tenth, though two of ten users.
    few, most = found.solution.utilities.min(), found.solution.utilities.max()
    assert found.quantiles[0.1][0] == pytest.approx(few)
    assert found.quantiles[0.25][0] == pytest.approx(most)
    rows = rows.replace("9,4,3", "9,6,3")
    found = fit(written(tmp_path, "name,weight,a,b,c\n" + rows))
    assert found.quantiles[0.25][0] == pytest.approx(found.solution.utilities.min())


# Sessions and polls


def test_a_session_is_fitted(tmp_path: Path) -> None:
    session = Session(["ann", "bob"], ["x", "y", "z"], seed=1)
    for _ in range(12):
        duel = session.ask()
        if duel.left != duel.right:
            session.tell(duel, {"ann": duel.left, "bob": duel.right})
    session.save(tmp_path / "session.json")
    session.keep(tmp_path / "session.journal")
    found = fit(tmp_path / "session.json")
    assert found.ballots.users == ("ann", "bob")
    assert found.ballots.wins().tolist() == session._votes.tally.wins.tolist()
    assert fit(tmp_path / "session.journal").policy == found.policy


def test_a_session_goes_on_from_the_votes(tmp_path: Path) -> None:
    found = fit(example_file("team-lunch.csv"), welfare=Egalitarian())
    session = found.session(seed=1)
    assert session.seed == 1 != found.session().seed
    assert (session.users, session.arms) == (found.ballots.users, found.ballots.options)
    assert session.learner == FairVOI(Egalitarian(), anytime=True)
    before = session.recommend()
    session.save(tmp_path / "session.json")
    assert fit(tmp_path / "session.json").ballots.wins().tolist() == found.ballots.wins().tolist()
    session.vote("ann", "pizza", "soup", "soup")
    duel = session.ask()
    session.tell(duel, dict.fromkeys(session.users, duel.left))
    session.remove_user("dan")
    session.save(tmp_path / "session.json")
    again = fit(tmp_path / "session.json")
    assert again.ballots.users == ("ann", "cleo", "eve", "bob")
    assert np.array_equal(again.ballots.wins(), present_wins(session))
    assert session.recommend().policy != before.policy
    with pytest.raises(InputError, match="leave nothing to ask"):
        fit(example_file("book-club.blt")).session()


@pytest.mark.parametrize("way", ["save", "keep"])
def test_all_that_happens_in_a_session_is_read(tmp_path: Path, way: str) -> None:
    session = Session(["ann", "bob"], ["x", "y", "z"], seed=3)
    path = tmp_path / "session"
    if way == "keep":
        session.keep(path)
    duel = session.ask()
    session.tell(duel, {"ann": duel.left, "bob": duel.right})
    session.tell(duel, {"ann": duel.right}, change=True)
    session.vote("bob", "z", "x", "z")
    session.vote("bob", "x", "z", "tie")
    session.vote("ann", "y", "x", "y")
    session.vote("ann", "x", "y", None)
    session.add_user("cat")
    session.add_arm("w")
    session.vote("cat", "w", "x", "w")
    session.vote("cat", "y", "z", "skip")
    session.remove_arm("y")
    session.add_user("dan")
    session.remove_user("dan")
    if way == "save":
        session.save(path)
    ballots = read_votes(path)
    assert (ballots.users, ballots.options) == (session.users, session.arms)
    assert np.array_equal(ballots.wins(), present_wins(session))


def present_wins(session: Session) -> Floats:
    return session._votes.roster.restrict(session._votes.tally).wins


# What to ask next


def test_what_to_ask_next() -> None:
    found = fit(example_file("team-lunch.csv"))
    worth = advise(found.ballots.wins()).worth
    first, *others = found.questions
    assert first.worth == pytest.approx(worth.max())
    users, options = found.ballots.users, found.ballots.options
    pair = (options.index(first.left), options.index(first.right))
    assert worth[users.index(first.user), *pair] == pytest.approx(worth.max())
    assert sorted([first, *others], key=lambda one: -one.worth) == [first, *others]
    assert len({one.user for one in found.questions}) == len(found.questions) == len(users)
    assert f"asking {first.user} about {first.left} and {first.right}" in str(found)


def test_what_is_known_well_is_not_asked(tmp_path: Path) -> None:
    """Ann has said what she wants a hundred times, and bob nothing yet that tells."""
    votes = ["user,winner,loser", *["ann,x,y"] * 99, "bob,x,y", "bob,y,x"]
    found = fit(written(tmp_path, "\n".join(votes)))
    assert found.questions[0].user == "bob"


def test_stated_orders_and_many_users_leave_nothing_to_ask(
    orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fit(orders).questions == ()
    monkeypatch.setattr(questions, "MOST_USERS", 4)
    assert fit(example_file("team-lunch.csv")).questions == ()


# What it looks like


def test_in_short_and_for_notebooks(tmp_path: Path) -> None:
    found = fit(written(tmp_path, "name,a,b,c\nann,1,2,3\nbob,1,3,2\n"))
    assert isinstance(found, Fit)
    assert repr(found) == "Fit(a 100%, 2 others 0%; 2 users)"
    page = found._repr_html_()
    assert page.count("<table>") == 2
    assert "ann" in page


def test_few_votes_are_warned_of(tmp_path: Path) -> None:
    found = fit(written(tmp_path, "user,winner,loser\nann,x,y\nbob,y,z\n"))
    assert "too few" in found.warnings[0]
    assert fit(example_file("team-lunch.csv")).warnings == ()
