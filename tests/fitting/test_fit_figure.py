"""The picture of a fit: legible for few users and many, with short names and long ones."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from fairduel import Fit, fit
from fairduel.data import read_votes
from fairduel.report.style import COLORS, image, svg_element

LONG = "A name of which nobody would ever believe that it is a name, number"


def fitted(folder: Path, users: int, user: str = "user", option: str = "option") -> Fit:
    """People who rank six options, each in an order of its own."""
    orders = [
        ",".join(str((place * (1 + d % 5) + d) % 7 or 7) for place in range(1, 7))
        for d in range(users)
    ]
    heading = ",".join(f'"{option} {k}"' for k in range(6))
    rows = "".join(f'"{user} {d}",{order}\n' for d, order in enumerate(orders))
    path = folder / "orders.csv"
    path.write_text(f"name,{heading}\n{rows}")
    return fit(read_votes(path, format="ranks"))


def texts(figure: Figure) -> list[Text]:
    """All that is written, but for the numbers below the axes, some of which are not shown."""
    found: list[Text] = list(figure.legends[0].get_texts())
    for axes in figure.axes:
        labels = [axes._left_title, axes.yaxis.label]  # type: ignore[attr-defined]
        found += [*labels, *axes.get_yticklabels(), *axes.texts]
    return found


@pytest.mark.parametrize("user", ["user", LONG, "a$b$c", "x" * 120])
@pytest.mark.parametrize("users", [3, 12, 200])
def test_all_is_inside_and_names_are_apart(tmp_path: Path, users: int, user: str) -> None:
    found = fitted(tmp_path, users, user, user.replace("user", "option"))
    figure = found.plot()
    figure.draw_without_rendering()
    for text in texts(figure):
        box = text.get_window_extent()
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= figure.bbox.x1 + 1
        assert box.y1 <= figure.bbox.y1 + 1
    for axes in figure.axes[: 2 if found.named else 1]:
        assert axes.get_window_extent().width >= 2 * figure.dpi
        boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
        assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))


def test_users_have_dots_and_many_have_curves(tmp_path: Path) -> None:
    few = fitted(tmp_path, 12)
    there, here = few.plot().axes[1].get_lines()
    assert list(here.get_xdata()) == few.solution.utilities.tolist()  # type: ignore[arg-type]
    assert list(there.get_xdata()) == few.majority.utilities.tolist()  # type: ignore[arg-type]
    many = fitted(tmp_path, 200)
    there, here = many.plot().axes[1].get_lines()
    assert len(here.get_xdata()) == 200  # type: ignore[arg-type]
    assert here.get_ydata()[-1] == pytest.approx(1.0)  # type: ignore[index]
    assert here.get_xdata()[0] == many.solution.utilities.min()  # type: ignore[index]


def test_lines_of_names_end_at_the_axis(tmp_path: Path) -> None:
    for axes in fitted(tmp_path, 12, LONG, LONG).plot().axes:
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert all("\n" in name and " \n" not in name for name in names)


@pytest.mark.parametrize("users", [3, 12, 25])
def test_a_single_bar_is_no_wall(tmp_path: Path, users: int) -> None:
    path = tmp_path / "same.csv"
    path.write_text("name,x,y\n" + "".join(f"{d},1,2\n" for d in range(users)))
    figure = fit(path).plot()
    (bar,) = figure.axes[0].patches
    assert 0.2 <= bar.get_window_extent().height / figure.dpi <= 0.7


def test_intervals_are_drawn_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("user,winner,loser\nann,x,y\nbob,y,x\n")
    voted = fit(tmp_path / "votes.csv").plot().axes[1]
    stated = fitted(tmp_path, 12).plot().axes[1]
    assert len(voted.collections) == len(stated.collections) + 1


def test_colours_are_those_of_the_page(tmp_path: Path) -> None:
    """So that dark pages have their own; only outlines of letters have none."""
    element = svg_element(fitted(tmp_path, 12).plot(), "choice")
    assert not re.findall(r"#[0-9a-fA-F]{6}", element)
    assert COLORS[0].lower() not in element.lower()
    styled = re.findall(r'<g id="choice-text_\d+">\s*(?:<!--.*?-->\s*)?<g style="([^"]*)"', element)
    assert styled
    assert all("var(--ink)" in style for style in styled)


def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    found = fitted(tmp_path, 3)
    assert image(found.plot(), ".png") == image(found.plot(), ".png")
