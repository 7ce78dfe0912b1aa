"""Each experiment is run for real, small, once: what is drawn and judged comes from simulations."""

from pathlib import Path

import numpy as np
import pytest

from fairduel.data import sushi_stand_in
from fairduel.experiments import Results, sweep
from fairduel.paper import beyond, figure2, groups
from fairduel.paper.beyond import Beyond
from fairduel.paper.experiment import FAIR, LEARNERS, Experiment
from fairduel.paper.figure1 import Figure1
from fairduel.paper.figure2 import Figure2
from fairduel.paper.figure3 import Figure3
from fairduel.paper.upper_bound import BASE, UpperBound
from fairduel.report.document import Claim, Picture, Section

RUNS = 2


def played(experiment: Experiment) -> tuple[Results, Section]:
    """Run an experiment and draw all of its pictures; return its results and its section."""
    results = sweep(experiment.cells, workers=1, progress=False)
    assert not results.failures
    section = experiment.section(results)
    for block in section.blocks:
        if isinstance(block, Picture):
            assert block.draw().axes
    return results, section


def ahead(claim: Claim) -> dict[str, bool]:
    """Return which comparisons of a claim come out as claimed, whatever their noise."""
    return {each.what: each.difference > 0 for each in claim.findings}


def test_figure_1() -> None:
    experiment = Figure1(RUNS)
    results, section = played(experiment)
    sublinear, outperform = section.claims
    assert (len(sublinear.findings), len(sublinear.controls)) == (12, 18)
    assert all(ahead(outperform).values())
    assert np.mean(list(ahead(sublinear).values())) > 0.8
    for group in experiment.groups.values():
        for cells in group.values():
            _, regret = results.curve(cells, "regret")
            assert (np.diff(regret, axis=1) > -1e-9).all()  # rounding, where the best is played


def test_figure_2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure2, "MORE", 3)
    _, section = played(Figure2(RUNS))
    found = {claim.name: claim for claim in section.claims}
    assert all(ahead(found["fair-protect-minority"]).values())
    assert all(ahead(found["fair-fairer-than-uniform"]).values())
    assert {each.runs for claim in section.claims for each in claim.findings} == {3 * RUNS}


def test_figure_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "sushi_stand_in", lambda: sushi_stand_in().sample(300, seed=2))
    monkeypatch.setattr(groups, "PERMUTATIONS", 1)
    experiment = Figure3(RUNS, groups.prepare(tmp_path, tmp_path, 1))
    assert experiment.players
    results, _ = played(experiment)
    for group in experiment.players.values():
        utilitarian = {n: results.final(group[n], "utilitarian_welfare").mean() for n in LEARNERS}
        assert max(utilitarian, key=lambda name: utilitarian[name]).startswith("utilitarian")
        nash = {name: results.final(group[name], "nash_welfare").mean() for name in LEARNERS}
        assert max(nash, key=lambda name: nash[name]) in FAIR


def test_upper_bound() -> None:
    experiment = UpperBound(RUNS)
    results, section = played(experiment)
    for name in FAIR:
        regret = results.final(BASE.cells(name, RUNS), "regret")
        assert (regret > 0).all()
        assert (regret < BASE.bound).all()
    assert len(section.claims) > 1


def test_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beyond, "HORIZONS", (100, 1_000))
    monkeypatch.setattr(beyond, "HARD_HORIZONS", (10**4, 10**5))
    monkeypatch.setattr(beyond, "SIZES", ((3, 5),))
    experiment = Beyond(RUNS, groups.Groups(()))
    results, _ = played(experiment)
    for group in experiment.random.values():
        regret = {name: results.final(cells, "regret").mean() for name, cells in group.items()}
        assert min(regret, key=lambda name: regret[name]) == beyond.VOI
