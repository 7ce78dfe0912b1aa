"""Learners on people: for real and small, and what is said of invented figures."""

from pathlib import Path

import numpy as np
import pytest

from fairduel.environments import BradleyTerry
from fairduel.experiments import sweep
from fairduel.paper import people, reproduction
from fairduel.paper.experiment import lost_by_chance
from fairduel.paper.people import ANYTIME, HORIZONS, PLAIN, PLAYERS, VOI, People
from fairduel.report.document import Caution, Picture, Table, Text, Verdict
from fake_sweep import fake_world


def test_the_experiment_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "HORIZONS", (20, 200))
    monkeypatch.setattr(
        people, "families", lambda data: {"few people (4, 3)": BradleyTerry(users=3, arms=4)}
    )
    made = reproduction.reproduce(["people"], tmp_path, runs=2, workers=1, progress=False)
    (section,) = made.document.sections
    text, picture, table, ratios = section.blocks
    assert isinstance(text, Text)
    assert isinstance(picture, Picture)
    assert isinstance(table, Table)
    assert isinstance(ratios, Table)
    assert [row[:2] for row in table.rows] == [
        ("few people (4, 3)", "20"),
        ("few people (4, 3)", "200"),
    ]
    assert "loses" in text.text
    assert dict(made.document.facts)["Seeds"] == (
        "5,000,000 for families of people, with the number of the run"
    )
    assert (tmp_path / "figures" / "people.png").exists()
    assert not made.failures


def test_cells_are_of_fresh_instances_of_every_family() -> None:
    experiment = People(runs=2)
    assert len(experiment.cells) == len(experiment.places) * len(PLAYERS) * len(HORIZONS) * 2
    assert {cell.seed for cell in experiment.cells} == {people.SEED}
    assert {"40 users (6, 40)", "courses, near consensus (9, 5)"} <= set(experiment.places)


def test_chance_is_what_uniform_play_loses() -> None:
    experiment = People(runs=3)
    place = experiment.places["Bradley-Terry N(0, 1) (10, 5)"]
    found = sweep(experiment._cells("Bradley-Terry N(0, 1) (10, 5)", VOI, 50), workers=1)
    lost = lost_by_chance(place, 50, 3, people.SEED)
    best = found.final(found.cells, "best")
    scores = place.draw(0, 50, people.SEED).scores
    assert lost[0] == pytest.approx(1.0 - scores.mean(axis=1).prod() / best[0])


def test_ratios_and_their_verdicts() -> None:
    rng = np.random.default_rng(1)
    plain = 0.5 + 0.01 * rng.random((len(HORIZONS), 20))
    shares = {"a family": {VOI: 0.5 * plain, ANYTIME: 2.0 * plain, PLAIN: plain}}
    rows = people._ratios(shares)
    assert [row[1] for row in rows] == [f"{rounds:,}" for rounds in HORIZONS]
    assert all(row[2:] == ("0.50", Verdict.HOLDS, "2.00", Verdict.FAILS) for row in rows)
    said = people._summed_up(shares)
    assert "Fair-VOI loses 0.50 times" in said
    assert "Fair-VOI, T unknown loses 2.00 times" in said


def test_without_sushi_it_is_left_out_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_world(monkeypatch)
    made = reproduction.reproduce(["people"], tmp_path, runs=2, workers=1, data=tmp_path)
    (caution,) = [block for block in made.document.summary if isinstance(block, Caution)][:1]
    assert caution.text.startswith("Sushi is not among the families of people: the Sushi data")
    assert "synthetic" not in caution.text
    assert not any("sushi" in family.lower() for family in People(2, tmp_path).places)
    assert reproduction._without_sushi(["welfares"]) == [
        "What is called Sushi is made from synthetic data"
    ]
    assert len(reproduction._without_sushi(["figure3", "people"])) == 2


def test_seeds_are_those_of_what_is_played() -> None:
    assert reproduction._seeds(["people", "table1"]).startswith("0, in Table 1")
    assert "5,000,000" in reproduction._seeds(["people", "table1"])
    assert "5,000,000" not in reproduction._seeds(["table1"])


def test_it_begins_where_fair_voi_is_to_beat_random_play() -> None:
    assert HORIZONS[0] == 20


def test_it_is_asked_for_by_name() -> None:
    assert "people" not in reproduction._chosen(["all"])
    assert reproduction._chosen(["people", "table1"]) == ["table1", "people"]
