"""What a report consists of, apart from how it looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from fairduel.simulation.metrics import mean_interval

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure

    from fairduel._arrays import Floats


class Verdict(StrEnum):
    """What came of a check; with a sign, since not everybody sees colours."""

    HOLDS = "holds"
    NOISE = "holds within noise"
    FAILS = "does not hold here"
    UNKNOWN = "no result"
    AGREES = "agrees"
    DIFFERS = "differs"

    @property
    def sign(self) -> str:
        return _SIGNS[self]


_SIGNS = {
    Verdict.HOLDS: "✓",
    Verdict.NOISE: "≈",
    Verdict.FAILS: "✗",
    Verdict.UNKNOWN: "?",
    Verdict.AGREES: "✓",
    Verdict.DIFFERS: "✗",
}


@dataclass(frozen=True)
class Text:
    """A paragraph; `backticks` make code."""

    text: str


@dataclass(frozen=True)
class Caution:
    """A paragraph that nobody should miss."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows under a heading. The first ``names`` columns are names, the others figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | Verdict, ...], ...]
    caption: str = ""
    names: int = 1


@dataclass(frozen=True)
class Picture:
    """A figure, drawn when the report is written. ``name`` becomes its file name."""

    name: str
    caption: str
    draw: Callable[[], Figure]


Block = Text | Caution | Table | Picture


@dataclass(frozen=True)
class Finding:
    """One comparison of a claim: by how much one thing exceeds another, in so many runs."""

    what: str
    difference: float
    half_width: float
    verdict: Verdict
    runs: int = 0  # of a fact none


@dataclass(frozen=True)
class Claim:
    """Something the paper says in words (``quote``, in ``section``), and what came of it here.

    controls: that what must not pass the test does not pass it; no part of the verdict.
    """

    name: str
    section: str
    quote: str
    findings: tuple[Finding, ...]
    note: str = ""
    controls: tuple[Finding, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """That of the worst comparison."""
        order = (Verdict.UNKNOWN, Verdict.FAILS, Verdict.NOISE, Verdict.HOLDS)
        return min((finding.verdict for finding in self.findings), key=order.index)


@dataclass(frozen=True)
class Section:
    """One of the paper's experiments, with its claims."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Document:
    """A whole report. ``facts`` are what it takes to redo it."""

    title: str
    summary: tuple[Block, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for section in self.sections for claim in section.claims)


_PLACES = ((1, 4), (10, 3), (1e4, 1))  # below so much, so many places after the point


def number(value: float, like: float | None = None) -> str:
    """A figure for people, with as many places as suit one of the size of ``like``."""
    size = abs(value if like is None else like)
    if math.isnan(value):
        return "–"
    if size >= 1e7 or 0 < size < 1e-3:
        return f"{value:.3g}"
    places = next((places for limit, places in _PLACES if 0 < size < limit), 0)
    return f"{value:,.{places}f}"


def interval(values: Floats | Sequence[float]) -> str:
    """The mean over the runs and half its 95 % interval; runs that failed are NaN."""
    if not known(values):
        return number(math.nan)
    mean, half_width = (float(x) for x in mean_interval(known(values)))
    return number(mean) + ("" if math.isnan(half_width) else f" ± {number(half_width, mean)}")


def average(values: Floats | Sequence[float]) -> float:
    """The mean over the runs that did not fail; NaN if all of them did."""
    good = known(values)
    return float(np.mean(good)) if good else math.nan


def known(values: Floats | Sequence[float]) -> list[float]:
    """The values of the runs that did not fail."""
    return [float(value) for value in values if not math.isnan(value)]
