"""What the site has besides docs/: the pages and files at the top of the project."""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
FILES = ("CITATION.cff", "LICENSE", "examples/lunch.py")

LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add them."""
    for source, name in PAGES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    for name in FILES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have links that are right in the project's folders be right on the site.

    Files that the site does not have, such as the source, are named without a link.
    """
    sources = {name: source for source, name in PAGES.items()}
    here = page.file.src_uri
    folder = posixpath.dirname(sources.get(here, f"docs/{here}"))

    def moved(link: re.Match[str]) -> str:
        label, to, anchor = link.groups("")
        target = posixpath.normpath(posixpath.join(folder, to))
        name = PAGES.get(target, target.removeprefix("docs/"))
        if (ROOT / target).exists() and files.get_file_from_path(name) is None:
            return label
        return f"[{label}]({posixpath.relpath(name, posixpath.dirname(here) or '.')}{anchor})"

    return LINK.sub(moved, markdown)
