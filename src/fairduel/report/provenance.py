"""The machine and versions behind results, for reports."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def machine() -> str:
    """Describe the system, the processor and its cores, and the versions of the libraries."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scipy"))
    return (
        f"{platform.system()} on {_processor()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, {packages}"
    )


def _processor() -> str:
    """Return the processor's name on Linux; elsewhere the architecture will do."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        return names[0]
    except (OSError, IndexError):
        return platform.machine()
