"""What to play and for how long, given what answers are worth. It knows nothing of any prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fairduel._arrays import Bools, Floats, Ints

BLOCK = 0.1  # rounds to the next decision, as a share of those played ...
FINEST = 5e-5  # ... or of the horizon, so that decisions are few
AHEAD = 10.0  # rounds planned for at most, as a multiple of those played ...
FEW_AHEAD = 100.0  # ... or this many
ANYTIME = 1.0  # the same if the horizon is not known
FREE = 0.5  # rounds that answers have to gain where asking costs nothing but people's time
PARTS = 8  # of a block, of which one is played at least, so that decisions are few
MOST_ARMS = 32  # to ask about, and whose answers are counted
LENGTHS = 24  # of exploring that are compared, evenly spaced in their logarithm
RARE = 1e-3  # arms shown less often than this are left out of an exploring policy


@dataclass(frozen=True, eq=False)
class Overlap:
    """What answers of users are worth if those about one pair teach about others too.

    Of each user, all (D, K, K): the ``covariance`` S of the strengths, their ``worth`` W, and the
    ``information`` that an answer about a pair i, j has. With b = e_i - e_j, the log-odds of the
    pair are b' theta: m answers add m times the information to their precision, and knowing them
    would gain b' W b / b' S b.
    """

    worth: Floats
    covariance: Floats
    information: Floats

    def gains(self, first: Floats, second: Floats, lengths: Floats) -> Floats:
        """Return what P pairs of policies (P, K) gain per round after each of L lengths, (L, P).

        Answers that add a matrix A to the precision resolve S A S - S A S A S + .. of the
        covariance S. So n rounds of A each gain n tr(W A) at first, and bend by n^2 tr(W A S A).
        What has this slope and bend and bends on is less than a normal posterior gains, where W
        is positive. Estimated from draws W is not quite; then a gain may bend too little, or not
        at all, and only what there is to gain limits it.
        """
        from fairduel.kernels import voi

        slope, bend = voi.overlap(first, second, self.worth, self.covariance, self.information)
        rate = bend / np.maximum(slope, 1e-300)
        n = lengths[:, None, None]
        return np.asarray((slope * n / (1.0 + rate * n)).sum(axis=2))

    def times(self, factor: float) -> Overlap:
        """Return the same in other units."""
        return replace(self, worth=factor * self.worth)

    def among(self, arms: Ints) -> Overlap:
        """Return the same for answers about some arms only."""
        pairs = np.ix_(np.arange(len(self.worth)), arms, arms)
        return Overlap(self.worth[pairs], self.covariance[pairs], self.information[pairs])


@dataclass(frozen=True, eq=False)
class InformationValue:
    """What answers are worth per round, as a share of the best welfare.

    m answers about a pair i < j, and nothing else, gain slope m / (1 + slope m / limit).

    m answers on top of n resolve a share m / (m + n) of what is unknown, and so gain that share
    of what knowing everything would gain: that is the limit, and the slope is the limit over n.
    All are (K, K); winner_slope is the part of the slope that is about who the winners are.

    overlap: how what several pairs teach overlaps, if it does. parts: the values that this is the
    sum of, if it is one.
    """

    slope: Floats
    limit: Floats
    winner_slope: Floats
    overlap: Overlap | None = None
    parts: tuple[InformationValue, ...] = ()

    def gain(self, duels: Floats) -> Floats:
        """Return what ``duels`` (K, K) of each pair, taken by itself, gain per round."""
        limit = np.where(self.limit > 0.0, self.limit, 1.0)
        return np.asarray(self.slope * duels / (1.0 + self.slope * duels / limit))

    def gains(self, first: Floats, second: Floats, lengths: Floats) -> Floats:
        """Return what P pairs of policies (P, K) gain per round after each of L lengths, (L, P)."""
        if self.parts:
            return np.asarray(sum(part.gains(first, second, lengths) for part in self.parts))
        if self.overlap is not None:
            return self.overlap.gains(first, second, lengths)
        i, j = np.nonzero(self.limit)  # the least of slopes have limits too small for a number
        often = first[:, i] * second[:, j] + first[:, j] * second[:, i]
        once, bend = self.slope[i, j] * often, self.slope[i, j] / self.limit[i, j] * often
        return np.array([(n * once / (1.0 + n * bend)).sum(axis=1) for n in lengths])

    def among(self, arms: Ints) -> InformationValue:
        """Return the value of answers about some arms only."""
        pairs = np.ix_(arms, arms)
        return InformationValue(
            self.slope[pairs],
            self.limit[pairs],
            self.winner_slope[pairs],
            None if self.overlap is None else self.overlap.among(arms),
            tuple(part.among(arms) for part in self.parts),
        )

    def times(self, factor: float) -> InformationValue:
        """Return the value in other units, or of a model with this probability."""
        return InformationValue(
            factor * self.slope,
            factor * self.limit,
            factor * self.winner_slope,
            None if self.overlap is None else self.overlap.times(factor),
            tuple(part.times(factor) for part in self.parts),
        )

    def plus(self, other: InformationValue) -> InformationValue:
        """Return the sum of two values."""
        return InformationValue(
            self.slope + other.slope,
            self.limit + other.limit,
            self.winner_slope + other.winner_slope,
            parts=(*(self.parts or (self,)), *(other.parts or (other,))),
        )


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

    policy: the best one by what was known then. asked: what its answers are good for, if they are
    worth asking for.
    """

    left: Floats
    right: Floats
    rounds: int
    began: int
    policy: Floats
    asked: Asked | None = None

    @property
    def costs(self) -> bool:
        """Whether it is played for its answers instead of the best policy."""
        both = np.array_equal(self.left, self.policy) and np.array_equal(self.right, self.policy)
        return self.asked is not None and not both

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
        if self.anytime:
            return block
        return min(max(block, int(FINEST * self.horizon)), max(self.horizon - played, 1))

    def end(self, played: int) -> float:
        """Return the last round that is planned for, after ``played`` rounds."""
        if self.anytime:
            return (1.0 + ANYTIME) * played
        return min(played + max(AHEAD * played, FEW_AHEAD), float(self.horizon))


