"""Fair-VOI in the report: beside the paper's learners, and at short horizons."""

import numpy as np
import pytest

from fairduel.environments import Random
from fairduel.experiments import Cell
from fairduel.experiments.keys import identity
from fairduel.learners import FairVOI
from fairduel.paper import Reproduction, beyond, reproduction
from fairduel.paper.beyond import HARD_HORIZONS, HORIZONS, RANDOM, SEVEN, SIX, SIZES, Beyond
from fairduel.paper.experiment import LEARNERS, lost_by_chance
from fairduel.paper.groups import Groups
from fairduel.report.document import Document, Picture, Table, Text
from fairduel.simulation import metrics, simulate
from fake_sweep import fake_world


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    place = tmp_path_factory.mktemp("beyond")
    with pytest.MonkeyPatch.context() as patch:
        fake_world(patch)
        return reproduction.reproduce(["beyond"], place, runs=2, workers=1, data=place)


def tables(document: Document) -> dict[str, Table]:
    blocks = document.sections[0].blocks
    return {block.caption: block for block in blocks if isinstance(block, Table)}


def test_it_plays_what_the_paper_plays() -> None:
    """Fair-VOI and BT-Thompson have the instances and the luck of the others, in every setting."""
    section = Beyond(3, Groups(()))
    unknown = [*section.random.values(), *section.fairness.values()]
    known = list(section.hard.values())
    assert len(section.random) == 6
    assert len(section.fairness) == 2  # clustered; Sushi needs its groups
    assert len(section.hard) == 2 * len(HARD_HORIZONS)
    assert all(list(group) == list(SEVEN) for group in unknown)
    assert all(list(group) == list(SIX) for group in known)
    for group in unknown + known:
        played = {
            str([(identity(c.environment), c.rounds, c.run, c.seed) for c in cells])
            for cells in group.values()
        }
        assert len(played) == 1


def test_on_hard_instances_all_know_the_winners() -> None:
    for group in Beyond(2, Groups(())).hard.values():
        told = [[_winners(cell) for cell in cells] for cells in group.values()]
        assert all(each == told[0] for each in told)
        assert all(told[0])


def _winners(cell: Cell) -> tuple[int, ...]:
    """Return the winners that the learner of a cell has been told, or none."""
    return tuple(getattr(cell.learner, "winners", None) or ())


def test_it_is_asked_for_by_name_and_says_what_it_found(made: Reproduction) -> None:
    assert [section.name for section in made.document.sections] == ["beyond"]
    found = tables(made.document)
    regret = found["Regret after T rounds."]
    assert len(regret.rows) == 10
    hard = found["Regret after T rounds, divided by T^(2/3)."]
    assert [row[1] for row in hard.rows] == [f"{rounds:,}" for rounds in HARD_HORIZONS] * 2
    fairness = found["After T rounds."]
    assert len(fairness.rows) == 5 * 4  # settings, metrics
    for users, arms in SIZES:
        short = found[f"D = {users}, K = {arms}: share lost."]
        assert [row[0] for row in short.rows] == [f"{rounds:,}" for rounds in HORIZONS]
        assert short.head[:5] == ("T", RANDOM, "Fair-VOI", "Fair-VOI, T unknown", "BT-Thompson")
        assert short.head[5:] == tuple(LEARNERS.values())
    for table in found.values():
        assert "Fair-VOI" in table.head
        assert ("BT-Thompson" in table.head) == (table != hard)
        assert all(len(row) == len(table.head) for row in table.rows)


def test_its_pictures_are_drawn(made: Reproduction) -> None:
    blocks = made.document.sections[0].blocks
    names = [block.name for block in blocks if isinstance(block, Picture)]
    assert names == ["beyond-fairness", "beyond-hard", "beyond"]
    for name in names:
        assert (made.text.parent / "figures" / f"{name}.png").stat().st_size > 10_000


def test_words_give_the_ratios() -> None:
    """Of the best of the five to Fair-VOI, the smallest and the largest of all settings."""
    first = dict.fromkeys(SIX, np.array([8.0, 12.0])) | {"fair-eps": np.array([6.0])}
    second = dict.fromkeys(SIX, np.array([30.0]))
    said = beyond._times_less([first | {"fair-voi": np.array([2.0])}, second])
    assert "from 1 to 3 times that of Fair-VOI" in said
    lost = second | {"uniform": np.array([np.nan])}
    assert "times" not in beyond._times_less([first, lost])


def test_words_give_the_horizon_from_which_on_half_is_had(made: Reproduction) -> None:
    assert beyond._first_below([0.4] * len(HORIZONS)) == "100"
    assert beyond._first_below([0.4, 0.6, *[0.4] * (len(HORIZONS) - 2)]) == "1,000"
    assert beyond._first_below([0.6] * len(HORIZONS)) == "none"
    assert beyond._first_below([float("nan")] * len(HORIZONS)) == "none"
    shares = {(3, 5): {name: np.full((len(HORIZONS), 2), 0.6) for name in SIX}}
    shares[3, 5]["uniform"][5:] = 0.3
    shares[3, 5]["fair-voi"][1:] = 0.3
    assert "300 and 30,000 with D = 3, K = 5" in beyond._half_way(shares)
    assert any(
        "half of what could be had" in block.text
        for block in made.document.sections[0].blocks
        if isinstance(block, Text)
    )


def test_random_and_the_best_policy_are_what_playing_them_gives() -> None:
    """The best policy's metrics are those that a learner who knows it would come to."""
    cell = Cell(FairVOI(), Random(3, 5), 100, run=1)
    instance = beyond._instance(cell)
    uniform = np.full(5, 0.2)
    path = simulate(instance, 100, seed=1)
    lost = 1.0 - (instance.scores @ uniform).prod() / path.best
    assert lost_by_chance(Random(3, 5), HORIZONS[0], 2)[1] == pytest.approx(lost, abs=1e-12)
    best = beyond._best_utilities((cell,))
    assert best.shape == (1, 3)
    assert best.prod() == pytest.approx(path.best, rel=1e-9)
    assert metrics.nash_welfare(100 * best)[0] == pytest.approx(100 * path.best ** (1 / 3))


def test_all_is_the_paper_alone() -> None:
    assert "beyond" not in reproduction._chosen(["all"])
    assert reproduction._chosen(["beyond", "table1"]) == ["table1", "beyond"]
