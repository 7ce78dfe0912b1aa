"""Every test run draws the same examples, and none fails because the machine is busy."""

import math
import random
import secrets

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


@pytest.fixture(autouse=True)
def same_secrets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what has no seed of its own be the same in every run, and another in every test."""
    source = random.Random(request.node.nodeid)
    monkeypatch.setattr(secrets, "randbits", source.getrandbits)
    monkeypatch.setattr(secrets, "token_bytes", lambda size=32: source.randbytes(size or 32))
