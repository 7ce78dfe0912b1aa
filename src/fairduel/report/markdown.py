"""A document as Markdown, with its pictures in files beside it."""

from __future__ import annotations

import re

from fairduel.report.criterion import CONTROLS, CRITERION, counted, described, noted, overview
from fairduel.report.document import Block, Caution, Claim, Document, Finding, Table, Text, Verdict


def to_markdown(document: Document) -> str:
    """Return the text; its pictures are figures/NAME.png."""
    parts = [f"# {document.title}", *map(_block, document.summary)]
    if document.claims:
        parts += [
            "## Claims and verdicts",
            f"{len(document.claims)} claims: {counted(document.claims)}.",
            CRITERION,
            _table(overview(document.claims, "`{0}`")),
        ]
    for section in document.sections:
        parts += [f"## {section.title}", *map(_block, section.blocks)]
        if section.claims:
            parts += ["### Claims of this section", *map(_claim, section.claims)]
    parts += ["## To redo it", "\n".join(f"- {name}: {value}" for name, value in document.facts)]
    return "\n\n".join(parts) + "\n"


def _claim(claim: Claim) -> str:
    lines = [
        f"**{claim.verdict.sign} {claim.verdict}: `{claim.name}`** ({claim.section}) {claim.quote}"
    ]
    if note := noted(claim):
        lines += ["", note]
    lines += ["", *_findings(claim.findings)]
    if claim.controls:
        lines += ["", CONTROLS, "", *_findings(claim.controls)]
    return "\n".join(lines)


def _findings(findings: tuple[Finding, ...]) -> list[str]:
    return [f"- {each.verdict.sign} {_one_line(described(each))}" for each in findings]


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Caution):
        return f"> **Note.** {block.text}"
    if isinstance(block, Table):
        return _table(block)
    return f"![{block.caption}](figures/{block.name}.png)\n\n*{block.caption}*"


def _table(table: Table) -> str:
    kinds = ["---" if place < table.names else "---:" for place in range(len(table.head))]
    head, *rows = ([_cell(cell) for cell in row] for row in (table.head, *table.rows))
    lines = [head, kinds, *rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.caption}\n\n{text}" if table.caption else text


def _cell(cell: str | Verdict) -> str:
    text = f"{cell.sign} {cell}" if isinstance(cell, Verdict) else cell
    return _one_line(text).replace("|", "\\|")


def _one_line(text: str) -> str:
    """Remove line breaks, and what would be read as HTML outside of `code`."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]  # the others are code
    return "".join(parts)
