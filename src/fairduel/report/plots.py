"""A comparison as a picture: how much welfare each learner loses, and who gets what it keeps."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError
from fairduel.experiments.comparison import Comparison
from fairduel.simulation.metrics import mean_interval

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")

# Okabe and Ito's colours, which the colour-blind can tell apart; the shapes are for print in grey.
COLORS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#000000", "#CC79A7")
SHAPES: tuple[dict[str, Any], ...] = (
    {"linestyle": "-", "marker": "o"},
    {"linestyle": (0, (5, 1.2)), "marker": "s"},
    {"linestyle": (0, (6, 1.2, 1.2, 1.2)), "marker": "^"},
    {"linestyle": (0, (1.2, 1.2)), "marker": "v"},
    {"linestyle": (0, (9, 3)), "marker": "D"},
    {"linestyle": (0, (4, 1, 1, 1, 1, 1)), "marker": "P"},
    {"linestyle": (0, (1, 3)), "marker": "X"},
)

LOOK: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e8e8e8",
    "grid.linewidth": 0.7,
    "xtick.color": "#666666",
    "ytick.color": "#666666",
    "xtick.labelcolor": "#222222",
    "ytick.labelcolor": "#222222",
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.wspace": 0.03,
    "svg.hashsalt": "fairduel",  # the same picture is the same file
}
BAND = 0.12  # opacity of the intervals
BELOW = 2.0  # so far below the lines a logarithmic axis goes for their intervals, as a factor
LABEL_SIZE = 9.5
HEIGHT = 4.6  # inches, of a picture at least
AROUND = 1.0  # inches of it above and below the axes
LINE_HEIGHT = 0.18  # inches, of a label
MARKED_USERS = 20  # with more of them, markers would hide the lines


Band = tuple[Floats | Ints, Floats, Floats, str]  # x, mean, half of the interval, colour


def style(number: int) -> dict[str, Any]:
    """A colour and a shape for the line of this number; the pair comes again after 49 of them."""
    lap, place = divmod(number, len(COLORS))
    return {"color": COLORS[place], **SHAPES[(place + lap) % len(SHAPES)]}


def draw_bands(axes: Axes, bands: Iterable[Band]) -> None:
    """Shade the intervals, once the lines are drawn.

    A logarithmic axis has no place for one that goes down to 0: it ends where the axis ends.
    """
    shown = [band for band in bands if np.isfinite(band[2]).any()]  # one run has no interval
    logarithmic = axes.get_yscale() == "log" and bool(shown)
    bottom = -np.inf
    if logarithmic:
        edge = axes.get_ylim()[0]
        lowest = min(float(np.nanmin(mean - half)) for _, mean, half, _ in shown)
        bottom = min(max(lowest, edge / BELOW), edge)
    for x, mean, half_width, color in shown:
        low, high = (np.maximum(mean + sign * half_width, bottom) for sign in (-1, 1))
        axes.fill_between(x, low, high, color=color, alpha=BAND, linewidth=0)
    if logarithmic:
        axes.set_ylim(bottom=bottom)


def comparison_picture(comparison: Comparison, suffix: str, logarithmic: bool = False) -> bytes:
    """The bytes of a ``.png`` or ``.svg`` file.

    Left: cumulative regret over the rounds (Eq. 5), on logarithmic axes if asked for. Right: what
    the users got, from the one worst off to the one best off. Both are means over the runs with
    their 95 % intervals.
    """
    if suffix not in FORMATS:
        raise InputError(f"pictures are {' or '.join(FORMATS)} files and not {suffix!r} files.")
    import matplotlib

    with matplotlib.rc_context(LOOK):
        return _saved(_figure(comparison, logarithmic), suffix)


def _figure(comparison: Comparison, logarithmic: bool) -> Figure:
    from matplotlib.figure import Figure

    lines = sum(_broken(label).count("\n") + 1 for label in comparison.trajectories)
    height = max(HEIGHT, AROUND + LINE_HEIGHT * lines)
    figure = Figure(figsize=(11, height), dpi=150, layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_regret(left, comparison, logarithmic)
    _draw_utilities(right, comparison)
    runs = len(next(iter(comparison.trajectories.values())))
    note = f"Mean of {runs} runs; shaded: 95 % interval" if runs > 1 else "One run"
    figure.supxlabel(note, x=0.99, ha="right", fontsize=8.5, color="#666666")
    return figure


def _draw_regret(axes: Axes, comparison: Comparison, logarithmic: bool) -> None:
    curves = {label: comparison.curves(label, "regret") for label in comparison.trajectories}
    last = max(int(rounds[-1]) for rounds, _, _ in curves.values())
    logarithmic = logarithmic and last > 1
    if logarithmic:
        axes.set_xscale("log")
        if any(mean[-1] > 0 for _, mean, _ in curves.values()):
            axes.set_yscale("log")
    ends, bands = {}, []
    for number, label in enumerate(curves):
        rounds, mean, half_width = curves[label]
        if not logarithmic:
            rounds = np.append(0, rounds)
            mean, half_width = np.append(0.0, mean), np.append(0.0, half_width)
        look = style(number) | {"marker": None}
        axes.plot(rounds, mean, **look)
        bands.append((rounds, mean, half_width, look["color"]))
        ends[label] = (float(rounds[-1]), float(mean[-1]), look["color"])
    draw_bands(axes, bands)
    axes.set_title("Cumulative regret in Nash welfare")
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


def _draw_utilities(axes: Axes, comparison: Comparison) -> None:
    from matplotlib.ticker import MaxNLocator

    ends, bands = {}, []
    for number, (label, runs) in enumerate(comparison.trajectories.items()):
        mean, half_width = mean_interval(
            [np.sort(run.utilities[-1]) / run.rounds[-1] for run in runs]
        )
        users = len(mean)
        look = style(number) | ({} if users <= MARKED_USERS else {"marker": None})
        places = np.arange(1, users + 1)
        axes.plot(places, mean, **look)
        bands.append((places, mean, half_width, look["color"]))
        ends[label] = (float(users), float(mean[-1]), look["color"])
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
    """The places nearest to those wanted, in order, where labels so high stay clear and inside.

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


def _saved(figure: Figure, suffix: str) -> bytes:
    data = io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else {}
    figure.savefig(data, format=suffix.lstrip("."), metadata=metadata)
    return data.getvalue()
