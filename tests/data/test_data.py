"""Rankings, and the files that they come from."""

import copy
import doctest
import importlib
import itertools
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairduel.data import (
    DataMissing,
    Rankings,
    find_sushi,
    load_sushi,
    read_kamishima,
    read_preflib,
)
from fairduel.data.sushi import FILE, ITEMS, user_folder
from fairduel.errors import InputError
from sushi_file import sushi_file

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return written


@st.composite
def some_rankings(draw: st.DrawFn, ties: bool = True, partial: bool = True) -> Rankings:
    items = draw(st.integers(1, 6))
    orders = []
    for _ in range(draw(st.integers(1, 5))):
        order = draw(st.permutations(range(items)))
        kept = order[: draw(st.integers(1, items))] if partial else order
        cuts = [k for k in range(1, len(kept)) if not ties or draw(st.booleans())]
        pieces = itertools.pairwise([0, *cuts, len(kept)])
        orders.append([tuple(kept[start:end]) for start, end in pieces])
    counts = draw(st.lists(st.integers(1, 9), min_size=len(orders), max_size=len(orders)))
    return Rankings.of([f"item {k}" for k in range(items)], orders, counts)


# Rankings


def test_orders_become_ranks() -> None:
    rankings = Rankings.of(["a", "b", "c", "d"], [[3, (0, 2)], [1]], counts=[2, 5])
    assert rankings.ranks.tolist() == [[1, -1, 1, 0], [-1, 0, -1, -1]]
    assert rankings.counts.tolist() == [2, 5]
    assert rankings.people == 7
    assert repr(rankings) == "Rankings(7 people, 2 orders, 4 items)"


def test_unranked_items_are_tied_at_the_bottom() -> None:
    rankings = Rankings.of("abcd", [[3, (0, 2)], [1], [0, 1, 2, 3]])
    assert rankings.positions.tolist() == [[2.5, 4, 2.5, 1], [3, 1, 3, 3], [1, 2, 3, 4]]


@given(some_rankings())
def test_positions_are_average_ranks(rankings: Rankings) -> None:
    from scipy.stats import rankdata

    below = np.where(rankings.ranks < 0, 99, rankings.ranks)
    assert np.array_equal(rankings.positions, rankdata(below, axis=1))


@given(some_rankings())
def test_shares_count_people(rankings: Rankings) -> None:
    everyone = rankings.individuals()
    assert everyone.people == len(everyone.ranks) == rankings.people
    for i, j in itertools.product(range(len(rankings.items)), repeat=2):
        votes = [
            1.0 if row[i] < row[j] else 0.5 if row[i] == row[j] else 0.0
            for row in everyone.positions
        ]
        assert rankings.shares[i, j] == pytest.approx(np.mean(votes), abs=1e-12)
    assert np.allclose(rankings.shares, everyone.shares, atol=1e-12)
    assert np.allclose(rankings.shares + rankings.shares.T, 1, atol=1e-12)


@given(some_rankings(), st.integers(0, 5), st.data())
def test_a_sample_is_a_part(rankings: Rankings, seed: int, data: st.DataObject) -> None:
    people = data.draw(st.integers(1, rankings.people))
    part = rankings.sample(people, seed)
    assert part.people == people
    assert part == rankings.sample(people, seed)
    assert rankings.sample(rankings.people, seed) == rankings
    left = {row.tobytes(): 0 for row in rankings.ranks}
    for row, count in zip(rankings.ranks, rankings.counts, strict=True):
        left[row.tobytes()] += count
    for row, count in zip(part.ranks, part.counts, strict=True):
        left[row.tobytes()] -= count
    assert min(left.values()) >= 0


def test_a_sample_draws_people_not_orders() -> None:
    rankings = Rankings.of("ab", [[0, 1], [1, 0]], counts=[9000, 1000])
    drawn = [rankings.sample(100, seed).shares[0, 1] for seed in range(200)]
    # Hypergeometric: a standard deviation of 0.03 for each, 0.0021 for the mean of 200.
    assert np.mean(drawn) == pytest.approx(0.9, abs=0.0085)
    assert np.std(drawn) == pytest.approx(0.03, rel=0.25)


@given(some_rankings())
def test_copies_are_equal_and_frozen(rankings: Rankings) -> None:
    for twin in (pickle.loads(pickle.dumps(rankings)), copy.deepcopy(rankings)):
        assert twin == rankings
        assert hash(twin) == hash(rankings)
        with pytest.raises(ValueError, match="read-only"):
            twin.ranks[0, 0] = 1
        with pytest.raises(ValueError, match="read-only"):
            twin.counts[0] = 1


