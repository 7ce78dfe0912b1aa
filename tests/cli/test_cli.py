"""The command line as its users meet it: examples, output, errors, exit codes."""

import csv
import functools
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import fairduel
from fairduel import cli, experiments
from fairduel.cli.app import app
from fairduel.environments import random_instance
from fairduel.experiments import batching, comparison, progress
from fairduel.instance import Instance
from fairduel.paper import groups
from fairduel.scorings import SCORINGS
from fairduel.welfare import FrankWolfe
from fairduel.welfare.registry import by_name

SMALL = ["simulate", "--users", "3", "--arms", "3", "--rounds", "20000", "--runs", "2"]
SMALL += ["--workers", "1"]
UNIFORM = [*SMALL, "--learner", "uniform"]


@dataclass
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty directory."""
    monkeypatch.chdir(tmp_path)

    def run_it(*arguments: str, stdin: bytes = b"") -> Result:
        capfd.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.run(list(arguments))
        return Result(code, *capfd.readouterr())

    return run_it


def fresh(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from fairduel.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )


# Help


@functools.cache
def helps() -> list[str]:
    """The help texts of the program and of every command."""
    commands = [command.callback for command in app.registered_commands]
    names = [callback.__name__ for callback in commands if callback]
    return [
        fresh(*command, "--help", COLUMNS="80").stdout
        for command in [[], *([name] for name in names)]
    ]


def examples() -> list[str]:
    lines = [line.strip() for text in helps() for line in text.splitlines()]
    found = [line for line in lines if re.search(r"(^|\| )fairduel ", line)]
    return [line for line in found if "fairduel serve" not in line]  # tests/cli/test_serve.py


def test_every_help_has_an_example() -> None:
    assert len(helps()) == 7
    for text in helps():
        assert re.search(r"Examples?:\n +(.* \| )?fairduel ", text)


@pytest.mark.parametrize("example", examples())
def test_examples_work(example: str, run: Run) -> None:
    feeding, _, command = example.rpartition("| ")
    stdin = subprocess.run(feeding, shell=True, capture_output=True, check=True).stdout
    program, *arguments = shlex.split(command)
    assert program == "fairduel"
    result = run(*arguments, stdin=stdin)
    assert result.code == 0
    assert result.out
    if "--json" in arguments:
        json.loads(result.out)
    if "--plot" in arguments:
        assert Path(arguments[arguments.index("--plot") + 1]).stat().st_size > 10_000


def test_help_is_for_people() -> None:
    """Plain names in place of Python's types, and lines that fit into a terminal."""
    for text in helps():
        assert not re.search(r"<\w|\{|\[\[G", re.sub(r"(?s)Examples:.*?\n\n", "", text))
        assert max(map(len, text.splitlines())) <= 80
    usages = [text.splitlines()[0] for text in helps()]
    assert usages[1] == "Usage: fairduel fit [OPTIONS] FILE"
    assert usages[3:] == [
        "Usage: fairduel compare [OPTIONS] [GRID.toml]",
        "Usage: fairduel solve [OPTIONS] FILE",
        "Usage: fairduel reproduce [OPTIONS] NAME...",
        "Usage: fairduel serve [OPTIONS]",
    ]
    assert "\n  NAME...  table1, " in helps()[5]
    assert "--install-completion" in helps()[0]


def test_python_dash_m_works() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fairduel", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"fairduel {fairduel.__version__}\n"


