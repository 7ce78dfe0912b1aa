"""Fair-VOI: ask what is worth asking, and choose well meanwhile. See docs/fair-voi.md."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from fairduel.arrays import Floats, Ints
from fairduel.changed import changed
from fairduel.compiled import load
from fairduel.errors import InputError
from fairduel.learners.phases import check_winners
from fairduel.play import Mix, Play
from fairduel.tally import Tally
from fairduel.welfare import Egalitarian, FrankWolfe, Nash, Utilitarian, Welfare
from fairduel.welfare.scores import mean_one

KERNELS = "fairduel.learners._voi"

PRIOR = 0.5  # Jeffreys' prior of a probability
PAIRS_OF_DRAWS = 64  # of what may be learned; each comes with its mirror image
FEW_PAIRS = 8  # where each takes a linear program
NODES = 4  # steps from knowing nothing more to knowing everything
BLOCK = 0.05  # rounds to the next decision, as a share of those played
PARTS = (1, 4, 16)  # of it, for blocks that are played for their answers
ANYTIME = 1.0  # rounds that are still to come, for each one played, if nobody knows
STEPS = 30  # of the ascent to the best block
RARE = 1e-3  # arms shown less often than this are left out of an exploring policy
NEAR = 0.99  # of the best welfare is near the best
CYCLE = 0.05  # a user's reference arm that beats some other arm less surely is no clear winner
REPORT_DRAWS = 400
_SEED_OF_ITS_OWN = 4

SURPRISES = np.arange(1.0, 5.0)  # standard deviations by which an arm may prove better
RESOLVED = (0.25, 0.5, 0.75, 0.9, 0.97)  # shares of the variance to plan for
RATIOS = 2.0 ** np.arange(-2, 7)  # how many times the present answers to plan for
_Z_STEP, _Z_COUNT = 0.1, 81


@dataclass(frozen=True, eq=False)
class Offer:
    """What was decided: two policies for so many rounds, after ``began`` rounds.

    policy: the best one by the scores then. For reports: the pair whose answers are worth most,
    whether they are about a favourite or about scores, what all answers of the offer are worth
    over the rounds to come, and what it costs to ask for them.
    """

    left: Floats
    right: Floats
    rounds: int
    began: int
    policy: Floats
    pair: tuple[int, int] | None = None
    about_winner: bool = False
    worth: float = 0.0
    cost: float = 0.0


@dataclass(frozen=True, eq=False)
class VOIState:
    horizon: int
    seed: int
    tally: Tally
    decisions: int = 0
    offer: Offer | None = None


@dataclass(frozen=True, eq=False)
class Outlook:
    """Where people stand.

    utilities, low, high: (D,) what each user gets from the present policy, 1 being their own
    favourite all the time, and the interval that holds it with probability 95 %.
    near_best: the probability that the welfare is within 1 % of the best.
    duels_worth_asking: about how many more duels are worth playing for their answers; 0 means
    that it is time to stop asking. why: why the last pair was chosen, in words.
    references: (D,) the arm that each user's scores are relative to, the likeliest winner.
    without_winner: the users whose reference loses to some arm almost surely, so that they seem
    to have no favourite that beats all others.
    """

    utilities: Floats
    low: Floats
    high: Floats
    near_best: float
    duels_worth_asking: int
    why: str
    references: Ints
    without_winner: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Belief:
    """What the answers say; see ``posterior`` in the kernels."""

    counts: Floats  # answers and what the prior counts for
    log_beats: Floats
    means: Floats
    deviations: Floats
    chances: Floats
    scores: Floats


@dataclass(frozen=True, eq=False)
class _Worth:
    """What answers are worth, a round: m of a pair gain slope m / (1 + slope m / limit)."""

    slope: Floats
    limit: Floats
    winner_slope: Floats  # the part of it that is about winners


@dataclass(frozen=True)
class FairVOI:
    """Weighs what every answer is worth over the rounds to come against what it costs now.

    welfare: what to maximise, any of this package's. winners: each user's winner where it is
    known. anytime: whether the horizon is only a limit and not to be planned for; it then plans
    for as many rounds to come as were played, whenever it decides.

    Nothing has to be tuned. A user without a Condorcet winner is served relative to the arm that
    is likeliest to be one; ``outlook`` says so.
    """

    welfare: Welfare = field(default_factory=Nash)
    winners: tuple[int, ...] | None = None
    anytime: bool = False

    def __post_init__(self) -> None:
        _objective(self.welfare, None)

    def init(self, users: int, arms: int, horizon: int, seed: int) -> VOIState:
        check_winners(self.winners, users, arms)
        _objective(self.welfare, users)
        return VOIState(horizon, seed, Tally.empty(users, arms))

    def ask(self, state: VOIState) -> tuple[Play, VOIState]:
        offer = state.offer
        if offer is None or _rest(offer, state.tally) <= 0:
            offer = self._decide(state)
            state = changed(state, offer=offer, decisions=state.decisions + 1)
        phase = "exploit" if offer.pair is None else "explore"
        return Mix(offer.left, offer.right, _rest(offer, state.tally), phase), state

    def tell(self, state: VOIState, tally: Tally) -> VOIState:
        return changed(state, tally=state.tally + tally)

    def policy(self, state: VOIState) -> Floats:
        return self._best(self._belief(state))

    def outlook(self, state: VOIState, arms: Sequence[str] = ()) -> Outlook:
        """Where people stand now; ``arms`` are names for the words in it."""
        belief = self._belief(state)
        policy = self._best(belief)
        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN + 1, state.tally.rounds])
        drawn, _, _ = _draw(belief, np.ones(REPORT_DRAWS // 2), rng)
        utilities = drawn @ policy
        values = self.welfare.value(utilities)
        best = self._values(drawn, self.welfare.follow(drawn, policy))
        low, high = np.quantile(utilities, [0.025, 0.975], axis=0)
        references = belief.chances.argmax(axis=1)
        each = np.arange(len(references))
        surest = belief.log_beats[each, :, references].min(axis=1)
        return Outlook(
            utilities=belief.scores @ policy,
            low=low,
            high=high,
            near_best=float((values >= NEAR * best).mean()),
            duels_worth_asking=self._duels_worth_asking(state, belief, policy),
            why=_why(state.offer, [*arms] or [f"arm {k + 1}" for k in range(policy.size)]),
            references=references,
            without_winner=tuple(np.flatnonzero(surest < math.log(CYCLE)).tolist()),
        )

    def _belief(self, state: VOIState) -> _Belief:
        wins = state.tally.wins
        known = np.full(len(wins), -1) if self.winners is None else np.array(self.winners)
        said = load(KERNELS).posterior(wins, known.astype(np.int64), PRIOR)
        return _Belief(wins + wins.transpose(0, 2, 1) + 2.0 * PRIOR, *said)

    def _best(self, belief: _Belief, start: Floats | None = None) -> Floats:
        """The policy of highest expected welfare.

        Users' preferences are independent, so the mean of a product of utilities is the product
        of their means: the best policy for the mean scores is best in the mean.
        """
        return self.welfare.maximize(belief.scores, start).policy

    def _decide(self, state: VOIState) -> Offer:
        played = state.tally.rounds
        to_come = max(state.horizon - played, 1)
        block = min(max(1, int(BLOCK * played)), to_come)
        belief = self._belief(state)
        policy = self._best(belief, None if state.offer is None else state.offer.policy)
        stay = Offer(policy, policy, block, played, policy)
        left = self._left(state, block)
        if left <= 0.0 or len(policy) == 1:
            return stay
        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN, state.decisions])
        worth = self._worth(belief, policy, left, rng)
        rounds, sides = self._choose(belief, policy, worth, left, block)
        if sides is None:
            return stay
        return self._explain(replace(stay, rounds=rounds), sides, belief, worth, left)

    def _left(self, state: VOIState, block: int) -> float:
        """The rounds in which what a block teaches can be used."""
        played = state.tally.rounds
        if self.anytime:
            return ANYTIME * (played + block)
        return float(state.horizon - played - block)

    def _worth(
        self, belief: _Belief, policy: Floats, left: float, rng: np.random.Generator
    ) -> _Worth:
        """What answers about each pair are worth over each of the rounds left."""
        kernels = load(KERNELS)
        kind, weights = _objective(self.welfare, len(belief.scores))
        slow = isinstance(self.welfare, Egalitarian)
        node = np.arange(FEW_PAIRS if slow else PAIRS_OF_DRAWS) % NODES
        drawn, winners, shifts = _draw(belief, (node + 0.5) / NODES, rng)
        best = self.welfare.follow(drawn, policy)
        slope, limit, winner_gains = kernels.value_scores(
            kind, weights, belief.scores, policy, drawn, best, np.tile(node, 2), NODES,
            winners, shifts, belief.means, belief.counts, left,
        )  # fmt: skip
        arm_slope, arm_limit = self._arm_worth(belief, policy, left)
        slope, limit = np.maximum(slope, arm_slope), np.maximum(limit, arm_limit)
        which, losses = self._winner_losses(belief, policy, left)
        losses = np.maximum(losses, winner_gains[which[:, 0], which[:, 1]])
        winner_slope, winner_limit = kernels.value_winners(
            which, losses, belief.log_beats, belief.counts, _falls(), RATIOS, _Z_STEP, left
        )
        return _Worth(slope + winner_slope, limit + winner_limit, winner_slope)

    def _winner_losses(self, belief: _Belief, policy: Floats, left: float) -> tuple[Ints, Floats]:
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

    def _arm_worth(self, belief: _Belief, policy: Floats, left: float) -> tuple[Floats, Floats]:
        """What it is worth to look again at arms that are not in use: slopes and limits, i < j.

        Such an arm comes into use if its scores, weighted by what utilities are worth, prove much
        better than they seem. Draws would miss that where it is unlikely, so each is supposed to
        be better by so many standard deviations, all users' scores in the likeliest way.
        """
        arms, unused = len(policy), np.flatnonzero(policy < RARE)
        variance = _score_variance(belief)
        parts = self._slopes(belief.scores @ policy)[:, None] ** 2 * variance
        parts /= parts.sum(axis=0) + 1e-300
        supposed = np.repeat(belief.scores[None], len(unused) * len(SURPRISES), axis=0)
        case, arm = np.arange(len(supposed)), np.repeat(unused, len(SURPRISES))
        surprise = np.tile(SURPRISES, len(unused))[:, None] * np.sqrt(parts.T[arm])
        supposed[case, :, arm] = _surprising(belief.scores.T[arm], variance.T[arm], surprise)
        best = self._values(supposed, self.welfare.follow(supposed, policy))
        gains = np.zeros((arms, len(SURPRISES)))
        lead = best - self.welfare.value(supposed @ policy)
        gains[unused] = lead.reshape(len(unused), len(SURPRISES))
        gains = np.maximum(gains, 0.0)
        # Each user's part of the variance lies with the pair of the arm and that user's winner.
        weight = parts[:, :, None] * belief.chances[:, None, :]
        share, rate = weight.sum(axis=0), (weight / belief.counts).sum(axis=0)
        slope = np.zeros((arms, arms))
        for resolved in RESOLVED:
            ratio = resolved / (1.0 - resolved)
            in_time = np.maximum(1.0 - ratio * share / (rate * left + 1e-300), 0.0)
            gain = gains @ _chances_of_surprises(resolved)
            slope = np.maximum(slope, gain[:, None] * rate / ratio * in_time)
        limit = (gains @ _chances_of_surprises(1.0))[:, None] * share
        slope, limit = np.triu(slope + slope.T, 1), np.triu(limit + limit.T, 1)
        return np.where(limit > 0.0, slope, 0.0), limit

    def _slopes(self, utilities: Floats) -> Floats:
        """The derivative of the welfare in each utility, if a little more is given."""
        more = utilities + 1e-6 * np.eye(len(utilities))
        return (self.welfare.value(more) - self.welfare.value(utilities)) / 1e-6

    def _values(self, scores: Floats, policies: Floats) -> Floats:
        """The welfare of each policy (B, K) under its own scores (B, D, K)."""
        return self.welfare.value(np.einsum("bdk,bk->bd", scores, policies))

    def _choose(
        self, belief: _Belief, policy: Floats, worth: _Worth, left: float, most: int
    ) -> tuple[int, Floats | None]:
        """For how many rounds to play which two policies (2, K) for their answers' sake, if any.

        A long block may be worth its cost where most of its gain comes early, so shorter ones are
        tried as well: what counts is the gain in all, less the cost.
        """
        if not worth.slope.any():
            return most, None
        kind, weights = _objective(self.welfare, len(belief.scores))
        starts = _starts(policy, worth.slope)
        top, rounds, found = 0.0, most, None
        for block in sorted({max(1, most // part) for part in PARTS}):
            stay, best, sides = load(KERNELS).choose(
                kind, weights, belief.scores, worth.slope, worth.limit, left, float(block), starts,
                STEPS,
            )  # fmt: skip
            if best > stay * (1.0 + 1e-9) and (best - stay) * block > top:
                top, rounds, found = (best - stay) * block, block, sides
        if found is None:
            return most, None
        found[found < RARE] = 0.0
        return rounds, np.asarray(found / found.sum(axis=1, keepdims=True))

    def _explain(
        self, stay: Offer, sides: Floats, belief: _Belief, worth: _Worth, left: float
    ) -> Offer:
        left_policy, right_policy = sides
        duels = stay.rounds * _duels(sides)
        gains = left * _gain(worth, duels)
        i, j = np.unravel_index(gains.argmax(), gains.shape)
        value = self.welfare.value(np.stack([stay.policy, *sides]) @ belief.scores.T)
        return replace(
            stay,
            left=left_policy,
            right=right_policy,
            pair=(int(i), int(j)),
            about_winner=bool(worth.winner_slope[i, j] > 0.5 * worth.slope[i, j]),
            worth=float(gains.sum()),
            cost=max(0.0, float(stay.rounds * (value[0] - 0.5 * (value[1] + value[2])))),
        )

    def _duels_worth_asking(self, state: VOIState, belief: _Belief, policy: Floats) -> int:
        """Decide again and again as if every answer came as expected, and count."""
        played, asked = state.tally.rounds, 0
        rng = np.random.default_rng([state.seed, _SEED_OF_ITS_OWN + 2, played])
        left = self._left(state, 1)
        if left <= 0.0 or len(policy) == 1:
            return 0
        worth = self._worth(belief, policy, left, rng)
        while left > 0.0:
            block = min(max(1, int(2.0 * BLOCK * (played + asked))), max(int(left), 1))
            block, sides = self._choose(belief, policy, worth, left, block)
            if sides is None:
                break
            asked += block
            left -= block
            worth = _after(worth, block * _duels(sides))
        return asked


def _rest(offer: Offer, tally: Tally) -> int:
    """How many rounds of an offer have not been played."""
    return offer.began + offer.rounds - tally.rounds


def _objective(welfare: Welfare, users: int | None) -> tuple[int, Floats]:
    """How the kernels know a welfare, and its users' weights."""
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


