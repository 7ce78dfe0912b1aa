"""The look of every figure, and the one way to save it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")

INK, SOFT, GRID = "#222222", "#666666", "#e8e8e8"
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
    "axes.edgecolor": SOFT,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.wspace": 0.03,
    "svg.hashsalt": "fairduel",  # the same picture is the same file
    "svg.fonttype": "path",  # the same in every browser, whatever fonts it has
}
BAND = 0.12  # opacity of the intervals
BELOW = 2.0  # how far below its lines a logarithmic axis goes for their intervals, as a factor

Band = tuple[Floats | Ints, Floats, Floats, str]  # x, mean, half of the interval, colour

# Every colour in a figure is a variable of the page's style, so that dark pages have their own.
VARIABLES = {INK: "ink", SOFT: "soft", GRID: "grid"} | {
    color: f"line{number}" for number, color in enumerate(COLORS)
}


def line_style(number: int) -> dict[str, Any]:
    """Return colour and marker of a line by its number; the first 49 are different."""
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


def image(figure: Figure, suffix: str, transparent: bool = False) -> bytes:
    """Return the bytes of a ``.png`` or ``.svg`` file, the same for the same figure."""
    if suffix not in FORMATS:
        raise InputError(f"pictures cannot be {suffix!r} files: use {' or '.join(FORMATS)}.")
    import matplotlib

    data = io.BytesIO()
    metadata = {"Date": None} if suffix == ".svg" else {}
    with matplotlib.rc_context(LOOK):
        figure.savefig(
            data, format=suffix.removeprefix("."), metadata=metadata, transparent=transparent
        )
    return data.getvalue()


def svg_element(figure: Figure, prefix: str) -> str:
    """Return an element for HTML: colours are the page's variables, ids begin with ``prefix``."""
    text = image(figure, ".svg", transparent=True).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns:xlink="[^"]*"| xmlns="[^"]*"', "", text)
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text, count=2)
    text = re.sub(r'xlink:href="#', 'href="#', text)
    text = re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{prefix}-", text)
    for color, variable in VARIABLES.items():
        text = re.sub(color, f"var(--{variable})", text, flags=re.IGNORECASE)
    return re.sub(r"\s*\n\s*", "\n", text).strip()
