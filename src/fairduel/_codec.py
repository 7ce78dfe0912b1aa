"""Settings and states as JSON and back, to the bit: dataclasses, arrays, tuples and numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from fairduel.errors import InputError

Json = Any
T = TypeVar("T")
LATER = "later"


def later(default: T) -> T:
    """Return a field that came after the first files: they are without it, and mean the default.

    So are new files as long as it has its default, and old ones stay as they are.
    """
    field: T = dataclasses.field(default=default, metadata={LATER: True})
    return field


def encode(value: object) -> Json:
    """Return a value as JSON data. Lists stand for tuples, and a dataclass carries its name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, np.ndarray):
        return {"array": str(value.dtype), "shape": list(value.shape), "values": _flat(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            f.name: encode(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if not (LATER in f.metadata and getattr(value, f.name) == f.default)
        }
        return {"is": type(value).__name__, **fields}
    raise InputError(
        f"a {type(value).__name__} cannot be saved: states and settings are made of numbers, "
        "strings, None, arrays, tuples and dataclasses of these."
    )


def decode(data: Json, classes: Iterable[type]) -> Any:
    """Return what ``encode`` was given; ``classes`` are the dataclasses that may occur."""
    return _decode(data, {cls.__name__: cls for cls in classes})


def classes_in(cls: type) -> set[type]:
    """Return a dataclass and those that its fields are declared to hold."""
    found: set[type] = set()
    waiting: list[Any] = [cls]
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint not in found:
            found.add(hint)
            waiting += get_type_hints(hint).values()
    return found


def _decode(data: Json, classes: dict[str, type]) -> Any:
    if isinstance(data, list):
        return tuple(_decode(item, classes) for item in data)
    if not isinstance(data, dict):
        return data
    if "array" in data:
        return np.array(data["values"], data["array"]).reshape(data["shape"])
    name = data.get("is")
    if name not in classes:
        raise InputError(
            f"{name!r} is not known here: give the learner that the file was made with."
        )
    fields = {key: _decode(item, classes) for key, item in data.items() if key != "is"}
    return classes[name](**fields)


def _flat(array: np.ndarray[Any, Any]) -> list[Any]:
    """Return the values in order; whole numbers lose their '.0', which reads back the same."""
    values = array.ravel().tolist()
    if array.dtype.kind != "f":
        return values
    return [int(v) if v.is_integer() and not _is_negative_zero(v) else v for v in values]


def _is_negative_zero(value: float) -> bool:
    return value == 0.0 and str(value).startswith("-")
