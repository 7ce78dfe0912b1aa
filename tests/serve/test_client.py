"""The example of a program that uses the API."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from web import KEY, serving

CLIENT = str(Path(__file__).parents[2] / "examples" / "poll_client.py")


def test_the_example_makes_a_poll_and_votes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(str(tmp_path / "polls.db")) as web:
        monkeypatch.setattr(sys, "argv", ["poll_client.py", f"{web.url}/start/{KEY}"])
        runpy.run_path(CLIENT, run_name="__main__")
        said = capsys.readouterr().out
        assert said.count("has answered 6 questions") == 4
        assert re.search(r"^drawn: (salad|soup|pizza|curry)$", said, re.MULTILINE)
        monkeypatch.setattr(sys, "argv", ["poll_client.py", f"{web.url}/start/wrong"])
        with pytest.raises(SystemExit, match="needs the link"):
            runpy.run_path(CLIENT, run_name="__main__")
    for link, said in ((f"{web.url}/start/{KEY}", "no server of polls"), ("foo", "2")):
        monkeypatch.setattr(sys, "argv", ["poll_client.py", link])
        with pytest.raises(SystemExit, match=said):
            runpy.run_path(CLIENT, run_name="__main__")
    assert "'foo' is no link" in capsys.readouterr().err
