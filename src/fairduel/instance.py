"""The truth of a problem: how likely each user is to prefer each arm to each other arm."""

from __future__ import annotations

import html
import io
import json
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Bools, Floats, Ints
from fairduel._files import AnyPath, read_whole, write_whole
from fairduel._names import check_names
from fairduel._tables import Table, as_html
from fairduel.errors import InputError
from fairduel.scorings import SCORINGS, beats_all, check_scoring

TOLERANCE = 1e-9
FORMAT = "fairduel instance"
VERSION = 1

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Instance:
    """The preferences of D users over K arms (Section 3), checked and frozen.

    ``preferences[d, i, j]`` is the probability that user d prefers arm i to arm j. So
    ``P[d, i, j] + P[d, j, i] = 1`` and ``P[d, i, i] = 1/2`` (both to 1e-9; the diagonal is then
    set to 1/2 exactly). ``users`` and ``arms`` are names, by default "user 1", "arm 1" and so
    on. Two instances with the same numbers, names and scoring are equal.

    ``scoring`` says what an arm is worth to a user: "condorcet", as in the paper, "maximin",
    "borda" or "copeland" (see ``fairduel.scorings``). A user need not have a Condorcet winner:
    ``without_winner`` names those who do not. With "condorcet" they have no scores, and ``scores``
    is an error that names them.
    """

    preferences: Floats
    users: tuple[str, ...]
    arms: tuple[str, ...]
    scoring: str

    def __init__(
        self,
        preferences: ArrayLike,
        users: Iterable[str] | None = None,
        arms: Iterable[str] | None = None,
        scoring: str = "condorcet",
    ) -> None:
        tensor = _checked(preferences)
        object.__setattr__(self, "scoring", check_scoring(scoring))
        object.__setattr__(self, "preferences", _frozen(tensor))
        object.__setattr__(self, "users", _names("user", users, tensor.shape[0]))
        object.__setattr__(self, "arms", _names("arm", arms, tensor.shape[1]))

    @cached_property
    def has_winner(self) -> Bools:
        """(D,) Whether each user has a Condorcet winner."""
        return _frozen(np.any(self._beats_all, axis=1))

    @cached_property
    def without_winner(self) -> tuple[str, ...]:
        """The users who have no Condorcet winner."""
        return tuple(self.users[d] for d in np.flatnonzero(~self.has_winner))

    @cached_property
    def winners(self) -> Ints:
        """(D,) Each user's Condorcet winner: the arm preferred to every other (Assumption 3.1)."""
        without = [repr(user) for user in self.without_winner]
        if without:
            who = (
                f"user {without[0]} has" if len(without) == 1 else f"users {_listed(without)} have"
            )
            raise InputError(
                f"{who} no Condorcet winner (no arm is preferred to every other arm with "
                "probability above 1/2): change those preferences, leave such users out, or take "
                "a scoring that needs none, like scoring='borda'."
            )
        return _frozen(self._beats_all.argmax(axis=1).astype(np.int64))

    @cached_property
    def scores(self) -> Floats:
        """(D, K) The score of each arm for each user, by the scoring; the best has exactly 1."""
        if self.scoring == "condorcet":
            _ = self.winners  # or an error that names who has none
        return _frozen(SCORINGS[self.scoring].score(self.preferences))

    @cached_property
    def gap(self) -> float:
        """The smallest |P[d, i, j] - 1/2| over i != j (Delta of Theorem 4.2).

        With a single arm there is no pair; the gap is then 1/2, the largest possible.
        """
        arms = len(self.arms)
        if arms == 1:
            return 0.5
        pairs = self.preferences[:, ~np.eye(arms, dtype=bool)]
        return float(np.abs(pairs - 0.5).min())

    @cached_property
    def _beats_all(self) -> Bools:
        return beats_all(self.preferences)

    def scored_by(self, scoring: str) -> Instance:
        """Return the same preferences with the scores of another scoring."""
        return Instance(self.preferences, self.users, self.arms, scoring)

    def save(self, path: AnyPath) -> None:
        """Write everything to one ``.npz`` or ``.json`` file, whole or not at all.

        Loading it returns an equal instance, to the bit.
        """
        write = {".npz": _to_npz, ".json": _to_json}[_suffix(path)]
        write_whole(path, write(self))

    @classmethod
    def load(cls, path: AnyPath) -> Instance:
        """Read an instance from a ``.npz`` or ``.json`` file.

        A JSON file may be written by hand: an object with "preferences" (nested lists) and,
        optionally, "users" and "arms" (lists of names) and "scoring".
        """
        read = {".npz": _from_npz, ".json": _from_json}[_suffix(path)]
        data = read_whole(path)
        try:
            return cls(**_fields(read(data)))
        except InputError as error:
            raise InputError(f"cannot load {str(path)!r}: {error}") from error

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        same_words = (self.users, self.arms, self.scoring) == (
            other.users,
            other.arms,
            other.scoring,
        )
        return same_words and np.array_equal(self.preferences, other.preferences)

    def __hash__(self) -> int:
        return hash((self.users, self.arms, self.scoring, self.preferences.tobytes()))

    def __repr__(self) -> str:
        return f"Instance({len(self.users)} users, {len(self.arms)} arms)"

    def _repr_html_(self) -> str:
        """Return the scores as a table, users in rows; at most 20 of each."""
        named = f"<p>{html.escape(repr(self))}"
        if self.without_winner and self.scoring == "condorcet":
            return f"{named}, some without a Condorcet winner</p>"
        few = slice(20)
        rows = [
            (user, *(f"{score:.2f}" for score in row[few]))
            for user, row in zip(self.users[few], self.scores[few], strict=True)
        ]
        table = Table(("score", *self.arms[few]), rows, right=tuple(range(1, 21)))
        return f"{named}</p>{as_html(table)}"

    def __reduce__(self) -> tuple[type[Instance], tuple[object, ...]]:
        # A copy made by pickle or copy is checked and read-only like the original.
        return Instance, (self.preferences, self.users, self.arms, self.scoring)


