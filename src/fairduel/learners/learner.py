"""What a learner is: frozen settings, and functions on a state that is a plain value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.inference import Posterior, infer
from fairduel.offers import Play
from fairduel.tally import Tally
from fairduel.welfare import Nash, Welfare

State = TypeVar("State")
ENOUGH = 0.01  # of the best: what is not worth ten more answers of each user
Kind = Literal["nothing-asked", "exploit", "drawn-along", "winner", "scores"]


@dataclass(frozen=True)
class Outlook:
    """Where learning stands.

    share, low, high: of the best that could be had, what the recommended policy is expected to
    give, with the interval that holds it with probability 95 %. For the Nash welfare it is a share
    of the geometric mean of utilities. ten_more: what ten more answers of each user would add.
    """

    share: float
    low: float
    high: float
    ten_more: float

    @property
    def enough(self) -> bool:
        """Whether to stop asking: ten more answers of each would add less than 1 %."""
        return self.ten_more < ENOUGH


@dataclass(frozen=True)
class Rationale:
    """Why a pair of arms was shown.

    kind: "nothing-asked" before the first offer; "exploit" where both arms were drawn from the
    recommended policy; "drawn-along" where they came up along with pairs that are worth asking
    about; "winner" or "scores" where this pair is worth asking about, most of all to learn who
    some user's winner is, or how good the two arms are.
    pair: the two arms, lower index first; None unless the kind is "winner" or "scores".
    rounds: the length of the offer. gain, cost: what its answers bring over the rounds to come,
    and what asking costs, both in rounds of the policy recommended when it was made. share: the
    part of the gain that answers about the pair bring.
    """

    kind: Kind
    pair: tuple[int, int] | None = None
    rounds: int = 0
    gain: float = 0.0
    cost: float = 0.0
    share: float = 0.0


class Learner(ABC, Generic[State]):
    """A learner: it learns from answers alone, and all its methods are pure functions.

    The state is a frozen dataclass of numbers, strings, None, arrays, tallies, tuples of these
    and other such dataclasses, so that it can be written to a file and read back to the bit.

    A learner declares what it can do. anytime: whether it works without knowing the horizon.
    winners: each user's winner as far as it was given. scoring: by which it scores arms (see
    ``fairduel.scorings``). welfare: what it maximises. features: what describes arms, if anything
    does. explains: whether ``outlook`` and ``rationale`` say anything.
    from_sums: whether it can begin with the sum of all answers so far, so that answers may change,
    and users and arms come and go.
    """

    anytime: bool = False
    winners: tuple[int | None, ...] | None = None
    scoring: str = "condorcet"
    welfare: Welfare = Nash()
    features: tuple[tuple[float, ...], ...] | None = None
    explains: bool = False
    from_sums: bool = False

    @abstractmethod
    def init(self, users: int, arms: int, horizon: int, seed: int) -> State:
        """Return the state before the first round of ``horizon``."""

    @abstractmethod
    def ask(self, state: State) -> tuple[Play, State]:
        """Return what to play now, and the state after that decision.

        Asked again, it offers the rest. Decisions are taken here, with the answers heard by now;
        ``tell`` only takes note.
        """

    @abstractmethod
    def tell(self, state: State, tally: Tally) -> State:
        """Return the state with these plays and answers added."""

    @abstractmethod
    def policy(self, state: State) -> Floats:
        """Return the policy to recommend now."""

    def posterior(self, tally: Tally) -> Posterior:
        """Return what the answers say of the users' preferences; default: ``infer``.

        A learner with another model of preferences overrides this.
        """
        return infer(tally.wins, self.winners, self.scoring)

    def outlook(self, state: State) -> Outlook:
        """Return where learning stands; only for learners that explain themselves."""
        raise InputError(f"{type(self).__name__} cannot tell where people stand: use FairVOI.")

    def rationale(self, state: State, shown: tuple[int, int] | None) -> Rationale | None:
        """Return why the arms ``shown`` last were chosen; None if the learner cannot tell.

        Where none were shown, it is about the pair that is most worth asking about.
        """
        return None


def check_learner(learner: object) -> None:
    """Refuse names, classes and anything else that is not a learner with its settings."""
    if isinstance(learner, str | type):
        raise InputError(f"the learner is {learner!r}: give a learner itself, like FairVOI().")
    if not isinstance(learner, Learner):
        raise InputError(
            f"{type(learner).__name__} is not a learner: derive the class from fairduel.Learner."
        )
