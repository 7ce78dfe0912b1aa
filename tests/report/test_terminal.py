"""What the commands print, for people and for programs."""

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from fairduel.data.scores import ScoreTable, solve
from fairduel.report import terminal
from fairduel.report.metrics import METRICS
from fairduel.report.statistics import Estimate, estimate
from fairduel.report.summary import IDENTIFYING, Summary
from fairduel.welfare import (
    Egalitarian,
    FrankWolfe,
    GeneralizedGini,
    Nash,
    PowerMean,
    Solution,
    Utilitarian,
    Welfare,
)

SETTINGS = {"environment": "random", "rounds": 200_000, "seed": 0}
TABLE = ScoreTable(
    np.array([[1.0, 0.2, 0.1], [0.3, 0.9, 0.1]]), ("Ada", "Bob"), ("tea", "milk", "gin")
)


def made_up(regret: dict[str, list[float]], rounds: int = 200_000) -> dict[str, Summary]:
    """Return learners whose runs end with this regret; everything else is alike."""
    same = {name: Estimate(0.6 * rounds, 0.05 * rounds) for name in METRICS} | {
        "gini": Estimate(0.1, math.nan)
    }
    return {
        label: Summary(
            len(values), same | {"regret": estimate(values)}, Estimate(7.0, math.nan), 0.2
        )
        for label, values in regret.items()
    }


def printed(summaries: dict[str, Summary], width: int = 80, encoding: str = "utf-8") -> str:
    output = io.TextIOWrapper(io.BytesIO(), encoding)
    console = Console(file=output, width=width, markup=False, emoji=False, highlight=False)
    terminal.print_summaries(console, summaries, SETTINGS)
    output.seek(0)
    return output.read()


TWO = made_up({"fair-etc": [300.0, 100.0], "uniform": [10_000.0, 10_000.0]})


def test_narrow_table_fits_eighty_columns_and_marks_the_best() -> None:
    text = printed(TWO)
    assert max(map(len, text.splitlines())) <= 80
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["fair-etc"][1] == "*200.0"
    assert rows["uniform"][1] == "10,000"
    assert "±196.0" in text  # 1.96 standard errors of 300 and 100: 1.96 * 100
    assert "rounds 200,000" in text


def test_wide_table_has_a_line_for_each_learner() -> None:
    text = printed(TWO, width=160)
    line = next(line for line in text.splitlines() if line.startswith("fair-etc"))
    assert "*200.0 ± 196.0" in line
    assert line.rstrip().endswith("0.200")  # the median of the seconds


def test_ties_are_all_best_and_a_single_learner_is_not() -> None:
    tied = printed(made_up({"a": [1.0], "b": [1.0]}))
    assert tied.count("*") == 2 * 5 + 1  # one in the note
    assert printed(made_up({"a": [1.0]})).count("*") == 1


def test_more_welfare_is_better() -> None:
    low, high = Estimate(1.0, 0.1), Estimate(2.0, 0.1)
    summaries = {
        "worse": Summary(2, dict.fromkeys(METRICS, low), low, 0.1),
        "better": Summary(2, dict.fromkeys(METRICS, high), low, 0.1),
    }
    lines = {line.split()[0]: line for line in printed(summaries, width=160).splitlines() if line}
    assert lines["better"].count("*2.000") == 3  # the three kinds of welfare
    assert lines["worse"].count("*1.000") == 2  # regret and Gini


def test_note_counts_the_runs_that_there_are() -> None:
    assert "standard errors of 2 runs; seconds" in printed(TWO, width=160)
    some = printed(made_up({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0], "c": [1.0]}), width=160)
    assert "standard errors of 3 runs (where fewer succeeded: b 2, c 1); seconds" in some
    assert printed(made_up({"a": [1.0]})).rstrip().endswith("* best of its column; one run")


@pytest.mark.parametrize("rounds", [1, 10**6, 9 * 10**6, 10**9, 10**15])
@pytest.mark.parametrize("width", [20, 80])
def test_nothing_is_cut_off(rounds: int, width: int) -> None:
    label = "fair-eps:tournament.gap_guess=0.01,solve_every=50"
    text = printed(made_up({label: [0.1 * rounds, 0.3 * rounds]}, rounds), width)
    assert "…" not in text
    squeezed = "".join(line.split(" ")[0] for line in text.splitlines())
    assert label in squeezed or f"(1) {label}" in text.replace("\n", "")
    if width == 80:
        assert max(map(len, text.splitlines())) <= 80


def test_long_names_are_broken_between_words() -> None:
    label = "fair-eps:tournament.gap_guess=0.01,solve_every=50"
    lines = printed(made_up({label: [2000.0, 1000.0]})).splitlines()
    column = [line.split("  ")[0].split(" ")[0] for line in lines[5:8]]
    assert column == ["fair-eps:tournament.", "gap_guess=0.01,", "solve_every=50"]
    wide = printed(made_up({label: [2000.0, 1000.0]}), width=160)
    assert f"\n{label} " in wide


