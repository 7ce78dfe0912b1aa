"""The report: everything is in it, nothing is fetched, and both forms say the same."""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairduel.cli.specs import LEARNERS
from fairduel.report import figures
from fairduel.report.criterion import fact
from fairduel.report.document import Claim, Document, Picture, Section, Table, Text, Verdict
from fairduel.report.figures import Line, Panel
from fairduel.report.write import to_html, to_markdown, write_report
from fake_sweep import PICTURES, fake_report

# The report that most tests read is made without the Sushi data.
SYNTHETIC = {f"{name}-synthetic" if name.startswith("figure3") else name for name in PICTURES}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fake_report(tmp_path_factory)


class Elements(HTMLParser):
    """What a page consists of; elements have to be closed in order."""

    EMPTY = frozenset({"meta", "use", "path", "rect", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in self.EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            self.links += [value] if name == "href" and value else []
            self.links += re.findall(r"url\(([^)]*)\)", value or "")


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


def test_every_column_has_a_heading(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert "as run: verdict" in page
    assert re.findall(r"<th[^>]*>\s*</th>", page) == []


def test_controls_are_shown_apart_from_the_verdict() -> None:
    claim = Claim("c", "5", "so", (fact("it is", True),), controls=(fact("is not", False),))
    document = Document("", (), (Section("s", "S", (), (claim,)),), ())
    for text in (to_html(document, {}), to_markdown(document)):
        before, after = text.split("no part of the verdict:")
        assert "it is" in before
        assert "is not" in after
        assert "✓ holds" in before


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


def test_names_cannot_break_the_page() -> None:
    odd = "<b>&\"'|`code`"
    claim = Claim("name", odd, odd, (fact(odd, True),), odd)
    table = Table((odd, odd), ((odd, Verdict.DIFFERS),), odd)
    section = Section("name-of-section", odd, (Text(odd), table), (claim,))
    document = Document(odd, (Text(odd),), (section,), ((odd, odd),))
    page = Elements(to_html(document, {}))
    assert page.tags["b"] == 1  # the name of the claim
    assert odd.replace("`code`", "") in "".join(page.words)
    rows = [line for line in to_markdown(document).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 5}


def drawn(labels: list[str], panels: int, title: str = "random") -> Figure:
    x = np.linspace(1.0, 50.0, 50)
    lines = tuple(Line(label, x, x + k, x / 10, style=k) for k, label in enumerate(labels))
    return figures.grid([Panel(title, lines)] * panels, columns=min(panels, 3))


LONG = [
    f"mylab.learners:Explorer:exploration={k / 8},preset=as_written,gap=0.025" for k in range(9)
]


@pytest.mark.parametrize(
    ("labels", "panels", "title"),
    [
        (list(LEARNERS), 1, "random"),
        ([f"learner {k}" for k in range(10)], 1, "random"),
        (LONG, 1, "clustered:\nusers=10,arms=10,gap=0.1,share=0.7, 200,000 rounds, and much more"),
        (LONG, 5, "file:/somewhere/deep/down/in/many/folders/an-instance.npz, 200,000 rounds"),
        (["x" * 300, "a$b$c"], 2, "y" * 100),
    ],
)
def test_names_have_room_and_so_have_the_axes(labels: list[str], panels: int, title: str) -> None:
    figure = drawn(labels, panels, title)
    assert len(figure.legends) == 1
    legend = figure.legends[0].get_window_extent()
    whole = figure.bbox
    assert legend.x0 >= 0
    assert legend.x1 <= whole.x1
    assert legend.y1 <= whole.y1
    shown = [text.get_text().replace("\n", "") for text in figure.legends[0].get_texts()]
    assert [text.replace(r"\$", "$") for text in shown] == labels
    for axes in figure.axes[:panels]:
        box = axes.get_window_extent()
        assert box.height >= 1.7 * figure.dpi
        assert box.width >= 2 * figure.dpi
        name = axes.title if axes.title.get_text() else axes._left_title  # type: ignore[attr-defined]
        assert name.get_window_extent().x1 <= whole.x1
        assert name.get_window_extent().y1 <= legend.y0
        assert name.get_text().replace("\n", "") == title.replace("\n", "")


def test_a_learner_that_some_panels_lack_is_in_the_legend() -> None:
    x = np.linspace(1.0, 50.0, 50)
    one, two = (Line(label, x, x, style=k) for k, label in enumerate(("one", "two")))
    figure = figures.grid([Panel("a", (two,)), Panel("b", (one, two))], columns=2)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["two", "one"]


def test_more_lines_than_colours_still_look_different() -> None:
    lines = drawn([str(k) for k in range(49)], 1).axes[0].get_lines()
    looks = {(line.get_color(), line.get_marker(), str(line._dash_pattern)) for line in lines}  # type: ignore[attr-defined]
    assert len(looks) == 49


def picture() -> Figure:
    x = np.linspace(1.0, 50.0, 50)
    lines = tuple(Line(f"line {k}", x, x + k, x / 10, style=k) for k in range(7))
    return figures.grid([Panel("one", lines), Panel("two", lines, logarithmic=True)], columns=2)


def test_figures_are_the_same_file_every_time_and_share_no_names() -> None:
    assert figures.svg(picture(), "a") == figures.svg(picture(), "a")
    assert figures.png(picture()) == figures.png(picture())
    ids = [set(Elements(figures.svg(picture(), name)).ids) for name in ("a", "b")]
    assert ids[0]
    assert not ids[0] & ids[1]


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


@pytest.mark.parametrize("logarithmic", [True, False])
def test_intervals_down_to_zero_end_where_a_logarithmic_axis_ends(logarithmic: bool) -> None:
    x = np.array([1.0, 10.0, 100.0])
    mean, half_width = np.array([4.0, 8.0, 16.0]), np.array([1.0, 9.0, 2.0])
    panel = Panel("", (Line("a", x, mean, half_width),), logarithmic=logarithmic)
    axes = figures.grid([panel], columns=1).axes[0]
    edges = np.asarray(axes.collections[0].get_paths()[0].vertices, float)[:, 1]
    bottom = axes.get_ylim()[0]
    if logarithmic:
        assert 4 / 3 < bottom < 4
        np.testing.assert_allclose(edges.min(), bottom)
        assert not np.isclose(edges, 8.0).any()  # which is the mean and no end of an interval
    else:
        np.testing.assert_allclose([edges.min(), bottom], [-1.0, 0.0])
    np.testing.assert_allclose(edges.max(), 18.0)


def test_the_copy_in_the_docs_is_whole() -> None:
    place = Path(__file__).parents[2] / "docs" / "reproduction"
    text = (place / "report.md").read_text()
    pictures = re.findall(r"\]\((figures/[\w-]+\.png)\)", text)
    assert {Path(picture).stem for picture in pictures} == PICTURES
    assert all((place / picture).is_file() for picture in pictures)
    assert "20 agree as run" in text
    assert "synthetic" not in text
    assert "`fairduel reproduce all`" in text


def test_a_report_takes_away_its_own_old_pictures_and_no_others(tmp_path: Path) -> None:
    for name in ("first", "second"):
        section = Section("s", "S", (Picture(name, "caption", picture),))
        write_report(Document("", (), (section,), ()), tmp_path)
        (tmp_path / "figures" / "mine.png").write_bytes(b"mine")
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {"second.png", "mine.png"}
