"""Commands in this process say how far they are only where a test asks for it."""

import math

import pytest

from fairduel.experiments import progress


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine anything takes long enough for a line about it."""
    monkeypatch.setattr(progress, "EVERY", math.inf)
