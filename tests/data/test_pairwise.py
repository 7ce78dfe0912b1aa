"""Pairwise votes: columns, outcomes, counting."""

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairduel.data import records, source
from vote_files import Reader, table

SIMPLE = "user,left,right,winner\nann,x,y,x\nbob,y,x,tie\nann,y,x,x\n"
MEANT = {"ann": {("x", "y"): 2.0}, "bob": {("x", "y"): 0.5, ("y", "x"): 0.5}}


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def test_votes_are_counted_and_said_aloud(read: Reader) -> None:
    ballots = read(SIMPLE)
    assert table(ballots) == MEANT
    assert (ballots.kind, ballots.users, ballots.options) == ("votes", ("ann", "bob"), ("x", "y"))
    assert ballots.said == "read as pairwise votes; for example: ann prefers x to y"
    assert ballots.answers.tolist() == [2.0, 1.0]
    assert repr(ballots) == "Ballots(votes, 2 users, 2 options)"


SAME = {
    "commas": SIMPLE,
    "semicolons": SIMPLE.replace(",", ";"),
    "tabs": SIMPLE.replace(",", "\t"),
    "blanks": SIMPLE.replace(",", " , "),
    "windows": SIMPLE.replace("\n", "\r\n"),
    "old mac": SIMPLE.replace("\n", "\r"),
    "a byte order mark": "\ufeff" + SIMPLE,
    "no last line feed": SIMPLE[:-1],
    "empty lines and comments": SIMPLE.replace("bob", "\n# a note\n,,,\nbob"),
    "trailing cells": SIMPLE.replace("\n", ",,\n"),
    "quotes": 'user,left,"right",winner\nann,"x",y,x\nbob,y,x,"tie"\n"ann",y,x,x\n',
    "other columns": (
        'time,user,left,right,winner\n1,ann,x,y,x\n2,bob,y,x,tie\n"3, or\nlater",ann,y,x,x\n'
    ),
    "sides": "judge,model_a,model_b,winner\nann,x,y,model_a\nbob,y,x,tie\nann,y,x,model_b\n",
    "crowd": "worker,left,right,label\nann,x,y,x\nbob,y,x,Tie\nann,y,x,x\n",
    "letters": "user,option a,option b,winner\nann,x,y,A\nbob,y,x,draw\nann,y,x,B\n",
    "json lines": (
        '{"user": "ann", "left": "x", "right": "y", "winner": "x"}\n\n'
        '{"user": "bob", "left": "y", "right": "x", "winner": "tie"}\n'
        '{"winner": "x", "user": "ann", "left": "y", "right": "x", "more": [1, {"a": "}"}]}'
    ),
}
SAME["json list"] = json.dumps(
    [json.loads(line) for line in SAME["json lines"].split("\n") if line]
)
SAME["json over lines"] = json.dumps(json.loads(SAME["json list"]), indent=2)


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
@pytest.mark.parametrize("name", ["votes", "votes.csv.gz"])
@pytest.mark.parametrize("piece", [45, 1 << 20])
def test_the_same_votes_in_many_forms(
    read: Reader, text: str, name: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE", piece)
    assert table(read(text, name)) == MEANT
    assert table(read(text, name, once=True))["ann"] == {("x", "y"): 1.0}


def test_utf_16_as_spreadsheets_save_it(read: Reader) -> None:
    text = SIMPLE.replace(",", "\t").replace("ann", "Zo\u00eb")
    assert table(read(text.encode("utf-16")))["Zo\u00eb"] == MEANT["ann"]


def test_winner_and_loser_with_counts(read: Reader) -> None:
    text = "user;winner;loser;count\nann;x;y;2,5\nbob;y;x;1\nann;x;y;1\nbob;x;y;0\n"
    assert table(read(text)) == {"ann": {("x", "y"): 3.5}, "bob": {("y", "x"): 1.0}}
    assert table(read(text, once=True))["ann"] == {("x", "y"): 1.0}


def test_both_bad_is_a_tie_counted_apart(read: Reader) -> None:
    text = "judge,model_a,model_b,winner\nj1,x,y,tie (bothbad)\nj1,x,y,tie\nj2,x,y,model_b\n"
    ballots = read(text)
    assert table(ballots)["j1"] == {("x", "y"): 1.0, ("y", "x"): 1.0}
    assert ballots.both_bad == 1.0
    assert ballots.said.endswith("j2 prefers y to x")


def test_a_skipped_vote_says_nothing(read: Reader) -> None:
    ballots = read(SIMPLE + "bob,x,y,skip\n")
    assert table(ballots) == MEANT


def test_once_keeps_the_last_whichever_side(read: Reader) -> None:
    text = "user,left,right,winner\nann,x,y,x\nbob,x,y,x\nann,y,x,y\nbob,x,z,x\n"
    assert table(read(text, once=True)) == {
        "ann": {("y", "x"): 1.0},
        "bob": {("x", "y"): 1.0, ("x", "z"): 1.0},
    }


def test_names_that_read_the_same_are_the_same(read: Reader) -> None:
    text = "user,left,right,winner\nZo\u00eb,x y,z,z\nZoe\u0308,x  y,z,x y\nbob,x y,z,z\n"
    assert table(read(text))["Zo\u00eb"] == {("z", "x y"): 1.0, ("x y", "z"): 1.0}


def test_columns_can_be_named(read: Reader) -> None:
    text = "rater,left,right,winner,who,says\nr1,x,y,1,ann,x\nr1,x,y,0,bob,y\n"
    ballots = read(text, columns={"user": "who", "winner": "says"})
    assert table(ballots) == {"ann": {("x", "y"): 1.0}, "bob": {("y", "x"): 1.0}}
    read.refuses(text, "no column 'whom': did you mean 'who'", columns={"user": "whom"})
    read.refuses(text, "no role of a column 'usr'", "'user'", columns={"usr": "who"})
    read.refuses(text, "'rater' and 'who' may both", "--column user=NAME")


# Traps


def test_options_called_a_and_b_are_no_sides(read: Reader) -> None:
    ballots = read("name,A,B\nann,1,2\nbob,2,1\n")
    assert ballots.kind == "orders"
    assert table(ballots) == {"ann": {("A", "B"): 1.0}, "bob": {("B", "A"): 1.0}}


def test_a_winner_that_may_be_a_name_or_a_side_is_refused(read: Reader) -> None:
    text = "user,a,b,winner\nann,A,B,A\nbob,B,A,A\n"
    read.refuses(text, "line 3", "may be a name or a side", "--outcomes names")
    assert table(read(text, outcomes="names"))["bob"] == {("A", "B"): 1.0}
    sides = read(text, outcomes={"A": "left", "B": "right"})
    assert table(sides)["bob"] == {("B", "A"): 1.0}
    agree = "user,a,b,winner\nann,A,B,A\nbob,A,B,B\n"
    assert table(read(agree))["bob"] == {("B", "A"): 1.0}


@pytest.mark.parametrize("words", ["01", "12"])
def test_a_winner_of_0_or_1_is_refused(read: Reader, words: str) -> None:
    text = f"user,left,right,winner\nann,x,y,{words[0]}\nbob,x,y,{words[1]}\n"
    read.refuses(text, f"'{words[0]}', '{words[1]}'", "--outcomes 0=left,1=right")
    ballots = read(text, outcomes={words[0]: "left", words[1]: "right"})
    assert table(ballots) == {"ann": {("x", "y"): 1.0}, "bob": {("y", "x"): 1.0}}
    as_names = "user,left,right,winner\nann,0,1,1\nbob,1,0,1\n"
    read.refuses(as_names, "may be names or sides")
    assert table(read(as_names, outcomes="names"))["bob"] == {("1", "0"): 1.0}


def test_minus_one_is_not_one(read: Reader) -> None:
    text = "user,left,right,winner\nann,x,y,-1\nbob,x,y,1\nbob,x,y,0\n"
    ballots = read(text, outcomes={"-1": "left", "1": "right", "0": "tie"})
    assert table(ballots)["ann"] == {("x", "y"): 1.0}
    assert table(ballots)["bob"] == {("y", "x"): 1.5, ("x", "y"): 0.5}


def test_unknown_outcomes_are_shown_and_never_ties(read: Reader) -> None:
    text = "user,left,right,winner\nann,x,y,x\nbob,x,y,z\nbob,x,y,?\nbob,x,y,\nann,x,y,hm\n"
    sentence = read.refuses(text, "line 3", "the winner of 'x' and 'y' is 'z'", "1 others")
    assert sum(word in sentence for word in ("'z'", "'?'", "''", "'hm'")) == 3
    read.refuses(SIMPLE + "bob,x,y,model_c\n", "line 5", "'model_c'")
    assert table(read(SIMPLE + "ann,x,y,\n", outcomes={"": "skip"})) == MEANT
    read.refuses(SIMPLE, "no outcome 'lft'", "did you mean 'left'", outcomes={"x": "lft"})
    read.refuses(SIMPLE, "outcomes is 'name'", outcomes="name")


def test_names_and_sides_mixed_are_refused(read: Reader) -> None:
    text = "user,left,right,winner\nann,x,y,left\nbob,x,y,y\n"
    read.refuses(text, "line 3", "the name 'y', and elsewhere it is a side")


def test_an_option_called_like_an_outcome_is_refused(read: Reader) -> None:
    read.refuses("user,left,right,winner\nann,Tie,y,Tie\n", "called 'Tie', like an outcome")


# Groups


def test_groups_by_a_column(read: Reader) -> None:
    text = "judge,lang,left,right,winner\nj1,pl,x,y,x\nj2,pl,x,y,y\nj1,pl,x,y,x\nj3,zh,y,x,y\n"
    ballots = read(text, by="lang")
    assert table(ballots) == {"pl": {("x", "y"): 2.0, ("y", "x"): 1.0}, "zh": {("y", "x"): 1.0}}
    assert ballots.per == "group"
    assert ballots.weights().tolist() == [1.0, 1.0]
    assert ballots.weights("person").tolist() == [2.0, 1.0]
    read.refuses(text, "no column 'language'", by="language")
    read.refuses(text.replace("j3,zh", "j3,"), "line 5", "no group", by="lang")


def test_people_are_counted_once_over_all_blocks(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE", 60)
    rows = "j1,pl,x,y,x\nj2,pl,x,y,y\nj3,zh,y,x,y\n" * 20
    ballots = read(f"judge,lang,left,right,winner\n{rows}", by="lang")
    assert ballots.weights("person").tolist() == [2.0, 1.0]


def test_groups_without_people_have_no_size(read: Reader) -> None:
    text = "lang,left,right,winner\npl,x,y,x\nzh,x,y,y\n"
    ballots = read(text, by="lang")
    assert ballots.people is None
    with pytest.raises(ValueError, match="does not say who voted"):
        ballots.weights("person")
    read.refuses(text, "does not say who voted", "--column user=NAME", "'lang', 'left'")


# Bad input

BAD = [
    ("user,left,right,winner\n", "a heading and no votes"),
    ("user,left,right,winner\nann,x,x,x\n", "line 2 compares 'x' with itself"),
    ("user,winner,loser\nann,x,y\nbob,x,x\n", "line 3 compares 'x' with itself"),
    (SIMPLE + "ann,x,y\n", "line 5 has 3 cells and the heading 4, with commas"),
    (SIMPLE + "ann,x,y\nbob,x,y,x,z\n", "line 5 has 3 cells"),  # as many as they should be
    (SIMPLE + "ann,x,y,x,z\n", "line 5 has 5 cells and the heading 4"),
    (SIMPLE + "{'user': 'ann'}\n", "line 5 has 1 cells"),
    (SIMPLE + ",x,y,x\n", "line 5: there is no user"),
    (SIMPLE + "ann,,y,y\n", "line 5: there is no option"),
    ("user,left,right,winner\nann,x,y,x\nann,y,x,x\n", "only one user, 'ann'"),
    ("user,winner,loser,count\nann,x,y,-1\n", "line 2: the count is '-1'"),
    ("user,winner,loser,count\nann,x,y,1\nbob,x,y,many\n", "line 3: the count is 'many'"),
    ("user,winner,loser,count\nann,x,y,nan\n", "line 2: the count is 'nan'"),
    ("user,winner,loser,count\nann,x,y,inf\n", "line 2: the count is 'inf'"),
    ('user,left,right,winner\nann,x,y,x\nbob,"x,y,x\n', "line 3 has a quote that is never closed"),
    ('user,left,right,winner\nann,x,y,x\nbob,"x"z,y,x\n', "line 3 is not CSV"),
    ("user,user,left,right,winner\nann,b,x,y,x\n", "two columns 'user'"),
    ("user,left,right,winner\nann,x\u200b,y,y\nbob,x\u200b,y,y\n", "cannot be seen"),
    ('{"user": "ann", "left": "x", "right": "y", "winner": "x"}\nbob,x,y,x\n', "line 2 is not"),
    ('{"user": "a", "left": "x", "right": "y", "winner": "x"}\n[1]\n', "line 2 holds a list"),
    ('{"user": "a", "left": "x", "right": "y"}\n', "lacks|neither"),
    ('{"user": "a", "left": ["x"], "right": "y", "winner": "x"}\n', "line 1 has \"['x']\""),
    ('[{"user": "a", "left": "x", "right": "y", "winner": "x"}', "record 2 is not whole JSON"),
    ('[{"user": "a", "left": "x", "right": "y", "winner": "x"}] x', "record 2 is not"),
    ('[{"user": "a", "left": "x", "right": "y", "winner": "x"}, 3]', "record 2"),
    (
        '[{"user": "a", "left": "x", "right": "y"}, {"left": 1, "winner": "x"}]',
        "record 2: there is no user",
    ),
    ("[]", "it has no records"),
    ("{\n}", "line 1 is not whole JSON"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_bad_votes_get_one_sentence(read: Reader, text: str, words: str) -> None:
    sentence = read.refuses(text)
    assert any(word in sentence for word in words.split("|")), sentence


def test_the_first_of_many_equal_lines_is_named(read: Reader) -> None:
    text = "user,left,right,winner\n" + "ann,x,y,x\nbob,x,y,z\nbob,x,y,y\n" * 20
    read.refuses(text, "line 3: the winner")
    read.refuses(text, "line 3: the winner", once=True)


def test_more_options_than_can_be_compared(read: Reader) -> None:
    rows = "".join(f"ann,x{k},y{k},x{k}\n" for k in range(600))
    read.refuses(f"user,left,right,winner\n{rows}", "more than 1,000 options", "line ")


# Everything against plain counting

VOTE = st.tuples(
    st.sampled_from(["ann", "bob", "cem"]),
    st.sampled_from(list(itertools.permutations("xyz", 2))),
    st.integers(0, 2),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VOTE, min_size=1, max_size=60), st.sampled_from([45, 200, 1 << 20]), st.booleans())
def test_counting_is_exact(
    read: Reader, votes: list[tuple[str, tuple[str, str], int]], piece: int, dated: bool
) -> None:
    votes = [("ann", ("x", "y"), 0), ("bob", ("y", "z"), 1), *votes]
    expected: Counter[tuple[str, str, str]] = Counter()
    lines = []
    for n, (user, (left, right), outcome) in enumerate(votes):
        shares = [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)][outcome]
        expected[user, left, right] += shares[0]  # type: ignore[assignment]
        expected[user, right, left] += shares[1]  # type: ignore[assignment]
        lines.append(f"{user},{left},{right},{[left, right, 'tie'][outcome]},{n * dated}")
    text = "\n".join(["user,left,right,winner,time", *lines])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "PIECE", piece)
        patch.setattr(records, "HEAD", 1)
        found = table(read(text))
    flat = {(user, *pair): n for user, pairs in found.items() for pair, n in pairs.items()}
    assert flat == {key: n for key, n in expected.items() if n}


NUMBERED = ["ann,x,y,x", "bob,x,y,y", "ann,x,y,x", "ann,y,z,z"] * 50


@pytest.mark.parametrize(("before", "behind"), [("id,", ""), ("", ",time"), ("id,day,", ",a,b")])
def test_columns_at_the_ends_that_nobody_asks_for(read: Reader, before: str, behind: str) -> None:
    """They make every line different, and are cut off before lines are counted."""
    heading = f"{before}user,left,right,winner{behind}"
    ahead, rest = before.count(","), behind.count(",")
    lines = [f"{f'{n},' * ahead}{line}{f',{n}' * rest}" for n, line in enumerate(NUMBERED)]
    plainly = table(read("\n".join(["user,left,right,winner", *NUMBERED])))
    assert table(read("\n".join([heading, *lines]))) == plainly
    assert table(read("\n".join([heading, *lines, "# a note", ""]))) == plainly
    width = heading.count(",") + 1
    for bad in (lines[7] + ",more", lines[7].rpartition(",")[0], "ann"):
        text = "\n".join([heading, *lines[:7], bad, *lines[8:]])
        read.refuses(text, f"line 9 has {bad.count(',') + 1} cells and the heading {width}")
    unknown = [*lines[:7], lines[7].replace(",z,z", ",z,q"), *lines[8:]]
    read.refuses("\n".join([heading, *unknown]), "line 9: the winner of")


HOSTILE = [
    '{"user": "ann", "left": "x", "right": "y", "winner": "x"}',
    '{"user": "bob", "left": "y", "right": "x", "winner": "y"}',
    '{"user": "a}, {b", "left": "x", "right": "y", "winner": "x"}',
    '{"user": "cat", "left": "y", "right": "x", "winner": "y", "more": [{"a": 1}, {"a": 2}]}',
    '{"user": "d\\"}, {\\"d", "left": "x", "right": "y", "winner": "tie"}',
]


@pytest.mark.parametrize("between", [", ", ",", ",\n  ", " , "])
@pytest.mark.parametrize("kinds", [[0, 1], [0, 1, 2], [0, 1, 3], [0, 4], [2, 0], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("once", [False, True])
def test_records_of_a_list_that_repeat(
    read: Reader, between: str, kinds: list[int], once: bool
) -> None:
    """However they are written, and whatever is in their texts, it is as with a line for each."""
    records = [HOSTILE[kind] for kind in kinds for _ in range(1 + kind)] * 7
    lines = read("\n".join(records), "a.jsonl", once=once)
    listed = read(f"[{between.join(records)}]", "a.json", once=once)
    assert table(listed) == table(lines)
    assert listed.said == lines.said


def test_the_first_of_equal_records_is_named(read: Reader) -> None:
    wrong = HOSTILE[1].replace('"winner": "y"', '"winner": "z"')
    text = f"[{', '.join([HOSTILE[0], HOSTILE[1], wrong, HOSTILE[0]] * 10)}]"
    read.refuses(text, "record 3: the winner", name="a.json")
    read.refuses(f"[1, {', '.join(HOSTILE[:2] * 9)}]", "record 1 holds a int", name="a.json")
