"""`fairduel compare`: a grid from flags and files, its table, pictures and report."""

import dataclasses
import json
import os
import platform
import re
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from fairduel import FairETC, Learner, cli, random_instance
from fairduel.cli.grid import Grid, read_grid
from fairduel.environments import Environment, Paper, Random, Scored
from fairduel.errors import InputError
from fairduel.experiments import Checkpoints
from fairduel.experiments.grid import labelled

TOML = """
learners = ["fair-etc:preset=as_run", "uniform"]
environments = ["random:users=2,arms=3", "paper"]
rounds = [100, 1000]
runs = 2
seed = 7
checkpoints = "log:10"
"""

Compare = Callable[..., tuple[int, str, str]]


@pytest.fixture
def compare(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Compare:
    """Run the command in an empty directory: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        return cli.run(["compare", *arguments]), *capfd.readouterr()

    return run


def test_file_says_it_all(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(TOML)
    grid = read_grid(tmp_path / "grid.toml", {})
    assert grid == Grid(
        ("fair-etc:preset=as_run", "uniform"),
        ("random:users=2,arms=3", "paper"),
        (100, 1000),
        2,
        7,
        "log:10",
    )
    arguments = grid.arguments()
    assert list(arguments["learners"]) == ["fair-etc:preset=as_run", "uniform"]
    assert arguments["learners"]["fair-etc:preset=as_run"] == FairETC.as_run()
    assert arguments["environments"] == {"random:users=2,arms=3": Random(2, 3), "paper": Paper()}
    assert arguments["checkpoints"] == Checkpoints(10, "log")


def test_what_is_given_comes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(TOML)
    given = {"learners": ["uniform"], "runs": 1, "seed": None}
    grid = read_grid(tmp_path / "grid.toml", given)
    assert (grid.learners, grid.runs, grid.seed) == (("uniform",), 1, 7)


def test_one_value_needs_no_list_and_the_rest_has_defaults(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text('environments = "paper"\nrounds = 10')
    grid = read_grid(tmp_path / "grid.toml", {})
    assert grid == dataclasses.replace(Grid(), environments=("paper",), rounds=(10,))


def test_a_scoring_is_that_of_all_environments(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text('environments = ["paper", "random"]\nscoring = "borda"')
    grid = read_grid(tmp_path / "grid.toml", {"scoring": None})
    assert grid.arguments()["environments"] == {
        "paper": Scored(Paper(), "borda"),
        "random": Scored(Random(), "borda"),
    }
    assert "--scoring borda" in grid.command(Path("out"), None)
    assert "--scoring" not in Grid().command(Path("out"), None)


def test_answers_are_one_for_all_or_one_for_each(tmp_path: Path) -> None:
    for text, answers in (("0.3", 0.3), ("1", 1), ("[1, 0.3]", [1, 0.3])):
        (tmp_path / "grid.toml").write_text(f"answers = {text}\ndelay = 20")
        grid = read_grid(tmp_path / "grid.toml", {"delay": 7})
        assert grid.arguments()["answers"] == answers
        assert grid.arguments()["delay"] == 7
    assert "--answers 1 --answers 0.3 --delay 7" in grid.command(Path("out"), None)


def test_a_report_says_who_answers(compare: Compare) -> None:
    sizes = ("--environment", "random:users=2,arms=2", "--rounds", "300", "--runs", "2")
    flags = ("--learner", "bt-thompson", *sizes, "--workers", "1", "--answers", "0.3")
    code, out, _ = compare(*flags, "--delay", "20", "--out", "late")
    assert code == 0
    assert "seed 0, answers 0.3, delay 20" in out
    assert "with probability 0.3, 20 rounds later" in Path("late/report.md").read_text()
    rows = pq.read_table("late/rows.parquet").to_pylist()
    assert {(row["answers"], row["delay"]) for row in rows} == {("0.3", 20)}
    assert compare(*flags, "--out", "soon")[0] == 0
    soon = pq.read_table("soon/rows.parquet").to_pylist()
    assert [row["regret"] for row in soon] != [row["regret"] for row in rows]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("learners = [", "'grid.toml' is not a TOML file: "),
        ("\x80", "'grid.toml' is not a TOML file: "),
        ("learner = 'uniform'", "'learner': did you mean 'learners'?"),
        ("learners = [1]", "learners has 1: give a text, or a list of them."),
        ("learners = []", "learners is empty: give at least one."),
        ("rounds = [10, 10]", "rounds has 10 twice: give it once."),
        ("learners = ['uniform', 'uniform']", "the learner 'uniform' is given twice: give it"),
        ("learners = ['fair-etc:', 'fair-etc']", "'fair-etc:' and 'fair-etc' are the same learner"),
        (
            "learners = ['fair-etc:welfare=utilitarian', 'utilitarian-etc']",
            "are the same learner: give one of them.",
        ),
        (
            "learners = ['own_learners:Counted:folder=a,seconds=1.0', "
            "'own_learners:Counted:seconds=1.0,folder=a']",
            "are the same learner",
        ),
        ("environments = ['paper', 'paper']", "the environment 'paper' is given twice"),
        (
            "environments = ['random', 'clustered', 'random:gap=0.10']",
            "'random' and 'random:gap=0.10' are the same environment: give one of them.",
        ),
        ("environments = ['file:a.json', 'file:./a.json']", "are the same environment"),
        ("rounds = 1.5", "rounds has 1.5: give a whole number, or a list of them."),
        ("answers = 'few'", "answers has 'few': give a number, or a list of them."),
        ("answers = []", "answers is empty: give at least one."),
        ("answers = [1, 0]", "answers has 2 probabilities for 10 users: give one for each, or"),
        ("delay = 1.5", "delay has 1.5: give a whole number."),
        ("runs = true", "runs has True: give a whole number."),
        ("runs = [1]", "runs has [1]: give a whole number."),
        ("runs = 0", "runs is 0: give a whole number from 1 up."),
        ("checkpoints = 100", "checkpoints has 100: give a text."),
        ("checkpoints = 'often'", "the checkpoints are 'often': write linear or log"),
        ("learners = 'nobody:Mine'", "the learner 'nobody:Mine' cannot be loaded"),
        ("environments = 'rendom'", "did you mean 'random'?"),
        ("rounds = 0", "rounds is 0: give a whole number from 1 to 1,000,000,000,000,000."),
    ],
)
def test_wrong_files_are_refused_in_one_sentence(text: str, said: str, compare: Compare) -> None:
    random_instance(2, 2, seed=1).save("a.json")
    Path("grid.toml").write_bytes(text.encode("latin-1"))
    code, out, err = compare("grid.toml")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert err.count("\n") == 1
    assert not Path("comparison").exists()


def test_what_differs_is_not_taken_for_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        random_instance(2, 2, seed=ord(name)).save(tmp_path / f"{name}.json")
    files = [f"file:{tmp_path / name}.json" for name in ("a", "b")]
    grid = Grid(
        ("fair-etc", "fair-etc:preset=as_run", "own_learners:Counted", "own_learners:Fatal"),
        ("random", "random:gap=0.2", "hard", "hard:epsilon=0.1", *files),
        (10,),
        1,
    )
    arguments = grid.arguments()
    assert len(labelled("learner", arguments["learners"], Learner)) == 4
    assert len(labelled("environment", arguments["environments"], Environment)) == 6


def test_missing_file(compare: Compare) -> None:
    assert "cannot read 'none.toml'" in compare("none.toml")[2]


def test_command_shows_and_writes_everything(compare: Compare) -> None:
    Path("mylab.py").write_text(
        "from fairduel import UniformOverUsers\n\n\nclass Mine(UniformOverUsers):\n    pass\n"
    )
    Path("grid.toml").write_text(TOML)
    flags = ("--learner", "mylab:Mine", "--learner", "uniform", "--workers", "1", "--out", "there")
    code, out, err = compare("grid.toml", *flags)
    assert code == 0
    assert err == ""
    assert len(re.findall("environment .*, rounds .*, runs 2, seed 7", out)) == 4
    mine, uniform = (
        re.findall(rf"^{name} +(.*?) +\S+$", out, re.M) for name in ("mylab:Mine", "uniform")
    )
    assert mine == uniform  # all but the seconds
    assert len(mine) == 4
    assert out.endswith(f"report: {Path('there/report.html')}\n")
    page = Path("there/report.html").read_text()
    assert page.count("<svg") == 4
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert "mylab:Mine" in page
    assert "fairduel compare --learner mylab:Mine --learner uniform" in page
    assert Path("there/regret.png").read_bytes().startswith(b"\x89PNG")
    assert Path("there/report.md").exists()
    assert pq.read_table("there/runs.parquet").num_rows == 16
    assert json.loads(Path("there/failures.json").read_text()) == []
    again = compare("grid.toml", *flags, "--quiet")
    assert again == (0, out, "")  # the seconds as well: nothing ran again


def test_failures_are_told(compare: Compare) -> None:
    flags = ("--rounds", "50", "--runs", "1", "--workers", "1", "--quiet")
    code, out, err = compare("--learner", "own_learners:Failing", "--learner", "uniform", *flags)
    assert code == 1
    assert "uniform" in out
    assert "own_learners" not in out
    assert err.startswith("error: 1 simulation failed")
    assert "ArithmeticError: nothing adds up" in err
    assert "left out of everything: 1." in Path("comparison/report.html").read_text()
    code, out, err = compare("--learner", "own_learners:Failing", *flags)
    assert code == 1
    assert out == f"report: {Path('comparison/report.html')}\n"


def test_report_names_the_machine(compare: Compare) -> None:
    flags = ("--environment", "random:users=2,arms=2", "--rounds", "50", "--runs", "1")
    assert compare("--learner", "uniform", *flags, "--workers", "1", "--quiet")[0] == 0
    report = Path("comparison/report.md").read_text()
    assert ", source " in report
    assert f"{os.cpu_count()} cores, Python {platform.python_version()}" in report
    for name in ("numpy", "numba", "scipy"):
        assert f"{name} {version(name)}" in report


def test_grid_without_runs_is_refused() -> None:
    with pytest.raises(InputError, match="runs is -1"):
        Grid(runs=-1)
