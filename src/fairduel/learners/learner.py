"""What a learner is: frozen settings, and three functions on a state that is a plain value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.offers import Play
from fairduel.tally import Tally

State = TypeVar("State")


@dataclass(frozen=True)
class Outlook:
    """How far a learner has come.

    near_best: the probability that its policy's welfare is within 1 % of the best.
    duels_worth_asking: about how many more duels are worth playing for their answers.
    """

    near_best: float
    duels_worth_asking: int


@dataclass(frozen=True)
class Rationale:
    """Why a pair was shown, as data.

    kind: "nothing-asked", "exploit", "drawn-along", "winner" or "scores". pair: what is asked
    about. rounds: how many are played for it, among other pairs; gain, cost: what they bring and
    cost, in rounds of the best policy; share: the part of the gain that is this pair's.
    """

    kind: str
    pair: tuple[int, int] | None = None
    rounds: int = 0
    gain: float = 0.0
    cost: float = 0.0
    share: float = 0.0


class Learner(ABC, Generic[State]):
    """Learns from answers alone. Everything is a pure function of its arguments.

    The state is a frozen dataclass of numbers, strings, None, arrays, tallies, tuples of these
    and other such dataclasses, so that it can be written to a file and read back to the bit.

    anytime: whether it works without a horizon. winners: each user's winner that it was given.
    explains: whether it has an outlook.
    """

    anytime: bool = False
    winners: tuple[int | None, ...] | None = None
    explains: ClassVar[bool] = False

    @abstractmethod
    def init(self, users: int, arms: int, horizon: int, seed: int) -> State:
        """The state before the first round of ``horizon``."""

    @abstractmethod
    def ask(self, state: State) -> tuple[Play, State]:
        """What to play now, and the state that has decided so. Asked again, it offers the rest.

        Decisions are taken here, with the answers heard by now; ``tell`` only takes note.
        """

    @abstractmethod
    def tell(self, state: State, tally: Tally) -> State:
        """The state that knows of these plays and answers as well."""

    @abstractmethod
    def policy(self, state: State) -> Floats:
        """The policy to recommend now."""

    def outlook(self, state: State) -> Outlook:
        """How far it has come, for learners that can tell."""
        raise InputError(f"{type(self).__name__} cannot tell how far it has come: use FairVOI.")

    def rationale(self, state: State, shown: tuple[int, int] | None) -> Rationale | None:
        """Why the shown pair was chosen, for learners that can tell."""
        return None


def check_learner(learner: object) -> None:
    """Refuse a name, or a class in place of a learner with its settings."""
    if isinstance(learner, str | type):
        raise InputError(f"the learner is {learner!r}: give a learner itself, like FairVOI().")
