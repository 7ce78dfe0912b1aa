"""The picture of a fit: the options that are chosen, and what users get beside the majority's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from fairduel._arrays import Floats
from fairduel._tables import printable
from fairduel.fitting.result import Fit
from fairduel.report.figures import LOOK, wrapped
from fairduel.report.style import COLORS, INK, SOFT

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 11.0  # inches
HEIGHT = 4.2  # at least
AROUND = 1.3  # inches above and below the axes
ROW = 0.24  # inches of a user or an option, and more for names of several lines
BAR = 0.6  # inches of a bar at most
LINE = 0.17  # inches of a line of a name
NAME_WIDTH = 1.9  # inches
NAME_SIZE = 9  # points
MOST_OPTIONS = 12  # in bars; the others are summed up
FAIR, OTHER = COLORS[0], COLORS[2]


def draw(fit: Fit) -> Figure:
    """Draw bars of the options that are chosen; beside them, what users get.

    Each user has a dot with its interval, joined to a hollow one for the majority's choice; users
    too many to be named are two curves, from the worst off to the best off.
    """
    import matplotlib
    from matplotlib.figure import Figure

    bars = _bars(fit)
    options, users = _folded(bars), _folded(_users(fit))
    height = max(HEIGHT, AROUND + max(map(_height, (options, users))))
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(WIDTH, height), dpi=150, layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(2, 3))
        _draw_options(left, options, list(bars.values()))
        if fit.named:
            _draw_users(right, users, fit)
        else:
            _draw_curves(right, fit)
        _finish(right, fit)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def _bars(fit: Fit) -> dict[str, float]:
    """Return the options that are chosen and their shares, the largest first."""
    chosen = sorted(fit.policy.items(), key=lambda item: -item[1])
    chosen = [(name, share) for name, share in chosen if share >= 0.0005] or chosen[:1]
    named, rest = chosen[:MOST_OPTIONS], chosen[MOST_OPTIONS:]
    others = {f"{len(rest)} others": sum(share for _, share in rest)} if rest else {}
    return dict(named) | others


def _users(fit: Fit) -> tuple[str, ...]:
    return fit.ballots.users if fit.named else ()


def _folded(names: Iterable[str]) -> list[str]:
    """Return names in lines; a blank at the end of one would shift it, as all end at the axis."""
    lines = (wrapped(printable(name), NAME_WIDTH, NAME_SIZE) for name in names)
    return [each.replace(" \n", "\n") for each in lines]


def _height(names: list[str]) -> float:
    """Return the inches that names take below each other."""
    return sum(max(ROW, LINE * (name.count("\n") + 1) + 0.07) for name in names)


def _draw_options(axes: Axes, names: list[str], shares: list[float]) -> None:
    from matplotlib.ticker import MaxNLocator

    places = _places(names)
    span = places[0] - places[-1] + 2 * ROW
    figure = axes.get_figure(root=True)
    assert figure is not None
    thickest = BAR * span / (figure.get_figheight() - AROUND)
    axes.barh(places, shares, height=min(0.7 * ROW, thickest), color=FAIR)
    for place, share in zip(places, shares, strict=True):
        axes.annotate(
            f"{share:.0%}", (share, place), (4, 0), textcoords="offset points", va="center",
            fontsize=NAME_SIZE, color=INK,
        )  # fmt: skip
    axes.set_title("How often to choose what")
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_xlim(0, min(1.15, 1.2 * max(shares)))
    _name_rows(axes, places, names)
    axes.xaxis.set_major_formatter(_percent)


def _draw_users(axes: Axes, names: list[str], fit: Fit) -> None:
    places = _places(names)
    here, there = fit.solution.utilities, fit.majority.utilities
    if fit.interval is not None:
        axes.hlines(places, *fit.interval, color=FAIR, linewidth=6, alpha=0.25)
    axes.hlines(places, here, there, color=SOFT, linewidth=1)
    axes.plot(there, places, "o", mfc="none", mec=OTHER, mew=1.6, ms=8)
    axes.plot(here, places, "o", color=FAIR, ms=6)
    _name_rows(axes, places, names)


def _draw_curves(axes: Axes, fit: Fit) -> None:
    for utilities, color, dashes in (
        (fit.majority.utilities, OTHER, (0, (5, 1.5))),
        (fit.solution.utilities, FAIR, "-"),
    ):
        gets, share = _curve(utilities, fit.weights)
        axes.plot(gets, share, color=color, linestyle=dashes)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of the users who get at most that")
    axes.yaxis.set_major_formatter(_percent)


def _curve(utilities: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return utilities from the lowest, and the share of the users up to each; 1,000 at most."""
    order = np.argsort(utilities, kind="stable")
    share = weights[order].cumsum() / weights.sum()
    few = np.unique(np.linspace(0, len(order) - 1, 1000).astype(np.int64))
    return utilities[order][few], share[few]


def _finish(axes: Axes, fit: Fit) -> None:
    """Name what is shown, below the axes, where it hides nothing."""
    from matplotlib.lines import Line2D

    option = fit.majority.option
    short = option if len(option) <= 30 else f"{option[:29]}…"
    dots = fit.named
    handles = [
        Line2D([], [], color=FAIR, marker="o" if dots else "", linestyle="" if dots else "-"),
        Line2D(
            [], [], color=OTHER, marker="o" if dots else "", mfc="none", mew=1.6,
            linestyle="" if dots else (0, (5, 1.5)),
        ),
    ]  # fmt: skip
    between = " (shaded: 95 % interval)" if dots and fit.interval is not None else ""
    labels = [f"here{between}", f"by majority: always {short}".replace("$", r"\$")]
    axes.set_title("What each user gets" if dots else "What users get")
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.legend(
        handles, labels, loc="outside lower right", ncols=2, frameon=False, fontsize=NAME_SIZE
    )
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(_percent)


def _places(names: list[str]) -> Floats:
    """Return where each name goes, from the top; names of several lines take more room."""
    rooms = np.array([max(ROW, LINE * (name.count("\n") + 1) + 0.07) for name in names])
    return np.asarray(-(rooms.cumsum() - rooms / 2))


def _name_rows(axes: Axes, places: Floats, names: list[str]) -> None:
    axes.set_yticks(places, names, fontsize=NAME_SIZE)
    axes.set_ylim(places[-1] - ROW, places[0] + ROW)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _percent(value: float, place: object) -> str:
    return f"{value:.0%}"
