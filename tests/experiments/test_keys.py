"""The name of a stored result changes with what can change its numbers, and with nothing else."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import fairduel
from fairduel import FairETC, FairVOI, Instance, UniformOverUsers, Utilitarian, random_instance
from fairduel.environments import Clustered, Fixed, Random
from fairduel.experiments import Cell, Checkpoints, keys
from fairduel.experiments.keys import key_of
from fairduel.simulation.answering import Answering

SOURCE = Path(fairduel.__file__).parent
PRINT_KEYS = """
from fairduel import FairETC, FairVOI
from fairduel.environments import Random
from fairduel.experiments import Cell
from fairduel.experiments.keys import key_of
for learner in (FairETC(), FairVOI()):
    print(key_of(Cell(learner, Random(), 100, 0)))
"""


def cell(**changes: Any) -> Cell:
    return replace(Cell(UniformOverUsers(), Random(), 100, 0), **changes)


def test_key_changes_with_every_setting_but_the_labels() -> None:
    changes: dict[str, Any] = {
        "learner": UniformOverUsers(winners=(1,) * 10),
        "environment": Random(users=11),
        "rounds": 101,
        "run": 1,
        "seed": 1,
        "checkpoints": Checkpoints(100, "log"),
        "welfare": Utilitarian(),
        "answering": Answering(0.5),
    }
    labels = {"learner_label": "mine", "environment_label": "there"}
    assert set(changes) | set(labels) == {field.name for field in fields(Cell)}
    others = {key_of(cell(**{name: changes[name]})) for name in changes}
    assert len(others | {key_of(cell())}) == len(changes) + 1
    assert key_of(cell()) == key_of(cell(**labels))
    late, alike = cell(answering=Answering(delay=1)), cell(answering=Answering((1, 1.0), 0))
    assert len({key_of(each) for each in (cell(), late, alike)}) == 3


def test_classes_of_the_same_fields_differ() -> None:
    assert key_of(cell(environment=Clustered())) != key_of(cell(environment=Random()))


def test_the_content_of_an_instance_counts() -> None:
    instance = random_instance(2, 3, seed=1)
    same = Instance(instance.preferences.copy(), instance.users, instance.arms)
    other = random_instance(2, 3, seed=2)
    key, again, changed = (key_of(cell(environment=Fixed(i))) for i in (instance, same, other))
    assert key == again != changed


@pytest.mark.parametrize("library", ["numpy", "scipy", "numba"])
def test_key_changes_with_each_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(cell())
    monkeypatch.setattr(keys, "version", lambda name: "0" if name == library else version(name))
    keys._versions.cache_clear()
    changed = key_of(cell())
    monkeypatch.undo()
    keys._versions.cache_clear()
    assert changed != before == key_of(cell())


# The code behind a cell


def keys_of_a_copy(tmp_path: Path, edits: dict[str, tuple[str, str]]) -> list[str]:
    """Return the keys of Fair-ETC and Fair-VOI by a copy of the package with some edits."""
    copy = tmp_path / "fairduel"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (old, new) in edits.items():
        text = (copy / name).read_text()
        assert old in text
        (copy / name).write_text(text.replace(old, new))
    done = subprocess.run(
        [sys.executable, "-c", PRINT_KEYS],
        env={"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    shutil.rmtree(copy)
    return done.stdout.split()


def test_only_code_that_can_change_the_numbers_counts(tmp_path: Path) -> None:
    here = keys_of_a_copy(tmp_path, {})
    assert here[0] != here[1]
    comment = ("from __future__ import annotations", "from __future__ import annotations  # so")
    harmless = {
        "live/session.py": comment,
        "simulation/trajectory.py": ('title="Cumulative regret"', 'title="Regret"'),
        "_files.py": ("give another one", "name another one"),
        "welfare/solution.py": ('"probability"', '"share"'),
        "instance.py": ("one square matrix for each user", "a square matrix for each user"),
        "experiments/cells.py": (" in {environment}, ", " on {environment}, "),
        "report/numbers.py": ("1e7", "1e8"),
        "learners/explore_then_commit.py": comment,
        "simulation/loop.py": ("The one loop", "The loop"),  # a docstring
        "environments/hard.py": ("HARD_C = 0.9", "HARD_C = 0.8"),
    }
    assert keys_of_a_copy(tmp_path, harmless) == here
    # What only one of them plays with changes that one.
    only_etc = {"learners/explore_then_commit.py": ("max(1, math.ceil", "max(2, math.ceil")}
    changed = keys_of_a_copy(tmp_path, only_etc)
    assert changed[0] != here[0]
    assert changed[1] == here[1]
    both = {"kernels/sampling.py": ("_SINGLY = 64", "_SINGLY = 65")}
    changed = keys_of_a_copy(tmp_path, both)
    assert changed[0] != here[0]
    assert changed[1] != here[1]


def test_only_fairduel_and_own_code_is_followed() -> None:
    followed = keys._closure(frozenset(keys.modules_of(FairVOI())) | {keys.LOOP})
    assert "fairduel.kernels.voi" in followed
    assert {name.partition(".")[0] for name in followed} == {"fairduel"}


def fresh_keys() -> None:
    for cached in (
        keys._code_digest,
        keys._source,
        keys._tree,
        keys._digest,
        keys._imports,
        keys._is_followed,
    ):
        cached.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with somebody's learner, which imports a module beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_learner.py").write_text(
        "from fairduel import UniformOverUsers\n"
        "from lab_part import ONE\n"
        "class Mine(UniformOverUsers):\n"
        "    pass\n"
    )
    (tmp_path / "lab_part.py").write_text("ONE = 1\n")
    return tmp_path


def test_what_an_own_learner_imports_counts(lab: Path) -> None:
    mine = importlib.import_module("lab_learner").Mine
    found = []
    for source in ("ONE = 1\n", "ONE = 1  # one\n", "ONE = 2\n"):
        (lab / "lab_part.py").write_text(source)
        fresh_keys()
        found.append(key_of(cell(learner=mine())))
    fresh_keys()
    assert found[0] == found[1] != found[2]


def test_learners_that_are_no_dataclasses_are_told_apart() -> None:
    class Plain(UniformOverUsers):
        pass

    assert key_of(cell(learner=FairETC())) != key_of(cell(learner=FairVOI()))
    assert key_of(cell(learner=Plain())) != key_of(cell())
