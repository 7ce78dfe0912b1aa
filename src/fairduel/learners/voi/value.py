"""What answers are worth, by the posterior. The only part of Fair-VOI that knows it well."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.inference import IndependentPairs, Mixed, Posterior, Preferences, Strengths
from fairduel.learners.voi.plan import RARE, InformationValue, Overlap
from fairduel.tally import Tally
from fairduel.welfare import Welfare

PAIRS_OF_DRAWS = 64  # of what may be learned; each comes with its mirror image
MOST_DRAWS = 128  # of strengths
FEW_PAIRS = 8  # for welfares that are slow to maximise
NODES = 4  # steps from knowing nothing more to knowing everything
SUPPOSED = 8_000_000  # scores at once: more are supposed one part after the other, to save memory
COVERED = 2_000_000  # covariances of pairs with scores at once, for the same reason
SURPRISES = np.arange(1.0, 5.0)  # standard deviations by which an arm may prove different


@dataclass(frozen=True, eq=False)
class Situation:
    """When answers are valued.

    policy: the one to play otherwise. tally: the answers so far; it says who answers. left: rounds
    to come in which they can be used.
    """

    welfare: Welfare
    policy: Floats
    tally: Tally
    left: float
    rng: np.random.Generator


@functools.singledispatch
def information_value(posterior: Posterior, now: Situation) -> InformationValue:
    """Return what answers about each pair are worth over each of the rounds to come.

    In shares of the best welfare. For another model of preferences, ``register`` another function.
    """
    raise TypeError(f"what answers are worth under {type(posterior).__name__} is not known")


@information_value.register
def _(posterior: Mixed, now: Situation) -> InformationValue:
    found = [information_value(part, now).times(weight) for weight, part in posterior.parts]
    return functools.reduce(InformationValue.plus, found)


@information_value.register
def _(posterior: IndependentPairs, now: Situation) -> InformationValue:
    counts = posterior.counts / answer_rates(now.tally)[:, None, None]
    value = _Evaluation(posterior, now.welfare, now.policy, counts).value(now.left, now.rng)
    best = now.welfare.maximize(posterior.scores, now.policy).value
    return value.times(1.0 / max(best, 1e-300))


@information_value.register
def _(posterior: Strengths, now: Situation) -> InformationValue:
    rates = answer_rates(now.tally)[:, None, None]
    found = _overlap(posterior, now.welfare, now.policy)
    gains, speeds = _pair_by_pair(found)
    slope, limit = _over_users(gains, speeds * rates)
    overlap = replace(found, information=found.information * rates)
    return InformationValue(slope, limit, np.zeros_like(slope), overlap)


@information_value.register
def _(posterior: Preferences, now: Situation) -> InformationValue:
    gains, speeds = gains_by_user(posterior, now.welfare, now.policy)
    speeds = speeds * answer_rates(now.tally)[:, None, None]
    slope, limit = _over_users(gains, speeds)
    arm_slope, arm_limit = _unlikely_arms(posterior, now.welfare, now.policy, speeds)
    slope, limit = np.maximum(slope, arm_slope), np.maximum(limit, arm_limit)
    return InformationValue(slope, limit, np.zeros_like(slope))


def _over_users(gains: Floats, speeds: Floats) -> tuple[Floats, Floats]:
    """Return slopes and limits of gains that m answers bring by m v / (1 + m v), (D, K, K) both.

    A sum of gains g m v / (1 + m v) begins with the slope sum g v, and bends by sum g v^2.
    """
    slope, bend = (gains * speeds).sum(axis=0), (gains * speeds**2).sum(axis=0)
    some = bend > 0.0
    limit = np.divide(slope**2, bend, out=np.zeros_like(slope), where=some)
    return np.where(some, slope, 0.0), limit


def _unlikely_arms(
    posterior: Preferences, welfare: Welfare, policy: Floats, speeds: Floats
) -> tuple[Floats, Floats]:
    """Return what it is worth to look again at arms, in shares of the best welfare.

    What is not known of an arm lies with its pairs with what may be the best arm, or under Borda
    with all of its pairs alike.
    """
    users, arms = posterior.scores.shape
    counts = 1.0 / np.maximum(speeds + speeds.transpose(0, 2, 1), 1e-12)
    variances = np.maximum(posterior.drawn.var(axis=0), 1e-12)
    alike = np.full((users, arms), 1.0 / max(arms - 1, 1))
    chances = alike if posterior.scoring == "borda" else posterior.probabilities
    slope, limit = value_arms(welfare, policy, posterior.scores, variances, chances, counts)
    best = max(welfare.maximize(posterior.scores, policy).value, 1e-300)
    return slope / best, limit / best


def gains_by_user(
    posterior: Strengths | Preferences, welfare: Welfare, policy: Floats
) -> tuple[Floats, Floats]:
    """Draw what may be learned, and split what it gains among users and pairs.

    Returns gains (D, K, K), i < j, of knowing the pair, and the speeds: m answers gain
    m v / (1 + m v) of it.
    """
    if isinstance(posterior, Preferences):
        return _gains_by_chances(posterior, welfare, policy)
    return _pair_by_pair(_overlap(posterior, welfare, policy))


def _overlap(posterior: Strengths, welfare: Welfare, policy: Floats) -> Overlap:
    """Return what answers are worth if users have strengths."""
    from fairduel.kernels import voi

    few = MOST_DRAWS if not welfare.slow else 2 * FEW_PAIRS
    moves = posterior.drawn[:few] - posterior.scores
    pulls, scales = _pulls(posterior.scores, moves, welfare, policy)
    return Overlap(
        *voi.value_strengths(
            pulls, posterior.strengths[:few], posterior.shifts[:few], moves, scales
        )
    )


def _pair_by_pair(overlap: Overlap) -> tuple[Floats, Floats]:
    """Return gains and speeds of pairs taken one by one."""
    variances = np.maximum(np.triu(_of_differences(overlap.covariance), 1), 1e-12)
    gains = np.maximum(np.triu(_of_differences(overlap.worth), 1) / variances, 0.0)
    return gains, np.triu(variances * overlap.information, 1)


def _of_differences(forms: Floats) -> Floats:
    """Return quadratic forms (D, K, K) at the differences of two unit vectors."""
    own = np.diagonal(forms, axis1=1, axis2=2)
    return np.asarray(own[:, :, None] + own[:, None, :] - 2.0 * forms)


def _gains_by_chances(
    posterior: Preferences, welfare: Welfare, policy: Floats
) -> tuple[Floats, Floats]:
    """Return gains and speeds, whatever the law of preferences and scores.

    A pair's probability p moves a score s by Cov(s, p) / Var(p) for each unit, and half of p is
    resolved by E[p (1 - p)] / Var(p) answers.
    """
    every = max(1, len(posterior.drawn) // (2 * FEW_PAIRS)) if welfare.slow else 1
    moves, chances = posterior.drawn[::every] - posterior.scores, posterior.chances[::every]
    pulls, scales = _pulls(posterior.scores, moves, welfare, policy)
    pulls *= scales[:, None, None]
    i, j = np.triu_indices(len(policy), 1)
    gains, speeds = np.zeros((2, *posterior.wins.shape))
    for d in range(len(gains)):  # one by one, to save memory
        own = chances[:, d]
        shifts = (own - own.mean(axis=0)).T  # (P, n)
        variances = np.maximum((shifts**2).mean(axis=1), 1e-12)
        pulled = _covered(shifts, moves[:, d], pulls[:, d]) / variances
        gains[d, i, j] = np.maximum(pulled, 0.0)
        speeds[d, i, j] = variances / np.maximum((own * (1.0 - own)).mean(axis=0), 1e-12)
    return gains, speeds


def _covered(shifts: Floats, moves: Floats, pulls: Floats) -> Floats:
    """Return (P,) what pairs gain before it is divided by their variances, some at a time."""
    found, most = np.empty(len(shifts)), max(1, COVERED // moves.shape[1])
    for start in range(0, len(shifts), most):
        some = shifts[start : start + most]
        joint, pulled = some @ moves / len(moves), some @ pulls
        found[start : start + most] = (joint * pulled).sum(axis=1)
    return found


def _pulls(
    scores: Floats, moves: Floats, welfare: Welfare, policy: Floats
) -> tuple[Floats, Floats]:
    """Return what a higher score would gain in each draw (n, D, K), and the draws' weights (n,).

    As with independent pairs, a share lambda of the ``moves`` (n, D, K) of the scores from their
    mean is resolved, from 0 to 1, and the derivative of the share of the best welfare that is
    gained is a sum over scores. It is split among pairs by their covariances with the scores.
    """
    shares = (np.arange(len(moves)) % NODES + 0.5) / NODES
    supposed = scores + np.sqrt(shares)[:, None, None] * moves
    np.clip(supposed, 1e-6, 1.0, out=supposed)
    best = welfare.follow(supposed, policy)
    utilities, now = np.einsum("mdk,mk->md", supposed, best), supposed @ policy
    top = np.maximum(welfare.value(utilities), 1e-300)
    ratio = welfare.value(now) / top
    pulls = (ratio / top)[:, None, None] * welfare.gradient(utilities)[:, :, None] * best[:, None]
    pulls -= welfare.gradient(now)[:, :, None] * policy / top[:, None, None]
    return pulls, 0.5 / np.sqrt(shares) / len(moves)


def answer_rates(tally: Tally) -> Floats:
    """Return the share of the duels shown that each user answers.

    Users who answer every other duel need twice as many to tell as much. Who has not answered any
    of n duels may be somebody who seldom answers, or, at even odds beforehand, somebody who never
    does: that becomes the likelier, the more duels go by.
    """
    shown = tally.plays.sum() - np.trace(tally.plays)
    heard = tally.wins.sum(axis=(1, 2))
    rates = np.minimum((heard + 1.0) / (shown + 1.0), 1.0)
    return np.asarray(np.where(heard > 0.0, rates, rates / (shown + 1.0)))


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """An evaluation of answers by a posterior.

    counts: (D, K, K) the number of duels of a pair that what is known of it is worth.
    """

    posterior: IndependentPairs
    welfare: Welfare
    policy: Floats
    counts: Floats

    def value(self, left: float, rng: np.random.Generator) -> InformationValue:
        """Combine what is drawn and what is supposed: either alone would miss something."""
        from fairduel.kernels import voi

        slope, limit, winner_gains = self._scores(rng)
        arm_slope, arm_limit = value_arms(
            self.welfare, self.policy, self.posterior.scores, self.posterior.variances,
            self.posterior.probabilities, self.counts,
        )  # fmt: skip
        slope, limit = np.maximum(slope, arm_slope), np.maximum(limit, arm_limit)
        which, losses = self._winner_losses(left)
        losses = np.maximum(losses, winner_gains[which[:, 0], which[:, 1]])
        winner_slope, winner_limit = voi.value_winners(
            which, losses, self.posterior.log_beats, self.counts
        )
        return InformationValue(slope + winner_slope, limit + winner_limit, winner_slope)

    def _scores(self, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Draw what may be learned; return slopes and limits, i < j, and gains by winner."""
        from fairduel.kernels import voi

        posterior = self.posterior
        nodes = np.arange(FEW_PAIRS if self.welfare.slow else PAIRS_OF_DRAWS) % NODES
        shares = (nodes + 0.5) / NODES
        drawn, winners, shifts = posterior.draw(shares, rng)
        best = self.welfare.follow(drawn, self.policy)
        found: tuple[Floats, Floats, Floats] = self.welfare.compiled(len(posterior.scores)).run(
            voi.value_scores, posterior.scores, self.policy, drawn, best, np.tile(shares, 2),
            winners, shifts, posterior.means, self.counts,
        )  # fmt: skip
        return found

    def _winner_losses(self, left: float) -> tuple[Ints, Floats]:
        """Return what is lost per round because (user, arm) may be a winner, for all that matter.

        Draws would miss a winner who is unlikely but would change everything, so each is supposed
        in turn, with everything else as it is in the mean.
        """
        chances = self.posterior.probabilities
        which = np.ascontiguousarray(np.argwhere((chances * left > 1.0) & (chances < 1.0 - 1e-9)))
        most, gains = max(1, SUPPOSED // chances.size), np.empty(len(which))
        for start in range(0, len(which), most):
            user, arm = which[start : start + most].T
            supposed = np.repeat(self.posterior.scores[None], len(user), axis=0)
            supposed[np.arange(len(user)), user] = self.posterior.means[user, :, arm]
            gains[start : start + most] = _gains(self.welfare, self.policy, supposed)
        return which, chances[which[:, 0], which[:, 1]] * gains


def value_arms(
    welfare: Welfare,
    policy: Floats,
    scores: Floats,
    variances: Floats,
    chances: Floats,
    counts: Floats,
) -> tuple[Floats, Floats]:
    """Return what it is worth to look again at arms: slopes and limits, i < j.

    An arm comes into use if its scores, weighted by what utilities are worth, prove much better
    than they seem, and one in use goes if they prove worse. Draws would miss that where it is
    unlikely, so each is supposed to be better or worse by some standard deviations, all users'
    scores in the likeliest way. ``chances`` (D, K) are the parts of what is not known of an arm
    that lie with its pairs with other arms.
    """
    from fairduel.kernels import voi

    slopes = left_derivatives(welfare, scores @ policy)
    slopes /= slopes.max() + 1e-300  # the squares of small ones would be 0
    parts = slopes[:, None] ** 2 * variances
    parts /= parts.sum(axis=0) + 1e-300
    signs = np.where(policy < RARE, 1.0, -1.0)
    supposed = voi.suppose(scores, variances, parts, signs, SURPRISES)
    lead = np.maximum(_gains(welfare, policy, supposed), 0.0).reshape(len(policy), len(SURPRISES))
    found: tuple[Floats, Floats] = voi.value_arms(
        lead @ _surprise_probabilities(), parts, chances, counts
    )
    return found


def _gains(welfare: Welfare, policy: Floats, supposed: Floats) -> Floats:
    """Return how much better than the policy the best ones are, for scores (B, D, K)."""
    best = policy_values(welfare, supposed, welfare.follow(supposed, policy))
    return np.asarray(best - welfare.value(supposed @ policy))


def policy_values(welfare: Welfare, scores: Floats, policies: Floats) -> Floats:
    """Return the welfare of each policy (B, K) under its own scores (B, D, K)."""
    return welfare.value(np.einsum("bdk,bk->bd", scores, policies))


def left_derivatives(welfare: Welfare, utilities: Floats) -> Floats:
    """Return the derivative of the welfare in each utility, for a little less of it.

    For a little more, the smallest utility would not move where several users tie for it.
    """
    steps, users = 1e-6 * utilities, np.arange(len(utilities))
    less, most = np.empty(len(users)), max(1, SUPPOSED // len(users))
    for start in range(0, len(users), most):
        some = users[start : start + most]
        less[some] = welfare.value(utilities - steps * (some[:, None] == users))
    return np.asarray((welfare.value(utilities) - less) / np.maximum(steps, 1e-300))


@functools.cache
def _surprise_probabilities() -> Floats:
    """Return how likely a normal variate is nearest to each of the surprises."""
    edges = np.append(SURPRISES - 0.5, SURPRISES[-1] + 0.5)
    return -np.diff([0.5 * math.erfc(edge / math.sqrt(2.0)) for edge in edges])
