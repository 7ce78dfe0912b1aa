"""A document as one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from fairduel.report import criterion
from fairduel.report.document import Caution, Document, Picture, Table, Text, Verdict

SHORT = 24  # letters: cells up to this length are not broken into lines


def to_html(document: Document, drawn: dict[str, str]) -> str:
    """Return the page; ``drawn`` has the svg element of each picture by its name."""
    pictures = {each.name: _labelled(drawn[each.name], each.caption) for each in document.pictures}
    return _environment().get_template("report.html.j2").render(document=document, drawn=pictures)


def table_html(table: Table) -> str:
    """Return a table alone, for notebooks."""
    blocks: Any = _environment().get_template("blocks.html.j2").module
    return str(blocks.table(table))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("fairduel.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "CRITERION": criterion.CRITERION,
        "CONTROLS": criterion.CONTROLS,
        "SHORT": SHORT,
        "counted": criterion.counted,
        "overview": criterion.overview,
    }
    environment.filters |= {
        "inline": inline,
        "described": criterion.described,
        "noted": criterion.noted,
    }
    for kind in (Text, Caution, Table, Picture, Verdict):  # {% if block is table %}
        environment.tests[kind.__name__.lower()] = _test(kind)
    return environment


def _test(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


def _labelled(svg: str, caption: str) -> Markup:
    """Return an svg element that screen readers know as a picture."""
    picture = svg.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return Markup(picture)  # noqa: S704 - drawn by matplotlib, which escapes all text


def inline(text: str) -> Markup:
    """Escape a text, apart from `code` and [links](#inside the page)."""
    safe = re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text)))
    linked = re.sub(r"\[([^\]]*)\]\((#[\w-]+)\)", r'<a href="\2">\1</a>', safe)
    return Markup(linked)  # noqa: S704 - escaped above
