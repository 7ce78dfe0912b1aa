"""The text: the same as the page, and its tables hold whatever they are given."""

import re
from pathlib import Path

import pytest

from fairduel.report.criterion import fact
from fairduel.report.document import Claim, Document, Section, Table, Text, Verdict
from fairduel.report.markdown import to_markdown
from fake_sweep import PICTURES, fake_report

# The report of these tests is made without the Sushi data.
SYNTHETIC = {f"{name}-synthetic" if name.startswith("figure3") else name for name in PICTURES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_report(tmp_path_factory)


def test_markdown_has_the_same_and_its_pictures(folder: Path) -> None:
    text = (folder / "report.md").read_text()
    pictures = re.findall(r"\]\((figures/[\w-]+\.png)\)", text)
    assert {Path(picture).stem for picture in pictures} == SYNTHETIC
    for picture in pictures:
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    widths: list[int] = []
    for line in text.splitlines():
        bars = len(re.findall(r"(?<!\\)\|", line))
        if bars and widths and widths[-1]:
            assert bars == widths[-1]
        widths.append(bars)
    page = (folder / "report.html").read_text()
    figures_in_text = set(re.findall(r"[\d,.]+ ± [\d,.]+", text))
    assert len(figures_in_text) > 100
    assert figures_in_text <= set(re.findall(r"[\d,.]+ ± [\d,.]+", page))
    assert text.count("Each comparison rests on") == page.count("Each comparison rests on") > 20


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("two\nlines\r\n\tand more", "two lines and more"),
        ("a | b", "a \\| b"),
        ("<b>bold", "&lt;b>bold"),
        ("a `<b>` and <b>", "a `<b>` and &lt;b>"),
        ("one ` and <b>", "one ` and &lt;b>"),
        ("` <b>", "` &lt;b>"),
    ],
)
def test_any_text_is_one_cell_of_a_markdown_table(cell: str, written: str) -> None:
    table = Table(("Reason",), ((cell,),))
    text = to_markdown(Document("", (table,), (), ()))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[-1] == f"| {written} |"
    assert len(rows) == 3


def test_names_cannot_break_a_table() -> None:
    odd = "<b>&\"'|`code`"
    claim = Claim("name", odd, odd, (fact(odd, True),), odd)
    table = Table((odd, odd), ((odd, Verdict.DIFFERS),), odd)
    section = Section("name-of-section", odd, (Text(odd), table), (claim,))
    document = Document(odd, (Text(odd),), (section,), ((odd, odd),))
    rows = [line for line in to_markdown(document).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 5}


def test_the_copy_in_the_docs_is_whole() -> None:
    place = Path(__file__).parents[2] / "docs" / "reproduction"
    text = (place / "report.md").read_text()
    pictures = re.findall(r"\]\((figures/[\w-]+\.png)\)", text)
    assert {Path(picture).stem for picture in pictures} == PICTURES
    assert all((place / picture).is_file() for picture in pictures)
    assert "20 agree as run" in text
    assert text.count("Each comparison rests on") > 30
    assert "synthetic stand-in" not in text
    assert "synthetic data" not in text
    assert "`fairduel reproduce all`" in text
