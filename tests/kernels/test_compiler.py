"""Kernels are compiled once, the user is told, and a machine without a cache still works."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairduel.kernels.compiler import NOTICE

PROBE = """
from fairduel.kernels.compiler import kernel, part

@part
def double(x):
    return 2.0 * x

@kernel("f8(f8)")
def over(x):
    return double(1.0) / x
"""

RUN = """
import fairduel
fairduel.__path__.append({folder!r})
{before}
from fairduel import _probe as probe
print(probe.over(4.0), probe.over(0.0))
"""

WITHOUT_CACHE = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
"""

OBJECTIVES = """
from fairduel import Nash
import numpy as np
from fairduel.kernels import objectives
from fairduel.kernels.compiler import kernel

@kernel("f8(i8, f8[::1], f8[::1], f8[::1])")
def call(address, weights, utilities, gradient):
    return objectives.evaluate(address, weights, utilities, gradient)

gradient = np.empty(2)
print(Nash().compiled(2).run(call, np.array([0.5, 0.25]), gradient), gradient.tolist())
"""


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    (tmp_path / "_probe.py").write_text(PROBE)
    return tmp_path


def run(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN.format(folder=str(folder), before=before)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_user_is_told_once_and_never_again(probe: Path) -> None:
    first, second = run(probe), run(probe)
    assert first.stdout == second.stdout == "0.5 inf\n"
    assert first.stderr == NOTICE
    assert second.stderr == ""


def test_all_kernels_are_compiled_in_one_go(tmp_path: Path) -> None:
    """And whoever needs another one later is not told to wait again."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(PROBE)
    only = "from fairduel.kernels import compiler; compiler.kernels.__path__[:] = [{!r}]\n"
    for module, said in (("first", NOTICE), ("second", "")):
        done = subprocess.run(
            [sys.executable, "-c", f"{only.format(str(tmp_path))}import fairduel.kernels.{module}"],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == said


def test_kernels_work_where_nothing_can_be_cached(probe: Path) -> None:
    result = run(probe, WITHOUT_CACHE)
    assert (result.stdout, result.stderr) == ("0.5 inf\n", NOTICE)
    assert not (probe / "cache").exists()


@pytest.mark.parametrize("before", ["", WITHOUT_CACHE])
def test_kernels_call_a_welfare_by_its_address(before: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(before + OBJECTIVES)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == "0.125 [0.25, 0.5]\n"
    assert (tmp_path / "cache").exists() == (not before)


def test_other_threads_go_on_while_a_kernel_runs() -> None:
    """A server answers while its learner computes."""
    import importlib
    import pkgutil

    from numba.core.dispatcher import Dispatcher

    from fairduel import kernels

    found = {}
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            function = getattr(value, "__wrapped__", None)
            if isinstance(function, Dispatcher) and function.signatures:
                options = function.targetoptions
                if not options.get("no_cpython_wrapper"):  # it can be called from Python
                    found[name] = options.get("nogil")
    assert len(found) > 10
    assert all(found.values()), found
