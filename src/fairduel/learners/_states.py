"""Copies of states with some fields replaced."""

from __future__ import annotations

from typing import TypeVar

State = TypeVar("State")


def replaced(state: State, **fields: object) -> State:
    """Do what ``dataclasses.replace`` does for a plain frozen dataclass, five times as fast.

    Learners make several such copies per offer, and states have neither checks nor slots.
    """
    copy = object.__new__(type(state))
    copy.__dict__.update(state.__dict__, **fields)
    return copy
