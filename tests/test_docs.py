"""The documentation: every block runs and prints what it says, and nothing public is left out."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import griffe
import pytest
import typer

import fairduel
from fairduel.cli.app import app
from pages import LEFT, PAGES, ROOT, RUN, agrees, blocks, masked, run

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
REFERENCE = "\n".join(path.read_text() for path in sorted(ROOT.glob("docs/reference/*.md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_and_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for block, printed in run(page.read_text(), tmp_path):
        if block.output is not None and not agrees(printed, block.output):
            assert masked(printed) == masked(block.output), f"{page.name}, line {block.line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_block_is_passed_over(page: Path) -> None:
    """A block that is neither run, nor a file, nor an output is one that nobody checks."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for block in blocks(page.read_text()):
        where = f"{page.name}, line {block.line}"
        if block.language == "sh":
            kinds = {command.startswith(RUN) for command in block.commands}
            assert len(kinds) == 1, f"{where}: what is run and what is not stand in one block"
            assert all(command.startswith(RUN + LEFT) for command in block.commands), where
            made = (line.split()[1] for line in block.commands if line.startswith("make "))
            assert set(made) <= set(targets), where
        else:
            assert block.language == "python" or block.title, f"{where}: name a file or a language"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Without the site too; mkdocs checks them on it."""
    missing = [to for to in LINK.findall(page.read_text()) if not (page.parent / to).exists()]
    assert not missing


def test_the_landing_page_leads_to_every_other() -> None:
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= set(LINK.findall((ROOT / "README.md").read_text()))


def test_scripts_that_pages_name_exist() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    scripts = set(re.findall(r"\b(?:benchmarks|examples|tests)/\w+\.py", text))
    assert scripts
    assert not [name for name in scripts if not (ROOT / name).exists()]


# What is public


def commands() -> dict[str, typer.core.TyperCommand]:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return {"": group, **group.commands}  # type: ignore[dict-item]


@pytest.mark.parametrize("name", commands())
def test_commands_and_options_have_help(name: str) -> None:
    command = commands()[name]
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"fairduel {name}: {parameter.name}"


def test_pages_show_every_command() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    assert not [name for name in commands() if f"fairduel {name}" not in text]


@pytest.fixture(scope="module")
def package() -> griffe.Module:
    """The package as its source says it; constants have docstrings too there."""
    folder = Path(fairduel.__file__).parents[1]
    loaded = griffe.load("fairduel", search_paths=[folder], resolve_aliases=True)
    assert isinstance(loaded, griffe.Module)
    return loaded


@pytest.mark.parametrize("name", fairduel.__all__)
def test_public_names_have_docstrings(package: griffe.Module, name: str) -> None:
    assert package[name].docstring


@pytest.mark.parametrize("name", fairduel.__all__)
def test_public_names_are_in_the_reference(name: str) -> None:
    assert re.search(rf"^::: fairduel\.{name}$", REFERENCE, re.MULTILINE)


# The site


class Sources(HTMLParser):
    """Collect the addresses that a browser fetches by itself."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {"src", "srcset", "data", "poster"} | ({"href"} if tag == "link" else set())
        self.found += [value or "" for name, value in attrs if name in attributes]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_site_builds_and_asks_no_other_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert {"index.html", "contributing.html", "sessions.html"} <= {page.name for page in pages}
    fetched = [source for page in pages for source in Sources(page).found]
    fetched += [
        source
        for sheet in site.rglob("*.css")
        for source in re.findall(r"(?:url\(|@import )\s*['\"]?([^'\")]+)", sheet.read_text())
    ]
    assert fetched
    assert not [source for source in fetched if re.match(r"(?:https?:)?//", source)]


def test_site_has_the_reference(site: Path) -> None:
    pages = "".join(page.read_text() for page in sorted(site.glob("reference/*.html")))
    for name in fairduel.__all__:
        assert f'id="fairduel.{name}"' in pages


# That the checks above can fail


PAGE = """
```python
answer = 6 * 7
```

```python
print(answer, "after 0.1 s")
```

```text
42 after 9 s
```

```csv title="scores.csv"
1,0
0,1
```

```sh
fairduel solve scores.csv
```

```text
Arm ...
```

<!-- not run: takes an hour -->
```sh
fairduel explode
```
"""


def test_a_page_is_run(tmp_path: Path) -> None:
    done = list(run(PAGE, tmp_path))
    assert [block.line for block, _ in done] == [2, 6, 19]
    assert all(agrees(printed, block.output or "") for block, printed in done[1:])
    assert not agrees(done[1][1], "41 after 9 s")
    assert not agrees(done[2][1], "Arms ...")


@pytest.mark.parametrize("code", ["```python\n1 / 0\n```", "```sh\nfairduel explode\n```"])
def test_a_block_that_fails_is_found(code: str, tmp_path: Path) -> None:
    with pytest.raises((ZeroDivisionError, AssertionError), match=r"zero|explode"):
        list(run(code, tmp_path))


def test_fetched_sources_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<a href="https://a"><img src="//b"><link href="https://c"></a>')
    assert Sources(page).found == ["//b", "https://c"]


@pytest.mark.parametrize(
    "module", ["fairduel.live.session", "fairduel.experiments.grid", "fairduel.data.scores"]
)
def test_examples_of_docstrings_run(module: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0
