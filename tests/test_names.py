"""Names: readable, and no two that people would take for the same."""

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fairduel._names import check_names, comparable
from fairduel.data.rankings import Rankings
from fairduel.data.scores import read_scores
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.live import Session

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "Zoé") for form in ("NFC", "NFD"))

GOOD = [
    "ann",
    "Ann",
    COMPOSED,
    "寿司",
    "علی",
    "می‌روم",
    "👩‍💻",
    "❤️",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "[bold]x[/bold]",
    "a, b; c",
]


def test_names_of_all_languages_are_kept_as_they_are() -> None:
    assert check_names("user", GOOD) == tuple(GOOD)
    assert check_names("user", [DECOMPOSED]) == (DECOMPOSED,)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["ann", "ann "], "the name of user 2 is 'ann ', with a blank before or after: leave the"),
        (["ann", "\u00a0bob"], "the name of user 2 is .* with a blank"),
        ([COMPOSED, DECOMPOSED], r"user 1 and user 2 are called 'Zo\\xe9' and 'Zoe\\u0301', which"),
        (["ann lee", "ann  lee"], "user 1 and user 2 are called 'ann lee' and 'ann  lee', which"),
        (["ann lee", "ann\u00a0lee"], "which read the same: give every user a name of its own"),
        (["ann", "an\u200dn"], "which read the same"),
        (["❤", "❤\ufe0f"], "which read the same"),
        (["an\u200bn"], r"is 'an\\u200bn', where '\\u200b' cannot be seen: leave it out"),
        (["\ufeffann"], "cannot be seen"),
        (["an\u00adn"], "cannot be seen"),
        (["\u202eann"], "cannot be seen"),
        (["a\nb"], r"where '\\n' cannot be seen"),
        (["\x1b[31mred"], "cannot be seen"),
        (["a\u2028b"], "cannot be seen"),
        (["\u3164"], "cannot be seen"),
        (["\ud800"], "cannot be seen"),
        (["\u200d"], "which is empty: give it a name"),
        (["ann", None], "the name of user 2 is None: give a text"),
    ],
)
@pytest.mark.parametrize(
    "give",
    [
        lambda names: check_names("user", names),
        lambda names: Session(names, ["tea", "milk"]),
        lambda names: Instance(np.full((len(names), 1, 1), 0.5), users=names),
    ],
    ids=["alone", "session", "instance"],
)
def test_names_that_people_cannot_tell_apart(
    give: Callable[[list[Any]], object], names: list[Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        give(names)


def test_every_door_has_the_same_guard() -> None:
    pair = [COMPOSED, DECOMPOSED]
    text = f",{','.join(pair)}\nAda,1,0.5\n".encode()
    for read in (
        lambda: Rankings(pair, [[0, 1]]),
        lambda: Session(["ann"], pair),
        lambda: Instance(np.full((1, 2, 2), 0.5), arms=pair),
        lambda: read_scores(text, "scores.csv"),
    ):
        with pytest.raises(InputError, match="which read the same"):
            read()


def test_comparing_ignores_what_cannot_be_seen_only() -> None:
    assert comparable(DECOMPOSED) == comparable(COMPOSED) == COMPOSED
    assert comparable(" ann \t lee ") == "ann lee"
    assert comparable("Ann") != comparable("ann")
    assert comparable("x²") != comparable("x2")


def test_many_names_are_quick() -> None:
    names = [f"user {number}" for number in range(100_000)]
    assert len(check_names("user", names)) == len(names)


@pytest.mark.parametrize("name", ["tie", "Tie", "TIE", "skip", "Skip"])
def test_an_arm_cannot_be_called_like_an_answer(name: str) -> None:
    with pytest.raises(InputError, match=f"an arm is called '{name}', but '{name.lower()}' is an"):
        Session(["ann"], ["tea", name])
    assert Session([name], ["tea", "milk"]).users == (name,)
