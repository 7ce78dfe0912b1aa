"""Long work says how far it is, in a terminal and outside of one."""

import time

import pytest

from fairduel.experiments import progress


def test_without_a_terminal_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress.bar(100, 10, shown=True) as advance:
        for _ in range(8):
            now[0] += 20.0
            advance(10)
        now[0] += 100.0
        advance(10)
    said = [f"{done} of 100 simulations are done\n" for done in (30, 50, 70, 90)]
    assert capsys.readouterr().err == "".join(said)


def test_quiet_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with progress.bar(100, 0, shown=False) as advance:
        advance(10)
    assert capsys.readouterr().err == ""