@dataclass(frozen=True, eq=False)
class Plan:
    """To play two policies (2, K) for a number of rounds, and then the best by what was learned."""

    sides: Floats
    rounds: float


@dataclass(frozen=True, eq=False)
class Planner:
    """A planner that weighs the value of answers over the rounds to come against their cost now.

    policies: (C, K) that are worth playing, the one to commit to first; if it is the only one, it
    is played. loss: returns the share of the best welfare that policies (.., K) are expected to
    lose. value: returns what answers are worth, for the number of rounds in which they can be used.
    asks: whether policies are tried too that are good for nothing but their answers.
    """

    schedule: Schedule
    policies: Floats
    loss: Callable[[Floats], Floats]
    value: Callable[[float], InformationValue]
    asks: bool = True

    def offer(self, played: int) -> Offer:
        """Decide what to play after ``played`` rounds: the beginning of the best plan."""
        best, block = self.policies[0], self.schedule.block(played)
        stay = Offer(best, best, block, played, best)
        left = self._left(played)
        if left <= 0.0 or len(best) == 1:
            return stay
        value = self.value(left)
        plan = self._plan(value, left + block, max(1.0, block / PARTS))
        if plan is None:
            return stay
        rounds = int(min(block, plan.rounds))
        asked = self._asked(value, plan, rounds, left + block)
        return replace(stay, left=plan.sides[0], right=plan.sides[1], rounds=rounds, asked=asked)

    def _left(self, played: int) -> float:
        """Return the rounds that are planned for after the block that comes now."""
        after = played + self.schedule.block(played)
        return self.schedule.end(after) - after

    def _plan(self, value: InformationValue, rounds: float, least: float) -> Plan | None:
        """Return the best plan for the rounds to come, None if nothing is worth ``least`` rounds.

        Playing two policies for n rounds loses n times their loss, and in the rounds after it what
        is lost now less the gain, which is no more than there is to lose.
        """
        if not value.slope.any():
            return None
        if len(self.policies) == 1:  # nothing is known, and no pair is worth more than another
            return Plan(self.policies[[0, 0]], least)
        policies = self.policies
        if self.asks:
            policies = np.concatenate([policies, _asking(policies[0], value.slope)])
        losses = self.loss(policies)
        first, second = np.triu_indices(len(policies))
        cost, now = 0.5 * (losses[first] + losses[second]), max(float(losses[0]), 0.0)
        lengths, arms = _lengths(least, rounds), _most(policies.max(axis=0))
        few = policies.take(arms, axis=1)
        gains = value.among(arms).gains(few[first], few[second], lengths)
        gains = now * gains / (now + gains + 1e-300)
        total = lengths[:, None] * cost + (rounds - lengths[:, None]) * (now - gains)
        n, c = np.unravel_index(total.argmin(), total.shape)
        worth = rounds * now - total[n, c]
        if worth <= (FREE if c == 0 else 0.0):
            return None
        sides = np.stack([policies[first[c]], policies[second[c]]])
        if not (_frequencies(sides) * value.slope).any():
            return None
        return Plan(sides, float(lengths[n]))

    def _asked(self, value: InformationValue, plan: Plan, rounds: int, to_come: float) -> Asked:
        """Return what the first ``rounds`` of a plan are played for."""
        gains = value.gain(rounds * _frequencies(plan.sides))
        i, j = np.unravel_index(np.argsort(-gains, axis=None, kind="stable"), gains.shape)
        some = gains[i, j] > 0.0
        i, j = i[some], j[some]
        lost = self.loss(np.concatenate([self.policies[:1], plan.sides]))
        kept = max(1.0 - float(lost[0]), 1e-300)
        arms = _most(plan.sides.max(axis=0))
        first, second = plan.sides.take(arms, axis=1)[:, None]
        now = max(float(lost[0]), 0.0)
        total = float(value.among(arms).gains(first, second, np.array([float(rounds)]))[0, 0])
        return Asked(
            pairs=np.column_stack([i, j]),
            shares=gains[i, j] / gains.sum(),
            about_winner=value.winner_slope[i, j] > 0.5 * value.slope[i, j],
            gain=(to_come - rounds) * now * total / (now + total + 1e-300) / kept,
            cost=rounds * max(0.0, 0.5 * float(lost[1] + lost[2]) - float(lost[0])) / kept,
        )


