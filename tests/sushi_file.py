"""Where the tests find the real Sushi data, which the project must not contain."""

import os
from pathlib import Path

import pytest

from fairduel.data.sushi import FILE, FOLDER_VARIABLE

BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"


def sushi_file() -> Path:
    """The file; without it the test skips, or fails where FAIRDUEL_REQUIRE_DATA is 1."""
    folders = [BESIDE_THE_PROJECT]
    if FOLDER_VARIABLE in os.environ:
        folders.append(Path(os.environ[FOLDER_VARIABLE]))
    for folder in folders:
        if (folder / FILE).is_file():
            return folder / FILE
    reason = f"{FILE} is not there: it may not be passed on, see fairduel.data.sushi"
    if os.environ.get("FAIRDUEL_REQUIRE_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
