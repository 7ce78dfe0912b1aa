"""People divided into groups, and ballots with groups for users."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats, Ints
from fairduel.data import Ballots
from fairduel.data.cluster import adjusted_rand
from fairduel.data.divide import divided
from fairduel.errors import InputError
from vote_files import Reader, table


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def planted(people: int, groups: int, seed: int) -> tuple[Floats, Ints]:
    """Tastes around some means, and who belongs to which."""
    rng = np.random.default_rng(seed)
    means = 2.0 * rng.standard_normal((groups, 6))
    truth = rng.integers(0, groups, people)
    return means[truth] + 0.3 * rng.standard_normal((people, 6)), truth


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_planted_groups_are_found(groups: int) -> None:
    tastes, truth = planted(200, groups, groups)
    labels = divided(tastes, np.ones(200), groups)
    assert adjusted_rand(truth, labels) > 0.95
    sizes = np.bincount(labels)
    assert (np.diff(sizes) <= 0).all()


@given(st.integers(0, 10**6), st.integers(4, 30), st.integers(2, 6), st.booleans())
def test_never_one_alone_and_stable_under_the_order_of_rows(
    seed: int, people: int, groups: int, coarse: bool
) -> None:
    rng = np.random.default_rng(seed)
    tastes = rng.standard_normal((people, 3))
    tastes[0] = 50.0  # one who is far from all
    if coarse:
        tastes = np.round(tastes)
    sizes = rng.choice([1.0, 1.0, 2.5], people)
    shuffle = rng.permutation(people)
    try:
        labels = divided(tastes, sizes, groups)
    except InputError:
        with pytest.raises(InputError, match="ask for fewer users"):
            divided(tastes[shuffle], sizes[shuffle], groups)
        return
    assert np.bincount(labels, sizes).min() >= 2
    assert labels.max() == groups - 1
    assert np.array_equal(divided(tastes[shuffle], sizes[shuffle], groups), labels[shuffle])


def test_each_cut_is_the_best_along_its_axis() -> None:
    line = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    assert divided(line, np.ones(6), 2).tolist() == [0, 0, 0, 1, 1, 1]
    assert divided(line, np.array([1.0, 1, 1, 1, 1, 2]), 3).tolist() == [0, 0, 0, 1, 1, 2]
    with pytest.raises(InputError, match="2 groups of 2 people or more can be made, and not 3"):
        divided(line, np.ones(6), 3)


def votes_of(tastes: list[str], each: int, seed: int) -> str:
    """Votes of people who go by these orders, with one in ten turned round."""
    rng = np.random.default_rng(seed)
    lines = []
    for n, taste in enumerate(tastes):
        for _ in range(each):
            left, right = rng.choice(list("abcd"), 2, replace=False)
            first, second = sorted((left, right), key=taste.index)
            lines.append(f"p{n},{left},{right},{first if rng.random() < 0.9 else second}")
    rng.shuffle(lines)
    return "user,left,right,winner\n" + "\n".join(lines) + "\n"


def groups_in(ballots: Ballots) -> list[dict[tuple[str, str], float]]:
    return list(table(ballots).values())


def test_clusters_of_voters(read: Reader) -> None:
    tastes = ["abcd"] * 12 + ["dcba"] * 8
    text = votes_of(tastes, 20, seed=1)
    people = read(text)
    clusters = people.clustered(2)
    assert clusters.users == ("cluster 1 (12 people)", "cluster 2 (8 people)")
    assert clusters.weights().tolist() == [12.0, 8.0]
    assert np.allclose(clusters.wins().sum(axis=0), people.wins().sum(axis=0))
    first = clusters.shares()[0]
    assert first[0, 3] > 0.8
    heading, *rows = text.split("\n")[:-1]
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(rows)
        again = read("\n".join([heading, *shuffled])).clustered(2)
        assert groups_in(again) == groups_in(clusters)
    for users in (1, 21, 2.5):
        with pytest.raises(InputError, match="users is"):
            people.clustered(users)  # type: ignore[arg-type]


def test_clusters_of_orders_with_weights(read: Reader) -> None:
    ballots = read("3 1\n7 1 2 3 0\n2 1 3 2 0\n5 3 2 1 0\n1 3 1 2 0\n0\na\nb\nc\n").clustered(2)
    assert ballots.users == ("cluster 1 (9 people)", "cluster 2 (6 people)")
    assert ballots.kind == "orders"
    assert ballots.answers.tolist() == [27.0, 18.0]


def test_groups_of_a_column_are_not_clustered_again(read: Reader) -> None:
    text = "user,team,left,right,winner\nann,r,x,y,x\nbob,b,x,y,y\n"
    with pytest.raises(InputError, match="not both"):
        read(text, by="team").clustered(2)


def test_too_few_votes_are_told(read: Reader) -> None:
    text = votes_of(["abcd"] * 4 + ["dcba"] * 4, 3, seed=2)
    people = read(text)
    assert len(people.warnings) == 1
    assert people.warnings[0].startswith("a user has 3 votes (the median) for 6 pairs of options")
    assert people.clustered(2).warnings == ()


def test_blocks_cover_all_users(read: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairduel.data.ballots.BLOCK", 50)
    for text in (votes_of(["abcd"] * 9, 5, seed=3), "a,b,c,d\n" + "1,2,3,\n2,1,,4\n" * 5):
        ballots = read(text)
        parts = list(ballots.blocks())
        assert len(parts) > 2
        assert np.array_equal(np.concatenate([wins for _, wins in parts]), ballots.wins())
        assert [part.start for part, _ in parts] == list(range(0, len(ballots.users), 3))
        assert np.allclose(ballots.wins().sum(axis=(1, 2)), ballots.answers)
        both = ballots.shares() + ballots.shares().transpose(0, 2, 1)
        assert np.allclose(both, 1.0)
