"""The families that learners are compared on have the sizes in their names, and winners."""

import re
from pathlib import Path

import pytest

from fairduel.environments import Environment
from fairduel.environments.people import families
from fairduel.experiments.keys import identity
from sushi_file import sushi_file

SUSHI = ("Sushi groups (10, 5)", "Sushi groups (10, 10)", "Sushi people (10, 5)")


@pytest.fixture
def no_sushi(tmp_path: Path) -> dict[str, Environment]:
    return families(tmp_path)


def check(families: dict[str, Environment]) -> None:
    for name, place in families.items():
        sizes = re.search(r"\((\d+), (\d+)\)$", name)
        assert sizes is not None
        arms, users = map(int, sizes.groups())
        first, second = place.draw(0, 100, 1), place.draw(1, 100, 1)
        assert first.preferences.shape == (users, arms, arms)
        assert first.has_winner.all()
        assert first != second


def test_families_are_what_their_names_say(no_sushi: dict[str, Environment]) -> None:
    check(no_sushi)
    assert not set(SUSHI) & set(no_sushi)


def test_families_differ_and_stay_the_same(
    no_sushi: dict[str, Environment], tmp_path: Path
) -> None:
    known = [repr(identity(place)) for place in no_sushi.values()]
    assert len(set(known)) == len(known) == 9
    assert known == [repr(identity(place)) for place in families(tmp_path).values()]


def test_sushi_is_among_them_where_it_is_found() -> None:
    found = families(sushi_file())
    check({name: found[name] for name in SUSHI})