def test_differences_matter() -> None:
    rankings = Rankings.of("ab", [[0, 1], [1, 0]])
    assert rankings != Rankings.of("ab", [[1, 0], [0, 1]])
    assert rankings != Rankings.of("ab", [[0, 1], [1, 0]], counts=[1, 2])
    assert rankings != Rankings.of("xy", [[0, 1], [1, 0]])
    assert rankings != "rankings"
    assert rankings.rows(np.array([1, 0])) == Rankings.of("ab", [[1, 0], [0, 1]])


WRONG_RANKINGS: list[tuple[str, Callable[[], object]]] = [
    (
        r"in orders\[1\], an order names item 3, which does not exist",
        lambda: Rankings.of("ab", [[0], [3]]),
    ),
    (r"in orders\[0\], an order names item -1, which", lambda: Rankings.of("ab", [[-1]])),
    (r"an order names item 'a', which does not exist", lambda: Rankings.of("ab", [["a"]])),  # type: ignore[list-item]
    (r"an order names item 0\.5, which does not exist", lambda: Rankings.of("ab", [[0.5]])),  # type: ignore[list-item]
    (r"an order names item 1 twice", lambda: Rankings.of("ab", [[1, (0, 1)]])),
    (r"ranks\[0\] is \[-1, -1\]: ranks have to start", lambda: Rankings.of("ab", [[]])),
    (r"ranks\[0\] is \[0, 2, -1\]: ranks have to", lambda: Rankings("abc", [[0, 2, -1]])),
    (r"ranks\[1\] is \[0, -2\]", lambda: Rankings("ab", [[0, 1], [0, -2]])),
    (r"ranks\[0\] is \[0, 2\]", lambda: Rankings("ab", [[0, 2]])),
    (r"ranks have shape \(0,\)", lambda: Rankings.of("ab", [])),
    (r"no items are given", lambda: Rankings([], [[]])),
    (r"ranks have shape \(1, 3\)", lambda: Rankings("ab", [[0, 1, 2]])),
    (r"rows of different lengths", lambda: Rankings("ab", [[0, 1], [0]])),
    (r"ranks have to be whole numbers", lambda: Rankings("ab", [[0.0, 1.0]])),
    (r"counts have to be 1 whole numbers", lambda: Rankings("ab", [[0, 1]], [0])),
    (r"counts have to be 1 whole numbers", lambda: Rankings("ab", [[0, 1]], [1.5])),
    (r"counts have to be 1 whole numbers", lambda: Rankings("ab", [[0, 1]], [1, 1])),
    (r"item 1 and item 3 are both called 'a'", lambda: Rankings("aba", [[0, 1, 2]])),
    (r"the name of item 2 is '', which is empty", lambda: Rankings(["a", ""], [[0, 1]])),
    (r"people is 3: give a whole number from 1 to 2,", lambda: Rankings("a", [[0]], [2]).sample(3)),
    (r"people is 1\.5: give a whole", lambda: Rankings("a", [[0]], [2]).sample(1.5)),  # type: ignore[arg-type]
    (r"a sample needs fewer", lambda: Rankings("a", [[0]], [10**9]).sample(1)),
]


@pytest.mark.parametrize(("message", "make"), WRONG_RANKINGS)
def test_wrong_rankings(message: str, make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=message):
        make()


# Kamishima's format


