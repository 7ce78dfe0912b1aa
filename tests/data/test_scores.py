"""Score matrices from CSV and JSON, with and without names."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._names import comparable
from fairduel.data.scores import ScoreTable, read_scores, solve
from fairduel.errors import InputError
from fairduel.welfare import Egalitarian, FrankWolfe, GeneralizedGini, Nash, Utilitarian

SCORES = [[1.0, 0.25], [0.5, 0.75]]

NAME = st.text(st.characters(codec="utf-8", categories=("L", "P", "Zs")), min_size=1).filter(
    lambda name: name == name.strip() and name.lower() not in ("nan", "inf", "infinity")
)


def read(text: str, source: str = "scores.csv") -> ScoreTable:
    return read_scores(text.encode(), source)


@pytest.mark.parametrize(
    ("text", "users", "arms"),
    [
        ("1,.25\n.5,.75\n", ("user 1", "user 2"), ("arm 1", "arm 2")),
        ("1, .25\r\n.5, .75", ("user 1", "user 2"), ("arm 1", "arm 2")),
        ("\ufefftea,milk\n1,.25\n\n.5,.75\n\n", ("user 1", "user 2"), ("tea", "milk")),
        ("Ada,1,.25\nBob,.5,.75\n", ("Ada", "Bob"), ("arm 1", "arm 2")),
        (",tea,milk\nAda,1,.25\nBob,.5,.75\n", ("Ada", "Bob"), ("tea", "milk")),
        ("who,tea,milk\nAda,1,.25\nBob,.5,.75\n", ("Ada", "Bob"), ("tea", "milk")),
        ("User,1,2\n7,1,.25\n8,.5,.75\n", ("7", "8"), ("1", "2")),
        (',"t, a",milk\n"A, da",1,.25\nBob,.5,.75\n', ("A, da", "Bob"), ("t, a", "milk")),
        (";tea;milk\nAda;1;0.25\nBob;0.5;0.75\n", ("Ada", "Bob"), ("tea", "milk")),
        (";tea;milk\r\nAda;1,0;0,25\r\nBob;,5;0,75\r\n", ("Ada", "Bob"), ("tea", "milk")),
        (";te,a;milk\nA,da;1;0.25\nBob;0.5;0.75\n", ("A,da", "Bob"), ("te,a", "milk")),
        ("\ttea\tmilk\nAda\t1\t0,25\nBob\t0,5\t0,75\n", ("Ada", "Bob"), ("tea", "milk")),
        (",tea; hot,milk\nAda,1,.25\nBob,.5,.75\n", ("Ada", "Bob"), ("tea; hot", "milk")),
        ('"a;b",c\n1,.25\n.5,.75\n', ("user 1", "user 2"), ("a;b", "c")),
        (",tea,milk,\nAda,1,.25,\nBob,.5,.75,,\n", ("Ada", "Bob"), ("tea", "milk")),
        (";tea;milk;;\nAda;1;.25;;\nBob;.5;.75\n", ("Ada", "Bob"), ("tea", "milk")),
        (
            '# by "hand"\n\n,tea,milk\nAda,1,.25\n # x\nBob,.5,.75\n',
            ("Ada", "Bob"),
            ("tea", "milk"),
        ),
        (',tea,milk\n"#1",1,.25\nBob,.5,.75\n', ("#1", "Bob"), ("tea", "milk")),
    ],
)
def test_csv_with_and_without_names(
    text: str, users: tuple[str, ...], arms: tuple[str, ...]
) -> None:
    table = read(text)
    assert table.scores.tolist() == SCORES
    assert (table.users, table.arms, table.weights) == (users, arms, None)


TWO_NAMES = st.lists(NAME, min_size=2, max_size=2, unique_by=comparable)


@given(TWO_NAMES, TWO_NAMES)
def test_csv_names_come_back_whatever_they_are(users: list[str], arms: list[str]) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["", *arms])
    for user, row in zip(users, SCORES, strict=True):
        writer.writerow([user, *row])
    table = read(text.getvalue())
    assert (table.users, table.arms) == (tuple(users), tuple(arms))
    assert table.scores.tolist() == SCORES


@pytest.mark.parametrize("text", ["0.5", "a\n0.5", "[[0.5]]", '{"scores": [[0.5]]}'])
def test_one_user_and_one_arm(text: str) -> None:
    assert read(text).scores.tolist() == [[0.5]]


def test_json_with_names_and_weights() -> None:
    content = {"scores": SCORES, "users": ["A", "B"], "arms": ["x", "y"], "weights": [3, 0.5]}
    table = read(json.dumps(content), "standard input")
    assert table.scores.tolist() == SCORES
    assert (table.users, table.arms, table.weights) == (("A", "B"), ("x", "y"), (3.0, 0.5))
    assert read(json.dumps(SCORES)).users == ("user 1", "user 2")


@given(st.lists(st.lists(st.floats(0, 1e300), min_size=3, max_size=3), min_size=1))
def test_both_formats_keep_every_digit(scores: list[list[float]]) -> None:
    text = "\n".join(",".join(map(repr, row)) for row in scores)
    for table in (read(text), read(json.dumps(scores), "scores.json")):
        np.testing.assert_array_equal(table.scores, scores)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no scores"),
        ("\n , \n", "no scores"),
        ("a,b\n", "no scores"),
        ("1,x\n1,1", "the score of arm 'arm 2' for user 'user 1' is 'x'"),
        ("a,b\n1,2\n1,", "the score of arm 'b' for user 'user 2' is ''"),
        ("1,1\nx,1", "the score of arm 'arm 1' for user 'user 2' is 'x'"),
        ("1,-0.5\n1,1", "is '-0.5': give a number from 0 to 1e+300"),
        ("1,nan\n1,1", "is 'nan'"),
        ("1,inf\n1,1", "is 'inf'"),
        ("1,2e300\n1,1", "is '2e300': give a number from 0 to 1e+300"),
        ("1,2\n3", "line 2 has 1 of the 2 cells that line 1 has, with commas between: give"),
        ("a,b,c\n1,2\n1,2", "line 2 has 2 of the 3 cells that line 1 has"),
        (",1,2\n3,4,5", "line 1 begins with an empty cell"),
        ('"1,2', "it is not CSV"),
        ("[[1", "it is not complete JSON"),
        ("[]", "no scores"),
        ("[[]]", "no scores"),
        ("[1, 2]", "not a list of lists"),
        ("{}", 'an object with "scores"'),
        ("[[true]]", "is True"),
        ("[[null]]", "is None"),
        ("[[NaN]]", "is nan"),
        ("[[1" + "0" * 400 + "]]", "give a number from 0 to 1e+300"),
        ("[[1, 2], [3]]", "has length 1"),
        ('{"scores": [[1]], "wieghts": [1]}', 'the unknown key "wieghts"'),
        ('{"scores": [[1]], "weights": 1}', "not a list of 1 numbers"),
        ('{"scores": [[1]], "weights": [0]}', "the weight 0 is not usable"),
        ('{"scores": [[1]], "weights": [1' + "0" * 400 + "]}", "is not usable"),
        ('{"scores": [[1]], "users": ["a", "b"]}', "there are 2 user names for 1 users: give one"),
        ('{"scores": [[1]], "arms": "a"}', "its arms are not a list of names"),
        (
            ",a,b\nAda,1,2\nBob,1,2\nAda,2,1",
            "the user in line 2, column 1 and the user in line 4, column 1 are both called 'Ada'",
        ),
        (
            "a,b,a\n1,2,3",
            "the arm in line 1, column 1 and the arm in line 1, column 3 are both called 'a'",
        ),
        ('{"scores": [[1], [2]], "users": ["x", "x"]}', "user 1 and user 2 are both called 'x'"),
        (",tea,milk\n\nAda,1,.2\n,.5,.7", "the user in line 4, column 1 is '', which is empty"),
        ("Ada,1,.2\n,.5,.7", "the user in line 2, column 1 is '', which is empty"),
        ("# x\n;tea;\nAda;1;.2", "the arm in line 2, column 3 is '', which is empty"),
        ('{"scores": [[1]], "users": [""]}', "the name of user 1 is '', which is empty"),
        ("tea,milk\nAda,1,.2", "line 1 has 2 of the 3 cells that line 2 has"),
        (";tea;milk\nAda;1;.2\nBob,1,.2", "line 3 has 1 of the 3 cells that line 1 has, with semi"),
        (";tea\nAda;x", "line 2, column 2: the score of arm 'tea' for user 'Ada' is 'x': give"),
        (";tea\nAda;1.000,5", "is '1.000,5'"),
        (";a;b\nAda;1,5;2\nBob;1;.5", "line 2, column 2 has a decimal comma (1,5) and line 3, co"),
        ("# tea,milk\n1,.25", "line 1 begins with #, like a comment, but has as many cells"),
        (",tea\n#1,.25\nBob,1", "line 2 begins with #, like a comment"),
        ('"a"b,c\n1,2', "expected after '\"' in line 1): mend that line"),
        (',tea\n"A\nda",1', "cannot be seen"),
        ("1 2", "no scores: give at least one user and one arm (in CSV, with commas, semi"),
        ("1 2\n3 4", "line 2, column 1: the score of arm '1 2' for user 'user 1' is '3 4'"),
    ],
)
def test_bad_files_are_one_clear_sentence(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("cannot use 'scores.csv': ")


def test_not_text() -> None:
    with pytest.raises(InputError, match="save it as CSV in UTF-8"):
        read_scores(b"\xff1", "scores.csv")
    with pytest.raises(InputError, match="save it as CSV in UTF-8"):
        read_scores("thé,lait\n1,1".encode("latin-1"), "scores.csv")


def test_unicode_text_of_excel() -> None:
    table = read_scores("\tthé\nAda\t0,5\n".encode("utf-16"), "scores.txt")
    assert (table.arms, table.scores.tolist()) == (("thé",), [[0.5]])


def test_lines_are_counted_as_editors_do() -> None:
    with pytest.raises(InputError, match="line 5, column 1: the score"):
        read("\n\r\n# comment\r1,2\nx,2\n")


def test_solve_takes_arrays_files_and_tables(tmp_path: Path) -> None:
    scores = [[1.0, 0.2], [0.3, 0.9]]
    (tmp_path / "scores.csv").write_text(",tea,milk\nAda,1,0.2\nBob,0.3,0.9\n")
    named = solve(tmp_path / "scores.csv")
    assert named.policy.tolist() == solve(scores).policy.tolist()
    assert (named.users, named.arms) == (("Ada", "Bob"), ("tea", "milk"))
    assert ">tea</td>" in named._repr_html_()
    assert solve(scores, Utilitarian()).policy.tolist() == [1.0, 0.0]


def test_weights_of_a_file_go_to_the_welfare(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text('{"scores": [[1, 0.2], [0.3, 0.9]], "weights": [1, 3]}')
    weighted = Nash(weights=(1.0, 3.0)).maximize([[1.0, 0.2], [0.3, 0.9]])
    assert solve(tmp_path / "scores.json").policy.tolist() == weighted.policy.tolist()
    assert solve(tmp_path / "scores.json", Egalitarian()).value == pytest.approx(0.6)
    gini = GeneralizedGini(sizes=(1.0, 3.0)).maximize([[1.0, 0.2], [0.3, 0.9]])
    found = solve(tmp_path / "scores.json", GeneralizedGini())
    assert found.policy.tolist() == gini.policy.tolist()
    with pytest.raises(InputError, match="'frank-wolfe' takes no weights"):
        solve(tmp_path / "scores.json", FrankWolfe())
