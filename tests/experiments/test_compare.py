"""Several learners on the same instances."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairduel import (
    FairETC,
    FairVOI,
    InputError,
    Results,
    UniformOverUsers,
    Utilitarian,
    compare,
    random_instance,
    simulate,
)
from fairduel.environments import Fixed, Random
from fairduel.experiments import comparison
from fairduel.experiments.grid import short_label
from fairduel.instance import Instance
from fairduel.learners import Learner
from fairduel.report import made, write
from fairduel.report.markdown import to_markdown
from fairduel.report.summary import IDENTIFYING
from own_learners import Failing

ROUNDS = 20_000
PLACE = Random(users=3, arms=4)
CLEAR = [[0.5, 1.0], [0.0, 0.5]]
LEARNERS: dict[str, Learner[Any]] = {
    "fair": FairETC(),
    "utilitarian": FairETC(welfare=Utilitarian()),
    "uniform": UniformOverUsers(),
}


@pytest.fixture(scope="module")
def three_runs() -> Results:
    return compare(LEARNERS, PLACE, ROUNDS, runs=3, seed=5, checkpoints=4, workers=1)


def regrets(results: Results, label: str) -> list[list[float]]:
    ((_, players),) = results.settings.items()
    values: list[list[float]] = results.curve(players[label], "regret")[1].tolist()
    return values


def test_a_learner_does_not_notice_the_others(three_runs: Results) -> None:
    for label, learner in LEARNERS.items():
        alone = compare({label: learner}, PLACE, ROUNDS, runs=2, seed=5, checkpoints=4, workers=1)
        assert regrets(alone, label) == regrets(three_runs, label)[:2]


def test_all_meet_the_same_luck(three_runs: Results) -> None:
    # The same draws until the learners' decisions differ: identification is the same for all.
    ((_, players),) = three_runs.settings.items()
    spent = [three_runs.final(cells, "identify").tolist() for cells in players.values()]
    assert spent[0] == spent[1] == spent[2]


def test_answers_are_as_in_simulate() -> None:
    learner = FairVOI()
    how: dict[str, Any] = {"answers": (1.0, 0.2, 0.0), "delay": 9}
    found = compare({"voi": learner}, PLACE, 300, runs=1, seed=5, workers=1, **how)
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(0, 1)))
    expected = simulate(PLACE.draw(0, 300, 5), 300, learner, seed=rng, **how)
    assert regrets(found, "voi") == [expected.regret.tolist()]
    with pytest.raises(InputError, match="answers has 2 probabilities for 3 users"):
        compare(learner, PLACE, 300, runs=1, workers=1, answers=(1.0, 0.5))


def test_runs_and_seeds_differ(three_runs: Results) -> None:
    other = compare({"fair": FairETC()}, PLACE, ROUNDS, runs=1, seed=6, checkpoints=4, workers=1)
    assert regrets(other, "fair")[0] != regrets(three_runs, "fair")[0]
    one = Fixed(random_instance(3, 4, seed=0))
    repeated = compare({"fair": FairETC()}, one, ROUNDS, runs=2, seed=5, workers=1)
    first, second = regrets(repeated, "fair")
    assert first != second


def test_one_run_has_no_interval() -> None:
    one = compare(UniformOverUsers(), PLACE, 10, runs=1, workers=1)
    ((_, summaries),) = one.summary().items()
    assert math.isnan(summaries["UniformOverUsers"].metrics["regret"].half_width)


def test_rounds_to_identify_are_shown_only_where_winners_were_identified() -> None:
    learners = {"etc": FairETC(), "given": FairETC(winners=(0, 0))}
    found = compare(learners, Fixed(Instance([CLEAR, CLEAR])), [300, 3000], runs=2, workers=1)
    in_time = [summaries["etc"].identified for summaries in found.summary().values()]
    assert in_time == [False, True]
    text = to_markdown(comparison.document(found))
    cells = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]
    ends = [(row[0].strip(), row[-1].strip()) for row in cells]
    assert ends[0] == ("Learner", "Rounds to identify")
    assert ends[2:4] == [("etc", "> 300"), ("given", "–")]
    assert 500 < float(ends[6][1].split()[0]) < 1500
    assert text.count(IDENTIFYING) == 2


def test_labels_say_what_differs_from_the_defaults() -> None:
    assert short_label(FairVOI()) == "FairVOI"
    assert short_label(FairETC(exploration=0.5)) == "FairETC(exploration=0.5)"
    utilitarian = FairETC(welfare=Utilitarian(weights=(1.0, 2.0)))
    assert short_label(utilitarian) == "FairETC(welfare=Utilitarian(weights=(1.0, 2.0)))"
    assert short_label(Random(users=3)) == "Random(users=3)"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"learners": {}}, "there is no learner to compare"),
        ({"learners": []}, "there is no learner to compare"),
        ({"learners": "fair-etc"}, "'fair-etc' is no learner: give one with its settings"),
        ({"learners": [FairETC(), FairETC()]}, "there are two learners FairETC: give it once"),
        ({"learners": {"a": FairETC(), "b": FairETC()}}, "'a' and 'b' are the same learner"),
        ({"learners": {"a": FairETC}}, "'a' is no learner"),
        ({"learners": [FairETC]}, "is no learner"),
        ({"environments": {"a": Random(), "b": Random()}}, "the same environment"),
        ({"environments": "random"}, "'random' is no environment"),
        ({"environments": Random}, "is no environment"),
        ({"rounds": []}, "rounds is empty"),
        ({"rounds": [10, 20, 10]}, "rounds has 10 twice"),
        ({"rounds": 0}, "rounds is 0"),
        ({"rounds": 10**30}, "from 1 to 1,000,000,000,000,000"),
        ({"runs": 0}, "runs is 0"),
        ({"runs": 10**8}, "that would be 100,000,000 simulations"),
        ({"seed": -1}, "seed is -1"),
        ({"checkpoints": 0}, "the number of checkpoints is 0"),
    ],
)
def test_bad_input(change: dict[str, object], said: str) -> None:
    fine: dict[str, object] = {"learners": UniformOverUsers(), "rounds": 10, "runs": 1}
    with pytest.raises(InputError, match=said):
        compare(**(fine | change), workers=1)  # type: ignore[arg-type]


def test_by_default_all_learners_of_this_package_are_compared() -> None:
    found = compare(environments=Random(users=2, arms=3), rounds=50, runs=1, workers=1)
    ((_, players),) = found.settings.items()
    assert next(iter(players)) == "fair-voi"
    assert len(players) == 7


@dataclass(frozen=True)
class Stumbling(UniformOverUsers):
    """Fails with some seeds."""

    def policy(self, state):  # type: ignore[no-untyped-def]
        if state.tournament.order[0, 0] % 2 == 0:
            raise ArithmeticError("nothing adds up")
        return super().policy(state)


def test_report_is_whole_and_names_what_failed(tmp_path: Path) -> None:
    learners = {"steady": UniformOverUsers(), "stumbling": Stumbling()}
    found = compare(learners, PLACE, [40, 80], runs=6, workers=1)
    assert 0 < len(found.failures) < 12
    page = found.report(tmp_path, command="fairduel compare")
    text = (tmp_path / "report.md").read_text()
    assert page == tmp_path / "report.html"
    assert "ArithmeticError: nothing adds up" in text
    assert "Some runs failed; those that succeeded: stumbling " in text
    assert "- Command: `fairduel compare`" in text
    assert "Random(users=3, arms=4), 40 rounds" in text
    assert (tmp_path / "regret.png").stat().st_size > 10_000


def test_a_picture_for_every_shape_of_comparison(three_runs: Results) -> None:
    assert len(three_runs.plot().axes) == 2  # regret, and what users get
    several = compare(UniformOverUsers(), PLACE, [10, 20], runs=1, workers=1)
    assert len([axes for axes in several.plot().axes if axes.lines]) == 2


def test_nothing_is_drawn_where_nothing_succeeds() -> None:
    failed = compare(Failing(), PLACE, 10, runs=1, workers=1)
    assert len(failed.failures) == 1
    with pytest.raises(InputError, match="nothing to draw"):
        failed.plot()


def test_curves_are_means_over_runs(three_runs: Results) -> None:
    ((_, players),) = three_runs.settings.items()
    (first, *_) = comparison._runs_of(three_runs, players)
    assert first.label == "fair"
    assert first.rounds.tolist() == [5000, 10000, 15000, 20000]
    np.testing.assert_array_equal(first.regret, regrets(three_runs, "fair"))
    assert first.utilities.shape == (3, 3)


def test_a_report_is_drawn_again_only_where_it_would_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []

    def drawing(figure: Any, suffix: str) -> bytes:
        drawn.append(suffix)
        return suffix.encode()

    def report(runs: int, folder: str = "out", command: str = "") -> list[str]:
        found = compare(UniformOverUsers(), PLACE, 10, runs=runs, seed=1, workers=1)
        drawn.clear()
        assert found.report(tmp_path / folder, command) == tmp_path / folder / "report.html"
        return [*drawn]

    monkeypatch.setattr(comparison, "image", drawing)
    monkeypatch.setattr(write, "image", drawing)
    monkeypatch.setattr(write, "svg_element", lambda figure, name: "<svg></svg>")
    assert report(runs=1) == [".png", ".png"]  # the curves, and the regret
    before = (tmp_path / "out" / "report.md").stat()
    assert report(runs=1) == []
    assert (tmp_path / "out" / "report.md").stat() == before
    assert report(runs=2)  # other numbers
    assert report(runs=2, command="fairduel compare")
    assert report(runs=2, folder="other")
    assert report(runs=2, command="fairduel compare") == []
    for damage in ("report.md", "report.html", "regret.png", "figures/curves1.png"):
        (tmp_path / "out" / damage).write_text("changed")
        assert report(runs=2, command="fairduel compare")
        (tmp_path / "out" / damage).unlink()
        assert report(runs=2, command="fairduel compare")
    (tmp_path / "out" / made.STAMP).write_text("[]")
    assert report(runs=2, command="fairduel compare")
    monkeypatch.setattr(made, "version", lambda name: "another matplotlib")
    assert report(runs=2, command="fairduel compare")


def test_notebooks_show_tables(three_runs: Results) -> None:
    shown = three_runs._repr_html_()
    assert shown.startswith("<p>Results(9 simulations)</p>")
    assert shown.count("<tr>") == 4  # a head and three learners
    assert '<td class="name short">fair</td>' in shown


def test_printed_it_is_the_table_of_the_command(three_runs: Results) -> None:
    lines = str(three_runs).splitlines()
    assert lines[0] == "environment Random(users=3, arms=4), rounds 20,000"
    assert [line.split()[0] for line in lines if line.startswith(tuple(LEARNERS))] == [*LEARNERS]