def test_kamishima(write: Write) -> None:
    path = write("some.order", "3 1\n0 3 2 0 1\n0 2 1 0\n")
    expected = Rankings.of(["item 0", "item 1", "item 2"], [[2, 0, 1], [1, 0]])
    assert read_kamishima(path) == expected
    assert read_kamishima(str(path), "xyz") == Rankings("xyz", expected.ranks)
    dos = write("dos.order", "3 1\r\n0 3 2 0 1\r\n0 2 1 0\r\n\r\n")
    assert read_kamishima(dos) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("3 1\n", "holds no order"),
        ("3\n0 3 2 0 1\n", "in line 1, the header is '3'"),
        ("3 2\n0 3 2 0 1\n", "in line 1, the header is '3 2'"),
        ("3 1 1\n0 3 2 0 1\n", "in line 1, the header is"),
        ("three 1\n0 3 2 0 1\n", "in line 1, the number of items is 'three'"),
        ("-3 1\n0 3 2 0 1\n", "in line 1, the number of items is '-3'"),
        ("\u0663 1\n0 3 2 0 1\n", "in line 1, the number of items is"),
        ("0 1\n0 1 0\n", "in line 1, the number of items is 0"),
        ("999999999 1\n0 1 0\n", "in line 1, the number of items is 999999999"),
        ("# FILE NAME: x.soc\n", "in line 1, the header is"),
        ("3 1\n0 3 2 0 1\n0 3 2 0\n", "in line 3, 3 items are announced and 2 follow"),
        ("3 1\n0 2 2 0 1\n", "in line 2, 2 items are announced and 3 follow"),
        ("3 1\n0 3 2 0 3\n", "in line 2, an order names item 3, which does not exist"),
        ("3 1\n0 3 2 0 2\n", "in line 2, an order names item 2 twice"),
        ("3 1\n1 3 2 0 1\n", "in line 2, the order is '1 3 2 0 1'"),
        ("3 1\n0 3 2 0 1\n\n0 3 2 0 1\n", "in line 3, the order is ''"),
        ("3 1\n0 0\n", "in line 2, the order is '0 0'"),
        ("3 1\n0 3 2 0 x\n", "in line 2, an item is 'x'"),
        ("3 1\n0 3 2 0 1.0\n", r"in line 2, an item is '1\.0'"),
        ("3 1\n0 3 2 0 " + "1" * 5000 + "\n", r"in line 2, an item is '1+\.\.\.'"),
        (b"\xff\xfe\x00binary", "line 1 is not text in UTF-8"),
        (b"PK\x03\x04\x00\x00", "it is a zip archive"),
        ("3 1\n0 3 2 0 1\n0 3 2\0 0 1\n", "line 3 has a NUL byte"),
    ],
)
def test_malformed_kamishima(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"cannot use '.*bad\.order': .*{message}") as caught:
        read_kamishima(write("bad.order", content))
    assert len(str(caught.value)) < 400


def test_kamishima_needs_a_name_for_each_item(write: Write) -> None:
    path = write("some.order", "3 1\n0 3 2 0 1\n")
    with pytest.raises(InputError, match="ranks 3 items and 2 names were given"):
        read_kamishima(path, "xy")


# PrefLib

HEADER = """\
# FILE NAME: lunch.{kind}
# TITLE: Lunch: what to cook
# DATA TYPE: {kind}
# MODIFICATION TYPE: synthetic
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 10
# NUMBER UNIQUE ORDERS: 2
# ALTERNATIVE NAME 1: soup: hot, or not
# ALTERNATIVE NAME 2: riz au lait \u00e0 la cr\u00e8me
# ALTERNATIVE NAME 3: stew\u2028pot
"""
NAMES = ["soup: hot, or not", "riz au lait \u00e0 la cr\u00e8me", "stew pot"]

SMALL: list[tuple[str, str, list[Any]]] = [
    ("soc", "7: 3,1,2\n3: 1,2,3\n", [[2, 0, 1], [0, 1, 2]]),
    ("soi", "7: 3\n3: 1, 2\n", [[2], [0, 1]]),
    ("toc", "7: 3,{1,2}\n3: { 1 , 2,3 }\n", [[2, (0, 1)], [(0, 1, 2)]]),
    ("toi", "7: {1,2}\n3: 3, {2}\n", [[(0, 1)], [2, 1]]),
]


@pytest.mark.parametrize(("kind", "orders", "expected"), SMALL)
def test_preflib(write: Write, kind: str, orders: str, expected: list[Any]) -> None:
    text = HEADER.format(kind=kind) + orders
    rankings = Rankings.of(NAMES, expected, counts=[7, 3])
    assert read_preflib(write(f"lunch.{kind}", text)) == rankings
    # The file knows its kind; its name need not. Line ends and a byte order mark do not matter.
    other = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() + b"\r\n"
    assert read_preflib(str(write("lunch.txt", other))) == rankings
    untold = text.replace(f"# DATA TYPE: {kind}\n", "")
    assert read_preflib(write(f"LUNCH.{kind.upper()}", untold)) == rankings


@pytest.mark.parametrize(("kind", "orders", "expected"), SMALL)
def test_older_preflib(write: Write, kind: str, orders: str, expected: list[Any]) -> None:
    names = "".join(f"{label},{name}\n" for label, name in enumerate(NAMES, 1))
    text = f"3\n{names}10,10,2\n" + orders.replace(": ", ",")
    rankings = Rankings.of(NAMES, expected, counts=[7, 3])
    assert read_preflib(write(f"lunch.{kind}", text)) == rankings


