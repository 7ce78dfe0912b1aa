"""Tables with a row for each person: ranks, places, form tools, and what only looks like ranks."""

from pathlib import Path

import pytest

from vote_files import Reader, table

RANKS = "name,soup,rice,stew\nann,1,2,3\nbob,3,1,2\n"
PLACES = "name,1st,2nd,3rd\nann,soup,rice,stew\nbob,rice,stew,soup\n"
FORM = (
    "Timestamp,Your name,What shall we cook? [soup],What shall we cook? [rice],"
    "What shall we cook? [stew]\n"
    "2025-03-01 9:00,ann,1st choice,2nd choice,3rd choice\n"
    "2025-03-01 9:01,bob,3rd choice,1st choice,2nd choice\n"
)
ANN = {("soup", "rice"): 1.0, ("soup", "stew"): 1.0, ("rice", "stew"): 1.0}
BOB = {("rice", "stew"): 1.0, ("rice", "soup"): 1.0, ("stew", "soup"): 1.0}
MEANT = {"ann": ANN, "bob": BOB}


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


SAME = {
    "ranks": RANKS,
    "ranks with semicolons and decimal commas": (
        "\ufeffname;soup;rice;stew\r\nann;1,0;2,0;3,0\r\nbob;3;1;2\r\n"
    ),
    "places": PLACES,
    "places in words": PLACES.replace("1st", "First choice").replace("2nd", "second choice"),
    "places in another order": "name,place 3,place 1,place 2\nann,stew,soup,rice\n"
    "bob,soup,rice,stew\n",
    "a form with ranks": FORM,
    "a form with places": (
        "Timestamp,Your name,Rank them [1st choice],Rank them [2nd choice],Rank them [3rd choice]\n"
        "1,ann,soup,rice,stew\n2,bob,rice,stew,soup\n"
    ),
    "json": '[{"name": "ann", "soup": 1, "rice": 2, "stew": 3}, '
    '{"name": "bob", "soup": 3, "rice": 1, "stew": 2}]',
    "json lines that leave out": '{"name": "ann", "soup": 1, "rice": 2, "stew": 3}\n'
    '{"name": "bob", "rice": 1, "stew": 2}\n',
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
@pytest.mark.parametrize("name", ["table", "table.csv.gz"])
def test_the_same_orders_in_many_forms(read: Reader, text: str, name: str) -> None:
    ballots = read(text, name)
    assert table(ballots) == MEANT
    assert ballots.kind == "orders"
    assert ballots.said.endswith("for example: ann prefers soup to rice")
    assert ballots.per == "person"
    assert ballots.warnings == ()


def test_what_is_not_used_is_said(read: Reader) -> None:
    ballots = read(RANKS.replace("\n", ",hello\n").replace("stew,hello", "stew,comment"))
    assert ballots.said == (
        "read as a table with a column for each option and ranks in it (not used: 'comment'); "
        "for example: ann prefers soup to rice"
    )


def test_people_without_names_are_numbered(read: Reader) -> None:
    assert read("soup,rice\n1,2\n2,1\n").users == ("person 1", "person 2")


def test_names_with_gaps_name_nobody(read: Reader) -> None:
    text = "name,x,y\nann,1,2\n,2,1\n"
    assert read(text).users == ("person 1", "person 2")
    read.refuses(text, "line 3 does not say who it is from", columns={"user": "name"})


def test_of_several_names_the_one_that_tells_apart(read: Reader) -> None:
    text = "ID,Email,Name,soup,rice\n7,anonymous,,1,2\n8,anonymous,,2,1\n"
    assert read(text).users == ("7", "8")
    read.refuses(text, "line 2 and line 3 are both from 'anonymous'", columns={"user": "Email"})


# Meaning


def test_ties_and_unranked(read: Reader) -> None:
    ballots = read("name,a,b,c,d\nann,1,1,,\nbob,4,3,2,1\n")
    half = dict.fromkeys([("a", "b"), ("b", "a")], 0.5)
    below = {(x, y): 1.0 for x in "ab" for y in "cd"}
    assert table(ballots)["ann"] == half | below  # and nothing on c and d
    shares = ballots.shares(0, 1)[0]
    assert shares[2, 3] == shares[3, 2] == shares[0, 1] == 0.5
    assert shares[0, 2] == 1.0
    assert ballots.answers.tolist() == [5.0, 6.0]


def test_skipped_ranks_close_up(read: Reader) -> None:
    skipped = table(read("name,a,b,c,d\nann,2,4,,\nbob,4,3,2,1\n"))
    assert skipped == table(read("name,a,b,c,d\nann,1,2,,\nbob,4,3,2,1\n"))
    places = table(read("name,1st,2nd,3rd\nann,a,,b\nbob,b,a,c\n"))
    assert places == table(read("name,1st,2nd,3rd\nann,a,b,\nbob,b,a,c\n"))


def test_rows_that_rank_nothing_are_left_out_and_noted(read: Reader) -> None:
    ballots = read(RANKS + "cem,,,\n")
    assert ballots.users == ("ann", "bob")
    assert ballots.warnings == ("rows that rank nothing are left out: 1 of 3.",)
    read.refuses("name,a [x],a [y]\nann,,\nbob,,\n", "neither pairwise votes")


def test_weights_and_groups(read: Reader) -> None:
    text = "name;team;weight;x;y\nann;red;2,5;1;2\nbob;red;1;2;1\ncem;blue;4;1;2\n"
    ballots = read(text)
    assert ballots.weights().tolist() == [2.5, 1.0, 4.0]
    groups = read(text, by="team")
    assert groups.users == ("red", "blue")
    assert groups.weights().tolist() == [1.0, 1.0]
    assert groups.weights("person").tolist() == [3.5, 4.0]
    assert table(groups)["red"] == {("x", "y"): 2.5, ("y", "x"): 1.0}
    with pytest.raises(ValueError, match="no weight per 'head'"):
        groups.weights("head")
    read.refuses(text.replace("bob;red", "bob;"), "line 3: 'team' is empty", by="team")


@pytest.mark.parametrize("weight", ["-1", "0", "many", "nan", "inf", ""])
def test_bad_weights(read: Reader, weight: str) -> None:
    text = f"name,weight,x,y\nann,1,1,2\nbob,{weight},2,1\n"
    read.refuses(text, f"line 3: the weight is {weight!r}")


# Traps


def test_stars_are_no_ranks(read: Reader) -> None:
    beyond = "name,x,y,z\nann,5,4,1\nbob,1,2,3\n"
    read.refuses(beyond, "line 2: the rank of 'x' is 5", "3 options", "--format ranks")
    repeated = "name,x,y,z\nann,3,3,1\nbob,2,2,2\ncem,1,2,3\n"
    read.refuses(repeated, "2 of 3 full rows have a number twice", "stars", "fairduel solve")
    assert table(read(repeated, format="ranks"))["ann"][("x", "y")] == 0.5
    assert table(read(beyond, format="ranks"))["ann"][("z", "x")] == 1.0


def test_a_number_that_is_no_rank_is_pointed_at(read: Reader) -> None:
    text = "name,age,x,y\nann,34,1,2\nbob,27,2,1\n"
    read.refuses(text, "'age' is 34", "--options NAME,NAME")
    assert read(text, options=["x", "y"]).options == ("x", "y")


def test_orders_and_rank_vectors_cannot_be_told_apart(read: Reader) -> None:
    text = "name,1st,2nd,3rd\nann,2,3,1\nbob,1,2,3\n"
    read.refuses(text, "'1st', '2nd', '3rd'", "--format ranks", "--format places")
    assert table(read(text, format="places"))["ann"][("2", "3")] == 1.0
    assert table(read(text, format="ranks"))["ann"][("3rd", "1st")] == 1.0


def test_approvals_are_refused(read: Reader) -> None:
    read.refuses("voter-id,comment-id,vote\n1,2,1\n", "approvals", "no comparisons")
    read.refuses("name,x,y\nann,0,1\nbob,1,1\n", "line 2: the rank of 'x' is '0'")


def test_two_questions_of_a_form(read: Reader) -> None:
    text = "Your name,Food [x],Food [y],Day [Mo],Day [Tu]\nann,1,2,2,1\nbob,2,1,1,2\n"
    read.refuses(text, "2 questions, 'Food', 'Day'", "--options QUESTION")
    assert read(text, options=["Day"]).options == ("Mo", "Tu")
    assert read(text, options=["Food [y]", "Food [x]"]).options == ("y", "x")
    read.refuses(text, "no column 'Foot'", options=["Foot"])


# Bad input

BAD = [
    ("name,x,y\n", "a heading and no rows"),
    ("name,x\nann,1\nbob,1\n", "its columns are 'name', 'x'"),
    ("hello\nworld\n", "its columns are 'hello'"),
    ("ann,x,y,x\nbob,x,y,y\n", "its columns are 'ann', 'x', 'y', 'x'"),
    ("name,x,y\nann,1,2\n", "only one user, 'ann'"),
    ("name,1st,2nd\nann,x,\nbob,x,\n", "only one option, 'x'"),
    ("name,x,y\nann,1,2\nbob,2,1\nann,2,1\n", "line 2 and line 4 are both from 'ann'"),
    ("name,x,y\nann,1,2\nbob,2,soup\ncem,1,2\n", "line 3: the rank of 'y' is 'soup'"),
    ("name,x,y\nann,1,2\nbob,2\n", "line 3 has 2 cells and the heading 3"),
    ("name,1st,2nd\nann,x,x\nbob,x,y\n", "line 2 has 'x' in two places"),
    ("name,x,x\nann,1,2\nbob,2,1\n", "two columns 'x'"),
    ("name," + ",".join(f"x{k}" for k in range(10_000)) + "\n", "10,001 columns"),
    ("name," + ",".join(f"x{k}" for k in range(1500)) + "\n" + "a," * 1500 + "1\n", "columns"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_bad_tables_get_one_sentence(read: Reader, text: str, words: str) -> None:
    read.refuses(text, words)


def test_more_options_than_can_be_compared(read: Reader) -> None:
    heading = ",".join(f"x{k}" for k in range(1200))
    row = ",".join(str(k + 1) for k in range(1200))
    read.refuses(f"{heading}\n{row}\n{row}\n", "1,200 options")


def test_settings_without_meaning_are_refused(read: Reader) -> None:
    read.refuses(RANKS, "once has no meaning", once=True)
    read.refuses(RANKS, "outcomes has no meaning", outcomes="names")
    read.refuses(RANKS, "lacks columns of pairwise votes", "'soup'", format="pairwise")
    read.refuses(RANKS, "no format 'rank': did you mean 'ranks'?", format="rank")