# Checking


def _checked(preferences: ArrayLike) -> Floats:
    """Return a fresh (D, K, K) float array that satisfies every rule of a preference tensor."""
    tensor = _numbers(preferences)
    _check_shape(tensor.shape)
    _refuse(tensor, ~np.isfinite(tensor), "is {value}, which is not a finite number")
    _refuse(tensor, (tensor < 0) | (tensor > 1), "is {value}, outside [0, 1]")
    diagonal = np.eye(tensor.shape[1], dtype=bool)
    _refuse(
        tensor,
        diagonal & (np.abs(tensor - 0.5) > TOLERANCE),
        "is {value}: an arm against itself has to be 1/2",
    )
    mirror = tensor.transpose(0, 2, 1)
    _refuse(
        tensor,
        np.abs(tensor + mirror - 1) > TOLERANCE,
        "is {value} and the reverse, [{d}, {j}, {i}], is {reverse}: they have to add up to 1",
    )
    tensor[:, diagonal] = 0.5
    return tensor


def _numbers(preferences: ArrayLike) -> Floats:
    try:
        given = np.asarray(preferences)
        if given.dtype.kind not in "biuf":
            given = np.asarray(preferences, dtype=object)
            for place, value in np.ndenumerate(given):
                if not isinstance(value, Real):
                    raise InputError(
                        f"preferences{list(place)} is {value!r}: every entry has to be a number."
                    )
        # Adding zero copies, and turns -0.0 into 0.0 so that equal instances hash alike.
        tensor: Floats = given.astype(np.float64) + 0.0
        return tensor
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "preferences have to be a (users, arms, arms) tensor of numbers, which what was "
            "given does not fit into: give nested lists of equal lengths."
        ) from error


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 3 or shape[1] != shape[2]:
        raise InputError(
            f"preferences have shape {shape}: give a (users, arms, arms) tensor, "
            "one square matrix for each user."
        )
    if 0 in shape:
        raise InputError(
            f"preferences have shape {shape}: there has to be at least one user and one arm."
        )