def as_preflib(rankings: Rankings, kind: str, old: bool) -> str:
    """What PrefLib's file of these rankings would look like."""
    numbered = list(enumerate(rankings.items, 1))
    if old:
        lines = [str(len(rankings.items)), *(f"{label},{name}" for label, name in numbered)]
        lines += [f"{rankings.people},{rankings.people},{len(rankings.ranks)}"]
    else:
        lines = [
            f"# DATA TYPE: {kind}",
            f"# NUMBER ALTERNATIVES: {len(rankings.items)}",
            f"# NUMBER VOTERS: {rankings.people}",
            f"# NUMBER UNIQUE ORDERS: {len(rankings.ranks)}",
            *(f"# ALTERNATIVE NAME {label}: {name}" for label, name in numbered),
        ]
    for row, count in zip(rankings.ranks, rankings.counts, strict=True):
        groups = [[str(item + 1) for item in np.flatnonzero(row == rank)] for rank in range(99)]
        order = ",".join(
            f"{{{','.join(tied)}}}" if tied[1:] else tied[0] for tied in groups if tied
        )
        lines.append(f"{count}{',' if old else ': '}{order}")
    return "\n".join(lines) + "\n"


@given(kind=st.sampled_from(["soc", "soi", "toc", "toi"]), old=st.booleans(), data=st.data())
def test_preflib_round_trip(
    tmp_path_factory: pytest.TempPathFactory, kind: str, old: bool, data: st.DataObject
) -> None:
    rankings = data.draw(some_rankings(ties=kind[0] == "t", partial=kind[2] == "i"))
    path = tmp_path_factory.getbasetemp() / f"round.{kind}"
    path.write_text(as_preflib(rankings, kind, old), encoding="utf-8")
    assert read_preflib(path) == rankings


GOOD = HEADER.format(kind="soc") + "7: 3,1,2\n3: 1,2,3\n"
OLD = "3\n1,a\n2,b\n3,c\n10,10,2\n7,3,1,2\n3,1,2,3\n"

