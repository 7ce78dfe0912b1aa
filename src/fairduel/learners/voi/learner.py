"""Fair-VOI: ask what is worth asking, and choose well meanwhile. See docs/fair-voi.md."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel.errors import InputError
from fairduel.inference.independent import PRIOR, Belief, believe
from fairduel.learners._states import changed
from fairduel.learners.learner import Learner, Outlook, Rationale
from fairduel.learners.phases import check_winners
from fairduel.offers import Mix, Play
from fairduel.tally import Tally
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian, Welfare
from fairduel.welfare.checks import mean_one

PAIRS_OF_DRAWS = 64  # of what may be learned; each comes with its mirror image
FEW_PAIRS = 8  # where each takes a linear program
NODES = 4  # steps from knowing nothing more to knowing everything
BLOCK = 0.1  # rounds to the next decision, as a share of those played
PARTS = (1, 4, 16)  # of it, for blocks that are played for their answers
ANYTIME = 2.0  # rounds that are still to come, for each one played, if nobody knows
STEPS = 30  # of the ascent to the best block
RARE = 1e-3  # arms shown less often than this are left out of an exploring policy
MOST_USERS = 500  # a product of more utilities is too small a number for the machine
NEAR = 0.99  # of the best welfare is near the best
_SEED_OF_ITS_OWN = 4

SURPRISES = np.arange(1.0, 5.0)  # standard deviations by which an arm may prove different


@dataclass(frozen=True, eq=False)
class Asked:
    """The duels that an offer is played for, n pairs, in order of what they bring.

    pairs: (n, 2). shares: (n,) what each brings, as a share of all. about_winner: (n,) whether a
    pair is there most of all to learn who somebody's winner is, or how good the two are. gain:
    what the offer brings over the rounds to come, and cost: what it costs, in rounds of the policy
    that was best when it was made.
    """

    pairs: Ints
    shares: Floats
    about_winner: Bools
    gain: float
    cost: float


@dataclass(frozen=True, eq=False)
class Offer:
    """What was decided: two policies for so many rounds, after ``began`` rounds.

    policy: the best one by the scores then. asked: what the offer is played for, if it is not
    that policy.
    """

    left: Floats
    right: Floats
    rounds: int
    began: int
    policy: Floats
    asked: Asked | None = None


@dataclass(frozen=True, eq=False)
class VOIState:
    horizon: int
    seed: int
    tally: Tally
    decisions: int = 0
    offer: Offer | None = None


@dataclass(frozen=True, eq=False)
class _Worth:
    """What answers are worth, a round: m of a pair gain slope m / (1 + slope m / limit).

    m answers on top of n resolve a share m / (m + n) of what is unknown, and so gain that share
    of what it would gain to know it all: that is the limit, and the slope is the limit over n.
    """

    slope: Floats
    limit: Floats
    winner_slope: Floats  # the part of it that is about winners


@dataclass(frozen=True)
class FairVOI(Learner[VOIState]):
    """Weighs what every answer is worth over the rounds to come against what it costs now.

    welfare: what to maximise, any of this package's. winners: each user's winner, None for those
    whose it is not known. anytime: whether the horizon is only a limit and not to be planned for;
    it then plans for twice as many rounds to come as were played, whenever it decides.

    Nothing has to be tuned. A user without a Condorcet winner is served relative to the arm that
    is likeliest to be one; ``outlook`` says so.
    """

    welfare: Welfare = field(default_factory=Nash)
    winners: tuple[int | None, ...] | None = None
    anytime: bool = False
    explains: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _objective(self.welfare, None)

    def init(self, users: int, arms: int, horizon: int, seed: int) -> VOIState:
        if self.winners is not None:
            check_winners(tuple(0 if w is None else w for w in self.winners), users, arms)
        if isinstance(self.welfare, Nash | FrankWolfe) and users > MOST_USERS:
            raise InputError(
                f"{users} users are too many for a product of their utilities: FairVOI takes at "
                f"most {MOST_USERS}; let groups of people who are alike vote as one."
            )
        _objective(self.welfare, users)
        return VOIState(horizon, seed, Tally.empty(users, arms))

    def ask(self, state: VOIState) -> tuple[Play, VOIState]:
        offer = state.offer
        if offer is None or _rest(offer, state.tally) <= 0:
            offer = self._decide(state)
            state = changed(state, offer=offer, decisions=state.decisions + 1)
        phase = "exploit" if offer.asked is None else "explore"
        rounds, to_come = _rest(offer, state.tally), state.horizon - state.tally.rounds
        if to_come > 0:  # an anytime block may reach beyond the horizon
            rounds = min(rounds, to_come)
        return Mix(offer.left, offer.right, rounds, phase), state

    def tell(self, state: VOIState, tally: Tally) -> VOIState:
        return changed(state, tally=state.tally + tally)

    def policy(self, state: VOIState) -> Floats:
        return self._best(self._belief(state))

    def outlook(self, state: VOIState) -> Outlook:
        belief = self._belief(state)
        policy = self._best(belief)
        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN + 1, state.tally.rounds])
        sample = belief.sample(rng)
        values = self.welfare.value(sample @ policy)
        best = self._values(sample, self.welfare.follow(sample, policy))
        return Outlook(
            near_best=float((values >= NEAR * best).mean()),
            duels_worth_asking=self._duels_worth_asking(state, belief, policy),
        )

    def rationale(self, state: VOIState, shown: tuple[int, int] | None) -> Rationale:
        """Why the shown pair was chosen; without it, why the pair that is worth most was."""
        offer = state.offer
        if offer is None:
            return Rationale("nothing-asked")
        asked = offer.asked
        if asked is None:
            return Rationale("exploit", rounds=offer.rounds)
        at = 0 if shown is None else _position(asked, shown)
        if at is None:
            return Rationale("drawn-along", rounds=offer.rounds, gain=asked.gain, cost=asked.cost)
        i, j = asked.pairs[at].tolist()
        kind = "winner" if asked.about_winner[at] else "scores"
        share = float(asked.shares[at])
        return Rationale(kind, (i, j), offer.rounds, asked.gain, asked.cost, share)

    def _belief(self, state: VOIState) -> Belief:
        return believe(state.tally.wins, self.winners)

    def _best(self, belief: Belief, start: Floats | None = None) -> Floats:
        """The policy of highest expected welfare.

        Users' preferences are independent, so the mean of a product of utilities is the product
        of their means: the best policy for the mean scores is best in the mean.
        """
        return self.welfare.maximize(belief.scores, start).policy

    def _decide(self, state: VOIState) -> Offer:
        played = state.tally.rounds
        block = self._block(state, played)
        belief = self._belief(state)
        policy = self._best(belief, None if state.offer is None else state.offer.policy)
        stay = Offer(policy, policy, block, played, policy)
        # The rounds in which what has been learned by then can be used.
        left = self._end(state, played + block) - (played + block)
        if left <= 0.0 or len(policy) == 1:
            return stay
        worth = self._worth(state, belief, policy, left)
        rounds, sides = self._choose(belief, policy, worth, left, block)
        if sides is None:
            return stay
        asked = self._asked(belief, policy, worth, left, rounds, sides)
        return replace(stay, left=sides[0], right=sides[1], rounds=rounds, asked=asked)

    def _block(self, state: VOIState, played: int) -> int:
        """Rounds to the next decision, at most."""
        block = max(1, int(BLOCK * played))
        return block if self.anytime else min(block, max(state.horizon - played, 1))

    def _end(self, state: VOIState, played: int) -> float:
        """The last round that is planned for, when so many have been played."""
        return (1.0 + ANYTIME) * played if self.anytime else float(state.horizon)

    def _worth(self, state: VOIState, belief: Belief, policy: Floats, left: float) -> _Worth:
        """What answers about each pair are worth over each of the rounds left."""
        from fairduel.kernels import voi

        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN, state.decisions])
        counts = _duels_so_far(state.tally)
        kind, weights = _objective(self.welfare, len(belief.scores))
        slow = isinstance(self.welfare, Egalitarian)
        nodes = np.arange(FEW_PAIRS if slow else PAIRS_OF_DRAWS) % NODES
        shares = (nodes + 0.5) / NODES
        drawn, winners, shifts = belief.draw(shares, rng)
        best = self.welfare.follow(drawn, policy)
        slope, limit, winner_gains = voi.value_scores(
            kind, weights, belief.scores, policy, drawn, best, np.tile(shares, 2),
            winners, shifts, belief.means, counts,
        )  # fmt: skip
        arm_slope, arm_limit = self._arm_worth(belief, policy, counts)
        slope, limit = np.maximum(slope, arm_slope), np.maximum(limit, arm_limit)
        which, losses = self._winner_losses(belief, policy, left)
        losses = np.maximum(losses, winner_gains[which[:, 0], which[:, 1]])
        winner_slope, winner_limit = voi.value_winners(which, losses, belief.log_beats, counts)
        return _Worth(slope + winner_slope, limit + winner_limit, winner_slope)

    def _winner_losses(self, belief: Belief, policy: Floats, left: float) -> tuple[Ints, Floats]:
        """What is lost a round because (user, arm) may be a winner, for all that matter.

        Draws would miss a winner who is unlikely but would change everything, so each is supposed
        in turn, with everything else as it is in the mean.
        """
        chances = belief.chances
        which = np.ascontiguousarray(np.argwhere((chances * left > 1.0) & (chances < 1.0 - 1e-9)))
        user, arm = which.T
        supposed = np.repeat(belief.scores[None], len(which), axis=0)
        supposed[np.arange(len(which)), user] = belief.means[user, :, arm]
        best = self._values(supposed, self.welfare.follow(supposed, policy))
        lost = best - self.welfare.value(supposed @ policy)
        return which, chances[user, arm] * lost

    def _arm_worth(self, belief: Belief, policy: Floats, counts: Floats) -> tuple[Floats, Floats]:
        """What it is worth to look again at arms: slopes and limits, i < j.

        An arm comes into use if its scores, weighted by what utilities are worth, prove much
        better than they seem, and one in use goes if they prove worse. Draws would miss that
        where it is unlikely, so each is supposed to be better or worse by so many standard
        deviations, all users' scores in the likeliest way.
        """
        from fairduel.kernels import voi

        slopes = self._slopes(belief.scores @ policy)
        slopes /= slopes.max() + 1e-300  # the squares of small ones would be 0
        parts = slopes[:, None] ** 2 * belief.variances
        parts /= parts.sum(axis=0) + 1e-300
        signs = np.where(policy < RARE, 1.0, -1.0)
        supposed = voi.suppose(belief.scores, belief.variances, parts, signs, SURPRISES)
        best = self._values(supposed, self.welfare.follow(supposed, policy))
        lead = best - self.welfare.value(supposed @ policy)
        lead = np.maximum(lead, 0.0).reshape(len(policy), len(SURPRISES))
        slope, limit = voi.value_arms(lead @ _chances_of_surprises(), parts, belief.chances, counts)
        return slope, limit

    def _slopes(self, utilities: Floats) -> Floats:
        """The derivative of the welfare in each utility, if a little less is given.

        If more were, the smallest utility would not move where several are the smallest.
        """
        steps = 1e-6 * utilities
        lost = self.welfare.value(utilities) - self.welfare.value(utilities - np.diag(steps))
        return lost / np.maximum(steps, 1e-300)

    def _values(self, scores: Floats, policies: Floats) -> Floats:
        """The welfare of each policy (B, K) under its own scores (B, D, K)."""
        return self.welfare.value(np.einsum("bdk,bk->bd", scores, policies))

    def _choose(
        self, belief: Belief, policy: Floats, worth: _Worth, left: float, most: int
    ) -> tuple[int, Floats | None]:
        """For how many rounds to play which two policies (2, K) for their answers' sake, if any.

        A long block may be worth its cost where most of its gain comes early, so shorter ones are
        tried as well: what counts is the gain in all, less the cost.
        """
        from fairduel.kernels import voi

        if not worth.slope.any():
            return most, None
        kind, weights = _objective(self.welfare, len(belief.scores))
        blocks = np.array(sorted({max(1, most // part) for part in PARTS}))
        gain, rounds, found = voi.choose(
            kind, weights, belief.scores, worth.slope, worth.limit, left, blocks,
            _starts(policy, worth.slope), STEPS,
        )  # fmt: skip
        if gain <= 0.0:
            return most, None
        found[found < RARE * found.max(axis=1, keepdims=True)] = 0.0
        found /= found.sum(axis=1, keepdims=True)
        # What was left out may have been all that there was to learn.
        return rounds, found if (_duels(found) * worth.slope).any() else None

    def _asked(
        self, belief: Belief, policy: Floats, worth: _Worth, left: float, rounds: int, sides: Floats
    ) -> Asked:
        """What a block is played for."""
        gains = _gain(worth, rounds * _duels(sides))
        i, j = np.unravel_index(np.argsort(-gains, axis=None, kind="stable"), gains.shape)
        some = gains[i, j] > 0.0
        i, j = i[some], j[some]
        best = max(float(self.welfare.value(belief.scores @ policy)), 1e-300)
        earned = float(self.welfare.value(sides @ belief.scores.T).mean())
        return Asked(
            pairs=np.column_stack([i, j]),
            shares=gains[i, j] / gains.sum(),
            about_winner=worth.winner_slope[i, j] > 0.5 * worth.slope[i, j],
            gain=left * float(gains.sum()) / best,
            cost=rounds * max(0.0, 1.0 - earned / best),
        )

    def _duels_worth_asking(self, state: VOIState, belief: Belief, policy: Floats) -> int:
        """Decide again and again as if answers came as expected, and count the duels."""
        offer, played = state.offer, state.tally.rounds
        duels = np.zeros((len(policy), len(policy)))
        if offer is not None and offer.asked is not None:
            rest = max(0, _rest(offer, state.tally))
            duels += rest * _duels(np.stack([offer.left, offer.right]))
            played += rest
        block = self._block(state, played)
        end = self._end(state, played + block)
        if end > played + block and len(policy) > 1:
            now = self._worth(state, belief, policy, end - played - block)
            while (left := end - played - block) > 0.0:
                rounds, sides = self._choose(belief, policy, _after(now, duels), left, block)
                if sides is None:
                    break
                duels += rounds * _duels(sides)
                played += rounds
                block = self._block(state, played)
        return math.ceil(float(duels.sum()))


def _rest(offer: Offer, tally: Tally) -> int:
    """How many rounds of an offer have not been played."""
    return offer.began + offer.rounds - tally.rounds


def _objective(welfare: Welfare, users: int | None) -> tuple[int, Floats]:
    """The kernels' number for a welfare (PRODUCT, MEAN, SMALLEST), and its users' weights."""
    kinds: tuple[tuple[type, int], ...] = (
        (Nash, 0), (FrankWolfe, 0), (Utilitarian, 1), (Egalitarian, 2),
    )  # fmt: skip
    for kind, number in kinds:
        if isinstance(welfare, kind):
            weights = getattr(welfare, "weights", None)
            return number, np.ones(0) if users is None else mean_one(weights, users)
    raise InputError(
        f"FairVOI cannot use {type(welfare).__name__} as its welfare: "
        "give Nash, Utilitarian, Egalitarian or FrankWolfe."
    )


def _duels_so_far(tally: Tally) -> Floats:
    """(D, K, K) how many duels of a pair it took to learn as much of a user as is known.

    Who answers every other duel needs twice as many, and who never answers is not waited for.
    """
    wins, plays = tally.wins, tally.plays
    shown = plays.sum() - np.trace(plays)
    rates = np.minimum((wins.sum(axis=(1, 2)) + 1.0) / (shown + 1.0), 1.0)
    return np.asarray((wins + wins.transpose(0, 2, 1) + 2.0 * PRIOR) / rates[:, None, None])


def _starts(policy: Floats, slope: Floats) -> Floats:
    """Pairs of policies to begin from: the best one first, and others that ask more."""
    both = slope + slope.T
    i, j = np.unravel_index(slope.argmax(), slope.shape)
    arms = len(policy)
    pair = np.eye(arms)[[i, j]]
    against, everything = both @ policy + 1e-300, both.sum(axis=1)
    wanted, all_wanted = against / against.sum(), everything / everything.sum()
    rows = [[policy, policy], [policy, wanted], [all_wanted, all_wanted], pair]
    starts = 0.98 * np.array(rows) + 0.02 / arms
    return np.concatenate([[[policy, policy]], starts])


def _duels(sides: Floats) -> Floats:
    """How often each pair i < j comes up, a round."""
    once = np.outer(*sides)
    return np.triu(once + once.T, 1)


def _kept(worth: _Worth, duels: Floats) -> Floats:
    """The share of what is unknown that is left after so many duels."""
    limit = np.where(worth.limit > 0.0, worth.limit, 1.0)
    return np.asarray(1.0 / (1.0 + worth.slope * duels / limit))


def _gain(worth: _Worth, duels: Floats) -> Floats:
    """What so many duels of each pair gain, a round."""
    return np.asarray(worth.slope * duels * _kept(worth, duels))


def _after(worth: _Worth, duels: Floats) -> _Worth:
    """What answers are still worth when so many more have come."""
    kept = _kept(worth, duels)
    return _Worth(worth.slope * kept**2, worth.limit * kept, worth.winner_slope * kept**2)


def _position(asked: Asked, shown: tuple[int, int]) -> int | None:
    found = np.flatnonzero((asked.pairs == sorted(shown)).all(axis=1))
    return int(found[0]) if found.size else None


@functools.cache
def _chances_of_surprises() -> Floats:
    """How likely a normal variate is nearest to 1, 2, ... deviations."""
    edges = np.append(SURPRISES - 0.5, SURPRISES[-1] + 0.5)
    return -np.diff([0.5 * math.erfc(edge / math.sqrt(2.0)) for edge in edges])
