"""The words of the pages: a catalogue for each language, with the same keys in all.

Refusals are sentences of the code, in English; other languages have them in ``refusals``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path

FALLBACK = "en"


@functools.cache
def catalogues() -> dict[str, dict[str, str]]:
    """Return all catalogues by language; a file added to this folder counts."""
    files = sorted(Path(__file__).parent.glob("*.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def preferred(accepted: str) -> str:
    """Return the language that an Accept-Language header likes best of those there are."""
    wishes = []
    for place, wish in enumerate(accepted.split(",")):
        language, _, weight = wish.strip().partition(";q=")
        try:
            wishes.append((-float(weight or 1), place, language.split("-")[0].lower()))
        except ValueError:
            continue
    known = (language for _, _, language in sorted(wishes) if language in catalogues())
    return next(known, FALLBACK)


@functools.cache
def refusals(language: str) -> dict[str, str]:
    """Return the sentences of a language by the English ones."""
    if language == FALLBACK:
        return {}
    file = Path(__file__).parent / "refusals" / f"{language}.json"
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def refuse(language: str, template: str, values: Mapping[str, object]) -> tuple[str, str]:
    """Return what is wrong, and what to do about it, in a language."""
    what, _, hint = refusals(language).get(template, template).partition(": ")
    said = what.format(**values)
    return said[:1].upper() + said[1:], hint.format(**values)


def say(language: str, key: str, **values: object) -> str:
    """Return a message in a language."""
    return catalogues()[language][key].format(**values)
