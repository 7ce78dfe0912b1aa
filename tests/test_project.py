"""What the project promises around its code, and could lose without anything else failing."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flit_core.buildapi import build_wheel
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import fairduel

ROOT = Path(__file__).parents[1]

# One requirement of the lock: its pin, perhaps a marker, at least one hash, who asked for it.
LOCKED = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[\w.+!]+)(?: ; [^\\\n@]+)?"
    r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    r"(?:    # via.*\n(?:    #   .*\n)*)?"
)

# How the names of the project's files at the top end.
OURS = {"", ".cff", ".lock", ".md", ".py", ".toml", ".yaml", ".yml"}

# Where packages come from, and where files lie, is each machine's own affair. The patterns are
# written so that they do not match themselves.
FOREIGN = {
    "a package registry": re.compile(
        r"py[p]i\.(?:org|python)|python[h]osted|:[/]{2}\S+/simple\b"
        r"|(?<!\w)--(?:(?:extra-)?index-url|find-links|trusted-host)\b",
        re.IGNORECASE,
    ),
    "a path of one machine": re.compile(
        r"file:[/]{2}|(?<![\w.~-])/(?:home|root|Users|work|opt|tmp|mnt|srv)/\w|\b[A-Z]:\\+Users"
    ),
    "a file outside the project": re.compile(r"\.\./(?:\.\./)*shared/"),
}


def committed_files() -> Iterator[Path]:
    """All files of the project; found without git, which a user need not have.

    Left out is what tools make, and at the top what somebody may have put there: logs, results.
    """
    made = {"__pycache__", "build", "dist", "site"}
    for top in ROOT.iterdir():
        if top.is_file() and top.suffix in OURS and top.name != ".git":
            yield top
        elif top.is_dir() and (top.name == ".ci" or top.name[0] != "."):
            inside = (path for path in top.rglob("*") if path.is_file())
            yield from (path for path in inside if made.isdisjoint(path.relative_to(ROOT).parts))


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def read_lock() -> str:
    return (ROOT / "requirements.lock").read_text()


def foreign(text: str) -> list[str]:
    return [
        f"line {number} names {what}: {line.strip()}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in FOREIGN.items()
        if pattern.search(line)
    ]


def test_no_file_names_a_registry_or_a_machine() -> None:
    found = []
    files = list(committed_files())
    assert {Path(__file__), ROOT / "requirements.lock", ROOT / ".ci" / "run"} <= set(files)
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture or an archive
            continue
        found += [f"{path.relative_to(ROOT)} {line}" for line in foreign(text)]
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "--index-" + "url https://example.org/api",
        "--find-" + "links wheels",
        "https://example.org/" + "simple/",
        "https://py" + "pi.org/project/numpy",
        "https://files.python" + "hosted.org/packages",
        "numpy @ file:" + "///wheels/numpy.whl",
        "see /home" + "/somebody/notes",
        "see (/work" + "/main)",
        "see ../" + "shared/design",
    ],
)
def test_foreign_names_are_found(line: str) -> None:
    assert foreign(line)


def test_lock_pins_every_requirement_with_hashes() -> None:
    assert LOCKED.sub("", read_lock()) == ""


def test_lock_covers_all_that_pyproject_asks_for() -> None:
    settings = pyproject()
    project = settings["project"]
    asked = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
        *(line for group in settings["dependency-groups"].values() for line in group),
        *settings["build-system"]["requires"],
    ]
    locked: dict[str, list[str]] = {}
    for pin in LOCKED.finditer(read_lock()):
        locked.setdefault(pin["name"], []).append(pin["version"])
    for line in asked:
        requirement = Requirement(line)
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions, f"{line} is not locked: run make lock"
        assert all(map(requirement.specifier.contains, versions)), f"{line}: run make lock"


def test_what_the_package_imports_is_installed_with_it() -> None:
    """What a cluster and a server of polls need is an extra each."""
    imported: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                imported.add(node.module.partition(".")[0])
    project = pyproject()["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(line for extra in extras for line in extra)]
    brought = {"llvmlite", "markupsafe", "pydantic", "starlette"}  # by numba, jinja2 and fastapi
    others = imported - sys.stdlib_module_names - brought - {"fairduel"}
    found = {"httptools", "uvloop"}  # by uvicorn, if they are there
    assert others == {Requirement(line).name for line in asked} - found


def test_readme_says_where_the_command_is() -> None:
    assert ".venv/bin/fairduel" in (ROOT / "README.md").read_text()


def test_ci_runs_the_same_test_as_everybody() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-1] == "make test"


def test_version_is_written_once_for_the_build_and_once_for_citation() -> None:
    # flit reads fairduel.__version__; a version of its own in pyproject.toml could differ.
    assert "version" in pyproject()["project"]["dynamic"]
    assert f"\nversion: {fairduel.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_import_loads_nothing_heavy() -> None:
    heavy = {"numba", "scipy", "matplotlib", "typer", "rich"}
    code = f"import sys, fairduel; print(sorted({heavy!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_all_files_of_the_package_are_in_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        shipped = set(wheel.namelist())
    source = ROOT / "src"
    files = (path for path in committed_files() if path.is_relative_to(source))
    package = {path.relative_to(source).as_posix() for path in files}
    assert {"fairduel/py.typed", "fairduel/serve/static/poll.js"} <= package <= shipped
