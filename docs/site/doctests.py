"""Doctests in docstrings are shown as code: to Markdown, >>> is a quotation."""

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^\S.*\n?)*)+", re.MULTILINE)


class Doctests(griffe.Extension):
    """Put a fence around each of them."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            text = DOCTEST.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value)
            obj.docstring.value = text
