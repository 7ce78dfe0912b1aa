"""Fair-VOI: ask what is worth asking, and choose well meanwhile. See docs/fair-voi.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairduel._arrays import Floats
from fairduel._codec import later
from fairduel.errors import InputError
from fairduel.inference import Posterior
from fairduel.inference.featured import infer_featured
from fairduel.inference.size import check_size
from fairduel.learners._states import replaced
from fairduel.learners.learner import Learner, Outlook, Rationale
from fairduel.learners.phases import check_winners
from fairduel.learners.voi.candidates import SURE, Sample, candidates
from fairduel.learners.voi.plan import Asked, InformationValue, Offer, Planner, Schedule
from fairduel.learners.voi.prospects import prospects
from fairduel.learners.voi.value import Situation, information_value
from fairduel.offers import Mix, Play
from fairduel.scorings import check_learnable
from fairduel.tally import Tally
from fairduel.welfare import Nash, Welfare
from fairduel.welfare.welfare import check_welfare

MOST_USERS = 500  # whose utilities may be multiplied: the products of more are too small a number
SMALLEST = 2.0**-1000  # the product of 500 utilities of 1/4
_SEED_OF_ITS_OWN = 4


@dataclass(frozen=True, eq=False)
class VOIState:
    horizon: int
    seed: int
    tally: Tally
    decisions: int = 0
    offer: Offer | None = None


@dataclass(frozen=True)
class FairVOI(Learner[VOIState]):
    """Fair-VOI: weighs the value of answers over the rounds to come against their cost now.

    welfare: what to maximise. winners: each user's winner; None for users whose winner is not
    known. anytime: whether the horizon is only a limit and not planned for; it then plans
    for as many rounds to come as were played, whenever it decides. scoring: by which arms are
    scored, "condorcet", "maximin" or "borda". features: numbers that describe each arm, a row for
    each; strengths are then partly linear in them, by as much as the answers say.

    Nothing has to be tuned. Under "condorcet" all users are taken to have a winner; who has none is
    served relative to the arm that is likeliest to be one. The others assume nothing of that kind.
    """

    explains = True
    from_sums = True

    welfare: Welfare = field(default_factory=Nash)
    winners: tuple[int | None, ...] | None = None
    anytime: bool = False
    scoring: str = later("condorcet")
    features: tuple[tuple[float, ...], ...] | None = later(None)

    def __post_init__(self) -> None:
        check_welfare(self.welfare)
        if self.features is not None:
            object.__setattr__(self, "features", check_features(self.features, self.scoring))
        if check_learnable(self.scoring) != "condorcet" and self.winners is not None:
            raise InputError(
                f"winners are given, which the scoring {self.scoring} has no use for: leave them "
                "out, or use the scoring condorcet."
            )

    def init(self, users: int, arms: int, horizon: int, seed: int) -> VOIState:
        check_size(users, arms)
        check_known(self.winners, self.features, users, arms)
        self.welfare.compiled(users)  # refuses weights of other users
        if users > MOST_USERS and self.welfare.value(np.full(users, 0.25)) < SMALLEST:
            raise InputError(
                f"{users} users are too many for a product of their utilities, where FairVOI takes "
                f"at most {MOST_USERS}: let groups of people who are alike vote as one."
            )
        return VOIState(horizon, seed, Tally.empty(users, arms))

    def ask(self, state: VOIState) -> tuple[Play, VOIState]:
        offer, played = state.offer, state.tally.rounds
        if offer is None or offer.rest(played) <= 0:
            offer = self._decide(state)
            state = replaced(state, offer=offer, decisions=state.decisions + 1)
        phase = "explore" if offer.costs else "exploit"
        rounds, to_come = offer.rest(played), state.horizon - played
        if to_come > 0:  # an anytime block may reach beyond the horizon
            rounds = min(rounds, to_come)
        return Mix(offer.left, offer.right, rounds, phase), state

    def tell(self, state: VOIState, tally: Tally) -> VOIState:
        return replaced(state, tally=state.tally + tally)

    def posterior(self, tally: Tally) -> Posterior:
        if self.features is None:
            return super().posterior(tally)
        return infer_featured(tally.wins, np.array(self.features), self.winners)

    def policy(self, state: VOIState) -> Floats:
        policies, _ = candidates(self.posterior(state.tally), self.welfare, _generator(state))
        return np.asarray(policies[0])

    def outlook(self, state: VOIState) -> Outlook:
        posterior, rng = self.posterior(state.tally), _generator(state)
        policy = candidates(posterior, self.welfare, rng)[0][0]
        answers = state.tally.wins.sum(axis=(1, 2))
        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN + 1, state.tally.rounds])
        return prospects(posterior, self.welfare, policy, answers, rng)

    def rationale(self, state: VOIState, shown: tuple[int, int] | None) -> Rationale:
        offer = state.offer
        if offer is None:
            return Rationale("nothing-asked")
        asked = offer.asked
        if asked is None:
            return Rationale("exploit", rounds=offer.rounds)
        at = 0 if shown is None else _position(asked, shown)
        if at is None:
            return Rationale("drawn-along", None, offer.rounds, asked.gain, asked.cost)
        i, j = asked.pairs[at].tolist()
        return Rationale(
            "winner" if asked.about_winner[at] else "scores",
            (i, j),
            offer.rounds,
            asked.gain,
            asked.cost,
            float(asked.shares[at]),
        )

    def _decide(self, state: VOIState) -> Offer:
        return self._planner(state, self.posterior(state.tally)).offer(state.tally.rounds)

    def _planner(self, state: VOIState, posterior: Posterior) -> Planner:
        rng = _generator(state)
        policies, sample = candidates(posterior, self.welfare, rng)

        def value(left: float) -> InformationValue:
            return information_value(
                posterior, Situation(self.welfare, policies[0], state.tally, left, rng)
            )

        schedule = Schedule(state.horizon, self.anytime)
        return Planner(schedule, policies, sample.loss, value, self._asks(sample, policies[0]))

    def _asks(self, sample: Sample, best: Floats) -> bool:
        """Return whether to try policies, too, that are good for nothing but their answers.

        Until it is known what is good, to play what may be best teaches enough. With features,
        where every answer teaches about all arms, it always does; and without winners never, since
        how good an arm is lies with its duels with all others.
        """
        if self.scoring != "condorcet":
            return True
        return self.features is None and sample.lead(best) > SURE


def check_features(features: Any, scoring: str) -> tuple[tuple[float, ...], ...]:
    """Return features as a table of numbers that can be saved."""
    try:
        table = np.array(features, np.float64)
    except (TypeError, ValueError, OverflowError):
        table = np.empty(0)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise InputError(
            "the features are no table of numbers: give a row for each arm, each with as many "
            "numbers as the others."
        )
    if scoring != "condorcet":
        raise InputError(
            f"features are given, and the scoring {scoring}: features are for the scoring "
            "condorcet."
        )
    return tuple(map(tuple, table.tolist()))


def check_known(winners: Any, features: Any, users: int, arms: int) -> None:
    """Refuse winners and features, checked by themselves, of other users or other arms."""
    if winners is not None:
        try:
            known = tuple(0 if w is None else w for w in winners)
        except TypeError:
            raise InputError(
                f"the winners are {winners!r}: give the number of an arm for each user, or None "
                "where it is not known."
            ) from None
        check_winners(known, users, arms)
    if features is not None and len(features) != arms:
        raise InputError(
            f"there are features of {len(features)} arms, but {arms} arms: give a row for each arm."
        )


def _generator(state: VOIState) -> np.random.Generator:
    """Return the source of randomness of the next decision."""
    return np.random.default_rng([state.seed, _SEED_OF_ITS_OWN, state.decisions])


def _position(asked: Asked, shown: tuple[int, int]) -> int | None:
    """Return where among the pairs asked about the one ``shown`` is; None if it is not."""
    found = np.flatnonzero((asked.pairs == sorted(shown)).all(axis=1))
    return int(found[0]) if found.size else None