def test_completion_can_be_installed() -> None:
    script = fresh("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_FAIRDUEL_COMPLETE" in script.stdout
    assert "complete -o default" in script.stdout  # file names, where there is nothing else


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("fairduel si", "simulate"),
        ("fairduel simulate --learner fair-", "fair-voi fair-etc fair-eps"),
        ("fairduel compare --learner un", "uniform"),
        ("fairduel simulate --preset ", "as_written as_run"),
        ("fairduel simulate --environment ha", "hard"),
        ("fairduel compare --environment c", "clustered"),
        ("fairduel solve x.csv --welfare ega", "egalitarian"),
        ("fairduel fit x.csv --scoring b", "borda"),
        ("fairduel simulate --welfare n", "nash"),
        ("fairduel reproduce table1 up", "upper-bound"),
        ("fairduel solve sc", ""),
        ("fairduel simulate --instance ", ""),
    ],
)
def test_the_shell_completes_names(
    typed: str,
    completed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("_FAIRDUEL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    with pytest.raises(SystemExit):
        cli.run([])
    assert capsys.readouterr().out.split() == completed.split()


def test_no_arguments_show_the_help(run: Run) -> None:
    assert run() == run("--help")
    assert "Usage: fairduel" in run().out


def test_version(run: Run) -> None:
    assert run("--version") == Result(0, f"fairduel {fairduel.__version__}\n", "")


def test_help_loads_nothing_heavy() -> None:
    heavy = {"numba", "scipy", "matplotlib", "pyarrow", "rich.progress", "fastapi", "psycopg"}
    code = (
        "import sys; from fairduel.cli import run; run(['simulate', '--help']);"
        f"sys.exit(repr(sorted({heavy!r} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "[]\n"


# Results


def test_table_shows_every_learner(run: Run) -> None:
    result = run(*SMALL)
    assert result.code == 0
    assert result.err == ""
    for learner in ("fair-etc", "fair-eps", "utilitarian-etc", "utilitarian-eps", "uniform"):
        assert f"\n{learner} " in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_json_is_all_there_is_on_stdout(run: Run) -> None:
    result = run(*UNIFORM, "--json", "--rows", "rows.csv")
    content = json.loads(result.out)
    assert content["settings"] == {
        "environment": "random",
        "users": 3,
        "arms": 3,
        "gap": 0.1,
        "rounds": 20000,
        "runs": 2,
        "seed": 0,
    }
    assert [entry["learner"] for entry in content["learners"]] == ["uniform"]
    rows = list(csv.DictReader(Path("rows.csv").read_text().splitlines()))
    regrets = [float(row["regret"]) for row in rows if row["rounds"] == "20000"]
    assert content["learners"][0]["regret"]["mean"] == pytest.approx(sum(regrets) / 2)
    assert result.err == "wrote rows.csv\n"


def test_environments_with_sizes_of_their_own(run: Run) -> None:
    Path("meals.soc").write_text("3\n1,soup\n2,rice\n3,stew\n6,6,2\n4,1,2,3\n2,3,2,1\n")
    flags = ("--learner", "uniform", "--rounds", "50", "--runs", "1", "--json", "--workers", "1")

    def settings(environment: str, *sizes: str) -> dict[str, Any]:
        result = run("simulate", "--environment", environment, *sizes, *flags)
        assert result.err == ""
        shown: dict[str, Any] = json.loads(result.out)["settings"]
        return {name: shown[name] for name in shown if name not in ("rounds", "runs", "seed")}

    assert settings("mallows:users=3,camps=2", "--arms", "4") == {
        "environment": "mallows",
        "users": 3,
        "arms": 4,
        "dispersion": 0.5,
        "camps": 2,
        "within": 0.6,
    }
    assert settings("bradley-terry:spread=2,users=3,arms=4")["spread"] == 2.0
    people = {"environment": "rankings:meals.soc", "as": "people", "users": 2, "slope": 0.5}
    assert settings("rankings:meals.soc:as=people,users=2") == people
    groups = {"environment": "rankings:meals.soc", "as": "groups", "users": 2, "gap": 0.1}
    assert settings("rankings:meals.soc:people=6", "--users", "2") == groups | {"people": 6}


def test_quiet_says_nothing_else(run: Run) -> None:
    assert run(*UNIFORM, "--quiet", "--rows", "rows.json").err == ""
    assert len(json.loads(Path("rows.json").read_text())) == 2 * 100


TINY = ["--runs", "2", "--workers", "1", "--out", "there"]


@pytest.mark.parametrize(
    "arguments",
    [
        UNIFORM,
        ["compare", "--learner", "uniform", "--rounds", "10", *TINY],
        ["reproduce", "table1", *TINY],
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_a_terminal_commands_say_now_and_then_how_far_they_are(
    arguments: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(batching, "MOST_SECONDS", 0.0)  # one simulation a task
    assert re.match(r"1 of \d+ simulations are done\n", run(*arguments).err)


def test_checkpoints(run: Run) -> None:
    run(*UNIFORM, "--checkpoints", "4", "--rows", "even.json")
    run(*UNIFORM, "--checkpoints", "4", "--log", "--rows", "log.json")
    even, log = (json.loads(Path(name).read_text()) for name in ("even.json", "log.json"))
    assert [row["rounds"] for row in even[:4]] == [5000, 10000, 15000, 20000]
    assert [row["rounds"] for row in log[:4]] == [1, 27, 737, 20000]


def test_pictures_and_parquet(run: Run) -> None:
    assert run(*UNIFORM, "--plot", "a.png", "--rows", "a.parquet").code == 0
    assert run(*UNIFORM, "--plot", "a.SVG", "--log").code == 0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert Path("a.parquet").read_bytes().startswith(b"PAR1")
    assert b"<svg" in Path("a.SVG").read_bytes()


def test_welfare_is_what_regret_is_measured_in(run: Run) -> None:
    def regret(*arguments: str) -> float:
        (learner,) = json.loads(run(*UNIFORM, "--json", *arguments).out)["learners"]
        return float(learner["regret"]["mean"])

    assert regret("--welfare", "nash") == regret()
    assert regret("--welfare", "egalitarian") != regret()
    assert regret("--welfare", "power-mean:p=-1") != regret("--welfare", "power-mean:p=0.5")
    assert regret("--welfare", "power-mean:p=1") == pytest.approx(
        regret("--welfare", "gini:delta=1")
    )


def test_help_says_what_each_welfare_does_to_a_minority(run: Run) -> None:
    for command in ("solve", "simulate"):
        shown = " ".join(run(command, "--help").out.split())
        for kind in by_name().values():
            assert kind is FrankWolfe or "minority" in kind.summary
            assert kind.summary.removeprefix("The ").rstrip(".") in shown
        assert "a minority below 29% may get nothing at all" in shown


def test_the_scoring_is_what_arms_are_worth(run: Run) -> None:
    def said(*arguments: str) -> tuple[dict[str, Any], float]:
        found = json.loads(run(*UNIFORM, "--json", *arguments).out)
        return found["settings"], float(found["learners"][0]["regret"]["mean"])

    settings, regret = said()
    regrets = {name: said("--scoring", name)[1] for name in SCORINGS}
    assert regrets["condorcet"] == regrets["maximin"] == regret
    assert len(set(regrets.values())) == 3
    assert said("--scoring", "borda")[0] == settings | {"scoring": "borda"}


def test_learners_learn_the_scoring(run: Run) -> None:
    def identifying(*arguments: str) -> float:
        found = json.loads(run(*SMALL, "--learner", "fair-etc", "--json", *arguments).out)
        return float(found["learners"][0]["identifying_rounds"]["mean"])

    assert identifying() > 0
    assert identifying("--scoring", "borda") == 0
    result = run(*SMALL, "--scoring", "copeland")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: no learner learns copeland scores")


def test_an_instance_without_winners_can_be_scored_otherwise(run: Run) -> None:
    Instance([[[0.5, 0.5], [0.5, 0.5]]]).save("no_winner.json")
    options = ["--rounds", "50", "--runs", "1", "--learner", "uniform"]
    assert run("simulate", "--instance", "no_winner.json", *options).code == 2
    assert run("simulate", "--instance", "no_winner.json", "--scoring", "borda", *options).code == 0


def test_help_says_what_each_scoring_is(run: Run) -> None:
    for command in ("simulate", "compare"):
        shown = " ".join(run(command, "--help").out.split())
        for scoring in SCORINGS.values():
            assert scoring.summary.partition(" ")[2].rstrip(".") in shown


def test_answers_may_be_missing_or_late(run: Run) -> None:
    def said(*arguments: str) -> tuple[dict[str, Any], float]:
        found = json.loads(run(*UNIFORM, "--json", *arguments).out)
        return found["settings"], float(found["learners"][0]["regret"]["mean"])

    settings, regret = said()
    ones = ["--answers", "1"] * 3
    assert said(*ones, "--delay", "0") == (settings, regret)
    few, late = said("--answers", "0.3"), said("--delay", "20")
    mixed = said("--answers", "1", "--answers", "0.3", "--answers", "0")
    assert few[0] == settings | {"answers": 0.3}
    assert late[0] == settings | {"delay": 20}
    assert mixed[0] == settings | {"answers": [1.0, 0.3, 0.0]}
    assert len({regret, few[1], late[1], mixed[1]}) == 4


def test_own_learner_is_found_where_one_stands(run: Run) -> None:
    Path("my_own_lab.py").write_text(
        "from fairduel import UniformOverUsers\n\n\nclass Mine(UniformOverUsers):\n    pass\n"
    )
    result = run(*SMALL, "--learner", "my_own_lab:Mine")
    assert (result.code, result.err) == (0, "")
    assert "my_own_lab:Mine" in result.out


def test_a_learner_that_does_not_fit_is_told_with_its_name(run: Run) -> None:
    result = run(*SMALL, "--learner", "uniform", "--learner", "fair-etc:winners=1/2")
    assert result.code == 2
    assert "uniform" in result.out
    assert result.err.startswith("error: fair-etc:winners=1/2 in random, 20,000 rounds, run 0: 2 w")


def test_instance_from_a_file(run: Run) -> None:
    random_instance(2, 4, seed=1).save("mine.json")
    options = ["--rounds", "5000", "--learner", "uniform", "--json"]
    result = run("simulate", "--instance", "mine.json", *options)
    assert json.loads(result.out)["settings"]["users"] == 2
    assert json.loads(result.out)["learners"][0]["regret"]["half_width"] > 0  # other luck each run


def test_preset_applies_to_all_that_name_none(run: Run) -> None:
    def identifying(*arguments: str) -> list[float]:
        learners = json.loads(run(*SMALL, "--json", *arguments).out)["learners"]
        return [entry["identifying_rounds"]["mean"] for entry in learners]

    both = ["--learner", "uniform", "--learner", "uniform:preset=as_written"]
    written = identifying("--learner", "uniform")[0]
    assert identifying(*both, "--preset", "as_run")[1] == written
    assert identifying(*both, "--preset", "as_run")[0] != written


def test_same_seed_same_files_in_another_process(run: Run) -> None:
    arguments = [*SMALL, "--rows", "rows.csv", "--plot", "plot.svg", "--quiet"]
    run(*arguments)
    first = Path("rows.csv").read_bytes(), Path("plot.svg").read_bytes()
    assert fresh(*arguments, PYTHONHASHSEED="5").returncode == 0
    assert (Path("rows.csv").read_bytes(), Path("plot.svg").read_bytes()) == first
    run(*arguments, "--seed", "1")
    assert Path("rows.csv").read_bytes() != first[0]


def test_solve_from_files(run: Run) -> None:
    Path("scores.csv").write_text("tea,milk\n1,0.2\n0.3,0.9\n")
    Path("scores.json").write_text('{"scores": [[1, 0.2], [0.3, 0.9]], "weights": [3, 1]}')
    assert "tea      0.625000" in run("solve", "scores.csv").out
    weighted = json.loads(run("solve", "scores.json", "--json").out)
    assert weighted["arms"][0]["probability"] == 1.0
    assert json.loads(run("solve", "-", "--json", stdin=b"[[0.5]]").out)["value"] == 0.5


# Errors


BAD = [
    ["simulate", "--learner", "fair-ect"],
    ["simulate", "--learner", "fair-etc:explore=1"],
    ["simulate", "--learner", "uniform", "--learner", "uniform"],
    ["simulate", "--learner", "fair-etc:", "--learner", "fair-etc"],
    ["simulate", "--preset", "as_rnu"],
    ["simulate", "--environment", "rnadom"],
    ["simulate", "--share", "0.5"],
    ["simulate", "--environment", "paper", "--runs", "31"],
    ["simulate", "--environment", "bradley-terry:spread=0"],
    ["simulate", "--environment", "bradley-terry:users=100000,arms=100000"],
    ["simulate", "--environment", "mallows:camps=11"],
    ["simulate", "--environment", "mallows:users=100000,arms=100000"],
    ["simulate", "--environment", "random:users=5", "--users", "5"],
    ["simulate", "--environment", "rankings:missing.soc"],
    ["simulate", "--environment", "rankings:negative.csv:users=2"],
    ["simulate", "--rounds", "0"],
    ["simulate", "--rounds", "0", "--log"],
    ["simulate", "--rounds", "1" + "0" * 30],
    ["simulate", "--rounds", "1" + "0" * 30, "--log"],
    ["simulate", "--rounds", "many"],
    ["simulate", "--rounds", "1e6"],
    ["simulate", "--rounds", "-1"],
    ["simulate", "--gap", "nan"],
    ["simulate", "--environment", ""],
    ["simulate", "--checkpoints", "1" + "0" * 9],
    ["simulate", "--plot", f"{'long' * 100}.png"],
    ["simulate", "--instance", "nan.json"],
    ["simulate", "--instance", "directory.csv"],
    ["compare", "--checkpoints", "log:1" + "0" * 9],
    ["compare", "--rounds", "1e6"],
    ["compare", "directory.csv"],
    ["compare", "broken.json"],
    ["compare", "--out", "broken.json"],
    ["simulate", "--runs", "0"],
    ["simulate", "--runs", "-3", "--environment", "paper"],
    ["simulate", "--seed", "-1"],
    ["simulate", "--users", "0"],
    ["simulate", "--users", "100000", "--arms", "100000"],
    ["simulate", "--gap", "0.6"],
    ["simulate", "--checkpoints", "0"],
    ["simulate", "--rouns", "5"],
    ["simulate", "--instance", "missing.npz"],
    ["simulate", "--instance", "broken.json"],
    ["simulate", "--instance", "no_winner.json"],
    ["simulate", "--instance", "no_winner.json", "--users", "3"],
    ["simulate", "--plot", "plot.pdf"],
    ["simulate", "--plot", "missing/plot.png"],
    ["simulate", "--rows", "rows"],
    ["simulate", "--rows", "directory.csv"],
    ["simulate", "--rows", "broken.json/rows.csv"],
    ["solve"],
    ["solve", "missing.csv"],
    ["solve", "broken.json"],
    ["solve", "negative.csv"],
    ["solve", "empty.csv"],
    ["solve", ""],
    ["solve", "directory.csv"],
    ["solve", "nan.csv"],
    ["solve", "bytes.csv"],
    ["solve", "hidden.csv"],
    ["solve", "negative.csv", "--welfare", "nahs"],
    ["solve", "negative.csv", "--welfare", "power-mean:p=2"],
    ["solve", "negative.csv", "--welfare", "gini:weights=1/2"],
    ["simulate", "--welfare", "power-mean:p=nan"],
    ["simulate", "--learner", "fair-voi:welfare=gini:delta=0"],
    ["slove"],
]


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: list[str], run: Run) -> None:
    Path("broken.json").write_text('{"preferences": [[')
    Path("negative.csv").write_text("1,-1\n")
    Path("empty.csv").write_text("")
    Path("nan.csv").write_text("a,b\n1,nan\n")
    Path("nan.json").write_text('{"preferences": [[[0.5, NaN], [0.5, 0.5]]]}')
    Path("bytes.csv").write_bytes(bytes(range(256)))
    Path("hidden.csv").write_text("a,\u202eb\n1,2\n", encoding="utf-8")
    Path("directory.csv").mkdir()
    Instance([[[0.5, 0.5], [0.5, 0.5]]]).save("no_winner.json")
    before = sorted(Path().rglob("*"))
    outputs = [] if "solve" in arguments else ["--runs", "1"] * ("--runs" not in arguments)
    result = run(*arguments, *outputs)
    assert result.code == 2
    assert result.out == ""
    assert re.fullmatch(r"error: \S.*\n", result.err)
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rounds", "1e6"], "Invalid value for '--rounds': give a whole number, like 1000."),
        (["--gap", "wide"], "Invalid value for '--gap': give a number, like 0.1."),
        (["--learner", "Fair-ETC"], "there is no learner 'Fair-ETC': did you mean 'fair-etc'?"),
        (["--answers", "1.5"], "answers is 1.5: give a number from 0 to 1."),
        (
            ["--users", "3", "--answers", "1", "--answers", "0"],
            "answers has 2 probabilities for 3 users: give one for each, or one number for all.",
        ),
        (["--delay", "-1"], "delay is -1: give a whole number from 0 to 1,000,000,000,000,000."),
        (
            ["--scoring", "brda"],
            "the scoring is 'brda': use condorcet, maximin, borda or copeland.",
        ),
        (["--welfare", "NASH"], "there is no welfare 'NASH': did you mean 'nash'?"),
    ],
)
def test_errors_say_what_to_give_instead(arguments: list[str], said: str, run: Run) -> None:
    assert run("simulate", *arguments) == Result(2, "", f"error: {said}\n")


def test_names_of_all_kinds_are_shown_as_they_are(run: Run) -> None:
    arms = ["[bold]x[/bold]", "[/]", ":smile:", "👩‍💻", "寿司", "שלום", "x" * 500]
    text = f",{','.join(arms)}\n[red]Ada[/red],{','.join('1' for _ in arms)}\n"
    result = run("solve", "-", stdin=text.encode())
    assert (result.code, result.err) == (0, "")
    squeezed = re.sub(r"\s+", "", result.out)
    for name in [*arms[:-1], "[red]Ada[/red]"]:
        assert name in squeezed
    assert squeezed.count("x") >= 500


def test_numbers_of_all_sizes_fit(run: Run) -> None:
    out = run("solve", "-", stdin=b"1e300,1e-300\n1e-300,1e-300\n").out
    assert max(map(len, out.splitlines())) <= 80
    assert "1e+300" in out
    assert "1e-300" in out


def test_outputs_are_checked_before_the_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **settings: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr(experiments, "compare", never)
    for name in ("missing/plot.png", "plot.jpg"):
        assert run("simulate", "--plot", name).code == 2
    for name in ("missing/rows.csv", "rows.txt"):
        assert run("simulate", "--rows", name).code == 2
    Path("kept.csv").write_text("mine")
    Path("kept.csv").chmod(0o444)
    if not os.access("kept.csv", os.W_OK):  # the superuser may write anything
        assert run("simulate", "--rows", "kept.csv").code == 2


def test_ctrl_c_ends_without_a_trace(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments, "compare", interrupted)
    said = "stopped: there is no result\n"
    assert run(*UNIFORM, "--rows", "rows.csv") == Result(130, "", said)
    assert not Path("rows.csv").exists()


def test_ctrl_c_while_people_are_grouped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(groups, "load_sushi", interrupted)
    said = "stopped: what is done is kept in 'there'; running it again goes on from there\n"
    assert run("reproduce", "all", "--out", "there", "--quiet") == Result(130, "", said)
    told = "grouping people who ranked sushi, about 20 seconds\n"  # also without a terminal
    assert run("reproduce", "all", "--out", "there") == Result(130, "", told + said)


def test_ctrl_c_while_the_report_is_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "document", interrupted)
    small = ["compare", "--rounds", "10", "--runs", "1", "--workers", "1", "--learner", "uniform"]
    result = run(*small, "--quiet", "--out", "there")
    said = "stopped: what is done is kept in 'there'; running it again goes on from there\n"
    assert (result.code, result.err) == (130, said)


def test_our_own_mistakes_are_not_hidden(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*arguments: object, **settings: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(experiments, "compare", mistaken)
    with pytest.raises(ZeroDivisionError):
        run(*UNIFORM)


def test_names_that_the_terminal_cannot_show() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from fairduel.cli import main; main()", "solve", "-"],
        input="tea,th\u00e9\n1,0.2\n0.3,0.9\n".encode(),
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"th\\xe9" in done.stdout
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_printed() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from fairduel.cli import main; main()", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*\n", done.stderr)
