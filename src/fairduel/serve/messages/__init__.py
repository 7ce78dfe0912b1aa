"""The words of the pages: a catalogue for each language, with the same keys in all."""

from __future__ import annotations

import functools
import json
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


def say(language: str, key: str, **values: object) -> str:
    """Return a message in a language."""
    return catalogues()[language][key].format(**values)
