"""What a learner is: frozen settings, and three functions on a state that is a plain value."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.offers import Play
from fairduel.tally import Tally

State = TypeVar("State")


@runtime_checkable
class Learner(Protocol[State]):
    """Learns from answers alone. Everything is a pure function of its arguments.

    The state is a frozen dataclass of numbers, strings, None, arrays, tallies, tuples of these
    and other such dataclasses, so that it can be written to a file and read back to the bit.
    """

    def init(self, users: int, arms: int, horizon: int, seed: int) -> State:
        """The state before the first round of ``horizon``."""
        ...

    def ask(self, state: State) -> tuple[Play, State]:
        """What to play now, and the state that has decided so. Asked again, it offers the rest.

        Decisions are taken here, with the answers heard by now; ``tell`` only takes note.
        """
        ...

    def tell(self, state: State, tally: Tally) -> State:
        """The state that knows of these plays and answers as well."""
        ...

    def policy(self, state: State) -> Floats:
        """The policy to recommend now."""
        ...


def check_learner(learner: object) -> None:
    """Refuse a name, or a class in place of a learner with its settings."""
    if isinstance(learner, str | type):
        raise InputError(f"the learner is {learner!r}: give a learner itself, like FairVOI().")
