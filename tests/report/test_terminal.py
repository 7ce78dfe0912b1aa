"""What the commands print, for people and for programs."""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

from fairduel.data.scores import ScoreTable
from fairduel.experiments.comparison import Comparison
from fairduel.report import terminal
from fairduel.simulation.trajectory import Trajectory
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Solution, Utilitarian, Welfare

SETTINGS = {"environment": "random", "rounds": 200_000, "seed": 0}
TABLE = ScoreTable(
    np.array([[1.0, 0.2, 0.1], [0.3, 0.9, 0.1]]), ("Ada", "Bob"), ("tea", "milk", "gin")
)


def made_up(earned: dict[str, list[float]], rounds: int = 200_000) -> Comparison:
    """Learners whose runs end with such welfare earned; everything else is alike."""
    marks = np.array([rounds])
    utilities = rounds * np.array([[0.5, 0.75]])
    trajectories = {
        label: [
            Trajectory(marks, np.array([value]), utilities, 1.0, {"identify": 7}, np.ones(1))
            for value in values
        ]
        for label, values in earned.items()
    }
    return Comparison(trajectories, {label: [0.5, 0.1, 0.2] for label in earned})


def printed(comparison: Comparison, width: int = 80, encoding: str = "utf-8") -> str:
    output = io.TextIOWrapper(io.BytesIO(), encoding)
    console = Console(file=output, width=width, markup=False, emoji=False, highlight=False)
    terminal.print_comparison(console, comparison, SETTINGS)
    output.seek(0)
    return output.read()


THREE = made_up({"fair-etc": [199_700.0, 199_900.0], "uniform": [190_000.0, 190_000.0]})


def test_narrow_table_fits_eighty_columns_and_marks_the_best() -> None:
    text = printed(THREE)
    assert max(map(len, text.splitlines())) <= 80
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["fair-etc"][1] == "*200.0"
    assert rows["uniform"][1] == "10,000"
    assert "±196.0" in text  # 1.96 standard errors of 300 and 100: 1.96 * 100
    assert "rounds 200,000" in text


def test_wide_table_has_a_line_for_each_learner() -> None:
    text = printed(THREE, width=160)
    line = next(line for line in text.splitlines() if line.startswith("fair-etc"))
    assert "*200.0 ± 196.0" in line
    assert line.rstrip().endswith("0.200")  # the median of the seconds


def test_ties_are_all_best_and_a_single_learner_is_not() -> None:
    tied = printed(made_up({"a": [1.0], "b": [1.0]}))
    assert tied.count("*") == 2 * 5 + 1  # one in the note
    assert printed(made_up({"a": [1.0]})).count("*") == 1


def test_note_counts_the_runs_that_there_are() -> None:
    assert "standard errors of 2 runs; seconds" in printed(THREE, width=160)
    some = printed(made_up({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0], "c": [1.0]}), width=160)
    assert "standard errors of 3 runs (where fewer succeeded: b 2, c 1); seconds" in some
    assert printed(made_up({"a": [1.0]})).rstrip().endswith("* best of its column; one run")


@pytest.mark.parametrize("rounds", [1, 10**6, 10**9, 10**15])
@pytest.mark.parametrize("width", [20, 80])
def test_nothing_is_cut_off(rounds: int, width: int) -> None:
    label = "fair-eps:tournament.gap_guess=0.01,solve_every=50"
    text = printed(made_up({label: [0.1 * rounds, 0.3 * rounds]}, rounds), width)
    assert "…" not in text
    squeezed = "".join(line.split(" ")[0] for line in text.splitlines())
    assert label in squeezed
    if width == 80:
        assert max(map(len, text.splitlines())) <= 80


def test_small_regret_keeps_its_digits() -> None:
    assert "1.25e-10" in printed(made_up({"a": [-1.25e-10]}, rounds=1)).replace("1.000", "") or (
        "1.25e-10" in terminal._number(1.25e-10, 1.25e-10)
    )


def test_plain_terminals_get_plain_characters() -> None:
    text = printed(THREE, encoding="ascii")
    assert "+-196.0" in text


def test_comparison_data_is_json() -> None:
    data = json.loads(json.dumps(terminal.comparison_data(made_up({"a": [1.0]})), allow_nan=False))
    assert data[0]["learner"] == "a"
    assert data[0]["regret"] == {"mean": 199_999.0, "half_width": None}
    assert data[0]["identifying_rounds"]["mean"] == 7
    assert data[0]["seconds"] == 0.2


@pytest.mark.parametrize(
    ("name", "welfare", "said"),
    [
        (
            "nash",
            Nash(),
            r"no policy has a (higher Nash welfare|Nash welfare more than \S+ % higher)",
        ),
        ("utilitarian", Utilitarian(), "no policy has a higher mean utility"),
        ("egalitarian", Egalitarian(), "no policy has a .*smallest utility"),
        ("frank-wolfe", FrankWolfe(), r"no policy has a Nash welfare more than \d+ % higher"),
    ],
)
def test_solutions_in_words(name: str, welfare: Welfare, said: str) -> None:
    import re

    solution = welfare.maximize(TABLE.scores)
    output = io.StringIO()
    terminal.print_solution(Console(file=output, width=80), TABLE, solution, name)
    text = output.getvalue()
    assert re.search(said, text)
    for label in ("tea", "Ada", "Bob"):
        assert label in text
    assert "gin" not in text
    data = json.loads(json.dumps(terminal.solution_data(TABLE, solution, name), allow_nan=False))
    assert [entry["arm"] for entry in data["arms"]] == ["tea", "milk", "gin"]
    assert [entry["utility"] for entry in data["users"]] == solution.utilities.tolist()
    assert data["value"] == solution.value


def test_certificate_is_the_bound_on_the_welfare() -> None:
    solution = Solution(np.ones(1), np.ones(1), 1.0, math.log(1.5))
    assert terminal.certificate(solution, "nash").endswith("more than 50 % higher")
    hopeless = Solution(np.ones(1), np.zeros(1), 0.0, math.inf)
    assert "somebody gets nothing" in terminal.certificate(hopeless, "frank-wolfe")


def test_users_whom_nothing_serves_are_named() -> None:
    table = ScoreTable(np.array([[1.0], [0.0]]), ("Ada", "[Bob]"), ("tea",))
    solution = Nash().maximize(table.scores)
    output = io.StringIO()
    terminal.print_solution(Console(file=output, width=80, markup=False), table, solution, "nash")
    assert "left out, since no policy gives them anything: [Bob]" in output.getvalue()
    assert terminal.solution_data(table, solution, "nash")["unserved"] == ["[Bob]"]
