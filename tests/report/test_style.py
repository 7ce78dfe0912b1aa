"""The look of figures, and how they are saved."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairduel.errors import InputError
from fairduel.report import figures
from fairduel.report.figures import Line, Panel
from fairduel.report.style import image, line_style, svg_element
from html_elements import Elements


def picture() -> Figure:
    x = np.linspace(1.0, 50.0, 50)
    lines = tuple(Line(f"line {k}", x, x + k, x / 10, style=k) for k in range(7))
    return figures.grid([Panel("one", lines), Panel("two", lines, logarithmic=True)], columns=2)


def test_figures_are_the_same_file_every_time_and_share_no_names() -> None:
    assert svg_element(picture(), "a") == svg_element(picture(), "a")
    assert image(picture(), ".png") == image(picture(), ".png")
    ids = [set(Elements(svg_element(picture(), name)).ids) for name in ("a", "b")]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_other_formats_are_refused() -> None:
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        image(picture(), ".pdf")


def test_more_learners_than_colours_still_look_different() -> None:
    assert len({str(line_style(number)) for number in range(49)}) == 49
    assert line_style(7)["color"] == line_style(0)["color"]  # in another shape


def test_only_elements_for_pages_are_transparent() -> None:
    assert "fill: #ffffff" in image(picture(), ".svg").decode()
    assert "#ffffff" not in svg_element(picture(), "a")
