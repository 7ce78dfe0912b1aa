"""Users made of people who ranked: whom they are, what they prefer, what is kept of them."""

import itertools
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from fairduel import UniformOverUsers, compare
from fairduel.data import Rankings, mallows_mixture, read_rankings
from fairduel.environments import (
    Environment,
    RankedGroups,
    RankedPeople,
    groups_instance,
    people_instance,
    rankings,
)
from fairduel.errors import InputError
from fairduel.experiments import Cell
from fairduel.experiments.keys import key_of

PEOPLE = mallows_mixture([range(5), [4, 2, 0, 1, 3]], [0.5, 0.4], [2, 1], 200, seed=1)
FILE = """3
1,an unheard-of soup
2,rice
3,stew
12,12,3
5,1,2,3
4,1,3,2
3,3,2,1
"""


def tied() -> Rankings:
    """Two people with a favourite, one with two, and one who does not care."""
    return Rankings.of("xyz", [[0, 1, 2], [2, (0, 1)], [(0, 1), 2], [(0, 1, 2)]])


# Groups


def test_shares_of_the_groups_are_those_of_the_people_in_them() -> None:
    alike = Rankings.of("xyz", [[0, 1, 2], [0, 2, 1], [2, 1, 0]], counts=[5, 4, 3])
    instance = groups_instance(alike, 2, people=12)
    assert instance.users == ("cluster 1 (9 people)", "cluster 2 (3 people)")
    assert instance.arms == ("x", "y", "z")
    # 5 of 9 rank y above z, which is within the gap of 1/2.
    np.testing.assert_allclose(instance.preferences[0, 1, 2], 0.6)
    np.testing.assert_allclose(
        groups_instance(alike, 2, 12, gap=0).preferences[0, 1, 2], 5 / 9, atol=1e-15
    )
    assert instance.preferences[1, 2].tolist() == [1, 1, 0.5]


def test_groups_are_of_half_of_the_people_and_a_thousand_at_most() -> None:
    def grouped(there: int, people: int | None = None) -> int:
        everybody = mallows_mixture([range(5)], [0.3], [1], there, seed=2)
        names = groups_instance(everybody, 2, people).users
        return sum(int(name.split("(")[1].split()[0]) for name in names)

    assert grouped(100) == 50
    assert grouped(2100) == 1000
    assert grouped(100, people=70) == 70