MALFORMED = [
    ("bad.soc", "", "it is empty"),
    ("bad.soc", b"\x80\x81", "line 1 is not text in UTF-8"),
    ("bad.soc", b"PK\x03\x04\x00\x00", "it is a zip archive"),
    ("bad.soc", "hello\n", "in line 1, the number of items is 'hello'"),
    ("bad.soc", GOOD.replace("VOTERS: 10", "VOTERS: 11"), "says 11 people and it holds 10"),
    ("bad.soc", GOOD.replace("ORDERS: 2", "ORDERS: 3"), "says 3 different orders and it holds 2"),
    ("bad.soc", GOOD[:-9], "says 2 different orders and it holds 1"),
    ("bad.soc", GOOD[:-3], "in line 12, item 3 is missing, and .soc needs every item"),
    ("bad.soc", GOOD[:-2], "in line 12, '3: 1,2,' is no order"),
    ("bad.soc", GOOD[: GOOD.index("VOTERS")], "in line 6, the header has '# NUMBER'"),
    ("bad.soc", GOOD[: GOOD.index("# ALT")], "3 items and 0 names"),
    ("bad.soc", HEADER.format(kind="soc"), "says 2 different orders and it holds 0"),
    (
        "bad.soc",
        GOOD.replace("1,2,3", "1,2,4"),
        "in line 12, an order names item 4, which does not exist",
    ),
    (
        "bad.soc",
        GOOD.replace("1,2,3", "0,1,2"),
        "in line 12, an order names item 0, which does not exist",
    ),
    ("bad.soc", GOOD.replace("1,2,3", "1,2,2"), "in line 12, an order names item 2 twice"),
    ("bad.soc", GOOD.replace("1,2,3", "1,{2,3}"), "in line 12, there is a tie, which .soc does"),
    ("bad.soc", GOOD.replace("1,2,3", "1,{2,3"), "in line 12, .* is no order"),
    ("bad.soc", GOOD.replace("1,2,3", "1,{},2,3"), "in line 12, .* is no order"),
    ("bad.soc", GOOD.replace("1,2,3", "1,-2,3"), "in line 12, .* is no order"),
    ("bad.soc", GOOD.replace("1,2,3", "soup"), "in line 12, .* is no order"),
    ("bad.soc", GOOD.replace("1,2,3", "9" * 5000), r"in line 12, '3: 9+\.\.\.' is no order"),
    ("bad.soc", GOOD.replace("3: 1,2,3", "3; 1,2,3"), "in line 12, .* is no order"),
    ("bad.soc", GOOD.replace("3: 1,2,3", "# A: b"), "in line 12, '# A: b' is no order"),
    ("bad.soc", GOOD.replace("3: 1,2,3", "0: 1,2,3"), "in line 12, the number of people is 0"),
    ("bad.soc", GOOD.replace("TYPE: soc", "TYPE: cat"), "of the kind 'cat'"),
    ("bad.soc", GOOD.replace("# NUMBER VOTERS: 10\n", ""), "no '# NUMBER VOTERS: ...'"),
    ("bad.soc", GOOD.replace("VOTERS: 10", "VOTERS: ten"), "NUMBER VOTERS is 'ten'"),
    ("bad.soc", GOOD.replace("VES: 3", "VES: 4"), "4 items and 3 names"),
    ("bad.soc", GOOD.replace("VES: 3", "VES: 2"), "2 items and 3 names"),
    ("bad.soc", GOOD.replace("VES: 3", "VES: 0"), "NUMBER ALTERNATIVES is 0"),
    ("bad.soc", GOOD.replace("NAME 3", "NAME 4"), "3 items and 3 names"),
    ("bad.soc", GOOD.replace("NAME 3", "NAME 2"), "in line 10, the header has .* each key once"),
    ("bad.soc", GOOD.replace("FILE NAME:", "FILE NAME"), "in line 1, the header has"),
    (
        "bad.soc",
        GOOD.replace("stew\u2028pot", NAMES[0]),
        "item 1 and item 3 are both called 'soup: .*'",
    ),
    ("bad.soc", GOOD.replace("stew\u2028pot", ""), "the name of item 3 is '', which is empty"),
    ("bad.csv", OLD, "of the kind 'csv'"),
    ("bad", OLD, "of the kind ''"),
    ("bad.soc", OLD.replace("3\n1,", "0\n1,"), "in line 1, the number of items is 0"),
    ("bad.soc", OLD.replace("3\n1,", "4\n1,"), "in line 5, the item is '10,10,2'"),
    ("bad.soc", OLD.replace("3\n1,", "2\n1,"), "in line 4, a total is 'c'"),
    ("bad.soc", OLD.replace("3\n1,", "999999999\n1,"), "ends before its 999999999 items"),
    ("bad.soc", OLD.replace("2,b", "5,b"), "in line 3, the item is '5,b'"),
    ("bad.soc", OLD.replace("10,10,2", "10,10"), "in line 5, there are 2 totals"),
    ("bad.soc", OLD.replace("10,10,2", "10,11,2"), "says 11 people and it holds 10"),
    ("bad.soc", OLD.replace("10,10,2", "10,10,1"), "says 1 different orders and it holds 2"),
    ("bad.soc", OLD.replace("7,3", "7:3"), "in line 6, .* is no order"),
    ("bad.soc", OLD[:20], "ends before|in line|holds"),
]


@pytest.mark.parametrize(("name", "content", "message"), MALFORMED)
def test_malformed_preflib(write: Write, name: str, content: str | bytes, message: str) -> None:
    assert name != "bad.soc" or content not in (GOOD, OLD)
    path = write(name, content)
    with pytest.raises(InputError, match=rf"cannot use '.*{name}': .*({message})") as caught:
        read_preflib(path)
    assert len(str(caught.value)) < 400


def test_the_files_that_were_damaged_are_good(write: Write) -> None:
    assert read_preflib(write("good.soc", GOOD)).people == 10
    assert read_preflib(write("old.soc", OLD)).people == 10


@settings(max_examples=300)
@given(
    st.sampled_from([GOOD, OLD, "3 1\n0 3 2 0 1\n0 2 1 0\n"]),
    st.integers(0, 400),
    st.integers(0, 6),
    st.one_of(st.binary(max_size=4), st.text("0123456789,:{}# \n", max_size=4).map(str.encode)),
)
def test_damage_is_told_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, text: str, place: int, cut: int, put: bytes
) -> None:
    data = text.encode()
    path = tmp_path_factory.getbasetemp() / "damaged.soc"
    path.write_bytes(data[:place] + put + data[place + cut :])
    for read in (read_preflib, read_kamishima):
        try:
            rankings = read(path)
        except InputError:
            continue
        assert rankings.people >= 1


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    for read in (read_preflib, read_kamishima):
        with pytest.raises(InputError, match=r"cannot read .*nowhere"):
            read(tmp_path / "nowhere.soc")


