"""BT-Thompson: Thompson sampling under the Bradley-Terry model, a plain baseline."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fairduel._arrays import Floats
from fairduel._codec import later
from fairduel.learners._states import replaced
from fairduel.learners.learner import Learner
from fairduel.offers import Mix, Play
from fairduel.scorings import check_learnable
from fairduel.tally import Tally
from fairduel.welfare import Nash, Welfare
from fairduel.welfare.welfare import check_welfare

SCALES = (1.0, 0.5, 2.0, 0.25, 4.0)  # of the prior; among equals, the first
SAMPLES = 64  # of the posterior, for one decision
FEW_SAMPLES = 16  # where maximising takes long
BLOCK = 0.05  # rounds to the next decision, as a share of those played
_SEED_OF_ITS_OWN = 6


@dataclass(frozen=True, eq=False)
class ThompsonState:
    horizon: int
    seed: int
    tally: Tally
    decisions: int = 0
    until: int = 0  # the round with which the last decision ends
    policy: Floats | None = None  # that decision


@dataclass(frozen=True)
class BradleyTerryThompson(Learner[ThompsonState]):
    """Thompson sampling that takes every user's preferences to be transitive.

    Each user has a Bradley-Terry model, theta_d ~ N(0, s^2 I), whose posterior is approximated by
    Laplace's method; s is the likeliest of a few, the same for all users. The best policy for each
    of 64 posterior samples is found, and the mean of these policies is played on both sides, until
    5 % more rounds were played. The horizon is only a limit.

    welfare: what to maximise. scoring: by which arms are scored; "condorcet" and "maximin" are the
    same for transitive preferences.
    """

    anytime = True
    from_sums = True

    welfare: Welfare = field(default_factory=Nash)
    scoring: str = later("condorcet")

    def __post_init__(self) -> None:
        check_welfare(self.welfare)
        check_learnable(self.scoring)

    def init(self, users: int, arms: int, horizon: int, seed: int) -> ThompsonState:
        self.welfare.compiled(users)  # refuses weights of other users
        return ThompsonState(horizon, seed, Tally.empty(users, arms))

    def ask(self, state: ThompsonState) -> tuple[Play, ThompsonState]:
        played = state.tally.rounds
        policy = state.policy
        if policy is None or state.until <= played:
            policy = self.welfare.follow(self._samples(state)).mean(axis=0)
            state = replaced(
                state,
                policy=policy,
                until=played + max(1, int(BLOCK * played)),
                decisions=state.decisions + 1,
            )
        rounds, to_come = state.until - played, state.horizon - played
        return Mix(policy, policy, min(rounds, to_come) if to_come > 0 else rounds), state

    def tell(self, state: ThompsonState, tally: Tally) -> ThompsonState:
        return replaced(state, tally=state.tally + tally)

    def policy(self, state: ThompsonState) -> Floats:
        """Return the best policy for the mean of the sampled scores."""
        return self.welfare.maximize(self._samples(state).mean(axis=0)).policy

    def _samples(self, state: ThompsonState) -> Floats:
        """Draw scores (n, D, K) from the posterior of the scale with the highest evidence."""
        from fairduel.kernels import bradley_terry

        wins = state.tally.wins
        start = np.zeros(wins.shape[:2])
        fits = [bradley_terry.fit(wins, scale, start) for scale in SCALES]
        _, modes, factors = max(fits, key=lambda fit: fit[0])
        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN, state.decisions])
        normals = rng.standard_normal((FEW_SAMPLES if self.welfare.slow else SAMPLES, *start.shape))
        return bradley_terry.sample_scores(modes, factors, normals, self.scoring == "borda")
