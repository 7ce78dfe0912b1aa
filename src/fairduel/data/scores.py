"""Score matrices from files: how much each user likes each arm, with names."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel._files import AnyPath, read_whole
from fairduel.errors import InputError
from fairduel.welfare import Nash, Solution, Welfare

KEYS = ("scores", "users", "arms", "weights")

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
    solution = _weighted(welfare, scores.weights).maximize(scores.scores)
    return replace(solution, users=scores.users, arms=scores.arms)


def _weighted(welfare: Welfare, weights: tuple[float, ...] | None) -> Welfare:
    if weights is None:
        return welfare
    if "weights" not in {field.name for field in fields(welfare)}:  # type: ignore[arg-type]
        raise InputError(
            f"the welfare {welfare.name!r} takes no weights and the scores have some: "
            "use nash or utilitarian, or leave the weights out."
        )
    return replace(welfare, weights=weights)  # type: ignore[type-var]


def read_scores(data: bytes, source: str) -> ScoreTable:
    """Return the score matrix in the bytes of a CSV or JSON file; ``source`` names it in errors.

    CSV: a line for each user, with one score for each arm, separated by commas. The first line
    may have the names of the arms, and the first column those of the users. JSON: a list of
    lists, or an object with "scores" and, optionally, "users" and "arms" (names) and "weights".
    """
    try:
        text = data.decode("utf-8-sig").strip()
        as_json = source.lower().endswith(".json") or text[:1] in ("[", "{")
        return _from_json(text) if as_json else _from_csv(text)
    except UnicodeDecodeError as error:
        raise InputError(f"cannot use {source!r}: it is not text: save it as UTF-8.") from error
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
    return _table(rows, content.get("users"), content.get("arms"), content.get("weights"))


def _from_csv(text: str) -> ScoreTable:
    try:
        lines = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True, strict=True)
        rows = [[cell.strip() for cell in row] for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        raise InputError(f"it is not CSV ({error}): save it again.") from error
    arms = rows.pop(0) if rows and _is_header(rows[0]) else None
    wide = any(len(row) > 1 for row in rows)
    above_names = arms is not None and arms[0].lower() in CORNERS
    if wide and (above_names or not any(_is_number(row[0]) for row in rows)):
        users = [row.pop(0) for row in rows]
        return _table(rows, users, arms[1:] if arms else None, None)
    return _table(rows, None, arms, None)


def _is_header(row: list[str]) -> bool:
    """Return whether a line has names only: a single one among numbers may be a typo."""
    if not any(map(_is_number, row)) or row[0].lower() in CORNERS[1:]:
        return True
    if row[0]:
        return False
    raise InputError(
        "its first line begins with an empty cell, and numbers follow: write 'user' there if they "
        "are names of arms, and the missing score if they are scores."
    )


def _is_number(cell: str) -> bool:
    """Return whether a cell is meant to be a score, if perhaps a bad one like "nan"."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _table(rows: Sequence[list[Any]], users: object, arms: object, weights: object) -> ScoreTable:
    if not rows or not rows[0]:
        raise InputError(
            "it has no scores: give at least one user and one arm (in CSV, with commas between)."
        )
    width = len(rows[0])
    user_names = _names("user", users, len(rows))
    arm_names = _names("arm", arms, width)
    for user, row in zip(user_names, rows, strict=True):
        if len(row) != width:
            raise InputError(
                f"the row of user {user!r} has length {len(row)} and the first one {width}: "
                "give every user one score for each arm."
            )
    scores = np.array(
        [
            [_score(cell, user, arm) for arm, cell in zip(arm_names, row, strict=True)]
            for user, row in zip(user_names, rows, strict=True)
        ]
    )
    return ScoreTable(scores, user_names, arm_names, _weights(weights, len(rows)))


def _score(cell: object, user: str, arm: str) -> float:
    value = _number(cell)
    if not 0.0 <= value < math.inf:
        raise InputError(
            f"the score of arm {arm!r} for user {user!r} is {cell!r}: give a number from 0 up."
        )
    return value


def _number(cell: object) -> float:
    """Return a number, also from text as in CSV; NaN for everything else."""
    try:
        return math.nan if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _names(kind: str, given: object, count: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{kind} {number}" for number in range(1, count + 1))
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise InputError(f"its {kind}s are not a list of names: give one text for each {kind}.")
    if len(given) != count:
        raise InputError(
            f"it names {len(given)} {kind}s and has scores for {count}: give one name for each."
        )
    for name, times in Counter(given).items():
        if times > 1:
            raise InputError(f"it has the {kind} {name!r} twice: give every {kind} its own name.")
    return tuple(given)


def _weights(given: object, users: int) -> tuple[float, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != users:
        raise InputError(f"its weights are not a list of {users} numbers: give one for each user.")
    weights = tuple(map(_number, given))
    for entry, weight in zip(given, weights, strict=True):
        if not 0.0 < weight < math.inf:
            raise InputError(f"the weight {entry!r} is not usable: give a number above 0.")
    return weights
