"""The paper's experiments: which simulations they are, and what is concluded from them."""

import math
from pathlib import Path

import numpy as np
import pytest

from fairduel import named
from fairduel.arrays import Floats
from fairduel.cli import run as command
from fairduel.data import DataMissing
from fairduel.errors import InputError
from fairduel.generate import hard_instance
from fairduel.paper import claims, lower_bound, reproduce, upper_bound
from fairduel.paper.criterion import fact, more, more_between
from fairduel.paper.document import Claim, Verdict, interval, number
from fairduel.paper.experiment import LEARNERS, METRICS, Outcomes
from fairduel.paper.figure1 import Figure1
from fairduel.paper.figure2 import Figure2
from fairduel.paper.lower_bound import LowerBound, Series, Setting
from fairduel.paper.printed import TABLE1
from fairduel.paper.table1 import Table1
from fairduel.paper.upper_bound import UpperBound
from fairduel.sweep import sweep
from fake_sweep import fake_sweep, fake_world


def spread(mean: float, size: float = 1.0, count: int = 30) -> Floats:
    """So many values around a mean, without chance."""
    return mean + size * np.linspace(-1, 1, count)


# The criterion


def test_verdicts_follow_the_interval() -> None:
    base = np.zeros(30)
    assert more("", base + spread(1), base).verdict is Verdict.HOLDS
    assert more("", base + spread(0.05), base).verdict is Verdict.NOISE
    assert more("", base + spread(-0.05), base).verdict is Verdict.NOISE
    assert more("", base + spread(-1), base).verdict is Verdict.FAILS


def test_pairing_sees_what_two_samples_do_not() -> None:
    low = spread(0, size=10)
    high = low + spread(0.5, size=0.1)
    assert more("", high, low).verdict is Verdict.HOLDS
    assert more_between("", high, low).verdict is Verdict.NOISE
    assert more_between("", high + 20, low).verdict is Verdict.HOLDS


def test_failed_runs_are_left_out() -> None:
    values = spread(1.0)
    with_failure = values.copy()
    with_failure[3] = np.nan
    kept = np.delete(values, 3)
    assert more("", with_failure, 0.0) == more("", kept, 0.0)
    assert more_between("", with_failure, values) == more_between("", kept, values)
    assert interval(with_failure) == interval(kept)


def test_a_claim_is_as_good_as_its_worst_comparison() -> None:
    good, bad = fact("so", True), fact("not so", False)
    unclear = more("", spread(0.0), 0.0)
    assert Claim("", "", "", (good, good)).verdict is Verdict.HOLDS
    assert Claim("", "", "", (good, unclear)).verdict is Verdict.NOISE
    assert Claim("", "", "", (unclear, bad, good)).verdict is Verdict.FAILS


# The claims


def finals(**levels: tuple[float, ...]) -> dict[str, dict[str, Floats]]:
    """Of the five learners in order, by metric; metrics not given are alike for all."""
    return {
        learner: {
            metric: spread(levels.get(metric, (0.0,) * 5)[place], size=0.01) for metric in METRICS
        }
        for place, learner in enumerate(LEARNERS)
    }


def verdicts(found: tuple[Claim, ...]) -> dict[str, Verdict]:
    return {claim.name: claim.verdict for claim in found}


def test_claims_of_table_1_hold_for_the_papers_numbers() -> None:
    paper = {
        metric: (
            by["fair-etc"],
            by["fair-eps"],
            by["utilitarian"],
            by["utilitarian"],
            by["uniform"],
        )
        for metric, by in TABLE1.items()
    }
    found = claims.table1_claims(finals(**{m: tuple(v[0] for v in by) for m, by in paper.items()}))
    assert set(verdicts(found).values()) == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("metric", "levels", "name"),
    [
        ("regret", (5, 5, 4, 6, 6), "fair-lowest-regret"),
        ("nash_welfare", (5, 5, 4, 4, 6), "fair-highest-nash-welfare"),
        ("utilitarian_welfare", (7, 5, 6, 6, 5), "utilitarian-highest-utilitarian-welfare"),
        ("gini", (5, 7, 6, 6, 5), "utilitarian-price"),
        ("minimum_welfare", (5, 3, 4, 4, 5), "fair-fairer-than-utilitarian"),
        ("minimum_welfare", (5, 5, 4, 4, 9), "fair-close-to-uniform"),
    ],
)
def test_a_claim_of_table_1_that_is_not_so_does_not_hold(
    metric: str, levels: tuple[float, ...], name: str
) -> None:
    found = claims.table1_claims(finals(**{metric: levels}))
    assert verdicts(found)[name] is Verdict.FAILS


def test_linear_regret_is_not_sublinear() -> None:
    half = {name: spread(1.0, 0.01) for name in LEARNERS}
    slow = {name: (half[name], 1.5 * half[name]) for name in LEARNERS}
    fast = slow | {"fair-eps": (half["fair-eps"], 2.5 * half["fair-eps"])}
    assert verdicts(claims.figure1_claims({"a": slow}))["fair-sublinear"] is Verdict.HOLDS
    both = claims.figure1_claims({"a": slow, "b": fast})
    assert verdicts(both)["fair-sublinear"] is Verdict.FAILS
    assert verdicts(both)["fair-outperform-everywhere"] is Verdict.FAILS


