"""Doctests in docstrings are shown as code: to Markdown, >>> is a quotation."""

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"(?:^>>> .*\n?(?:^\S.*\n?)*)+", re.MULTILINE)
FLAG = re.compile(r" *# doctest: .*")


class Doctests(griffe.Extension):
    """Put a fence around each of them, and leave out what is meant for doctest."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{FLAG.sub('', found[0]).rstrip()}\n```\n"
