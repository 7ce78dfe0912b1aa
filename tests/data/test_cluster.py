"""Grouping people into users."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel.data import Clusters, Rankings, Tree, group, load_sushi, stability, tree
from fairduel.data.cluster import adjusted_rand, distances
from fairduel.data.sushi import LABELS_SHA256
from fairduel.errors import InputError
from sushi_file import sushi_file


def complete(people: int, items: int, seed: int) -> Rankings:
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.permutation(items) for _ in range(people)])
    return Rankings([f"item {k}" for k in range(items)], ranks)


def tied(people: int, items: int, seed: int) -> Rankings:
    """Orders with ties and omissions, none of which ties everything."""
    rng = np.random.default_rng(seed)
    orders: list[list[int | tuple[int, ...]]] = []
    for _ in range(people):
        a, b, *rest = (int(item) for item in rng.permutation(items))
        orders.append([a, (b, *rest[: items // 2])])
    return Rankings.of([f"item {k}" for k in range(items)], orders)


# Distances


@pytest.mark.parametrize("people", [complete(60, 10, 0), complete(40, 7, 1), tied(40, 6, 2)])
def test_distances_are_those_of_numpy_to_the_bit(people: Rankings) -> None:
    correlation = np.asarray(np.corrcoef(people.positions))
    expected = ((1 - correlation) / 2)[np.triu_indices(len(people.ranks), 1)]
    assert np.array_equal(distances(people), expected)


def test_distances_are_spearmans() -> None:
    from scipy.stats import spearmanr

    people = tied(30, 6, 3)
    expected = (1 - spearmanr(people.positions, axis=1).statistic) / 2
    assert np.allclose(distances(people), expected[np.triu_indices(30, 1)], atol=1e-14)


def test_distances_of_opposites_and_equals() -> None:
    people = Rankings.of("abcd", [[0, 1, 2, 3], [3, 2, 1, 0], [0, 1, 2, 3]])
    assert np.allclose(distances(people), [1, 0, 1], atol=1e-15)


def test_whoever_ties_everything_is_named() -> None:
    people = Rankings.of("abc", [[0, 1, 2], [(0, 1, 2)]], counts=[2, 1])
    with pytest.raises(InputError, match="person 3 ties all items"):
        group(people, 2)


# The tree


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_a_cut_is_what_scipy_cuts(seed: int, users: int) -> None:
    from scipy.cluster.hierarchy import fcluster, linkage

    rng = np.random.default_rng(seed)
    # Distances without ties, for which every rule of cutting has to agree.
    merges = linkage(rng.random(20 * 19 // 2), method="average")
    people = Rankings("abcde", list(itertools.permutations(range(5)))[:20])
    labels = Tree(people, merges).cut(users).labels
    assert adjusted_rand(labels, fcluster(merges, users, "maxclust") - 1) == 1
    assert labels.max() == users - 1


@given(st.integers(0, 10_000), st.integers(1, 9))
def test_groups_are_ordered_by_size_and_nested(seed: int, users: int) -> None:
    whole = tree(complete(30, 5, seed))
    coarse, fine = whole.cut(users), whole.cut(users + 1)
    for clusters in (coarse, fine):
        sizes = clusters.sizes.tolist()
        assert sizes == sorted(sizes, reverse=True)
        assert sum(sizes) == 30
        first = [int(np.flatnonzero(clusters.labels == d)[0]) for d in range(len(sizes))]
        for a, b in itertools.pairwise(range(len(sizes))):
            assert sizes[a] > sizes[b] or first[a] < first[b]
    assert len({(a, b) for a, b in zip(coarse.labels, fine.labels, strict=True)}) == users + 1


def test_many_people_of_one_order_stay_together() -> None:
    # Distances within each pair are small, between pairs large.
    orders = [[0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [4, 3, 2, 1, 0], [4, 3, 2, 0, 1]]
    few = Rankings.of("abcde", orders, counts=[3, 1, 2, 4])
    clusters = group(few, 2)
    # The groups have 4 and 6 people: the larger comes first.
    assert clusters.labels.tolist() == [1] * 4 + [0] * 6
    assert clusters.names == ("cluster 1 (6 people)", "cluster 2 (4 people)")
    assert clusters.digest == Clusters(few, np.array([1] * 4 + [0] * 6)).digest
    assert clusters.digest != group(few, 3).digest


@pytest.mark.parametrize("users", [0, 4, -1, 2.0, True, "2"])
def test_wrong_numbers_of_users(users: int) -> None:
    people = Rankings.of("abc", [[0, 1, 2], [1, 0, 2], [2, 1, 0]], counts=[9, 9, 9])
    with pytest.raises(InputError, match=r"users is .*: give a whole number from 1 to 3, the"):
        group(people, users)


@pytest.mark.parametrize("people", [1, 10_001])
def test_too_few_or_too_many_people(people: int) -> None:
    with pytest.raises(InputError, match=rf"there are {people} people, and from 2 to"):
        tree(Rankings("ab", [[0, 1]], [people]))


# From groups to an instance


def test_preferences_are_shares_kept_apart() -> None:
    # 10 people over 4 items, all in one group: 0 over 1 by 5 to 5, 0 over 2 by 9 to 1, 1 over 2
    # by 6 to 4 as it stands, 2 over 3 by 5.5 to 4.5.
    orders: list[list[int | tuple[int, ...]]] = [
        [0, 1, 2, 3],
        [1, 0, (2, 3)],
        [0, 2, 1, 3],
        [1, 3, 0, 2],
        [3, 2, 0, 1],
    ]
    people = Rankings.of("abcd", orders, counts=[3, 1, 1, 4, 1])
    clusters = Clusters(people.individuals(), np.zeros(10, np.int64))
    raw = people.shares
    assert raw[0, 1] == 0.5
    assert raw[1, 0] == 0.5
    assert np.array_equal(clusters.shares, [raw])
    moved = clusters.projected().preferences[0]
    assert moved[0, 1] == 0.6  # one half goes to the lower number
    assert moved[1, 0] == 0.4
    for i, j in itertools.combinations(range(4), 2):
        share = raw[i, j]
        if 0.4 < share < 0.6:
            assert moved[i, j] == (0.6 if share >= 0.5 else 0.4)
        else:
            assert moved[i, j] == share
        assert moved[i, j] + moved[j, i] == 1
    assert clusters.projected(gap=0.3).gap == pytest.approx(0.3)


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.25]))
def test_every_projection_keeps_the_gap(seed: int, gap: float) -> None:
    instance = group(complete(40, 5, seed), 4).projected(gap)
    assert instance.gap >= gap - 1e-12
    assert instance.preferences.shape == (4, 5, 5)


def test_the_instance_carries_the_names() -> None:
    people = Rankings.of(["soup", "rice"], [[0, 1], [1, 0]], counts=[3, 1])
    instance = group(people, 2).instance()
    assert instance.arms == ("soup", "rice")
    assert instance.users == ("cluster 1 (3 people)", "cluster 2 (1 person)")
    assert instance.winners.tolist() == [0, 1]
    assert instance.scores.tolist() == [[1, 0], [0, 1]]


def test_a_group_without_a_winner_is_named() -> None:
    # Group 1 goes round in a circle, group 2 agrees.
    circle = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3], [3, 2, 1, 0]]
    people = Rankings.of("abcd", circle, counts=[2, 2, 2, 1]).individuals()
    clusters = Clusters(people, np.array([0, 0, 0, 0, 0, 0, 1]))
    assert clusters.projected().has_winner.tolist() == [False, True]
    with pytest.raises(
        InputError, match=r"no Condorcet winner in cluster 1 \(6 people\), where no item"
    ):
        clusters.instance()
    both = Clusters(people.rows(np.array([0, 2, 4, 1, 3, 5])), np.array([0, 0, 0, 1, 1, 1]))
    with pytest.raises(
        InputError, match=r"in cluster 1 \(3 people\) and in cluster 2 \(3 people\)"
    ):
        both.instance()


@pytest.mark.parametrize("gap", [-0.1, 0.5, float("nan"), "0.1"])
def test_wrong_gaps(gap: float) -> None:
    with pytest.raises(InputError, match=r"gap is .*: give a number from 0 to below"):
        group(complete(5, 3, 0), 2).instance(gap)


# Stability


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12),
)
def test_adjusted_rand_counts_pairs(labels: list[tuple[int, int]]) -> None:
    first, second = (np.array(side) for side in zip(*labels, strict=True))
    pairs = list(itertools.combinations(range(len(labels)), 2))
    same_first = sum(first[a] == first[b] for a, b in pairs)
    same_second = sum(second[a] == second[b] for a, b in pairs)
    both = sum(first[a] == first[b] and second[a] == second[b] for a, b in pairs)
    chance = same_first * same_second / max(len(pairs), 1)
    most = (same_first + same_second) / 2
    expected = 1.0 if most == chance else (both - chance) / (most - chance)
    assert adjusted_rand(first, second) == pytest.approx(expected, abs=1e-12)
    assert adjusted_rand(first, first) == 1


def far_apart() -> Rankings:
    """Three tastes with nobody between them: no order of rows can confuse them."""
    orders = [
        [0, 1, 2, 3, 4, 5],
        [1, 0, 2, 3, 4, 5],
        [5, 4, 3, 2, 1, 0],
        [5, 4, 3, 2, 0, 1],
        [2, 5, 1, 4, 0, 3],
    ]
    return Rankings.of("abcdef", orders, counts=[5, 3, 4, 2, 3])


def test_clear_groups_are_stable() -> None:
    three, one = stability(far_apart(), [3, 1], permutations=5, seed=1)
    assert three.users == 3
    assert three.all_winners.tolist() == [True] * 5
    assert three.all_clear_winners.tolist() == [True] * 5
    assert three.agreement.tolist() == [1.0] * 5
    assert one.users == 1
    assert one.agreement.tolist() == [1.0] * 5


def test_ties_make_groups_unstable() -> None:
    # All orders of four items once: nothing but ties.
    people = Rankings("abcd", list(itertools.permutations(range(4))))
    (result,) = stability(people, [4], permutations=12, seed=0)
    assert result.agreement.shape == result.all_winners.shape == (12,)
    assert result.agreement.min() < 0.9
    # Nothing here is luck: the same seed shuffles alike, with and without an executor.
    with ThreadPoolExecutor(2) as executor:
        (again,) = stability(people, [4], 12, np.random.default_rng(0), executor)
    assert np.array_equal(result.agreement, again.agreement)
    assert np.array_equal(result.all_winners, again.all_winners)
    (other,) = stability(people, [4], permutations=12, seed=1)
    assert not np.array_equal(result.agreement, other.agreement)


def test_a_winner_by_number_only_is_not_clear() -> None:
    people = Rankings.of("ab", [[0, 1], [1, 0]], counts=[2, 2])
    (result,) = stability(people, [1], permutations=3)
    assert result.all_winners.tolist() == [True] * 3
    assert result.all_clear_winners.tolist() == [False] * 3


def test_stability_needs_a_shuffle() -> None:
    with pytest.raises(InputError, match="permutations is 0: give a whole number from 1 up"):
        stability(far_apart(), [3], permutations=0)


# Sushi


@pytest.fixture(scope="module")
def sushi_tree() -> Tree:
    return tree(load_sushi(sushi_file()))


def test_sushi_has_few_distances() -> None:
    # The sum of squared differences of positions is an even number from 0 to 330.
    assert len(np.unique(distances(load_sushi(sushi_file())))) == 166


SUSHI = {
    5: [2598, 1808, 502, 80, 12],
    10: [2529, 1762, 402, 80, 50, 50, 46, 39, 30, 12],
}


@pytest.mark.parametrize("users", [5, 10])
def test_sushi_is_grouped_as_in_the_paper(sushi_tree: Tree, users: int) -> None:
    clusters = sushi_tree.cut(users)
    assert clusters.sizes.tolist() == SUSHI[users]
    assert clusters.digest == LABELS_SHA256[users]
    instance = clusters.instance()
    assert instance.has_winner.all()
    assert instance.gap == pytest.approx(0.1)
    assert instance.arms[instance.winners[0]] == "toro"


def test_shares_of_sushi_groups_add_up(sushi_tree: Tree) -> None:
    clusters = sushi_tree.cut(5)
    together = np.tensordot(clusters.sizes / 5000, clusters.shares, axes=1)
    assert np.allclose(together, sushi_tree.people.shares, atol=1e-12)
