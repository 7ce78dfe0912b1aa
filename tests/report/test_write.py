"""A report in its folder."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairduel.report import figures
from fairduel.report.criterion import fact
from fairduel.report.document import Claim, Document, Picture, Section
from fairduel.report.figures import Line, Panel
from fairduel.report.html import to_html
from fairduel.report.markdown import to_markdown
from fairduel.report.write import write_report
from fake_sweep import fake_report


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_report(tmp_path_factory)


def test_report_says_how_to_redo_it(folder: Path) -> None:
    for name in ("report.html", "report.md"):
        text = (folder / name).read_text()
        assert "fairduel reproduce all --out" in text
        assert "--runs 3" in text
        assert "Python 3." in text
        assert "numpy" in text


def test_few_runs_are_said_at_the_top(folder: Path) -> None:
    for name, first_section in (("report.html", "<nav>"), ("report.md", "\n## ")):
        opening = (folder / name).read_text().split(first_section)[0]
        assert "means of 30 runs; here there are comparisons of 3" in opening


def test_controls_are_shown_apart_and_count() -> None:
    claim = Claim("c", "5", "so", (fact("it is", True),), controls=(fact("is not", False),))
    document = Document("", (), (Section("s", "S", (), (claim,)),), ())
    for text in (to_html(document, {}), to_markdown(document)):
        before, after = text.split("as they must not):")
        assert "it is" in before
        assert "is not" in after
        assert "✗ does not hold here" in before


def picture() -> Figure:
    x = np.linspace(1.0, 50.0, 50)
    lines = tuple(Line(f"line {k}", x, x + k, x / 10, style=k) for k in range(7))
    return figures.grid([Panel("one", lines), Panel("two", lines, logarithmic=True)], columns=2)


def test_a_report_can_be_written_over(tmp_path: Path) -> None:
    section = Section("s", "S", (Picture("p", "caption", picture),))
    for title in ("first", "second"):
        write_report(Document(title, (), (section,), ()), tmp_path)
    assert "<h1>second</h1>" in (tmp_path / "report.html").read_text()
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "figures",
        "report.html",
        "report.md",
    ]


def test_a_report_takes_away_its_own_old_pictures_and_no_others(tmp_path: Path) -> None:
    for name in ("first", "second"):
        section = Section("s", "S", (Picture(name, "caption", picture),))
        write_report(Document("", (), (section,), ()), tmp_path)
        (tmp_path / "figures" / "mine.png").write_bytes(b"mine")
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {"second.png", "mine.png"}
