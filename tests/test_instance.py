"""An instance holds the truth: checked, frozen, saved and loaded to the bit."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairduel._arrays import Floats
from fairduel._names import comparable
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.scorings import SCORINGS

# Ann's winner is "tea"; bob goes round in a circle.
ANN = [[0.5, 0.8, 0.6], [0.2, 0.5, 0.3], [0.4, 0.7, 0.5]]
BOB = [[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]
TENSOR = [ANN, [[0.5, 0.1, 0.5], [0.9, 0.5, 1.0], [0.5, 0.0, 0.5]]]


def some_tensor(users: int, arms: int, seed: int) -> Floats:
    upper = np.triu(np.random.default_rng(seed).random((users, arms, arms)), 1)
    lower = np.tril(1 - upper.transpose(0, 2, 1), -1)
    return upper + lower + 0.5 * np.eye(arms)


# What it knows


def test_winners_scores_and_gap() -> None:
    instance = Instance(TENSOR, ["ann", "cid"], ["tea", "milk", "water"])
    assert instance.winners.tolist() == [0, 1]
    assert instance.has_winner.tolist() == [True, True]
    np.testing.assert_allclose(instance.scores, [[1, 0.4, 0.8], [0.2, 1, 0]], rtol=1e-15)
    assert instance.gap == 0.0
    assert Instance([ANN]).gap == pytest.approx(0.1)
    assert repr(instance) == "Instance(2 users, 3 arms)"


def test_default_names() -> None:
    instance = Instance(TENSOR)
    assert instance.users == ("user 1", "user 2")
    assert instance.arms == ("arm 1", "arm 2", "arm 3")


def test_a_single_arm_wins_and_has_the_largest_gap() -> None:
    instance = Instance(np.full((2, 1, 1), 0.5))
    assert instance.winners.tolist() == [0, 0]
    assert instance.scores.tolist() == [[1.0], [1.0]]
    assert instance.gap == 0.5


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32))
def test_the_winner_is_the_one_arm_that_beats_all(users: int, arms: int, seed: int) -> None:
    instance = Instance(some_tensor(users, arms, seed))
    for d, matrix in enumerate(instance.preferences):
        beating = [i for i in range(arms) if all(matrix[i, j] > 0.5 for j in range(arms) if j != i)]
        assert bool(instance.has_winner[d]) == bool(beating)
        if instance.has_winner.all():
            assert [instance.winners[d]] == beating
            assert instance.scores[d, beating[0]] == 1.0


def test_users_without_a_winner_are_named() -> None:
    one = Instance([ANN, BOB], ["ann", "bob"])
    assert one.has_winner.tolist() == [True, False]
    assert one.gap == pytest.approx(0.1)
    with pytest.raises(InputError, match=r"^user 'bob' has no Condorcet winner \(no arm is"):
        _ = one.winners
    three = Instance([BOB, ANN, BOB, BOB], ["b", "ann", "c", "d"])
    with pytest.raises(
        InputError, match=r"^users 'b', 'c' and 'd' have no Condorcet winner \(no arm"
    ):
        _ = three.scores


def test_scores_are_those_of_the_scoring() -> None:
    for name, scoring in SCORINGS.items():
        instance = Instance(TENSOR, scoring=name)
        np.testing.assert_array_equal(instance.scores, scoring.score(np.array(TENSOR)))
        assert instance == Instance(TENSOR).scored_by(name)


def test_a_scoring_for_users_without_a_winner() -> None:
    instance = Instance([ANN, BOB], ["ann", "bob"], scoring="borda")
    assert instance.without_winner == ("bob",)
    np.testing.assert_allclose(instance.scores, [[1.0, 0.55, 0.85], [1.0, 1.0, 1.0]])
    with pytest.raises(InputError, match=r"^user 'bob' has no Condorcet winner"):
        _ = instance.winners


def test_everybody_has_scores_by_the_paper_only_if_a_winner() -> None:
    assert Instance(TENSOR).without_winner == ()
    with pytest.raises(InputError, match="or take a scoring that needs none, like scoring='borda'"):
        _ = Instance([BOB]).scores
    with pytest.raises(InputError, match="scoring is 'best': use condorcet, maximin, borda or"):
        Instance([BOB], scoring="best")


def test_a_tie_at_one_half_is_no_win() -> None:
    assert not Instance([[[0.5, 0.5], [0.5, 0.5]]]).has_winner.any()


def test_numbers_reciprocal_to_the_tolerance_have_one_winner_at_most() -> None:
    both = 0.5 + 1e-10
    assert not Instance([[[0.5, both], [both, 0.5]]]).has_winner.any()


def test_the_winners_score_is_exactly_one() -> None:
    nearly = 0.5 + 1e-10
    instance = Instance([[[nearly, 0.7], [0.3, nearly]]])
    assert instance.scores[0, 0] == 1.0


# Frozen


def test_nothing_can_be_changed() -> None:
    given_tensor = np.array(TENSOR)
    instance = Instance(given_tensor)
    given_tensor[0, 0, 1] = 0.9
    assert instance.preferences[0, 0, 1] == 0.8
    arrays = (instance.preferences, instance.winners, instance.scores, instance.has_winner)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.users = ("x", "y")  # type: ignore[misc]


def test_equal_by_content() -> None:
    instance = Instance(TENSOR)
    assert instance == Instance(np.array(TENSOR))
    assert hash(instance) == hash(Instance(np.array(TENSOR)))
    assert instance != Instance(TENSOR, users=["a", "b"])
    assert instance != Instance(TENSOR, arms=["a", "b", "c"])
    assert instance != Instance([ANN, ANN])
    assert instance != Instance(TENSOR, scoring="maximin")
    assert instance != "instance"
    negative_zero = [[[0.5, 1.0], [-0.0, 0.5]]]
    assert hash(Instance(negative_zero)) == hash(Instance(np.abs(negative_zero)))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_equal_and_frozen(copied: Any) -> None:
    instance = Instance(TENSOR, ["ann", "bob"], scoring="maximin")
    twin = copied(instance)
    assert twin == instance
    assert not twin.preferences.flags.writeable


# Bad input


def changed(place: tuple[int, int, int], value: object) -> list[list[list[object]]]:
    tensor: list[list[list[object]]] = json.loads(json.dumps(TENSOR))
    tensor[place[0]][place[1]][place[2]] = value
    return tensor


@pytest.mark.parametrize(
    ("tensor", "sentence"),
    [
        (ANN, r"preferences have shape \(3, 3\): give a \(users, arms, arms\) tensor"),
        (0.5, r"preferences have shape \(\): "),
        (np.full((2, 3, 4), 0.5), r"shape \(2, 3, 4\): .* one square matrix for each user"),
        (np.empty((0, 3, 3)), r"shape \(0, 3, 3\): there has to be at least one user and one arm"),
        (np.empty((2, 0, 0)), r"shape \(2, 0, 0\): there has to be at least one user and one arm"),
        ([ANN, [[0.5]]], "give nested lists of equal lengths"),
        ([[[10**400]]], "tensor of numbers"),
        (changed((1, 0, 2), "x"), r"preferences\[1, 0, 2\] is 'x': every entry has to be a number"),
        (changed((1, 0, 2), None), r"preferences\[1, 0, 2\] is None: every entry"),
        (changed((1, 0, 2), 0.5j), r"preferences\[1, 0, 2\] is 0.5j: every entry"),
        (changed((0, 2, 1), np.nan), r"preferences\[0, 2, 1\] is nan, which is not a finite"),
        (changed((0, 2, 1), np.inf), r"preferences\[0, 2, 1\] is inf, which is not a finite"),
        (changed((0, 1, 2), 1.5), r"preferences\[0, 1, 2\] is 1.5, outside \[0, 1\]"),
        (changed((0, 1, 2), -1e-12), r"preferences\[0, 1, 2\] is -1e-12, outside \[0, 1\]"),
        (changed((1, 2, 2), 0.4), r"preferences\[1, 2, 2\] is 0.4: an arm against itself .* 1/2"),
        (
            changed((0, 2, 1), 0.8),
            r"preferences\[0, 1, 2\] is 0.3 and the reverse, \[0, 2, 1\], is 0.8: .* add up to 1",
        ),
    ],
)
def test_bad_preferences(tensor: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        Instance(tensor)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_tolerance_of_reciprocity() -> None:
    Instance([[[0.5, 0.7], [0.3 + 9e-10, 0.5]]])
    with pytest.raises(InputError, match="add up to 1"):
        Instance([[[0.5, 0.7], [0.3 + 2e-9, 0.5]]])


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a"], "there are 1 {} names for 1000 {}s: give one name for each"),
        (
            [*"ab", *map(str, range(997)), "b"],
            "{} 2 and {} 1000 are both called 'b': give every {} a name of its own",
        ),
        ("names", "the {}s are 'names': give a list of 1000 names"),
        (5, "the {}s are 5: give a list of 1000 names"),
        (["a", *map(str, range(998)), 3], "the name of {} 1000 is 3: give a text"),
        (["a", "", *map(str, range(998))], "the name of {} 2 is '', which is empty"),
    ],
)
@pytest.mark.parametrize("kind", ["user", "arm"])
def test_bad_names(kind: str, names: Any, sentence: str) -> None:
    shape = (1000, 1, 1) if kind == "user" else (1, 1000, 1000)
    with pytest.raises(InputError, match=sentence.replace("{}", kind)):
        Instance(np.full(shape, 0.5), **{f"{kind}s": names})


# Files

SUFFIXES = pytest.mark.parametrize("suffix", [".npz", ".json"])
names = st.text(st.characters(categories=("L", "Nd", "P", "S")), min_size=1, max_size=4)


@SUFFIXES
@given(data=st.data())
def test_saved_and_loaded_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject
) -> None:
    users = data.draw(st.lists(names, min_size=1, max_size=3, unique_by=comparable))
    arms = data.draw(st.lists(names, min_size=1, max_size=4, unique_by=comparable))
    tensor = some_tensor(len(users), len(arms), data.draw(st.integers(0, 2**32)))
    scoring = data.draw(st.sampled_from(list(SCORINGS)))
    instance = Instance(tensor, users, arms, scoring)
    path = tmp_path_factory.mktemp("saved") / f"file{suffix}"
    instance.save(path)
    loaded = Instance.load(str(path))
    assert loaded == instance
    assert loaded.preferences.tobytes() == instance.preferences.tobytes()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@SUFFIXES
def test_numbers_at_the_edge_survive(tmp_path: Path, suffix: str) -> None:
    tiny = [[[0.5, 1.0], [5e-324, 0.5]], [[0.5, 0.5 + 2**-53], [0.5 - 2**-53, 0.5]]]
    Instance(tiny).save(tmp_path / f"x{suffix}")
    assert Instance.load(tmp_path / f"x{suffix}").preferences.tolist() == tiny


@SUFFIXES
def test_the_same_instance_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        Instance(TENSOR).save(tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_json_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "x.JSON"
    Instance(TENSOR, ["ann", "bob"]).save(path)
    lines = path.read_text().splitlines()
    assert '  "users": ["ann", "bob"],' in lines
    assert "      [0.5, 0.8, 0.6]," in lines


def test_json_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"preferences": TENSOR}))
    assert Instance.load(path) == Instance(TENSOR)
    path.write_text(json.dumps({"preferences": TENSOR, "arms": ["a", "b", "c"]}))
    assert Instance.load(path) == Instance(TENSOR, arms=["a", "b", "c"])
    path.write_text(json.dumps({"preferences": [BOB], "scoring": "maximin"}))
    assert Instance.load(path) == Instance([BOB], scoring="maximin")
    path.write_text(json.dumps({"preferences": [BOB], "reference": "maximin"}))  # as it was
    assert Instance.load(path) == Instance([BOB], scoring="maximin")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "it is not complete JSON"),
        ("[" * 100_000, "it is not complete JSON"),
        ("[1, 2]", "it holds something other than an instance"),
        ('{"format": "fairduel session"}', "it holds something other than an instance"),
        ('{"version": 2, "preferences": [[[0.5]]]}', "it has version 2 of the format .* update"),
        ('{"users": ["a"]}', 'it has no "preferences"'),
        ('{"preferences": [[[0.5]]], "user": ["a"]}', 'unknown key "user"'),
        ('{"preferences": [[[0.5]]], "scoring": 1}', "the scoring is 1: use condorcet, "),
        ('{"preferences": [[[0.5]]], "users": "a"}', "the users are 'a': give a list"),
        ('{"preferences": [[[0.5]]], "users": ["a", "b"]}', "there are 2 user names for 1 users"),
        ('{"preferences": [[[NaN]]]}', r"preferences\[0, 0, 0\] is nan"),
        ('{"preferences": {"a": 1}}', r"preferences\[\] is \{'a': 1\}: every entry"),
    ],
)
def test_bad_json(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"^cannot load '.*x\.json': .*{sentence}"):
        Instance.load(path)


@SUFFIXES
def test_truncated_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    Instance(TENSOR).save(path)
    whole = path.read_bytes()
    end = len(whole.rstrip())  # JSON without its last line end is complete
    for length in range(0, end, 5):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="cannot load"):
            Instance.load(path)


def test_damaged_npz_is_an_error_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    instance = Instance(TENSOR)
    instance.save(path)
    whole = path.read_bytes()
    refused = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert Instance.load(path) == instance
        except InputError:
            refused += 1
    assert refused > len(whole) / 2


def test_other_files_named_npz(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    for content in (b"", b"hello", pickle.dumps({"preferences": TENSOR})):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a complete instance file"):
            Instance.load(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(InputError, match="not a complete instance file"):
        Instance.load(path)


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    header = np.array('{"users": ["a"]}')
    np.savez(path, header=header, preferences=np.array([{"code": 1}], dtype=object))
    with pytest.raises(InputError, match="not a complete instance file"):
        Instance.load(path)


@pytest.mark.parametrize("name", ["x.txt", "x", "npz"])
def test_the_suffix_says_the_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"end it with \.npz or \.json"):
        Instance(TENSOR).save(tmp_path / name)
    with pytest.raises(InputError, match=r"end it with \.npz or \.json"):
        Instance.load(tmp_path / name)
    assert not list(tmp_path.iterdir())


@SUFFIXES
def test_places_that_cannot_be_used(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "missing" / f"x{suffix}"
    with pytest.raises(InputError, match=r"cannot write '.*missing"):
        Instance(TENSOR).save(path)
    with pytest.raises(InputError, match=r"cannot read '.*missing"):
        Instance.load(path)
    assert not list(tmp_path.iterdir())


def test_notebooks_show_scores() -> None:
    shown = Instance([[[0.5, 0.9], [0.1, 0.5]]], users=["<ann>"], arms=["x", "y"])._repr_html_()
    assert "&lt;ann&gt;" in shown
    assert ">1.00</td>" in shown
    assert ">0.20</td>" in shown
    even = Instance([[[0.5, 0.5], [0.5, 0.5]]])
    assert "without a Condorcet winner" in even._repr_html_()
    assert "<table>" in Instance(even.preferences, scoring="maximin")._repr_html_()
