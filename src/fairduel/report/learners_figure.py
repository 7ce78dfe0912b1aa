"""The figure of `simulate`: how much welfare each learner loses, and who gets what it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.report.style import LOOK, SOFT, draw_bands, line_style
from fairduel.simulation.metrics import mean_interval

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABEL_SIZE = 9.5
HEIGHT = 4.6  # inches, of a picture at least
AROUND = 1.0  # inches of it above and below the axes
LINE_HEIGHT = 0.18  # inches, of a label
MARKED_USERS = 20  # with more of them, markers would hide the lines


@dataclass(frozen=True, eq=False)
class RunsOf:
    """The results of a learner's runs.

    rounds: (checkpoints,). regret: (runs, checkpoints), cumulative. utilities: (runs, users),
    per round over the whole run.
    """

    label: str
    rounds: Ints
    regret: Floats
    utilities: Floats


def learners_figure(
    learners: Sequence[RunsOf], logarithmic: bool = False, welfare: str = "Nash welfare"
) -> Figure:
    """Draw regret and utilities side by side, as means over the runs with 95 % intervals.

    Left: cumulative regret in ``welfare`` over the rounds (Eq. 5), on logarithmic axes if
    ``logarithmic``. Right: what the users get, from the worst off to the best off.
    """
    import matplotlib
    from matplotlib.figure import Figure

    lines = sum(_broken(each.label).count("\n") + 1 for each in learners)
    height = max(HEIGHT, AROUND + LINE_HEIGHT * lines)
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(11, height), dpi=150, layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_regret(left, learners, logarithmic)
        left.set_title(f"Cumulative regret in {welfare}")
        _draw_utilities(right, learners)
        runs = len(learners[0].regret)
        note = f"Mean of {runs} runs; shaded: 95 % interval" if runs > 1 else "One run"
        figure.supxlabel(note, x=0.99, ha="right", fontsize=8.5, color=SOFT)
    return figure


def _draw_regret(axes: Axes, learners: Sequence[RunsOf], logarithmic: bool) -> None:
    last = max(int(each.rounds[-1]) for each in learners)
    logarithmic = logarithmic and last > 1
    if logarithmic:
        axes.set_xscale("log")
        if any(each.regret[:, -1].mean() > 0 for each in learners):
            axes.set_yscale("log")
    ends, bands = {}, []
    for number, each in enumerate(learners):
        rounds, (mean, half_width) = each.rounds, mean_interval(each.regret)
        if not logarithmic:
            rounds = np.append(0, rounds)
            mean, half_width = np.append(0.0, mean), np.append(0.0, half_width)
        look = line_style(number) | {"marker": None}
        axes.plot(rounds, mean, **look)
        bands.append((rounds, mean, half_width, look["color"]))
        ends[each.label] = (float(rounds[-1]), float(mean[-1]), look["color"])
    draw_bands(axes, bands)
    _scale_rounds(axes, last, logarithmic)
    _label(axes, ends)


def _scale_rounds(axes: Axes, rounds: int, logarithmic: bool) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    axes.set_xlabel("rounds")
    if logarithmic:
        axes.set_xlim(1, rounds)
        axes.xaxis.set_major_locator(LogLocator(numticks=7))
    else:
        axes.set_xlim(0, rounds)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.yaxis.set_major_formatter("{x:,.10g}")


def _draw_utilities(axes: Axes, learners: Sequence[RunsOf]) -> None:
    from matplotlib.ticker import MaxNLocator

    ends, bands = {}, []
    for number, each in enumerate(learners):
        mean, half_width = mean_interval(np.sort(each.utilities, axis=1))
        users = len(mean)
        look = line_style(number) | ({} if users <= MARKED_USERS else {"marker": None})
        places = np.arange(1, users + 1)
        axes.plot(places, mean, **look)
        bands.append((places, mean, half_width, look["color"]))
        ends[each.label] = (float(users), float(mean[-1]), look["color"])
    draw_bands(axes, bands)
    axes.set_title("What each user gets: mean utility per round")
    axes.set_xlabel("users, from worst off to best off")
    edge = 0.5 if users <= MARKED_USERS else 0.0
    axes.set_xlim(1 - edge, users + edge)
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.set_ylim(bottom=0)
    _label(axes, ends)


def _label(axes: Axes, ends: dict[str, tuple[float, float, str]]) -> None:
    """Name the lines where they end, x, y in a colour; apart where they end close together."""
    labels = sorted(ends, key=lambda label: ends[label][1])
    texts = [_broken(label) for label in labels]
    figure = axes.get_figure(root=True)
    assert figure is not None
    room = figure.get_figheight() - AROUND
    to_share = axes.transData + axes.transAxes.inverted()
    wanted = np.array([to_share.transform(ends[label][:2])[1] for label in labels])
    heights = np.array([LINE_HEIGHT / room * (1 + text.count("\n")) for text in texts])
    for label, text, share in zip(labels, texts, _apart(wanted, heights), strict=True):
        x, y, color = ends[label]
        axes.annotate(
            text,
            xy=(x, y),
            xytext=(1.05, share),
            textcoords="axes fraction",
            verticalalignment="center",
            fontsize=LABEL_SIZE,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "relpos": (0.0, 0.5),
                "patchA": None,
                "shrinkA": 2,
                "shrinkB": 3,
            },
        )


def _broken(label: str) -> str:
    return label.replace(":", ":\n").replace(",", ",\n")


def _apart(wanted: Floats, heights: Floats) -> Floats:
    """Return the places nearest to those wanted, in order, where labels stay clear and inside.

    Less the room that the labels below take up, such places never fall: the least-squares fit of
    that kind comes from merging neighbours that are out of order.
    """
    below = np.cumsum(heights) - heights / 2
    blocks: list[list[float]] = []
    for place in wanted - below:
        blocks.append([place])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    fit = np.concatenate([np.full(len(block), np.mean(block)) for block in blocks])
    return np.asarray(np.clip(fit, 0.0, max(0.0, 1.0 - heights.sum())) + below)
