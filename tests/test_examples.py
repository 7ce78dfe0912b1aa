"""The examples run, and say what they promise."""

import io
import runpy
import sys
from pathlib import Path

import pytest

from fairduel import Duel, Session

LUNCH = str(Path(__file__).parent.parent / "examples" / "lunch.py")
NAMES = runpy.run_path(LUNCH)


def type_in(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_lunch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["lunch.py"])
    runpy.run_path(LUNCH, run_name="__main__")
    reports = capsys.readouterr().out.strip().split("\n\n")
    starts = [report.partition("\n")[0] for report in reports]
    assert starts == ["After 1 day", *(f"After {n} days" for n in (10, 50, 150, 200))]
    assert "Keep asking for about" in reports[0]
    assert "The 200 days are over" in reports[-1]
    for person in ("Ann", "Bob", "Cleo", "Dan"):
        assert f"  {person:5s} gets " in reports[-1]


def first_duel() -> tuple[int, Duel]:
    """A seed with which people are asked on the first day, and what they are asked."""
    for seed in range(100):
        duel = Session(NAMES["PEOPLE"], NAMES["PLACES"], seed=seed).ask()
        if duel.vote:
            return seed, duel
    raise AssertionError


def test_lunch_by_hand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ann and Cleo take what is first, Bob skips, and Dan cannot decide; then they go home."""
    seed, duel = first_duel()
    type_in(monkeypatch, "1", "", duel.left.upper(), " tie ")
    NAMES["live"](seed)
    first, last = capsys.readouterr().out.split("\nAfter ")[1:]
    assert first.startswith("1 day\n")
    for report in (first, last):
        for person in ("Ann", "Cleo"):
            assert f"of always having {duel.left}," in line_of(person, report)
        for person in ("Bob", "Dan"):
            assert line_of(person, report) == f"  Nothing is known yet about what {person} likes."


def test_lunch_by_hand_tells_what_can_be_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seed, duel = first_duel()
    type_in(monkeypatch, "whatever", "2")
    NAMES["live"](seed)
    said = capsys.readouterr().out
    assert said.count(f"Type 1 for {duel.left}, 2 for {duel.right}, tie, or nothing") == 1
    assert f"of always having {duel.right}," in line_of("Ann", said)


def test_lunch_with_nobody_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_in(monkeypatch)
    monkeypatch.setattr(sys, "argv", ["lunch.py", "--live"])
    runpy.run_path(LUNCH, run_name="__main__")
    said = capsys.readouterr().out
    assert said.count("Nothing is known yet about what") == 4
    assert " gets " not in said


def line_of(person: str, report: str) -> str:
    """The line of a report that is about a person."""
    (line,) = (line for line in report.splitlines() if f"{person} " in line and ": " not in line)
    return line


def test_lunch_waits_on_days_without_a_vote(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever agrees about everything is soon asked nothing, and the days still do not fly by."""
    asked: list[str] = []

    def one_each_time(prompt: str = "") -> str:
        asked.append(prompt)
        if len(asked) > 40:
            raise KeyboardInterrupt
        return "1"

    monkeypatch.setattr("builtins.input", one_each_time)
    NAMES["live"](1)
    assert any("nothing to ask" in prompt for prompt in asked)
    assert capsys.readouterr().out.count("\nDay ") <= 11
