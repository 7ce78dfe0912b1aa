"""The examples run, and say what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_lunch(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "lunch.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert said.count("Within 1 % of the best") == 4
    assert "Keep asking for about" in said
    for person in ("Ann", "Bob", "Cleo", "Dan"):
        assert f"{person} " in said
