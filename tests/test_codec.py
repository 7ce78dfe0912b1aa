"""Values to JSON and back, to the bit."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fairduel._arrays import Floats
from fairduel._codec import classes_in, decode, encode
from fairduel.errors import InputError


@dataclass(frozen=True, eq=False)
class Inner:
    values: Floats


@dataclass(frozen=True, eq=False)
class Outer:
    name: str
    number: float | None
    inner: Inner | None
    pair: tuple[int, Inner] | None = None


dtypes = st.sampled_from([np.float64, np.int64, np.bool_])
any_array = dtypes.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_side=0)))


@given(any_array)
def test_arrays_come_back_to_the_bit(array: np.ndarray) -> None:
    back = decode(json.loads(json.dumps(encode(array))), [])
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    nan = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    assert np.where(nan, 0, back).tobytes() == np.where(nan, 0, array).tobytes()
    if array.dtype.kind == "f":
        assert (np.isnan(back) == nan).all()


@given(st.floats(allow_nan=False), st.integers())
def test_dataclasses_come_back(number: float, whole: int) -> None:
    value = Outer("x", number, None, (whole, Inner(np.array([number]))))
    back = decode(json.loads(json.dumps(encode(value))), classes_in(Outer))
    assert (back.name, back.number, back.inner, back.pair[0]) == ("x", number, None, whole)
    assert back.pair[1].values.tobytes() == np.array([number]).tobytes()


def test_classes_are_found_inside_unions_and_tuples() -> None:
    assert classes_in(Outer) == {Outer, Inner}


def test_only_known_classes_come_to_life() -> None:
    with pytest.raises(InputError, match="'Inner' is not known here"):
        decode(encode(Inner(np.zeros(1))), [Outer])


def test_what_cannot_be_saved_is_named() -> None:
    with pytest.raises(InputError, match="a set cannot be saved"):
        encode({1, 2})
