"""The figure of `simulate`: complete, legible, and the same file every time."""

import itertools
import re

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from fairduel.report import learners_figure as module
from fairduel.report.learners_figure import RunsOf, learners_figure
from fairduel.report.style import COLORS, FORMATS, LOOK, image
from fairduel.simulation.trajectory import logarithmic_checkpoints


def made_up(labels: list[str], runs: int, users: int, rounds: int) -> list[RunsOf]:
    rng = np.random.default_rng(0)
    marks = logarithmic_checkpoints(rounds, 20)
    return [
        RunsOf(
            label,
            marks,
            np.tile((0.1 + 0.1 * number) * marks, (runs, 1)),
            rng.uniform(0.2, 0.9, (runs, users)),
        )
        for number, label in enumerate(labels)
    ]


FIVE = ["fair-etc", "fair-eps", "utilitarian-etc", "utilitarian-eps", "uniform"]


def test_png_is_a_picture_of_the_size_meant() -> None:
    data = image(learners_figure(made_up(FIVE, 3, 10, 200_000)), ".png")
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1650, 690)


def test_svg_says_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOOK, "svg.fonttype", "none")  # text stays text
    svg = image(learners_figure(made_up(FIVE, 3, 10, 200_000)), ".svg").decode()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for label in FIVE:
        assert texts.count(label) == 2
    assert {"Cumulative regret in Nash welfare", "rounds", "200,000"} <= set(texts)
    assert "Mean of 3 runs; shaded: 95 % interval" in texts
    assert all(color.lower() in svg.lower() for color in COLORS[:5])


@pytest.mark.parametrize("suffix", FORMATS)
def test_same_comparison_same_file(suffix: str) -> None:
    pictures = [image(learners_figure(made_up(FIVE, 2, 4, 1000)), suffix) for _ in range(2)]
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize(
    ("runs", "users", "rounds"), [(1, 1, 1), (2, 1, 2), (1, 3, 10), (2, 100, 10**12)]
)
def test_extremes_are_drawn_without_a_warning(
    runs: int, users: int, rounds: int, logarithmic: bool
) -> None:
    learners = made_up(["fair-etc:exploration=0.5,preset=as_run"], runs, users, rounds)
    assert image(learners_figure(learners, logarithmic), ".png")


def test_no_regret_is_drawn_on_a_logarithmic_axis() -> None:
    still = RunsOf("a", np.array([1, 10]), np.zeros((1, 2)), np.ones((1, 1)))
    assert image(learners_figure([still], logarithmic=True), ".png")


def test_lines_are_means_and_users_are_in_the_order_of_what_they_get() -> None:
    regret = np.array([[1.0, 3.0], [3.0, 5.0]])
    utilities = np.array([[0.9, 0.1, 0.2], [0.3, 0.4, 0.8]])
    figure = learners_figure([RunsOf("a", np.array([1, 2]), regret, utilities)])
    left, right = (np.asarray(axes.get_lines()[0].get_xydata(), float) for axes in figure.axes)
    np.testing.assert_allclose(left, [[0, 0], [1, 2], [2, 4]])
    np.testing.assert_allclose(right, [[1, 0.2], [2, 0.3], [3, 0.85]])


def test_many_long_labels_stay_inside_and_apart() -> None:
    labels = [f"fair-etc:exploration={k / 10},preset=as_written,winners=0/1" for k in range(9)]
    with matplotlib.rc_context(LOOK):
        figure = learners_figure(made_up(labels, 2, 4, 1000))
        figure.draw_without_rendering()
        for axes in figure.axes:
            # Of the words alone, without the lines that lead to them.
            boxes = sorted(map(Text.get_window_extent, axes.texts), key=lambda box: box.y0)
            assert len(boxes) == 9
            assert boxes[0].y0 >= 0
            assert boxes[-1].y1 <= figure.bbox.y1
            assert all(low.y1 <= high.y0 for low, high in itertools.pairwise(boxes))
            assert max(box.x1 for box in boxes) <= figure.bbox.x1


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.05, 0.1, 0.15])), min_size=1, max_size=6)
)
def test_labels_stay_in_order_clear_of_each_other_and_inside(
    labels: list[tuple[float, float]],
) -> None:
    wanted = np.array(sorted(place for place, _ in labels))
    heights = np.array([height for _, height in labels])
    places = module._apart(wanted, heights)
    assert np.all(np.diff(places) >= (heights[1:] + heights[:-1]) / 2 - 1e-12)
    assert places[0] - heights[0] / 2 >= -1e-12
    assert places[-1] + heights[-1] / 2 <= 1 + 1e-12


def test_labels_that_have_room_stay_where_they_are() -> None:
    wanted = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(module._apart(wanted, np.full(3, 0.05)), wanted)


def test_labels_in_one_place_spread_evenly_around_it() -> None:
    places = module._apart(np.full(3, 0.5), np.full(3, 0.1))
    np.testing.assert_allclose(places, [0.4, 0.5, 0.6])
