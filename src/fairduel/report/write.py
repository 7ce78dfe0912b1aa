"""A document as files: report.html, and report.md with its pictures."""

from __future__ import annotations

import re
from pathlib import Path

from fairduel._files import make_folder, write_whole
from fairduel.report.document import Document
from fairduel.report.html import to_html
from fairduel.report.markdown import to_markdown
from fairduel.report.style import image, svg_element


def write_report(document: Document, folder: Path) -> tuple[Path, Path]:
    """Write report.html, and report.md with its pictures in figures/; return the two paths."""
    make_folder(folder / "figures")
    drawn = {}
    for picture in document.pictures:
        figure = picture.draw()
        drawn[picture.name] = svg_element(figure, picture.name)
        write_whole(folder / "figures" / f"{picture.name}.png", image(figure, ".png"))
    page, text = folder / "report.html", folder / "report.md"
    before = _pictures_of(text)
    write_whole(page, to_html(document, drawn).encode())
    write_whole(text, to_markdown(document).encode())
    for name in before - drawn.keys():
        (folder / "figures" / f"{name}.png").unlink(missing_ok=True)
    return page, text


def _pictures_of(text: Path) -> set[str]:
    """Return the pictures that an earlier report in the folder shows; others there are not ours."""
    said = text.read_text(encoding="utf-8", errors="replace") if text.is_file() else ""
    return set(re.findall(r"\]\(figures/([\w-]+)\.png\)", said))
