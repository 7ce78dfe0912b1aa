"""Every test run draws the same examples, and none fails because the machine is busy."""

import math

import pytest
from hypothesis import settings

settings.register_profile("fairduel", derandomize=True, deadline=None)
settings.load_profile("fairduel")

pytest_plugins = ["browsers", "databases"]


@pytest.fixture(autouse=True)
def no_progress(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands say how far they are only where a test asks for it: it is a matter of time."""
    if request.path.parent.name == "cli":
        monkeypatch.setattr("fairduel.experiments.progress.EVERY", math.inf)
