"""Files of votes, written and read back, for the tests of the readers."""

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from fairduel.data import Ballots, read_votes
from fairduel.errors import InputError


class Reader:
    """Writes a text to a file, and reads votes from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, text: str | bytes, name: str = "votes.csv", **settings: Any) -> Ballots:
        data = text.encode() if isinstance(text, str) else text
        path = self.folder / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return read_votes(path, **settings)

    def refuses(
        self, text: str | bytes, *words: str, name: str = "votes.csv", **settings: Any
    ) -> str:
        """The one sentence that this text is refused with; all these words have to be in it."""
        with pytest.raises(InputError) as caught:
            self(text, name, **settings)
        sentence = str(caught.value)
        assert sentence.startswith(("cannot use", "cannot read"))
        assert len(sentence) < 600
        assert "\n" not in sentence
        for word in words:
            assert word in sentence, sentence
        return sentence


def from_stdin(data: bytes, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Ballots:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return read_votes("-", **settings)


def table(ballots: Ballots) -> dict[str, dict[tuple[str, str], float]]:
    """Who prefers what to what, and how often."""
    found: dict[str, dict[tuple[str, str], float]] = {user: {} for user in ballots.users}
    wins = ballots.wins()
    for d, i, j in zip(*wins.nonzero(), strict=True):
        pair = (ballots.options[i], ballots.options[j])
        found[ballots.users[d]][pair] = float(wins[d, i, j])
    return found