def _draw(belief: _Belief, shares: Floats, rng: np.random.Generator) -> tuple[Floats, Ints, Floats]:
    """What the mean scores may become when such shares of the variance are resolved.

    Two draws (mirror images) for each share: first all of one kind, then all of the other. Gives
    scores (2n, D, K), the winners (2n, D) in them, and how far they moved beside that (2n, D, K).
    """
    n, (users, arms) = len(shares), belief.scores.shape
    each = np.arange(users)
    strata = rng.permuted(np.tile(np.arange(n), (users, 1)), axis=1).T
    spin = (strata + rng.random((n, users))) / n
    edges = belief.chances.cumsum(axis=1)
    winners = np.minimum((edges < spin[:, :, None]).sum(axis=2), arms - 1)
    root = np.sqrt(shares)[:, None, None]
    shift = root * belief.deviations[each, :, winners] * rng.standard_normal((n, users, arms))
    centre = belief.scores + root * (belief.means[each, :, winners] - belief.scores)
    drawn = np.clip(np.concatenate([centre + shift, centre - shift]), 1e-6, 1.0)
    return drawn, np.tile(winners, (2, 1)), np.concatenate([shift, -shift])


def _score_variance(belief: _Belief) -> Floats:
    """(D, K) variance of the scores, whoever the winners are."""
    squares = belief.deviations**2 + belief.means**2
    whole = np.einsum("dw,dkw->dk", belief.chances, squares)
    return np.asarray(np.maximum(whole - belief.scores**2, 1e-12))


