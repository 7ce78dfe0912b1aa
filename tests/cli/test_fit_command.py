"""fairduel fit as its users meet it: what it prints, writes and refuses."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fairduel import Session, cli
from fairduel import fit as fit_votes
from fairduel.data import example_file

VOTES = "user,left,right,winner\nann,x,y,x\nann,x,y,x\nbob,y,x,y\n"
RANKS = "name,team,a,b,c\nann,red,1,2,3\nbob,blue,3,2,1\ncat,blue,2,3,1\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Fit a text in an empty directory; return code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run_it(text: str | bytes, *options: str, name: str = "votes.csv") -> tuple[int, str, str]:
        data = text.encode() if isinstance(text, str) else text
        Path(name).write_bytes(data)
        capfd.readouterr()
        code = cli.run(["fit", name, *options])
        return code, *capfd.readouterr()

    return run_it


# What is printed


def test_it_says_what_it_took_the_file_for(run: Run) -> None:
    code, out, err = run(VOTES)
    assert code == 0
    assert out.startswith("read as pairwise votes; for example: ann prefers x to y.\n")
    assert "Each person counts the same (per person)." in out
    assert "By majority it would always be" in out
    assert "Certificate: no policy has a" in out
    assert not err


def test_both_bad_is_told_apart(run: Run) -> None:
    one = VOTES + "bob,x,y,both bad\n"
    assert "4 votes. 1 tie says that both are bad. " in " ".join(run(one)[1].split())
    two = one + "ann,x,y,both bad\n"
    assert "5 votes. 2 ties say that both are bad. " in " ".join(run(two)[1].split())
    assert "both are bad" not in run(VOTES)[1]


def test_it_says_why_orders_are_scored_by_places(run: Run) -> None:
    _, out, _ = run(RANKS)
    assert "borda" in out
    assert "second choices" in " ".join(out.split())
    assert "interval" not in out
    _, out, _ = run(RANKS, "--by", "team", "--scoring", "maximin")
    assert "(maximin scores)" in out
    assert "(per group)" in " ".join(out.split())


def test_few_votes_are_warned_of_beside_the_result(run: Run) -> None:
    few = VOTES.replace("x,y,x\nbob,y,x,y", "x,z,x\nbob,y,z,y")
    code, out, err = run(few)
    assert code == 0
    assert err.startswith("warning: a user has ")
    assert "warning" not in out
    assert run(few, "--quiet")[2] == ""


def test_json_has_what_solve_has_and_more(run: Run) -> None:
    code, out, _ = run(RANKS, "--json", "--per", "person", "--by", "team")
    data = json.loads(out)
    assert code == 0
    assert data["welfare"] == "nash"
    assert [entry["arm"] for entry in data["arms"]] == ["a", "b", "c"]
    assert [entry["user"] for entry in data["users"]] == ["red", "blue"]
    assert [entry["weight"] for entry in data["users"]] == [1.0, 2.0]
    assert data["users"][0]["low"] is None
    assert data["majority"]["arm"] == "c"
    assert data["scoring"] == "borda"
    found = fit_votes("votes.csv", by="team", per="person")
    assert data["price_of_fairness"] == found.price_of_fairness
    assert data["users"][1]["utility"] == found.utilities["blue"].mean


def test_the_welfare_is_named_with_its_settings(run: Run) -> None:
    options = ["--by", "team", "--welfare", "power-mean:p=-2"]
    _, out, _ = run(RANKS, *options, "--report", "page")
    assert "power mean (p=-2)" in " ".join(out.split())
    assert "Welfare, scoring, weights: power-mean:p=-2, borda, per group" in Path(
        "page/report.md"
    ).read_text("utf-8")
    _, out, _ = run(RANKS, *options, "--json")
    assert json.loads(out)["welfare"] == "power-mean:p=-2"


def test_standard_input(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(VOTES.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert cli.run(["fit", "-", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert [entry["user"] for entry in data["users"]] == ["ann", "bob"]


def test_columns_and_outcomes_can_be_named(run: Run) -> None:
    text = "judge,a,b,verdict\nann,x,y,0\nann,x,y,1\nbob,x,y,1\n"
    named = ["--column", "user=judge", "--column", "left=a", "--column", "right=b"]
    named += ["--column", "winner=verdict", "--outcomes", "0=left,1=right", "--json"]
    users = json.loads(run(text, *named)[1])["users"]
    assert [(each["answers"], each["favourite"]) for each in users] == [(2.0, None), (1.0, "y")]
    users = json.loads(run(text, *named, "--once")[1])["users"]
    assert [(each["answers"], each["favourite"]) for each in users] == [(1.0, "y"), (1.0, "y")]


def test_options_can_be_named(run: Run) -> None:
    text = 'name,a,"b, or so",points\nann,1,2,1\nbob,2,1,2\n'
    arms = json.loads(run(text, "--options", 'a,"b, or so"', "--json")[1])["arms"]
    assert [each["arm"] for each in arms] == ["a", "b, or so"]


def test_long_names_are_folded_to_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run(VOTES.replace("ann", "a name " * 20).replace("x", "an option " * 10))
    assert max(map(len, out.splitlines())) <= 60
    assert "gets" in out


# What is written


def test_files_are_written(run: Run) -> None:
    written = ["--plot", "a.png", "--csv", "a.csv", "--report", "out/it"]
    code, out, err = run(VOTES, *written, "--welfare", "power-mean:p=-1")
    assert code == 0
    assert err == "wrote a.csv\nwrote a.png\nwrote out/it/report.html\n"
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(Path("a.csv").read_text().splitlines()))
    assert [row["user"] for row in rows] == ["ann", "bob"]
    assert 0 < float(rows[0]["low"]) < float(rows[0]["utility"]) < float(rows[0]["high"]) <= 1
    text = Path("out/it/report.md").read_text()
    given = "--welfare power-mean:p=-1 --plot a.png --csv a.csv --report out/it"
    assert f"`fairduel fit votes.csv {given}`" in text
    assert "figures/choice.png" in text
    assert "What the majority's choice would do" in text
    assert out


def test_a_session_and_its_votes_are_fitted_again(run: Run, tmp_path: Path) -> None:
    session = Session(["ann", "bob"], ["x", "y"], seed=1)
    lines = ["user,left,right,winner"]
    for _ in range(20):
        duel = session.ask()
        if duel.left != duel.right:
            session.tell(duel, {"ann": duel.left, "bob": "tie"})
            lines += [f"ann,{duel.left},{duel.right},{duel.left}"]
            lines += [f"bob,{duel.left},{duel.right},tie"]
    session.save(tmp_path / "session.json")
    document = json.loads(run((tmp_path / "session.json").read_bytes(), "--json", name="s")[1])
    export = json.loads(run("\n".join(lines), "--json")[1])
    assert document["read"].startswith("read as the votes of a session")
    assert document["users"] == export["users"]


def test_a_session_goes_on_from_the_votes(run: Run) -> None:
    code, _, err = run(VOTES, "--session", "go-on.json", "--scoring", "borda")
    assert code == 0
    assert err == "wrote go-on.json\n"
    session = Session.load("go-on.json")
    assert session.users == ("ann", "bob")
    assert session.learner.scoring == "borda"
    assert json.loads(run(VOTES, "--json")[1])["users"][0]["answers"] == 2.0
    # It may hold what nobody has twice.
    code, out, err = run(VOTES, "--session", "go-on.json")
    assert (code, out) == (2, "")
    assert "there is such a file" in err


# What is refused


STARS = "name,a,b,c\nann,5,5,4\nbob,4,5,5\n"
BAD: dict[str, tuple[str | bytes, list[str], str]] = {
    "empty": ("", [], "it is empty"),
    "header only": ("user,left,right,winner\n", [], "no votes"),
    "one option": ("name,1st,2nd\nann,x,\nbob,x,\n", [], "only one option, 'x'"),
    "no loser": ("user,winner,loser\nann,x,\nbob,x,\n", [], "line 2"),
    "one user": ("user,winner,loser\nann,x,y\nann,y,x\n", [], "only one user, 'ann'"),
    "unknown winner": (VOTES + "bob,x,y,z\n", [], "line 5"),
    "against itself": (VOTES + "bob,x,x,x\n", [], "line 5"),
    "two rows of one person": (RANKS + "ann,red,3,2,1\n", [], "line 2 and line 5 are"),
    "stars": (STARS, [], "may be no ranks"),
    "mixed formats": (VOTES + '{"user": "ann"}\n', [], "line 5"),
    "encoding": (VOTES.replace("ann", "Zoë").encode("latin-1"), [], "line 2 is not text in UTF-8"),
    "NUL": (VOTES.encode() + b"bob,\0,y,x\n", [], "line 5 has a NUL byte"),
    "cut gzip": (gzip.compress(VOTES.encode() * 50)[:-20], [], "cut off"),
    "10,000 columns": (
        "name," + ",".join(f"o{k}" for k in range(10_000)) + "\n"
        "ann," + ",".join(map(str, range(1, 10_001))) + "\n"
        "bob," + ",".join(map(str, range(1, 10_001))) + "\n",
        [],
        "line 1 has 10,001 columns",
    ),
    "negative weight": (RANKS.replace("team", "weight").replace("red", "-1"), [], "line 2: the w"),
    "weight that is no number": (RANKS.replace("team", "weight"), [], "line 2: the w"),
    "p > 1": (VOTES, ["--welfare", "power-mean:p=2"], "p is 2"),
    "increasing weights": (VOTES, ["--welfare", "gini:weights=1/2"], "weights"),
    "unknown welfare": (VOTES, ["--welfare", "nosh"], "nash"),
    "unknown scoring": (VOTES, ["--scoring", "stars"], "the scoring is 'stars'"),
    "unknown weighting": (VOTES, ["--per", "vote"], "person"),
    "unknown column": (VOTES, ["--by", "team"], "team"),
    "too many users": (VOTES, ["--users", "9"], "9"),
    "half a column": (VOTES, ["--column", "user"], "--column is 'user': write it as"),
    "a column twice": (VOTES, ["--column", "user=a", "--column", "user=b"], "'user' twice"),
    "unknown role": (VOTES, ["--column", "voter=user"], "voter"),
    "half an outcome": (VOTES, ["--outcomes", "0=left,1"], "--outcomes is '1'"),
    "unknown format": (VOTES, ["--format", "xml"], "xml"),
    "picture": (VOTES, ["--plot", "a.jpg"], "end its name with .png or .svg"),
    "table": (VOTES, ["--csv", "a.xlsx"], "end its name with .csv"),
    "session of orders": (RANKS, ["--session", "s.json"], "leave nothing to ask"),
    "session that can't learn": (VOTES, ["--session", "s.json", "--scoring", "copeland"], "copel"),
    "session of another kind": (VOTES, ["--session", "s.csv"], "end its name with .json"),
    "session with an option called tie": (
        "user,winner,loser\nann,tie,x\nbob,x,tie\n",
        ["--session", "s.json"],
        "'tie'",
    ),
    "folder": (VOTES, ["--report", "votes.csv/report"], "cannot write to the folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str, run: Run) -> None:
    text, options, words = BAD[case]
    outputs = {"--plot": "b.png", "--csv": "b.csv", "--report": "b"}
    extra = [word for pair in outputs.items() if pair[0] not in options for word in pair]
    code, out, err = run(text, *options, *extra)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert len(err) < 600
    assert words in err
    assert sorted(path.name for path in Path().iterdir()) == ["votes.csv"]


def test_a_file_that_is_not_there(run: Run) -> None:
    assert cli.run(["fit", "nowhere.csv"]) == 2
    assert cli.run(["fit", "example:nowhere.csv"]) == 2


@pytest.mark.parametrize("name", ["team-lunch.csv", "offsite-form.csv", "book-club.blt"])
def test_examples_are_fitted(name: str, run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["fit", f"example:{name}", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["gap"] < 1e-8
    assert len(data["users"]) == len(fit_votes(example_file(name)).utilities)


# Long jobs


def test_long_reads_show_how_far_they_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from fairduel.cli import fit
    from fairduel.experiments import progress

    monkeypatch.setattr(fit, "LONG", 1)
    monkeypatch.setattr(fit, "MEGABYTE", 100)
    monkeypatch.setattr(fit, "MANY", 1)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr("fairduel.data.source.PIECE", 1000)
    code, _, err = run("user,left,right,winner\n" + "ann,x,y,x\nbob,x,y,y\n" * 300)
    assert code == 0
    assert " of 60 MB are done\n" in err
    assert run(VOTES, "--quiet")[2] == ""
