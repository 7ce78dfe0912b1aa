"""Copies of states with some fields changed."""

from __future__ import annotations

from typing import TypeVar

State = TypeVar("State")


def changed(state: State, **fields: object) -> State:
    """Return what ``dataclasses.replace`` does for a plain frozen dataclass, five times as fast.

    Learners make several such copies an offer, and states have neither checks nor slots.
    """
    copy = object.__new__(type(state))
    copy.__dict__.update(state.__dict__, **fields)
    return copy
