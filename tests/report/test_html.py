"""The page: everything is in it, nothing is fetched, and no text can break it."""

import re
from collections import Counter
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from fairduel.report.criterion import fact
from fairduel.report.document import (
    Caution,
    Claim,
    Document,
    Picture,
    Section,
    Table,
    Text,
    Verdict,
)
from fairduel.report.html import inline, to_html
from fake_sweep import PICTURES, fake_report
from html_elements import Elements

# The report of these tests is made without the Sushi data.
SYNTHETIC = {f"{name}-synthetic" if name.startswith("figure3") else name for name in PICTURES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_report(tmp_path_factory)


def test_page_is_whole_and_needs_nothing_else(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    page = Elements(text)
    assert page.tags["figure"] == page.tags["svg"] == len(PICTURES)
    assert set(page.ids) >= {f"{name}-picture" for name in SYNTHETIC}
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    assert page.links
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert [link for link in page.links if not link.startswith("#")] == []
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "nan" not in re.findall(r"[\w.]+", " ".join(page.words).lower())


def test_every_colour_of_a_figure_belongs_to_the_page(folder: Path) -> None:
    text = (folder / "report.html").read_text()
    body = text[text.index("<body>") :]
    assert re.findall(r"#[0-9a-fA-F]{6}\b", body) == []
    used = set(re.findall(r"var\(--(\w+)\)", body))
    light, dark = text[: text.index("<body>")].split("prefers-color-scheme: dark")
    assert {"ink", "grid", "line0", "line4"} <= used
    for scheme in (light, dark):
        assert used <= set(re.findall(r"--(\w+): #", scheme))


def test_every_column_has_a_heading(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert "as run: verdict" in page
    assert re.findall(r"<th[^>]*>\s*</th>", page) == []


def test_names_cannot_break_the_page() -> None:
    odd = "<b>&\"'|`code`"
    claim = Claim("name", odd, odd, (fact(odd, True),), odd)
    table = Table((odd, odd), ((odd, Verdict.DIFFERS),), odd)
    section = Section("name-of-section", odd, (Text(odd), table), (claim,))
    document = Document(odd, (Text(odd),), (section,), ((odd, odd),))
    page = Elements(to_html(document, {}))
    assert page.tags["b"] == 1  # the name of the claim
    assert odd.replace("`code`", "") in "".join(page.words)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b < c` d", "a <code>b &lt; c</code> d"),
        ("<script>", "&lt;script&gt;"),
        ("[name](#claim-name)", '<a href="#claim-name">name</a>'),
        ("[name](https://example.org)", "[name](https://example.org)"),
        ('[name](#a" onclick=x)', "[name](#a&#34; onclick=x)"),
    ],
)
def test_text_has_code_and_links_inside_the_page_only(text: str, shown: str) -> None:
    assert inline(text) == shown


def test_whatever_a_report_holds_is_escaped() -> None:
    odd = "<script>alert(1)</script>"
    claim = Claim("name", odd, odd, (fact(odd, True),), odd, (fact(odd, False),))
    blocks = (Text(odd), Caution(odd), Table((odd,), ((odd,),), odd), Picture("p", odd, Figure))
    section = Section("section", odd, blocks, (claim,))
    page = to_html(Document(odd, blocks, (section,), ((odd, odd),)), {"p": "<svg></svg>"})
    assert "<script" not in page
    elements = Elements(page)
    assert elements.tags["svg"] == 2
    # Titles, blocks of the summary and of the section, the overview, the claim, the facts.
    assert "".join(elements.words).count("alert(1)") == 2 + 2 + 2 * 6 + 2 + 5 + 2
    assert page.count('aria-label="&lt;script&gt;') == 2


def test_the_page_allows_nothing_to_be_loaded() -> None:
    page = to_html(Document("", (), (), ()), {})
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