def _refuse(tensor: Floats, bad: Bools, problem: str) -> None:
    """Raise an error about the first bad entry, if any."""
    if not bad.any():
        return
    d, i, j = (int(index) for index in np.argwhere(bad)[0])
    value, reverse = float(tensor[d, i, j]), float(tensor[d, j, i])
    described = problem.format(d=d, i=i, j=j, value=value, reverse=reverse)
    raise InputError(f"preferences[{d}, {i}, {j}] {described}.")


def _names(kind: str, given: Iterable[str] | None, count: int) -> tuple[str, ...]:
    if given is None:
        return tuple(f"{kind} {index + 1}" for index in range(count))
    return check_names(kind, given, count)


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


# Files


def _suffix(path: AnyPath) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".json"):
        raise InputError(
            f"the file name {str(path)!r} does not say which format to use: "
            "end it with .npz or .json."
        )
    return suffix


def _header(instance: Instance) -> dict[str, object]:
    header: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "users": list(instance.users),
        "arms": list(instance.arms),
    }
    if instance.scoring != "condorcet":  # so that versions that know no other can read the rest
        header["scoring"] = instance.scoring
    return header


def _to_json(instance: Instance) -> bytes:
    """Return readable JSON: one line for each row of a preference matrix."""
    lines = [f'  "{key}": {json.dumps(value)},' for key, value in _header(instance).items()]
    users = [
        "    [\n" + ",\n".join(f"      {json.dumps(row)}" for row in matrix) + "\n    ]"
        for matrix in instance.preferences.tolist()
    ]
    body = '  "preferences": [\n' + ",\n".join(users) + "\n  ]"
    return "\n".join(["{", *lines, body, "}", ""]).encode()


def _from_json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "it is not complete JSON: save it again or restore it from a copy."
        ) from error


def _to_npz(instance: Instance) -> bytes:
    buffer = io.BytesIO()
    header = np.array(json.dumps(_header(instance)))
    np.savez(buffer, header=header, preferences=instance.preferences)
    return buffer.getvalue()


def _from_npz(data: bytes) -> object:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            header = _npy(parts.read("header.npy"))
            preferences = _npy(parts.read("preferences.npy"))
        return {**json.loads(str(header)), "preferences": preferences}
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        TypeError,
        ValueError,
        EOFError,
        OSError,
        RuntimeError,
        MemoryError,
        OverflowError,
    ) as error:
        raise InputError(
            "it is not a complete instance file: save it again or restore it from a copy."
        ) from error


def _npy(data: bytes) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = np.load(io.BytesIO(data), allow_pickle=False)
    return array


def _fields(content: object) -> dict[str, Any]:
    """Return the arguments of Instance, from the content of a file of either format."""
    if not isinstance(content, dict) or content.get("format", FORMAT) != FORMAT:
        raise InputError("it holds something other than an instance: give an instance file.")
    if content.get("version", VERSION) != VERSION:
        raise InputError(
            f"it has version {content['version']!r} of the format and this fairduel reads "
            f"version {VERSION}: update fairduel or save the file again."
        )
    if "preferences" not in content:
        raise InputError('it has no "preferences": give an instance file.')
    fields = {key: content[key] for key in content if key not in ("format", "version")}
    if "reference" in fields:  # what earlier files call it
        fields.setdefault("scoring", fields.pop("reference"))
    unknown = sorted(set(fields) - {"preferences", "users", "arms", "scoring"})
    if unknown:
        raise InputError(
            f'it has the unknown key "{unknown[0]}": use "preferences", "users", "arms" and '
            '"scoring" only.'
        )
    return fields
