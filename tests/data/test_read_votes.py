"""Files of any kind: what they are taken for, where they come from, what is refused."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairduel import Session
from fairduel.data import Ballots, example_file, read_preflib, read_votes, source
from fairduel.data.sushi import ITEMS
from fairduel.errors import InputError
from vote_files import Reader, from_stdin, table

VOTES = "user,left,right,winner\nann,x,y,x\nbob,y,x,tie\n"
PREFLIB = """\
# FILE NAME: lunch.toi
# DATA TYPE: toi
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 10
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: soup
# ALTERNATIVE NAME 2: rice
# ALTERNATIVE NAME 3: stew
7: 3,{1,2}
3: 1
"""
BLT = '3 1\n# a note\n2.5 1=2 3 0\n4 3 - 1 0 # four\n1 0\n\n0\n"soup"\nrice\n"st ""ew"\n"Lunch"\n'


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


# PrefLib and Kamishima


@pytest.mark.parametrize("name", ["lunch.toi", "lunch.txt", "lunch.toi.gz"])
def test_preflib(read: Reader, name: str) -> None:
    ballots = read(PREFLIB, name)
    assert ballots.said == "read as PrefLib's orders; for example: order 1 prefers stew to soup"
    assert ballots.people is not None
    assert ballots.people.tolist() == [7.0, 3.0]
    assert table(ballots)["order 2"] == {("soup", "rice"): 3.0, ("soup", "stew"): 3.0}
    assert table(ballots)["order 1"][("soup", "rice")] == 3.5
    rankings = read_preflib(read.folder / name)
    assert rankings.people == 10
    read.refuses(PREFLIB.replace("3: 1", "3: 4"), "in line 10, an order names item 4", name="a.toi")
    read.refuses(PREFLIB.replace(": toi", ": cat"), "of the kind 'cat'")
    read.refuses(PREFLIB, "by has no meaning for preflib", by="team")


def test_the_older_preflib_by_its_ending(read: Reader) -> None:
    ballots = read("2\n1,a\n2,b\n3,3,2\n2,1,2\n1,2,1\n", "old.soc")
    assert ballots.weights().tolist() == [2.0, 1.0]


@pytest.mark.parametrize("rotated", [False, True])
def test_the_names_in_preflibs_sushi_are_off_by_one(read: Reader, rotated: bool) -> None:
    names = ITEMS[1:] + ITEMS[:1] if rotated else ITEMS
    header = "".join(f"# ALTERNATIVE NAME {k}: {name}\n" for k, name in enumerate(names, 1))
    text = (
        "# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 10\n# NUMBER VOTERS: 2\n"
        f"# NUMBER UNIQUE ORDERS: 2\n{header}1: 1,2,3,4,5,6,7,8,9,10\n1: 2,1,3,4,5,6,7,8,9,10\n"
    )
    warnings = read(text, "sushi.soc").warnings
    assert len(warnings) == (not rotated)
    assert rotated or "off by one" in warnings[0]


def test_kamishima_by_its_ending(read: Reader) -> None:
    ballots = read("3 1\n0 3 2 0 1\n0 3 1 2 0\n", "some.order")
    assert ballots.said.endswith("order 1 prefers item 2 to item 0")
    assert table(read("3 1\n0 3 2 0 1\n0 2 1 0\n", format="kamishima"))["order 2"] == {
        ("item 1", "item 0"): 1.0,
        ("item 1", "item 2"): 1.0,
        ("item 0", "item 2"): 1.0,
    }


# BLT


@pytest.mark.parametrize("name", ["lunch.blt", "lunch", "lunch.blt.gz"])
def test_blt(read: Reader, name: str) -> None:
    ballots = read(BLT, name)
    assert ballots.options == ("soup", "rice", 'st "ew')
    assert ballots.users == ("ballot 1", "ballot 2")
    assert ballots.weights().tolist() == [2.5, 4.0]
    assert ballots.warnings == ("rows that rank nothing are left out: 1 of 3.",)
    assert table(ballots)["ballot 2"] == {
        ('st "ew', "soup"): 4.0,
        ('st "ew', "rice"): 4.0,
        ("soup", "rice"): 4.0,
    }
    assert table(ballots)["ballot 1"][("soup", "rice")] == 1.25


def test_withdrawn_options_are_gone(read: Reader) -> None:
    ballots = read("3 1\n-2\n1 1 2 3 0\n1 2 3 1 0\n0\na\nb\nc\nd\n")
    assert ballots.options == ("a", "c")
    assert table(ballots) == {"ballot 1": {("a", "c"): 1.0}, "ballot 2": {("c", "a"): 1.0}}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2.5 1", "-2.5 1", "in line 3"),
        ("2.5 1", "x 1", "in line 3, the weight is 'x'"),
        ("2.5 1", "inf 1", "in line 3, the weight is 'inf'"),
        ("1=2 3 0", "1=2 3", "in line 3, the ballot has no 0"),
        ("1=2 3 0", "1=1 3 0", "in line 3, an order names item 1 twice"),
        ("1=2 3 0", "1=4 3 0", "in line 3, an order names item 4"),
        ("1=2 3 0", "1=x 3 0", "in line 3, an option is 'x'"),
        ("\n\n0\n", "\n\n", "in line 7, the weight"),
        ('rice\n"st ""ew"\n"Lunch"\n', "", "3 options and 1 names from line 8 on"),
        ("3 1\n", "3\n", "in line 1"),
        ("3 1\n", "9999 1\n", "in line 1, there are 9,999 options"),
        ("3 1\n", "3 1\n-4\n", "in line 2, an order names item 4"),
    ],
)
def test_bad_blt(read: Reader, old: str, new: str, words: str) -> None:
    assert old in BLT
    read.refuses(BLT.replace(old, new), words, format="blt")
    read.refuses("2 1\n1 1 2 0\n", "no line 0 after the ballots")
    read.refuses("2 1\n0\na\nb\n", "no ballots")


# What fairduel writes


@pytest.mark.parametrize("way", ["save", "keep"])
def test_a_session_can_be_read_again(tmp_path: Path, way: str) -> None:
    session = Session(["ann", "bob", "cem"], ["x", "y", "z"], seed=1)
    path = tmp_path / "session"
    if way == "keep":
        session.keep(path)
    for n in range(20):
        duel = session.ask()
        answers = {"ann": duel.left, "bob": ["tie", duel.right][n % 2], "cem": "skip"}
        session.tell(duel, {"ann": answers.pop("ann")})
        session.tell(duel, answers)
    if way == "save":
        session.save(path)
    ballots = read_votes(path)
    assert ballots.users == session.users
    assert ballots.options == session.arms
    assert np.array_equal(ballots.wins(), session._votes.tally.wins)
    assert ballots.said.startswith("read as the votes of a session; for example: ann prefers")
    if way == "keep":
        with path.open("ab") as file:
            file.write(b'{"asked": 21')  # cut off by a crash
        assert np.array_equal(read_votes(path).wins(), session._votes.tally.wins)


def test_a_session_without_votes_or_with_damage(read: Reader, tmp_path: Path) -> None:
    Session(["ann", "bob"], ["x", "y"], seed=1).save(tmp_path / "new.json")
    text = (tmp_path / "new.json").read_text()
    read.refuses(text, "no votes yet")
    read.refuses(text.replace('"users"', '"people"'), "is damaged")
    read.refuses(text[:-20], "is damaged")
    read.refuses(text.replace('"version": 1', '"version": 2'), "update fairduel")


# Where it comes from


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, pack: type[bytes]) -> None:
    ballots = from_stdin(pack(VOTES.encode()), monkeypatch)
    assert table(ballots)["ann"] == {("x", "y"): 1.0}
    assert not sys.stdin.closed
    assert not sys.stdin.buffer.closed
    with pytest.raises(InputError, match="cannot use 'standard input': it is empty"):
        from_stdin(b"", monkeypatch)


def test_a_real_pipe() -> None:
    code = "from fairduel.data import read_votes as r; b = r('-', progress=print); print(b.said)"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, input=gzip.compress(VOTES.encode()), capture_output=True, check=True)
    assert b"ann prefers x to y" in done.stdout


@pytest.mark.parametrize("name", ["votes.csv", "votes.csv.gz"])
def test_progress_counts_the_bytes_of_the_file(
    read: Reader, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE", 100)
    told: list[int] = []
    read(VOTES + "ann,x,y,x\n" * 5000, name, progress=told.append)
    assert sum(told) == (read.folder / name).stat().st_size
    assert min(told) >= 0
    assert len(told) > 100


# Bad input

BAD = {
    "empty": (b"", "it is empty"),
    "blank": (b" \n\n", "it is empty"),
    "only a mark": (b"\xef\xbb\xbf", "it is empty"),
    "commas": (b",,\n,,\n", "it is empty"),
    "not UTF-8": (VOTES.encode() + b"z\xfcrich,x,y,x\n", "line 4 is not text in UTF-8"),
    "NUL": (VOTES.encode() + b"c\0m,x,y,x\n", "line 4 has a NUL byte"),
    "cut gzip": (gzip.compress(VOTES.encode() * 99)[:-20], "gzip that was cut off or damaged"),
    "damaged gzip": (b"\x1f\x8b\x08\x00" + b"x" * 50, "gzip that was cut off or damaged"),
    "spreadsheet": (b"PK\x03\x04rest", "save it as CSV"),
}


@pytest.mark.parametrize(("data", "words"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("piece", [64, 1 << 20])
def test_what_is_no_text(
    read: Reader, data: bytes, words: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PIECE", piece)
    read.refuses(data, words)


def test_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.csv", tmp_path, ""):
        with pytest.raises(InputError, match=r"^cannot read .*: give the name of a file"):
            read_votes(path)


TEXTS = [VOTES, PREFLIB, BLT, "name,x,y\nann,1,2\nbob,2,1\n", '[{"user": 1, "left": "x"}]']


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(TEXTS),
    st.integers(0, 200),
    st.integers(0, 9),
    st.one_of(st.binary(max_size=4), st.text('0123=,;"{}[]# \n\t', max_size=5).map(str.encode)),
)
def test_damage_is_told_or_harmless(
    read: Reader, text: str, place: int, cut: int, put: bytes
) -> None:
    data = text.encode()
    try:
        ballots = read(data[:place] + put + data[place + cut :], "votes")
    except InputError:
        return
    assert len(ballots.users) >= 2
    assert np.isfinite(ballots.wins()).all()


# Examples


@pytest.mark.parametrize("name", ["team-lunch.csv", "offsite-form.csv", "book-club.blt"])
def test_the_examples_are_good(name: str) -> None:
    ballots = read_votes(example_file(name))
    assert isinstance(ballots, Ballots)
    assert ballots.warnings == ()
    assert len(ballots.options) == 4
    with pytest.raises(InputError, match=f"no example .*: did you mean '{name}'"):
        example_file(name[:-1])


def test_importing_the_readers_is_light() -> None:
    code = "import sys, fairduel.data; print({'numba', 'scipy', 'pyarrow'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "set()\n"


def test_standard_input_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(VOTES.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    read_votes("-")
    assert stdin.read() == ""
