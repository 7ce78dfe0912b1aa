"""Matrices take one thread for as long as somebody asks for it."""

import contextlib
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from fairduel._threads import one_thread
from fairduel.inference import alike, featured


def threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_one_thread_in_all_threads_until_it_is_left() -> None:
    with one_thread():  # loads all libraries
        pass
    before = threads()

    def other() -> None:
        with one_thread():
            assert threads() == {1}

    with one_thread():
        beside = threading.Thread(target=other)
        beside.start()
        beside.join()
        assert threads() == {1}
    assert threads() == before


def test_threads_are_given_back_after_an_error() -> None:
    with one_thread():
        pass
    before = threads()
    with contextlib.suppress(ValueError), one_thread():
        raise ValueError
    assert threads() == before


@pytest.mark.parametrize("module", [alike, featured])
def test_inference_takes_one_thread(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []
    found = module.laplace  # type: ignore[attr-defined]

    def laplace(*given: object, **named: object) -> object:
        seen.append(threads())
        return found(*given, **named)

    monkeypatch.setattr(module, "laplace", laplace)
    wins = np.zeros((2, 3, 3))
    wins[:, 0, 1] = 2.0
    if module is alike:
        alike.infer_alike(wins)
    else:
        featured.infer_featured(wins, np.array([[0.0], [1.0], [2.0]]))
    assert seen
    assert all(each == {1} for each in seen)
