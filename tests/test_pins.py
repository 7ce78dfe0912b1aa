"""The figures of a handful of runs, to the last bit: what is only moved stays as it was.

Where numbers change on purpose, ``python tests/test_pins.py`` pins the new ones, and the
changelog says why they changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairduel import Instance

HERE = Path(__file__).parent
PINS = HERE / "pins.json"
# On every processor with AVX2 the same code paths, and so the same rounding.
SAME_ROUNDING = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL "
    "AVX512_SPR X86_V4",
    "PYTHONWARNINGS": "ignore",
}


def computed() -> dict[str, Any]:
    """What this tree gives, in a fresh process."""
    done = subprocess.run(
        [sys.executable, str(HERE / "pins.py")],
        env=os.environ | SAME_ROUNDING,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_figures_are_the_same_to_the_last_bit() -> None:
    pinned = json.loads(PINS.read_text())
    for library, number in pinned["versions"].items():
        if version(library) != number:
            pytest.skip(f"the figures were pinned with {library} {number}")
    assert computed()["pins"] == pinned["pins"]


def test_instance_files_of_version_1_still_load() -> None:
    strict = Instance.load(HERE / "files" / "instance-v1.npz")
    relaxed = Instance.load(HERE / "files" / "instance-v1.json")
    assert strict.users == ("ann", "bob", "cät")
    assert relaxed.scoring == "maximin"
    assert np.array_equal(strict.preferences, relaxed.preferences)


if __name__ == "__main__":
    PINS.write_text(json.dumps(computed(), indent=1) + "\n")
