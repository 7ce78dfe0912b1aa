"""What a report consists of, apart from how it looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # matplotlib is slow to import
    from matplotlib.figure import Figure


class Verdict(StrEnum):
    """The result of a check; with a sign, since not all readers see colours."""

    HOLDS = "holds"
    NOISE = "cannot be told from noise"
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
    """A paragraph that no reader should miss."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows under a heading. The first ``names`` columns are names, the others figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | Verdict, ...], ...]
    caption: str = ""
    names: int = 1

    def __post_init__(self) -> None:
        if any(len(row) != len(self.head) for row in self.rows):
            raise ValueError(
                f"the table has {len(self.head)} columns, but one of its rows does not."
            )


@dataclass(frozen=True)
class Picture:
    """A figure, drawn when the report is written. ``name`` becomes its file name."""

    name: str
    caption: str
    draw: Callable[[], Figure]


Block = Text | Caution | Table | Picture


@dataclass(frozen=True)
class Finding:
    """One comparison of a claim: by how much one thing exceeds another, and in how many runs."""

    what: str
    difference: float
    half_width: float
    verdict: Verdict
    runs: int = 0  # of a fact none


@dataclass(frozen=True)
class Claim:
    """A claim that the paper makes in words (``quote``, in ``section``), and how it fares here.

    controls: checks that what must not pass the test does not.
    """

    name: str
    section: str
    quote: str
    findings: tuple[Finding, ...]
    note: str = ""
    controls: tuple[Finding, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of the worst comparison, controls included: a test must be able to fail."""
        order = (Verdict.UNKNOWN, Verdict.FAILS, Verdict.NOISE, Verdict.HOLDS)
        compared = (*self.findings, *self.controls)
        return min((finding.verdict for finding in compared), key=order.index)


@dataclass(frozen=True)
class Section:
    """One of the paper's experiments, with its claims."""

    name: str
    title: str
    blocks: tuple[Block, ...]
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Document:
    """A whole report. ``facts`` are what is needed to redo it."""

    title: str
    summary: tuple[Block, ...]
    sections: tuple[Section, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for section in self.sections for claim in section.claims)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        blocks = (self.summary, *(section.blocks for section in self.sections))
        return tuple(each for part in blocks for each in part if isinstance(each, Picture))
