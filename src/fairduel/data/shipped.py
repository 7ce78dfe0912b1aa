"""Small files of votes that come with the package, to try things out with."""

from __future__ import annotations

from pathlib import Path

from fairduel._checks import one_of

FOLDER = Path(__file__).parent / "examples"


def example_file(name: str) -> Path:
    """Return the path of a file that comes with the package.

    "team-lunch.csv" has pairwise votes of a team, "offsite-form.csv" ranks as a form tool saves
    them, with a column of teams, and "book-club.blt" ballots with weights and ties.
    """
    return FOLDER / one_of("example", name, sorted(path.name for path in FOLDER.iterdir()))
