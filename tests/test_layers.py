"""Imports point one way: what each part of the package may import, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairduel

ROOT = Path(fairduel.__file__).parent

LEAVES = {"errors", "_arrays", "_checks", "_files", "_codec", "_names", "_tables", "_threads"}
# Learners, and what they are made of, never see an instance or what draws from one.
LEARNING = {"kernels", "scorings", "tally", "offers", "welfare", "inference", "learners"}
MAY_IMPORT = {
    **{leaf: {"errors", "_arrays"} for leaf in LEAVES},
    "kernels": {"_arrays"},
    "tally": LEAVES,
    "offers": LEAVES,
    "scorings": LEAVES,
    "instance": LEAVES | {"scorings"},
    "welfare": LEAVES | {"kernels"},
    "inference": LEAVES | {"kernels", "scorings", "tally"},
    "learners": LEAVES | LEARNING,
    "data": LEAVES | {"instance", "welfare"},
    "environments": LEAVES | {"scorings", "instance", "data"},
    "testing": LEAVES | LEARNING,
    "simulation": LEAVES | LEARNING | {"instance"},
    "live": LEAVES | LEARNING,
    "serve": LEAVES | {"welfare", "learners", "live"},
    "report": LEAVES | {"instance", "welfare", "simulation", "data"},
    "experiments": LEAVES | LEARNING | {"instance", "environments", "simulation", "report"},
    "fitting": LEAVES | LEARNING | {"data", "live", "report", "scorings"},
    "paper": LEAVES
    | LEARNING
    | {"instance", "environments", "data", "simulation", "experiments", "report"},
}
ANYTHING = {"__init__", "__main__", "cli"}  # nobody imports these


def imported(file: Path) -> Iterator[str]:
    """The parts of the package that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            inside = node.module == "fairduel"
            names = [f"fairduel.{a.name}" for a in node.names] if inside else [node.module or ""]
        yield from (name.split(".")[1] for name in names if name.startswith("fairduel."))


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_imports_point_one_way(part: str) -> None:
    files = [ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else (ROOT / part).rglob("*.py")
    for file in files:
        for name in imported(file):
            assert name in MAY_IMPORT[part] | {part, "__version__"}, f"{file} imports {name}"


def test_every_part_has_its_place() -> None:
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert parts - {"__pycache__"} <= set(MAY_IMPORT) | ANYTHING


def test_the_top_level_has_at_most_a_dozen_modules() -> None:
    assert len([file for file in ROOT.glob("*.py") if not file.stem.startswith("__")]) <= 12


def test_contributors_are_told_what_each_folder_has() -> None:
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert {name for name in _folders(ROOT) if not any(f"`{name}`" in row for row in rows)} == set()


def test_tests_have_the_folders_of_the_package() -> None:
    tests = Path(__file__).parent
    assert _folders(tests) == _folders(ROOT)


def _folders(place: Path) -> set[str]:
    return {path.parent.name for path in place.glob("*/*.py")}