def test_names_that_do_not_fit_are_numbered_and_listed() -> None:
    two = made_up({label: [2e6, 9e6] for label in ("uniform", "utilitarian-etc")}, 9 * 10**6)
    text = printed(two, width=70)
    assert text.count("\n(1) ") == 2  # in the table, and under it
    assert "\n(2) utilitarian-etc\n* best" in text
    assert "utilitar\n" not in text


def test_who_identifies_nobody_has_a_dash_and_who_does_not_finish_a_sign() -> None:
    first = made_up({"a": [1.0, 2.0]})["a"]
    summaries = {
        "etc": replace(first, identifying=Estimate(700.0, 20.0)),
        "voi": replace(first, identifying=Estimate(0.0, 0.0)),
        "eps": replace(first, identifying=Estimate(1900.0, 10.0), identified=False),
    }
    lines = {line.split()[0]: line for line in printed(summaries, width=160).splitlines() if line}
    assert lines["etc"].split()[-4:-1] == ["700.0", "±", "20.0"]
    assert lines["voi"].split()[-2] == "–"
    assert lines["eps"].split()[-3:-1] == [">", "1,900"]
    assert lines["Rounds"] == IDENTIFYING
    assert IDENTIFYING not in printed(TWO, width=160)
    plain = printed(summaries, width=160, encoding="ascii")
    assert "winner: - if a learner" in plain


def test_small_regret_keeps_its_digits() -> None:
    assert "1.25e-10" in printed(made_up({"a": [1.25e-10]}, rounds=1))


def test_several_learners_in_the_millions_fit_as_well() -> None:
    labels = ("utilitarian-etc", "utilitarian-eps", "fair-voi")
    text = printed(made_up({label: [2e6, 9e6] for label in labels}, 9 * 10**6))
    assert max(map(len, text.splitlines())) <= 80
    assert "*5,500,000" in text


def test_plain_terminals_get_plain_characters() -> None:
    text = printed(TWO, encoding="ascii")
    assert "+-196.0" in text


def test_summaries_data_is_json() -> None:
    data = json.loads(json.dumps(terminal.summaries_data(made_up({"a": [1.0]})), allow_nan=False))
    assert list(data[0]) == ["learner", *METRICS, "identifying_rounds", "seconds"]
    assert data[0]["learner"] == "a"
    assert data[0]["regret"] == {"mean": 1.0, "half_width": None}
    assert data[0]["identifying_rounds"]["mean"] == 7
    assert data[0]["seconds"] == 0.2


@pytest.mark.parametrize(
    ("welfare", "said"),
    [
        (
            Nash(),
            r"no policy has a (higher Nash welfare|Nash welfare more than \S+ % higher)",
        ),
        (Utilitarian(), "no policy has a higher mean utility"),
        (Egalitarian(), "no policy has a .*smallest utility"),
        (FrankWolfe(), r"a Nash welfare more than \d+ % higher"),
        (PowerMean(-2), r"no policy has a (higher )?power mean \(p=-2\)"),
        (GeneralizedGini(delta=3), r"no policy has a (higher )?Gini welfare \(delta=3\)"),
    ],
)
def test_solutions_in_words(welfare: Welfare, said: str) -> None:
    solution = solve(TABLE, welfare)
    output = io.StringIO()
    console = Console(file=output, width=80)
    terminal.print_solution(console, solution, welfare)
    text = output.getvalue()
    assert re.search(said, text)
    assert f"{welfare.title}: {solution.value:.6g}" in text
    for name in ("tea", "Ada", "Bob"):
        assert name in text
    assert "gin" not in text
    data = terminal.solution_data(solution, welfare)
    data = json.loads(json.dumps(data, allow_nan=False))
    assert data["welfare"] == welfare.text
    assert re.search(said, data["certificate"])
    assert [entry["arm"] for entry in data["arms"]] == ["tea", "milk", "gin"]
    assert [entry["utility"] for entry in data["users"]] == solution.utilities.tolist()
    assert data["value"] == solution.value


@pytest.mark.parametrize(
    ("gap", "relative", "said"),
    [
        (0.0, True, "no policy has a higher V"),
        (math.log(1.5), True, "no policy has a V more than 50 % higher"),
        (0.25, False, "no policy has a V more than 0.25 higher"),
        (math.inf, True, "none: a user gets nothing here whom another policy would serve"),
    ],
)
def test_certificate_is_the_bound_on_the_welfare(gap: float, relative: bool, said: str) -> None:
    class Kind(Nash):
        label = "V"

    Kind.relative = relative
    solution = Solution(np.ones(1), np.ones(1), 1.0, gap)
    assert terminal.certificate(solution, Kind()) == said


def test_users_whom_nothing_serves_are_named() -> None:
    table = ScoreTable(np.array([[1.0], [0.0]]), ("Ada", "[Bob]"), ("tea",))
    solution = solve(table)
    output = io.StringIO()
    console = Console(file=output, width=80, markup=False)
    terminal.print_solution(console, solution, Nash())
    assert "left out, since no policy gives them anything: [Bob]" in output.getvalue()
    data = terminal.solution_data(solution, Nash())
    assert data["unserved"] == ["[Bob]"]
