"""What to play and for how long, given what answers are worth. It knows nothing of any prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel.welfare import Welfare

BLOCK = 0.1  # rounds to the next decision, as a share of those played
PARTS = (1, 4, 16)  # into which a block is divided, to find the best length
ANYTIME = 2.0  # rounds planned for, as a multiple of those played, if the horizon is not known
STEPS = 30  # of the ascent to the best block
RARE = 1e-3  # arms shown less often than this are left out of an exploring policy


@dataclass(frozen=True, eq=False)
class InformationValue:
    """What answers are worth per round: m about pair i < j gain slope m / (1 + slope m / limit).

    m answers on top of n resolve a share m / (m + n) of what is unknown, and so gain that share
    of what knowing everything would gain: that is the limit, and the slope is the limit over n.
    All are (K, K); winner_slope is the part of the slope that is about who the winners are.
    """

    slope: Floats
    limit: Floats
    winner_slope: Floats

    def gain(self, duels: Floats) -> Floats:
        """Return what ``duels`` (K, K) of each pair gain per round."""
        return np.asarray(self.slope * duels * self._unresolved(duels))

    def after(self, duels: Floats) -> InformationValue:
        """Return what answers are still worth after ``duels`` (K, K) more of each pair."""
        kept = self._unresolved(duels)
        return InformationValue(
            self.slope * kept**2, self.limit * kept, self.winner_slope * kept**2
        )

    def _unresolved(self, duels: Floats) -> Floats:
        """Return the share of what is unknown that is left after ``duels`` of each pair."""
        limit = np.where(self.limit > 0.0, self.limit, 1.0)
        return np.asarray(1.0 / (1.0 + self.slope * duels / limit))


@dataclass(frozen=True, eq=False)
class Asked:
    """The duels that an offer is played for, n pairs, in order of what they bring.

    pairs: (n, 2). shares: (n,) what each brings, as a share of the gain. about_winner: (n,)
    whether a pair is there most of all to learn who some user's winner is, rather than how good
    the two arms are. gain, cost: what the offer brings over the rounds to come, and what it
    costs, in rounds of the policy that was best when it was made.
    """

    pairs: Ints
    shares: Floats
    about_winner: Bools
    gain: float
    cost: float


@dataclass(frozen=True, eq=False)
class Offer:
    """What was decided after ``began`` rounds: two policies for a number of rounds.

    policy: the best one by the scores then. asked: what the offer is played for, if it is not
    that policy.
    """

    left: Floats
    right: Floats
    rounds: int
    began: int
    policy: Floats
    asked: Asked | None = None

    def rest(self, played: int) -> int:
        """Return how many of its rounds are left after ``played`` rounds in all."""
        return self.began + self.rounds - played


@dataclass(frozen=True)
class Schedule:
    """When decisions are due, and how far ahead they plan."""

    horizon: int
    anytime: bool

    def block(self, played: int) -> int:
        """Return the rounds from here to the next decision, at most."""
        block = max(1, int(BLOCK * played))
        return block if self.anytime else min(block, max(self.horizon - played, 1))

    def end(self, played: int) -> float:
        """Return the last round that is planned for, after ``played`` rounds."""
        return (1.0 + ANYTIME) * played if self.anytime else float(self.horizon)


@dataclass(frozen=True, eq=False)
class Planner:
    """A planner that weighs the value of answers over the rounds to come against their cost now.

    scores: (D, K) as they are in the mean. policy: the best one for them. value: returns what
    answers are worth, for the number of rounds in which they can be used.
    """

    schedule: Schedule
    welfare: Welfare
    scores: Floats
    policy: Floats
    value: Callable[[float], InformationValue]

    def offer(self, played: int) -> Offer:
        """Decide what to play after ``played`` rounds."""
        block = self.schedule.block(played)
        stay = Offer(self.policy, self.policy, block, played, self.policy)
        left = self.schedule.end(played + block) - (played + block)
        if left <= 0.0 or len(self.policy) == 1:
            return stay
        now = self.value(left)
        rounds, sides = self._choose(now, left, block)
        if sides is None:
            return stay
        asked = self._asked(now, left, rounds, sides)
        return replace(stay, left=sides[0], right=sides[1], rounds=rounds, asked=asked)

    def duels_worth_asking(self, played: int, offer: Offer | None) -> int:
        """Return the number of duels, deciding repeatedly as if answers came as expected.

        The rest of the ``offer`` under way comes first, if it is played for its answers.
        """
        duels = np.zeros((len(self.policy), len(self.policy)))
        if offer is not None and offer.asked is not None:
            rest = max(0, offer.rest(played))
            duels += rest * _frequencies(np.stack([offer.left, offer.right]))
            played += rest
        block = self.schedule.block(played)
        end = self.schedule.end(played + block)
        if end > played + block and len(self.policy) > 1:
            now = self.value(end - played - block)
            while (left := end - played - block) > 0.0:
                rounds, sides = self._choose(now.after(duels), left, block)
                if sides is None:
                    break
                duels += rounds * _frequencies(sides)
                played += rounds
                block = self.schedule.block(played)
        return math.ceil(float(duels.sum()))

    def _choose(self, value: InformationValue, left: float, most: int) -> tuple[int, Floats | None]:
        """Return for how many rounds to play which two policies (2, K) for their answers, if any.

        A long block may be worth its cost where most of its gain comes early, so shorter ones are
        tried as well: what counts is the gain in all, less the cost.
        """
        from fairduel.kernels import voi

        if not value.slope.any():
            return most, None
        blocks = np.array(sorted({max(1, most // part) for part in PARTS}))
        gain, rounds, found = self.welfare.compiled(len(self.scores)).run(
            voi.choose, self.scores, value.slope, value.limit, left, blocks,
            _starts(self.policy, value.slope), STEPS,
        )  # fmt: skip
        if gain <= 0.0:
            return most, None
        found[found < RARE * found.max(axis=1, keepdims=True)] = 0.0
        found /= found.sum(axis=1, keepdims=True)
        # What was left out may have been all that there was to learn.
        return rounds, found if (_frequencies(found) * value.slope).any() else None

    def _asked(self, value: InformationValue, left: float, rounds: int, sides: Floats) -> Asked:
        """Return what a block is played for."""
        gains = value.gain(rounds * _frequencies(sides))
        i, j = np.unravel_index(np.argsort(-gains, axis=None, kind="stable"), gains.shape)
        some = gains[i, j] > 0.0
        i, j = i[some], j[some]
        best = max(float(self.welfare.value(self.scores @ self.policy)), 1e-300)
        earned = float(self.welfare.value(sides @ self.scores.T).mean())
        return Asked(
            pairs=np.column_stack([i, j]),
            shares=gains[i, j] / gains.sum(),
            about_winner=value.winner_slope[i, j] > 0.5 * value.slope[i, j],
            gain=left * float(gains.sum()) / best,
            cost=rounds * max(0.0, 1.0 - earned / best),
        )


def _starts(policy: Floats, slope: Floats) -> Floats:
    """Return pairs of policies to begin from: the best one first, and others that ask more."""
    both = slope + slope.T
    i, j = np.unravel_index(slope.argmax(), slope.shape)
    arms = len(policy)
    pair = np.eye(arms)[[i, j]]
    against, everything = both @ policy + 1e-300, both.sum(axis=1)
    wanted, all_wanted = against / against.sum(), everything / everything.sum()
    rows = [[policy, policy], [policy, wanted], [all_wanted, all_wanted], pair]
    starts = 0.98 * np.array(rows) + 0.02 / arms
    return np.concatenate([[[policy, policy]], starts])


def _frequencies(sides: Floats) -> Floats:
    """Return how often each pair i < j comes up per round."""
    once = np.outer(*sides)
    return np.triu(once + once.T, 1)
