"""A document as one HTML file that needs nothing else, and as Markdown with pictures."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from fairduel._files import make_folder, write_whole
from fairduel.report import figures
from fairduel.report.criterion import CRITERION, described, few_runs
from fairduel.report.document import (
    Block,
    Caution,
    Claim,
    Document,
    Finding,
    Picture,
    Section,
    Table,
    Text,
    Verdict,
)

SHORT = 24  # letters
CLAIMS_HEAD = ("Claim", "Section", "In the paper", "Verdict")


def write_report(document: Document, folder: Path) -> tuple[Path, Path]:
    """Write report.html, and report.md with its pictures in figures/; gives the two paths."""
    pictures = [
        block
        for blocks in (document.summary, *(section.blocks for section in document.sections))
        for block in blocks
        if isinstance(block, Picture)
    ]
    make_folder(folder / "figures")
    drawn = {}
    for picture in pictures:
        figure = picture.draw()
        drawn[picture.name] = figures.svg(figure, picture.name)
        write_whole(folder / "figures" / f"{picture.name}.png", figures.png(figure))
    page, text = folder / "report.html", folder / "report.md"
    before = _pictures_of(text)
    write_whole(page, to_html(document, drawn).encode())
    write_whole(text, to_markdown(document).encode())
    for name in before - drawn.keys():
        (folder / "figures" / f"{name}.png").unlink(missing_ok=True)
    return page, text


def _pictures_of(text: Path) -> set[str]:
    """The pictures that an earlier report in the same folder shows; others there are not ours."""
    said = text.read_text(encoding="utf-8", errors="replace") if text.is_file() else ""
    return set(re.findall(r"\]\(figures/([\w-]+)\.png\)", said))


def counted(claims: Iterable[Claim]) -> str:
    """How many claims have which verdict, in words."""
    counts = Counter(claim.verdict for claim in claims)
    kinds = [kind for kind in _NUMBERS if kind is not Verdict.UNKNOWN or counts[kind]]
    return ", ".join(f"{counts[kind]} {_NUMBERS[kind][counts[kind] != 1]}" for kind in kinds)


_NUMBERS = {  # one, several
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.NOISE: ("holds within noise", "hold within noise"),
    Verdict.FAILS: ("does not hold here", "do not hold here"),
    Verdict.UNKNOWN: ("without a result", "without a result"),
}
CONTROLS = "Controls (✓ where they do not pass, as they must not), no part of the verdict:"


def _opening(document: Document) -> tuple[Block, ...]:
    """The summary, and what a reader of the verdicts should know first."""
    weak = few_runs(document.claims)
    return (*document.summary, Caution(weak)) if weak else document.summary


# HTML


def to_html(document: Document, drawn: dict[str, str]) -> str:
    """``drawn`` has the svg element of each picture by its name."""
    body = [
        f"<h1>{_escaped(document.title)}</h1>",
        *(_html_block(block, drawn) for block in _opening(document)),
        _html_contents(document),
        *(_html_overview(document.claims) if document.claims else ()),
        *(_html_section(section, drawn) for section in document.sections),
        '<section id="redo"><h2>To redo it</h2>',
        "<dl>",
        *(f"<dt>{_escaped(name)}</dt><dd>{_code(value)}</dd>" for name, value in document.facts),
        "</dl></section>",
    ]
    return _PAGE.format(title=_escaped(document.title), style=_STYLE, body="\n".join(body))


def _html_contents(document: Document) -> str:
    links = [(section.name, section.title) for section in document.sections]
    if document.claims:
        links.insert(0, ("claims", "Claims and verdicts"))
    links.append(("redo", "To redo it"))
    items = (f'<li><a href="#{name}">{_escaped(title)}</a></li>' for name, title in links)
    return f"<nav><ul>{''.join(items)}</ul></nav>"


def _html_overview(claims: tuple[Claim, ...]) -> list[str]:
    rows = tuple(
        (f"[{claim.name}](#claim-{claim.name})", claim.section, claim.quote, claim.verdict)
        for claim in claims
    )
    return [
        '<section id="claims"><h2>Claims and verdicts</h2>',
        f"<p>{_escaped(f'{len(claims)} claims: {counted(claims)}.')} {_code(CRITERION)}</p>",
        _html_table(Table(CLAIMS_HEAD, rows, names=4)),
        "</section>",
    ]


def _html_section(section: Section, drawn: dict[str, str]) -> str:
    parts = [f'<section id="{section.name}"><h2>{_escaped(section.title)}</h2>']
    parts += [_html_block(block, drawn) for block in section.blocks]
    if section.claims:
        parts.append("<h3>Claims</h3>")
        parts += [_html_claim(claim) for claim in section.claims]
    return "\n".join([*parts, "</section>"])


def _html_claim(claim: Claim) -> str:
    note = f"<p>{_code(claim.note)}</p>" if claim.note else ""
    controls = f"<p>{CONTROLS}</p>{_html_findings(claim.controls)}" if claim.controls else ""
    return (
        f'<article id="claim-{claim.name}" class="claim"><p>{_badge(claim.verdict)} '
        f"<b>{_escaped(claim.name)}</b> ({_escaped(claim.section)}): {_escaped(claim.quote)}</p>"
        f"{note}{_html_findings(claim.findings)}{controls}</article>"
    )


def _html_findings(findings: tuple[Finding, ...]) -> str:
    items = (
        f"<li>{_badge(finding.verdict, short=True)} {_escaped(described(finding))}</li>"
        for finding in findings
    )
    return f"<ul>{''.join(items)}</ul>"


def _html_block(block: Block, drawn: dict[str, str]) -> str:
    if isinstance(block, Text):
        return f"<p>{_code(block.text)}</p>"
    if isinstance(block, Caution):
        return f'<p class="warning"><b>Note.</b> {_code(block.text)}</p>'
    if isinstance(block, Table):
        return _html_table(block)
    caption = _escaped(block.caption)
    picture = drawn[block.name].replace("<svg", f'<svg role="img" aria-label="{caption}"', 1)
    return (
        f'<figure id="{block.name}-picture">\n<div class="wide">{picture}</div>\n'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def _html_table(table: Table) -> str:
    kinds = ["name" if place < table.names else "figure" for place in range(len(table.head))]
    head = "".join(
        f'<th scope="col" class="{kind}">{_escaped(text)}</th>'
        for kind, text in zip(kinds, table.head, strict=True)
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{kind}{_short(cell)}">{_html_cell(cell)}</td>'
            for kind, cell in zip(kinds, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{_escaped(table.caption)}</caption>" if table.caption else ""
    return (
        f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _html_cell(cell: str | Verdict) -> str:
    return _badge(cell) if isinstance(cell, Verdict) else _code(cell)


def _short(cell: str) -> str:
    """The class of cells that are better not broken into lines."""
    return " short" if len(cell) <= SHORT else ""


def _badge(verdict: Verdict, short: bool = False) -> str:
    text = verdict.sign if short else f"{verdict.sign} {verdict}"
    return f'<span class="verdict {verdict.name.lower()}" title="{verdict}">{text}</span>'


def _escaped(text: str) -> str:
    return html.escape(text)


def _code(text: str) -> str:
    """Escaped, with `code` and [links](#inside the page)."""
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\[([^\]]*)\]\((#[\w-]+)\)", r'<a href="\2">\1</a>', text)


# Markdown


def to_markdown(document: Document) -> str:
    """Pictures are figures/NAME.png."""
    parts = [f"# {document.title}", *(_markdown_block(block) for block in _opening(document))]
    if document.claims:
        rows = tuple(
            (f"`{claim.name}`", claim.section, claim.quote, claim.verdict)
            for claim in document.claims
        )
        parts += [
            "## Claims and verdicts",
            f"{len(document.claims)} claims: {counted(document.claims)}.",
            CRITERION,
            _markdown_table(Table(CLAIMS_HEAD, rows, names=4)),
        ]
    for section in document.sections:
        parts += [f"## {section.title}", *(_markdown_block(block) for block in section.blocks)]
        if section.claims:
            parts += ["### Claims of this section", *map(_markdown_claim, section.claims)]
    parts += ["## To redo it", "\n".join(f"- {name}: {value}" for name, value in document.facts)]
    return "\n\n".join(parts) + "\n"


def _markdown_claim(claim: Claim) -> str:
    lines = [
        f"**{claim.verdict.sign} {claim.verdict}: `{claim.name}`** ({claim.section}) {claim.quote}"
    ]
    if claim.note:
        lines += ["", claim.note]
    lines += ["", *_markdown_findings(claim.findings)]
    if claim.controls:
        lines += ["", CONTROLS, "", *_markdown_findings(claim.controls)]
    return "\n".join(lines)


def _markdown_findings(findings: tuple[Finding, ...]) -> list[str]:
    return [f"- {each.verdict.sign} {_one_line(described(each))}" for each in findings]


def _markdown_block(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Caution):
        return f"> **Note.** {block.text}"
    if isinstance(block, Table):
        return _markdown_table(block)
    return f"![{block.caption}](figures/{block.name}.png)\n\n*{block.caption}*"


def _markdown_table(table: Table) -> str:
    kinds = ["---" if place < table.names else "---:" for place in range(len(table.head))]
    head, *rows = ([_markdown_cell(cell) for cell in row] for row in (table.head, *table.rows))
    lines = [head, kinds, *rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.caption}\n\n{text}" if table.caption else text


def _markdown_cell(cell: str | Verdict) -> str:
    text = f"{cell.sign} {cell}" if isinstance(cell, Verdict) else cell
    return _one_line(text).replace("|", "\\|")


def _one_line(text: str) -> str:
    """Without line breaks, and without what would be read as HTML outside of `code`."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]  # the others are code
    return "".join(parts)


# Nothing is loaded from anywhere: the policy says so to the browser as well.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

# Verdicts differ in sign, words and weight as well as in colour. On dark pages the lines are
# lighter shades of the same colours.
_STYLE = """
:root { color-scheme: light dark;
  --page: #ffffff; --ink: #222222; --soft: #666666; --grid: #e4e4e4; --panel: #f6f6f4;
  --link: #0b57a4; --good: #00604a; --fair: #7a5300; --bad: #a33000;
  --line0: #0072b2; --line1: #3a9bd6; --line2: #d55e00; --line3: #c98a00; --line4: #009e73;
  --line5: #000000; --line6: #b5608f; }
@media (prefers-color-scheme: dark) { :root {
  --page: #16181c; --ink: #e6e6e3; --soft: #a3a5a8; --grid: #33363c; --panel: #1f2227;
  --link: #7db8f0; --good: #5fd3ae; --fair: #e8b94a; --bad: #ff9a6b;
  --line0: #4aa8e0; --line1: #a5d8f7; --line2: #ff8a3c; --line3: #f2c14e; --line4: #3ecfa5;
  --line5: #ffffff; --line6: #e6a3c8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .6rem; padding-top: .6rem;
  border-top: 2px solid var(--grid); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
p, dd, li { max-width: 48rem; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; list-style: none; padding: 0; }
nav li { max-width: none; }
code { font: .88em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  background: var(--panel); padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
figure { margin: 1.5rem 0; }
figure svg { display: block; width: 100%; min-width: 44rem; height: auto; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption, caption { color: var(--soft); font-size: .9rem; text-align: left; padding: .4rem 0; }
caption { caption-side: top; }
table { border-collapse: collapse; font-size: .88rem; margin: .6rem 0 1.2rem; min-width: 60%; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid var(--grid); vertical-align: top; }
th { text-align: left; border-bottom: 2px solid var(--soft); vertical-align: bottom; }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.figure { white-space: normal; }
.short { white-space: nowrap; }
tbody tr:hover { background: var(--panel); }
.verdict { font-weight: 600; white-space: nowrap; }
.holds, .agrees { color: var(--good); }
.noise, .unknown { color: var(--fair); }
.fails, .differs { color: var(--bad); text-decoration: underline; }
.warning { border: 2px solid var(--bad); padding: .8rem 1rem; border-radius: 4px; }
.claim { border: 1px solid var(--grid); border-radius: 4px; padding: .5rem .8rem; margin: .5rem 0; }
.claim p { margin: .3rem 0; }
.claim ul { font-size: .88rem; font-variant-numeric: tabular-nums; list-style: none;
  padding-left: .5rem; }
dt { font-weight: 600; margin-top: .6rem; }
dd { margin: 0; }
@media print { .wide { overflow: visible; } .claim { break-inside: avoid; } }
"""
