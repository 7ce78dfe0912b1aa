"""Ctrl-C waits for kernels, imports and compilers, and then comes out as what it is."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

from fairduel._arrays import Floats
from fairduel.kernels.compiler import NOTICE, kernel
from fairduel.kernels.interrupts import shielded

_raise: Any = types.ExternalFunction("raise", types.int32(types.int32))


@kernel("Tuple((f8[::1], f8[::1]))(i4)")
def interrupted(number: int) -> tuple[Floats, Floats]:
    """Return arrays, as most kernels do, after the signal has come: from C, so at this moment."""
    _raise(number)
    return np.ones(1), np.zeros(1)


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_within_a_kernel() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(signal.SIGINT)
    interrupted(0)  # and none is left behind


def test_the_work_is_done_first() -> None:
    done = []

    @shielded
    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]


def test_an_interrupt_comes_before_an_error() -> None:
    @shielded
    def fail() -> None:
        signal.raise_signal(signal.SIGINT)
        raise ValueError("this too")

    with pytest.raises(KeyboardInterrupt) as caught:
        fail()
    assert isinstance(caught.value.__context__, ValueError)


def test_shields_within_each_other_wait_for_the_outermost() -> None:
    done = []

    @shielded
    def inner() -> None:
        signal.raise_signal(signal.SIGINT)

    @shielded
    def outer() -> None:
        inner()
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert done == [1]


def test_other_handlers_are_called_once_and_stay() -> None:
    heard = []

    def handler(number: int, frame: Any) -> None:
        heard.append((number, frame is not None))

    signal.signal(signal.SIGINT, handler)
    assert np.concatenate(interrupted(signal.SIGINT)).tolist() == [1.0, 0.0]
    assert heard == [(signal.SIGINT, True)]
    assert signal.getsignal(signal.SIGINT) is handler
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert np.concatenate(interrupted(signal.SIGINT)).tolist() == [1.0, 0.0]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_asyncio_answers_as_ever() -> None:
    reached = []

    async def work() -> None:
        interrupted(signal.SIGINT)
        reached.append("the next line")
        await asyncio.sleep(0)
        reached.append("after it was cancelled")

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert reached == ["the next line"]


def test_other_threads_are_left_alone() -> None:
    found: list[Floats] = []
    thread = threading.Thread(target=lambda: found.extend(interrupted(0)))
    thread.start()
    thread.join()
    assert found == [1.0, 0.0]


# In processes of their own: while something is imported or compiled

AT = """
import signal, sys
class Finder:
    def find_spec(self, name, *rest):
        if name == {name!r}:
            sys.meta_path.remove(self)
            {act}
sys.meta_path.insert(0, Finder())
"""

NOW = "signal.raise_signal(signal.SIGINT)"
# In a finaliser an exception is lost; and somebody else's code may turn it into another one.
LOST = "type('Dying', (), {'__del__': lambda _: signal.raise_signal(signal.SIGINT)})()"
TURNED = """
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError
"""

COMPILING = """
import os, signal
from pathlib import Path
from numba.core import event
class Listener(event.Listener):
    def on_start(self, event):
        signal.raise_signal(signal.SIGINT)
    def on_end(self, event):
        pass
try:
    with event.install_listener("numba:compile", Listener()):
        import probe
except KeyboardInterrupt:
    print("interrupted, and kept:", any(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc")))
import probe
print(probe.one())
"""

PROBE = """
from fairduel.kernels.compiler import kernel

@kernel("f8()")
def one():
    return 1.0
"""


def python(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "act"),
    [
        ("typer", NOW),
        ("numpy", NOW),
        ("numba", NOW),
        ("fairduel.kernels.newton", NOW),
        ("pyarrow", NOW),
        ("pyarrow", LOST),
        ("pyarrow", TURNED),
    ],
)
def test_the_command_line_is_interrupted_at_an_import(name: str, act: str) -> None:
    script = AT.format(name=name, act=act) + "from fairduel.cli import main; main()"
    small = ["--users", "2", "--arms", "2", "--rounds", "10", "--runs", "1", "--workers", "1"]
    done = python(script, "simulate", *small)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "stopped: there is no result\n"


@pytest.mark.parametrize("name", ["numpy", "numpy._core._multiarray_umath"])
def test_python_is_interrupted_at_an_import(name: str) -> None:
    script = (
        "try:\n    from fairduel import Session\nexcept KeyboardInterrupt:\n    print('stopped')\n"
        "from fairduel import Session\nprint(Session.__name__)\n"
    )
    done = python(AT.format(name=name, act=NOW) + script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\nSession\n", "")


def test_python_is_interrupted_while_it_compiles(tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text(PROBE)
    cache = str(tmp_path / "cache")
    done = python(COMPILING, NUMBA_CACHE_DIR=cache, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "interrupted, and kept: True\n1.0\n")
    assert done.stderr in ("", NOTICE)