def test_claims_on_majorities_compare_their_sizes() -> None:
    small = finals(minimum_welfare=(9, 9, 6, 6, 7), gini=(1, 1, 3, 3, 2))
    large = finals(minimum_welfare=(8, 8, 3, 3, 7), gini=(1, 1, 4, 4, 2))
    found = verdicts(claims.figure2_claims({0.5: small, 0.7: large}))
    assert set(found.values()) == {Verdict.HOLDS}
    swapped = verdicts(claims.figure2_claims({0.5: large, 0.7: small}))
    assert swapped["utilitarian-favours-majority"] is Verdict.FAILS
    assert swapped["fair-robust"] is Verdict.FAILS
    assert swapped["fair-protect-minority"] is Verdict.HOLDS


def test_claims_on_sushi_have_their_thresholds() -> None:
    five = finals(regret=(1, 1, 3, 3, 2), minimum_welfare=(9, 9, 2, 2, 5), gini=(1, 1, 4, 4, 2))
    slight = finals(
        regret=(1, 1, 5, 5, 3), minimum_welfare=(9, 9, 2, 2, 9.5), gini=(2, 2, 4, 4, 1.9)
    )
    assert set(verdicts(claims.figure3_claims({5: five, 10: slight})).values()) == {Verdict.HOLDS}
    much = finals(regret=(1, 1, 5, 5, 1.5), minimum_welfare=(9, 9, 2, 2, 12), gini=(2, 2, 4, 4, 1))
    found = verdicts(claims.figure3_claims({5: five, 10: much}))
    assert found["sushi-10-uniform-fairer"] is Verdict.HOLDS
    assert found["sushi-10-only-slightly"] is Verdict.FAILS
    assert found["sushi-10-uniform-regret"] is Verdict.FAILS


# The experiments


def test_table_1_agrees_with_the_paper_in_all_20_cells(tmp_path: Path) -> None:
    table = Table1(30)
    as_run = table.groups["as_run"]
    cells = [cell for group in as_run.values() for cell in group]
    outcomes = Outcomes(sweep(cells, tmp_path, progress=False))
    assert table.agreeing(outcomes, "as_run") == 20
    assert math.isclose(outcomes.about(as_run["uniform"], "best").mean(), 0.003937, abs_tol=5e-7)
    identifying = outcomes.about(as_run["uniform"], "identify").mean()
    assert abs(identifying - 37_350) < 2_760


def test_figure_1_has_the_papers_settings_and_shares_the_runs_of_table_1() -> None:
    figure = Figure1(3)
    sizes = ["D = 5, K = 5", "D = 5, K = 10", "D = 5, K = 20", "D = 10, K = 5", "D = 10, K = 10"]
    assert list(figure.groups) == [*sizes, "D = 20, K = 10"]
    assert {cell.rounds for cell in figure.cells} == {100_000, 200_000, 500_000}
    assert set(Table1(3).groups["as_run"]["fair-eps"]) < set(figure.cells)
    assert {cell.rounds for cell in Figure2(3).cells} == {200_000}


@pytest.mark.parametrize(("users", "arms"), [(4, 4), (6, 16), (16, 6)])
def test_hard_cells_know_the_winners_and_leave_out_the_unperturbed_instance(
    users: int, arms: int
) -> None:
    setting = Setting(users, arms, 10_000)
    cells = setting.cells("fair-etc", 7)
    assert len({cell.run for cell in cells}) == 7
    for cell in cells:
        instance = named.environment(cell.environment)(cell.run, cell.rounds, cell.seed)
        told = cell.learner.partition("winners=")[2]
        assert told == "/".join(map(str, instance.winners))
        # In I^0 all good winners are alike; in I^m one of them is better for everybody.
        best = instance.scores.prod(axis=0)
        assert (best > 0.9 * best.max()).sum() >= 2
        plain = hard_instance(users, arms, 10_000, instance=0).scores.prod(axis=0)
        assert best.max() > plain.max() + 1e-9


def test_lower_bound_has_the_proofs_constant() -> None:
    # Case 1: epsilon = 0.9 (M / 2304 T)^(1/3), so the bound is 0.45 (M T^2 / 2304)^(1/3) - T^-2.
    expected = 0.45 * math.cbrt(4 * 10**12 / 2304) - 1e-12
    assert math.isclose(Setting(4, 8, 10**6).bound, expected)
    # Case 2: from T0 = M / (2304 epsilon^3) on it is M / (4608 epsilon^2).
    assert math.isclose(Setting(4, 4, 10**6, epsilon=0.01).bound, 4 / (4608 * 1e-4), rel_tol=1e-9)
    assert math.isclose(Setting(4, 4, 100, epsilon=0.01).bound, 0.5 - 1e-4)