# Sushi


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any data."""
    monkeypatch.delenv("FAIRDUEL_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "home" / "fairduel").mkdir(parents=True)
    return tmp_path / "home" / "fairduel"


def test_missing_data_tell_where_to_get_them(
    at_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataMissing) as caught:
        load_sushi()
    told = str(caught.value)
    for part in ("https://www.kamishima.net/sushi/", FILE, str(at_home), "FAIRDUEL_DATA"):
        assert part in told
    assert "not to be passed on" in told
    assert isinstance(caught.value, InputError)
    monkeypatch.setenv("FAIRDUEL_DATA", str(tmp_path / "mine"))
    with pytest.raises(DataMissing, match=r"not in '.*mine' or '.*fairduel'"):
        find_sushi()
    with pytest.raises(DataMissing, match=r"not in '.*given\.order': download"):
        find_sushi(tmp_path / "given.order")


def test_where_the_data_are_found(
    at_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (at_home / FILE).write_text("at home")
    assert find_sushi() == at_home / FILE
    mine = tmp_path / "mine"
    mine.mkdir()
    monkeypatch.setenv("FAIRDUEL_DATA", str(mine))
    assert find_sushi() == at_home / FILE
    (mine / FILE).write_text("mine")
    assert find_sushi() == mine / FILE
    given_file = tmp_path / "renamed.txt"
    given_file.write_text("given")
    assert find_sushi(given_file) == given_file
    assert find_sushi(str(at_home)) == at_home / FILE
    monkeypatch.setenv("FAIRDUEL_DATA", "")
    assert find_sushi() == at_home / FILE


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "~/.local/share/fairduel"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/fairduel"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "~/Library/Application Support/fairduel"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/fairduel"),
        ("win32", {}, "~/AppData/Local/fairduel"),
    ],
)
def test_the_folder_of_a_user(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert user_folder() == Path(expected).expanduser()


def test_only_the_original_is_taken(write: Write) -> None:
    path = write(FILE, "10 1\n0 10 0 1 2 3 4 5 6 7 8 9\n")
    with pytest.raises(InputError, match=r"not the original Sushi file \(its sha256 is") as caught:
        load_sushi(path)
    # It is there, so nothing should be put in its place.
    assert not isinstance(caught.value, DataMissing)


def test_the_facts_about_sushi() -> None:
    sushi = load_sushi(sushi_file())
    assert sushi.items == ITEMS
    assert sushi.ranks.shape == (5000, 10)
    assert sushi.people == 5000
    assert np.array_equal(np.sort(sushi.ranks, axis=1), np.tile(np.arange(10), (5000, 1)))
    assert len(np.unique(sushi.ranks, axis=0)) == 4926
    first = np.bincount(sushi.ranks.argmin(axis=1))
    assert first.tolist() == [458, 550, 404, 228, 747, 545, 206, 1713, 113, 36]
    toro = ITEMS.index("toro")
    assert (np.delete(sushi.shares[toro], toro) > 0.5).all()


def test_one_changed_byte_of_sushi_is_noticed(tmp_path: Path) -> None:
    data = bytearray(sushi_file().read_bytes())
    data[-1:] = b" \n"
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(InputError, match="not the original"):
        load_sushi(tmp_path)


def test_tests_without_the_data_skip_or_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sushi_file.BESIDE_THE_PROJECT", tmp_path / "beside")
    monkeypatch.setenv("FAIRDUEL_DATA", str(tmp_path))
    monkeypatch.delenv("FAIRDUEL_REQUIRE_DATA", raising=False)
    with pytest.raises(pytest.skip.Exception, match="is not there"):
        sushi_file()
    monkeypatch.setenv("FAIRDUEL_REQUIRE_DATA", "1")
    with pytest.raises(pytest.fail.Exception, match="is not there"):
        sushi_file()
    (tmp_path / FILE).touch()
    assert sushi_file() == tmp_path / FILE


def test_the_data_are_no_part_of_the_project() -> None:
    root = Path(__file__).parents[2]
    assert not list(root.rglob(FILE))


# The package


@pytest.mark.parametrize("name", ["", ".rankings", ".cluster", ".mallows"])
def test_examples_in_the_documentation(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"fairduel.data{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_import_is_light() -> None:
    code = "import sys, fairduel.data; print('scipy' in sys.modules, 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False False\n"
