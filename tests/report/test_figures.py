"""Panels: legible, and nothing outside."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairduel.learners.catalogue import NAMES as LEARNERS
from fairduel.report import figures
from fairduel.report.figures import Line, Panel


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
