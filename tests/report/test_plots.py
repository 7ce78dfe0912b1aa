"""The picture of a comparison: complete, legible, and the same file every time."""

import itertools
import re

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from fairduel.errors import InputError
from fairduel.experiments.comparison import Comparison
from fairduel.report import plots
from fairduel.simulation.trajectory import Trajectory, logarithmic_checkpoints


def made_up(labels: list[str], runs: int, users: int, rounds: int) -> Comparison:
    rng = np.random.default_rng(0)
    marks = logarithmic_checkpoints(rounds, 20)

    def trajectory(best: float) -> Trajectory:
        utilities = marks[:, None] * rng.uniform(0.2, 0.9, users)
        return Trajectory(marks, np.array(0.4 * marks), utilities, best, {}, np.ones(1))

    trajectories = {
        label: [trajectory(0.5 + 0.1 * number) for _ in range(runs)]
        for number, label in enumerate(labels)
    }
    return Comparison(trajectories, {label: [0.1] * runs for label in labels})


FIVE = ["fair-etc", "fair-eps", "utilitarian-etc", "utilitarian-eps", "uniform"]


def test_png_is_a_picture_of_the_size_meant() -> None:
    data = plots.comparison_picture(made_up(FIVE, 3, 10, 200_000), ".png")
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1650, 690)


def test_svg_says_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plots.LOOK, "svg.fonttype", "none")  # text stays text
    svg = plots.comparison_picture(made_up(FIVE, 3, 10, 200_000), ".svg").decode()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for label in FIVE:
        assert texts.count(label) == 2
    assert {"Cumulative regret in Nash welfare", "rounds", "200,000"} <= set(texts)
    assert "Mean of 3 runs; shaded: 95 % interval" in texts
    assert all(color.lower() in svg.lower() for color in plots.COLORS[:5])


@pytest.mark.parametrize("suffix", plots.FORMATS)
def test_same_comparison_same_file(suffix: str) -> None:
    pictures = [plots.comparison_picture(made_up(FIVE, 2, 4, 1000), suffix) for _ in range(2)]
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize(
    ("runs", "users", "rounds"), [(1, 1, 1), (2, 1, 2), (1, 3, 10), (2, 100, 10**12)]
)
def test_extremes_are_drawn_without_a_warning(
    runs: int, users: int, rounds: int, logarithmic: bool
) -> None:
    comparison = made_up(["fair-etc:exploration=0.5,preset=as_run"], runs, users, rounds)
    assert plots.comparison_picture(comparison, ".png", logarithmic)


def test_no_regret_is_drawn_on_a_logarithmic_axis() -> None:
    marks = np.array([1, 10])
    still = Trajectory(marks, 1.0 * marks, marks[:, None] * 1.0, 1.0, {}, np.ones(1))
    assert plots.comparison_picture(Comparison({"a": [still]}, {"a": [0.1]}), ".png", True)


def test_other_formats_are_refused() -> None:
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        plots.comparison_picture(made_up(["a"], 1, 1, 1), ".pdf")


def test_more_learners_than_colours_still_look_different() -> None:
    assert len({str(plots.style(number)) for number in range(49)}) == 49
    assert plots.style(7)["color"] == plots.style(0)["color"]  # in another shape


def test_many_long_labels_stay_inside_and_apart() -> None:
    labels = [f"fair-etc:exploration={k / 10},preset=as_written,winners=0/1" for k in range(9)]
    with matplotlib.rc_context(plots.LOOK):
        figure = plots._figure(made_up(labels, 2, 4, 1000), logarithmic=False)
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
    places = plots._apart(wanted, heights)
    assert np.all(np.diff(places) >= (heights[1:] + heights[:-1]) / 2 - 1e-12)
    assert places[0] - heights[0] / 2 >= -1e-12
    assert places[-1] + heights[-1] / 2 <= 1 + 1e-12


def test_labels_that_have_room_stay_where_they_are() -> None:
    wanted = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(plots._apart(wanted, np.full(3, 0.05)), wanted)


def test_labels_in_one_place_spread_evenly_around_it() -> None:
    places = plots._apart(np.full(3, 0.5), np.full(3, 0.1))
    np.testing.assert_allclose(places, [0.4, 0.5, 0.6])
