"""The code blocks of the documentation: found, run, and compared with what the page shows.

A block runs in the page's own empty folder, and Python blocks share the page's names. A block with
a title, as in ```toml title="grid.toml", is written to that file instead. A ```text block that
follows is what the block prints; a line of three dots in it stands for any lines. A block right
below a comment "not run: reason" is left alone.

    python tests/pages.py README.md    put what the blocks print now into the page
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")],
    key=lambda page: page.name,
)

FENCE = re.compile(
    r"(?:<!-- (?P<unrun>not run): \S.*? -->\n+)?"
    r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$'
    r"(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
RUN = ("fairduel", "python -m fairduel", "pytest", "printf", "echo")  # what commands begin with
# What is not run by itself: it installs, or is a test of its own.
LEFT = ("make", "source", ".venv/bin/", "pip install")

# With a unit, or in the last column of a table of learners: seconds a run.
TIME = re.compile(r"(?<![\w.])\d[\d.,]*(?= ?(?:ms|s|min|seconds|minutes)\b)|(?<=  )\d+\.\d{3}$")


@dataclass(frozen=True)
class Block:
    """A code block: its language, its text, and what the page says that it prints."""

    language: str
    code: str
    title: str | None
    output: str | None
    line: int
    run: bool
    span: tuple[int, int]  # where the output is in the page

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, without comments."""
        joined = self.code.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line and not line.startswith("#")]


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page."""
    return [
        Block(
            language=found["language"],
            code=found["code"],
            title=found["title"],
            output=found["output"],
            line=text.count("\n", 0, found.start("code")),
            run=not found["unrun"],
            span=found.span("output"),
        )
        for found in FENCE.finditer(text)
    ]


def run(text: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in a folder; yield each with what it printed."""
    names: dict[str, object] = {"__name__": "__page__"}
    for block in blocks(text):
        if not block.run:
            continue
        if block.title:
            (folder / block.title).write_text(block.code)
        elif block.language == "python":
            yield block, run_python(block, names, folder)
        elif block.language == "sh" and block.commands[0].startswith(RUN):
            yield block, run_shell(block, folder)


def run_python(block: Block, names: dict[str, object], folder: Path) -> str:
    """Return what a Python block prints; it adds to the names."""
    printed = io.StringIO()
    code = compile("\n" * block.line + block.code, "page", "exec")
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def run_shell(block: Block, folder: Path) -> str:
    """Return what a shell block prints on standard output; every command has to succeed."""
    here = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
        "PYTHONIOENCODING": "utf-8",
    }
    shell = ["sh", "-e"]
    done = subprocess.run(
        shell, input=block.code, cwd=folder, env=here, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(f"line {block.line}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def masked(text: str) -> str:
    """Return a text without times, which differ from run to run, and how columns are set."""
    lines = (TIME.sub("(time)", line.rstrip()) for line in text.splitlines())
    return re.sub(r"([ ─━])\1+", r"\1", "\n".join(lines)).strip()


def agrees(printed: str, shown: str) -> bool:
    """Tell whether a page shows what is printed."""
    pattern = re.escape(masked(shown)).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, masked(printed), re.DOTALL) is not None


def rewrite(page: Path) -> None:
    """Put what the blocks print now into the page, but for outputs with three dots."""
    text = new = page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        done = list(run(text, Path(folder)))
    for block, printed in reversed(done):
        if block.output is not None and not agrees(printed, block.output):
            lines = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
            new = new[: block.span[0]] + lines + "\n" + new[block.span[1] :]
    page.write_text(new)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
