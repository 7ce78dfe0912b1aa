"""The report of a fit."""

from __future__ import annotations

import fairduel
from fairduel import _tables
from fairduel.fitting import words
from fairduel.fitting.result import Fit
from fairduel.report.document import Block, Caution, Document, Picture, Section, Table, Text
from fairduel.report.provenance import machine


def document(fit: Fit, command: str = "") -> Document:
    """Return the report: the choice, what the majority's would do, and every user."""
    policy, users = map(_table, words.tables(fit))
    instead = Section(
        "majority",
        "What the majority's choice would do",
        (*map(Text, words.majority(fit)), Text(words.price(fit))),
    )
    who = Section("users", "What each user gets" if fit.named else "What users get", (users,))
    proof: tuple[Block, ...] = (
        Text(words.proof(fit)),
        Text(f"What was maximised ({fit.welfare.text}): {fit.welfare.summary}"),
    )
    sections = [who, instead, Section("proof", "Why no other choice is fairer", proof)]
    asked = words.questions(fit)
    if asked:
        sections.append(Section("questions", "What to ask next", tuple(map(Text, asked))))
    said, *more = words.introduction(fit)
    summary: tuple[Block, ...] = (
        *map(Text, (said[0].upper() + said[1:], *more)),
        *map(Caution, fit.warnings),
        policy,
        Picture("choice", _caption(fit), fit.plot),
    )
    return Document("A fair choice", summary, tuple(sections), _facts(fit, command))


def _caption(fit: Fit) -> str:
    shown = (
        "what each user gets from that, filled, and hollow what the majority's choice would give"
        if fit.named
        else "what users get from that, from the worst off to the best off, and dashed what the "
        "majority's choice would give"
    )
    return f"Left: how often to choose each option. Right: {shown} ({fit.majority.option})."


def _table(table: _tables.Table) -> Table:
    names = len(table.headings) - len(table.right)
    return Table(table.headings, tuple(table.rows), names=names)


def _facts(fit: Fit, command: str) -> tuple[tuple[str, str], ...]:
    return (
        *((("Command", f"`{command}`"),) if command else ()),
        ("fairduel", fairduel.__version__),
        ("Read as", fit.ballots.said),
        ("Welfare, scoring, weights", f"{fit.welfare.text}, {fit.scoring}, per {fit.per}"),
        ("Machine", machine()),
    )