def test_slopes_are_exponents() -> None:
    x = (10, 100, 1000)
    series = Series("fair-etc", x, ())
    assert math.isclose(series.slope([3 * value**0.7 for value in x]), 0.7)
    settings = tuple(Setting(4, 4, rounds) for rounds in lower_bound.HORIZONS)
    assert math.isclose(
        Series("", lower_bound.HORIZONS, settings).slope([each.bound for each in settings]),
        2 / 3,
        rel_tol=1e-3,
    )


def test_bounds_are_judged_by_what_was_measured(tmp_path: Path) -> None:
    lower, upper = LowerBound(4), UpperBound(4)
    outcomes = Outcomes(fake_sweep([*lower.cells, *upper.cells], tmp_path))
    found = verdicts(lower.section(outcomes).claims)
    assert (
        found["regret-above-lower-bound"] is Verdict.HOLDS
    )  # T^(2/3) with a constant of 1 and more
    assert found["lower-bound-in-winners"] is Verdict.FAILS  # and nothing that grows with M
    measured = upper_bound._Measured(outcomes, 4)
    shares = [
        measured.mean(setting, learner) / (measured.constant * setting.bound)
        for setting in upper_bound.SETTINGS
        for learner in ("fair-etc", "fair-eps")
    ]
    assert math.isclose(max(shares), 1.0)


def test_upper_bound_is_that_of_theorem_4_2() -> None:
    setting = upper_bound.Setting(users=10, arms=10, gap=0.1, rounds=200_000)
    first = (
        10
        * 10
        / 0.01
        * math.log(5)
        * (math.log(math.log(10)) + math.log(2 * 10 * 0.0025 * 200_000 / (10 * math.log(5))))
    )
    second = 10 ** (2 / 3) * 10 ** (1 / 3) * 10 ** (1 / 3) * 200_000 ** (2 / 3)
    second *= math.log(10 * 10 * 200_000) ** (1 / 3)
    assert math.isclose(setting.bound, first + second + 10 * math.log(5) / 0.0025)


def test_a_failed_cell_leaves_the_others(tmp_path: Path) -> None:
    figure = Figure2(4)
    cells = [
        cell for cell in figure.cells if (cell.learner, cell.run) != ("uniform:preset=as_run", 2)
    ]
    outcomes = Outcomes(fake_sweep(cells, tmp_path))
    finals = outcomes.final(figure.groups[0.5]["uniform"], "gini")
    assert np.isnan(finals).tolist() == [False, False, True, False]
    assert len(figure.section(outcomes).claims) == 4


# The whole


def test_without_data_all_goes_on_with_a_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_world(monkeypatch)
    monkeypatch.setattr(reproduce, "NAMES", ("figure2", "figure3"))
    options = ["--out", str(tmp_path), "--data", str(tmp_path), "--workers", "1", "--runs", "2"]
    assert command(["reproduce", "all", *options]) == 3
    said = capsys.readouterr()
    assert "kamishima" in said.err
    page = (tmp_path / "report.html").read_text()
    assert "synthetic data and not Sushi" in page
    assert "Figure 2: clustered" in page  # the rest is there
    assert "sushi-every-cluster" not in page


def test_without_data_figure_3_by_name_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reproduce, "sweep", lambda *args, **options: pytest.fail("it ran"))
    with pytest.raises(DataMissing):
        reproduce.reproduce(["figure3"], tmp_path / "out", data=tmp_path)
    assert command(["reproduce", "figure3", "table1", "--data", str(tmp_path)]) == 3
    assert "put its" in capsys.readouterr().err


def test_a_failure_is_said_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(cells: list[object], folder: Path, **options: object) -> object:
        results = fake_sweep(cells[:-1], folder)  # type: ignore[arg-type]
        results.failures = (type("F", (), {"cell": cells[-1], "reason": "it is <broken>"}),)
        return results

    monkeypatch.setattr(reproduce, "sweep", failing)
    assert command(["reproduce", "figure2", "--out", str(tmp_path), "--runs", "3"]) == 1
    assert "1 simulations failed" in capsys.readouterr().err
    assert "it is &lt;broken&gt;" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("names", "runs", "said"),
    [
        (["tabel1"], 30, "did you mean 'table1'"),
        ([], 30, "nothing to reproduce"),
        (["table1"], 1, "from 2 to 30"),
        (["table1"], 31, "from 2 to 30"),
    ],
)
def test_bad_requests_are_refused(tmp_path: Path, names: list[str], runs: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        reproduce.reproduce(names, tmp_path, runs)


def test_numbers_are_readable() -> None:
    values = (0.0, 0.11761, 1.49951, 201.74, 70545.8, 2.5e8, math.nan)
    assert [number(value) for value in values] == [
        "0",
        "0.1176",
        "1.500",
        "201.7",
        "70,546",
        "2.5e+08",
        "–",
    ]
    assert interval([1.0]) == "1.000"
    assert interval([200.0, 202.0]) == "201.0 ± 2.0"
