"""The examples run, and say what they promise."""

import io
import runpy
import sys
from pathlib import Path

import pytest

from fairduel import Session

LUNCH = str(Path(__file__).parent.parent / "examples" / "lunch.py")
NEW = ["--people", "Ann", "Bob", "--places", "noodles", "curry", "soup"]


def lunch(monkeypatch: pytest.MonkeyPatch, *arguments: str, typed: str = "") -> None:
    monkeypatch.setattr(sys, "argv", ["lunch.py", *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    runpy.run_path(LUNCH, run_name="__main__")


def test_lunch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lunch(monkeypatch)
    first, last = capsys.readouterr().out.strip().split("\n\n")
    assert first.startswith("After 3 answers each\nGo to ")
    for person in ("Ann", "Bob", "Cleo", "Dan"):
        assert f"  {person} gets " in last
    assert "More answers would help." in first
    assert "of the best that could be had (" in last


def test_a_team_uses_it_for_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "lunch.json")
    lunch(monkeypatch, file, *NEW, "--questions", "2", typed="1\n2\nno\ntie\n\n")
    said = capsys.readouterr().out
    assert "tie, or nothing to skip." in said
    assert said.strip().rpartition("\n")[2].removeprefix("Today: ") in ("noodles", "curry", "soup")
    kept = Session.load(file)
    assert kept.users == ("Ann", "Bob")
    assert len(kept._votes.voted) == 4
    lunch(monkeypatch, file, "--people", "Cleo", "--places", "tacos", typed="1\n")
    grown = Session.load(file)
    assert grown.users == ("Ann", "Bob", "Cleo")
    assert "tacos" in grown.arms
    assert len(grown._votes.voted) == 5


def test_a_team_that_is_through_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lunch(monkeypatch, str(tmp_path / "l.json"), *NEW, "--questions", "4", typed="1\n" * 6)
    said = capsys.readouterr().out
    assert said.count("You have answered everything.") == 2
    assert "Everybody has answered everything." in said or "No more questions" in said
    assert "would help" not in said


def test_only_those_who_can_answer_more_are_said_to_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lunch(monkeypatch, str(tmp_path / "l.json"), *NEW, "--questions", "4", typed="1\n" * 4)
    said = capsys.readouterr().out
    assert said.count("You have answered everything.") == 1
    assert "More answers of Bob would help." in said


def test_bad_names_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="no users are given"):
        lunch(monkeypatch, str(tmp_path / "lunch.json"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "option", ["--people Ann Bob", "--places x", "--without x", "--questions 2"]
)
def test_what_needs_a_file_is_not_left_out_silently(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *values = option.split()
    with pytest.raises(SystemExit, match=rf"{name} is given, but no file: name one .*\.$"):
        lunch(monkeypatch, name, *values)
    assert not capsys.readouterr().out


def test_fewer_questions_than_none_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=r"--questions is -3: give a number from 0 on\."):
        lunch(monkeypatch, str(tmp_path / "lunch.json"), *NEW, "--questions", "-3")
    assert not list(tmp_path.iterdir())


def test_somebody_has_to_be_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=r"nobody is here today: name somebody less"):
        lunch(monkeypatch, str(tmp_path / "lunch.json"), *NEW, "--without", "Ann", "Bob")
    assert not list(tmp_path.iterdir())


def test_who_is_not_here_is_neither_asked_nor_counted_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "lunch.json")
    lunch(monkeypatch, file, *NEW, "--questions", "3", typed="1\n" * 6)
    capsys.readouterr()
    lunch(monkeypatch, file, "--without", "Bob")
    said = capsys.readouterr().out
    assert "Ann gets" in said
    assert "Bob" not in said
    assert Session.load(file).users == ("Ann", "Bob")
    with pytest.raises(SystemExit, match=r"'Zoe' is not among the people: Ann, Bob\."):
        lunch(monkeypatch, file, "--without", "Zoe")