def _surprising(scores: Floats, variances: Floats, surprise: Floats) -> Floats:
    """Scores that are so many standard deviations better than their means.

    A few lost duels leave a long tail, which a normal distribution would cut off. So deviations
    are measured by likelihood: n KL(p, q) = surprise^2 / 2 for a probability p from n answers.
    """
    p = np.clip(0.5 * scores, 1e-6, 0.5)
    n = np.maximum(4.0 * p * (1.0 - p) / variances - 1.0, 1.0)
    low, high = p.copy(), np.full_like(p, 0.5)
    for _ in range(20):
        q = 0.5 * (low + high)
        divergence = p * np.log(p / q) + (1.0 - p) * np.log((1.0 - p) / (1.0 - q))
        near = 2.0 * n * divergence < surprise**2
        low, high = np.where(near, q, low), np.where(near, high, q)
    return low + high


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


def _gain(worth: _Worth, duels: Floats) -> Floats:
    """What so many duels of each pair gain a round."""
    straight = worth.slope * duels
    limit = np.where(worth.limit > 0.0, worth.limit, 1.0)
    return np.asarray(straight / (1.0 + straight / limit))


def _after(worth: _Worth, duels: Floats) -> _Worth:
    """What answers are still worth when so many more have come."""
    limit = np.where(worth.limit > 0.0, worth.limit, 1.0)
    kept = 1.0 / (1.0 + worth.slope * duels / limit)
    return _Worth(worth.slope * kept**2, worth.limit * kept, worth.winner_slope * kept**2)


