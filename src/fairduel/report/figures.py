"""Panels of lines with their 95 % intervals, for reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.report import style
from fairduel.report.style import INK, draw_bands, line_style
from fairduel.simulation.metrics import mean_interval

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE_SIZE, LEGEND_SIZE = 10, 9  # points
LOOK: dict[Any, Any] = style.LOOK | {
    "font.size": 9,
    "axes.titlesize": TITLE_SIZE,
    "axes.titlepad": 6,
    "axes.labelsize": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "legend.fontsize": LEGEND_SIZE,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.2,
}
MARKS = 7  # markers along a line: enough to tell it by its shape
BOUND_DASHES = ((0, (4, 2)), (0, (1, 1.6)))
PANEL = (3.5, 2.75)  # inches, if panels of that width fit
WIDTH = 10.5  # inches, of a figure at most
LEAST_WIDTH = 6.0  # and at least: one panel has a legend as well
LEGEND_LINE = 0.16  # inches
TITLE_LINE = 0.18
TICKS = 0.8  # inches beside the axes of a panel, where a title has no place
HANDLE = 0.8  # inches of a legend that are not its text
EDGE = 0.2  # inches that a legend keeps from the sides
BREAKS = re.compile(r"[:/ ]|,(?!\d)")  # long names go on in a new line after one of these
NARROW = 100.0  # axes that span less than this factor have ticks between the powers of ten


@dataclass(frozen=True, eq=False)
class Line:
    """Means over x; ``half_width`` draws the interval. ``style`` numbers colour and shape."""

    label: str
    x: Floats | Ints
    mean: Floats
    half_width: Floats | None = None
    style: int = 0
    bound: bool = False  # a theoretical bound: thin, dashed, without markers


@dataclass(frozen=True, eq=False)
class Panel:
    title: str
    lines: tuple[Line, ...]
    xlabel: str = "rounds"
    ylabel: str = ""
    logarithmic: bool = False
    legend: bool = False  # one of its own; else the figure has one for all panels
    ticks: tuple[float, ...] = field(default=())


def line_of_runs(label: str, x: Floats | Ints, runs: Floats, style: int) -> Line:
    """Return the mean over the runs that did not fail (rows without NaN), NaN if all did."""
    good = runs[~np.isnan(runs).any(axis=1)]
    if not len(good):
        return Line(label, x, np.full(len(x), np.nan), None, style)
    mean, half_width = mean_interval(good)
    return Line(label, x, mean, half_width, style)


def grid(panels: Sequence[Panel], columns: int) -> Figure:
    """Draw the panels in rows of ``columns``, with one legend on top unless they have their own."""
    import matplotlib
    from matplotlib.figure import Figure

    rows = -(-len(panels) // columns)
    width = min(max(PANEL[0] * columns, LEAST_WIDTH), WIDTH)
    with matplotlib.rc_context(LOOK):
        titles = [wrapped(panel.title, width / columns - TICKS, TITLE_SIZE) for panel in panels]
        figure = Figure(figsize=(width, PANEL[1]), dpi=120, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for place, panel, title in zip(axes, panels, titles, strict=False):
            _draw(place, panel)
            place.set_title(title)
        for place in axes[len(panels) :]:
            place.set_axis_off()
        below = max((len(panel.lines) for panel in panels if panel.legend), default=0)
        above = max(title.count("\n") for title in titles)
        height = rows * (PANEL[1] + LEGEND_LINE * below + TITLE_LINE * above) + 0.1
        if not below:
            height += _legend(figure, axes)
        figure.set_size_inches(width, height)
        # The layout is found once, and not again for each file format.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def wrapped(text: str, inches: float, points: float) -> str:
    """Break text into lines at most ``inches`` wide in this font size, at words if possible."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=points)

    def fits(words: str) -> bool:
        return bool(text_to_path.get_text_width_height_descent(words, font, False)[0] < 72 * inches)

    lines = []
    for line in text.split("\n"):
        left = line
        while left:
            end = len(left)
            while end > 1 and not fits(left[:end]):
                end -= 1
            if end < len(left):
                breaks = (found.end() for found in BREAKS.finditer(left))
                end = max((place for place in breaks if place <= end), default=end)
            lines.append(left[:end])
            left = left[end:]
    return "\n".join(lines).replace("$", r"\$")  # which would begin a formula


def _legend(figure: Figure, axes: Iterable[Axes]) -> float:
    """Draw one legend for all panels, in as many columns as fit; return its height in inches."""
    handles: dict[str, Any] = {}
    for place in axes:  # a line may be in some of them only
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    width = figure.get_figwidth()
    labels = [wrapped(label, width - HANDLE, LEGEND_SIZE) for label in handles]
    for columns in range(len(labels), 0, -1):
        legend = figure.legend(handles.values(), labels, loc="outside upper center", ncols=columns)
        box = legend.get_window_extent()
        if box.width / figure.dpi <= width - EDGE:
            break
        if columns > 1:
            legend.remove()
    return float(box.height / figure.dpi)


def _draw(axes: Axes, panel: Panel) -> None:
    for number, line in enumerate(panel.lines):
        _draw_line(axes, line, number)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    # Without a single result there is nothing that a logarithmic axis could show.
    logarithmic = panel.logarithmic and any((line.mean > 0).any() for line in panel.lines)
    if logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    draw_bands(
        axes,
        [
            (line.x, line.mean, line.half_width, line_style(line.style)["color"])
            for line in panel.lines
            if line.half_width is not None
        ],
    )
    if logarithmic:
        _log_ticks(axes, panel.ticks)
    else:
        _plain_ticks(axes)
    if panel.legend:  # below, where it hides nothing
        axes.legend(
            loc="upper left", bbox_to_anchor=(0, -0.2), fontsize=8, handlelength=3, labelspacing=0.3
        )


def _draw_line(axes: Axes, line: Line, number: int) -> None:
    if line.bound:
        dashes = BOUND_DASHES[line.style % len(BOUND_DASHES)]
        axes.plot(line.x, line.mean, label=line.label, color=INK, linewidth=1.1, linestyle=dashes)
        return
    # Markers of different lines at different places, so that none hides another.
    count = len(line.x)
    step = max(1, count // MARKS)
    every = slice(number * step // 5, None, step) if count > 2 * MARKS else None
    axes.plot(line.x, line.mean, label=line.label, markevery=every, **line_style(line.style))


def _log_ticks(axes: Axes, ticks: tuple[float, ...]) -> None:
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=7))
        axis.set_minor_formatter(NullFormatter())
    low, high = axes.get_ylim()
    if high < NARROW * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.10g}")
        axes.yaxis.set_minor_locator(NullLocator())
    if ticks:
        axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())


def _plain_ticks(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.margins(x=0)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylim(bottom=0)
