"""Score matrices from files: how much each user likes each arm, with names."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel._files import AnyPath, read_whole
from fairduel._names import check_names
from fairduel.data.sheet import Line, Sheet, decoded, read_sheet
from fairduel.errors import InputError
from fairduel.welfare import Nash, Solution, Welfare

KEYS = ("scores", "users", "arms", "weights")

MOST = 1e300  # of a score, so that sums over users are finite

# What may stand above a column of users' names.
CORNERS = ("", "user", "users")


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """scores: (D, K), none of them negative; weights: of the users, None if all are equal."""

    scores: Floats
    users: tuple[str, ...]
    arms: tuple[str, ...]
    weights: tuple[float, ...] | None = None


def solve(scores: AnyPath | ScoreTable | ArrayLike, welfare: Welfare | None = None) -> Solution:
    """Return the fairest policy for given scores, with its certificate.

    scores: (D, K), or a CSV or JSON file as ``read_scores`` takes it, or what that returns.
    welfare: what to maximise; default: ``Nash()``. Weights of the users in a file go to the
    welfare.

    >>> solve([[1.0, 0.2], [0.3, 0.9]]).policy
    array([0.625, 0.375])
    """
    if isinstance(scores, str | os.PathLike):
        scores = read_scores(read_whole(scores), os.fspath(scores))
    welfare = Nash() if welfare is None else welfare
    if not isinstance(scores, ScoreTable):
        return welfare.maximize(scores)
    if scores.weights is not None:
        welfare = welfare.weighted(scores.weights)
    solution = welfare.maximize(scores.scores)
    return replace(solution, users=scores.users, arms=scores.arms)


def read_scores(data: bytes, source: str) -> ScoreTable:
    """Return the score matrix in the bytes of a CSV or JSON file; ``source`` names it in errors.

    CSV: a line for each user, with one score for each arm, separated by commas, semicolons or
    tabs; numbers may have decimal commas where these separate nothing. The first line may have the
    names of the arms, and the first column those of the users; lines that begin with # are
    comments. JSON: a list of lists, or an object with "scores" and, optionally, "users" and "arms"
    (names) and "weights".
    """
    try:
        text = decoded(data)
        as_json = source.lower().endswith(".json") or text.lstrip()[:1] in ("[", "{")
        return _from_json(text) if as_json else _from_csv(text)
    except InputError as error:
        raise InputError(f"cannot use {source!r}: {error}") from error


def _from_json(text: str) -> ScoreTable:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"it is not complete JSON ({error}): save it again.") from error
    if isinstance(content, list):
        content = {"scores": content}
    if not isinstance(content, dict) or "scores" not in content:
        raise InputError('it has no scores: give a list of lists, or an object with "scores".')
    unknown = [key for key in content if key not in KEYS]
    if unknown:
        raise InputError(f'it has the unknown key "{unknown[0]}": use only {", ".join(KEYS)}.')
    rows = content["scores"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError("its scores are not a list of lists: give one list for each user.")
    width = len(rows[0]) if rows else 0
    users = _names("user", content.get("users"), len(rows))
    arms = _names("arm", content.get("arms"), width)
    scores = np.empty((len(rows), width))
    for d, row in enumerate(rows):
        if len(row) != width:
            raise InputError(
                f"the row of user {users[d]!r} has length {len(row)} and the first one {width}: "
                "give every user one score for each arm."
            )
        for k, cell in enumerate(row):
            scores[d, k] = _score(_number(cell), cell, users[d], arms[k])
    return _table(scores, users, arms, _weights(content.get("weights"), len(rows)))


def _from_csv(text: str) -> ScoreTable:
    sheet = read_sheet(text)
    lines = list(sheet.lines)
    header = lines.pop(0) if lines and _is_header(sheet, lines[0]) else None
    first = int(_has_users(sheet, header, lines))  # the column of the first arm
    width = len(lines[0].cells) - first if lines else 0
    names = [line.cells[0] for line in lines] if first else None
    users = _names("user", names, len(lines), [line.place(0) for line in lines])
    above = list(header.cells[first:]) if header and lines else None
    places = [header.place(first + k) for k in range(width)] if header else None
    arms = _names("arm", above, width, places)
    scores = np.empty((len(lines), width))
    for d, line in enumerate(lines):
        for k, cell in enumerate(line.cells[first:]):
            place = f"{line.place(first + k)}: "
            scores[d, k] = _score(sheet.number(cell), cell, users[d], arms[k], place)
    return _table(scores, users, arms)


def _has_users(sheet: Sheet, header: Line | None, lines: list[Line]) -> bool:
    """Return whether the first column has the names of the users."""
    if not lines or len(lines[0].cells) == 1:
        return False
    above_names = header is not None and header.cells[0].lower() in CORNERS
    return above_names or all(sheet.number(line.cells[0]) is None for line in lines)


def _is_header(sheet: Sheet, line: Line) -> bool:
    """Return whether a line has names only: a single one among numbers may be a typo."""
    numbers = [sheet.number(cell) is not None for cell in line.cells]
    if not any(numbers) or line.cells[0].lower() in CORNERS[1:]:
        return True
    if line.cells[0]:
        return False
    raise InputError(
        f"line {line.number} begins with an empty cell, and numbers follow: write 'user' there if "
        "they are names of arms, and the missing score if they are scores."
    )


def _table(
    scores: Floats,
    users: tuple[str, ...],
    arms: tuple[str, ...],
    weights: tuple[float, ...] | None = None,
) -> ScoreTable:
    if not scores.size:
        raise InputError(
            "it has no scores: give at least one user and one arm (in CSV, with commas, "
            "semicolons or tabs between)."
        )
    return ScoreTable(scores, users, arms, weights)


def _score(value: float | None, cell: object, user: str, arm: str, place: str = "") -> float:
    if value is None or not 0.0 <= value <= MOST:
        raise InputError(
            f"{place}the score of arm {arm!r} for user {user!r} is {cell!r}: "
            f"give a number from 0 to {MOST:g}."
        )
    return value


def _number(cell: object) -> float | None:
    """Return the number in JSON, which may be a text; None for everything else."""
    try:
        return None if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _names(
    kind: str, given: object, count: int, places: Sequence[str] | None = None
) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{kind} {number}" for number in range(1, count + 1))
    if not isinstance(given, list):
        raise InputError(f"its {kind}s are not a list of names: give one text for each {kind}.")
    return check_names(kind, given, count, places)


def _weights(given: object, users: int) -> tuple[float, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != users:
        raise InputError(f"its weights are not a list of {users} numbers: give one for each user.")
    weights = [_number(entry) or 0.0 for entry in given]
    for entry, weight in zip(given, weights, strict=True):
        if not 0.0 < weight < math.inf:
            raise InputError(f"the weight {entry!r} is not usable: give a number above 0.")
    return tuple(weights)
