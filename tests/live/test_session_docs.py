"""The guide to sessions: each block of code runs as it stands, and prints what the guide shows."""

import re
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", GUIDE, re.DOTALL)


@pytest.mark.parametrize(("code", "printed"), BLOCKS, ids=range(1, len(BLOCKS) + 1))
def test_a_block_runs_alone(
    code: str,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_all_blocks_are_found() -> None:
    assert len(BLOCKS) == GUIDE.count("```python") == 4
    assert "Choose" in BLOCKS[0][1]