def test_every_group_has_a_winner(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = 4  # the first 40 people that it draws have a group without one
    assert groups_instance(PEOPLE, 4, people=40, seed=seed).has_winner.all()
    monkeypatch.setattr(rankings, "ATTEMPTS", 1)
    with pytest.raises(InputError, match="of 1 times 40 people none fell into 4 groups"):
        groups_instance(PEOPLE, 4, people=40, seed=seed)


def test_people_who_never_have_a_winner_are_a_sentence() -> None:
    cycle = Rankings.of("xyz", [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    with pytest.raises(InputError, match="ask for fewer users or more people"):
        groups_instance(cycle, 1, people=3)


def test_those_who_tie_everything_are_in_no_group() -> None:
    instance = groups_instance(tied(), 2, people=3)
    assert sum("2 people" in name for name in instance.users) == 1
    with pytest.raises(InputError, match="people is 4: give a whole number from 2 to 3"):
        groups_instance(tied(), 2, people=4)


# People


def test_preferences_are_logistic_in_places() -> None:
    order = Rankings.of("wxyz", [[2, 0, (1, 3)]], counts=[4])
    instance = people_instance(order, 3, slope=0.8)
    places = [2, 3.5, 1, 3.5]
    for i, j in itertools.product(range(4), repeat=2):
        expected = 1 / (1 + math.exp(0.8 * (places[i] - places[j])))
        np.testing.assert_allclose(instance.preferences[:, i, j], expected, rtol=1e-12)
    assert instance.arms == ("w", "x", "y", "z")


def test_neighbours_and_extremes_by_default() -> None:
    instance = people_instance(Rankings.of("abcdefghij", [range(10)]), 1)
    assert instance.preferences[0, 0, [1, 9]] == pytest.approx([0.622, 0.989], abs=5e-4)


def test_people_without_one_favourite_are_not_drawn() -> None:
    for seed in range(10):
        assert set(people_instance(tied(), 2, seed=seed).winners.tolist()) == {0, 2}
    with pytest.raises(InputError) as caught:
        people_instance(tied(), 3)
    assert str(caught.value) == (
        "3 people are needed and 2 of 4 have one favourite: ask for fewer users, or give more "
        "rankings."
    )


def test_everybody_is_drawn_alike() -> None:
    # Three orders of 1, 2 and 3 people; two people are drawn without replacement.
    orders = Rankings.of("xyz", [[0, 1, 2], [1, 2, 0], [2, 0, 1]], counts=[1, 2, 3])
    winners = [people_instance(orders, 2, seed=seed).winners for seed in range(300)]
    counts = np.bincount(np.concatenate(winners))
    assert np.all(np.abs(counts - [100, 200, 300]) < 4 * math.sqrt(150))
    assert not any((pair == 0).all() for pair in winners)


# As environments


PLACES: list[Environment] = [RankedGroups(PEOPLE, 3, 60), RankedPeople(PEOPLE, 4)]


@pytest.mark.parametrize("place", PLACES)
def test_a_run_has_the_same_people_in_any_process_and_order(place: Environment) -> None:
    drawn = [place.draw(run, 100, 5) for run in range(4)]
    rankings._groups.cache_clear()
    copy = pickle.loads(pickle.dumps(place))
    assert [copy.draw(run, 999, 5) for run in reversed(range(4))] == drawn[::-1]
    assert all(a != b for a, b in itertools.combinations(drawn, 2))
    assert drawn[0] != place.draw(0, 100, 6)


def test_environments_hand_on_all_their_sizes() -> None:
    def rng() -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(9, spawn_key=(3, 0)))

    groups = groups_instance(PEOPLE, 3, 50, 0.2, rng())
    assert RankedGroups(PEOPLE, 3, 50, 0.2).draw(3, 100, 9) == groups
    assert RankedPeople(PEOPLE, 3, 0.7).draw(3, 100, 9) == people_instance(PEOPLE, 3, 0.7, rng())


def test_the_content_counts_and_not_where_it_is(tmp_path: Path) -> None:
    here, there = tmp_path / "here.soc", tmp_path / "there.soc"
    here.write_text(FILE)
    there.write_text(FILE)
    other = tmp_path / "other.soc"
    other.write_text(FILE.replace("4,1,3,2", "4,2,3,1"))
    for kind in (RankedGroups, RankedPeople):
        places = [kind(read_rankings(file), 2) for file in (here, there, other)]
        cells = [Cell(UniformOverUsers(), place, 100, 0) for place in places]
        first, same, changed = map(key_of, cells)
        assert first == same != changed


@pytest.mark.parametrize("kind", [RankedGroups, RankedPeople])
def test_results_do_not_hold_the_data(tmp_path: Path, kind: type[RankedPeople]) -> None:
    (tmp_path / "meals.soc").write_text(FILE)
    place = kind(read_rankings(tmp_path / "meals.soc"), 2)
    folder = tmp_path / "results"
    results = compare(
        UniformOverUsers(), place, 50, runs=2, folder=folder, workers=1, progress=False
    )
    assert not results.failures
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not any(b"unheard" in file.read_bytes() for file in files)
    assert "unheard" not in repr(place)


# Files and bad input


def test_files_are_read_by_their_kind(tmp_path: Path) -> None:
    (tmp_path / "meals.soc").write_text(FILE)
    assert read_rankings(tmp_path / "meals.soc").people == 12
    (tmp_path / "a.order").write_text("3 1\n0 3 2 0 1\n")
    assert read_rankings(tmp_path / "a.order").ranks.tolist() == [[1, 2, 0]]
    with pytest.raises(InputError) as caught:
        read_rankings("meals.csv")
    assert str(caught.value) == (
        "cannot use 'meals.csv': rankings are in files that end in .order (Kamishima), .soc, .soi, "
        ".toc, .toi (PrefLib): give one of these."
    )


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        (RankedGroups(PEOPLE, 0), "users is 0: give a whole number from 1 up."),
        (RankedGroups(PEOPLE, 5, 4), "people is 4: give a whole number from 5 to 200."),
        (RankedGroups(PEOPLE, 5, 201), "people is 201: give a whole number from 5 to 200."),
        (RankedGroups(PEOPLE, gap=0.5), "gap is 0.5: give a number from 0 to below 0.5."),
        (
            RankedGroups(PEOPLE, 201),
            "201 people are needed and 200 of 200 do not tie all items: ask for fewer users, or "
            "give more rankings.",
        ),
        (RankedPeople(PEOPLE, 0), "users is 0: give a whole number from 1 up."),
        (RankedPeople(PEOPLE, slope=0), "slope is 0: give a number above 0, and 1000 at most."),
    ],
)
def test_bad_settings(place: Environment, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        place.draw(0, 100, 0)
    assert str(caught.value) == sentence