def _why(offer: Offer | None, arms: Sequence[str]) -> str:
    if offer is None:
        return "Nothing has been asked yet."
    if offer.pair is None:
        return "Both were drawn from the present policy: no answers are worth asking for at a cost."
    first, second = (arms[k] for k in offer.pair)
    about = "who somebody's favourite is" if offer.about_winner else "how good they are"
    return (
        f"Answers about {first} and {second} are worth most now, to learn {about}: over the rounds "
        f"to come the answers are worth {offer.worth:.3g}, and asking costs {offer.cost:.3g}."
    )


@functools.cache
def _chances_of_surprises(resolved: float) -> Floats:
    """How likely a mean moves by about 1, 2, ... deviations if so much variance is resolved."""
    edges = np.append(SURPRISES - 0.5, SURPRISES[-1] + 0.5) / math.sqrt(resolved)
    return -np.diff(_normal_tail(edges))


@functools.cache
def _falls() -> Floats:
    """By how much the chance of a wrong sign falls: (ratios, z).

    A mean z standard deviations above 0 is known from n answers; r n more are made. Its sign is
    then wrong with a chance of Phi(-|z'| / s), where 1 / s^2 = 1 + r, and z' ~ N(z, 1 - s^2).
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    z = _Z_STEP * np.arange(_Z_COUNT)
    resolved = (RATIOS / (1.0 + RATIOS))[:, None, None]
    later = (z[:, None] + np.sqrt(resolved) * nodes) / np.sqrt(1.0 - resolved)
    return np.asarray(np.maximum(_normal_tail(z) - _normal_tail(np.abs(later)) @ weights, 0.0))


def _normal_tail(z: ArrayLike) -> Floats:
    tails = np.frompyfunc(lambda x: 0.5 * math.erfc(x / math.sqrt(2.0)), 1, 1)(z)
    return np.asarray(tails, np.float64)