def _lengths(least: float, rounds: float) -> Floats:
    """Return lengths of exploring, from the least to all of the rounds."""
    lengths = np.geomspace(least, max(rounds, least), LENGTHS)
    return np.unique(np.minimum(np.round(lengths), rounds))


def _asking(policy: Floats, slope: Floats) -> Floats:
    """Return policies that ask: against the given one, about everything, and the best pair's."""
    both = slope + slope.T
    few = _most(both.sum(axis=1))
    about = np.zeros_like(both)
    about[np.ix_(few, few)] = both[np.ix_(few, few)]
    arms = np.eye(len(policy))
    i, j = np.unravel_index(slope.argmax(), slope.shape)
    wanted = np.stack([about @ policy + 1e-300, about.sum(axis=1), arms[i], arms[j]])
    wanted[wanted < RARE * wanted.max(axis=1, keepdims=True)] = 0.0
    return np.asarray(wanted / wanted.sum(axis=1, keepdims=True))


def _most(worth: Floats) -> Ints:
    """Return those arms, not too many, that are worth most."""
    return np.sort(np.argsort(-worth, kind="stable")[:MOST_ARMS])


def _frequencies(sides: Floats) -> Floats:
    """Return how often each pair i < j comes up per round."""
    once = np.outer(*sides)
    return np.triu(once + once.T, 1)
