"""Fair-VOI in the report: beside the paper's learners, and at short horizons."""

from pathlib import Path

import pytest

from fairduel.paper import reproduce
from fairduel.paper.beyond import HORIZONS, SIZES, Beyond
from fairduel.paper.groups import Groups
from fake_sweep import fake_world


def test_it_plays_what_the_paper_plays() -> None:
    """Fair-VOI has the instances and the luck of the others, in every setting."""
    beyond = Beyond(3, Groups(()))
    assert len(beyond.groups) == 8  # six sizes, two clustered; Sushi needs its groups
    for group in beyond.groups.values():
        mine = [(c.environment, c.rounds, c.run, c.seed) for c in group["fair-voi"]]
        theirs = [(c.environment, c.rounds, c.run, c.seed) for c in group["fair-etc"]]
        assert mine == theirs
        assert len(group) == 6


def test_it_is_asked_for_by_name_and_says_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_world(monkeypatch)
    made = reproduce.reproduce(["beyond"], tmp_path, runs=2, workers=1, data=tmp_path)
    assert [section.name for section in made.document.sections] == ["beyond"]
    text = made.text.read_text()
    for users, arms in SIZES:
        assert f"D = {users}, K = {arms}: share lost." in text
    assert all(f"| {rounds:,} |" in text for rounds in HORIZONS)
    assert "Fair-VOI, anytime" in text
    assert (tmp_path / "figures" / "beyond.png").stat().st_size > 10_000


def test_all_is_the_paper_alone() -> None:
    assert "beyond" not in reproduce._chosen(["all"])
    assert reproduce._chosen(["beyond", "table1"]) == ["table1", "beyond"]
